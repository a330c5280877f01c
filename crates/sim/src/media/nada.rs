//! Network-Assisted Dynamic Adaptation (NADA, RFC 8698): the rate follows one congestion signal.
//!
//! The signal `x_curr` is the queueing delay, plus delays that stand for losses and marks. While there is neither loss
//! nor queue, the rate ramps up beyond the receive rate. Else it moves so that in the steady state the signal is
//! `XREF` x `RMAX` / rate: a flow with a lower rate accepts a longer queue, and flows that share a link get equal rates.
//!
//! | RFC 8698 | here |
//! | --- | --- |
//! | x_curr (4.2, equations 1 and 2) | `congestion_signal.rs` |
//! | r_recv over LOGWIN (4.2) | `receive_rate.rs` |
//! | r_ref (4.3, equations 3 to 7) | [`Nada::on_feedback`] |
//!
//! The sender computes everything, from reports about single packets (RFC 8698, section 5.3). The first rate is that of
//! the other controllers, not RMIN. The optional buffer that shapes the sending rate (5.2) is left out: packets leave as
//! WebRTC's pacer releases them, because a sender at the encoder's rate delays frames by more than the network does.

use aqm::{Span, Time};

use super::congestion_signal::CongestionSignal;
use super::receive_rate::ReceiveRate;
use super::{Feedback, PACING_FACTOR, RateBounds, RateController};

// Figure 3 of RFC 8698; times in seconds.
const PRIORITY: f64 = 1.0;
const REFERENCE: f64 = 0.010;
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU: f64 = 0.5;
const DELTA: f64 = 0.1;
const FILTER_DELAY: f64 = 0.12;
const MOST_RAMP_UP: f64 = 0.5;
const RAMP_UP_QUEUE: f64 = 0.050;
const QUEUE_BUILDS_UP: Span = Span::from_millis(10);

/// Reports that come faster are taken together: half of DELTA.
const LEAST_INTERVAL: Span = Span::from_millis(50);

pub struct Nada {
    bounds: RateBounds,
    /// r_ref.
    rate: f64,
    signal: CongestionSignal,
    /// x_prev in seconds.
    earlier_signal: f64,
    received: ReceiveRate,
    /// When the first packet arrived, and when the rate was last computed.
    began: Option<Time>,
    updated: Option<Time>,
    rtt: Span,
}

impl Nada {
    pub fn new(bounds: RateBounds) -> Nada {
        Nada {
            bounds,
            rate: bounds.first(),
            signal: CongestionSignal::new(),
            earlier_signal: 0.0,
            received: ReceiveRate::default(),
            began: None,
            updated: None,
            rtt: Span::from_millis(100),
        }
    }

    /// Equations 3 and 4: the queue that a ramp-up makes before the sender notices stays below QBOUND.
    fn ramp_up(&mut self, received: f64) {
        let gamma = MOST_RAMP_UP.min(RAMP_UP_QUEUE / (self.rtt.as_secs_f64() + DELTA + FILTER_DELAY));
        self.rate = self.rate.max((1.0 + gamma) * received);
    }

    /// Equations 5 to 7, `interval` seconds after the last update.
    fn follow_signal(&mut self, signal: f64, interval: f64) {
        let offset = signal - PRIORITY * REFERENCE * self.bounds.most / self.rate;
        let change = signal - self.earlier_signal;
        let step = KAPPA * (interval / TAU) * (offset / TAU) + KAPPA * ETA * (change / TAU);
        self.rate -= step * self.rate;
    }
}

impl RateController for Nada {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, now: Time) {
        self.rtt = feedback.rtt.unwrap_or(self.rtt);
        for packet in feedback.packets {
            if let Some(arrived) = packet.arrived {
                self.began.get_or_insert(arrived);
                self.received.add(arrived, packet.bytes);
            }
        }
        self.signal.on_feedback(feedback, self.rtt, QUEUE_BUILDS_UP, now);
        let updated = *self.updated.get_or_insert(now);
        if now < updated + LEAST_INTERVAL {
            return;
        }
        self.updated = Some(now);
        let signal = self.signal.value();
        match self.began.and_then(|began| self.received.bytes_per_second(began)) {
            Some(received) if self.signal.is_clear(now) => self.ramp_up(received),
            _ => self.follow_signal(signal, (now - updated).as_secs_f64()),
        }
        self.earlier_signal = signal;
        self.rate = self.bounds.clamp(self.rate);
    }

    fn target(&self) -> f64 {
        self.rate
    }

    fn pacing_rate(&self) -> f64 {
        PACING_FACTOR * self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RMIN and RMAX of figure 3: 150 kbit/s and 1.5 Mbit/s.
    fn nada(rate: f64) -> Nada {
        Nada { rate, ..Nada::new(RateBounds { least: 18_750.0, most: 187_500.0 }) }
    }

    #[test]
    fn the_ramp_up_is_bounded_by_the_queue_it_may_make() {
        // rtt 180 ms: 50 / (180 + 100 + 120) = 0.125. rtt 0: 50 / 220 = 0.22727.
        for (rtt, factor) in [(180, 1.125), (0, 1.227_272_7)] {
            let mut nada = nada(20_000.0);
            nada.rtt = Span::from_millis(rtt);
            nada.ramp_up(40_000.0);
            assert!((nada.rate - 40_000.0 * factor).abs() < 0.01, "{}", nada.rate);
            nada.ramp_up(10_000.0);
            assert!((nada.rate - 40_000.0 * factor).abs() < 0.01, "it never falls");
        }
    }

    #[test]
    fn the_gradual_update_is_equations_5_to_7() {
        // r_ref 750 kbit/s: the reference signal is 10 ms x 1500 / 750 = 20 ms. With x_curr = 45 ms and x_prev = 35 ms
        // after 100 ms: 0.5 x 0.2 x 25/500 + 0.5 x 2 x 10/500 = 0.005 + 0.02.
        let mut nada = nada(93_750.0);
        nada.earlier_signal = 0.035;
        nada.follow_signal(0.045, 0.1);
        assert!((nada.rate - 93_750.0 * 0.975).abs() < 1e-6, "{}", nada.rate);
    }

    #[test]
    fn at_its_reference_signal_the_rate_stays() {
        let mut nada = nada(93_750.0);
        nada.earlier_signal = 0.020;
        nada.follow_signal(0.020, 0.1);
        assert!((nada.rate - 93_750.0).abs() < 1e-9);
    }
}
