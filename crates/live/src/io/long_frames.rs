//! Receives frames that are longer than a frame of the ring: super-packets, and packets of an MTU that was raised after
//! the ring was made.
//!
//! With `PACKET_COPY_THRESH` the kernel also queues a frame that does not fit on the socket, and says so in the ring's
//! status (`TP_STATUS_COPY`). The ring keeps the order of all frames, and its frames stay small. A queued frame is
//! read by `recv`, in one call for dozens of packets.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::offload::{OFFLOAD_HEADER, PartialChecksum, Segmentation};
use super::ring::{RingFrame, TAG, TAG_AT};
use super::sys;

/// Longest IP packet, with an Ethernet header and four VLAN tags.
const LONGEST: usize = 65_535 + 14 + 4 * TAG;

/// Memory of the kernel's queue: a tenth of a second at 1 Gbit/s. The kernel doubles it for its own overhead.
const QUEUE_BYTES: i32 = 1 << 24;

/// The packets in a long frame.
#[derive(Clone, Copy, Debug)]
enum LongFrame {
    SuperPacket(Segmentation),
    /// One packet, whose checksum may be left to fill in.
    Packet(Option<PartialChecksum>),
}

/// The packets of a loaded frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoadedPackets {
    /// Their number.
    pub(super) count: u64,
    /// Length of the longest, as a frame.
    pub(super) longest: usize,
    /// Number of packets without a checksum.
    pub(super) no_checksum: u64,
    /// Whether they are segments of a super-packet.
    pub(super) segmented: bool,
}

/// A buffer with the frame whose packets are being taken.
#[derive(Debug)]
pub(super) struct LongFrames {
    /// Space for a tag, the offload header, and the frame. A tag is inserted in front of the rest.
    buffer: Box<[u8]>,
    /// Start and end of the frame in the buffer.
    frame: (usize, usize),
    loaded: Option<LongFrame>,
    /// Number of the next packet.
    next: usize,
}

impl LongFrames {
    /// Makes the kernel queue frames that do not fit `socket`'s ring.
    pub(super) fn of(socket: BorrowedFd<'_>) -> io::Result<LongFrames> {
        sys::set_option(socket, libc::SOL_PACKET, libc::PACKET_COPY_THRESH, &1_i32)?;
        // Without CAP_NET_ADMIN the queue is as long as net.core.rmem_max allows.
        let force = sys::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &QUEUE_BYTES);
        force.or_else(|_| sys::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &QUEUE_BYTES))?;
        let buffer = vec![0; TAG + OFFLOAD_HEADER + LONGEST].into();
        Ok(LongFrames { buffer, frame: (0, 0), loaded: None, next: 0 })
    }

    /// Whether packets are left.
    #[inline]
    pub(super) fn pending(&self) -> bool {
        self.loaded.is_some()
    }

    /// Loads `frame`, from the queue of `socket` if it is there. Returns its packets; `None` if it is a super-packet that
    /// cannot be segmented.
    pub(super) fn load(&mut self, socket: BorrowedFd<'_>, frame: &RingFrame<'_>) -> io::Result<Option<LoadedPackets>> {
        self.loaded = None;
        let start = TAG + OFFLOAD_HEADER;
        let length = if frame.queued {
            read_queued(socket, &mut self.buffer[TAG..])?.saturating_sub(OFFLOAD_HEADER)
        } else {
            let Some(room) = self.buffer.get_mut(start..start + frame.bytes.len()) else { return Ok(None) };
            room.copy_from_slice(frame.bytes);
            frame.bytes.len()
        };
        if length != frame.length || !(TAG_AT..=LONGEST).contains(&length) {
            return Ok(None);
        }
        let (mut offload, mut from) = (frame.offload, start);
        if let Some(tag) = frame.tag {
            from -= TAG;
            self.buffer.copy_within(start..start + TAG_AT, from);
            self.buffer[from + TAG_AT..from + TAG_AT + TAG].copy_from_slice(&tag);
            offload.partial.iter_mut().for_each(|partial| partial.start += TAG);
        }
        self.frame = (from, start + length);
        self.next = 0;
        let bytes = &self.buffer[from..start + length];
        self.loaded = match (Segmentation::find(bytes, offload), offload.segments) {
            (Some(found), _) => Some(LongFrame::SuperPacket(found)),
            (None, None) => Some(LongFrame::Packet(offload.partial)),
            (None, Some(_)) => None,
        };
        Ok(self.loaded.map(|loaded| match loaded {
            LongFrame::SuperPacket(found) => {
                let count = found.count() as u64;
                LoadedPackets { count, longest: found.longest(), no_checksum: count, segmented: true }
            }
            LongFrame::Packet(partial) => {
                let no_checksum = u64::from(partial.is_some());
                LoadedPackets { count: 1, longest: bytes.len(), no_checksum, segmented: false }
            }
        }))
    }

    /// Writes the next packet to `room` and returns its length; 0 if none is left.
    #[inline]
    pub(super) fn write_next(&mut self, room: &mut [u8]) -> usize {
        let Some(loaded) = self.loaded else { return 0 };
        let bytes = &self.buffer[self.frame.0..self.frame.1];
        let length = match loaded {
            LongFrame::SuperPacket(found) => found.write(bytes, self.next, room),
            LongFrame::Packet(partial) => {
                room[..bytes.len()].copy_from_slice(bytes);
                partial.into_iter().for_each(|partial| partial.fill_in(&mut room[..bytes.len()]));
                bytes.len()
            }
        };
        self.skip_next();
        length
    }

    /// Discards the next packet.
    pub(super) fn skip_next(&mut self) {
        self.next += 1;
        self.loaded = self.loaded.filter(|loaded| match loaded {
            LongFrame::SuperPacket(found) => self.next < found.count(),
            LongFrame::Packet(_) => false,
        });
    }

    /// Discards all packets.
    pub(super) fn discard(&mut self) {
        self.loaded = None;
    }
}

/// Reads the first frame of the socket's queue with its offload header, cut off if it is longer than `room`. Returns its
/// full length; 0 if the queue is empty.
fn read_queued(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match recv(socket, &mut *room, RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
            Ok((_, length)) => return Ok(length),
            Err(Errno::AGAIN) => return Ok(0),
            // The interface went down; the frame is still queued.
            Err(Errno::INTR | Errno::NETDOWN) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
