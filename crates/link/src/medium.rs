//! What carries the packets of one direction of a link: its transmitter, its propagation delay, and chance on the way.

use headgate_core::{Rng, Span, Time};
use headgate_scenario::{Impairments, Pace, Simplex};

use crate::passage::Passage;
use crate::transmitter::Transmitter;

/// One packet's way over a link.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// When its last bit is sent: the link is free again.
    pub sent: Time,
    /// When it comes out if nothing happens to it.
    pub due: Time,
    /// When it does come out; `None` if it is lost.
    pub out: Option<Time>,
    /// It may take long to be sent, or others may overtake it.
    pub waits: bool,
}

/// Carries packets, one at a time.
pub trait Carrier {
    /// Sends a packet whose first bit goes at `now`, not before the last packet was sent.
    fn carry(&mut self, bytes: u32, now: Time) -> Transit;
}

/// The medium of a scenario's link.
#[derive(Debug)]
pub struct Medium {
    transmitter: Transmitter,
    delay: Span,
    /// What happens to packets on the way, if anything can, and whether they wait.
    passage: Option<Box<(Passage, bool)>>,
}

impl Medium {
    /// The medium of `simplex` with a propagation delay of `delay`. Chance comes from `rng`.
    pub fn new(simplex: &Simplex, delay: Span, rng: Rng) -> Medium {
        let impairments = simplex.impairments;
        let waits = simplex.pace != Pace::Constant || impairments.reorder > 0.0;
        let passes = waits || impairments != Impairments::default();
        Medium {
            transmitter: Transmitter::new(simplex.rate, &simplex.pace),
            delay,
            passage: passes.then(|| Box::new((Passage::new(impairments, rng), waits))),
        }
    }

    /// The propagation delay: no packet comes out sooner after it was sent.
    #[inline]
    pub fn delay(&self) -> Span {
        self.delay
    }
}

impl Carrier for Medium {
    #[inline(always)]
    fn carry(&mut self, bytes: u32, now: Time) -> Transit {
        let sent = self.transmitter.sent(now, bytes);
        let due = sent + self.delay;
        match &mut self.passage {
            None => Transit { sent, due, out: Some(due), waits: false },
            Some(way) => Transit { sent, due, out: way.0.pass(due), waits: way.1 },
        }
    }
}
