//! A packet socket on an interface: Ethernet frames as they come to it, and frames sent on it (packet(7)).
//!
//! The interface should have no address of its own in the forwarder's namespace: the kernel sees the same frames, and would
//! answer those that are meant for it. Its offloads should be off ([`switch_offloads_off`](super::switch_offloads_off)):
//! what they merge is longer than a slot and counted as that, and what they leave without a checksum is counted too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::ring::{Ring, Slot};
use super::{BATCH, Io, KernelCounts, Received, sys};
use crate::frame::Layer;
use crate::pool::{FrameId, Pool};

const PACKET_ADD_MEMBERSHIP: i32 = 1;
const PACKET_STATISTICS: i32 = 6;
const PACKET_QDISC_BYPASS: i32 = 20;
const PACKET_IGNORE_OUTGOING: i32 = 23;
const PACKET_MR_PROMISC: u16 = 1;

/// Behind the two MAC addresses, which is where a VLAN tag stands.
const TAG_AT: usize = 12;
const TAG: usize = 4;

/// A packet socket, which takes all frames that come to one interface.
#[derive(Debug)]
pub struct PacketSocket {
    // Before the socket, whose ring it is.
    ring: Ring,
    socket: OwnedFd,
    mtu: usize,
    counts: KernelCounts,
    /// Calls since one found a frame.
    quiet: u32,
}

impl PacketSocket {
    /// Frames that may wait in the kernel where nobody says otherwise: 20 ms of the smallest at 100 Mbit/s.
    pub const RING: usize = 4096;

    /// A socket on `interface` in the thread's network namespace; `frames` may wait in the kernel. From now on the
    /// interface takes frames for others too, as a bridge's does, until this is dropped.
    ///
    /// # Errors
    /// What the system says: that there is no such interface, or that `CAP_NET_RAW` is missing.
    pub fn open(interface: &str, frames: usize) -> io::Result<PacketSocket> {
        let index = sys::index(interface)?;
        let mtu = sys::mtu(interface)?;
        let socket = sys::packet_socket()?;
        let fd = socket.as_fd();
        // What is sent here is not received here, and waits in no queue but ours.
        sys::set(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1_i32)?;
        sys::set(fd, libc::SOL_PACKET, PACKET_QDISC_BYPASS, &1_i32)?;
        let ring = Ring::new(fd, frames)?;
        // struct packet_mreq: interface, type, length of an address and eight bytes for it.
        let [low, high] = PACKET_MR_PROMISC.to_ne_bytes();
        let mut member = [0_u8; 16];
        member[..4].copy_from_slice(&index.to_ne_bytes());
        member[4..6].copy_from_slice(&[low, high]);
        sys::set(fd, libc::SOL_PACKET, PACKET_ADD_MEMBERSHIP, &member)?;
        sys::bind(fd, index)?;
        Ok(PacketSocket { ring, socket, mtu, counts: KernelCounts::default(), quiet: 0 })
    }

    /// Now and then asks for the error that a socket keeps, such as that its interface went down: as long as it is kept,
    /// nobody can wait for the socket.
    fn clear_error(&mut self) -> io::Result<()> {
        self.quiet += 1;
        if !self.quiet.is_multiple_of(64) {
            return Ok(());
        }
        let [error] = sys::get(self.socket.as_fd(), libc::SOL_SOCKET, libc::SO_ERROR)?;
        match error as i32 {
            0 | libc::ENETDOWN => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Io for PacketSocket {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<Received> {
        let mut received = Received::default();
        for _ in batch.len()..BATCH {
            let Some(slot) = self.ring.peek() else { break };
            self.counts.no_checksum += u64::from(slot.no_checksum);
            if slot.length > slot.bytes.len() || slot.length + TAG > pool.slot_bytes() {
                received.oversize += 1;
            } else if let Some(frame) = pool.take() {
                let length = copy(&slot, pool.room(&frame));
                pool.set_len(&frame, length);
                batch.push(frame);
            } else {
                received.no_slot += 1;
            }
            self.ring.pass();
            self.quiet = 0;
        }
        received.more = self.ring.ready();
        if batch.is_empty() {
            self.clear_error()?;
        }
        Ok(received)
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let (mut rest, mut refused) = (batch, 0);
        while !rest.is_empty() {
            let sent = sys::send(self.socket.as_fd(), rest.iter().map(|frame| pool.frame(frame)));
            match sent {
                Ok(sent) => rest = &rest[sent.max(1)..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENXIO | libc::ENODEV)) => return Err(error),
                // The first of them found no room, is too long, or the interface is down.
                Err(_) => (rest, refused) = (&rest[1..], refused + 1),
            }
        }
        Ok(refused)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn layer(&self) -> Layer {
        Layer::Ethernet
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn kernel(&mut self) -> KernelCounts {
        // struct tpacket_stats: packets and drops since the last call.
        if let Ok([_, drops]) = sys::get(self.socket.as_fd(), libc::SOL_PACKET, PACKET_STATISTICS) {
            self.counts.dropped += u64::from(drops);
        }
        self.counts
    }
}

/// Copies a frame, with its VLAN tag where the kernel had taken it out; says how long it is.
#[inline]
fn copy(slot: &Slot<'_>, room: &mut [u8]) -> usize {
    let bytes = slot.bytes;
    match (slot.tag, bytes.split_at_checked(TAG_AT)) {
        (Some([kind, control]), Some((addresses, rest))) => {
            room[..TAG_AT].copy_from_slice(addresses);
            room[TAG_AT..TAG_AT + 2].copy_from_slice(&kind.to_be_bytes());
            room[TAG_AT + 2..TAG_AT + TAG].copy_from_slice(&control.to_be_bytes());
            room[TAG_AT + TAG..TAG + bytes.len()].copy_from_slice(rest);
            bytes.len() + TAG
        }
        _ => {
            room[..bytes.len()].copy_from_slice(bytes);
            bytes.len()
        }
    }
}
