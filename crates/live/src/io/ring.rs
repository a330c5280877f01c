//! A ring of frames that the kernel fills: `PACKET_RX_RING` in its second version (linux/if_packet.h;
//! Documentation/networking/packet_mmap.rst).
//!
//! The second version and not the third: the third hands over blocks, when they are full or a timer of milliseconds ends,
//! and a link that adds milliseconds of its own is no link. The second hands over each frame as it comes.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::sys;

const PACKET_RX_RING: i32 = 5;
const PACKET_VERSION: i32 = 10;
const TPACKET_V2: i32 = 1;

const STATUS_KERNEL: u32 = 0;
const STATUS_USER: u32 = 1;
const STATUS_CHECKSUM_NOT_READY: u32 = 1 << 3;
const STATUS_VLAN_VALID: u32 = 1 << 4;
const STATUS_VLAN_TPID_VALID: u32 = 1 << 6;

/// Bytes for a frame: its `tpacket2_hdr`, an address and padding take the first 66 of an Ethernet frame's.
const FRAME: usize = 2048 + 128;
const BLOCK: usize = 1 << 16;
const PER_BLOCK: usize = BLOCK / FRAME;

/// A frame in the ring.
pub(super) struct Slot<'a> {
    /// As much of it as there was room for.
    pub(super) bytes: &'a [u8],
    /// How long it is.
    pub(super) length: usize,
    /// The VLAN tag that was taken out of it: protocol identifier and control information.
    pub(super) tag: Option<[u16; 2]>,
    /// Its transport checksum is yet to be filled in.
    pub(super) no_checksum: bool,
}

/// The ring, and which of its frames comes next.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    blocks: usize,
    next: usize,
}

// SAFETY: the mapping is this ring's alone, and moves between threads with it.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring for at least `frames` frames on a packet socket that has none.
    pub(super) fn new(socket: BorrowedFd<'_>, frames: usize) -> io::Result<Ring> {
        let blocks = frames.clamp(1, 1 << 20).div_ceil(PER_BLOCK);
        sys::set(socket, libc::SOL_PACKET, PACKET_VERSION, &TPACKET_V2)?;
        // struct tpacket_req: block size, blocks, frame size, frames.
        let request = [BLOCK, blocks, FRAME, blocks * PER_BLOCK].map(|n| n as u32);
        sys::set(socket, libc::SOL_PACKET, PACKET_RX_RING, &request)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), blocks * BLOCK, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast::<libc::c_void>() != libc::MAP_FAILED => {
                Ok(Ring { start, blocks, next: 0 })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Whether a frame has come that was not looked at.
    #[inline]
    pub(super) fn ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & STATUS_USER != 0
    }

    /// The next frame, if one has come.
    #[inline]
    pub(super) fn peek(&self) -> Option<Slot<'_>> {
        let status = self.status().load(Ordering::Acquire);
        if status & STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the frame lies within the mapping (see `offset`). The status says that it is ours until it is given
        // back, which `pass` does through `&mut self`, while nobody can hold this slice.
        let frame = unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(self.offset()), FRAME) };
        // struct tpacket2_hdr: status, length, captured length, MAC offset, network offset, two words of time, VLAN tag
        // and its protocol identifier.
        let long = |at: usize| u32::from_ne_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]) as usize;
        let short = |at: usize| u16::from_ne_bytes([frame[at], frame[at + 1]]);
        let mac = usize::from(short(12));
        let tag = (status & STATUS_VLAN_VALID != 0)
            .then(|| [if status & STATUS_VLAN_TPID_VALID != 0 { short(26) } else { 0x8100 }, short(24)]);
        Some(Slot {
            // What the kernel says is believed no more than what a frame says.
            bytes: frame.get(mac..mac + long(8)).unwrap_or(&[]),
            length: long(4),
            tag,
            no_checksum: status & STATUS_CHECKSUM_NOT_READY != 0,
        })
    }

    /// The next frame is the kernel's again, and the one after it is next.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.status().store(STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % (self.blocks * PER_BLOCK);
    }

    /// Where the next frame begins: whole frames stand in a block, and `next` is below their number, so that the frame
    /// ends before the mapping does.
    #[inline]
    fn offset(&self) -> usize {
        self.next / PER_BLOCK * BLOCK + self.next % PER_BLOCK * FRAME
    }

    #[inline]
    fn status(&self) -> &AtomicU32 {
        // SAFETY: the frame lies within the mapping, which begins at a page; blocks and frames are multiples of 16, so
        // this word is aligned. Both sides use it as an atomic.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(self.offset()).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, which nobody can use any more. If it failed it would stay: no harm.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.blocks * BLOCK) };
    }
}
