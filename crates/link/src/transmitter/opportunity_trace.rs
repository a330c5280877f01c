//! A trace of opportunities.

use std::sync::Arc;

use aqm::Time;
use headgate_measure::CapacityUse;
use headgate_scenario::OPPORTUNITY;

/// Sending opportunities as in mahimahi's `LinkQueue`. Bytes of an opportunity are lost if no packet is queued to use
/// them.
#[derive(Debug)]
pub(super) struct OpportunityTrace {
    /// Times of opportunities in milliseconds since the start of a period, which ends with its last opportunity.
    opportunities: Arc<[u64]>,
    /// Periods passed, and the next opportunity in this period.
    periods_passed: u64,
    next: usize,
    /// The opportunity in use: its time and remaining bytes.
    current: (Time, u64),
    /// Bytes sent before the latest packets, and the latest packets.
    sent_before: u64,
    latest: LatestPackets,
}

/// The packets that use successive opportunities from the last moment on at which a transmission began.
#[derive(Debug, Default)]
struct LatestPackets {
    bytes: u64,
    /// The first opportunity, numbered from the start of the trace.
    first: u64,
}

impl OpportunityTrace {
    pub(super) fn new(opportunities: Arc<[u64]>) -> OpportunityTrace {
        OpportunityTrace {
            opportunities,
            periods_passed: 0,
            next: 0,
            current: (Time::NEVER, 0),
            sent_before: 0,
            latest: LatestPackets::default(),
        }
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

    /// Number of opportunities before `now`.
    fn opportunities_before(&self, now: Time) -> u64 {
        let Some(last) = now.as_nanos().checked_sub(1) else { return 0 };
        let millis = last / 1_000_000;
        let periods = millis / self.length();
        let within = millis - periods * self.length();
        let begun = self.opportunities.partition_point(|moment| *moment <= within);
        periods * self.opportunities.len() as u64 + begun as u64
    }

    /// Bytes of the latest packets sent before `now`.
    fn sent_of_latest(&self, now: Time) -> u64 {
        let LatestPackets { bytes, first } = self.latest;
        bytes.min(self.opportunities_before(now).saturating_sub(first) * OPPORTUNITY)
    }

    /// Bytes sent before `now`, and bytes of all opportunities. No packet can use an opportunity at the start.
    pub(super) fn used(&self, now: Time) -> CapacityUse {
        let at_start = self.opportunities.partition_point(|moment| *moment == 0) as u64;
        let usable = self.opportunities_before(now).saturating_sub(at_start);
        let sent = self.sent_before + self.sent_of_latest(now);
        let work = |bytes: u64| u128::from(bytes) * 8_000_000_000;
        CapacityUse { sent: work(sent), capacity: work(usable * OPPORTUNITY) }
    }

    /// Counts a packet of `bytes` whose transmission begins at `now`. If that of the packets before it ends now, they share
    /// the opportunities of this moment.
    fn count(&mut self, bytes: u64, now: Time) {
        let (follows, next) =
            (self.current.0 == now, self.periods_passed * self.opportunities.len() as u64 + self.next as u64);
        let sent = if follows { self.sent_of_latest(now) } else { self.latest.bytes };
        let first = if follows { self.opportunities_before(now) } else { next };
        self.sent_before += sent;
        self.latest = LatestPackets { bytes: self.latest.bytes - sent + bytes, first };
    }

    pub(super) fn transmission_end(&mut self, now: Time, bytes: u32) -> Time {
        if self.current.0 != now {
            self.skip(now);
        }
        self.count(bytes.into(), now);
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
    use aqm::Span;

    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
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

    #[test]
    fn what_a_trace_carries_is_compared_with_all_its_opportunities() {
        let mut transmitter = trace(&[2, 2, 5, 10]);
        let used = |transmitter: &OpportunityTrace, millis| {
            let CapacityUse { sent, capacity } = transmitter.used(ms(millis));
            (sent / 8_000_000_000, capacity / 8_000_000_000 / u128::from(OPPORTUNITY))
        };
        let opportunities = [0, 2, 3, 5, 6, 10, 11, 12, 13].map(|at| used(&transmitter, at));
        assert_eq!(opportunities, [0, 0, 2, 2, 3, 3, 4, 4, 6].map(|all| (0, all)), "before each moment");
        transmitter.transmission_end(ms(0), 1400);
        assert_eq!([2, 3].map(|at| used(&transmitter, at)), [(0, 0), (1400, 2)]);
        // 100 bytes of the first opportunity, 1500 of the second, 1400 of that at 5 ms.
        transmitter.transmission_end(ms(2), 3000);
        assert_eq!([2, 3, 5, 6].map(|at| used(&transmitter, at)), [(0, 0), (3000, 2), (3000, 2), (4400, 3)]);
        // The rest of the opportunity at 5 ms was lost.
        transmitter.transmission_end(ms(6), 100);
        assert_eq!([6, 10, 11, 22].map(|at| used(&transmitter, at)), [(4400, 3), (4400, 3), (4500, 4), (4500, 8)]);
    }
}
