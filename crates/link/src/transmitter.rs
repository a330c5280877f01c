//! Transmission times: at a constant rate, by a schedule of rates, or by a trace of opportunities.

use std::sync::Arc;

use aqm::{Rate, Span, Time};
use headgate_scenario::{OPPORTUNITY, RateVariation};

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

/// Rates that change at given times. If the rate changes within a packet, the rest of it is sent at the new rate.
#[derive(Debug)]
struct ScheduledRate {
    /// Start of each step in the period (in nanoseconds) and its rate; the first starts at 0.
    steps: Vec<(u64, u64)>,
    /// Length of the period; without one, the last step never ends.
    period: Option<u64>,
    /// Work of a whole period: the bits that it can send, times 10^9 (nanoseconds x bit/s).
    period_work: u128,
}

impl ScheduledRate {
    fn new(rate: Rate, steps: &[(Span, Rate)], period: Option<Span>) -> ScheduledRate {
        let changes = steps.iter().map(|(at, rate)| (at.as_nanos(), rate.as_bits()));
        let mut schedule = ScheduledRate {
            steps: [(0, rate.as_bits())].into_iter().chain(changes).collect(),
            period: period.map(Span::as_nanos),
            period_work: 0,
        };
        schedule.period_work = (0..schedule.steps.len()).map(|step| schedule.work(step, schedule.steps[step].0)).sum();
        schedule
    }

    /// End of a step in the period; `None` for never.
    fn end(&self, step: usize) -> Option<u64> {
        self.steps.get(step + 1).map(|(at, _)| *at).or(self.period)
    }

    /// Work from `at` to the end of `step`; 0 for the endless last step of a schedule without period.
    fn work(&self, step: usize, at: u64) -> u128 {
        self.end(step).map_or(0, |end| u128::from(end - at) * u128::from(self.steps[step].1))
    }

    fn transmission_end(&self, now: Time, bytes: u32) -> Time {
        // Work in nanoseconds x bit/s: exact in integers.
        let mut left = u128::from(bytes) * 8 * 1_000_000_000;
        let now = now.as_nanos();
        let mut base = self.period.map_or(0, |period| now / period * period);
        let mut at = now - base;
        let mut step = self.steps.partition_point(|(from, _)| *from <= at) - 1;
        loop {
            let rate = u128::from(self.steps[step].1);
            let Some(end) = self.end(step) else {
                return if rate == 0 { Time::NEVER } else { add_nanos(base + at, left.div_ceil(rate)) };
            };
            let work = u128::from(end - at) * rate;
            if left <= work {
                return add_nanos(base + at, left.div_ceil(rate.max(1)));
            }
            left -= work;
            (at, step) = (end, step + 1);
            if step == self.steps.len() {
                // The period ends. Skip the whole periods that cannot finish the packet.
                let periods = (left - 1) / self.period_work;
                left -= periods * self.period_work;
                base = base.saturating_add(end.saturating_mul(1 + u64::try_from(periods).unwrap_or(u64::MAX)));
                (at, step) = (0, 0);
            }
        }
    }
}

fn add_nanos(nanos: u64, more: u128) -> Time {
    Time::from_nanos(nanos.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)))
}

/// Sending opportunities as in mahimahi's `LinkQueue`. Bytes of an opportunity are lost if no packet is queued to use
/// them.
#[derive(Debug)]
struct OpportunityTrace {
    /// Times of opportunities in milliseconds since the start of a period, which ends with its last opportunity.
    opportunities: Arc<[u64]>,
    /// Periods passed, and the next opportunity in this period.
    periods_passed: u64,
    next: usize,
    /// The opportunity in use: its time and remaining bytes.
    current: (Time, u64),
}

impl OpportunityTrace {
    fn new(opportunities: Arc<[u64]>) -> OpportunityTrace {
        OpportunityTrace { opportunities, periods_passed: 0, next: 0, current: (Time::NEVER, 0) }
    }

    fn length(&self) -> u64 {
        self.opportunities.last().copied().unwrap_or(1)
    }

    /// Time of the next opportunity.
    fn moment(&self) -> Time {
        let millis = self.periods_passed.saturating_mul(self.length()).saturating_add(self.opportunities[self.next]);
        Time::from_nanos(millis.saturating_mul(1_000_000))
    }

    fn advance(&mut self, by: u64) {
        let count = self.opportunities.len() as u64;
        let next = self.next as u64 + by;
        self.periods_passed += next / count;
        self.next = (next % count) as usize;
    }

    /// Skips opportunities up to `now`, which no packet used.
    fn skip(&mut self, now: Time) {
        if self.moment() > now {
            return;
        }
        let millis = now.as_nanos() / 1_000_000;
        self.periods_passed = self.periods_passed.max(millis / self.length());
        let within = millis - self.periods_passed * self.length();
        self.next = self.opportunities.partition_point(|moment| *moment <= within);
    }

    fn transmission_end(&mut self, now: Time, bytes: u32) -> Time {
        if self.current.0 != now {
            self.skip(now);
        }
        if self.current.0 != now || self.current.1 == 0 {
            self.current = (self.moment(), OPPORTUNITY);
            self.advance(1);
        }
        let bytes = u64::from(bytes);
        let (mut moment, mut left) = self.current;
        if left < bytes {
            let more = (bytes - left).div_ceil(OPPORTUNITY);
            self.advance(more - 1);
            moment = self.moment();
            self.advance(1);
            left += more * OPPORTUNITY;
        }
        self.current = (moment, left - bytes);
        moment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    fn schedule(steps: &[(u64, u64)], period: Option<u64>) -> ScheduledRate {
        let steps = steps.iter().map(|(at, mbit)| (Span::from_millis(*at), Rate::from_bits(mbit * 1_000_000)));
        ScheduledRate::new(Rate::from_bits(8_000_000), &steps.collect::<Vec<_>>(), period.map(Span::from_millis))
    }

    #[test]
    fn the_rest_of_a_packet_is_sent_at_the_new_rate() {
        // 8 Mbit/s is a byte a microsecond. At 10 ms the rate falls to an eighth, at 20 ms to 0, and at 30 ms it rises
        // to 16 Mbit/s.
        let transmitter = schedule(&[(10, 1), (20, 0), (30, 16)], None);
        assert_eq!(transmitter.transmission_end(ms(1), 1000), ms(2));
        assert_eq!(transmitter.transmission_end(ms(9), 1000), ms(10), "sent as the rate changes");
        assert_eq!(transmitter.transmission_end(ms(9), 1500), ms(14), "500 bytes are left and take 4 ms");
        assert_eq!(
            transmitter.transmission_end(ms(19), 625),
            Time::from_nanos(30_250_000),
            "125 bytes before the pause, 500 after it"
        );
        assert_eq!(transmitter.transmission_end(ms(25), 2000), ms(31));
        let ends = schedule(&[(10, 0)], None);
        assert_eq!(ends.transmission_end(ms(9), 1001), Time::NEVER, "the rate stays 0");
    }

    #[test]
    fn a_periodic_schedule_repeats_until_the_packet_is_sent() {
        // A period of 10 ms: 5 ms at a byte a microsecond, then a pause. It sends 5000 bytes.
        let transmitter = schedule(&[(5, 0)], Some(10));
        assert_eq!(transmitter.transmission_end(ms(4), 1000), ms(5));
        assert_eq!(transmitter.transmission_end(ms(4), 1001), Time::from_nanos(10_001_000));
        assert_eq!(transmitter.transmission_end(ms(27), 1000), ms(31));
        assert_eq!(
            transmitter.transmission_end(ms(0), 50_000),
            ms(95),
            "ten periods, the last of which is over when it pauses"
        );
        assert_eq!(transmitter.transmission_end(ms(4), 50_000), ms(104));
    }

    fn trace(opportunities: &[u64]) -> OpportunityTrace {
        OpportunityTrace::new(opportunities.into())
    }

    #[test]
    fn packets_leave_at_the_opportunities_of_a_trace() {
        let mut transmitter = trace(&[2, 2, 5, 10]);
        // The first packet uses the first opportunity, the second packet the second opportunity at the same time.
        assert_eq!(
            (transmitter.transmission_end(ms(0), 1500), transmitter.transmission_end(ms(2), 1500)),
            (ms(2), ms(2))
        );
        // 3000 bytes need two opportunities. Then the trace repeats, at 12 ms.
        assert_eq!(
            (transmitter.transmission_end(ms(2), 3000), transmitter.transmission_end(ms(10), 1)),
            (ms(10), ms(12))
        );
    }

    #[test]
    fn the_rest_of_an_opportunity_goes_to_a_waiting_packet() {
        let mut transmitter = trace(&[10]);
        assert_eq!(transmitter.transmission_end(ms(0), 600), ms(10));
        assert_eq!(transmitter.transmission_end(ms(10), 600), ms(10));
        assert_eq!(transmitter.transmission_end(ms(10), 600), ms(20), "300 bytes of it now, 300 at the next");
        assert_eq!(transmitter.transmission_end(ms(20), 1200), ms(20), "the rest of it");
        assert_eq!(transmitter.transmission_end(ms(25), 100), ms(30));
        // The rest at 30 ms and the opportunity at 40 ms were lost: no packet waited.
        assert_eq!(transmitter.transmission_end(ms(45), 1500), ms(50));
    }

    #[test]
    fn any_number_of_unused_opportunities_is_skipped() {
        let mut transmitter = trace(&[0, 3, 7]);
        // The period is 7 ms. The opportunities at 7 and 0 coincide, so two periods meet with two opportunities.
        assert_eq!(transmitter.transmission_end(ms(0), 100), ms(3));
        assert_eq!(transmitter.transmission_end(ms(7_000_006), 1500), ms(7_000_007));
        assert_eq!(
            transmitter.transmission_end(ms(7_000_007), 1500),
            ms(7_000_007),
            "the last of a period and the first of the next"
        );
        assert_eq!(transmitter.transmission_end(ms(7_000_007), 1500), ms(7_000_010));
        assert_eq!(
            transmitter.transmission_end(ms(7_000_700), 1500),
            ms(7_000_703),
            "an arrival at an opportunity is too late for it"
        );
    }
}
