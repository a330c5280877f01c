//! The links between the two ends of a forwarder.

use std::io;
use std::os::fd::BorrowedFd;

use aqm::{Span, Time};
use headgate_scenario::Direction;

use super::lane::Lane;
use super::view::LaneView;
use crate::io::LinkEnd;
use crate::io::recorded_end::Recorder;

/// The links between two ends: both directions of one link, or a network. Forward is from the first end to the second.
pub trait Fabric {
    /// Takes the frames that `from` has sent in `direction`, to [`arrive`](Fabric::arrive) later. Returns true if more may
    /// be waiting.
    fn take_from(&mut self, direction: Direction, from: &mut dyn LinkEnd) -> io::Result<bool>;

    /// Has the frames taken in `direction` arrive at `now`.
    fn arrive(&mut self, now: Time, direction: Direction);

    /// Sends the frames due in `direction` to `to`. Returns true if more are due.
    fn deliver_to(&mut self, now: Time, direction: Direction, to: &mut dyn LinkEnd) -> io::Result<bool>;

    /// Earliest time at which a frame may be due; [`Time::NEVER`] if there are none.
    fn due(&self) -> Time;

    /// Postpones all events by `by`, after a stall: the loop was late by more than [`CATCH_UP`](crate::CATCH_UP).
    fn stall(&mut self, by: Span);

    /// State of each direction at `now`, in the order of direction numbers.
    fn view(&mut self, now: Time) -> Vec<LaneView>;

    /// A descriptor that becomes readable when a packet leaves a queue of the kernel, if the fabric has one.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Attaches recorders for dropped and lost packets of the first link, one at each direction's entry.
    fn record(&mut self, recorders: &[Option<Recorder>; 2]);
}

/// The directions of a link that a thread serves: both, or one while the other has a thread of its own.
pub type Lanes = [Option<Box<dyn Lane>>; 2];

impl Fabric for Lanes {
    #[inline]
    fn take_from(&mut self, direction: Direction, from: &mut dyn LinkEnd) -> io::Result<bool> {
        self[direction as usize].as_mut().map_or(Ok(false), |lane| lane.take_from(from))
    }

    #[inline]
    fn arrive(&mut self, now: Time, direction: Direction) {
        if let Some(lane) = &mut self[direction as usize] {
            lane.arrive(now);
        }
    }

    #[inline]
    fn deliver_to(&mut self, now: Time, direction: Direction, to: &mut dyn LinkEnd) -> io::Result<bool> {
        self[direction as usize].as_mut().map_or(Ok(false), |lane| lane.deliver_to(now, to))
    }

    #[inline]
    fn due(&self) -> Time {
        self.iter().flatten().map(|lane| lane.due()).min().unwrap_or(Time::NEVER)
    }

    fn stall(&mut self, by: Span) {
        self.iter_mut().flatten().for_each(|lane| lane.stall(by));
    }

    fn view(&mut self, now: Time) -> Vec<LaneView> {
        self.iter_mut().map(|lane| lane.as_mut().map(|lane| lane.view(now)).unwrap_or_default()).collect()
    }

    fn record(&mut self, recorders: &[Option<Recorder>; 2]) {
        for (lane, recorder) in self.iter_mut().zip(recorders) {
            if let Some(lane) = lane {
                lane.record(recorder.clone());
            }
        }
    }
}
