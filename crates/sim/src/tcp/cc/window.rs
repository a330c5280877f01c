//! The two windows of a congestion control, and the integral of `cwnd` over time.

use aqm::Time;

use crate::tcp::TcpSettings;

/// `cwnd` and `ssthresh` in segments.
#[derive(Clone, Debug)]
pub struct CongestionWindow {
    cwnd: f64,
    /// Below it the window grows by slow start; infinite for no bound.
    pub ssthresh: f64,
    /// The integral of `cwnd` over time in segments x nanoseconds, up to `since`.
    cwnd_area: f64,
    since: Time,
}

impl CongestionWindow {
    /// The windows of a flow that has sent nothing.
    pub fn new(config: &TcpSettings) -> CongestionWindow {
        CongestionWindow {
            cwnd: f64::from(config.initial_window),
            ssthresh: config.initial_ssthresh.map_or(f64::INFINITY, f64::from),
            cwnd_area: 0.0,
            since: Time::ZERO,
        }
    }

    /// The congestion window.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The whole segments of `cwnd`, which may be outstanding.
    #[inline]
    pub fn whole_segments(&self) -> u32 {
        self.cwnd as u32
    }

    /// Whether `cwnd` is below `ssthresh`. If they are equal, RFC 5681 (section 3.1) allows either; here it is
    /// congestion avoidance.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Moves the congestion window.
    #[inline]
    pub fn set_cwnd(&mut self, cwnd: f64, now: Time) {
        // Through i64: processors convert signed numbers in one step, and a run is shorter than 292 years.
        self.cwnd_area += self.cwnd * (now - self.since).as_nanos() as i64 as f64;
        self.since = now;
        self.cwnd = cwnd;
    }

    /// Grows the congestion window by `by`, at most to the receive window unless `cwnd_beyond_window` is set.
    #[inline]
    pub fn grow(&mut self, by: f64, config: &TcpSettings, now: Time) {
        let (grown, most) = (self.cwnd + by, f64::from(config.window));
        let allowed = if grown <= most || config.cwnd_beyond_window { grown } else { most.max(self.cwnd) };
        self.set_cwnd(allowed, now);
    }

    /// The windows of a new connection; the integral continues.
    pub fn reset(&self, config: &TcpSettings, now: Time) -> CongestionWindow {
        CongestionWindow { cwnd_area: self.cwnd_area(now), since: now, ..CongestionWindow::new(config) }
    }

    /// The integral of the congestion window over time up to `now`, in segments x nanoseconds.
    pub fn cwnd_area(&self, now: Time) -> f64 {
        self.cwnd_area + self.cwnd * (now - self.since).as_nanos() as f64
    }
}
