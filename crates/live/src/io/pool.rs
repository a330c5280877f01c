//! A fixed number of slots for frames: nothing is allocated while packets pass.

use crate::io::frame::IpAt;

/// A slot that holds a frame: what a [`Packet`](headgate_core::Packet)'s handle is here.
///
/// It cannot be copied, so a slot is given back once: by whoever drops the packet, or after it was sent.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a slot that is not given back is lost to the pool"]
pub struct FrameId {
    slot: u32,
    /// What was made of the frame when it came: see [`FrameId::tag`].
    tag: u32,
}

impl FrameId {
    /// The slot's number, to tell one from another.
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// Whose packet it is, as whoever keeps account of packets has said; 0 before.
    #[inline]
    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    /// Says whose packet it is.
    #[inline]
    pub(crate) fn set_tag(&mut self, tag: u32) {
        self.tag = tag;
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    len: u32,
    ip: Option<IpAt>,
}

/// A cache line. Slots are an odd number of them apart: were it 2048 bytes, the headers of a batch would share two of a first-level
/// cache's sets, and a read from one slot would wait for writes to others, since their addresses have the same 12 low bits (Intel
/// 64 and IA-32 Architectures Optimization Reference Manual, "4-KByte aliasing").
const LINE: usize = 64;

/// The slots, and which of them are free.
#[derive(Debug)]
pub struct Pool {
    /// All slots in one piece, the spare one last.
    bytes: Box<[u8]>,
    /// Bytes in a slot.
    slot: usize,
    /// Bytes from one slot to the next.
    stride: usize,
    held: Box<[Held]>,
    /// The one that was given back last is taken first: it may still be in a cache.
    free: Vec<u32>,
}

impl Pool {
    /// Bytes in a slot where nobody says otherwise: Ethernet's 1500 with its header and VLAN tags, and room to spare.
    pub const SLOT: usize = 2048;

    /// Bytes in a slot for an interface that takes IP packets of up to `mtu` bytes: room for an Ethernet header, four VLAN tags,
    /// and one byte more, so that a packet that fills its slot was too long.
    pub fn slot_for(mtu: usize) -> usize {
        (mtu + 14 + 4 * 4 + 1).max(Pool::SLOT)
    }

    /// `slots` slots of `bytes` bytes each, at least one of each.
    pub fn new(slots: u32, bytes: usize) -> Pool {
        let (slots, slot) = (slots.max(1), bytes.max(1));
        let stride = slot.next_multiple_of(LINE) | LINE;
        Pool {
            bytes: vec![0; stride * (slots as usize + 1)].into(),
            slot,
            stride,
            held: vec![Held::default(); slots as usize].into(),
            free: (0..slots).rev().collect(),
        }
    }

    /// Adds slots until there are `slots`. Those that are taken stay as they are.
    pub fn grow(&mut self, slots: u32) {
        let (before, after) = (self.held.len(), slots as usize);
        if after <= before {
            return;
        }
        let mut larger = Pool::new(slots, self.slot);
        let used = before * self.stride;
        larger.bytes[..used].copy_from_slice(&self.bytes[..used]);
        larger.held[..before].copy_from_slice(&self.held);
        larger.free.truncate(after - before);
        larger.free.append(&mut self.free);
        *self = larger;
    }

    /// A free slot, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<FrameId> {
        self.free.pop().map(|slot| FrameId { slot, tag: 0 })
    }

    /// The slot is free again.
    #[inline]
    pub fn give(&mut self, frame: FrameId) {
        debug_assert!(self.free.len() < self.held.len(), "slot {} is of another pool", frame.slot);
        self.free.push(frame.slot);
    }

    /// The whole slot, to write a frame into; [`set_len`](Pool::set_len) says how long it became.
    #[inline]
    pub fn room(&mut self, frame: &FrameId) -> &mut [u8] {
        let start = frame.slot as usize * self.stride;
        &mut self.bytes[start..start + self.slot]
    }

    /// Where a frame is read to that no slot is free for, so that whoever sends it is not held up. It is never sent.
    #[inline]
    pub fn spare(&mut self) -> &mut [u8] {
        let start = self.held.len() * self.stride;
        &mut self.bytes[start..start + self.slot]
    }

    /// The slot holds a frame of `len` bytes, or of as many as fit.
    #[inline]
    pub fn set_len(&mut self, frame: &FrameId, len: usize) {
        self.held[frame.slot as usize] = Held { len: len.min(self.slot) as u32, ip: None };
    }

    /// The frame.
    #[inline]
    pub fn frame(&self, frame: &FrameId) -> &[u8] {
        let start = frame.slot as usize * self.stride;
        &self.bytes[start..start + self.held[frame.slot as usize].len as usize]
    }

    /// The frame, to change it.
    #[inline]
    pub fn frame_mut(&mut self, frame: &FrameId) -> &mut [u8] {
        let start = frame.slot as usize * self.stride;
        &mut self.bytes[start..start + self.held[frame.slot as usize].len as usize]
    }

    /// The frame has its IP header there, or none.
    #[inline]
    pub fn set_ip(&mut self, frame: &FrameId, ip: Option<IpAt>) {
        self.held[frame.slot as usize].ip = ip;
    }

    /// Where the frame has its IP header, as was said.
    #[inline]
    pub fn ip(&self, frame: &FrameId) -> Option<IpAt> {
        self.held[frame.slot as usize].ip
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.held.len()
    }

    /// How many of them are free.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Bytes in a slot.
    pub fn slot_bytes(&self) -> usize {
        self.slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_run_out_and_come_back() {
        let mut pool = Pool::new(2, 64);
        let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
        assert_ne!(first, second);
        assert_eq!((pool.take(), pool.free(), pool.slots()), (None, 0, 2));
        pool.give(first);
        assert!(pool.take().is_some());
    }

    #[test]
    fn a_pool_that_grows_keeps_what_is_taken_and_has_every_slot_once() {
        let mut pool = Pool::new(3, 8);
        let kept = pool.take().unwrap();
        pool.room(&kept).fill(7);
        pool.set_len(&kept, 5);
        pool.grow(2);
        assert_eq!((pool.slots(), pool.free()), (3, 2));
        pool.grow(5);
        assert_eq!((pool.slots(), pool.free(), pool.frame(&kept)), (5, 4, &[7; 5][..]));
        let mut all: Vec<u32> = std::iter::from_fn(|| pool.take()).chain([kept]).map(|frame| frame.slot()).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_frame_stays_in_its_slot_and_others_are_not_touched() {
        let mut pool = Pool::new(2, 8);
        let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
        pool.room(&first).fill(1);
        pool.room(&second).fill(2);
        pool.spare().fill(3);
        pool.set_len(&first, 3);
        pool.set_len(&second, 99);
        assert_eq!((pool.frame(&first), pool.frame(&second)), (&[1; 3][..], &[2; 8][..]));
        pool.frame_mut(&first)[2] = 9;
        assert_eq!(pool.frame(&first), &[1, 1, 9]);
    }
}
