//! Westwood+: a loss reduces the window to the measured capacity of the path instead of to half.
//!
//! L. A. Grieco, S. Mascolo, *Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion
//! Control*, Computer Communication Review 34(2), 2004, section 2; S. Mascolo et al., *TCP Westwood*, MobiCom 2001.
//!
//! Once a round trip, the segments that arrived divided by the time they took are a sample of the bandwidth. A
//! low-pass filter smooths the samples. The estimate times the minimum round-trip time is the path's capacity with an
//! empty queue. A loss, a timeout or a mark sets `ssthresh` to that, so a loss without congestion costs little.
//! Windows grow as in Reno.
//!
//! | paper | here |
//! | --- | --- |
//! | b_k = d_k / T_k | `delivered` since `since`, divided by the time |
//! | B_k = 0.9 B_(k-1) + 0.1 b_k | `bandwidth`, [`OLD_WEIGHT`] |
//! | RTT_min | `min_rtt` |
//!
//! The paper has no rule for marks and none for the time before the first sample. Here marks count as losses. Without a
//! sample the window is halved, as in Reno. Linux (`tcp_westwood.c`) filters twice with 7/8; here one filter follows
//! the paper. The minimum sampling time of 50 ms is Linux's.

use aqm::{Span, Time};

use super::reno::Reno;
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// The weight of the old estimate (the paper's alpha).
const OLD_WEIGHT: f64 = 0.9;

/// The shortest sampling time: shorter samples see bursts, not the path.
const MIN_SAMPLE_TIME: Span = Span::from_millis(50);

#[derive(Clone, Debug, Default)]
pub struct Westwood {
    /// Segments a second; `None` before the first sample.
    bandwidth: Option<f64>,
    /// Segments that arrived since the last sample.
    delivered: u32,
    /// When the last sample was taken; `None` before the first acknowledgement.
    since: Option<Time>,
    min_rtt: Option<Span>,
}

impl Westwood {
    pub fn new(_: &TcpSettings) -> Westwood {
        Westwood::default()
    }

    /// Counts the segments that `ack` reports as arrived, and takes a sample once a round trip.
    fn sample(&mut self, ack: &AckInfo) {
        self.min_rtt = [self.min_rtt, ack.rtt].into_iter().flatten().min();
        let Some(since) = self.since else {
            self.since = Some(ack.now);
            return;
        };
        self.delivered += ack.delivered;
        let time = ack.now - since;
        if time < ack.srtt.unwrap_or(MIN_SAMPLE_TIME).max(MIN_SAMPLE_TIME) {
            return;
        }
        let sample = f64::from(self.delivered) / time.as_secs_f64();
        self.bandwidth = Some(self.bandwidth.map_or(sample, |old| OLD_WEIGHT * old + (1.0 - OLD_WEIGHT) * sample));
        (self.delivered, self.since) = (0, Some(ack.now));
    }

    /// The segments that the path holds with an empty queue, two at least; `None` before the first sample.
    fn path_capacity(&self) -> Option<f64> {
        Some((self.bandwidth? * self.min_rtt?.as_secs_f64()).max(2.0))
    }
}

impl CongestionControl for Westwood {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.sample(ack);
        Reno.on_ack(ack, window, config);
    }

    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        match self.path_capacity() {
            // A mark never raises the window.
            Some(path) => {
                window.ssthresh = path.min(window.cwnd()).max(2.0);
                window.set_cwnd(path.min(window.cwnd()), ack.now);
            }
            None => Reno.on_echo(ack, window, config),
        }
    }

    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        match self.path_capacity() {
            Some(path) => window.ssthresh = path,
            None => Reno.on_loss(loss, window, config),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of `delivered` segments. At 0 ms the round-trip time is 80 ms, later 100 ms.
    fn ack(ms: u64, delivered: u32) -> AckInfo {
        AckInfo {
            now: Time::ZERO + Span::from_millis(ms),
            acked: delivered,
            delivered,
            flight: 20,
            may_grow: true,
            rtt: Some(Span::from_millis(if ms == 0 { 80 } else { 100 })),
            srtt: Some(Span::from_millis(100)),
            ..AckInfo::default()
        }
    }

    /// A flow whose ACKs arrived as `(ms, segments)`.
    fn fed(acks: &[(u64, u32)]) -> Westwood {
        let config = TcpSettings::default();
        let (mut westwood, mut window) = (Westwood::new(&config), CongestionWindow::new(&config));
        for &(ms, delivered) in acks {
            westwood.on_ack(&ack(ms, delivered), &mut window, &config);
        }
        westwood
    }

    /// `ssthresh` after a loss with 40 segments in flight.
    fn after_loss(westwood: &mut Westwood) -> f64 {
        let (loss, config) =
            (LossInfo { now: Time::ZERO, window_to_reduce: 40.0, next_new: 40 }, TcpSettings::default());
        let mut window = CongestionWindow::new(&config);
        westwood.on_loss(&loss, &mut window, &config);
        window.ssthresh
    }

    #[test]
    fn a_loss_leaves_the_bandwidth_times_the_least_round_trip() {
        // The first ACK starts the clock. The next 20 segments in 100 ms are 200 a second, or 16 in 80 ms.
        assert_eq!(after_loss(&mut fed(&[(0, 1), (50, 10), (100, 10)])), 16.0);
        // A second sample of 400 a second moves the estimate by a tenth: 220 a second, 17.6 segments.
        let moved = after_loss(&mut fed(&[(0, 1), (50, 10), (100, 10), (200, 40)]));
        assert!((moved - 17.6).abs() < 1e-9, "{moved}");
    }

    #[test]
    fn before_the_first_sample_a_loss_halves_the_flight_down_to_two_segments() {
        assert_eq!(after_loss(&mut fed(&[(0, 1), (99, 30)])), 20.0);
        assert_eq!(after_loss(&mut fed(&[(0, 1), (100, 1)])), 2.0);
    }

    #[test]
    fn a_mark_sets_the_window_to_the_path_capacity_but_never_raises_it() {
        let config = TcpSettings::default();
        let mut westwood = fed(&[(0, 1), (50, 10), (100, 10)]);
        let mut window = CongestionWindow::new(&config);
        window.set_cwnd(40.0, Time::ZERO);
        westwood.on_echo(&ack(101, 1), &mut window, &config);
        assert_eq!((window.cwnd(), window.ssthresh), (16.0, 16.0));
        window.set_cwnd(9.0, Time::ZERO + Span::from_millis(101));
        westwood.on_echo(&ack(102, 1), &mut window, &config);
        assert_eq!((window.cwnd(), window.ssthresh), (9.0, 9.0));
    }
}
