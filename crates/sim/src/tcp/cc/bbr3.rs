//! BBR, version 3: the model of [version 1](super::bbr), bounded by loss.
//!
//! Bandwidth times delay is what the path holds (BDP). Loss adds bounds. Long-term bounds are found while probing;
//! short-term bounds hold until the next probe. Probes are rarer than in version 1: every two or three seconds, or as
//! often as a Reno flow would lose. A probe ends when more than 2 % of the segments are lost.
//!
//! | state | what the flow does | until |
//! | --- | --- | --- |
//! | Startup | doubles its rate each round trip | the bandwidth stops growing, or loss is high |
//! | Drain | sends slowly to empty the queue | the flight is one BDP |
//! | Down | sends less than the bandwidth | the queue is gone and headroom is left |
//! | Cruise | sends at the bandwidth, below the long-term bound | it is time to probe |
//! | Refill | fills the path, without short-term bounds | one round trip has passed |
//! | Up | sends faster and raises the long-term bound | loss is too high or the bandwidth stops growing |
//! | ProbeRTT | keeps half the BDP in flight for 200 ms | the delay is measured |
//!
//! Down, Cruise, Refill and Up are the cycle of ProbeBW (`probe_bw.rs`). Bounds are in `bounds.rs`, rate and window in
//! `controls.rs`.
//!
//! Sources: N. Cardwell, I. Swett, J. Beshay (editors), "BBR Congestion Control", draft-ietf-ccwg-bbr-06 (cited as
//! "draft"). Where the draft is silent: Google's Linux, `net/ipv4/tcp_bbr.c`, branch v3 ("Linux").
//!
//! | draft | here |
//! | --- | --- |
//! | max_bw, bw | `max_bw` (two cycles), `bw` |
//! | bw_shortterm, inflight_shortterm, inflight_longterm | the same in [`LossBounds`] |
//! | full_bw_reached, full_bw_now | `pipe_filled`, `full_pipe` |
//! | probe_rtt_min_delay, probe_rtt_min_stamp | `probe_rtt_min`, `probe_rtt_min_at` |
//! | ack_phase, of which only ACKS_PROBE_STOPPING has consequences | `probe_stopping` |
//! | is_bw_probe_sample | `probe_sample` |
//!
//! Deviations: the draft is unfinished. It only requires that marks count as congestion (section 3.7), so an echo
//! counts here as loss above the threshold. Linux's answer to shallow marks (`ecn_alpha`) is left out. Without
//! segmentation offload the send quantum is one segment. Spurious recoveries are not detected, so nothing is undone
//! (section 5.5.11). As in Linux, there is no packet conservation in a recovery. Where draft and Linux differ, for
//! example in the gains of Drain and DOWN, this file follows the draft.

mod bounds;
mod controls;
mod probe_bw;
mod probe_rtt;

use aqm::{Rng, Span, Time};

use super::path::{AggregationSample, ExtraAcked, FullPipe, Rounds, SelfLimitedSpan};
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo, LostSegment};
use crate::tcp::TcpSettings;
use crate::tcp::rate_sample::RateSample;
use bounds::LossBounds;

/// The greatest loss rate of a round trip while probing (section 2.8).
const LOSS_THRESHOLD: f64 = 0.02;
/// The factor that loss applies to the bounds (section 2.8).
const BETA: f64 = 0.7;
/// The share of `inflight_longterm` left to other flows (section 2.8).
const HEADROOM: f64 = 0.15;
/// The smallest window: keeps a path with delayed ACKs busy (section 2.8).
const MIN_CWND: f64 = 4.0;
/// Pacing stays 1 % below the bandwidth (section 2.5).
const MARGIN: f64 = 0.99;
/// Runs of lost segments in a round trip that end Startup (section 5.3.1.3).
const STARTUP_LOSSES: u32 = 6;
/// The longest Drain, in round trips (section 5.3.2).
const DRAIN_ROUNDS: u32 = 3;
/// The round trip assumed before one is known (section 5.6.2).
const NOMINAL_RTT: Span = Span::from_millis(1);

/// The state of the flow (section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bbr3State {
    /// Doubles its rate each round trip to find the bandwidth.
    Startup,
    /// Drains the queue that Startup built.
    Drain,
    /// ProbeBW: sends less than the bandwidth until the queue is gone.
    Down,
    /// ProbeBW: sends at the bandwidth, with some headroom.
    Cruise,
    /// ProbeBW: fills the path again, for a round trip.
    Refill,
    /// ProbeBW: probes for more.
    Up,
    /// Keeps half the BDP in flight, to measure the delay without the flow's own queue.
    ProbeRtt,
}

impl Bbr3State {
    /// Gains of pacing rate and window (section 5.6.1).
    const fn gains(self) -> (f64, f64) {
        match self {
            Bbr3State::Startup => (2.77, 2.0),
            Bbr3State::Drain => (0.5, 2.0),
            Bbr3State::Down => (0.9, 2.0),
            Bbr3State::Cruise | Bbr3State::Refill => (1.0, 2.0),
            Bbr3State::Up => (1.25, 2.25),
            Bbr3State::ProbeRtt => (1.0, 0.5),
        }
    }

    /// Whether it is one of the four states of ProbeBW.
    const fn probes_bw(self) -> bool {
        matches!(self, Bbr3State::Down | Bbr3State::Cruise | Bbr3State::Refill | Bbr3State::Up)
    }

    /// Whether the flow sends more than the path may hold: a loss then lowers no short-term bound (`IsProbingBW`).
    const fn accelerates(self) -> bool {
        matches!(self, Bbr3State::Startup | Bbr3State::Refill | Bbr3State::Up)
    }
}

#[derive(Clone, Debug)]
pub struct Bbr3 {
    state: Bbr3State,
    rounds: Rounds,
    /// The greatest delivery rates of the last and the current cycle of ProbeBW.
    max_bw: [f64; 2],
    /// `max_bw` within its bounds, in segments a second.
    bw: f64,
    bounds: LossBounds,
    full_pipe: FullPipe,
    /// The pipe has been full once.
    pipe_filled: bool,
    drain_round: u32,
    extra: ExtraAcked,
    // The minimum round-trip times, and ProbeRTT; `None` before the first sample.
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    probe_rtt_min: Option<Span>,
    probe_rtt_min_at: Time,
    probe_rtt_ends: Option<Time>,
    /// A round trip has passed since ProbeRTT brought the flight down.
    probe_rtt_round: bool,
    self_limited: SelfLimitedSpan,
    /// The flow resumed after idle time and has had no acknowledgement since.
    idle_restart: bool,
    // The cycle of ProbeBW.
    /// Acknowledgements cover data that was sent while probing.
    probe_sample: bool,
    /// The probe is over, but its last acknowledgements have not arrived.
    probe_stopping: bool,
    /// Loss ended the last probe.
    prev_too_high: bool,
    /// The last probe ended early, at a flight that had caused loss before.
    prev_precautionary: bool,
    /// When the cycle began, and the longest time from then to its probe.
    cycle_at: Time,
    wait: Span,
    /// Round trips since the last probe, plus a random 0 or 1.
    rounds_since_up: u32,
    /// Doublings of the slope of `inflight_longterm` in this probe.
    up_rounds: u32,
    /// Segments acknowledged since that bound last rose, and the number that raises it by one.
    up_acked: f64,
    up_acked_per_segment: f64,
    // Controls.
    /// The recovery ends when this segment is acknowledged.
    recover: Option<u32>,
    prior_cwnd: f64,
    initial_window: f64,
    /// Segments that the flow had delivered before this connection began; `None` before the first sample.
    delivered_before: Option<u32>,
    pacing_rate: f64,
    delivered: u32,
    rng: Rng,
}

impl Bbr3 {
    pub fn new(config: &TcpSettings) -> Bbr3 {
        let initial_window = f64::from(config.initial_window);
        Bbr3 {
            state: Bbr3State::Startup,
            rounds: Rounds::default(),
            max_bw: [0.0; 2],
            bw: 0.0,
            bounds: LossBounds::default(),
            full_pipe: FullPipe::default(),
            pipe_filled: false,
            drain_round: 0,
            extra: ExtraAcked::new(Time::ZERO),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_min: None,
            probe_rtt_min_at: Time::ZERO,
            probe_rtt_ends: None,
            probe_rtt_round: false,
            self_limited: SelfLimitedSpan::default(),
            idle_restart: false,
            probe_sample: false,
            probe_stopping: false,
            prev_too_high: false,
            prev_precautionary: false,
            cycle_at: Time::ZERO,
            wait: Span::ZERO,
            rounds_since_up: 0,
            up_rounds: 0,
            up_acked: 0.0,
            up_acked_per_segment: f64::INFINITY,
            recover: None,
            prior_cwnd: 0.0,
            initial_window,
            delivered_before: None,
            pacing_rate: Bbr3State::Startup.gains().0 * initial_window / NOMINAL_RTT.as_secs_f64(),
            delivered: 0,
            rng: Rng::new(0),
        }
    }

    fn on_sample(&mut self, sample: &RateSample, cwnd: &mut f64) {
        self.delivered = sample.total_delivered;
        self.bounds.on_ack(sample);
        self.update_max_bw(sample);
        if self.bounds.round_started {
            self.adapt_short_term(*cwnd);
        }
        self.update_aggregation(sample, *cwnd);
        self.check_full_pipe(sample);
        self.check_startup_done(sample);
        self.check_drain_done(sample);
        self.update_probe_bw(sample, *cwnd);
        let expired = self.update_min_rtt(sample);
        self.check_probe_rtt(sample, expired, cwnd);
        self.bounds.end_ack(sample);
        self.bw = self.greatest_bw().min(self.bounds.bw_shortterm);
        self.set_pacing_rate(self.state.gains().0);
        self.set_cwnd(sample, cwnd);
    }

    fn greatest_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    fn is_app_limited(&self, sample: &RateSample) -> bool {
        sample.at_send.app_limited || self.self_limited.covers(sample.at_send.delivered)
    }

    /// Section 5.5.5.
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.rounds.on_ack(sample.at_send.delivered, sample.total_delivered);
        self.rounds_since_up += u32::from(self.rounds.started());
        if let Some(rate) = sample.rate()
            && (rate >= self.greatest_bw() || !self.is_app_limited(sample))
        {
            self.max_bw[1] = self.max_bw[1].max(rate);
        }
    }

    fn update_aggregation(&mut self, sample: &RateSample, cwnd: f64) {
        self.extra.on_ack(&AggregationSample {
            segments: sample.newly_delivered,
            now: sample.at,
            round: self.rounds.count(),
            bandwidth: self.bw,
            cwnd,
            pipe_filled: self.pipe_filled,
        });
    }

    /// Section 5.3.1.2.
    fn check_full_pipe(&mut self, sample: &RateSample) {
        let Some(rate) = sample.rate() else { return };
        if self.rounds.started() && !self.is_app_limited(sample) {
            self.pipe_filled |= self.full_pipe.on_round(rate);
        }
    }

    /// Sections 5.3.1.1 and 5.3.1.3.
    fn check_startup_done(&mut self, sample: &RateSample) {
        if self.state != Bbr3State::Startup {
            return;
        }
        let lossy = self.bounds.round_started && self.recover.is_some() && self.bounds.last_runs >= STARTUP_LOSSES;
        if lossy && too_high(sample.lost, sample.at_send.in_flight) {
            self.leave_startup();
        }
        if self.pipe_filled {
            self.state = Bbr3State::Drain;
            self.drain_round = self.rounds.count();
        }
    }

    /// Ends Startup because too much was in flight, and sets the long-term bound.
    fn leave_startup(&mut self) {
        self.pipe_filled = true;
        self.bounds.inflight_longterm = self.bdp(1.0).max(f64::from(self.bounds.inflight_latest)).floor();
    }

    /// Section 5.3.2.
    fn check_drain_done(&mut self, sample: &RateSample) {
        let drained = f64::from(sample.in_flight) <= self.inflight(1.0);
        if self.state == Bbr3State::Drain && (drained || self.rounds.count() > self.drain_round + DRAIN_ROUNDS) {
            self.start_down(sample.total_delivered, sample.at);
        }
    }
}

impl CongestionControl for Bbr3 {
    /// Section 5.2.3.
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        let mut cwnd = window.cwnd();
        if self.recover.take_if(|recover| ack.ack >= *recover).is_some() {
            cwnd = cwnd.max(self.prior_cwnd);
        }
        if let Some(sample) = &ack.rate_sample {
            self.on_sample(sample, &mut cwnd);
        }
        window.set_cwnd(cwnd, ack.now);
    }

    /// Marks count as loss beyond the threshold (section 3.7).
    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        self.bounds.note_mark(self.delivered);
        if self.state == Bbr3State::Startup && !self.pipe_filled {
            self.leave_startup();
        } else if let Some(sample) = &ack.rate_sample
            && self.probe_sample
        {
            let in_flight = f64::from(sample.at_send.in_flight);
            self.on_inflight_too_high(
                in_flight,
                sample.at_send.app_limited,
                sample.total_delivered,
                ack.now,
                window.cwnd(),
            );
        }
    }

    /// The window stays: the bounds answer the loss (section 5.6.4.4).
    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        self.save_cwnd(window.cwnd());
        self.recover = Some(loss.next_new);
    }

    /// One segment may be sent (section 5.6.4.4). As in Linux (`bbr_set_state`), the short-term bound starts from the
    /// previous window, and the search for a plateau restarts.
    fn on_timeout(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.on_loss(loss, window, config);
        self.full_pipe = FullPipe::default();
        if !self.state.accelerates() && self.bounds.inflight_shortterm.is_infinite() {
            self.bounds.inflight_shortterm = self.prior_cwnd;
        }
        window.set_cwnd(1.0, loss.now);
    }

    /// Section 5.5.10.2.
    fn on_segment_lost(&mut self, lost: &LostSegment, window: &CongestionWindow) {
        self.bounds.note_loss(lost);
        let since = lost.lost - lost.at_send.lost;
        if self.probe_sample && too_high(since, lost.at_send.in_flight) {
            let in_flight = inflight_at_loss(lost.at_send.in_flight, since);
            self.on_inflight_too_high(in_flight, lost.at_send.app_limited, lost.delivered, lost.now, window.cwnd());
        }
    }

    /// Section 5.4.1.
    fn on_resume(&mut self, now: Time, window: &mut CongestionWindow) {
        self.idle_restart = true;
        self.extra.restart(now);
        if self.state.probes_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == Bbr3State::ProbeRtt {
            let mut cwnd = window.cwnd();
            self.check_probe_rtt_done(self.delivered, now, &mut cwnd);
            window.set_cwnd(cwnd, now);
        }
    }

    /// The random stream draws the times between probes.
    fn seed(&mut self, rng: &mut Rng) {
        self.rng = Rng::new(rng.bits());
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    fn phase(&self) -> Option<&'static str> {
        Some(match self.state {
            Bbr3State::Startup => "startup",
            Bbr3State::Drain => "drain",
            Bbr3State::Down => "probe_down",
            Bbr3State::Cruise => "probe_cruise",
            Bbr3State::Refill => "probe_refill",
            Bbr3State::Up => "probe_up",
            Bbr3State::ProbeRtt => "probe_rtt",
        })
    }
}

/// `IsInflightTooHigh`, section 5.5.10.2.
fn too_high(lost: u32, inflight: u32) -> bool {
    f64::from(lost) > f64::from(inflight) * LOSS_THRESHOLD
}

/// The flight when losses passed the threshold (`InflightAtLoss`). The lost segment brought the flight to `in_flight`
/// and the losses to `lost`. If earlier losses had already passed it, the result is the flight without this segment, as
/// in Linux.
fn inflight_at_loss(in_flight: u32, lost: u32) -> f64 {
    let (before, lost_before) = (f64::from(in_flight) - 1.0, f64::from(lost) - 1.0);
    let prefix = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    before + prefix.max(0.0)
}

#[cfg(test)]
mod tests;
