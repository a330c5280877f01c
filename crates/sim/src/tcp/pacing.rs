//! Pacing: segments leave at a rate instead of in response to acknowledgements.
//!
//! Without segmentation offload the quantum is one segment: each has its own departure time (draft-ietf-ccwg-bbr-06,
//! section 5.6.2). Rates are in segments per second.

use aqm::{Span, Time};

use super::cc::CongestionWindow;

/// The time of the next departure, in 8 bytes. The top bit tells whether a departure event is scheduled: no run lasts
/// 2^63 ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer(u64);

/// A departure event is scheduled.
const ARMED: u64 = 1 << 63;

impl Pacer {
    /// When the next segment may leave.
    #[inline]
    pub fn ready_at(&self) -> Time {
        Time::from_nanos(self.0 & !ARMED)
    }

    /// Records a departure. Idle time does not permit a later burst.
    pub fn record_departure(&mut self, now: Time, rate: f64) {
        let next = self.ready_at().max(now) + Span::from_secs_f64(1.0 / rate);
        self.0 = self.0 & ARMED | next.as_nanos().min(!ARMED);
    }

    /// When to schedule a departure event; `None` if a segment may leave now or an event is already scheduled.
    pub fn arm(&mut self, now: Time) -> Option<Time> {
        if self.0 & ARMED != 0 || self.ready_at() <= now {
            return None;
        }
        self.0 |= ARMED;
        Some(self.ready_at())
    }

    /// The departure event has occurred.
    pub fn disarm(&mut self) {
        self.0 &= !ARMED;
    }
}

/// The pacing rate of a congestion control without its own: window over round trip, with headroom as in Linux
/// (`tcp_update_pacing_rate`; `tcp_pacing_ss_ratio` 200 %, `tcp_pacing_ca_ratio` 120 %). The lower ratio applies from
/// half of `ssthresh` on. Unbounded before the first round-trip time.
pub fn window_rate(window: &CongestionWindow, flight: u32, srtt: Option<Span>) -> f64 {
    let Some(srtt) = srtt else { return f64::INFINITY };
    let ratio = if window.cwnd() < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
    ratio * window.cwnd().max(f64::from(flight)) / srtt.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::TcpSettings;

    const MS: u64 = 1_000_000;

    #[test]
    fn departures_are_the_inverse_of_the_rate_apart() {
        let mut pacer = Pacer::default();
        pacer.record_departure(Time::ZERO, 1000.0);
        assert_eq!(pacer.ready_at(), Time::from_nanos(MS));
        pacer.record_departure(pacer.ready_at(), 4000.0);
        assert_eq!(pacer.ready_at(), Time::from_nanos(MS + MS / 4));
    }

    #[test]
    fn unused_sending_time_allows_no_burst() {
        let mut pacer = Pacer::default();
        pacer.record_departure(Time::ZERO, 1000.0);
        pacer.record_departure(Time::from_nanos(50 * MS), 1000.0);
        assert_eq!(pacer.ready_at(), Time::from_nanos(51 * MS));
    }

    #[test]
    fn a_rate_without_bounds_holds_nothing_back() {
        let mut pacer = Pacer::default();
        pacer.record_departure(Time::from_nanos(MS), f64::INFINITY);
        assert_eq!(pacer.ready_at(), Time::from_nanos(MS));
    }

    #[test]
    fn at_most_one_departure_event_is_scheduled() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.arm(Time::ZERO), None, "a segment may leave now");
        pacer.record_departure(Time::ZERO, 1000.0);
        assert_eq!(pacer.arm(Time::ZERO), Some(Time::from_nanos(MS)));
        assert_eq!(pacer.arm(Time::ZERO), None, "already scheduled");
        pacer.disarm();
        assert_eq!(pacer.arm(Time::ZERO), Some(Time::from_nanos(MS)));
    }

    #[test]
    fn the_pacing_rate_is_twice_the_window_a_round_trip_and_later_1_2_times() {
        let rate = |cwnd, ssthresh, flight| {
            let mut window = CongestionWindow::new(&TcpSettings::default());
            window.set_cwnd(cwnd, Time::ZERO);
            window.ssthresh = ssthresh;
            window_rate(&window, flight, Some(Span::from_millis(100)))
        };
        assert_eq!(rate(20.0, f64::INFINITY, 20), 400.0, "slow start");
        assert_eq!(rate(20.0, 40.0, 20), 240.0, "slow start from half of ssthresh on");
        assert_eq!(rate(20.0, 10.0, 20), 240.0, "congestion avoidance");
        assert_eq!(rate(20.0, 10.0, 40), 480.0, "more in flight than the window, after a reduction");
    }
}
