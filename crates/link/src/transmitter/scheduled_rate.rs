//! A schedule of rates.

use aqm::{Rate, Span, Time};
use headgate_measure::CapacityUse;

/// Rates that change at given times. If the rate changes within a packet, the rest of it is sent at the new rate.
#[derive(Debug)]
pub(super) struct ScheduledRate {
    /// Start of each step in the period (in nanoseconds) and its rate; the first starts at 0.
    steps: Vec<(u64, u64)>,
    /// Length of the period; without one, the last step never ends.
    period: Option<u64>,
    /// Work of a whole period: the bits that it can send, times 10^9 (nanoseconds x bit/s).
    period_work: u128,
    /// Work of all packets before the latest, and start and work of the latest.
    work_before: u128,
    latest: (Time, u128),
}

impl ScheduledRate {
    pub(super) fn new(rate: Rate, steps: &[(Span, Rate)], period: Option<Span>) -> ScheduledRate {
        let changes = steps.iter().map(|(at, rate)| (at.as_nanos(), rate.as_bits()));
        let mut schedule = ScheduledRate {
            steps: [(0, rate.as_bits())].into_iter().chain(changes).collect(),
            period: period.map(Span::as_nanos),
            period_work: 0,
            work_before: 0,
            latest: (Time::ZERO, 0),
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

    /// Work that can be done from the start of the schedule to `until`.
    fn capacity(&self, until: Time) -> u128 {
        let until = until.as_nanos();
        let periods = self.period.map_or(0, |period| until / period);
        let at = until - periods * self.period.unwrap_or(0);
        let begun = (0..self.steps.len()).take_while(|step| self.steps[*step].0 < at);
        let work = begun.map(|step| {
            let (from, rate) = self.steps[step];
            u128::from(self.end(step).map_or(at, |end| end.min(at)) - from) * u128::from(rate)
        });
        u128::from(periods) * self.period_work + work.sum::<u128>()
    }

    /// Work done up to `now`, and work that could have been done.
    pub(super) fn used(&self, now: Time) -> CapacityUse {
        let (capacity, (begun, work)) = (self.capacity(now), self.latest);
        let of_latest = work.min(capacity.saturating_sub(self.capacity(begun)));
        CapacityUse { sent: self.work_before + of_latest, capacity }
    }

    pub(super) fn transmission_end(&mut self, now: Time, bytes: u32) -> Time {
        // Work in nanoseconds x bit/s: exact in integers.
        let mut left = u128::from(bytes) * 8 * 1_000_000_000;
        self.work_before += std::mem::replace(&mut self.latest, (now, left)).1;
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
        let mut transmitter = schedule(&[(10, 1), (20, 0), (30, 16)], None);
        assert_eq!(transmitter.transmission_end(ms(1), 1000), ms(2));
        assert_eq!(transmitter.transmission_end(ms(9), 1000), ms(10), "sent as the rate changes");
        assert_eq!(transmitter.transmission_end(ms(9), 1500), ms(14), "500 bytes are left and take 4 ms");
        assert_eq!(
            transmitter.transmission_end(ms(19), 625),
            Time::from_nanos(30_250_000),
            "125 bytes before the pause, 500 after it"
        );
        assert_eq!(transmitter.transmission_end(ms(25), 2000), ms(31));
        let mut ends = schedule(&[(10, 0)], None);
        assert_eq!(ends.transmission_end(ms(9), 1001), Time::NEVER, "the rate stays 0");
    }

    #[test]
    fn a_periodic_schedule_repeats_until_the_packet_is_sent() {
        // A period of 10 ms: 5 ms at a byte a microsecond, then a pause. It sends 5000 bytes.
        let mut transmitter = schedule(&[(5, 0)], Some(10));
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

    #[test]
    fn what_a_schedule_carries_is_compared_with_what_it_could() {
        // 8 Mbit/s, from 10 ms on 1 Mbit/s, a pause from 20 to 30 ms, then 16 Mbit/s.
        let mut transmitter = schedule(&[(10, 1), (20, 0), (30, 16)], None);
        let bytes = |transmitter: &ScheduledRate, at| {
            let CapacityUse { sent, capacity } = transmitter.used(at);
            [sent, capacity].map(|work| work / 8_000_000_000)
        };
        assert_eq!(bytes(&transmitter, ms(1)), [0, 1000]);
        transmitter.transmission_end(ms(9), 1500);
        assert_eq!(bytes(&transmitter, ms(10)), [1000, 10_000]);
        assert_eq!(bytes(&transmitter, ms(12)), [1250, 10_250]);
        assert_eq!(bytes(&transmitter, ms(19)), [1500, 11_125]);
        transmitter.transmission_end(ms(19), 625);
        assert_eq!([20, 25, 30].map(|at| bytes(&transmitter, ms(at))), [[1625, 11_250]; 3], "no capacity in the pause");
        assert_eq!(bytes(&transmitter, ms(31)), [2125, 13_250]);
        let mut periodic = schedule(&[(5, 0)], Some(10));
        periodic.transmission_end(ms(4), 50_000);
        assert_eq!([7, 33, 105].map(|at| bytes(&periodic, ms(at))), [[1000, 5000], [14_000, 18_000], [50_000, 55_000]]);
        let mut ends = schedule(&[(10, 0)], None);
        ends.transmission_end(ms(9), 1001);
        assert_eq!(bytes(&ends, ms(99)), [1000, 10_000]);
    }
}
