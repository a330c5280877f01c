//! Response of a discipline to an unresponsive flow: identification, response and release times.
//!
//! An excess period is a time in which the flow offers more than its fair share. A source with rates known in advance
//! ([`GroupSource::rates`]) has one from each rise above the share to the return. Any other source has a single endless
//! period. Each period is measured from its own start, since a flow cannot be identified before it exceeds its share.
//!
//! In the latest excess period a [`ResponseMeter`] records:
//! - identification: the first drop for a reason that only identified flows get;
//! - response: the end of the first whole second that delivers at most [`SLACK`] times the fair share, as in figure 12
//!   of the RED-PD paper;
//! - release: the last such drop after the flow returned to its share.

use std::sync::Arc;

use aqm::{Span, Time};
use headgate_scenario::GroupSource;

use crate::table::{Unit, rows};

/// Tolerance above the fair share: a tenth, as delta in RFC 5166's delta-fair convergence time (section 2.3.3).
pub const SLACK: f64 = 1.1;

/// Interval of rate measurement. In a shorter interval, a gap between two packets would look like a response.
const RATE_INTERVAL: Span = Span::from_secs(1);

/// A flow that offers more than its fair share in some period.
#[derive(Clone, Debug)]
pub struct WatchedFlow {
    /// Its fair share, as goodput.
    pub fair_bps: f64,
    /// When the flow stops sending. The silence afterwards does not count as a response.
    pub stop: Time,
    /// Its excess periods; at least one.
    pub excess_periods: Arc<[ExcessPeriod]>,
}

/// A period counted from the flow's start; without an end it lasts forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcessPeriod {
    from: Span,
    to: Option<Span>,
}

/// Excess periods of flows of `source`: times in which they write more than `fair_bps` times the slack.
pub fn excess_periods(source: &GroupSource, fair_bps: f64) -> Vec<ExcessPeriod> {
    let rates = source.rates();
    if rates.is_empty() {
        return vec![ExcessPeriod { from: Span::ZERO, to: None }];
    }
    let mut excess_periods: Vec<ExcessPeriod> = Vec::new();
    for (at, bytes) in rates {
        let (above, open) =
            (8.0 * bytes > fair_bps * SLACK, excess_periods.last_mut().filter(|period| period.to.is_none()));
        match open {
            Some(period) if !above => period.to = Some(at),
            None if above => excess_periods.push(ExcessPeriod { from: at, to: None }),
            _ => {}
        }
    }
    excess_periods
}

/// A watched flow's deliveries, second by second, in its latest excess period.
#[derive(Clone, Debug)]
pub struct ResponseMeter {
    flow: WatchedFlow,
    began: Time,
    /// Number and start of the excess period. Number 0 also before the first one begins.
    period: usize,
    period_start: Time,
    /// End of the current second, and the useful bytes delivered in it.
    second_end: Time,
    bytes: u64,
    /// Before this time, [`advance`](ResponseMeter::advance) changes nothing.
    advances_at: Time,
    response: Option<Time>,
    /// First and last drop that show identification.
    identifying_drops: Option<(Time, Time)>,
}

rows! {
    /// Identification, response and release of a flow in its latest excess period.
    pub struct ResponseTimes derives Clone Copy Debug Default PartialEq Eq {
        /// Time from the flow's start, or its latest rise above its fair share, to its identification; null without
        /// one. The first drop for a reason that only identified flows get shows the identification.
        identified: Option<Span> as Unit::Milliseconds,
        /// Time from the start of an unresponsive flow, or its latest rise above its fair share, until it is held to
        /// it. This is the end of the first whole second with at most 1.1 times the fair share; null without one.
        response: Option<Span> as Unit::Milliseconds,
        /// Time from an identified flow's return to its fair share to the last drop for such a reason. 0 if no such
        /// drop followed; null if the rate did not return.
        released: Option<Span> as Unit::Milliseconds,
    }
}

impl ResponseMeter {
    /// A flow that has not begun.
    pub fn new(flow: WatchedFlow) -> ResponseMeter {
        let (never, period) = (Time::NEVER, 0);
        ResponseMeter {
            flow,
            began: never,
            period,
            period_start: never,
            second_end: never,
            bytes: 0,
            advances_at: never,
            response: None,
            identifying_drops: None,
        }
    }

    /// The flow begins to send.
    pub fn begin(&mut self, now: Time) {
        self.began = now;
        self.enter_period(0);
    }

    /// Useful bytes leave the last queue.
    #[inline]
    pub fn delivered(&mut self, bytes: u64, now: Time) {
        if now >= self.advances_at {
            self.advance(now);
        }
        if now >= self.period_start {
            self.bytes += bytes;
        }
    }

    /// A drop shows that the flow is identified.
    pub fn record_identifying_drop(&mut self, now: Time) {
        self.advance(now);
        if now >= self.period_start {
            self.identifying_drops = Some((self.identifying_drops.map_or(now, |(first, _)| first), now));
        }
    }

    /// The response times up to `now`.
    pub fn response_times(&self, now: Time) -> ResponseTimes {
        let mut meter = self.clone();
        meter.advance(now);
        let end = meter.period_end().filter(|falls| *falls <= now && *falls < meter.flow.stop);
        ResponseTimes {
            identified: meter.identifying_drops.map(|(first, _)| first - meter.period_start),
            response: meter.response.map(|at| at - meter.period_start),
            released: end.zip(meter.identifying_drops).map(|(end, (_, last))| last.max(end) - end),
        }
    }

    fn enter_period(&mut self, period: usize) {
        let from = self.flow.excess_periods.get(period).map_or(Span::ZERO, |period| period.from);
        (self.period, self.period_start) = (period, self.began + from);
        (self.second_end, self.bytes, self.response, self.identifying_drops) =
            (self.period_start + RATE_INTERVAL, 0, None, None);
        self.advances_at = Time::ZERO;
    }

    fn period_end(&self) -> Option<Time> {
        self.flow.excess_periods.get(self.period)?.to.map(|to| self.began + to)
    }

    /// Judges every second that ended by `now`, until one is a response, and enters the excess periods that began by
    /// `now`.
    #[inline(never)]
    fn advance(&mut self, now: Time) {
        loop {
            let end = self.period_end().unwrap_or(Time::NEVER).min(self.flow.stop);
            while self.second_end <= now && self.response.is_none() && self.second_end <= end {
                let most = self.flow.fair_bps * SLACK * RATE_INTERVAL.as_secs_f64() / 8.0;
                self.response = (self.bytes as f64 <= most).then_some(self.second_end);
                (self.second_end, self.bytes) = (self.second_end + RATE_INTERVAL, 0);
            }
            match self.flow.excess_periods.get(self.period + 1) {
                Some(next) if self.began + next.from <= now => self.enter_period(self.period + 1),
                next => {
                    let judges = self.response.is_none() && self.second_end <= end;
                    let judged = if judges { self.second_end } else { Time::NEVER };
                    self.advances_at = next.map_or(judged, |next| judged.min(self.began + next.from));
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn watched(excess_periods: &[(u64, Option<u64>)], stop: Time) -> ResponseMeter {
        let period = |&(from, to): &(u64, Option<u64>)| ExcessPeriod {
            from: Span::from_millis(from),
            to: to.map(Span::from_millis),
        };
        ResponseMeter::new(WatchedFlow {
            fair_bps: 80e3,
            stop,
            excess_periods: excess_periods.iter().map(period).collect(),
        })
    }

    /// A flow with a fair share of 80 kbit/s (10 KB a second) that begins at 250 ms. `kilobytes` are delivered in its
    /// successive seconds.
    fn responded(kilobytes: &[u64], stop: Time, end: Time) -> Option<Span> {
        let mut meter = watched(&[(0, None)], stop);
        meter.begin(at(250));
        for (second, kb) in kilobytes.iter().enumerate() {
            (0..*kb).for_each(|_| meter.delivered(1000, at(250 + 1000 * second as u64 + 999)));
        }
        meter.response_times(end).response
    }

    #[test]
    fn the_response_ends_with_the_first_second_at_the_fair_share() {
        let tenth_above = responded(&[50, 20, 12, 11, 30], Time::NEVER, at(60_000));
        assert_eq!(tenth_above, Some(Span::from_secs(4)));
        assert_eq!(responded(&[11, 50], Time::NEVER, at(60_000)), Some(Span::from_secs(1)));
        assert_eq!(responded(&[50, 50], Time::NEVER, at(60_000)), Some(Span::from_secs(3)), "the flow gets nothing");
    }

    #[test]
    fn a_flow_that_stops_or_is_never_held_back_has_not_responded() {
        assert_eq!(responded(&[50, 50], at(2500), at(60_000)), None);
        assert_eq!(responded(&[50, 50, 50], Time::NEVER, at(3249)), None);
    }

    #[test]
    fn response_is_measured_from_the_start_of_an_excess_period_and_release_from_its_end() {
        // The flow begins at 1 s, exceeds its share from 10 to 20 s after that, and is identified from 11.3 to 24 s.
        let mut meter = watched(&[(10_000, Some(20_000))], Time::NEVER);
        meter.begin(at(1000));
        meter.record_identifying_drop(at(5000)); // by mistake: the excess period has not begun
        assert_eq!(meter.response_times(at(10_000)), ResponseTimes::default());
        (0..10).for_each(|second| (0..50).for_each(|_| meter.delivered(1000, at(1500 + 1000 * second))));
        // 50 KB in the first second of the excess period, 10 KB in the second, 50 KB again in the third.
        for (second, kb) in [(11, 50), (12, 10), (13, 50)] {
            (0..kb).for_each(|_| meter.delivered(1000, at(1000 * second + 500)));
        }
        let mut response_times = meter.response_times(at(14_000));
        assert_eq!((response_times.identified, response_times.response), (None, Some(Span::from_secs(2))));
        [11_300, 15_000, 24_000].into_iter().for_each(|millis| meter.record_identifying_drop(at(millis)));
        response_times = meter.response_times(at(20_999));
        assert_eq!(
            (response_times.identified, response_times.released),
            (Some(Span::from_millis(300)), None),
            "the excess period has not ended"
        );
        assert_eq!(meter.response_times(at(30_000)).released, Some(Span::from_secs(3)));
    }

    #[test]
    fn the_latest_excess_period_counts_and_without_later_drops_release_is_immediate() {
        let mut meter = watched(&[(0, Some(5000)), (8000, Some(9000))], Time::NEVER);
        meter.begin(at(0));
        meter.record_identifying_drop(at(1000));
        assert_eq!(meter.response_times(at(7000)).identified, Some(Span::from_secs(1)));
        assert_eq!(meter.response_times(at(7000)).released, Some(Span::ZERO));
        assert_eq!(meter.response_times(at(8500)), ResponseTimes::default(), "the second has not ended");
        meter.record_identifying_drop(at(8700));
        assert_eq!(meter.response_times(at(8800)).identified, Some(Span::from_millis(700)));
    }

    #[test]
    fn excess_periods_are_where_a_schedule_is_above_the_fair_share() {
        use headgate_scenario::{Changes, Scenario};
        let of = |traffic: &str, fair: f64| {
            let text = format!(
                "name = 's'\nduration = '9s'\nqdiscs = ['droptail']\nlink = {{ rate = '9Mbit/s', delay = '1ms', limit = '9p' }}\n\
                 [[udp]]\nheader = '0B'\ntraffic = '{traffic}'\n"
            );
            let scenario = Scenario::read(&text, "s", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
            excess_periods(&scenario.udp[0].source, fair)
        };
        let period = |from, to: Option<u64>| ExcessPeriod { from: Span::from_secs(from), to: to.map(Span::from_secs) };
        // RED-PD's figure 12, with a share of 1 Mbit/s.
        assert_eq!(of("cbr:preset=red_pd", 1e6), [period(50, Some(250))]);
        let steps = "cbr:schedule=[0s 2Mbit/s; 1s 3Mbit/s; 2s 1Mbit/s; 3s 0bit/s; 4s 2Mbit/s]";
        assert_eq!(of(steps, 1e6), [period(0, Some(2)), period(4, None)]);
        assert_eq!(of(steps, 2.5e6), [period(1, Some(2))]);
        assert_eq!(of("voip", 1.0), [period(0, None)], "the source has no predetermined rates");
    }
}
