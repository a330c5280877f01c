//! Sums the kernel's counts over a flow's successive connections, from the end of the warm-up.

use aqm::{Span, Time};

use crate::counts::counts;
use crate::io::tcp::TcpInfo;

counts! {
    /// Counts of a flow's sender, by the kernel.
    SenderCounts {
        /// Retransmitted segments.
        retransmits,
        /// Retransmission timeouts.
        timeouts,
        /// Packets marked CE, as the flow's end knows them. A UDP receiver counts marked datagrams. A TCP sender counts
        /// all segments that an ACK with an ECN echo acknowledges (RFC 3168, section 6.1.3), which is an overestimate.
        marked,
        /// Bytes acknowledged.
        acked,
    }
}

impl SenderCounts {
    fn of(info: &TcpInfo) -> SenderCounts {
        SenderCounts {
            retransmits: info.retransmits.into(),
            timeouts: info.timeouts.into(),
            marked: info.delivered_ce.into(),
            acked: info.acked,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct SenderTally {
    /// Closed connections.
    closed: SenderCounts,
    /// The open connection.
    open: SenderCounts,
    /// Sum at the end of the warm-up.
    before: SenderCounts,
    /// When `cwnd` was sampled last.
    since: Time,
    cwnd: u32,
    /// Integral of `cwnd`, in packets x nanoseconds.
    area: f64,
    /// Sum of smoothed round-trip times in nanoseconds, and their number.
    srtt: (f64, u64),
    min_rtt: Option<Span>,
}

impl SenderTally {
    /// Adds a sample of the open connection.
    pub fn sample(&mut self, info: &TcpInfo, now: Time) {
        self.open = SenderCounts::of(info);
        self.area += f64::from(self.cwnd) * (now - self.since).as_nanos() as f64;
        (self.cwnd, self.since) = (info.cwnd, now);
        if info.srtt > Span::ZERO {
            self.srtt = (self.srtt.0 + info.srtt.as_nanos() as f64, self.srtt.1 + 1);
        }
        self.min_rtt = self.min_rtt.into_iter().chain(info.min_rtt).min();
    }

    /// Closes the connection, after its last sample.
    pub fn close(&mut self) {
        self.closed = self.closed + self.open;
        self.open = SenderCounts::default();
        self.cwnd = 0;
    }

    /// Ends the warm-up: earlier counts are discarded, except for the least round-trip time.
    pub fn restart(&mut self, now: Time) {
        self.before = self.closed + self.open;
        (self.since, self.area, self.srtt) = (now, 0.0, (0.0, 0));
    }

    /// Counts including the warm-up, given the current `info` of the open connection.
    pub fn counts_so_far(&self, info: &TcpInfo) -> SenderCounts {
        self.closed + SenderCounts::of(info)
    }

    /// Counts since the warm-up.
    pub fn counts(&self) -> SenderCounts {
        self.closed + self.open - self.before
    }

    /// Integral of `cwnd` since the warm-up, in packets x nanoseconds.
    pub fn cwnd_area(&self) -> f64 {
        self.area
    }

    /// Mean smoothed round-trip time since the warm-up, and least round-trip time of the whole run.
    pub fn round_trips(&self) -> (Option<Span>, Option<Span>) {
        let (sum, count) = self.srtt;
        ((count > 0).then(|| Span::from_nanos((sum / count as f64) as u64)), self.min_rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_connections_add_up_without_the_warm_up() {
        let at = |secs: u64| Time::ZERO + Span::from_secs(secs);
        let info = |cwnd, retransmits| TcpInfo { cwnd, retransmits, ..TcpInfo::default() };
        let mut tally = SenderTally::default();
        tally.sample(&info(10, 0), at(1));
        tally.sample(&info(20, 3), at(2));
        tally.restart(at(2));
        tally.sample(&info(6, 4), at(4));
        tally.close();
        tally.sample(&info(8, 5), at(5));
        tally.sample(&info(8, 5), at(6));
        // 20 packets for 2 s, 0 between the connections, 8 for 1 s.
        assert_eq!(tally.cwnd_area(), (20.0 * 2.0 + 8.0) * 1e9);
        assert_eq!(tally.counts().retransmits, 1 + 5);
    }
}
