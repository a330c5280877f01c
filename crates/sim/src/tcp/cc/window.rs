//! The two windows of a congestion control, and the integral of `cwnd` over time.

use headgate_core::Time;

use crate::tcp::TcpSettings;

/// `cwnd` and `ssthresh` in segments.
#[derive(Clone, Debug)]
pub struct Window {
    cwnd: f64,
    /// Below it the window grows by slow start; infinite for no bound.
    pub ssthresh: f64,
    /// The integral of `cwnd` over time in segments x nanoseconds, up to `since`.
    area: f64,
    since: Time,
}

impl Window {
    /// The windows of a flow that has sent nothing.
    pub fn new(config: &TcpSettings) -> Window {
        Window {
            cwnd: f64::from(config.initial_window),
            ssthresh: config.initial_ssthresh.map_or(f64::INFINITY, f64::from),
            area: 0.0,
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
    pub fn whole(&self) -> u32 {
        self.cwnd as u32
    }

    /// RFC 5681, section 3.1. Equal windows, which it leaves open, are congestion avoidance.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Moves the congestion window.
    #[inline]
    pub fn set_cwnd(&mut self, cwnd: f64, now: Time) {
        // Through i64: processors convert signed numbers in one step, and a run is shorter than 292 years.
        self.area += self.cwnd * (now - self.since).as_nanos() as i64 as f64;
        self.since = now;
        self.cwnd = cwnd;
    }

    /// Grows the congestion window by `by`, at most to the receive window.
    #[inline]
    pub fn grow(&mut self, by: f64, config: &TcpSettings, now: Time) {
        self.set_cwnd((self.cwnd + by).min(f64::from(config.window).max(self.cwnd)), now);
    }

    /// The windows of a new connection; the integral continues.
    pub fn reset(&self, config: &TcpSettings, now: Time) -> Window {
        Window { area: self.area(now), since: now, ..Window::new(config) }
    }

    /// The integral of the congestion window over time up to `now`, in segments x nanoseconds.
    pub fn area(&self, now: Time) -> f64 {
        self.area + self.cwnd * (now - self.since).as_nanos() as f64
    }
}
