//! The minimum round-trip time, and ProbeRTT, which measures it again (draft, sections 4.1.2 and 4.3.5).

use aqm::{Span, Time};

use super::{Bbr, BbrState, HIGH_GAIN, MARGIN, MIN_CWND, RateSample};

/// The lifetime of a minimum round-trip time.
const MIN_RTT_LASTS: Span = Span::from_secs(10);
/// The shortest ProbeRTT.
const PROBE_RTT_LASTS: Span = Span::from_millis(200);

impl Bbr {
    /// Updates the minimum round-trip time. Returns whether the old one had expired, even if this sample replaces it
    /// (draft, section 4.1.2.3). As in Linux (`bbr_update_min_rtt`), an equal sample does not renew it. In the draft it
    /// does, so a lone flow on a path without noise never enters ProbeRTT.
    pub(super) fn update_min_rtt(&mut self, sample: &RateSample) -> bool {
        let expired = self.min_rtt.is_some() && sample.at > self.min_rtt_at + MIN_RTT_LASTS;
        if let Some(rtt) = sample.round_trip()
            && (expired || self.min_rtt.is_none_or(|least| rtt < least))
        {
            if self.min_rtt.is_none() {
                self.pacing_rate = HIGH_GAIN * self.initial_window / rtt.as_secs_f64() * MARGIN;
            }
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), sample.at);
        }
        expired
    }

    /// Draft, section 4.3.5.
    pub(super) fn check_probe_rtt(&mut self, sample: &RateSample, expired: bool, cwnd: &mut f64) {
        if expired && !self.idle_restart && self.state != BbrState::ProbeRtt {
            self.save_cwnd(*cwnd);
            self.state = BbrState::ProbeRtt;
            self.probe_rtt_ends = None;
        }
        if self.state == BbrState::ProbeRtt {
            self.probe_rtt(sample, cwnd);
        }
        self.idle_restart = false;
    }

    pub(super) fn probe_rtt(&mut self, sample: &RateSample, cwnd: &mut f64) {
        self.self_limited.extend(sample.total_delivered, sample.in_flight);
        if self.probe_rtt_ends.is_some() {
            self.probe_rtt_round |= self.rounds.started();
            if self.probe_rtt_round {
                self.check_probe_rtt_done(sample.at, cwnd);
            }
        } else if f64::from(sample.in_flight) <= MIN_CWND {
            self.probe_rtt_ends = Some(sample.at + PROBE_RTT_LASTS);
            self.probe_rtt_round = false;
            self.rounds.restart(sample.total_delivered);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time, cwnd: &mut f64) {
        if self.probe_rtt_ends.is_none_or(|end| now <= end) {
            return;
        }
        self.min_rtt_at = now;
        *cwnd = cwnd.max(self.prior_cwnd);
        if self.pipe_filled {
            self.enter_probe_bw(now);
        } else {
            self.state = BbrState::Startup;
        }
    }
}
