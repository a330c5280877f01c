//! The times at which a run starts, ends and takes records.

use aqm::{Span, Time};
use headgate_scenario::Scenario;

use crate::io::clock::StartTime;

/// The record times of a run, on the loop's clock.
pub(super) struct RecordTimes {
    begin: StartTime,
    begun: bool,
    interval: Span,
    warmup: Span,
    duration: Span,
    sample: Time,
    warm: Time,
    end: Time,
}

/// The record events that are due at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordsDue {
    pub(super) begin: bool,
    pub(super) warm: bool,
    pub(super) sample: bool,
    pub(super) end: bool,
}

impl RecordTimes {
    pub(super) fn new(scenario: &Scenario, begin: StartTime) -> RecordTimes {
        let (interval, warmup, duration) = (scenario.record.interval, scenario.warmup, scenario.duration);
        let (sample, warm, end) = (Time::NEVER, Time::NEVER, Time::NEVER);
        RecordTimes { begin, begun: false, interval, warmup, duration, sample, warm, end }
    }

    /// Time of the next record events.
    #[inline]
    pub(super) fn next(&self) -> Time {
        if self.begun { self.sample.min(self.warm).min(self.end) } else { self.begin.get() }
    }

    /// Removes and returns the events at `at`, which must be [`next`](RecordTimes::next).
    pub(super) fn take(&mut self, at: Time) -> RecordsDue {
        if !self.begun {
            self.begun = true;
            (self.warm, self.end) = (at + self.warmup, at + self.duration);
            self.sample = (at + self.interval).min(self.end);
            return RecordsDue { begin: true, warm: false, sample: false, end: false };
        }
        let due = RecordsDue { begin: false, warm: at >= self.warm, sample: at >= self.sample, end: at >= self.end };
        if due.warm {
            self.warm = Time::NEVER;
        }
        if due.sample {
            self.sample = (at + self.interval).min(self.end);
        }
        if due.end {
            (self.sample, self.end) = (Time::NEVER, Time::NEVER);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use headgate_scenario::Changes;

    use super::*;

    #[test]
    fn intervals_end_on_time_the_last_one_with_the_run() {
        let text = "name = 'a'\nduration = '250ms'\nwarmup = '100ms'\nrecord.interval = '100ms'\nqdiscs = ['droptail']\n\
                    link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }\n[[tcp]]\n";
        let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let begin = StartTime::unset();
        let mut moments = RecordTimes::new(&scenario, begin.clone());
        assert_eq!(moments.next(), Time::NEVER);
        begin.set(Time::ZERO + Span::from_millis(7));
        let mut seen = Vec::new();
        while moments.next() < Time::NEVER {
            let (at, due) = (moments.next(), moments.take(moments.next()));
            seen.push((at.as_nanos() / 1_000_000, [due.begin, due.warm, due.sample, due.end]));
        }
        let [yes, no] = [true, false];
        let expected =
            [(7, [yes, no, no, no]), (107, [no, yes, yes, no]), (207, [no, no, yes, no]), (257, [no, no, yes, yes])];
        assert_eq!(seen, expected);
    }
}
