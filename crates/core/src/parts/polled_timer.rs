use crate::time::{Span, Time};

/// A periodic timer that is polled: counts the periods that ended since the last poll.
#[derive(Clone, Copy, Debug)]
pub struct PolledTimer {
    period: Span,
    next: Time,
}

impl PolledTimer {
    /// Periods of length `period` from `start`. A period of zero never ends.
    pub fn new(period: Span, start: Time) -> PolledTimer {
        PolledTimer { period, next: start + period }
    }

    /// When the current period ends.
    pub fn next_end(&self) -> Time {
        self.next
    }

    /// When the last counted period ended.
    pub fn last_end(&self) -> Time {
        Time::from_nanos(self.next.as_nanos().saturating_sub(self.period.as_nanos()))
    }

    /// Whether a period has ended since the last poll.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.next && self.period != Span::ZERO
    }

    /// Advances to `now` and returns the number of periods that ended since the last call. There may be many after a
    /// clock jump: the caller must bound its work.
    #[inline]
    pub fn advance(&mut self, now: Time) -> u64 {
        if !self.is_due(now) {
            return 0;
        }
        let ended = 1 + (now - self.next).as_nanos() / self.period.as_nanos();
        self.next += self.period * ended;
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_is_counted_once_even_if_calls_are_rare() {
        let mut timer = PolledTimer::new(Span::from_millis(5), Time::ZERO);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(
            [at(4), at(5), at(5), at(9), at(31), at(3_600_000)].map(|t| timer.advance(t)),
            [0, 1, 0, 0, 5, 719_994]
        );
        assert_eq!(timer.last_end(), at(3_600_000));
        assert_eq!(PolledTimer::new(Span::ZERO, Time::ZERO).advance(Time::NEVER), 0);
    }
}
