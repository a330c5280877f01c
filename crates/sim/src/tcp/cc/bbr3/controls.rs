//! The two controls, pacing rate and window (draft, section 5.6).

use super::{Bbr3, Bbr3State, MARGIN, MIN_CWND, RateSample};

/// The offload quantum: three send quanta (section 5.5.8.1), of one segment each.
const OFFLOAD: f64 = 3.0;

impl Bbr3 {
    /// Until the pipe is full, the rate only rises (section 5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * MARGIN;
        if self.pipe_filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// The BDP times `gain` (section 5.6.4.2).
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window, |rtt| gain * self.bw * rtt.as_secs_f64())
    }

    pub(super) fn quantized(&self, segments: f64) -> f64 {
        let least = segments.max(OFFLOAD).max(MIN_CWND);
        if self.state == Bbr3State::Up { least + 2.0 } else { least }
    }

    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.quantized(self.bdp(gain))
    }

    /// The target flight (section 5.3.3.8.3).
    pub(super) fn target_inflight(&self, cwnd: f64) -> f64 {
        self.bdp(1.0).min(cwnd)
    }

    /// Section 5.6.4.6.
    pub(super) fn set_cwnd(&mut self, sample: &RateSample, cwnd: &mut f64) {
        let most = self.quantized(self.bdp(self.state.gains().1) + self.extra.get(self.bw));
        let acked = f64::from(sample.newly_delivered);
        let delivered = sample.total_delivered - *self.delivered_before.get_or_insert(sample.at_send.delivered);
        if self.pipe_filled {
            *cwnd = (*cwnd + acked).min(most);
        } else if *cwnd < most || f64::from(delivered) < self.initial_window {
            *cwnd += acked;
        }
        *cwnd = cwnd.max(MIN_CWND);
        if self.state == Bbr3State::ProbeRtt {
            *cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        *cwnd = cwnd.min(self.bounds.cap(self.state));
    }

    /// Saves the last window not cut by recovery or ProbeRTT.
    pub(super) fn save_cwnd(&mut self, cwnd: f64) {
        let cut = self.recover.is_some() || self.state == Bbr3State::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}
