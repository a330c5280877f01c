//! LEDBAT: a background transfer that keeps its queueing delay at a target and yields to other traffic.
//!
//! The receiver measures the one-way delay of the last segment it acknowledges. The smallest delay of ten minutes is
//! the path's delay without a queue. The current delay less this one is the queueing delay. Each acknowledgement moves
//! the window by `gain` x (1 - queueing delay / `target`) segments per window: up below the target, down above. Loss
//! halves it.
//!
//! The group sets `target` and `gain`. The RFC allows a target of at most 100 ms and a gain of at most 1. RFC 7928
//! (section 5.4) asks for 5 ms and 10. Both ends share one clock, so no skew is corrected. A mark counts as a loss. As
//! in the pseudocode of section 2.4.2, there is no slow start. With `pacing`, which the RFC does not know, a flight
//! below the window bounds its growth but does not lower it: it is the pace that leaves a part of the window unused.
//!
//! Source: S. Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, *Low Extra Delay Background Transport (LEDBAT)*, RFC
//! 6817, 2012; names are from section 2.4.2, parameters from 2.5.

use aqm::{Span, Time};

use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// The base delay history in minutes.
const BASE_HISTORY: usize = 10;
/// The number of delays in the filter of the current delay.
const CURRENT_FILTER: usize = 4;
/// Segments by which the window may exceed the flight.
const ALLOWED_INCREASE: f64 = 1.0;
const MIN_CWND: f64 = 2.0;

#[derive(Clone, Debug)]
pub struct Ledbat {
    /// The smallest delay of each minute, the current minute first.
    base: [Span; BASE_HISTORY],
    /// The current minute.
    minute: u64,
    /// The last delays, as a ring.
    current: [Span; CURRENT_FILTER],
    next: usize,
}

impl Ledbat {
    pub fn new(_: &TcpSettings) -> Ledbat {
        Ledbat { base: [Span::MAX; BASE_HISTORY], minute: 0, current: [Span::MAX; CURRENT_FILTER], next: 0 }
    }

    /// Records a one-way delay (update_base_delay, update_current_delay).
    fn sample(&mut self, delay: Span, now: Time) {
        let minute = now.as_nanos() / Span::from_secs(60).as_nanos();
        if minute != self.minute {
            self.minute = minute;
            self.base.rotate_right(1);
            self.base[0] = Span::MAX;
        }
        self.base[0] = self.base[0].min(delay);
        self.current[self.next] = delay;
        self.next = (self.next + 1) % CURRENT_FILTER;
    }

    /// Distance of the queueing delay below the target, as a fraction of it; negative above. `None` before any
    /// sample.
    fn off_target(&self, target: Span) -> Option<f64> {
        let least = |delays: &[Span]| delays.iter().copied().min().filter(|delay| *delay != Span::MAX);
        let queueing = least(&self.current)? - least(&self.base)?;
        Some(1.0 - queueing.as_secs_f64() / target.as_secs_f64())
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if let Some(delay) = ack.delay {
            self.sample(delay, ack.now);
        }
        let Some(off_target) = self.off_target(config.target).filter(|_| ack.may_grow) else { return };
        let cwnd = window.cwnd() + config.gain * off_target * f64::from(ack.acked) / window.cwnd();
        let used = f64::from(ack.flight) + ALLOWED_INCREASE;
        let used = if config.pacing { used.max(window.cwnd()) } else { used };
        let allowed = used.min(f64::from(config.window).max(window.cwnd()));
        window.set_cwnd(cwnd.min(allowed).max(MIN_CWND), ack.now);
    }

    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        let cwnd = window.cwnd();
        window.ssthresh = (cwnd / 2.0).max(MIN_CWND);
        window.set_cwnd(window.ssthresh.min(cwnd), ack.now);
    }

    fn on_loss(&mut self, _: &LossInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        window.ssthresh = (window.cwnd() / 2.0).max(MIN_CWND);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off_target(samples: &[(u64, u64)]) -> f64 {
        let mut ledbat = Ledbat::new(&TcpSettings::default());
        for &(seconds, ms) in samples {
            ledbat.sample(Span::from_millis(ms), Time::ZERO + Span::from_secs(seconds));
        }
        ledbat.off_target(Span::from_millis(100)).unwrap()
    }

    #[test]
    fn the_queueing_delay_is_the_least_of_four_above_the_least_of_all() {
        assert_eq!(off_target(&[(0, 20)]), 1.0);
        // The least of the last four is 70: 50 ms of queue, half of the target.
        assert_eq!(off_target(&[(0, 20), (1, 70), (2, 90), (3, 80), (4, 75)]), 0.5);
        // 20 is still among the last four: three large delays do not yet count as a queue.
        assert_eq!(off_target(&[(0, 20), (1, 320), (2, 320), (3, 320)]), 1.0);
        assert_eq!(off_target(&[(0, 20), (1, 220), (2, 220), (3, 220), (4, 220)]), -1.0);
    }

    #[test]
    fn the_window_moves_by_gain_and_by_the_distance_from_the_target() {
        let config =
            TcpSettings { target: Span::from_millis(5), gain: 10.0, initial_window: 20, ..TcpSettings::default() };
        let (mut ledbat, mut window) = (Ledbat::new(&config), CongestionWindow::new(&config));
        let mut info = |ms| {
            let delay = Some(Span::from_millis(ms));
            let ack = AckInfo { acked: 1, delivered: 1, flight: 20, may_grow: true, delay, ..AckInfo::default() };
            ledbat.on_ack(&ack, &mut window, &config);
            window.cwnd()
        };
        // Without a queue the window grows by 10 / 20 of a segment. The fifth delay displaces the least of the last
        // four: the queue is twice the target, and the window falls as fast as it rose.
        let first = info(20);
        assert_eq!(first, 20.5);
        let grown = [30, 30, 30].map(&mut info)[2];
        assert_eq!(grown, 21.0, "at most the flight of 20 and one segment");
        assert_eq!(info(30), 21.0 - 10.0 / 21.0);
    }

    #[test]
    fn an_echo_halves_the_window() {
        let config = TcpSettings { initial_window: 20, ..TcpSettings::default() };
        let (mut ledbat, mut window) = (Ledbat::new(&config), CongestionWindow::new(&config));
        ledbat.on_echo(&AckInfo::default(), &mut window, &config);
        assert_eq!((window.cwnd(), window.ssthresh), (10.0, 10.0));
    }

    #[test]
    fn after_ten_minutes_the_least_delay_is_forgotten() {
        // The delay rises from 20 to 70 ms after the first minute. In the tenth minute the 50 ms still count as queue,
        // in the eleventh the path counts as longer.
        let minutes = |n| [(0, 20)].into_iter().chain((1..n).map(|minute| (60 * minute, 70))).collect::<Vec<_>>();
        assert_eq!(off_target(&minutes(10)), 0.5);
        assert_eq!(off_target(&minutes(11)), 1.0);
    }
}
