//! What the kernel says of a flow's connections, one after the other, summed up from the warm-up's end on.

use headgate_core::{Span, Time};

use crate::io::tcp::TcpInfo;

/// Counts of a flow's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Segments that came to the receiver with a mark, by what it said.
    pub marked: u64,
    /// Bytes acknowledged.
    pub acked: u64,
}

impl Counts {
    fn of(info: &TcpInfo) -> Counts {
        Counts {
            retransmits: info.retransmits.into(),
            timeouts: info.timeouts.into(),
            marked: info.delivered_ce.into(),
            acked: info.acked,
        }
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            retransmits: self.retransmits + other.retransmits,
            timeouts: self.timeouts + other.timeouts,
            marked: self.marked + other.marked,
            acked: self.acked + other.acked,
        }
    }

    fn less(self, earlier: Counts) -> Counts {
        Counts {
            retransmits: self.retransmits.saturating_sub(earlier.retransmits),
            timeouts: self.timeouts.saturating_sub(earlier.timeouts),
            marked: self.marked.saturating_sub(earlier.marked),
            acked: self.acked.saturating_sub(earlier.acked),
        }
    }
}

/// The connections of a flow, summed up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Of connections that are gone.
    closed: Counts,
    /// Of the one that is.
    open: Counts,
    /// When the warm-up ended.
    before: Counts,
    /// Since when which `cwnd` has held.
    since: Time,
    cwnd: u32,
    /// Packets x nanoseconds.
    area: f64,
    /// Smoothed round-trip times in nanoseconds, and how many.
    srtt: (f64, u64),
    min_rtt: Option<Span>,
}

impl Tally {
    /// The kernel says `info` at `now`.
    pub fn note(&mut self, info: &TcpInfo, now: Time) {
        self.open = Counts::of(info);
        self.area += f64::from(self.cwnd) * (now - self.since).as_nanos() as f64;
        (self.cwnd, self.since) = (info.cwnd, now);
        if info.srtt > Span::ZERO {
            self.srtt = (self.srtt.0 + info.srtt.as_nanos() as f64, self.srtt.1 + 1);
        }
        self.min_rtt = self.min_rtt.into_iter().chain(info.min_rtt).min();
    }

    /// The connection is gone; what it did was noted.
    pub fn close(&mut self) {
        self.closed = self.closed.plus(self.open);
        self.open = Counts::default();
        self.cwnd = 0;
    }

    /// The warm-up ends at `now`: what was before does not count, but for the least round-trip time.
    pub fn restart(&mut self, now: Time) {
        self.before = self.closed.plus(self.open);
        (self.since, self.area, self.srtt) = (now, 0.0, (0.0, 0));
    }

    /// What was done so far, warm-up included, if the kernel now says `info` of the open connection.
    pub fn so_far(&self, info: &TcpInfo) -> Counts {
        self.closed.plus(Counts::of(info))
    }

    /// What was done since the warm-up.
    pub fn counts(&self) -> Counts {
        self.closed.plus(self.open).less(self.before)
    }

    /// The integral of `cwnd` since the warm-up, in packets x nanoseconds.
    pub fn cwnd_area(&self) -> f64 {
        self.area
    }

    /// The mean of the smoothed round-trip times since the warm-up, and the least round-trip time of all.
    pub fn round_trips(&self) -> (Option<Span>, Option<Span>) {
        let (sum, count) = self.srtt;
        ((count > 0).then(|| Span::from_nanos((sum / count as f64) as u64)), self.min_rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_add_up_and_what_was_before_the_warm_up_does_not_count() {
        let at = |secs: u64| Time::ZERO + Span::from_secs(secs);
        let info = |cwnd, retransmits| TcpInfo { cwnd, retransmits, ..TcpInfo::default() };
        let mut tally = Tally::default();
        tally.note(&info(10, 0), at(1));
        tally.note(&info(20, 3), at(2));
        tally.restart(at(2));
        tally.note(&info(6, 4), at(4));
        tally.close();
        tally.note(&info(8, 5), at(5));
        tally.note(&info(8, 5), at(6));
        // 20 packets for 2 s, none between the connections, 8 for 1 s.
        assert_eq!(tally.cwnd_area(), (20.0 * 2.0 + 8.0) * 1e9);
        assert_eq!(tally.counts().retransmits, 1 + 5);
    }
}
