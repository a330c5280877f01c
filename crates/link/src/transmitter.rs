//! Transmission times: at a constant rate, by a schedule of rates, or by a trace of opportunities.

mod opportunity_trace;
mod scheduled_rate;

use std::sync::Arc;

use aqm::{Rate, Span, Time};
use headgate_measure::CapacityUse;
use headgate_scenario::RateVariation;

use opportunity_trace::OpportunityTrace;
use scheduled_rate::ScheduledRate;

/// The transmitter of one direction: computes when the transmission of a packet ends.
#[derive(Debug)]
pub struct Transmitter(RateModel);

#[derive(Debug)]
enum RateModel {
    Constant(FixedRate),
    Schedule(ScheduledRate),
    Trace(OpportunityTrace),
}

impl Transmitter {
    /// A transmitter with initial rate `rate` and the changes of `rate_variation`.
    pub fn new(rate: Rate, rate_variation: &RateVariation) -> Transmitter {
        Transmitter(match rate_variation {
            RateVariation::Constant => RateModel::Constant(FixedRate { rate, last: (0, Span::ZERO) }),
            RateVariation::Schedule { steps, period } => RateModel::Schedule(ScheduledRate::new(rate, steps, *period)),
            RateVariation::Trace { opportunities, .. } => {
                RateModel::Trace(OpportunityTrace::new(Arc::clone(opportunities)))
            }
        })
    }

    /// Sets the rate from the next packet on. Returns whether it was set: a rate that varies by itself is not.
    pub fn set_rate(&mut self, rate: Rate) -> bool {
        let RateModel::Constant(constant) = &mut self.0 else { return false };
        *constant = FixedRate { rate, last: (0, Span::ZERO) };
        true
    }

    /// The amount sent up to `now`, and the amount that could have been sent; `None` for a constant rate, at which the
    /// time spent sending says as much.
    pub fn used(&self, now: Time) -> Option<CapacityUse> {
        match &self.0 {
            RateModel::Constant(_) => None,
            RateModel::Schedule(schedule) => Some(schedule.used(now)),
            RateModel::Trace(trace) => Some(trace.used(now)),
        }
    }

    /// The end of a packet's transmission that begins at `now`, which must not precede the end of the last
    /// transmission.
    #[inline]
    pub fn transmission_end(&mut self, now: Time, bytes: u32) -> Time {
        match &mut self.0 {
            RateModel::Constant(constant) => now + constant.transmit(bytes),
            RateModel::Schedule(schedule) => schedule.transmission_end(now, bytes),
            RateModel::Trace(trace) => trace.transmission_end(now, bytes),
        }
    }
}

#[derive(Debug)]
struct FixedRate {
    rate: Rate,
    /// Last packet size and its transmission time: sizes repeat.
    last: (u32, Span),
}

impl FixedRate {
    #[inline]
    fn transmit(&mut self, bytes: u32) -> Span {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.transmit(bytes));
        }
        self.last.1
    }
}
