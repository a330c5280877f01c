//! BLUE: one drop or mark probability, raised when the buffer overflows and lowered when the link is idle.
//!
//! RED reacts to the average queue length. BLUE reacts to events instead: an overflow shows that too few packets are
//! dropped or marked, and an idle link shows that too many are. The only state is one probability pm, which applies to
//! all packets.
//!
//! On arrival, a packet that does not fit is dropped and pm grows by `d1`. Any other packet is dropped or marked with
//! probability pm. When the link asks for a packet and the queue is empty, the link is idle. pm then falls by `d2`, and
//! again after each further `freeze_time` of idle time. The next arrival or departure applies these later decreases.
//! Two changes are at least `freeze_time` apart, so that each can take effect before the next.
//!
//! With `threshold`, a queue above that length raises pm too. This leaves room for bursts.
//!
//! Source: W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE active queue management algorithms", IEEE/ACM ToN 10(4),
//! 2002, section III and figure 3. Deviations are listed in docs/disciplines/blue.md.
//!
//! | paper | here |
//! | --- | --- |
//! | pm | [`Blue::probability`] |
//! | delta1, delta2, freeze_time | `d1`, `d2`, `freeze_time` |
//! | L, of the variation in figure 3 | `threshold` |

use alloc::format;
use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::Fifo;
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Blue`].
    pub struct BlueConfig {
        /// Buffer size. An arriving packet that does not fit is dropped and raises the probability.
        limit: Limit = Limit::Packets(1000);
        /// Increase of the probability at a buffer overflow.
        d1: f64 = 0.02, in 0.0..=1.0, also "delta1";
        /// Decrease of the probability when the link is idle.
        d2: f64 = 0.002, in 0.0..=1.0, also "delta2";
        /// Minimum time between two changes of the probability. About a round-trip time, so that each change can take
        /// effect.
        freeze_time: Span = Span::from_millis(100), in (Bound::Excluded(Span::ZERO), Bound::Unbounded), also "freeze";
        /// Draws each freeze time uniformly from 0.5 to 1.5 times `freeze_time`, to avoid synchronized queues.
        randomize_freeze: bool = false;
        /// Queue length above which the probability also rises. Leaves room for bursts and bounds the delay. `auto`:
        /// only an overflow raises it.
        threshold: Option<Level> = None, also "L";
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "setbit_";
    }
    presets {
        "paper" "the defaults: configuration B4, which its traces over time show (section III-C)" {}
        "B1" "the BLUE paper, table II" { "freeze_time" = "10ms", "d1" = "0.0025", "d2" = "0.00025" }
        "B2" "the BLUE paper, table II" { "freeze_time" = "100ms", "d1" = "0.0025", "d2" = "0.00025" }
        "B3" "the BLUE paper, table II" { "freeze_time" = "10ms", "d1" = "0.02", "d2" = "0.002" }
        "B4" "the BLUE paper, table II" { "freeze_time" = "100ms", "d1" = "0.02", "d2" = "0.002" }
        "testbed" "the BLUE paper, section III-E" { "freeze_time" = "50ms", "d1" = "0.01", "d2" = "0.001" }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("probability", "probability", "Drop or mark probability.");
    }
}

/// A FIFO that marks or drops every arrival with the same probability.
pub struct Blue<T> {
    config: BlueConfig,
    fifo: Fifo<T>,
    /// `threshold` in packets and in bytes; infinite where it does not apply.
    high: (f64, f64),
    /// The mark and drop probability, as of the last call.
    pub probability: f64,
    /// When the probability may change again.
    pub frozen_until: Time,
    /// Start of the link's idle time, if it is idle.
    pub idle_since: Option<Time>,
}

impl<T> Blue<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if the threshold is not below the limit.
    pub fn new(config: BlueConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let (limit, mean) = (config.limit, link.mean_packet);
        if let Some(level) = config.threshold.filter(|level| level.bytes(limit, mean) >= limit.bytes(mean)) {
            let why = format!("threshold ({level}) must be below limit ({limit}); leave it at auto for none");
            return Err(BuildError::Conflict(why));
        }
        let high = match (config.threshold, limit) {
            (None, _) => (f64::INFINITY, f64::INFINITY),
            (Some(Level::Packets(n)), _) => (n, f64::INFINITY),
            (Some(Level::Bytes(n)), _) => (f64::INFINITY, n),
            (Some(share), Limit::Packets(_)) => (share.packets(limit, mean), f64::INFINITY),
            (Some(share), Limit::Bytes(_)) => (f64::INFINITY, share.bytes(limit, mean)),
        };
        let fifo = Fifo::new(limit);
        Ok(Blue { config, fifo, high, probability: 0.0, frozen_until: Time::ZERO, idle_since: None })
    }

    #[inline]
    fn is_high(&self) -> bool {
        let held = self.fifo.backlog();
        f64::from(held.packets) > self.high.0 || held.bytes as f64 > self.high.1
    }

    fn raise(&mut self, now: Time, rng: &mut Rng) {
        if now >= self.frozen_until {
            self.probability = (self.probability + self.config.d1).min(1.0);
            self.frozen_until = now + self.freeze(rng);
        }
    }

    /// Lowers the probability for idle time since the last call. BLUE's link-idle event recurs every freeze time.
    #[inline]
    fn apply_idle_time(&mut self, now: Time, rng: &mut Rng) {
        if let Some(since) = self.idle_since
            && now >= self.frozen_until
        {
            self.lower(since.max(self.frozen_until), now, rng);
        }
    }

    /// Applies the decreases due from `first` to `now` in closed form. Random freeze times are replaced by their mean,
    /// except for the last, which is drawn.
    fn lower(&mut self, first: Time, now: Time, rng: &mut Rng) {
        let period = self.config.freeze_time;
        let more = (now - first).as_nanos() / period.as_nanos();
        self.probability = (self.probability - (more as f64 + 1.0) * self.config.d2).max(0.0);
        self.frozen_until = first + period * more + self.freeze(rng);
    }

    fn freeze(&self, rng: &mut Rng) -> Span {
        match self.config.randomize_freeze {
            true => Span::from_secs_f64(self.config.freeze_time.as_secs_f64() * rng.between(0.5, 1.5)),
            false => self.config.freeze_time,
        }
    }
}

impl<T> Discipline<T> for Blue<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.apply_idle_time(cx.now, cx.rng);
        // Overflow first: a packet that does not fit must not be marked.
        if !self.fifo.admits(packet.bytes) {
            cx.drop(packet, Why::Overflow);
            return self.raise(cx.now, cx.rng);
        }
        let hit = cx.rng.chance(self.probability);
        if let Some(packet) = cx.signal_if(hit, packet, Why::Early, self.config.ecn) {
            self.fifo.push(packet, cx);
            self.idle_since = None;
        }
        if self.is_high() {
            self.raise(cx.now, cx.rng);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop();
        if packet.is_none() {
            self.idle_since.get_or_insert(cx.now);
            self.apply_idle_time(cx.now, cx.rng);
        }
        packet
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("probability", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate};
    use alloc::vec::Vec;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // Powers of two, so that sums are exact.
    const STEPS: &[(&str, &str)] = &[("limit", "2p"), ("d1", "0.25"), ("d2", "0.0625"), ("freeze_time", "10ms")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Blue<()>> {
        let config = BlueConfig::from_settings(&[STEPS, settings].concat()).unwrap();
        Port::new(Blue::new(config, &LINK).unwrap(), Rng::new(3))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn offer(port: &mut Port<(), Blue<()>>, ms: u64, packets: u32) -> f64 {
        // Marked, not dropped: the queue fills whatever the probability.
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(1), 1000, ()) };
        (0..packets).for_each(|_| port.enqueue(packet, at(ms), &mut ()));
        port.discipline().probability
    }

    fn drain(port: &mut Port<(), Blue<()>>, ms: u64) -> f64 {
        while port.dequeue(at(ms), &mut ()).is_some() {}
        port.discipline().probability
    }

    #[test]
    fn an_overflow_raises_the_probability_once_in_a_freeze_time() {
        let mut port = port(&[]);
        assert_eq!(offer(&mut port, 0, 2), 0.0, "both fit");
        assert_eq!(offer(&mut port, 0, 5), 0.25);
        assert_eq!(offer(&mut port, 9, 5), 0.25, "frozen");
        assert_eq!(offer(&mut port, 10, 5), 0.5);
        assert_eq!([20, 30, 40].map(|ms| offer(&mut port, ms, 5)), [0.75, 1.0, 1.0], "never above 1");
    }

    #[test]
    fn an_idle_link_lowers_the_probability_once_per_freeze_time_even_if_applied_late() {
        let mut port = port(&[]);
        offer(&mut port, 0, 3);
        assert_eq!(drain(&mut port, 5), 0.25, "the link falls idle while the probability is frozen");
        // Frozen until 10 ms: lowered at 10, 20 and 30 ms.
        assert_eq!(offer(&mut port, 39, 1), 0.0625);
        // The packet was stored, so the link is busy. The probability stays, although 100 freeze times pass.
        assert_eq!(offer(&mut port, 1039, 1), 0.0625);
        assert_eq!(drain(&mut port, 1040), 0.0);
        assert_eq!(drain(&mut port, 100_000_000), 0.0, "never below 0");
    }

    #[test]
    fn a_packet_dropped_early_leaves_the_link_idle() {
        let mut port = port(&[("ecn", "off"), ("d1", "1")]);
        offer(&mut port, 0, 3);
        drain(&mut port, 0);
        // Lowered at 10 ms to 15/16, at 20 ms to 14/16. Arrivals in between are dropped at random or stored.
        while port.totals().counts().drops(Why::Early) == 0 {
            offer(&mut port, 10, 1);
            drain(&mut port, 10);
        }
        assert_eq!(drain(&mut port, 20), 0.875);
    }

    #[test]
    fn a_queue_above_the_threshold_raises_it_too() {
        for threshold in ["2p", "2KB", "20%"] {
            let mut port = port(&[("limit", "10p"), ("threshold", threshold)]);
            assert_eq!([1, 1, 1].map(|n| offer(&mut port, 0, n)), [0.0, 0.0, 0.25], "{threshold}");
            assert_eq!(port.totals().dropped(), 0);
        }
    }

    #[test]
    fn ecn_capable_packets_are_marked_with_the_probability_and_others_dropped() {
        for (ecn, understands) in [("on", true), ("off", false)] {
            let mut port = port(&[("ecn", ecn)]);
            offer(&mut port, 0, 3);
            drain(&mut port, 0);
            let before = port.totals().counts().clone();
            // Probability 1/4; frozen at one moment.
            (0..40_000).for_each(|_| {
                offer(&mut port, 0, 1);
                drain(&mut port, 0);
            });
            let counts = port.totals().counts();
            let early = Why::Early;
            let (hits, others) = match understands {
                true => (counts.marks(early) - before.marks(early), counts.drops(early)),
                false => (counts.drops(early) - before.drops(early), counts.marked()),
            };
            // Tolerance: five standard deviations of 87.
            assert!(hits.abs_diff(10_000) < 435 && others == 0, "{hits} {others}");
        }
    }

    #[test]
    fn random_freeze_times_have_freeze_time_as_their_mean() {
        let mut port = port(&[("randomize_freeze", "on"), ("d1", "0.0000152587890625")]);
        // An overflow each 10 us: one step of 2^-16 per freeze time, 1000 in 10 s. A freeze time has a standard
        // deviation of 0.29 of its mean: 9 in all. Tolerance: five times that.
        (0..1_000_000).for_each(|tick| {
            let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(1), 1000, ()) };
            port.enqueue(packet, Time::ZERO + Span::from_micros(10) * tick, &mut ());
        });
        let steps = port.discipline().probability * 65_536.0;
        assert!((steps - 1000.0).abs() < 46.0, "{steps}");
    }

    proptest! {
        #[test]
        fn the_probability_does_not_depend_on_how_often_an_empty_queue_is_dequeued(asks in prop::collection::vec(0u64..2000, 0..50)) {
            let mut polled = port(&[("d2", "0.0009765625"), ("d1", "1")]);
            offer(&mut polled, 0, 3);
            drain(&mut polled, 3);
            let mut asks = asks;
            asks.sort_unstable();
            let since: Vec<f64> = asks.iter().map(|ms| drain(&mut polled, 3 + ms)).collect();
            // By hand: frozen until 10 ms, then raised once per 10 ms.
            let expected = asks.iter().map(|ms| 1.0 - ((3 + ms) / 10) as f64 / 1024.0);
            prop_assert_eq!(since, expected.collect::<Vec<f64>>());
        }
    }

    #[test]
    fn every_preset_builds_and_a_threshold_out_of_reach_is_a_conflict() {
        for preset in BlueConfig::presets() {
            let config = BlueConfig::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Blue::<()>::new(config, &LINK).is_ok(), "{}", preset.name);
        }
        for threshold in ["1000p", "100%", "2MB"] {
            let config = BlueConfig::from_settings(&[("L", threshold)]).unwrap();
            assert!(matches!(Blue::<()>::new(config, &LINK), Err(BuildError::Conflict(_))), "{threshold}");
        }
        assert!(BlueConfig::from_settings(&[("freeze_time", "0s")]).is_err());
        let delta = BlueConfig::from_settings(&[("delta1", "0.02"), ("delta2", "0.002")]);
        assert_eq!(delta, Ok(BlueConfig::default()));
    }
}
