//! NADA's aggregate congestion signal `x_curr`: queueing delay, losses and marks as one delay (RFC 8698, section 4.2).
//!
//! Without losses the signal is the queueing delay. A flow that fills the queue forces losses, and the delay is then no
//! sign of the call's own rate: long delays count less (warping, equation 1). Losses and marks add their own delays
//! (equation 2).

use aqm::{Span, Time};

use super::{Feedback, receive_rate};
use crate::tfrc::LossHistory;

/// MULTILOSS, QTH, LAMBDA, PLRREF, PMRREF, DLOSS, DMARK and ALPHA of RFC 8698, figure 3; delays in seconds.
const MULTI_LOSS: f64 = 7.0;
const WARP_ABOVE: f64 = 0.050;
const WARP_RATE: f64 = 0.5;
const REFERENCE_LOSS: f64 = 0.01;
const REFERENCE_MARKS: f64 = 0.01;
const LOSS_DELAY: f64 = 0.010;
const MARK_DELAY: f64 = 0.002;
const SMOOTHING: f64 = 0.1;

/// The queueing delay is the least of this many samples (section 5.1.1).
const MIN_FILTER: usize = 15;

#[derive(Clone, Debug)]
pub struct CongestionSignal {
    /// The least one-way delay, and the last ones, a ring.
    base: Option<Span>,
    delays: [Span; MIN_FILTER],
    samples: usize,
    loss: f64,
    marks: f64,
    /// Packets told of, and the number of the last loss event's first.
    packets: u32,
    last_loss: u32,
    losses: LossHistory,
    /// When the last loss was told, and the last delay above the threshold of a queue that builds up.
    lost_at: Option<Time>,
    queued_at: Option<Time>,
}

impl CongestionSignal {
    pub fn new() -> CongestionSignal {
        CongestionSignal {
            base: None,
            delays: [Span::ZERO; MIN_FILTER],
            samples: 0,
            loss: 0.0,
            marks: 0.0,
            packets: 0,
            last_loss: 0,
            losses: LossHistory::default(),
            lost_at: None,
            queued_at: None,
        }
    }

    /// Takes a report. Delays above `queue` beyond the least one count as a queue that builds up.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>, rtt: Span, queue: Span, now: Time) {
        let (mut lost, mut marked) = (0_u32, 0_u32);
        for packet in feedback.packets {
            match packet.arrived {
                Some(arrived) => self.add_delay(arrived - packet.sent, queue, now),
                None => {
                    lost += 1;
                    self.lost_at = Some(now);
                    let first = || f64::from(self.packets.max(1));
                    if self.losses.on_loss(self.packets, packet.sent, rtt, first) {
                        self.last_loss = self.packets;
                    }
                }
            }
            marked += u32::from(packet.marked);
            self.packets += 1;
        }
        if !feedback.packets.is_empty() {
            let part = |count: u32| f64::from(count) / feedback.packets.len() as f64;
            self.loss += SMOOTHING * (part(lost) - self.loss);
            self.marks += SMOOTHING * (part(marked) - self.marks);
        }
    }

    /// Whether the last window had no loss and no delay above the threshold: the rate may ramp up (section 4.3).
    pub fn is_clear(&self, now: Time) -> bool {
        let is_past = |at: Option<Time>| at.is_none_or(|at| at + receive_rate::WINDOW < now);
        is_past(self.lost_at) && is_past(self.queued_at)
    }

    /// `x_curr` in seconds.
    pub fn value(&self) -> f64 {
        self.delay() + penalty(self.loss, REFERENCE_LOSS, LOSS_DELAY) + penalty(self.marks, REFERENCE_MARKS, MARK_DELAY)
    }

    fn add_delay(&mut self, delay: Span, queue: Span, now: Time) {
        let base = self.base.map_or(delay, |base| base.min(delay));
        self.base = Some(base);
        if delay > base + queue {
            self.queued_at = Some(now);
        }
        self.delays[self.samples % MIN_FILTER] = delay;
        self.samples += 1;
    }

    /// The queueing delay, warped as long as losses are recent. After [`MULTI_LOSS`] mean intervals between losses it
    /// returns to the plain delay within one more, as in the authors' code (cisco/ns3-rmcat).
    fn delay(&self) -> f64 {
        let known = self.samples.min(MIN_FILTER);
        let (Some(base), Some(least)) = (self.base, self.delays[..known].iter().min()) else { return 0.0 };
        let delay = (*least - base).as_secs_f64();
        let Some(interval) = self.losses.closed_interval() else { return delay };
        let intervals = f64::from(self.packets - self.last_loss) / interval;
        let plain = (intervals - MULTI_LOSS).clamp(0.0, 1.0);
        plain * delay + (1.0 - plain) * warped(delay)
    }
}

/// Equation 1.
fn warped(delay: f64) -> f64 {
    if delay < WARP_ABOVE { delay } else { WARP_ABOVE * libm::exp(-WARP_RATE * (delay - WARP_ABOVE) / WARP_ABOVE) }
}

/// A term of equation 2: `delay` at the reference ratio, and growing by its square.
fn penalty(ratio: f64, reference: f64, delay: f64) -> f64 {
    delay * (ratio / reference) * (ratio / reference)
}

#[cfg(test)]
mod tests {
    use super::super::PacketReport;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Reports of ten packets each; `delay` gives a packet's delay in ms, `None` for a loss.
    fn signal(reports: u64, delay: impl Fn(u64) -> Option<u64>, marked: bool) -> CongestionSignal {
        let mut signal = CongestionSignal::new();
        for report in 0..reports {
            let packets: Vec<PacketReport> = (10 * report..10 * report + 10)
                .map(|number| {
                    let (sent, delay) = (at(10 * number), delay(number));
                    let arrived = delay.map(|delay| sent + Span::from_millis(delay));
                    PacketReport { sent, bytes: 1200, arrived, marked: marked && arrived.is_some() }
                })
                .collect();
            let feedback = Feedback { packets: &packets, rtt: Some(Span::from_millis(50)), in_flight: 0 };
            signal.on_feedback(&feedback, Span::from_millis(50), Span::from_millis(10), at(100 * report + 100));
        }
        signal
    }

    #[test]
    fn long_delays_are_warped_as_equation_1_says() {
        // 50 ms at 50 ms; 50 e^-0.5 = 30.327 ms at 100 ms; 50 e^-1 = 18.394 ms at 150 ms.
        for (delay, expected) in [(0.049, 0.049), (0.050, 0.050), (0.100, 0.030_327), (0.150, 0.018_394)] {
            assert!((warped(delay) - expected).abs() < 1e-6, "{delay}");
        }
    }

    #[test]
    fn losses_and_marks_add_delays_as_equation_2_says() {
        // At twice the reference: four times the reference delay.
        assert!((penalty(0.02, REFERENCE_LOSS, LOSS_DELAY) - 0.040).abs() < 1e-12);
        assert!((penalty(0.01, REFERENCE_MARKS, MARK_DELAY) - 0.002).abs() < 1e-12);
        // Every packet is marked in one report: a ratio of 0.1, ten times the reference, so 200 ms.
        assert!((signal(1, |_| Some(20), true).value() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn without_losses_the_signal_is_the_least_of_the_last_delays_beyond_the_base() {
        let delay = |number: u64| Some(if number < 50 { 20 } else { 80 + number % 5 });
        assert!((signal(10, delay, false).value() - 0.060).abs() < 1e-12);
        // One of the last 15 samples is short.
        let short = |number: u64| Some(if number < 50 || number == 90 { 20 } else { 80 });
        assert!((signal(10, short, false).value()).abs() < 1e-12);
    }

    #[test]
    fn delays_are_warped_while_losses_are_recent() {
        // A delay of 150 ms counts as 18.394 ms. Losses of a fiftieth, smoothed, add their own term.
        let losing = |number: u64| (number % 50 != 49).then_some(if number < 20 { 20 } else { 170 });
        let signal = signal(40, losing, false);
        assert!((signal.delay() - 0.018_394).abs() < 1e-6, "{}", signal.delay());
        assert!(signal.value() > signal.delay());
    }

    #[test]
    fn after_eight_mean_intervals_without_a_loss_the_delay_is_plain_again() {
        // Losses every 10 packets up to 200, then none: from packet 279 on.
        let losing = |number: u64| (number >= 200 || number % 10 != 9).then_some(if number < 5 { 20 } else { 170 });
        assert!((signal(26, losing, false).delay() - 0.018_394).abs() < 1e-6);
        assert!((signal(28, losing, false).delay() - 0.150).abs() < 1e-6);
    }

    #[test]
    fn half_a_second_without_losses_and_queues_is_clear() {
        assert!(signal(3, |_| Some(20), false).is_clear(at(300)));
        let queued = signal(3, |number| Some(if number == 15 { 31 } else { 20 }), false);
        assert!(!queued.is_clear(at(700)) && queued.is_clear(at(701)), "told at 200 ms");
        let lost = signal(3, |number| (number != 15).then_some(20), false);
        assert!(!lost.is_clear(at(700)) && lost.is_clear(at(701)));
    }
}
