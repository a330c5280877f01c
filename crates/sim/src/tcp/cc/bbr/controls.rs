//! The two controls, pacing rate and window (draft, section 4.2).

use super::{Bbr, BbrState, MARGIN, MIN_CWND, RateSample};

/// Segments allowed beyond the BDP for send quanta at both ends: three quanta of one segment each.
pub(super) const QUANTA: f64 = 3.0;

impl Bbr {
    /// Until the pipe is full, the rate only rises (draft, section 4.2.1).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth() * MARGIN;
        if self.pipe_filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// The BDP times `gain`, in whole segments.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        match self.min_rtt {
            Some(rtt) => (gain * self.bandwidth() * rtt.as_secs_f64()).ceil(),
            None => self.initial_window,
        }
    }

    /// Adds room for send quanta and rounds up to an even number (draft, section 4.2.3.2; Linux,
    /// `bbr_quantization_budget`).
    pub(super) fn quantized(&self, segments: f64) -> f64 {
        let even = ((segments + QUANTA) / 2.0).ceil() * 2.0;
        let probing = self.state == BbrState::ProbeBw && self.phase == 0;
        if probing { even + 2.0 } else { even }
    }

    /// The flight that `gain` allows.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.quantized(self.bdp(gain))
    }

    /// Draft, section 4.2.3.6: moves towards the target by at most the segments acknowledged.
    pub(super) fn set_cwnd(&mut self, sample: &RateSample, cwnd: &mut f64) {
        let acked = f64::from(sample.newly_delivered);
        let delivered = sample.total_delivered - *self.delivered_before.get_or_insert(sample.at_send.delivered);
        if sample.newly_delivered > 0 {
            if sample.newly_lost > 0 {
                *cwnd = (*cwnd - f64::from(sample.newly_lost)).max(1.0);
            }
            if self.conserving {
                *cwnd = cwnd.max(f64::from(sample.in_flight) + acked);
            } else {
                *cwnd = self.towards_target(*cwnd, acked, delivered);
            }
        }
        if self.state == BbrState::ProbeRtt {
            *cwnd = cwnd.min(MIN_CWND);
        }
    }

    pub(super) fn towards_target(&self, cwnd: f64, acked: f64, delivered: u32) -> f64 {
        let extra = if self.pipe_filled { self.extra.get(self.bandwidth()) } else { 0.0 };
        let target = self.quantized(self.bdp(self.cwnd_gain()) + extra);
        let cwnd = if self.pipe_filled {
            (cwnd + acked).min(target)
        } else if cwnd < target || f64::from(delivered) < self.initial_window {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// Saves the last window not cut by recovery or ProbeRTT.
    pub(super) fn save_cwnd(&mut self, cwnd: f64) {
        let cut = self.recover.is_some() || self.state == BbrState::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}
