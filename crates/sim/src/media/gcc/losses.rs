//! The loss-based rate (draft-ietf-rmcat-gcc-02, section 6, with the intervals of WebRTC's
//! `SendSideBandwidthEstimation`).
//!
//! Up to 2 % of lost packets the rate grows; above 10 % it falls by half of that part. Between them it stays. The
//! delay-based rate bounds it, so the lower of both is the target.

use std::collections::VecDeque;

use aqm::{Span, Time};

const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.1;
/// The part of lost packets is taken over at least this many.
const LEAST_PACKETS: usize = 20;
/// The rate grows by 8 % and 1 kbit/s above the least one of the last second.
const GROWTH: f64 = 1.08;
const STEP: f64 = 1000.0 / 8.0;
const INCREASE_INTERVAL: Span = Span::from_millis(1000);
/// The rate falls at most once in this time and a round trip.
const DECREASE_INTERVAL: Span = Span::from_millis(300);

#[derive(Clone, Debug)]
pub struct LossControl {
    rate: f64,
    lost: usize,
    packets: usize,
    loss: f64,
    rtt: Span,
    reduced: Option<Time>,
    reduced_since_loss: bool,
    /// Rates of the last second, of which each is lower than those after it.
    least: VecDeque<(Time, f64)>,
}

impl LossControl {
    pub fn new(rate: f64) -> LossControl {
        let (loss, rtt) = (0.0, Span::from_millis(200));
        LossControl {
            rate,
            lost: 0,
            packets: 0,
            loss,
            rtt,
            reduced: None,
            reduced_since_loss: false,
            least: VecDeque::new(),
        }
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    pub fn set_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// A report tells of lost packets and of all packets; `by_delay` bounds the rate.
    pub fn update(&mut self, [lost, packets]: [usize; 2], by_delay: f64, now: Time) {
        (self.lost, self.packets) = (self.lost + lost, self.packets + packets);
        if self.packets >= LEAST_PACKETS {
            self.loss = self.lost as f64 / self.packets as f64;
            (self.lost, self.packets, self.reduced_since_loss) = (0, 0, false);
        }
        self.remember(now);
        if self.loss <= LOW_LOSS {
            let least = self.least.front().map_or(self.rate, |(_, rate)| *rate);
            self.rate = (least * GROWTH + STEP).max(self.rate);
        } else if self.loss > HIGH_LOSS && self.may_reduce(now) {
            self.rate *= 1.0 - 0.5 * self.loss;
            (self.reduced, self.reduced_since_loss) = (Some(now), true);
        }
        self.rate = self.rate.min(by_delay);
    }

    fn may_reduce(&self, now: Time) -> bool {
        !self.reduced_since_loss && self.reduced.is_none_or(|last| now >= last + DECREASE_INTERVAL + self.rtt)
    }

    fn remember(&mut self, now: Time) {
        while self.least.front().is_some_and(|(at, _)| *at + INCREASE_INTERVAL < now) {
            self.least.pop_front();
        }
        while self.least.back().is_some_and(|(_, rate)| *rate >= self.rate) {
            self.least.pop_back();
        }
        self.least.push_back((now, self.rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn after(lost: usize, reports: u64) -> f64 {
        let mut control = LossControl::new(100_000.0);
        control.set_rtt(Span::from_millis(100));
        (0..reports).for_each(|step| control.update([lost, 100], 1e9, at(100 * step)));
        control.rate()
    }

    #[test]
    fn little_loss_lets_the_rate_grow_by_8_percent_a_second() {
        // In the first second every step is to 1.08 times the first rate and 1 kbit/s.
        assert!((after(2, 10) - 108_125.0).abs() < 1e-6);
        assert!(after(2, 21) > 116_000.0);
    }

    #[test]
    fn moderate_loss_holds_the_rate() {
        assert_eq!(after(3, 30), 100_000.0);
        assert_eq!(after(10, 30), 100_000.0);
    }

    #[test]
    fn much_loss_reduces_the_rate_by_half_of_it_every_300_ms_and_a_round_trip() {
        // A fifth lost: 0.9 times the rate at 0, 400 and 800 ms.
        assert!((after(20, 9) - 72_900.0).abs() < 1e-6);
    }

    #[test]
    fn the_delay_based_rate_is_a_bound() {
        let mut control = LossControl::new(100_000.0);
        control.update([0, 100], 60_000.0, at(0));
        assert_eq!(control.rate(), 60_000.0);
    }

    #[test]
    fn few_packets_say_nothing_of_losses() {
        let mut control = LossControl::new(100_000.0);
        control.update([9, 10], 100_000.0, at(0));
        assert_eq!(control.rate(), 100_000.0);
        control.update([9, 10], 100_000.0, at(100));
        assert!((control.rate() - 55_000.0).abs() < 1e-6);
    }
}
