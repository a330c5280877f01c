//! The cycle of ProbeBW: DOWN, CRUISE, REFILL, UP (draft, section 5.3.3).

use aqm::{Span, Time};

use super::{BETA, Bbr3, Bbr3State, FullPipe, RateSample, too_high};

/// Most round trips between probes (section 5.3.3.8.3). With fewer than about 60, a Reno flow beside this one could not
/// reach 25 Mbit/s over a round trip of 30 ms, the rate of 4K video. With many more, the flow would not tolerate 1 %
/// of loss.
const RENO_ROUNDS: f64 = 63.0;
/// Least time between probes; a random time of up to [`WAIT_SPREAD`] is added (section 5.3.3.8.2).
const WAIT: Span = Span::from_secs(2);
const WAIT_SPREAD: Span = Span::from_secs(1);
/// Most doublings of the slope of `inflight_longterm`.
const UP_ROUNDS: u32 = 30;

impl Bbr3 {
    pub(super) fn start_down(&mut self, delivered: u32, now: Time) {
        self.bounds.reset_signals();
        self.up_acked_per_segment = f64::INFINITY;
        self.rounds_since_up = self.rng.below(2);
        self.wait = WAIT + self.rng.span_below(WAIT_SPREAD);
        self.cycle_at = now;
        self.probe_stopping = true;
        self.rounds.restart(delivered);
        self.state = Bbr3State::Down;
    }

    fn start_refill(&mut self, delivered: u32) {
        self.bounds.reset_short_term();
        (self.up_rounds, self.up_acked) = (0, 0.0);
        self.prev_precautionary = false;
        self.probe_stopping = false;
        self.rounds.restart(delivered);
        self.state = Bbr3State::Refill;
    }

    fn start_up(&mut self, sample: &RateSample, cwnd: f64) {
        self.rounds.restart(sample.total_delivered);
        self.full_pipe = FullPipe::from(sample.rate().unwrap_or(0.0));
        self.state = Bbr3State::Up;
        self.raise_slope(cwnd);
    }

    /// `UpdateProbeBWCyclePhase`, section 5.3.3.9.
    pub(super) fn update_probe_bw(&mut self, sample: &RateSample, cwnd: f64) {
        if !self.pipe_filled || self.adapt_long_term(sample, cwnd) {
            return;
        }
        match self.state {
            Bbr3State::Down | Bbr3State::Cruise if self.is_time_to_probe(sample.at, cwnd) => {
                self.start_refill(sample.total_delivered)
            }
            Bbr3State::Down if self.is_time_to_cruise(sample.in_flight) => self.state = Bbr3State::Cruise,
            Bbr3State::Refill if self.rounds.started() => {
                self.probe_sample = true;
                self.start_up(sample, cwnd);
            }
            Bbr3State::Up => self.check_go_down(sample, cwnd),
            _ => {}
        }
    }

    /// Whether to probe, on the native time scale or Reno's (section 5.3.3.8.2).
    fn is_time_to_probe(&self, now: Time, cwnd: f64) -> bool {
        let reno = self.target_inflight(cwnd).min(RENO_ROUNDS);
        now > self.cycle_at + self.wait || f64::from(self.rounds_since_up) >= reno
    }

    fn is_time_to_cruise(&self, inflight: u32) -> bool {
        f64::from(inflight) <= self.bounds.with_headroom().min(self.inflight_at(self.greatest_bw()))
    }

    /// The flight for bandwidth `bw`, without the short-term bound.
    fn inflight_at(&self, bw: f64) -> f64 {
        self.quantized(self.min_rtt.map_or(self.initial_window, |rtt| bw * rtt.as_secs_f64()))
    }

    /// Ends UP at a plateau or at a risky flight (section 5.3.3.7). Loss ends it in `on_inflight_too_high`.
    fn check_go_down(&mut self, sample: &RateSample, cwnd: f64) {
        let bound = self.bounds.inflight_longterm;
        let risky = self.prev_too_high && f64::from(sample.in_flight) >= bound;
        self.prev_precautionary |= risky;
        if !risky && sample.window_full && cwnd >= bound {
            self.full_pipe = FullPipe::from(sample.rate().unwrap_or(0.0)); // the bound limits the delivery rate
        } else if risky || self.full_pipe.is_full() {
            self.prev_too_high = false; // losses stayed below the threshold so far
            self.start_down(sample.total_delivered, sample.at);
        }
    }

    /// `AdaptLongTermModel`, section 5.3.3.9. Returns whether the state changed.
    fn adapt_long_term(&mut self, sample: &RateSample, cwnd: f64) -> bool {
        if self.probe_stopping && self.rounds.started() && self.end_probe(sample) {
            return true;
        }
        let bound = self.bounds.inflight_longterm;
        if bound.is_finite() && !too_high(sample.lost, sample.at_send.in_flight) {
            self.bounds.inflight_longterm = bound.max(f64::from(sample.at_send.in_flight));
            if self.state == Bbr3State::Up {
                self.raise_inflight(sample, cwnd);
            }
        }
        false
    }

    /// Handles a probe's last acknowledgement. Returns whether the next probe begins at once.
    fn end_probe(&mut self, sample: &RateSample) -> bool {
        self.probe_sample = false;
        self.probe_stopping = false;
        if !self.state.probes_bw() {
            return false;
        }
        if !self.is_app_limited(sample) {
            self.advance_max_bw();
        }
        // Precautionary probing (section 5.3.3.6): the risky flight turned out to be safe.
        let again = self.prev_precautionary && !self.prev_too_high;
        if again {
            self.start_refill(sample.total_delivered);
        }
        again
    }

    /// Forgets the cycle before last (section 5.5.6). As in Linux, a cycle without a sample does not count.
    fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    /// `RaiseInflightLongtermSlope`: twice as many segments each round trip (section 5.3.3.5).
    pub(super) fn raise_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(UP_ROUNDS);
        self.up_acked_per_segment = (cwnd / growth).max(1.0);
    }

    /// `ProbeInflightLongtermUpward`.
    pub(super) fn raise_inflight(&mut self, sample: &RateSample, cwnd: f64) {
        if !sample.window_full || cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.up_acked += f64::from(sample.newly_delivered);
        if self.up_acked >= self.up_acked_per_segment {
            let segments = (self.up_acked / self.up_acked_per_segment).floor();
            self.up_acked -= segments * self.up_acked_per_segment;
            self.bounds.inflight_longterm += segments;
        }
        if self.rounds.started() {
            self.raise_slope(cwnd);
        }
    }

    /// `HandleInflightTooHigh`, section 5.5.10.2: once a probe.
    pub(super) fn on_inflight_too_high(
        &mut self,
        inflight: f64,
        app_limited: bool,
        delivered: u32,
        now: Time,
        cwnd: f64,
    ) {
        self.prev_too_high = true;
        self.probe_sample = false;
        if !app_limited {
            self.bounds.inflight_longterm = inflight.max(self.target_inflight(cwnd) * BETA).floor();
        }
        if self.state == Bbr3State::Up {
            self.start_down(delivered, now);
        }
    }
}
