//! Bounds on bandwidth and inflight, derived from loss (draft, section 5.5.10).

use super::{BETA, Bbr3, Bbr3State, HEADROOM, LostSegment, MIN_CWND, RateSample};

/// The bounds, and the latest deliveries.
#[derive(Clone, Copy, Debug)]
pub struct LossBounds {
    pub bw_shortterm: f64,
    pub inflight_shortterm: f64,
    /// In whole segments, for comparison with the flight.
    pub inflight_longterm: f64,
    /// The greatest delivery rate, and the most segments delivered, of the last round trip.
    pub bw_latest: f64,
    pub inflight_latest: u32,
    /// Segments delivered when the current round began (`loss_round_delivered`). [`Bbr3`] counts rounds of
    /// its own. The first loss in a round restarts it, so the bounds adapt a whole round trip after that loss.
    round_began: u32,
    /// The last acknowledgement began a round.
    pub round_started: bool,
    lost_in_round: bool,
    /// Runs of lost segments that were sent one after another: in this round, and in the round before (`last_runs`).
    runs: u32,
    pub last_runs: u32,
    /// The transmission number of the last lost segment.
    last_lost: u32,
}

impl Default for LossBounds {
    fn default() -> LossBounds {
        LossBounds {
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0,
            round_began: 0,
            round_started: false,
            lost_in_round: false,
            runs: 0,
            last_runs: 0,
            last_lost: 0,
        }
    }
}

impl LossBounds {
    /// Call at the start of an acknowledgement (`UpdateLatestDeliverySignals`).
    pub fn on_ack(&mut self, sample: &RateSample) {
        self.bw_latest = self.bw_latest.max(sample.rate().unwrap_or(0.0));
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        self.round_started = sample.at_send.delivered >= self.round_began;
        if self.round_started {
            self.round_began = sample.total_delivered;
            (self.last_runs, self.runs) = (self.runs, 0);
        }
    }

    /// Call at the end of an acknowledgement (`AdvanceLatestDeliverySignals`).
    pub fn end_ack(&mut self, sample: &RateSample) {
        if self.round_started {
            self.bw_latest = sample.rate().unwrap_or(0.0);
            self.inflight_latest = sample.delivered;
        }
    }

    /// A segment was lost (`NoteLoss`).
    pub fn note_loss(&mut self, lost: &LostSegment) {
        self.note_mark(lost.delivered);
        self.runs += u32::from(lost.order != self.last_lost + 1);
        self.last_lost = lost.order;
    }

    /// Records congestion in this round.
    pub fn note_mark(&mut self, delivered: u32) {
        if !self.lost_in_round {
            self.round_began = delivered;
        }
        self.lost_in_round = true;
    }

    /// Begins a cycle: clears the signals of the last one (`ResetCongestionSignals`).
    pub fn reset_signals(&mut self) {
        self.lost_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0);
    }

    /// Begins probing: removes the short-term bounds (`ResetShortTermModel`).
    pub fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// The long-term bound with room for other flows (`InflightWithHeadroom`).
    pub fn with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        if self.inflight_longterm.is_finite() {
            (self.inflight_longterm - headroom).max(MIN_CWND)
        } else {
            f64::INFINITY
        }
    }

    /// The largest window allowed (`BoundCwndForModel`, section 5.6.4.7).
    pub fn cap(&self, state: Bbr3State) -> f64 {
        let cap = match state {
            Bbr3State::Down | Bbr3State::Refill | Bbr3State::Up => self.inflight_longterm,
            Bbr3State::Cruise | Bbr3State::ProbeRtt => self.with_headroom(),
            Bbr3State::Startup | Bbr3State::Drain => f64::INFINITY,
        };
        cap.min(self.inflight_shortterm).max(MIN_CWND)
    }
}

impl Bbr3 {
    /// Once a round trip, lowers the bounds towards the latest delivery if there was loss outside a probe (section
    /// 5.5.10.3).
    pub(super) fn adapt_short_term(&mut self, cwnd: f64) {
        let lost = std::mem::take(&mut self.bounds.lost_in_round);
        if !lost || self.state.accelerates() {
            return;
        }
        let greatest = self.greatest_bw();
        let bounds = &mut self.bounds;
        let or = |bound: f64, first: f64| if bound.is_finite() { bound } else { first };
        bounds.bw_shortterm = bounds.bw_latest.max(BETA * or(bounds.bw_shortterm, greatest));
        let inflight = BETA * or(bounds.inflight_shortterm, cwnd);
        bounds.inflight_shortterm = inflight.max(f64::from(bounds.inflight_latest));
    }
}
