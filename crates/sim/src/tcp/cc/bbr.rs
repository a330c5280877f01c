//! BBR, version 1: sends at the measured rate of the path instead of reacting to loss.
//!
//! The model has two estimates. The bottleneck bandwidth is the largest delivery rate of ten round trips. The path's
//! delay is the smallest round-trip time of ten seconds. Their product (BDP) is what the path holds without a queue.
//! Gains times the bandwidth and the BDP give the pacing rate and the window.
//!
//! | state | what the flow does | until |
//! | --- | --- | --- |
//! | Startup | doubles its rate each round trip | the bandwidth grows by less than 25 % in three round trips |
//! | Drain | sends slowly to empty the queue of Startup | the flight is one BDP |
//! | ProbeBW | cycles through the gains 1.25, 0.75 and six times 1 | the smallest round-trip time is ten seconds old |
//! | ProbeRTT | keeps four segments in flight for 200 ms | the delay is measured without the flow's own queue |
//!
//! Each acknowledgement carries a rate sample. It updates the model, then the state, then rate and window
//! (`controls.rs`). A loss only limits the window for one round trip (packet conservation).
//!
//! Sources: N. Cardwell, Y. Cheng, S. Hassas Yeganeh, V. Jacobson, "BBR Congestion Control",
//! draft-cardwell-iccrg-bbr-congestion-control-00, July 2017 (cited as "draft"); Linux 5.x, `net/ipv4/tcp_bbr.c`,
//! which came after it.
//!
//! | draft | here |
//! | --- | --- |
//! | BtlBw, BtlBwFilterLen | `bandwidth`, [`BANDWIDTH_ROUNDS`] |
//! | RTprop, rtprop_stamp | `min_rtt`, `min_rtt_at` |
//! | filled_pipe, full_bw | `pipe_filled`, `full_pipe` |
//! | cycle_index, cycle_stamp | `phase`, `phase_at` |
//! | packet_conservation | `conserving` |
//!
//! From Linux and not in the draft: pacing 1 % below the estimate, the allowance for aggregated acknowledgements, and
//! even windows. As in Linux, an equal round-trip time does not renew the minimum. Not taken from Linux: the detection
//! of policers (`lt_bw`), and the rejection of round trips lengthened by delayed ACKs (`is_ack_delayed`). Without
//! segmentation offload the send quantum is one segment. Marks are ignored, as in both sources.

mod controls;
mod probe_rtt;

use aqm::{Rng, Span, Time};

use super::path::{AggregationSample, ExtraAcked, FullPipe, MaxFilter, Rounds, SelfLimitedSpan};
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;
use crate::tcp::rate_sample::RateSample;

/// 2/ln 2: the least gain that lets the rate double each round trip (draft, section 4.3.2.1; Linux: 2885/1000).
const HIGH_GAIN: f64 = 2.885;
/// The gains of ProbeBW, each held for about a round trip (draft, section 4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Twice the BDP, so that delayed ACKs do not stall the sender.
const CWND_GAIN: f64 = 2.0;
/// The length of the bandwidth filter in round trips.
const BANDWIDTH_ROUNDS: u32 = 10;
/// The smallest window: keeps a path with delayed ACKs busy.
const MIN_CWND: f64 = 4.0;
/// Pacing stays 1 % below the bandwidth (Linux: `bbr_pacing_margin_percent`).
const MARGIN: f64 = 0.99;
/// The round trip assumed before one is known (draft, section 4.2.1).
const NOMINAL_RTT: Span = Span::from_millis(1);

/// The state of the flow (draft, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrState {
    /// Doubles its rate each round trip to find the bandwidth.
    Startup,
    /// Drains the queue that Startup built.
    Drain,
    /// Sends at the bandwidth and probes from time to time for more.
    ProbeBw,
    /// Keeps four segments in flight, to measure the path's delay without its own queue.
    ProbeRtt,
}

#[derive(Clone, Debug)]
pub struct Bbr {
    state: BbrState,
    rounds: Rounds,
    bandwidth: MaxFilter,
    /// `None` before the first sample.
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    full_pipe: FullPipe,
    /// The pipe has been full once.
    pipe_filled: bool,
    /// The current gain's index in [`CYCLE`], and the time when its phase began.
    phase: usize,
    phase_at: Time,
    /// When ProbeRTT may end; `None` while too much is in flight.
    probe_rtt_ends: Option<Time>,
    /// A round trip has passed since ProbeRTT brought the flight down.
    probe_rtt_round: bool,
    self_limited: SelfLimitedSpan,
    extra: ExtraAcked,
    /// The flow resumed after idle time and has had no acknowledgement since.
    idle_restart: bool,
    /// The recovery ends when this segment is acknowledged.
    recover: Option<u32>,
    conserving: bool,
    /// The window before a recovery or ProbeRTT cut it.
    prior_cwnd: f64,
    initial_window: f64,
    /// Segments that the flow had delivered before this connection began; `None` before the first sample.
    delivered_before: Option<u32>,
    pacing_rate: f64,
    /// Counts of the last acknowledgement: segments delivered so far, in flight after it, and newly delivered.
    last_ack: (u32, u32, u32),
    rng: Rng,
}

impl Bbr {
    pub fn new(config: &TcpSettings) -> Bbr {
        let initial_window = f64::from(config.initial_window);
        Bbr {
            state: BbrState::Startup,
            rounds: Rounds::default(),
            bandwidth: MaxFilter::new(0, 0.0),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            full_pipe: FullPipe::default(),
            pipe_filled: false,
            phase: 0,
            phase_at: Time::ZERO,
            probe_rtt_ends: None,
            probe_rtt_round: false,
            self_limited: SelfLimitedSpan::default(),
            extra: ExtraAcked::new(Time::ZERO),
            idle_restart: false,
            recover: None,
            conserving: false,
            prior_cwnd: 0.0,
            initial_window,
            delivered_before: None,
            pacing_rate: HIGH_GAIN * initial_window / NOMINAL_RTT.as_secs_f64(),
            last_ack: (0, 0, 0),
            rng: Rng::new(0),
        }
    }

    /// The bandwidth estimate in segments per second.
    fn bandwidth(&self) -> f64 {
        self.bandwidth.get()
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup => HIGH_GAIN,
            BbrState::Drain => 1.0 / HIGH_GAIN,
            BbrState::ProbeBw => CYCLE[self.phase],
            BbrState::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup | BbrState::Drain => HIGH_GAIN,
            BbrState::ProbeBw => CWND_GAIN,
            BbrState::ProbeRtt => 1.0,
        }
    }

    fn on_sample(&mut self, sample: &RateSample, cwnd: &mut f64) {
        self.last_ack = (sample.total_delivered, sample.in_flight, sample.newly_delivered);
        self.update_bandwidth(sample);
        self.update_aggregation(sample, *cwnd);
        if self.state == BbrState::ProbeBw && self.phase_ends(sample) {
            self.next_phase(sample.at);
        }
        self.check_full_pipe(sample);
        self.check_drain(sample);
        let expired = self.update_min_rtt(sample);
        self.check_probe_rtt(sample, expired, cwnd);
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(sample, cwnd);
    }

    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.rounds.on_ack(sample.at_send.delivered, sample.total_delivered);
        if self.rounds.started() {
            self.conserving = false;
        }
        if let Some(rate) = sample.rate()
            && (rate >= self.bandwidth() || !self.is_app_limited(sample))
        {
            self.bandwidth.update(BANDWIDTH_ROUNDS, self.rounds.count(), rate);
        }
    }

    fn is_app_limited(&self, sample: &RateSample) -> bool {
        sample.at_send.app_limited || self.self_limited.covers(sample.at_send.delivered)
    }

    fn update_aggregation(&mut self, sample: &RateSample, cwnd: f64) {
        self.extra.on_ack(&AggregationSample {
            segments: sample.newly_delivered,
            now: sample.at,
            round: self.rounds.count(),
            bandwidth: self.bandwidth(),
            cwnd,
            pipe_filled: self.pipe_filled,
        });
    }

    /// Draft, section 4.3.4.3: a phase lasts one minimum round-trip time. A probing phase also lasts until its target
    /// is in flight or proves too high. A draining phase ends early once the queue is gone.
    fn phase_ends(&self, sample: &RateSample) -> bool {
        let long = sample.at - self.phase_at > self.min_rtt.unwrap_or(Span::MAX);
        let gain = self.pacing_gain();
        let inflight = f64::from(sample.in_flight_before);
        if gain > 1.0 {
            long && (sample.newly_lost > 0 || inflight >= self.inflight(gain))
        } else {
            long || gain < 1.0 && inflight <= self.inflight(1.0)
        }
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_at = now;
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if !self.pipe_filled && self.rounds.started() && !self.is_app_limited(sample) {
            self.pipe_filled = self.full_pipe.on_round(self.bandwidth());
        }
    }

    fn check_drain(&mut self, sample: &RateSample) {
        if self.state == BbrState::Startup && self.pipe_filled {
            self.state = BbrState::Drain;
        }
        if self.state == BbrState::Drain && f64::from(sample.in_flight) <= self.inflight(1.0) {
            self.enter_probe_bw(sample.at);
        }
    }

    /// Begins with any phase but the second: draining needs a queue (draft, section 4.3.4.2).
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = BbrState::ProbeBw;
        self.phase = CYCLE.len() - 1 - self.rng.below(CYCLE.len() as u32 - 1) as usize;
        self.next_phase(now);
    }
}

impl CongestionControl for Bbr {
    /// Model, state, then controls (draft, section 3.5).
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        let mut cwnd = window.cwnd();
        if self.recover.take_if(|recover| ack.ack >= *recover).is_some() {
            self.conserving = false;
            cwnd = cwnd.max(self.prior_cwnd);
        }
        if let Some(sample) = &ack.rate_sample {
            self.on_sample(sample, &mut cwnd);
        }
        window.set_cwnd(cwnd, ack.now);
    }

    fn on_echo(&mut self, _: &AckInfo, _: &mut CongestionWindow, _: &TcpSettings) {}

    /// Packet conservation for one round trip (draft, section 4.2.3.4).
    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        let (delivered, in_flight, acked) = self.last_ack;
        self.save_cwnd(window.cwnd());
        (self.recover, self.conserving) = (Some(loss.next_new), true);
        self.rounds.restart(delivered);
        window.set_cwnd(f64::from(in_flight + acked.max(1)), loss.now);
    }

    fn on_timeout(&mut self, loss: &LossInfo, window: &mut CongestionWindow, _: &TcpSettings) {
        self.save_cwnd(window.cwnd());
        (self.recover, self.conserving) = (Some(loss.next_new), false);
        self.full_pipe = FullPipe::default(); // Linux, bbr_set_state: the old rate is no baseline after a timeout
        window.set_cwnd(1.0, loss.now);
    }

    /// Draft, section 4.3.4.4.
    fn on_resume(&mut self, now: Time, window: &mut CongestionWindow) {
        self.idle_restart = true;
        self.extra.restart(now);
        match self.state {
            BbrState::ProbeBw => self.set_pacing_rate(1.0),
            BbrState::ProbeRtt => {
                let mut cwnd = window.cwnd();
                self.check_probe_rtt_done(now, &mut cwnd);
                window.set_cwnd(cwnd, now);
            }
            BbrState::Startup | BbrState::Drain => {}
        }
    }

    /// The random stream draws the first phase of ProbeBW.
    fn seed(&mut self, rng: &mut Rng) {
        self.rng = Rng::new(rng.bits());
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    fn phase(&self) -> Option<&'static str> {
        Some(match self.state {
            BbrState::Startup => "startup",
            BbrState::Drain => "drain",
            BbrState::ProbeBw => "probe_bw",
            BbrState::ProbeRtt => "probe_rtt",
        })
    }
}

#[cfg(test)]
mod tests;
