//! Vegas: keeps a few packets of its own in the queue, which it infers from round-trip times.
//!
//! L. S. Brakmo, L. L. Peterson, *TCP Vegas: End to End Congestion Avoidance on a Global Internet*, IEEE Journal on
//! Selected Areas in Communications 13(8), 1995, section III; Linux 6.1, `net/ipv4/tcp_vegas.c`.
//!
//! The minimum round-trip time is the path's delay without a queue. A window of `cwnd` segments could leave at `cwnd` /
//! BaseRTT, but leaves at `cwnd` / RTT. The difference times BaseRTT is the number of the flow's segments in queues.
//! Once a round trip, the window grows by a segment if they are fewer than alpha, and shrinks by one if they are more
//! than beta. Slow start doubles the window every other round. In between the window stands still, so that its round
//! trips can be compared. More than gamma segments in queues end slow start.
//!
//! | paper | here |
//! | --- | --- |
//! | BaseRTT | `base_rtt` |
//! | RTT of the distinguished segment | `last_rtt` at the end of a round, measured on the first segment sent in the round |
//! | (Expected - Actual) x BaseRTT | [`queued`] |
//! | alpha, beta, gamma | the settings `vegas_alpha`, `vegas_beta`, `vegas_gamma` |
//!
//! The paper also detects losses by fine-grained timeouts. Here the group's `recovery` detects them, as in Linux. The
//! window then reacts as Reno's until the data outstanding at that time is acknowledged. Marks, which the paper does
//! not treat, count as losses.
//!
//! With `vegas_linux` the window moves as in Linux:
//!
//! - Slow start grows in each round. At its end the window falls to the measured rate times BaseRTT.
//! - RTT is the minimum of a round. If the round has fewer than three samples, the window moves as Reno's.
//! - The difference of the rates is multiplied by RTT, not BaseRTT, and rounded down.
//! - BaseRTT is measured anew after an idle time.

use aqm::{Span, Time};

use super::reno::Reno;
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// The least window. Fewer segments give too few samples (Linux).
const MIN_CWND: f64 = 2.0;

/// The samples that a round of Linux needs: two can both be of delayed ACKs.
const MIN_SAMPLES: u32 = 3;

#[derive(Clone, Debug, Default)]
pub struct Vegas {
    base_rtt: Option<Span>,
    last_rtt: Option<Span>,
    /// The minimum of the current round.
    round_rtt: Option<Span>,
    /// Round-trip samples in the current round.
    samples: u32,
    /// The round ends when this segment is acknowledged; `None` if the next ACK begins a round.
    round_end: Option<u32>,
    /// Slow start grows in the current round.
    doubling: bool,
    /// The end of the data that was outstanding at the last loss, timeout or mark.
    reacting_until: u32,
    /// After an idle time, measure BaseRTT anew.
    renews_base: bool,
}

/// The flow's segments in queues: `cwnd` less the segments that the path holds without a queue.
fn queued(cwnd: f64, base: Span, rtt: Span) -> f64 {
    cwnd * excess(base, rtt) / seconds(rtt)
}

/// The same as Linux computes it, which is larger by the ratio of RTT to BaseRTT.
fn queued_in_linux(cwnd: f64, base: Span, rtt: Span) -> f64 {
    libm::floor(cwnd * excess(base, rtt) / seconds(base))
}

fn excess(base: Span, rtt: Span) -> f64 {
    (rtt - base).as_secs_f64()
}

/// A divisor: never zero.
fn seconds(span: Span) -> f64 {
    span.max(Span::from_nanos(1)).as_secs_f64()
}

impl Vegas {
    pub fn new(config: &TcpSettings) -> Vegas {
        Vegas { renews_base: config.vegas_linux, ..Vegas::default() }
    }

    fn sample(&mut self, rtt: Span) {
        let least = |old: Option<Span>| old.map_or(rtt, |old| old.min(rtt));
        (self.base_rtt, self.round_rtt) = (Some(least(self.base_rtt)), Some(least(self.round_rtt)));
        self.last_rtt = Some(rtt);
        self.samples += 1;
    }

    fn begin_round(&mut self, next_new: u32) {
        (self.round_end, self.round_rtt, self.samples) = (Some(next_new), None, 0);
    }

    /// Forgets the current round: the next ACK begins one.
    fn restart(&mut self) {
        (self.round_end, self.doubling) = (None, false);
    }

    /// Moves the window at the end of a round. `ack` is the first acknowledgement of the next round.
    fn adjust(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if config.vegas_linux {
            return self.adjust_as_linux(ack, window, config);
        }
        let (Some(base), Some(rtt)) = (self.base_rtt, self.last_rtt) else { return };
        let queued = queued(window.cwnd(), base, rtt);
        if !window.in_slow_start() {
            return avoid_congestion(queued, ack, window, config);
        }
        self.doubling = !self.doubling;
        if self.doubling && queued > config.vegas_gamma {
            self.doubling = false;
            window.ssthresh = window.cwnd();
        }
        self.grow_in_slow_start(ack, window, config);
    }

    fn adjust_as_linux(&self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        let (Some(base), Some(rtt), MIN_SAMPLES..) = (self.base_rtt, self.round_rtt, self.samples) else {
            return Reno.on_ack(ack, window, config);
        };
        let queued = queued_in_linux(window.cwnd(), base, rtt);
        if !window.in_slow_start() {
            avoid_congestion(queued, ack, window, config);
        } else if queued > config.vegas_gamma {
            let path = libm::floor(window.cwnd() * seconds(base) / seconds(rtt)) + 1.0;
            window.set_cwnd(path.min(window.cwnd()).max(MIN_CWND), ack.now);
            window.ssthresh = window.ssthresh.min(window.cwnd());
        } else {
            Reno.on_ack(ack, window, config);
        }
    }

    fn grow_in_slow_start(&self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if window.in_slow_start() && (self.doubling || config.vegas_linux) {
            Reno.on_ack(ack, window, config);
        }
    }
}

/// Congestion avoidance: a segment more or less, or the same window.
fn avoid_congestion(queued: f64, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
    if queued > config.vegas_beta {
        window.set_cwnd((window.cwnd() - 1.0).max(MIN_CWND), ack.now);
        // Otherwise the smaller window would be in slow start.
        window.ssthresh = window.ssthresh.min(window.cwnd());
    } else if queued < config.vegas_alpha {
        window.grow(1.0, config, ack.now);
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt);
        }
        if ack.ack < self.reacting_until {
            self.restart();
            return Reno.on_ack(ack, window, config);
        }
        let begins = self.round_end.is_none_or(|end| ack.ack > end);
        if ack.may_grow && begins && self.round_end.is_some() {
            self.adjust(ack, window, config);
        } else if ack.may_grow {
            self.grow_in_slow_start(ack, window, config);
        }
        if begins {
            self.begin_round(ack.next_new);
        }
    }

    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.reacting_until = ack.next_new;
        Reno.on_echo(ack, window, config);
    }

    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.reacting_until = loss.next_new;
        Reno.on_loss(loss, window, config);
    }

    fn on_resume(&mut self, _: Time, _: &mut CongestionWindow) {
        self.restart();
        if self.renews_base {
            self.base_rtt = None;
        }
    }
}
