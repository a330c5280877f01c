//! The minimum round-trip time, and ProbeRTT, which measures it again (draft, section 5.3.4).

use aqm::{Span, Time};

use super::{Bbr3, Bbr3State, MARGIN, MIN_CWND, RateSample};

/// The lifetime of a minimum round-trip time (section 2.16.1).
const MIN_RTT_LASTS: Span = Span::from_secs(10);
/// The longest time without a confirmation of the minimum round-trip time (section 2.16.2).
const INTERVAL: Span = Span::from_secs(5);
/// The shortest ProbeRTT (section 2.16.2).
const LASTS: Span = Span::from_millis(200);

impl Bbr3 {
    /// `UpdateMinRTT`, section 5.3.4.3. Returns whether ProbeRTT is due, even if there is a new sample now.
    pub(super) fn update_min_rtt(&mut self, sample: &RateSample) -> bool {
        let now = sample.at;
        let expired = self.probe_rtt_min.is_some() && now > self.probe_rtt_min_at + INTERVAL;
        let Some(rtt) = sample.round_trip() else { return expired };
        if self.min_rtt.is_none() {
            self.pacing_rate = Bbr3State::Startup.gains().0 * self.initial_window / rtt.as_secs_f64() * MARGIN;
        }
        if expired || self.probe_rtt_min.is_none_or(|least| rtt < least) {
            (self.probe_rtt_min, self.probe_rtt_min_at) = (Some(rtt), now);
        }
        let least = self.probe_rtt_min.unwrap_or(rtt);
        if now > self.min_rtt_at + MIN_RTT_LASTS || self.min_rtt.is_none_or(|known| least < known) {
            (self.min_rtt, self.min_rtt_at) = (Some(least), self.probe_rtt_min_at);
        }
        expired
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, sample: &RateSample, expired: bool, cwnd: &mut f64) {
        if self.state != Bbr3State::ProbeRtt && expired && !self.idle_restart {
            self.save_cwnd(*cwnd);
            self.state = Bbr3State::ProbeRtt;
            self.probe_rtt_ends = None;
            self.probe_stopping = true;
            self.rounds.restart(sample.total_delivered);
        }
        if self.state == Bbr3State::ProbeRtt {
            self.probe_rtt(sample, cwnd);
        }
        self.idle_restart = false;
    }

    /// `HandleProbeRTT`: lasts 200 ms and a round trip from the moment that the flight is small enough.
    fn probe_rtt(&mut self, sample: &RateSample, cwnd: &mut f64) {
        self.self_limited.extend(sample.total_delivered, sample.in_flight);
        if self.probe_rtt_ends.is_some() {
            self.probe_rtt_round |= self.rounds.started();
            if self.probe_rtt_round {
                self.check_probe_rtt_done(sample.total_delivered, sample.at, cwnd);
            }
        } else if f64::from(sample.in_flight) <= self.probe_rtt_cwnd() {
            self.probe_rtt_ends = Some(sample.at + LASTS);
            self.probe_rtt_round = false;
            self.rounds.restart(sample.total_delivered);
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT` (section 5.3.4.4).
    pub(super) fn check_probe_rtt_done(&mut self, delivered: u32, now: Time, cwnd: &mut f64) {
        if self.probe_rtt_ends.is_none_or(|end| now <= end) {
            return;
        }
        self.probe_rtt_min_at = now;
        *cwnd = cwnd.max(self.prior_cwnd);
        self.bounds.reset_short_term();
        if self.pipe_filled {
            self.start_down(delivered, now);
            self.state = Bbr3State::Cruise; // there is no queue to drain
        } else {
            self.state = Bbr3State::Startup;
        }
    }

    /// Half the BDP (section 5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(Bbr3State::ProbeRtt.gains().1).max(MIN_CWND)
    }
}
