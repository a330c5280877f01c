//! The medium of one direction: transmitter, propagation delay and random impairments.

use headgate_core::{Rng, Span, Time};
use headgate_scenario::{Impairments, Pace, Simplex};

use crate::impairer::Impairer;
use crate::transmitter::Transmitter;

/// A packet's transit over a link.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// When its last bit is sent and the link is free again.
    pub sent: Time,
    /// When it comes out without impairments.
    pub due: Time,
    /// When it does come out; `None` if it is lost.
    pub out: Option<Time>,
    /// Whether sending may take long, or other packets may overtake it.
    pub waits: bool,
}

/// Carries packets one at a time.
pub trait Carrier {
    /// Sends a packet from `now` on, which must not precede the end of the last packet.
    fn carry(&mut self, bytes: u32, now: Time) -> Transit;
}

/// The medium of a scenario's link.
#[derive(Debug)]
pub struct Medium {
    transmitter: Transmitter,
    delay: Span,
    /// Impairments, if any, and whether packets wait ([`Transit::waits`]).
    passage: Option<Box<(Impairer, bool)>>,
}

impl Medium {
    /// The medium of `simplex` with propagation delay `delay`. `rng` drives the impairments.
    pub fn new(simplex: &Simplex, delay: Span, rng: Rng) -> Medium {
        let impairments = simplex.impairments;
        let waits = simplex.pace != Pace::Constant || impairments.reorder > 0.0;
        let passes = waits || impairments != Impairments::default();
        Medium {
            transmitter: Transmitter::new(simplex.rate, &simplex.pace),
            delay,
            passage: passes.then(|| Box::new((Impairer::new(impairments, rng), waits))),
        }
    }

    /// The propagation delay: a lower bound on the time from sent to out.
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
