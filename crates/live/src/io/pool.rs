//! A fixed number of slots for frames, so that forwarding allocates nothing.

use std::collections::TryReserveError;
use std::mem;

use crate::io::frame::IpPosition;

/// A slot that holds a frame: the handle of a [`Packet`](aqm::Packet) on real links.
///
/// It is not `Copy`, so a slot is returned once: when its packet is dropped, or after it was sent.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a slot that is not given back is lost to the pool"]
pub struct FrameId {
    slot: u32,
    /// See [`FrameId::tag`].
    tag: u32,
}

impl FrameId {
    /// Number of the slot.
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// Tag that names the frame's flow, set by the access links of a run; 0 until then.
    #[inline]
    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    #[inline]
    pub(crate) fn set_tag(&mut self, tag: u32) {
        self.tag = tag;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct SlotContents {
    len: u32,
    ip: Option<IpPosition>,
}

/// A cache line. The stride of slots is an odd number of lines. With a stride of 2048 bytes, the headers of a batch
/// would share two sets of a first-level cache. Reads would also wait for writes to other slots whose addresses have
/// the same low 12 bits (Intel 64 and IA-32 Architectures Optimization Reference Manual, "4-KByte aliasing").
const LINE: usize = 64;

/// The slots and the list of free ones.
#[derive(Debug)]
pub struct Pool {
    /// All slots in one allocation, the spare one last.
    bytes: Box<[u8]>,
    slot: usize,
    stride: usize,
    contents: Box<[SlotContents]>,
    /// A stack: the slot returned last may still be in a cache.
    free: Vec<u32>,
}

impl Pool {
    /// Default bytes of a slot: Ethernet's 1500 with header and VLAN tags, and some to spare.
    pub const DEFAULT_SLOT: usize = 2048;

    /// Bytes of a slot for IP packets up to `mtu`, with an Ethernet header and four VLAN tags. One byte more shows that a
    /// frame is too long: such a frame fills its slot.
    pub fn slot_for(mtu: usize) -> usize {
        (mtu + 14 + 4 * 4 + 1).max(Pool::DEFAULT_SLOT)
    }

    /// Bytes of a pool of `slots` slots of `bytes` bytes.
    pub fn bytes_of(slots: u32, bytes: usize) -> usize {
        let stride = bytes.max(1).next_multiple_of(LINE) | LINE;
        (slots.max(1) as usize + 1) * (stride + size_of::<SlotContents>() + size_of::<u32>())
    }

    /// Allocates `slots` slots of `bytes` bytes, at least one of each.
    pub fn new(slots: u32, bytes: usize) -> Pool {
        let (slots, slot) = (slots.max(1), bytes.max(1));
        let stride = Pool::stride_for(slot);
        Pool {
            bytes: vec![0; stride * (slots as usize + 1)].into(),
            slot,
            stride,
            contents: vec![SlotContents::default(); slots as usize].into(),
            free: (0..slots).rev().collect(),
        }
    }

    /// Grows to `slots` slots; used ones keep their frames.
    pub fn grow(&mut self, slots: u32) {
        let (before, after) = (self.contents.len(), slots as usize);
        if after <= before {
            return;
        }
        let mut larger = Pool::new(slots, self.slot);
        let used = before * self.stride;
        larger.bytes[..used].copy_from_slice(&self.bytes[..used]);
        larger.contents[..before].copy_from_slice(&self.contents);
        larger.free.truncate(after - before);
        larger.free.append(&mut self.free);
        *self = larger;
    }

    /// Lengthens every slot to `bytes` bytes; used ones keep their frames.
    ///
    /// # Errors
    /// There is not enough memory; nothing has changed.
    pub fn lengthen(&mut self, bytes: usize) -> Result<(), TryReserveError> {
        if bytes <= self.slot {
            return Ok(());
        }
        // A failure to allocate would end the process. The compiler could leave out memory that is not used.
        let mut probe = Vec::<u8>::new();
        probe.try_reserve_exact(Pool::stride_for(bytes).saturating_mul(self.contents.len() + 1))?;
        drop(std::hint::black_box(probe));
        let mut longer = Pool::new(self.contents.len() as u32, bytes);
        for (slot, contents) in self.contents.iter().enumerate() {
            let (from, to, length) = (slot * self.stride, slot * longer.stride, contents.len as usize);
            longer.bytes[to..to + length].copy_from_slice(&self.bytes[from..from + length]);
        }
        longer.contents = mem::take(&mut self.contents);
        longer.free = mem::take(&mut self.free);
        *self = longer;
        Ok(())
    }

    /// Distance between slots of `bytes` bytes.
    fn stride_for(bytes: usize) -> usize {
        bytes.next_multiple_of(LINE) | LINE
    }

    /// Takes a free slot, if any.
    #[inline]
    pub fn take(&mut self) -> Option<FrameId> {
        self.free.pop().map(|slot| FrameId { slot, tag: 0 })
    }

    /// Copies a frame, with its tag, into a free slot; `None` if there is none.
    pub(crate) fn copy(&mut self, frame: &FrameId) -> Option<FrameId> {
        let slot = self.free.pop()?;
        let (from, to) = (frame.slot as usize, slot as usize);
        let start = from * self.stride;
        let length = self.contents[from].len as usize;
        self.bytes.copy_within(start..start + length, to * self.stride);
        self.contents[to] = self.contents[from];
        Some(FrameId { slot, tag: frame.tag })
    }

    /// Returns a slot.
    #[inline]
    pub fn give(&mut self, frame: FrameId) {
        debug_assert!(self.free.len() < self.contents.len(), "slot {} is of another pool", frame.slot);
        self.free.push(frame.slot);
    }

    /// The whole slot, for writing a frame; call [`set_len`](Pool::set_len) afterwards.
    #[inline]
    pub fn slot_mut(&mut self, frame: &FrameId) -> &mut [u8] {
        let start = frame.slot as usize * self.stride;
        &mut self.bytes[start..start + self.slot]
    }

    /// Buffer for frames without a slot: they must be read so that the sender is not blocked, and are never sent.
    #[inline]
    pub fn spare_slot(&mut self) -> &mut [u8] {
        let start = self.contents.len() * self.stride;
        &mut self.bytes[start..start + self.slot]
    }

    /// Sets the length of the slot's frame, at most the slot's size.
    #[inline]
    pub fn set_len(&mut self, frame: &FrameId, len: usize) {
        self.contents[frame.slot as usize] = SlotContents { len: len.min(self.slot) as u32, ip: None };
    }

    /// The frame in a slot.
    #[inline]
    pub fn frame(&self, frame: &FrameId) -> &[u8] {
        let start = frame.slot as usize * self.stride;
        &self.bytes[start..start + self.contents[frame.slot as usize].len as usize]
    }

    /// The frame in a slot, mutable.
    #[inline]
    pub fn frame_mut(&mut self, frame: &FrameId) -> &mut [u8] {
        let start = frame.slot as usize * self.stride;
        &mut self.bytes[start..start + self.contents[frame.slot as usize].len as usize]
    }

    /// Records the position of the frame's IP header.
    #[inline]
    pub fn set_ip(&mut self, frame: &FrameId, ip: Option<IpPosition>) {
        self.contents[frame.slot as usize].ip = ip;
    }

    /// Recorded position of the frame's IP header.
    #[inline]
    pub fn ip(&self, frame: &FrameId) -> Option<IpPosition> {
        self.contents[frame.slot as usize].ip
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.contents.len()
    }

    /// Number of free slots.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Bytes of a slot.
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
    fn a_pool_that_grows_keeps_its_frames_and_has_every_slot_once() {
        let mut pool = Pool::new(3, 8);
        let kept = pool.take().unwrap();
        pool.slot_mut(&kept).fill(7);
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
    fn longer_slots_keep_their_frames_and_the_list_of_free_ones() {
        let mut pool = Pool::new(3, 100);
        let (first, kept) = (pool.take().unwrap(), pool.take().unwrap());
        pool.slot_mut(&kept).fill(7);
        pool.set_len(&kept, 100);
        pool.lengthen(50).unwrap();
        assert_eq!(pool.slot_bytes(), 100);
        pool.give(first);
        pool.lengthen(900).unwrap();
        assert_eq!((pool.slot_bytes(), pool.slots(), pool.free()), (900, 3, 2));
        assert_eq!(pool.frame(&kept), &[7; 100]);
        for frame in [pool.take().unwrap(), pool.take().unwrap()] {
            pool.slot_mut(&frame).fill(1);
        }
        assert_eq!((pool.take(), pool.frame(&kept)), (None, &[7; 100][..]));
        pool.lengthen(usize::MAX / 1024).unwrap_err();
        assert_eq!(pool.frame(&kept), &[7; 100]);
    }

    #[test]
    fn a_frame_stays_in_its_slot_and_others_are_not_touched() {
        let mut pool = Pool::new(2, 8);
        let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
        pool.slot_mut(&first).fill(1);
        pool.slot_mut(&second).fill(2);
        pool.spare_slot().fill(3);
        pool.set_len(&first, 3);
        pool.set_len(&second, 99);
        assert_eq!((pool.frame(&first), pool.frame(&second)), (&[1; 3][..], &[2; 8][..]));
        pool.frame_mut(&first)[2] = 9;
        assert_eq!(pool.frame(&first), &[1, 1, 9]);
    }
}
