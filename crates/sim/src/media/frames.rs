//! Frames of a call at its receiver: which packets each one has, and how many of them have arrived.

use std::collections::VecDeque;

use aqm::{Span, Time};

/// Older frames are forgotten, as their packets are.
const KEPT: Span = Span::from_secs(3);

#[derive(Clone, Copy, Debug)]
struct Frame {
    captured: Time,
    /// The number of its first packet.
    first: u32,
    packets: u32,
    arrived: u32,
}

/// The last frames of a call, oldest first. Their packets have consecutive numbers.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    frames: VecDeque<Frame>,
    next: u32,
}

impl Frames {
    /// The camera takes a frame that fills `packets` packets.
    pub fn add(&mut self, captured: Time, packets: u32) {
        while self.frames.front().is_some_and(|oldest| oldest.captured + KEPT < captured) {
            self.frames.pop_front();
        }
        self.frames.push_back(Frame { captured, first: self.next, packets, arrived: 0 });
        self.next += packets;
    }

    /// A packet arrives for the first time. Returns when the camera took its frame, if that is whole now.
    pub fn arrive(&mut self, number: u32) -> Option<Time> {
        let after = self.frames.partition_point(|frame| frame.first <= number);
        let frame = self.frames.get_mut(after.checked_sub(1)?)?;
        frame.arrived += 1;
        (frame.arrived == frame.packets).then_some(frame.captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_frame_is_whole_with_its_last_packet_in_any_order() {
        let mut frames = Frames::default();
        frames.add(at(0), 2);
        frames.add(at(40), 3);
        let whole: Vec<_> = [2, 1, 4, 0, 3].map(|number| frames.arrive(number)).to_vec();
        assert_eq!(whole, [None, None, None, Some(at(0)), Some(at(40))]);
    }

    #[test]
    fn packets_of_forgotten_frames_complete_nothing() {
        let mut frames = Frames::default();
        (0..200).for_each(|number| frames.add(at(40 * number), 1));
        assert_eq!(frames.arrive(0), None);
        assert_eq!(frames.arrive(199), Some(at(40 * 199)));
        assert!(frames.frames.len() <= 76);
    }
}
