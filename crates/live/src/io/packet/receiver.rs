//! The socket that receives all frames of an interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{HEADER, clear_error};
use crate::error::LiveResult;
use crate::io::end::{BATCH, KernelCounts, LinkEnd, ReceiveResult};
use crate::io::frame::Layer;
use crate::io::inspect::Interface;
use crate::io::long_frames::LongFrames;
use crate::io::pool::{FrameId, Pool};
use crate::io::request::Request;
use crate::io::ring::{ReceiveRing, RingFrame, TAG, TAG_AT};
use crate::io::sys;

/// Receives all frames of one interface, and sends none.
#[derive(Debug)]
pub struct PacketReceiver {
    // Dropped before the socket it belongs to.
    ring: ReceiveRing,
    long_frames: LongFrames,
    socket: OwnedFd,
    /// Longest IP packet of the interface, which another thread may change.
    mtu: Arc<AtomicUsize>,
    counts: KernelCounts,
    /// Calls since the last one that found a frame.
    idle_calls: u32,
}

impl PacketReceiver {
    /// Opens `found`, with a ring of `frames` frames. The interface is promiscuous until the receiver is dropped.
    pub(super) fn of(found: &Interface, frames: usize, mtu: Arc<AtomicUsize>) -> LiveResult<PacketReceiver> {
        let (interface, index) = (&found.name, found.index);
        let socket = sys::packet_socket()?;
        let fd = socket.as_fd();
        let long_frames = Request::PacketOptions.ask_about(interface, || {
            // Do not receive own frames.
            sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
            sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1_i32)?;
            LongFrames::of(fd)
        })?;
        let slot = Pool::slot_for(found.mtu);
        let ring = Request::PacketRing.ask_about(interface, || ReceiveRing::new(fd, frames, slot))?;
        let kind = libc::PACKET_MR_PROMISC as u16;
        let member = libc::packet_mreq { mr_ifindex: index, mr_type: kind, mr_alen: 0, mr_address: [0; 8] };
        Request::Promiscuous
            .ask_about(interface, || sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member))?;
        Request::PacketBind.ask_about(interface, || sys::bind(fd, index, libc::ETH_P_ALL as u16))?;
        Ok(PacketReceiver { ring, long_frames, socket, mtu, counts: KernelCounts::default(), idle_calls: 0 })
    }

    /// Whether this is one of every 64 calls in a row without a frame.
    pub(super) fn long_idle(&self) -> bool {
        self.idle_calls > 0 && self.idle_calls.is_multiple_of(64)
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
}

impl LinkEnd for PacketReceiver {
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
            self.idle_calls += 1;
            // Until a pending error is read (the interface went down), polls return at once.
            if self.long_idle() {
                clear_error(self.socket.as_fd())?;
            }
        }
        Ok(received)
    }

    fn send(&mut self, _: &Pool, _: &[FrameId]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
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
