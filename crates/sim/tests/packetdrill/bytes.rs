//! Byte numbers of a script as segments of our sender, which counts segments.
//!
//! Segment 0 is the SYN, as byte 0 is. Segment 1 begins with byte 1, and each holds `mss` bytes; the last may hold less.

/// The data of a connection in both units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteMap {
    mss: u64,
    /// Bytes that the application has written.
    written: u64,
}

impl ByteMap {
    pub fn new(mss: u32) -> ByteMap {
        ByteMap { mss: mss.into(), written: 0 }
    }

    /// Adds a write of `bytes`. Returns the segments that it adds, or `None` if it would continue a segment that is not
    /// full: our sender does not join writes.
    pub fn write(&mut self, bytes: u64) -> Option<u32> {
        if !self.written.is_multiple_of(self.mss) {
            return None;
        }
        self.written += bytes;
        Some(bytes.div_ceil(self.mss) as u32)
    }

    /// The first and the end byte of segment `seq`.
    pub fn range(&self, seq: u32) -> (u64, u64) {
        let start = (u64::from(seq) - 1) * self.mss;
        (1 + start, 1 + (start + self.mss).min(self.written))
    }

    /// The acknowledgement in segments: only whole segments count. The acknowledgement of a FIN counts as that of the
    /// data.
    pub fn ack(&self, ack: u64) -> u32 {
        let end = self.written + 1;
        self.whole_before(if ack == end + 1 { end } else { ack })
    }

    /// The whole segments within a SACK block. The kernel, too, splits its buffers only between full segments
    /// (`tcp_match_skb_to_sack`).
    pub fn block(&self, (start, end): (u64, u64)) -> Option<(u32, u32)> {
        let first = (start.max(1) - 1).div_ceil(self.mss) as u32 + 1;
        let last = self.whole_before(end);
        (first < last).then_some((first, last))
    }

    /// The number after the last segment that ends before byte `end`.
    fn whole_before(&self, end: u64) -> u32 {
        let bytes = end.max(1) - 1;
        1 + if bytes == self.written { bytes.div_ceil(self.mss) } else { bytes / self.mss } as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_whole_segments_count() {
        let mut map = ByteMap::new(1000);
        assert_eq!(map.write(4000), Some(4));
        assert_eq!([1, 1000, 1001, 4001, 4002].map(|ack| map.ack(ack)), [1, 1, 2, 5, 5]);
        assert_eq!(map.block((4000, 4001)), None);
        assert_eq!(map.block((1001, 3001)), Some((2, 4)));
    }

    #[test]
    fn the_last_segment_may_be_short_and_nothing_follows_it() {
        let mut map = ByteMap::new(1000);
        assert_eq!(map.write(2500), Some(3));
        assert_eq!((map.range(3), map.ack(2501), map.block((2001, 2501))), ((2001, 2501), 4, Some((3, 4))));
        assert_eq!(map.write(1000), None);
    }

    proptest! {
        #[test]
        fn segments_and_bytes_agree(mss in 1u32..2000, full in 1u32..50, seq in 1u32..50) {
            let mut map = ByteMap::new(mss);
            prop_assert_eq!(map.write(u64::from(mss * full)), Some(full));
            let seq = seq.min(full);
            let (start, end) = map.range(seq);
            prop_assert_eq!(end - start, u64::from(mss));
            prop_assert_eq!((map.ack(start), map.ack(end)), (seq, seq + 1));
            prop_assert_eq!(map.block((start, end)), Some((seq, seq + 1)));
        }
    }
}
