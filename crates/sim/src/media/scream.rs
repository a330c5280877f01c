//! SCReAM version 2 (draft-johansson-ccwg-rfc8298bis-screamv2, which replaces RFC 8298): a window for the data in
//! flight, from which the target rate follows.
//!
//! The reference window grows while packets arrive without marks, slower near the window of the last congestion. A loss
//! reduces it by a factor, marks of L4S by half of the part marked, and a queueing delay above half of its target as if
//! that queue marked packets ("virtual L4S"). Packets leave only while the data in flight fits in the window: the call
//! sends no more than the network delivers. The target rate is the window over the round-trip time.
//!
//! Constants are those of the implementation in libwebrtc (`scream_v2_parameters.cc`), where it states them, else of the
//! authors' (`ScreamV2Tx.cpp`). Not implemented: several streams, compensation of clock drift, and the detection of
//! policers and of shared bottlenecks. With `ecn`, packets bear ECT(1), and a mark counts as one of L4S; classic marks
//! (RFC 3168) are not distinguished.

use aqm::{Span, Time};

use super::queue_delay::QueueDelay;
use super::{Feedback, RateBounds, RateController};

/// Bytes of a full packet in the window's growth, and the least window.
const SEGMENT: f64 = 1200.0;
const LEAST_WINDOW: f64 = 3000.0;
/// The window after a loss, as a part.
const AFTER_LOSS: f64 = 0.7;
/// Target of the queueing delay.
const TARGET_DELAY: Span = Span::from_millis(60);
/// Weight of a sample in the part of marked packets.
const MARK_WEIGHT: f64 = 1.0 / 16.0;
/// The part of marked packets is sampled at most this often.
const MARK_INTERVAL: Span = Span::from_millis(10);
/// Marks and delays reduce the window at most this often, or once a shorter round trip.
const CONGESTION_INTERVAL: Span = Span::from_millis(30);
/// The window grows by this part of itself a round trip, beyond a segment.
const GROWTH: f64 = 0.02;
/// Round trips after a congestion until that part grows at its full rate.
const CAUTIOUS_ROUND_TRIPS: f64 = 100.0;
/// The growth of a shorter round trip is that of this one.
const VIRTUAL_RTT: f64 = 0.025;
/// Nearness to the window of the last congestion: growth and reductions by marks shrink to a tenth and a quarter.
const NEARNESS: f64 = 8.0;
/// The window grows while it is at most this part of the data lately in flight, and a segment.
const FLIGHT_HEADROOM: f64 = 1.1;
/// Data in flight may exceed the window by this factor, for frames larger than the mean one.
const SEND_HEADROOM: f64 = 1.5;
/// The target rate leaves this part of the window for large frames.
const FRAME_HEADROOM: f64 = 1.1;
const PACING_HEADROOM: f64 = 1.5;
/// The greatest data in flight is that of the last two periods of this length.
const FLIGHT_PERIOD: Span = Span::from_millis(1000);

pub struct Scream {
    bounds: RateBounds,
    l4s: bool,
    /// The reference window, and the one at the last congestion, in bytes.
    window: f64,
    congested_window: f64,
    /// The next congestion does not change it: the window has not grown since the last.
    keeps_congested_window: bool,
    /// Smoothed round-trip time in seconds, waits for reports included; 0 before the first sample.
    rtt: f64,
    delay: QueueDelay,
    /// The part of packets marked, smoothed, and the marked and all packets since the last sample.
    marked: f64,
    marks: [u32; 2],
    sampled: Option<Time>,
    lost_at: Option<Time>,
    congested_at: Option<Time>,
    /// The most bytes in flight in this and in the last period, and when this period began.
    flight: [u64; 2],
    period: Time,
}

/// A reason to reduce the window.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Congestion {
    Loss,
    /// The part of the window by which marks, real or virtual, reduce it.
    Marks(f64),
}

impl Scream {
    pub fn new(bounds: RateBounds, l4s: bool) -> Scream {
        Scream {
            bounds,
            l4s,
            window: LEAST_WINDOW,
            congested_window: 1.0,
            keeps_congested_window: false,
            rtt: 0.0,
            delay: QueueDelay::default(),
            marked: 0.0,
            marks: [0; 2],
            sampled: None,
            lost_at: None,
            congested_at: None,
            flight: [0; 2],
            period: Time::ZERO,
        }
    }

    fn rtt_span(&self) -> Span {
        Span::from_secs_f64(self.rtt)
    }

    /// Takes round-trip time, delays and data in flight of a report.
    fn measure(&mut self, feedback: &Feedback<'_>, now: Time) {
        let mut newest = None;
        for (packet, at) in feedback.packets.iter().filter_map(|packet| packet.arrived.map(|at| (packet, at))) {
            newest = Some(packet);
            self.delay.add(at - packet.sent);
            self.marks = [self.marks[0] + u32::from(packet.marked), self.marks[1] + 1];
        }
        if let Some(newest) = newest {
            let sample = (now - newest.sent).as_secs_f64();
            self.rtt = if self.rtt == 0.0 { sample } else { self.rtt + (sample - self.rtt) / 8.0 };
        }
        let told: u64 = feedback.packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        if now >= self.period + FLIGHT_PERIOD {
            (self.flight, self.period) = ([0, self.flight[0]], now);
        }
        self.flight[0] = self.flight[0].max(feedback.in_flight + told);
    }

    /// Samples the part of marked packets.
    fn sample_marks(&mut self, now: Time) {
        let interval = MARK_INTERVAL.min(self.rtt_span());
        if self.marks[1] > 0 && self.sampled.is_none_or(|last| now >= last + interval) {
            let part = f64::from(self.marks[0]) / f64::from(self.marks[1]);
            self.marked += MARK_WEIGHT * (part - self.marked);
            (self.marks, self.sampled) = ([0; 2], Some(now));
        }
    }

    /// The reason to reduce the window now, if any.
    fn congestion(&self, feedback: &Feedback<'_>, now: Time) -> Option<Congestion> {
        let is_due = |last: Option<Time>, interval: Span| last.is_none_or(|last| now >= last + interval);
        if feedback.packets.iter().any(|packet| packet.arrived.is_none()) && is_due(self.lost_at, self.rtt_span()) {
            return Some(Congestion::Loss);
        }
        let interval = CONGESTION_INTERVAL.min(self.rtt_span());
        if !is_due(self.congested_at, interval) {
            return None;
        }
        // A reduction each interval must not add up to more than one a round trip.
        let scale = (self.rtt / CONGESTION_INTERVAL.as_secs_f64()).max(1.0);
        if self.l4s && feedback.packets.iter().any(|packet| packet.marked) {
            return Some(Congestion::Marks(self.marked / 2.0 / scale * self.nearness().max(0.25)));
        }
        self.delay.virtual_marks(TARGET_DELAY).map(|part| Congestion::Marks(part / 2.0 / scale))
    }

    fn reduce(&mut self, congestion: Congestion, now: Time) {
        if !self.keeps_congested_window {
            self.congested_window = self.window;
            self.keeps_congested_window = true;
        }
        let factor = match congestion {
            Congestion::Loss => {
                self.lost_at = Some(now);
                AFTER_LOSS
            }
            Congestion::Marks(part) => 1.0 - part,
        };
        self.congested_at = Some(now);
        self.window = (factor * self.window).max(LEAST_WINDOW);
    }

    /// The distance from the window of the last congestion: 1 far from it, 0.1 at it.
    fn nearness(&self) -> f64 {
        let distance = NEARNESS * (self.window - self.congested_window) / self.congested_window;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Grows by a segment a round trip, and by a part of the window the longer the last congestion is ago.
    fn grow(&mut self, unmarked: f64, now: Time) {
        let nearness = self.nearness();
        let rtts = self.congested_at.map_or(f64::INFINITY, |last| (now - last).as_secs_f64() / self.rtt.max(1e-3));
        let caution = (rtts / CAUTIOUS_ROUND_TRIPS).min(1.0);
        let beyond = GROWTH * self.window / SEGMENT * caution * nearness;
        let step = unmarked * SEGMENT / self.window * nearness * (self.rtt / VIRTUAL_RTT).min(1.0) * (1.0 + beyond);
        let most = SEGMENT + self.flight[0].max(self.flight[1]) as f64 * FLIGHT_HEADROOM;
        if self.window + step <= most && self.target() < self.bounds.most {
            self.window += step;
            self.keeps_congested_window = false;
        }
    }
}

impl RateController for Scream {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, now: Time) {
        self.measure(feedback, now);
        self.sample_marks(now);
        self.delay.update(CONGESTION_INTERVAL.min(self.rtt_span()), now);
        if let Some(congestion) = self.congestion(feedback, now) {
            self.reduce(congestion, now);
        }
        let unmarked = feedback.packets.iter().filter(|packet| packet.arrived.is_some() && !packet.marked);
        self.grow(unmarked.map(|packet| f64::from(packet.bytes)).sum(), now);
    }

    fn target(&self) -> f64 {
        if self.rtt == 0.0 {
            return self.bounds.first();
        }
        // With few packets in the window, a part of it stays unused.
        let small = 1.0 - (SEGMENT / self.window - 0.1).clamp(0.0, 0.2);
        self.bounds.clamp(self.window / (self.rtt + 0.001).min(0.2) * small / FRAME_HEADROOM)
    }

    fn pacing_rate(&self) -> f64 {
        PACING_HEADROOM * self.target()
    }

    fn window(&self) -> Option<u64> {
        Some((SEND_HEADROOM * self.window + SEGMENT) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PacketReport;
    use super::*;

    const BOUNDS: RateBounds = RateBounds { least: 1000.0, most: 1e9 };

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn scream(window: f64, l4s: bool) -> Scream {
        Scream { window, rtt: 0.1, flight: [1_000_000; 2], ..Scream::new(BOUNDS, l4s) }
    }

    /// Ten packets of 1200 bytes, of which the first are marked and the last lost.
    fn report(marked: usize, lost: usize, delay: u64, now: u64) -> Vec<PacketReport> {
        let packet = |number: usize| {
            let sent = at(now - 100);
            let arrived = (number < 10 - lost).then_some(sent + Span::from_millis(delay));
            PacketReport { sent, bytes: 1200, arrived, marked: number < marked }
        };
        (0..10).map(packet).collect()
    }

    fn feed(scream: &mut Scream, packets: &[PacketReport], now: u64) {
        scream.on_feedback(&Feedback { packets, rtt: Some(Span::from_millis(100)), in_flight: 0 }, at(now));
    }

    #[test]
    fn a_window_of_packets_without_marks_adds_a_segment_and_a_fiftieth_of_itself() {
        // 12000 bytes in a window of 120000: a tenth of (1200 + 0.02 x 120000) = 360 bytes.
        let mut scream = scream(120_000.0, false);
        feed(&mut scream, &report(0, 0, 20, 1000), 1000);
        assert!((scream.window - 120_360.0).abs() < 1e-6, "{}", scream.window);
    }

    #[test]
    fn a_loss_reduces_the_window_to_70_percent_once_a_round_trip() {
        let mut scream = scream(120_000.0, false);
        feed(&mut scream, &report(0, 10, 20, 1000), 1000);
        assert!((scream.window - 84_000.0).abs() < 1e-6);
        feed(&mut scream, &report(0, 10, 20, 1050), 1050);
        assert!((scream.window - 84_000.0).abs() < 1e-6);
        feed(&mut scream, &report(0, 10, 20, 1100), 1100);
        assert!((scream.window - 58_800.0).abs() < 1e-6);
    }

    #[test]
    fn marks_of_l4s_reduce_the_window_by_half_of_the_part_marked() {
        // All marked: the part is 1/16. Half of it over 100 ms / 30 ms, and a tenth of a segment is not added.
        let mut scream = scream(120_000.0, true);
        feed(&mut scream, &report(10, 0, 20, 1000), 1000);
        let expected = 120_000.0 * (1.0 - (1.0 / 16.0) / 2.0 / (0.1 / 0.03));
        assert!((scream.window - expected).abs() < 1e-6, "{}", scream.window);
        // Without L4S marks do nothing by themselves.
        let mut scream = Scream { l4s: false, ..self::scream(120_000.0, false) };
        feed(&mut scream, &report(10, 0, 20, 1000), 1000);
        assert_eq!(scream.window, 120_000.0);
    }

    #[test]
    fn a_delay_above_half_of_its_target_reduces_the_window() {
        let mut scream = scream(120_000.0, false);
        feed(&mut scream, &report(0, 0, 20, 1000), 1000);
        let before = scream.window;
        (1..10).for_each(|n| feed(&mut scream, &report(0, 0, 110, 1000 + 100 * n), 1000 + 100 * n));
        assert!(scream.window < 0.7 * before, "{}", scream.window);
    }

    #[test]
    fn near_the_window_of_the_last_congestion_it_grows_a_tenth_as_fast() {
        let mut scream = Scream { congested_window: 120_000.0, ..scream(120_000.0, false) };
        feed(&mut scream, &report(0, 0, 20, 1000), 1000);
        // A tenth of 0.1 x 1200 x (1 + 2 x 0.1).
        assert!((scream.window - 120_014.4).abs() < 1e-6, "{}", scream.window);
    }

    #[test]
    fn a_window_that_the_data_does_not_fill_does_not_grow() {
        let mut scream = Scream { flight: [0; 2], ..scream(120_000.0, false) };
        feed(&mut scream, &report(0, 0, 20, 1000), 1000);
        assert_eq!(scream.window, 120_000.0);
    }

    #[test]
    fn the_target_is_the_window_over_the_round_trip_time() {
        // 120000 / 101 ms / 1.1.
        assert!((scream(120_000.0, false).target() - 1_080_108.0).abs() < 1.0);
        // Three packets in the window: 1/3 - 0.1 = 0.233, at most 0.2 less.
        assert!((scream(3600.0, false).target() - 3600.0 / 0.101 / 1.1 * 0.8).abs() < 1e-6);
    }
}
