//! The delay-based rate: additive or multiplicative increase, multiplicative decrease (draft-ietf-rmcat-gcc-02, section
//! 5.5, as in WebRTC's `AimdRateControl` and `DelayBasedBwe`).

use aqm::{Span, Time};

use super::bandwidth_use::BandwidthUse;
use crate::media::RateBounds;

/// After over-use the rate is this part of the receive rate (beta of the draft).
const BETA: f64 = 0.85;
/// Far from the link's rate, the rate grows by this factor in a second (eta of the draft).
const GROWTH: f64 = 1.08;
/// It grows by at least 1 kbit/s at a time, and near the link's rate by at least 4 kbit/s a second.
const LEAST_STEP: f64 = 1000.0 / 8.0;
const LEAST_SLOPE: f64 = 4000.0 / 8.0;
/// It stays below 1.5 times the receive rate and 10 kbit/s.
const MOST_OF_RECEIVED: (f64, f64) = (1.5, 10_000.0 / 8.0);
/// Frames a second and bytes of a packet by which a step near the link's rate is computed.
const FRAMES: f64 = 30.0;
const PACKET: f64 = 1200.0;
/// Delay of the detector of over-use.
const DETECTION: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
}

#[derive(Clone, Debug)]
pub struct RateControl {
    bounds: RateBounds,
    rate: f64,
    received: Option<f64>,
    state: State,
    changed: Option<Time>,
    rtt: Span,
    link: LinkRate,
}

impl RateControl {
    pub fn new(bounds: RateBounds) -> RateControl {
        RateControl {
            bounds,
            rate: bounds.first(),
            received: None,
            state: State::Hold,
            changed: None,
            rtt: Span::from_millis(200),
            link: LinkRate::default(),
        }
    }

    pub fn set_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// Updates the rate with the state of the detector and the receive rate; returns the rate.
    pub fn update(&mut self, bandwidth: BandwidthUse, received: Option<f64>, now: Time) -> f64 {
        self.received = received.or(self.received);
        match bandwidth {
            BandwidthUse::Over => self.reduce(now),
            BandwidthUse::Under => self.state = State::Hold,
            BandwidthUse::Normal => self.increase(now),
        }
        self.rate
    }

    fn increase(&mut self, now: Time) {
        if self.state == State::Hold {
            // The first step after a pause only starts the clock.
            (self.state, self.changed) = (State::Increase, Some(now));
        }
        let seconds = self.changed.replace(now).map_or(0.0, |last| (now - last).as_secs_f64());
        let received = self.received.unwrap_or(self.rate);
        if received > self.link.upper() {
            self.link = LinkRate::default();
        }
        let limit = MOST_OF_RECEIVED.0 * received + MOST_OF_RECEIVED.1;
        if self.rate < limit && seconds > 0.0 {
            let step = match self.link.rate {
                Some(_) => self.slope() * seconds,
                None => (self.rate * (libm::pow(GROWTH, seconds.min(1.0)) - 1.0)).max(LEAST_STEP),
            };
            self.rate = self.bounds.clamp((self.rate + step).min(limit));
        }
    }

    /// Growth near the link's rate: half a packet in each response time.
    fn slope(&self) -> f64 {
        let frame = self.rate / FRAMES;
        let packet = frame / (frame / PACKET).ceil();
        (packet / (2.0 * (self.rtt.as_secs_f64() + DETECTION))).max(LEAST_SLOPE)
    }

    fn reduce(&mut self, now: Time) {
        let Some(received) = self.received else {
            // Over-use before anything is known of the receive rate: halves the rate every 200 ms.
            if self.may_reduce(self.rate / 2.0 - 1.0, now) {
                self.set(self.rate / 2.0, now);
            }
            return;
        };
        if !self.may_reduce(received, now) {
            return;
        }
        let mut reduced = BETA * received;
        if reduced > self.rate
            && let Some(link) = self.link.rate
        {
            reduced = BETA * link;
        }
        if received < self.link.lower() {
            self.link = LinkRate::default();
        }
        self.link.update(received);
        self.set(reduced.min(self.rate), now);
    }

    /// The rate is reduced once a round trip of 10 to 200 ms, or at once if half of it does not arrive.
    fn may_reduce(&self, received: f64, now: Time) -> bool {
        let interval = self.rtt.max(Span::from_millis(10)).min(Span::from_millis(200));
        self.changed.is_none_or(|last| now >= last + interval) || received < 0.5 * self.rate
    }

    fn set(&mut self, rate: f64, now: Time) {
        self.rate = self.bounds.clamp(rate);
        (self.state, self.changed) = (State::Hold, Some(now));
    }
}

/// The link's rate by the receive rates at over-use: mean and variation (`LinkCapacityEstimator`), in kbit/s.
#[derive(Clone, Copy, Debug)]
struct LinkRate {
    rate: Option<f64>,
    /// Variance over mean.
    deviation: f64,
}

const KBIT: f64 = 125.0;

impl Default for LinkRate {
    fn default() -> LinkRate {
        LinkRate { rate: None, deviation: 0.4 }
    }
}

impl LinkRate {
    fn update(&mut self, received: f64) {
        const WEIGHT: f64 = 0.05;
        let mean = self.rate.map_or(received, |rate| (1.0 - WEIGHT) * rate + WEIGHT * received);
        let (mean_kbit, error_kbit) = ((mean / KBIT).max(1.0), (mean - received) / KBIT);
        let deviation = (1.0 - WEIGHT) * self.deviation + WEIGHT * error_kbit * error_kbit / mean_kbit;
        (self.rate, self.deviation) = (Some(mean), deviation.clamp(0.4, 2.5));
    }

    /// Three standard deviations.
    fn spread(&self, rate: f64) -> f64 {
        3.0 * (self.deviation * rate / KBIT).sqrt() * KBIT
    }

    fn upper(&self) -> f64 {
        self.rate.map_or(f64::INFINITY, |rate| rate + self.spread(rate))
    }

    fn lower(&self) -> f64 {
        self.rate.map_or(0.0, |rate| (rate - self.spread(rate)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: RateBounds = RateBounds { least: 1000.0, most: 1e9 };

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn far_from_the_links_rate_the_rate_grows_by_8_percent_a_second() {
        let mut control = RateControl::new(BOUNDS);
        (0..=100).for_each(|step| _ = control.update(BandwidthUse::Normal, Some(1e8), at(100 * step)));
        // 300 kbit/s, ten seconds.
        assert!((control.rate / (37_500.0 * 1.08_f64.powi(10)) - 1.0).abs() < 1e-6, "{}", control.rate);
    }

    #[test]
    fn the_rate_stays_below_one_and_a_half_times_the_receive_rate() {
        let mut control = RateControl::new(BOUNDS);
        (0..=1000).for_each(|step| _ = control.update(BandwidthUse::Normal, Some(40_000.0), at(100 * step)));
        assert!((control.rate - (1.5 * 40_000.0 + 1250.0)).abs() < 1e-6);
    }

    #[test]
    fn over_use_reduces_the_rate_to_85_percent_of_the_receive_rate_once_a_round_trip() {
        let mut control = RateControl { rate: 200_000.0, ..RateControl::new(BOUNDS) };
        control.set_rtt(Span::from_millis(50));
        assert_eq!(control.update(BandwidthUse::Over, Some(190_000.0), at(1000)), 161_500.0);
        assert_eq!(control.update(BandwidthUse::Over, Some(100_000.0), at(1049)), 161_500.0);
        assert_eq!(control.update(BandwidthUse::Over, Some(100_000.0), at(1050)), 85_000.0);
        // Less than half of the rate arrives: at once.
        assert_eq!(control.update(BandwidthUse::Over, Some(20_000.0), at(1051)), 17_000.0);
        // A receive rate above the rate does not raise it.
        assert!(control.update(BandwidthUse::Over, Some(90_000.0), at(1200)) <= 17_000.0);
    }

    #[test]
    fn near_the_links_rate_the_rate_grows_by_half_a_packet_a_response_time() {
        let mut control = RateControl { rate: 108_000.0, ..RateControl::new(BOUNDS) };
        control.set_rtt(Span::from_millis(100));
        control.update(BandwidthUse::Over, Some(120_000.0), at(0)); // 102000 bytes/s; the link's rate is known
        control.update(BandwidthUse::Normal, Some(102_000.0), at(100));
        let before = control.rate;
        control.update(BandwidthUse::Normal, Some(102_000.0), at(1100));
        // Frames of 3400 bytes in 3 packets of 1133.3 bytes; 2 x (100 + 100) ms: 2833.3 bytes/s in a second.
        assert!((control.rate - before - 2833.33).abs() < 0.1, "{}", control.rate - before);
    }

    #[test]
    fn a_draining_queue_holds_the_rate() {
        let mut control = RateControl { rate: 108_000.0, ..RateControl::new(BOUNDS) };
        let rates: Vec<f64> =
            (0..10).map(|step| control.update(BandwidthUse::Under, Some(2e5), at(100 * step))).collect();
        assert!(rates.iter().all(|rate| *rate == 108_000.0));
    }

    #[test]
    fn the_links_rate_is_a_mean_with_a_deviation() {
        let mut link = LinkRate::default();
        assert_eq!((link.upper(), link.lower()), (f64::INFINITY, 0.0));
        link.update(125_000.0); // 1000 kbit/s; the deviation stays at its least, 0.4
        // 3 x sqrt(0.4 x 1000) = 60 kbit/s.
        assert!((link.upper() - 132_500.0).abs() < 1e-6 && (link.lower() - 117_500.0).abs() < 1e-6);
        link.update(112_500.0); // 900: mean 995, error 95, deviation 0.95 x 0.4 + 0.05 x 9025 / 995 = 0.8335
        assert!((link.rate.unwrap() - 124_375.0).abs() < 1e-6 && (link.deviation - 0.833_517).abs() < 1e-5);
    }
}
