//! The medium of one direction: transmitter, propagation delay and impairments.

use aqm::{Backlog, Rate, Rng, Span, Time};
use headgate_measure::CapacityUse;
use headgate_scenario::{DirectionSettings, Impairments, RateVariation};

use crate::arrival::Arrival;
use crate::impairer::Impairer;
use crate::transmitter::Transmitter;

/// A packet's transit over a link.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// End of its transmission: the link is then free.
    pub sent: Time,
    /// When it arrives without impairments.
    pub due: Time,
    /// Its fate.
    pub arrival: Arrival,
    /// Whether it may arrive long after its transmission began, because rates change, or out of order.
    pub late_or_reordered: bool,
}

/// Carries packets one at a time.
pub trait Carrier {
    /// Sends a packet from `now` on, which must not precede the end of the last packet. `queued` returns the packets that are
    /// queued behind it.
    fn carry(&mut self, bytes: u32, queued: impl FnOnce() -> Backlog, now: Time) -> Transit;
}

/// The medium of a scenario's link.
#[derive(Debug)]
pub struct Medium {
    transmitter: Transmitter,
    delay: Span,
    /// Impairments, and the [`Transit::late_or_reordered`] of all packets. `None` if the link has neither.
    impairer: Option<Box<(Impairer, bool)>>,
}

impl Medium {
    /// The medium of a direction with these `settings` and propagation delay `delay`. `rng` drives the impairments.
    pub fn new(settings: &DirectionSettings, delay: Span, rng: Rng) -> Medium {
        let impairments = settings.impairments.clone();
        let late_or_reordered = settings.rate_variation != RateVariation::Constant || impairments.reorder > 0.0;
        let impaired_link = late_or_reordered || impairments != Impairments::default();
        // A packet arrives at the end of the slot that it leaves in.
        let slot = if let RateVariation::Slots { length } = settings.rate_variation { length } else { Span::ZERO };
        Medium {
            transmitter: Transmitter::new(settings.rate, &settings.rate_variation, settings.framing),
            delay: delay + slot,
            impairer: impaired_link.then(|| Box::new((Impairer::new(impairments, rng), late_or_reordered))),
        }
    }

    /// Sets the transmitter's rate. Returns whether it was set: a rate that varies by itself is not.
    pub fn set_rate(&mut self, rate: Rate) -> bool {
        self.transmitter.set_rate(rate)
    }

    /// The use of a link of varying rate up to `now`, which no later packet may precede; `None` for a constant rate.
    pub fn used(&self, now: Time) -> Option<CapacityUse> {
        self.transmitter.used(now)
    }

    /// The propagation delay: a lower bound on the time from the end of a packet's transmission to its arrival.
    #[inline]
    pub fn delay(&self) -> Span {
        self.delay
    }
}

impl Carrier for Medium {
    #[inline(always)]
    fn carry(&mut self, bytes: u32, queued: impl FnOnce() -> Backlog, now: Time) -> Transit {
        let sent = self.transmitter.transmission_end(now, bytes, queued);
        let due = sent + self.delay;
        match &mut self.impairer {
            None => Transit { sent, due, arrival: Arrival::At(due), late_or_reordered: false },
            Some(impaired) => impaired_transit(impaired, sent, due),
        }
    }
}

/// A separate function keeps the path of links without impairments short.
#[inline(never)]
fn impaired_transit((impairer, late_or_reordered): &mut (Impairer, bool), sent: Time, due: Time) -> Transit {
    Transit { sent, due, arrival: impairer.impair(due), late_or_reordered: *late_or_reordered }
}
