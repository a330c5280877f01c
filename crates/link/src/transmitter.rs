//! Transmission times: at a constant rate, by a schedule of rates, by a trace of opportunities, in slots or in aggregates.

mod aggregates;
mod opportunity_trace;
mod scheduled_rate;
mod slotted_rate;

use std::sync::Arc;

use aqm::{Backlog, Framing, Rate, Span, Time};
use headgate_measure::CapacityUse;
use headgate_scenario::RateVariation;

use aggregates::{Aggregates, queued_on_wire};
use opportunity_trace::OpportunityTrace;
use scheduled_rate::ScheduledRate;
use slotted_rate::SlottedRate;

/// The transmitter of one direction: computes when the transmission of a packet ends.
#[derive(Debug)]
pub struct Transmitter {
    model: RateModel,
    framing: Framing,
}

#[derive(Debug)]
enum RateModel {
    Constant(FixedRate),
    Schedule(ScheduledRate),
    Trace(OpportunityTrace),
    Slots(SlottedRate),
    Aggregates(Aggregates),
}

impl Transmitter {
    /// A transmitter with initial rate `rate` and the changes of `rate_variation`. Packets have the bytes of `framing` more.
    pub fn new(rate: Rate, rate_variation: &RateVariation, framing: Framing) -> Transmitter {
        let model = match rate_variation {
            RateVariation::Constant => RateModel::Constant(FixedRate { rate, last: (0, Span::ZERO) }),
            RateVariation::Schedule { steps, period } => RateModel::Schedule(ScheduledRate::new(rate, steps, *period)),
            RateVariation::Trace { opportunities, .. } => {
                RateModel::Trace(OpportunityTrace::new(Arc::clone(opportunities)))
            }
            RateVariation::Slots { length } => RateModel::Slots(SlottedRate::new(rate, *length)),
            RateVariation::Aggregates { most, gap } => RateModel::Aggregates(Aggregates::new(rate, *most, *gap)),
        };
        Transmitter { model, framing }
    }

    /// Sets the rate from the next packet on. Returns whether it was set: a rate that varies by itself is not.
    pub fn set_rate(&mut self, rate: Rate) -> bool {
        let RateModel::Constant(constant) = &mut self.model else { return false };
        *constant = FixedRate { rate, last: (0, Span::ZERO) };
        true
    }

    /// The amount sent up to `now`, and the amount that could have been sent; `None` for a constant rate and for aggregates,
    /// where the time spent sending says as much.
    pub fn used(&self, now: Time) -> Option<CapacityUse> {
        match &self.model {
            RateModel::Constant(_) | RateModel::Aggregates(_) => None,
            RateModel::Schedule(schedule) => Some(schedule.used(now)),
            RateModel::Trace(trace) => Some(trace.used(now)),
            RateModel::Slots(slots) => Some(slots.used(now)),
        }
    }

    /// The end of a packet's transmission that begins at `now`, which must not precede the end of the last
    /// transmission. `queued` returns the packets that are queued behind it.
    #[inline(always)]
    pub fn transmission_end(&mut self, now: Time, bytes: u32, queued: impl FnOnce() -> Backlog) -> Time {
        if let RateModel::Constant(constant) = &mut self.model {
            return now + constant.transmit(bytes, &self.framing);
        }
        self.varied_end(now, bytes, queued)
    }

    /// The same for a rate that varies. A separate function keeps the common path short.
    #[inline(never)]
    fn varied_end(&mut self, now: Time, bytes: u32, queued: impl FnOnce() -> Backlog) -> Time {
        let framing = self.framing;
        match &mut self.model {
            RateModel::Constant(constant) => now + constant.transmit(bytes, &framing),
            RateModel::Schedule(schedule) => schedule.transmission_end(now, framing.wire_bytes(bytes)),
            RateModel::Trace(trace) => trace.transmission_end(now, framing.wire_bytes(bytes)),
            RateModel::Slots(slots) => slots.transmission_end(now, framing.wire_bytes(bytes)),
            RateModel::Aggregates(aggregates) => {
                let queued = || queued_on_wire(queued(), framing);
                aggregates.transmission_end(now, framing.wire_bytes(bytes), queued)
            }
        }
    }
}

#[derive(Debug)]
struct FixedRate {
    rate: Rate,
    /// Last packet size, without framing, and its transmission time: sizes repeat.
    last: (u32, Span),
}

impl FixedRate {
    #[inline(always)]
    fn transmit(&mut self, bytes: u32, framing: &Framing) -> Span {
        if self.last.0 != bytes {
            self.change_size(bytes, framing);
        }
        self.last.1
    }

    #[inline(never)]
    fn change_size(&mut self, bytes: u32, framing: &Framing) {
        self.last = (bytes, self.rate.transmit(framing.wire_bytes(bytes)));
    }
}
