//! What lies between the two ends of a forwarder.

use std::io;

use headgate_core::{Span, Time};
use headgate_scenario::Direction;

use super::lane::Lane;
use super::view::LaneView;
use crate::io::Io;
use crate::io::tap::Recorder;

/// What lies between two ends: both directions of a link, or a network of links. Frames go forward from the first end to the second,
/// and in reverse.
pub trait Fabric {
    /// Takes what has come to `from` to go `direction`; says whether there may be more.
    fn take(&mut self, now: Time, direction: Direction, from: &mut dyn Io) -> io::Result<bool>;

    /// Gives `to` what went `direction` and has come out; says whether there is more.
    fn give(&mut self, now: Time, direction: Direction, to: &mut dyn Io) -> io::Result<bool>;

    /// When something may come out; [`Time::NEVER`] while there is nothing.
    fn due(&self) -> Time;

    /// Nobody looked for so long that it is not caught up: everything stood still for `by`.
    fn stall(&mut self, by: Span);

    /// What there is to see at `now`, of each direction of a link by its number.
    fn view(&mut self, now: Time) -> Vec<LaneView>;

    /// From now on `recorders` note packets that are dropped or lost, each direction's of the first link at the end where they come
    /// in.
    fn record(&mut self, recorders: &[Option<Recorder>; 2]);
}

/// Both directions of a link.
pub type Lanes = [Box<dyn Lane>; 2];

impl Fabric for Lanes {
    #[inline]
    fn take(&mut self, now: Time, direction: Direction, from: &mut dyn Io) -> io::Result<bool> {
        self[direction as usize].take(now, from)
    }

    #[inline]
    fn give(&mut self, now: Time, direction: Direction, to: &mut dyn Io) -> io::Result<bool> {
        self[direction as usize].give(now, to)
    }

    #[inline]
    fn due(&self) -> Time {
        let [forth, back] = self;
        forth.due().min(back.due())
    }

    fn stall(&mut self, by: Span) {
        self.iter_mut().for_each(|lane| lane.stall(by));
    }

    fn view(&mut self, now: Time) -> Vec<LaneView> {
        self.iter_mut().map(|lane| lane.view(now)).collect()
    }

    fn record(&mut self, recorders: &[Option<Recorder>; 2]) {
        self.iter_mut().zip(recorders).for_each(|(lane, recorder)| lane.record(recorder.clone()));
    }
}
