//! Packet sockets: Ethernet frames from and to an interface (packet(7)).
//!
//! The interface should have no address in the forwarder's namespace: the kernel sees the same frames and would answer
//! those addressed to it. A sender with offloads leaves checksums and the segmentation of super-packets to a card, and a
//! receiving card may merge packets. This module restores the packets of a wire ([`offload`](super::offload)).

mod receiver;
mod sender;

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

pub use self::receiver::PacketReceiver;
pub use self::sender::PacketSender;
use super::end::{KernelCounts, LinkEnd, ReceiveResult};
use super::inspect::Interface;
use super::ring::TAG;
use super::sys;
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

/// Receives all frames of one interface, and sends frames to it.
#[derive(Debug)]
pub struct PacketSocket {
    receiver: PacketReceiver,
    pub(super) sender: PacketSender,
    mtu: Arc<AtomicUsize>,
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
        let mtu = Arc::new(AtomicUsize::new(found.mtu));
        let receiver = PacketReceiver::of(found, frames, Arc::clone(&mtu))?;
        let sender = PacketSender::of(found, sending, Arc::clone(&mtu))?;
        Ok(PacketSocket { receiver, sender, mtu })
    }

    /// Both halves, for two threads.
    pub fn split(self) -> (PacketReceiver, PacketSender) {
        (self.receiver, self.sender)
    }

    /// Why AF_XDP is not used although it was wanted.
    pub fn why_not_xdp(&self) -> Option<&LiveError> {
        self.sender.xdp.as_ref().err()?.as_ref()
    }

    /// The longest IP packet that this end accepts. The gateway changes it when the interface's MTU changes.
    pub(crate) fn shared_mtu(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.mtu)
    }
}

impl LinkEnd for PacketSocket {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let received = self.receiver.recv(pool, batch)?;
        if batch.is_empty() && self.receiver.long_idle() {
            self.sender.clear_error()?;
        }
        Ok(received)
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        self.sender.send(pool, batch)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.fd()
    }

    fn layer(&self) -> Layer {
        Layer::Ethernet
    }

    fn mtu(&self) -> usize {
        self.receiver.mtu()
    }

    fn kernel(&mut self) -> KernelCounts {
        self.receiver.kernel()
    }
}

/// Reads the pending error of `socket`, so that it can be used again after the interface went down.
///
/// # Errors
/// The interface is gone.
fn clear_error(socket: BorrowedFd<'_>) -> io::Result<()> {
    let [error]: [u32; 1] = sys::get_option(socket, libc::SOL_SOCKET, libc::SO_ERROR)?;
    match error as i32 {
        0 | libc::ENETDOWN => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
