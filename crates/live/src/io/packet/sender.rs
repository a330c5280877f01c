//! The sockets that send frames to an interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{SendMethod, UNTAGGED_HEADER, clear_error};
use crate::error::{LiveError, LiveResult};
use crate::io::end::{LinkEnd, ReceiveResult};
use crate::io::frame::Layer;
use crate::io::inspect::Interface;
use crate::io::pool::{FrameId, Pool};
use crate::io::request::Request;
use crate::io::sys;
use crate::io::xdp::XdpSender;

/// Sends frames to one interface, and receives none. A receiving socket cannot send: with `PACKET_VNET_HDR` it would need
/// a header before each frame.
#[derive(Debug)]
pub struct PacketSender {
    socket: OwnedFd,
    /// Sends frames if it could be opened. Otherwise the error, if AF_XDP was wanted and is not available.
    pub(in crate::io) xdp: Result<XdpSender, Option<LiveError>>,
    /// Longest IP packet of the interface, which another thread may change.
    mtu: Arc<AtomicUsize>,
}

impl PacketSender {
    pub(super) fn of(found: &Interface, sending: SendMethod, mtu: Arc<AtomicUsize>) -> LiveResult<PacketSender> {
        let (interface, index) = (&found.name, found.index);
        let socket = sys::packet_socket()?;
        Request::PacketOptions.ask_about(interface, || {
            // Bypass the interface's qdisc: the only queue is ours.
            sys::set_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)
        })?;
        // Protocol 0 receives nothing.
        Request::PacketBind.ask_about(interface, || sys::bind(socket.as_fd(), index, 0))?;
        Ok(PacketSender { socket, xdp: open_xdp(found, sending)?, mtu })
    }

    /// Clears the socket's pending error.
    pub(super) fn clear_error(&self) -> io::Result<()> {
        clear_error(self.socket.as_fd())
    }
}

impl LinkEnd for PacketSender {
    fn recv(&mut self, _: &mut Pool, _: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        Ok(ReceiveResult::default())
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let (mut rest, mut refused) = (batch, 0);
        // AF_XDP would send a frame that is too long for the interface.
        let longest = self.mtu() + UNTAGGED_HEADER;
        if let Ok(xdp) = &mut self.xdp {
            while !rest.is_empty() {
                let sent = xdp.send(longest, rest.iter().map(|frame| pool.frame(frame)))?;
                refused += sent.refused;
                rest = &rest[sent.consumed..];
                if sent.consumed == 0 {
                    // The frame is too long for AF_XDP, or AF_XDP has no space. The packet socket sends it now, in
                    // order.
                    let (next, behind) = rest.split_at(1);
                    refused += send_by_packet(self.socket.as_fd(), pool, next)?;
                    rest = behind;
                }
            }
        }
        Ok(refused + send_by_packet(self.socket.as_fd(), pool, rest)?)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn layer(&self) -> Layer {
        Layer::Ethernet
    }

    fn mtu(&self) -> usize {
        self.mtu.load(Ordering::Relaxed)
    }
}

/// Sends `batch` by a packet socket and returns the number refused.
fn send_by_packet(socket: BorrowedFd<'_>, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
    let (mut rest, mut refused) = (batch, 0);
    while !rest.is_empty() {
        match sys::send(socket, rest.iter().map(|frame| pool.frame(frame))) {
            Ok(sent) => rest = &rest[sent.max(1)..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENXIO | libc::ENODEV)) => return Err(error),
            // The first frame found no space or is too long, or the interface is down.
            Err(_) => (rest, refused) = (&rest[1..], refused + 1),
        }
    }
    Ok(refused)
}

/// Opens the AF_XDP socket if `sending` wants one.
fn open_xdp(interface: &Interface, sending: SendMethod) -> LiveResult<Result<XdpSender, Option<LiveError>>> {
    let wanted = match sending {
        SendMethod::Auto => interface.kind == "veth",
        SendMethod::Packet => false,
        SendMethod::Xdp => true,
    };
    if !wanted {
        return Ok(Err(None));
    }
    match XdpSender::open(&interface.name, interface.index as u32, interface.mtu) {
        Err(error) if sending == SendMethod::Xdp => Err(error),
        opened => Ok(opened.map_err(Some)),
    }
}
