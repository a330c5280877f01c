//! Detects data-limited intervals: the sender sent less than it was allowed to between two reports (RFC 5348, section
//! 8.2.1). The receive rate of such an interval says nothing about the path.

use aqm::Time;

/// Remembers two moments at which the sender was not data-limited. If any such moment lies in the interval that the
/// next report covers, one of the two does.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataLimited {
    /// The first such moment after `covered_until`, and the first after `reported_at`.
    first: Time,
    second: Time,
    /// When the newest packet of the last report was sent (`t_new`), and when that report arrived (`t_next`).
    covered_until: Time,
    reported_at: Time,
}

impl DataLimited {
    /// The sender has used its whole allowance.
    pub fn on_allowance_used(&mut self, now: Time) {
        if self.first <= self.covered_until {
            self.first = now;
        } else if self.second <= self.reported_at {
            self.second = now;
        }
    }

    /// Processes a report whose newest packet was sent at `sent`. Returns whether the sender was data-limited
    /// throughout the interval it covers.
    pub fn on_feedback(&mut self, sent: Time, now: Time) -> bool {
        let within = |moment: Time| self.covered_until < moment && moment <= sent;
        let limited = !within(self.first) && !within(self.second);
        (self.covered_until, self.reported_at) = (sent, now);
        if self.first <= self.covered_until && self.second > self.covered_until {
            self.first = self.second;
        }
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn one_moment_of_using_the_whole_allowance_clears_data_limited() {
        let mut limited = DataLimited::default();
        limited.on_allowance_used(at(50));
        assert!(!limited.on_feedback(at(100), at(200)));
        assert!(limited.on_feedback(at(300), at(400)));
    }

    #[test]
    fn sending_after_the_reported_packet_counts_for_the_next_report() {
        let mut limited = DataLimited::default();
        limited.on_allowance_used(at(10));
        limited.on_feedback(at(10), at(110));
        // From 110 to 320 ms the sender uses its whole allowance. A report every 100 ms covers packets sent up to 100
        // ms before it.
        let mut reports = Vec::new();
        for now in (110..=610).step_by(10) {
            if now <= 320 {
                limited.on_allowance_used(at(now));
            }
            if now % 100 == 10 && now > 110 {
                reports.push(limited.on_feedback(at(now - 100), at(now)));
            }
        }
        // The reports cover packets sent up to 110, 210, 310, 410 and 510 ms.
        assert_eq!(reports, [false, false, false, false, true]);
    }
}
