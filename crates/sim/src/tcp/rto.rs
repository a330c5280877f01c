//! The retransmission timeout (RFC 6298), in integer nanoseconds.
//!
//! RTTVAR is RFC 6298's, or with `rttvar_by_round` that of Linux ([`RttDeviation`]).

use aqm::Span;

use super::TcpSettings;

/// Smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rto {
    /// Zero before the first sample, since a real round trip takes time.
    srtt: Span,
    rttvar: Span,
    timeout: Span,
}

impl Rto {
    /// The initial state (section 2.1).
    pub fn new(config: &TcpSettings) -> Rto {
        Rto { srtt: Span::ZERO, rttvar: Span::ZERO, timeout: config.initial_rto }
    }

    /// The smoothed round-trip time, once there was a sample.
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt != Span::ZERO).then_some(self.srtt)
    }

    /// The variation of the round-trip time, zero before the first sample.
    pub fn rttvar(&self) -> Span {
        self.rttvar
    }

    /// The timeout, backoff included.
    #[inline]
    pub fn timeout(&self) -> Span {
        self.timeout
    }

    /// Updates the timeout with the round-trip time of a segment sent once (Karn's algorithm, section 3). Ends any
    /// backoff.
    pub fn on_rtt(&mut self, rtt: Span, config: &TcpSettings) {
        let rtt = round_up(rtt, config.rto_granularity).as_nanos();
        let (srtt, rttvar) = match self.srtt() {
            None => (rtt, rtt / 2),
            Some(srtt) => {
                // Section 2.3: RTTVAR first, with the SRTT before this sample; alpha = 1/8, beta = 1/4.
                let srtt = srtt.as_nanos();
                let rttvar = self.rttvar.as_nanos();
                ((7 * srtt + rtt) / 8, (3 * rttvar + srtt.abs_diff(rtt)) / 4)
            }
        };
        (self.srtt, self.rttvar) = (Span::from_nanos(srtt.max(1)), Span::from_nanos(rttvar));
        self.timeout = self.estimate(config);
    }

    /// As [`on_rtt`](Rto::on_rtt), with the RTTVAR of Linux. `una` is the first unacknowledged segment after the
    /// acknowledgement that gave the sample, `next_new` the first unsent one.
    pub fn on_rtt_by_round(
        &mut self,
        rtt: Span,
        deviation: &mut RttDeviation,
        (una, next_new): (u32, u32),
        config: &TcpSettings,
    ) {
        let rtt = round_up(rtt, config.rto_granularity);
        let least = config.min_rto_variance.unwrap_or(Span::ZERO).as_nanos();
        let mut term = self.rttvar.as_nanos() * 4;
        match self.srtt() {
            None => term = deviation.begin(rtt, least, next_new),
            Some(srtt) => {
                deviation.update(srtt, rtt);
                term = term.max(deviation.largest);
                if una > deviation.round_end {
                    term = deviation.end_round(term, least, next_new);
                }
            }
        }
        let srtt = self.srtt().map_or(rtt.as_nanos(), |srtt| (7 * srtt.as_nanos() + rtt.as_nanos()) / 8);
        (self.srtt, self.rttvar) = (Span::from_nanos(srtt.max(1)), Span::from_nanos(term / 4));
        self.timeout = self.estimate(config);
    }

    /// The timeout that follows from the estimates, without backoff (rules 2.2 to 2.5).
    #[inline]
    fn estimate(&self, config: &TcpSettings) -> Span {
        let least = config.min_rto_variance.unwrap_or(Span::ZERO).max(config.rto_granularity);
        let timeout = self.srtt + (self.rttvar * 4).max(least);
        round_up(timeout, config.rto_granularity).max(config.min_rto).min(config.max_rto)
    }

    /// By how much the timeout is longer than its estimate: 1 without backoff.
    pub fn backoff(&self, config: &TcpSettings) -> u64 {
        let estimate = self.srtt().map_or(config.initial_rto, |_| self.estimate(config));
        self.timeout.as_nanos() / estimate.as_nanos().max(1)
    }

    /// Multiplies the timeout by a backoff.
    pub fn multiply(&mut self, backoff: u64, config: &TcpSettings) {
        self.timeout = (self.timeout * backoff.max(1)).min(config.max_rto);
    }

    /// Doubles the timeout after it expired (section 5.5).
    pub fn back_off(&mut self, config: &TcpSettings) {
        self.timeout = (self.timeout * 2).min(config.max_rto);
    }
}

/// The deviation of round-trip times as in Linux 6.1 (`tcp_rtt_estimator`), in nanoseconds times four, as it enters the
/// timeout.
///
/// RTTVAR is the largest mean deviation of the last round trips. It rises at once. Once per round trip it falls by a
/// quarter of its distance to the largest deviation of that round trip. A round-trip time below SRTT that deviates by
/// more than the mean raises the mean by an eighth of what a longer one does.
///
/// | Linux | here |
/// | --- | --- |
/// | mdev_us, mdev_max_us | `mean`, `largest` |
/// | rtt_seq | `round_end` |
/// | rttvar_us | [`Rto::rttvar`] times four |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttDeviation {
    mean: u64,
    /// The largest mean of the current round trip.
    largest: u64,
    /// The round trip ends when this segment is acknowledged.
    round_end: u32,
}

impl RttDeviation {
    /// The first sample. Returns the variance term.
    fn begin(&mut self, rtt: Span, least: u64, round_end: u32) -> u64 {
        let mean = rtt.as_nanos() * 2;
        let largest = mean.max(least);
        *self = RttDeviation { mean, largest, round_end };
        largest
    }

    /// A sample, with the SRTT before it.
    fn update(&mut self, srtt: Span, rtt: Span) {
        let (deviation, mean) = (srtt.as_nanos().abs_diff(rtt.as_nanos()), self.mean / 4);
        let rise = deviation.saturating_sub(mean);
        self.mean += if rtt < srtt { rise / 8 } else { rise };
        self.mean -= mean.saturating_sub(deviation);
        self.largest = self.largest.max(self.mean);
    }

    /// Ends a round trip. Returns the variance `term` for the next one.
    fn end_round(&mut self, term: u64, least: u64, round_end: u32) -> u64 {
        let next = term - term.saturating_sub(self.largest) / 4;
        (self.largest, self.round_end) = (least, round_end);
        next
    }
}

fn round_up(span: Span, granularity: Span) -> Span {
    match granularity.as_nanos() {
        0 | 1 => span,
        g => Span::from_nanos(span.as_nanos().div_ceil(g) * g),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The timeout in microseconds after each of these round-trip times, in milliseconds. Each sample comes with the
    /// first unacknowledged segment; ten are outstanding.
    fn timeouts(variance: u64, samples: &[(u64, u32)]) -> Vec<u64> {
        let (fine, variance) = (Span::from_nanos(1), Span::from_millis(variance));
        let config = TcpSettings {
            min_rto: fine,
            min_rto_variance: Some(variance),
            rto_granularity: fine,
            ..TcpSettings::default()
        };
        let (mut rto, mut deviation) = (Rto::new(&config), RttDeviation::default());
        let mut sample = |&(rtt, una): &(u64, u32)| {
            rto.on_rtt_by_round(Span::from_millis(rtt), &mut deviation, (una, una + 10), &config);
            rto.timeout().as_nanos() / 1000
        };
        samples.iter().map(&mut sample).collect()
    }

    #[test]
    fn the_variance_term_is_the_largest_deviation_and_falls_once_a_round_trip() {
        // tcp_rtt_estimator, where mdev and rttvar are four times the deviation. 100 ms: mdev = rttvar = 200. 300 ms:
        // mdev = 200 + (200 - 50) = 350 = rttvar, srtt = 125. 125 ms: mdev = 350 - 87.5 = 262.5, rttvar stays, though
        // RFC 6298 would lower it. The ACK up to 12 covers 11, sent after the first sample, and ends a round trip: mdev =
        // 262.5 - 65.625 = 196.875, but its largest was 350, so rttvar stays. In the next round trip the largest is
        // 196.875 - 49.21875 = 147.65625. At its end rttvar = 350 - (350 - 147.65625) / 4 = 299.4140625.
        let samples = [(100, 1), (300, 2), (125, 3), (125, 12), (125, 13), (125, 23)];
        assert_eq!(timeouts(1, &samples), [300_000, 475_000, 475_000, 475_000, 475_000, 125_000 + 299_414]);
    }

    #[test]
    fn a_short_round_trip_counts_an_eighth() {
        // 100 ms: mdev 200. 20 ms: 80 - 50 = 30, an eighth is 3.75: mdev = rttvar = 203.75, srtt = 90. A sample as far
        // above would have given 230.
        assert_eq!(timeouts(1, &[(100, 1), (20, 2)]), [300_000, 90_000 + 203_750]);
        assert_eq!(timeouts(1, &[(100, 1), (180, 2)]), [300_000, 110_000 + 230_000]);
    }

    #[test]
    fn equal_round_trips_leave_the_least_variance() {
        // rttvar = max(2 x 10, 200) = 200 ms from the first sample on.
        let samples: Vec<_> = (0..40).map(|n| (10, 1 + 11 * n)).collect();
        assert!(timeouts(200, &samples).iter().all(|timeout| *timeout == 210_000));
    }
}
