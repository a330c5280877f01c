//! The sending side of TFRC: turns reports into a rate, and the rate into send times (RFC 5348, section 4).
//!
//! - Before the first loss, the rate doubles each round trip (slow start). Afterwards it is the rate of the equation.
//! - In both cases it is at most twice the rate that the receiver reports (`recv_limit`).
//! - A report also restarts the nofeedback timer. If that timer expires, the rate is halved (section 4.4).
//! - While the round-trip time is above its mean, packets leave more slowly (section 4.5).

use std::collections::VecDeque;

use aqm::{Span, Time};
use headgate_measure::SenderState;

use super::data_limited::DataLimited;
use super::receive_rates::ReceiveRates;
use super::{TfrcData, TfrcReport, TfrcSettings, packets_a_round_trip};

/// The longest time between two packets in seconds (`t_mbi`, section 4.3).
const MAX_BACKOFF: f64 = 64.0;

/// The nofeedback timer before the first report (section 4.2).
const INITIAL_TIMEOUT: Span = Span::from_secs(2);

/// The weight of the old value in the averages of round-trip times (`q`, section 4.3) and of their square roots
/// (`q2`, section 4.5).
const MEMORY: f64 = 0.9;

/// The sending side of one flow.
///
/// Packets leave `t_ipi = s / X_inst` apart (section 4.6). The clock is exact, so there is no `t_delta`. A late packet
/// is not followed by a burst.
#[derive(Clone, Debug)]
pub struct TfrcSender {
    /// The allowed rate `X`, in bytes per second.
    rate: f64,
    /// `X_inst / X`: below 1 while the round-trip time is above its mean (section 4.5).
    damping: f64,
    rtt: Option<RoundTrip>,
    /// The loss event rate last reported, and the receive rate in bytes per second.
    loss: f64,
    receive_rate: Option<f64>,
    receive_rates: ReceiveRates,
    /// When the rate was last doubled in slow start (`tld`).
    doubled_at: Time,
    /// The nofeedback timer; [`Time::NEVER`] before anything was sent.
    timer: Time,
    /// Nothing was sent since the timer was set.
    idle: bool,
    /// Expirations of the timer.
    timeouts: u32,
    limited: DataLimited,
    /// When the last packet was sent.
    last_sent: Option<Time>,
    /// Send and round-trip times of the packets that a report can still name. The last is number `next - 1`.
    sent: VecDeque<(Time, Span)>,
    next: u32,
}

/// Averages of the round-trip time, in seconds.
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    /// `R`.
    mean: f64,
    /// `R_sqmean`.
    root_mean: f64,
}

impl RoundTrip {
    fn updated(before: Option<RoundTrip>, sample: f64) -> RoundTrip {
        let Some(RoundTrip { mean, root_mean }) = before else {
            return RoundTrip { mean: sample, root_mean: sample.sqrt() };
        };
        RoundTrip {
            mean: MEMORY * mean + (1.0 - MEMORY) * sample,
            root_mean: MEMORY * root_mean + (1.0 - MEMORY) * sample.sqrt(),
        }
    }
}

impl TfrcSender {
    /// A sender that has sent nothing: one packet a second until it knows the round-trip time (section 4.2).
    pub fn new(config: &TfrcSettings) -> TfrcSender {
        TfrcSender {
            rate: f64::from(config.segment),
            damping: 1.0,
            rtt: None,
            loss: 0.0,
            receive_rate: None,
            receive_rates: ReceiveRates::unbounded(Time::ZERO),
            doubled_at: Time::ZERO,
            timer: Time::NEVER,
            idle: false,
            timeouts: 0,
            limited: DataLimited::default(),
            last_sent: None,
            sent: VecDeque::new(),
            next: 0,
        }
    }

    /// Packets sent so far.
    pub fn sent(&self) -> u32 {
        self.next
    }

    /// The allowed rate `X` in bytes per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The smoothed round-trip time; `None` before the first sample.
    pub fn rtt(&self) -> Option<Span> {
        self.rtt.map(|rtt| Span::from_secs_f64(rtt.mean))
    }

    /// Expirations of the nofeedback timer.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// The state for traces.
    pub fn state(&self) -> SenderState {
        SenderState {
            srtt: self.rtt(),
            phase: if self.loss > 0.0 { "avoidance" } else { "slow_start" },
            timeouts: self.timeouts,
            rate_bps: Some(8.0 * self.rate),
            receive_rate_bps: self.receive_rate.map(|rate| 8.0 * rate),
            loss_event_rate: Some(self.loss),
            ..SenderState::default()
        }
    }

    /// When the last packet was sent, if any.
    pub fn last_sent(&self) -> Option<Time> {
        self.last_sent
    }

    /// When the next packet may leave; at once if none was sent yet.
    pub fn next_send_time(&self, config: &TfrcSettings) -> Time {
        let instant = (self.rate * self.damping).max(min_rate(config));
        self.last_sent.map_or(Time::ZERO, |last| last + Span::from_secs_f64(f64::from(config.segment) / instant))
    }

    /// Sends a packet at `now`, no earlier than [`next_send_time`](TfrcSender::next_send_time). With `allowance_used`
    /// the allowed rate delayed the packet, not the application.
    pub fn send(&mut self, allowance_used: bool, now: Time) -> TfrcData {
        if self.last_sent.is_none() {
            self.timer = now + INITIAL_TIMEOUT;
        }
        if allowance_used {
            self.limited.on_allowance_used(now);
        }
        let data = TfrcData { seq: self.next, rtt: self.rtt().unwrap_or(Span::ZERO) };
        self.last_sent = Some(now);
        self.idle = false;
        self.sent.push_back((now, data.rtt));
        self.next += 1;
        data
    }

    /// The contents of packet `seq`, since a simulated packet holds only that number. Its round-trip time is zero once
    /// a report has named a later packet.
    pub fn sent_data(&self, seq: u32) -> TfrcData {
        let kept_from = self.next - self.sent.len() as u32;
        let kept = seq.checked_sub(kept_from).and_then(|at| self.sent.get(at as usize));
        TfrcData { seq, rtt: kept.map_or(Span::ZERO, |(_, rtt)| *rtt) }
    }

    /// When the nofeedback timer expires: call [`on_timer`](TfrcSender::on_timer) then.
    pub fn deadline(&self) -> Option<Time> {
        (self.timer != Time::NEVER).then_some(self.timer)
    }

    /// Processes a report (section 4.3). Ignores a report that a later one has overtaken.
    pub fn on_feedback(&mut self, feedback: TfrcReport, config: &TfrcSettings, now: Time) {
        let Some(sent) = self.take_sent(feedback.seq) else { return };
        let sample = (now - sent - feedback.delay).as_secs_f64().max(1e-9);
        let known = self.rtt.is_some();
        let RoundTrip { mean, root_mean } = *self.rtt.insert(RoundTrip::updated(self.rtt, sample));
        let timeout = (4.0 * mean).max(2.0 * f64::from(config.segment) / self.rate);
        let limited = self.limited.on_feedback(sent, now);
        let rose = feedback.loss > self.loss;
        (self.loss, self.receive_rate) = (feedback.loss, Some(feedback.rate));
        if known {
            let receive_limit = self.receive_limit(feedback.rate, limited, rose, now);
            self.update_rate(receive_limit, config, now);
        } else {
            self.enter_slow_start(config, now);
        }
        self.damping = root_mean / sample.sqrt();
        self.timer = now + Span::from_secs_f64(timeout);
        self.idle = true;
    }

    /// Handles the nofeedback timer if it has expired: without reports the rate is halved (section 4.4).
    pub fn on_timer(&mut self, config: &TfrcSettings, now: Time) {
        if now < self.timer {
            return;
        }
        self.timeouts += 1;
        self.cut_rate(config, now);
        let four_round_trips = self.rtt.map_or(0.0, |rtt| 4.0 * rtt.mean);
        self.timer = now + Span::from_secs_f64(four_round_trips.max(2.0 * f64::from(config.segment) / self.rate));
        self.idle = true;
    }

    /// When the packet named by a report was sent; forgets earlier packets.
    fn take_sent(&mut self, seq: u32) -> Option<Time> {
        let kept_from = self.next - self.sent.len() as u32;
        if !(kept_from..self.next).contains(&seq) {
            return None;
        }
        self.sent.drain(..(seq - kept_from) as usize);
        self.sent.front().map(|(at, _)| *at)
    }

    /// Begins slow start at the first round-trip time (section 4.2).
    fn enter_slow_start(&mut self, config: &TfrcSettings, now: Time) {
        self.rate = self.initial_rate(config);
        self.doubled_at = now;
        self.receive_rates = ReceiveRates::unbounded(now);
    }

    /// `recv_limit`: the bound by the reported receive rates.
    fn receive_limit(&mut self, reported: f64, limited: bool, loss_rose: bool, now: Time) -> f64 {
        if !limited {
            let rtt = self.rtt().unwrap_or(Span::ZERO);
            self.receive_rates.update(reported, rtt, now);
            return 2.0 * self.receive_rates.max();
        }
        if !loss_rose {
            self.receive_rates.maximize(reported, now);
            return 2.0 * self.receive_rates.max();
        }
        self.receive_rates.halve();
        self.receive_rates.maximize(0.85 * reported, now);
        self.receive_rates.max()
    }

    /// Step 4 of section 4.3.
    fn update_rate(&mut self, receive_limit: f64, config: &TfrcSettings, now: Time) {
        let mean = self.rtt.map_or(0.0, |rtt| rtt.mean);
        if self.loss > 0.0 {
            self.rate = self.equation_rate(config).min(receive_limit).max(min_rate(config));
        } else if (now - self.doubled_at).as_secs_f64() >= mean {
            self.rate = (2.0 * self.rate).min(receive_limit).max(self.initial_rate(config));
            self.doubled_at = now;
        }
    }

    /// Cuts the rate when the nofeedback timer expires (section 4.4, step 1). The rate is not halved if the sender was
    /// silent throughout and its rate is near the initial one. The same holds before the first report, which the RFC
    /// does not cover.
    fn cut_rate(&mut self, config: &TfrcSettings, now: Time) {
        let receive_rates = self.receive_rates.max();
        let recover = self.initial_rate(config);
        let modest = if self.loss > 0.0 { receive_rates < recover } else { self.rate < 2.0 * recover };
        if self.idle && modest {
            return;
        }
        if self.loss == 0.0 {
            self.rate = (self.rate / 2.0).max(min_rate(config));
            return;
        }
        let limit = receive_rates.min(self.equation_rate(config) / 2.0).max(min_rate(config));
        self.receive_rates.replace(limit / 2.0, now);
        self.update_rate(limit, config, now);
    }

    /// `W_init / R` with the window of RFC 3390, and the `recover_rate` of section 4.4. Unbounded before `R` is
    /// known.
    fn initial_rate(&self, config: &TfrcSettings) -> f64 {
        let window = (4 * config.segment).min((2 * config.segment).max(4380));
        self.rtt.map_or(f64::INFINITY, |rtt| f64::from(window) / rtt.mean)
    }

    /// `X_Bps`: the rate of the equation.
    fn equation_rate(&self, config: &TfrcSettings) -> f64 {
        let mean = self.rtt.map_or(f64::INFINITY, |rtt| rtt.mean);
        f64::from(config.segment) / mean * packets_a_round_trip(self.loss)
    }
}

/// The least rate in bytes per second: a packet every 64 seconds.
fn min_rate(config: &TfrcSettings) -> f64 {
    f64::from(config.segment) / MAX_BACKOFF
}
