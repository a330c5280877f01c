//! CUBIC: the window grows by a cubic function of the time since its last reduction.
//!
//! After a reduction the window first rises quickly, flattens near its old size `w_max`, and then probes beyond it
//! faster and faster. Growth depends on time, not on the number of acknowledgements, so flows with different
//! round-trip times grow alike. On short paths, where Reno would be faster, CUBIC follows Reno's window `w_est`.
//!
//! - Acknowledgement: below `ssthresh`, slow start. Otherwise move towards W_cubic(t + RTT) = C (t - K)^3 + W_max, or
//!   to `w_est` if that is larger.
//! - Loss: `ssthresh` = beta x flight. Remember the window as `w_max`, less if it had not regained the old one (fast
//!   convergence). The next acknowledgement begins a new epoch.
//! - Application-limited time: if the application leaves the window unfilled, an acknowledgement changes nothing. The
//!   time before that acknowledgement does not count in t.
//! - Mark: as a loss, with `cwnd` in place of the flight.
//!
//! Source: L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert (eds.), *CUBIC for Fast and Long-Distance Networks*, RFC 9438,
//! 2023.
//!
//! | RFC 9438 | here |
//! | --- | --- |
//! | W_max, cwnd_prior | `w_max`, `cwnd_prior` |
//! | t_epoch, K, W_est | [`CubicEpoch`]'s `start`, `k`, `w_est` |
//! | C, beta_cubic, alpha_cubic | [`C`], the setting `cubic_beta`, [`alpha`] |
//!
//! Deviations: after a spurious timeout or retransmission, `undo` restores the windows, but neither W_max nor the epoch
//! (section 4.9), as in Linux. A mark scales `cwnd` instead of FlightSize, as in RFC 3168.
//!
//! The time t follows section 4.2. It excludes every period in which the application keeps the window from growing,
//! even with segments outstanding. Linux 6.1 excludes only idle time, as does `recent_use` (`cubictcp_cwnd_event`).

use aqm::Time;

use super::cubic_hystart::CubicHyStart;
use super::cubic_whole::{WholeGrowth, reno_scale};
use super::reno::{slow_start, threshold};
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// Section 5: growth far from `w_max`, in segments per cubic second.
pub const C: f64 = 0.4;
/// Section 4.2: the largest target, as a multiple of the window.
const MAX_TARGET: f64 = 1.5;
/// The window after a mark with Alternative Backoff, as a fraction (RFC 8511, section 3.1).
const BETA_ECN: f64 = 0.85;
/// Section 4.3: growth in segments per round trip. With this growth, a window reduced by `beta` has the same mean as
/// Reno's.
fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

#[derive(Clone, Debug, Default)]
pub struct Cubic {
    /// The plateau of the curve: `cwnd_prior`, or less with fast convergence.
    w_max: f64,
    cwnd_prior: f64,
    /// The last reduction was for a loss or a mark, and no timeout came after it.
    reduced: bool,
    /// The current stage of congestion avoidance, once an acknowledgement has begun it.
    epoch: Option<CubicEpoch>,
    /// With `cubic_hystart`.
    hystart: Option<Box<CubicHyStart>>,
}

#[derive(Clone, Debug)]
struct CubicEpoch {
    /// When it began.
    began: Time,
    /// The zero of t. Time that does not count in t moves it forward.
    start: Time,
    /// All time before this moment is already counted in t or excluded from it.
    judged_to: Time,
    /// The last acknowledgement was limited by the application.
    app_limited: bool,
    /// Seconds until the curve reaches `w_max`.
    k: f64,
    w_max: f64,
    /// Reno's window.
    w_est: f64,
    /// With `cubic_whole`.
    whole: WholeGrowth,
}

impl Cubic {
    pub fn new(config: &TcpSettings) -> Cubic {
        Cubic { hystart: config.cubic_hystart.then(Box::default), ..Cubic::default() }
    }

    /// Begins an epoch. After a timeout or a slow start without loss, the curve begins at its plateau (sections 4.2,
    /// 4.8 and 4.10).
    fn begin_epoch(&self, cwnd: f64, now: Time) -> CubicEpoch {
        let w_max = if self.reduced { self.w_max } else { cwnd };
        let k = libm::cbrt((w_max - cwnd).max(0.0) / C);
        CubicEpoch {
            began: now,
            start: now,
            judged_to: now,
            app_limited: false,
            k,
            w_max,
            w_est: cwnd,
            whole: WholeGrowth::default(),
        }
    }

    /// The growth in packets with `cubic_whole`. The curve's value one minimum round trip ahead decides (`delay_min`).
    fn whole_packets(&self, epoch: &mut CubicEpoch, counts: (u32, u32), ack: &AckInfo, config: &TcpSettings) -> u32 {
        let least = self.hystart.as_ref().map(|hystart| hystart.least_rtt()).or(ack.srtt);
        let t = (ack.now - epoch.start).as_secs_f64() + least.map_or(0.0, |rtt| rtt.as_secs_f64());
        let target = epoch.w_cubic(t);
        epoch.whole.grow(counts, || target, (reno_scale(config.cubic_beta), !self.reduced), ack.now)
    }

    /// Sections 4.6 and 4.7.
    fn reduce(&mut self, cwnd: f64, beta: f64) {
        // Fast convergence: a window that did not regain its last maximum leaves room for new flows.
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.reduced = true;
        self.epoch = None;
    }
}

impl CubicEpoch {
    /// Excludes the time since the last acknowledgement from t (sections 4.2 and 5.8).
    fn exclude(&mut self, now: Time) {
        self.start += now - self.judged_to;
        self.judged_to = now;
    }

    /// Counts the time since the last acknowledgement in t. Excludes it if this or the last acknowledgement was limited
    /// by the application.
    fn judge(&mut self, ack: &AckInfo) {
        if ack.app_limited || self.app_limited {
            self.exclude(ack.now);
        }
        (self.judged_to, self.app_limited) = (ack.now, ack.app_limited);
    }

    /// W_cubic (section 4.2, figure 1) `t` seconds after the start of the epoch.
    fn w_cubic(&self, t: f64) -> f64 {
        let from_k = t - self.k;
        C * from_k * from_k * from_k + self.w_max
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if let (Some(hystart), Some(rtt)) = (&mut self.hystart, ack.rtt) {
            hystart.on_ack(ack, rtt, self.epoch.as_ref().map(|epoch| epoch.began), window, config);
        }
        if !ack.may_grow {
            return;
        }
        let mut counted = ack.counted(config);
        if window.in_slow_start() {
            self.epoch = None;
            counted = slow_start(ack, window, config);
            if counted == 0 {
                return;
            }
        }
        let cwnd = window.cwnd();
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin_epoch(cwnd, ack.now));
        epoch.judge(ack);
        if ack.app_limited {
            self.epoch = Some(epoch);
            return;
        }
        if config.cubic_whole {
            let by = self.whole_packets(&mut epoch, (cwnd as u32, counted), ack, config);
            self.epoch = Some(epoch);
            return window.grow(f64::from(by), config, ack.now);
        }
        let t = (ack.now - epoch.start).as_secs_f64();
        // Section 4.3: as Reno, once the window has regained its size before the reduction.
        let full = config.cubic_full_alpha && epoch.w_est >= self.cwnd_prior;
        let alpha = if full { 1.0 } else { alpha(config.cubic_beta) };
        epoch.w_est += alpha * f64::from(counted) / cwnd;
        let by = if epoch.w_cubic(t) < epoch.w_est {
            (epoch.w_est - cwnd).max(0.0)
        } else {
            // Sections 4.2, 4.4 and 4.5: moves towards the curve's value one round trip ahead.
            let rtt = ack.srtt.map_or(0.0, |srtt| srtt.as_secs_f64());
            (epoch.w_cubic(t + rtt).clamp(cwnd, MAX_TARGET * cwnd) - cwnd) / cwnd
        };
        self.epoch = Some(epoch);
        window.grow(by, config, ack.now);
    }

    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        let cwnd = window.cwnd();
        self.reduce(cwnd, config.cubic_beta);
        let less = cwnd * if config.abe { BETA_ECN } else { config.cubic_beta };
        window.ssthresh = less.max(2.0);
        window.set_cwnd(less.max(1.0), ack.now);
    }

    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.reduce(window.cwnd(), config.cubic_beta);
        window.ssthresh = threshold(loss.window_to_reduce * config.cubic_beta, config);
    }

    fn on_timeout(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.on_loss(loss, window, config);
        self.reduced = false;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_timeout(loss);
        }
    }

    fn on_resume(&mut self, now: Time, _: &mut CongestionWindow) {
        if let Some(epoch) = &mut self.epoch {
            epoch.exclude(now);
            epoch.app_limited = false;
        }
    }

    /// Section 4.2 bounds the target of a round trip.
    fn cwnd_after_round_trip(&self, cwnd: f64) -> f64 {
        MAX_TARGET * cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Span;

    /// t in milliseconds after acknowledgements at these times, each limited by the application or not.
    fn counted(acks: &[(u64, bool)]) -> u64 {
        let mut epoch = Cubic::new(&TcpSettings::default()).begin_epoch(10.0, Time::ZERO);
        let mut now = Time::ZERO;
        for &(at, app_limited) in acks {
            now = Time::ZERO + Span::from_millis(at);
            epoch.judge(&AckInfo { now, app_limited, ..AckInfo::default() });
        }
        (now - epoch.start).as_nanos() / 1_000_000
    }

    #[test]
    fn only_the_time_between_two_acknowledgements_of_a_full_window_counts() {
        assert_eq!(counted(&[(100, false), (250, false)]), 250);
        assert_eq!(counted(&[(100, false), (250, true)]), 100, "the last of the two is limited");
        assert_eq!(counted(&[(100, false), (250, true), (700, false)]), 100, "the first of the two is limited");
        assert_eq!(counted(&[(100, true), (250, true), (700, false), (900, false)]), 200);
    }
}
