//! The kernel's receive ring: `PACKET_RX_RING`, version 2 (linux/if_packet.h;
//! Documentation/networking/packet_mmap.rst).
//!
//! The kernel copies received frames into memory that it shares with this process: a ring of buffers of equal size.
//! Each buffer begins with a status word, which the kernel sets when the buffer holds a frame. This process reads the
//! frame, resets the word, and advances to the next buffer. No system call is needed per frame, and the kernel counts
//! the frames for which no buffer was free.
//!
//! Version 3 hands over whole blocks of frames. A block that is not full waits for a timeout of milliseconds, which
//! would delay packets. Version 2 hands over each frame at once.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{
    TP_STATUS_COPY, TP_STATUS_KERNEL, TP_STATUS_USER, TP_STATUS_VLAN_TPID_VALID, TP_STATUS_VLAN_VALID,
    TPACKET_ALIGNMENT,
};

use super::mapping::Mapping;
use super::offload::{OFFLOAD_HEADER, Offload};
use super::sys;

/// Bytes before a frame: its `tpacket2_hdr`, an address, padding, the `PACKET_VNET_HDR` header (90 with Ethernet's),
/// alignment to 16.
const HEADROOM: usize = 112;
/// Bytes of `tpacket2_hdr`, with which each frame of the ring begins.
const RING_HEADER: usize = 32;
/// Size unit of blocks: whole pages, for pages up to 64 KiB.
const BLOCK_UNIT: usize = 1 << 16;
/// Limit of the ring's memory; a ring of giant frames holds fewer frames.
const MOST_BYTES: usize = 1 << 26;

/// VLAN tags follow the two MAC addresses.
pub(super) const TAG_AT: usize = 12;
/// Bytes of a VLAN tag: protocol identifier and control information.
pub(super) const TAG: usize = 4;

/// A received frame in the ring.
pub(super) struct RingFrame<'a> {
    /// The captured part of the frame.
    pub(super) bytes: &'a [u8],
    /// Full length of the frame.
    pub(super) length: usize,
    /// The VLAN tag that the kernel removed. It belongs at [`TAG_AT`].
    pub(super) tag: Option<[u8; TAG]>,
    /// Work left to a card.
    pub(super) offload: Offload,
    /// Whether the kernel has queued the whole frame on the socket too.
    pub(super) queued: bool,
}

/// The ring and the position of the next frame.
#[derive(Debug)]
pub(super) struct ReceiveRing {
    memory: Mapping,
    layout: RingLayout,
    next: usize,
}

/// Layout of a ring's memory: frames of equal size, as many as fit in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RingLayout {
    frame: usize,
    block: usize,
    blocks: usize,
}

impl RingLayout {
    /// A layout for at least `frames` frames of up to `bytes` bytes, unless [`MOST_BYTES`] limits it.
    fn new(frames: usize, bytes: usize) -> RingLayout {
        let frame = (HEADROOM + bytes).next_multiple_of(TPACKET_ALIGNMENT);
        let block = frame.next_multiple_of(BLOCK_UNIT);
        let frames = frames.min(MOST_BYTES / frame).max(1);
        RingLayout { frame, block, blocks: frames.div_ceil(block / frame) }
    }

    fn per_block(self) -> usize {
        self.block / self.frame
    }

    fn frames(self) -> usize {
        self.blocks * self.per_block()
    }

    fn bytes(self) -> usize {
        self.blocks * self.block
    }

    /// Where in the ring's frame the offload header and the captured bytes behind it are, from the kernel's numbers, which
    /// are checked like a frame's fields: nothing if they lie outside.
    fn place(self, mac: usize, captured: usize) -> Range<usize> {
        match mac.checked_sub(OFFLOAD_HEADER) {
            Some(start) if start >= RING_HEADER && mac + captured <= self.frame => start..mac + captured,
            _ => 0..0,
        }
    }
}

impl ReceiveRing {
    /// Creates a ring for at least `frames` frames of up to `bytes` bytes, unless [`MOST_BYTES`] limits it. The packet
    /// socket must have `PACKET_VNET_HDR` set and no ring yet.
    pub(super) fn new(socket: BorrowedFd<'_>, frames: usize, bytes: usize) -> io::Result<ReceiveRing> {
        let layout = RingLayout::new(frames, bytes);
        sys::set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &libc::tpacket_versions::TPACKET_V2)?;
        // struct tpacket_req: block size, blocks, frame size, frames.
        let request = [layout.block, layout.blocks, layout.frame, layout.frames()].map(|n| n as u32);
        sys::set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        Ok(ReceiveRing { memory: Mapping::of(socket, layout.bytes(), 0)?, layout, next: 0 })
    }

    /// Whether an unread frame is there.
    #[inline]
    pub(super) fn ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & TP_STATUS_USER != 0
    }

    /// The next frame, if any.
    #[inline]
    pub(super) fn peek(&self) -> Option<RingFrame<'_>> {
        let status = self.status().load(Ordering::Acquire);
        if status & TP_STATUS_USER == 0 {
            return None;
        }
        // struct tpacket2_hdr: status, length, captured length, MAC offset, network offset, two words of time, VLAN tag
        // and its protocol identifier.
        let word = |at: usize| self.memory.word(self.offset() + at).load(Ordering::Relaxed);
        let halves = |at: usize| {
            let [a, b, c, d] = word(at).to_ne_bytes();
            (u16::from_ne_bytes([a, b]), u16::from_ne_bytes([c, d]))
        };
        let tag = (status & TP_STATUS_VLAN_VALID != 0).then(|| {
            let (control, identifier) = halves(24);
            let kind = if status & TP_STATUS_VLAN_TPID_VALID != 0 { identifier } else { 0x8100 };
            let ([a, b], [c, d]) = (kind.to_be_bytes(), control.to_be_bytes());
            [a, b, c, d]
        });
        let place = self.layout.place(usize::from(halves(12).0), word(8) as usize);
        // SAFETY: the place lies within the ring's frame, which lies within the mapping (see `offset`). The status says
        // that this process owns the frame until `release`. `release` takes `&mut self`, so this slice no longer exists by
        // then. Atomic references are only to the words before it.
        let bytes = unsafe {
            let start = self.memory.address().as_ptr().add(self.offset() + place.start);
            std::slice::from_raw_parts(start, place.len())
        };
        // `PACKET_VNET_HDR`: right before the frame.
        let (offload, bytes) = match bytes.split_first_chunk::<OFFLOAD_HEADER>() {
            Some((header, bytes)) => (Offload::read(*header), bytes),
            None => (Offload::default(), bytes),
        };
        Some(RingFrame { bytes, length: word(4) as usize, tag, offload, queued: status & TP_STATUS_COPY != 0 })
    }

    /// Returns the current frame to the kernel and advances.
    #[inline]
    pub(super) fn release(&mut self) {
        self.status().store(TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.layout.frames();
    }

    /// Offset of the next frame. Blocks hold whole frames and `next` is below their number, so it ends in the mapping.
    #[inline]
    fn offset(&self) -> usize {
        let RingLayout { frame, block, .. } = self.layout;
        self.next / self.layout.per_block() * block + self.next % self.layout.per_block() * frame
    }

    #[inline]
    fn status(&self) -> &AtomicU32 {
        // Multiple of 4, since blocks and frames are multiples of 16.
        self.memory.word(self.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_whole_frames_of_any_size() {
        for (frames, bytes) in [(1, 60), (64, 2048), (4096, 2048), (4096, 9100), (4096, 65_600), (usize::MAX, 2048)] {
            let layout = RingLayout::new(frames, bytes);
            assert!(layout.frame >= bytes + 90 && layout.frame.is_multiple_of(TPACKET_ALIGNMENT), "{layout:?}");
            assert!(layout.block.is_multiple_of(BLOCK_UNIT) && layout.per_block() >= 1, "{layout:?}");
            assert!(layout.frames() >= frames.min(MOST_BYTES / layout.frame), "{layout:?}");
            // No block is more than half empty, and none is superfluous.
            assert!(
                layout.bytes() <= 2 * MOST_BYTES + layout.block && u32::try_from(layout.frames()).is_ok(),
                "{layout:?}"
            );
        }
        // 30 frames of 2160 bytes in 64 KiB.
        assert_eq!(RingLayout::new(64, 2048), RingLayout { frame: 2160, block: BLOCK_UNIT, blocks: 3 });
    }

    #[test]
    fn a_frame_lies_behind_the_header_of_its_slot_and_within_it() {
        let layout = RingLayout::new(64, 2048);
        assert_eq!(layout.place(90, 60), 80..150);
        assert_eq!(layout.place(90, layout.frame - 90), 80..layout.frame);
        let numbers = [0, 9, 10, 41, 42, 90, layout.frame - 1, layout.frame, layout.frame + 1, u16::MAX.into()];
        for mac in numbers {
            for captured in numbers.into_iter().chain([u32::MAX as usize]) {
                let place = layout.place(mac, captured);
                let inside = mac >= RING_HEADER + OFFLOAD_HEADER && mac + captured <= layout.frame;
                assert_eq!(place, if inside { mac - OFFLOAD_HEADER..mac + captured } else { 0..0 });
            }
        }
    }
}
