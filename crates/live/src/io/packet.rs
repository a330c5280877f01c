//! Packet sockets: Ethernet frames from and to an interface (packet(7)).
//!
//! The interface should have no address in the forwarder's namespace: the kernel sees the same frames and would answer
//! those addressed to it. A sender with offloads leaves checksums and the segmentation of super-packets to a card, and a
//! receiving card may merge packets. This module restores the packets of a wire ([`offload`](super::offload)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::end::{BATCH, KernelCounts, LinkEnd, ReceiveResult};
use super::inspect::Interface;
use super::long_frames::LongFrames;
use super::request::Request;
use super::ring::{ReceiveRing, RingFrame, TAG, TAG_AT};
use super::sys;
use super::xdp::XdpSender;
use crate::error::{LiveError, LiveResult};
use crate::io::frame::Layer;
use crate::io::pool::{FrameId, Pool};

/// An Ethernet header, and the tags that an interface accepts beyond its MTU.
const HEADER: usize = UNTAGGED_HEADER + 2 * TAG;
const UNTAGGED_HEADER: usize = 14;

/// The kind of socket that sends frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendMethod {
    /// AF_XDP on a veth interface, where it was measured, if it is available. Otherwise a packet socket.
    #[default]
    Auto,
    /// Packet socket.
    Packet,
    /// AF_XDP socket.
    Xdp,
}

/// A packet socket that receives all frames of one interface.
#[derive(Debug)]
pub struct PacketSocket {
    // Dropped before the socket it belongs to.
    ring: ReceiveRing,
    long_frames: LongFrames,
    socket: OwnedFd,
    /// Sends frames. The receiving socket cannot: with `PACKET_VNET_HDR` it would need a header before each frame.
    send_socket: OwnedFd,
    /// Sends frames if it could be opened. Otherwise the error, if AF_XDP was wanted and is not available.
    pub(super) xdp: Result<XdpSender, Option<LiveError>>,
    /// Longest IP packet of the interface, which another thread may change.
    mtu: Arc<AtomicUsize>,
    counts: KernelCounts,
    /// Calls since the last one that found a frame.
    idle_calls: u32,
}

impl PacketSocket {
    /// Default number of frames in the kernel's ring: 20 ms of the smallest frames at 100 Mbit/s.
    pub const RING: usize = 4096;

    /// Opens the interface that is called `name` now; see [`of`](PacketSocket::of).
    ///
    /// # Errors
    /// Refused if there is no such interface; otherwise those of [`of`](PacketSocket::of).
    pub fn open(name: &str, frames: usize, sending: SendMethod) -> LiveResult<PacketSocket> {
        PacketSocket::of(&Interface::find(name)?, frames, sending)
    }

    /// Opens `found` in the calling thread's network namespace, by its index. The kernel's ring holds `frames`; `sending`
    /// selects the output. The interface is promiscuous until the socket is dropped.
    ///
    /// # Errors
    /// The interface is gone, or `CAP_NET_RAW` is missing. With [`SendMethod::Xdp`], also an error that says why AF_XDP is
    /// not available.
    pub fn of(found: &Interface, frames: usize, sending: SendMethod) -> LiveResult<PacketSocket> {
        let (interface, index, mtu) = (&found.name, found.index, found.mtu);
        let (socket, send_socket) = (sys::packet_socket()?, sys::packet_socket()?);
        let fd = socket.as_fd();
        let long_frames = Request::PacketOptions.ask_about(interface, || {
            // Do not receive own frames, and bypass the interface's qdisc: the only queue is ours.
            sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
            sys::set_option(send_socket.as_fd(), libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)?;
            sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1_i32)?;
            LongFrames::of(fd)
        })?;
        let ring = Request::PacketRing.ask_about(interface, || ReceiveRing::new(fd, frames, Pool::slot_for(mtu)))?;
        let kind = libc::PACKET_MR_PROMISC as u16;
        let member = libc::packet_mreq { mr_ifindex: index, mr_type: kind, mr_alen: 0, mr_address: [0; 8] };
        Request::Promiscuous
            .ask_about(interface, || sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member))?;
        Request::PacketBind.ask_about(interface, || {
            sys::bind(fd, index, libc::ETH_P_ALL as u16)?;
            // Protocol 0 receives nothing: this socket only sends.
            sys::bind(send_socket.as_fd(), index, 0)
        })?;
        let xdp = open_xdp(found, sending)?;
        let (mtu, counts) = (Arc::new(AtomicUsize::new(mtu)), KernelCounts::default());
        Ok(PacketSocket { ring, long_frames, socket, send_socket, xdp, mtu, counts, idle_calls: 0 })
    }

    /// Why AF_XDP is not used although it was wanted.
    pub fn why_not_xdp(&self) -> Option<&LiveError> {
        self.xdp.as_ref().err()?.as_ref()
    }

    /// The longest IP packet that this end accepts. The gateway changes it when the interface's MTU changes.
    pub(crate) fn shared_mtu(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.mtu)
    }

    /// Takes the ring's next frame, which is a super-packet or queued: prepares its packets, or counts why it is
    /// dropped.
    #[cold]
    fn take_long_frame(&mut self, longest: usize, received: &mut ReceiveResult) -> io::Result<()> {
        let Some(frame) = self.ring.peek() else { return Ok(()) };
        let no_room = !frame.queued && frame.bytes.len() < frame.length;
        match self.long_frames.load(self.socket.as_fd(), &frame)? {
            Some(packets) if packets.longest <= longest => {
                self.counts.super_packets += u64::from(packets.segmented);
                self.counts.no_checksum += packets.no_checksum;
            }
            Some(packets) => {
                self.long_frames.discard();
                received.oversize += packets.count;
            }
            None if no_room => self.counts.dropped += 1,
            None => received.oversize += 1,
        }
        self.ring.release();
        Ok(())
    }

    /// Takes the next packet of a long frame.
    fn take_from_long_frame(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>, received: &mut ReceiveResult) {
        match pool.take() {
            Some(frame) => {
                let length = self.long_frames.write_next(pool.slot_mut(&frame));
                pool.set_len(&frame, length);
                batch.push(frame);
            }
            None => {
                self.long_frames.skip_next();
                received.no_slot += 1;
            }
        }
    }

    /// Clears the sockets' pending errors on every 64th call in a row without a frame. Until a pending error is read
    /// (the interface went down), polls return at once.
    fn clear_error(&mut self) -> io::Result<()> {
        self.idle_calls += 1;
        if !self.idle_calls.is_multiple_of(64) {
            return Ok(());
        }
        for socket in [self.socket.as_fd(), self.send_socket.as_fd()] {
            let [error]: [u32; 1] = sys::get_option(socket, libc::SOL_SOCKET, libc::SO_ERROR)?;
            match error as i32 {
                0 | libc::ENETDOWN => {}
                error => return Err(io::Error::from_raw_os_error(error)),
            }
        }
        Ok(())
    }
}

impl LinkEnd for PacketSocket {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let mut received = ReceiveResult::default();
        let longest = (self.mtu() + HEADER).min(pool.slot_bytes().saturating_sub(TAG));
        for _ in batch.len()..BATCH {
            if self.long_frames.pending() {
                self.take_from_long_frame(pool, batch, &mut received);
                continue;
            }
            let Some(received_frame) = self.ring.peek() else { break };
            if received_frame.queued || received_frame.offload.segments.is_some() {
                self.take_long_frame(longest, &mut received)?;
                continue;
            }
            self.counts.no_checksum += u64::from(received_frame.offload.partial.is_some());
            if received_frame.length > longest {
                received.oversize += 1;
            } else if received_frame.length > received_frame.bytes.len() {
                // The ring was made for a lower MTU, and the kernel had no room beside it.
                self.counts.dropped += 1;
            } else if let Some(frame) = pool.take() {
                let length = copy_frame(&received_frame, pool.slot_mut(&frame));
                pool.set_len(&frame, length);
                batch.push(frame);
            } else {
                received.no_slot += 1;
            }
            self.ring.release();
            self.idle_calls = 0;
        }
        received.more = self.long_frames.pending() || self.ring.ready();
        if batch.is_empty() {
            self.clear_error()?;
        }
        Ok(received)
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
                    refused += send_by_packet(self.send_socket.as_fd(), pool, next)?;
                    rest = behind;
                }
            }
        }
        Ok(refused + send_by_packet(self.send_socket.as_fd(), pool, rest)?)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn layer(&self) -> Layer {
        Layer::Ethernet
    }

    fn mtu(&self) -> usize {
        self.mtu.load(Ordering::Relaxed)
    }

    fn kernel(&mut self) -> KernelCounts {
        // struct tpacket_stats: packets and drops since the last call.
        if let Ok([_, drops]) =
            sys::get_option::<[u32; 2]>(self.socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS)
        {
            self.counts.dropped += u64::from(drops);
        }
        self.counts
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

/// Copies a frame and completes it: inserts the VLAN tag that the kernel removed, and fills in a checksum left to a
/// card. Returns the length.
#[inline]
fn copy_frame(frame: &RingFrame<'_>, room: &mut [u8]) -> usize {
    let bytes = frame.bytes;
    let tagged = match (frame.tag, bytes.split_at_checked(TAG_AT)) {
        (Some(tag), Some((addresses, rest))) => {
            room[..TAG_AT].copy_from_slice(addresses);
            room[TAG_AT..TAG_AT + TAG].copy_from_slice(&tag);
            room[TAG_AT + TAG..TAG + bytes.len()].copy_from_slice(rest);
            TAG
        }
        _ => {
            room[..bytes.len()].copy_from_slice(bytes);
            0
        }
    };
    let length = tagged + bytes.len();
    if let Some(partial) = frame.offload.partial {
        partial.fill_in(&mut room[tagged..length]);
    }
    length
}
