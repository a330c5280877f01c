//! Stabilized RED (SRED): RED that estimates the number of active flows by comparing arrivals with a list of recent
//! flows.
//!
//! SRED keeps a list of recent flows, the zombies. With n equal flows, a random zombie belongs to the arrival's flow
//! with probability 1/n. The frequency P of such hits thus gives the number of flows, without per-flow state.
//!
//! On arrival, the packet is compared with a random zombie; until the list is full, its flow is added instead. A hit
//! increases the zombie's count. A miss overwrites the zombie with probability `overwrite`. P is the exponential
//! average of hits. A packet that does not fit is dropped. Any other packet is dropped or marked with a probability
//! that takes three steps with the queue length and grows with n^2. The sum of the flows' windows is then independent
//! of n. In Full SRED, a packet that hits has a larger probability. Departures change nothing.
//!
//! Source: T. Ott, T. Lakshman, L. Wong, "SRED: stabilized RED", IEEE INFOCOM 1999. Deviations are listed in
//! docs/disciplines/sred.md.
//!
//! | paper | here |
//! | --- | --- |
//! | zombie: flow, Count, timestamp | [`Zombie`] |
//! | M, p, pmax, 256 | `zombies`, `overwrite`, `maxp`, `flows` |
//! | P(t), alpha = p/M | [`Sred::hit_frequency`] |
//! | psred(q), pzap | [`Sred::base`], [`Sred::probability`] |
//!
//! Random draws, in order:
//! - the zombie, if the list is full;
//! - whether to overwrite it, after a miss;
//! - whether to drop or mark the packet, if it fits.

use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::Fifo;
use crate::reason::Why;
use crate::time::Time;
use crate::units::Limit;

crate::choice! {
    /// The paper's two variants.
    pub enum SredVariant {
        /// All flows alike.
        Simple = "simple",
        /// A packet that hits has a larger probability, which limits flows above their share.
        Full = "full",
    }
}

crate::params! {
    /// Settings of [`Sred`].
    pub struct SredConfig {
        /// Buffer size, the paper's B. Packets are dropped or marked from a sixth of it on, and four times as often
        /// from a third on.
        limit: Limit = Limit::Packets(1000);
        /// Number of entries in the list of recent flows (zombies).
        zombies: u32 = 1000, in 1..=1_000_000, also "M";
        /// Probability that a drawn zombie of another flow is overwritten by the arrival's flow.
        overwrite: f64 = 0.25, in 0.0..=1.0, also "p";
        /// Maximum drop or mark probability, before hits are considered.
        maxp: f64 = 0.15, in 0.0..=1.0, also "pmax" "max_p";
        /// Number of active flows above which the probability no longer grows.
        flows: u32 = 256, in 1..;
        /// `simple`: all flows alike. `full`: the probability of a packet that hits is multiplied by 1 + 1/P.
        variant: SredVariant = SredVariant::Full;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true;
    }
    presets {
        "paper" "Ott, Lakshman, Wong 1999: Full SRED with a list of 1000 (the defaults)" {}
        "simple" "Ott, Lakshman, Wong 1999: Simple SRED" { "variant" = "simple" }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("hit_frequency", "share", "P: estimated sum of the squares of all flows' shares.");
        Gauge::new("active_flows", "flows", "1/P: estimated number of active flows; 0 before the first hit.");
        Gauge::new("probability", "probability", "pzap: drop or mark probability of Simple SRED at the current queue length.");
    }
}

/// An entry of the list of recent flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zombie {
    /// Its flow.
    pub flow: FlowId,
    /// Hits since it entered the list. A high count shows a flow above its share.
    pub count: u64,
    /// Time of its last hit, or of its entry into the list.
    pub seen: Time,
}

/// A FIFO with a drop or mark probability that follows an estimate of the number of active flows.
pub struct Sred<T> {
    config: SredConfig,
    fifo: Fifo<T>,
    /// The recent flows, in no order.
    pub zombies: Vec<Zombie>,
    /// The paper's P: the hit frequency, averaged over about `zombies`/`overwrite` arrivals. It estimates the sum of
    /// the squares of all flows' shares: 1/n with n equal flows.
    pub hit_frequency: f64,
    alpha: f64,
}

impl<T> Sred<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: SredConfig, _: &LinkInfo) -> Result<Self, BuildError> {
        let alpha = config.overwrite / f64::from(config.zombies);
        Ok(Sred { fifo: Fifo::new(config.limit), zombies: Vec::new(), hit_frequency: 0.0, alpha, config })
    }

    /// Marks and stores the packet, or drops it. A separate function keeps the common path short.
    #[cold]
    fn signal(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if let Some(packet) = cx.signal(packet, Why::Early, self.config.ecn) {
            self.fifo.put(packet);
        }
    }

    /// psred: the probability by queue length alone.
    #[inline]
    fn base(&self) -> f64 {
        let held = self.fifo.backlog();
        let filled = match self.config.limit {
            Limit::Packets(room) => f64::from(held.packets) / f64::from(room),
            Limit::Bytes(room) => held.bytes as f64 / room as f64,
        };
        if filled >= 1.0 / 3.0 {
            self.config.maxp
        } else if filled >= 1.0 / 6.0 {
            self.config.maxp / 4.0
        } else {
            0.0
        }
    }

    /// pzap of Simple SRED. Each of n flows has a window near sqrt(1/pzap). As pzap grows with n^2, the sum of the
    /// windows is independent of n.
    #[inline]
    fn probability(&self) -> f64 {
        let spread = 1.0 / (f64::from(self.config.flows) * self.hit_frequency);
        self.base() * (spread * spread).min(1.0)
    }

    /// Compares the arrival with a random zombie and returns whether it hit.
    #[inline]
    fn compare_with_zombie(&mut self, flow: FlowId, cx: &mut Cx<'_, T>) -> bool {
        let fresh = Zombie { flow, count: 0, seen: cx.now };
        if self.zombies.len() < self.config.zombies as usize {
            self.zombies.push(fresh);
            return false;
        }
        let drawn = &mut self.zombies[cx.rng.below(self.config.zombies) as usize];
        let hit = drawn.flow == flow;
        if hit {
            drawn.count += 1;
            drawn.seen = cx.now;
        } else if cx.rng.chance(self.config.overwrite) {
            *drawn = fresh;
        }
        self.hit_frequency += self.alpha * (f64::from(u8::from(hit)) - self.hit_frequency);
        hit
    }
}

impl<T> Discipline<T> for Sred<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let hit = self.compare_with_zombie(packet.flow, cx);
        if !self.fifo.admits(packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        let mut probability = self.probability();
        if hit && self.config.variant == SredVariant::Full {
            probability *= 1.0 + 1.0 / self.hit_frequency;
        }
        if cx.rng.chance(probability) {
            self.signal(packet, cx);
        } else {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.fifo.pop()
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("hit_frequency", self.hit_frequency);
        gauge("active_flows", if self.hit_frequency > 0.0 { 1.0 / self.hit_frequency } else { 0.0 });
        gauge("probability", self.probability());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, Port, Rate, Rng};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Port<(), Sred<()>> {
        let config = SredConfig::from_settings(settings).unwrap();
        Port::new(Sred::new(config, &LINK).unwrap(), Rng::new(3))
    }

    fn offer(port: &mut Port<(), Sred<()>>, flow: u64) {
        port.enqueue(Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(flow), 1000, ()) }, Time::ZERO, &mut ());
    }

    #[test]
    fn the_list_takes_every_arrival_until_it_is_full_and_then_only_hits_and_overwrites_change_it() {
        let mut port = port(&[("zombies", "3"), ("overwrite", "0"), ("maxp", "0")]);
        (0..3).for_each(|_| offer(&mut port, 1));
        assert!(port.discipline().zombies.iter().all(|zombie| zombie.count == 0), "no hits while it fills");
        (0..10).for_each(|_| offer(&mut port, 1));
        assert_eq!(port.discipline().zombies.iter().map(|zombie| zombie.count).sum::<u64>(), 10);
        (0..100).for_each(|_| offer(&mut port, 2));
        assert!(port.discipline().zombies.iter().all(|zombie| zombie.flow == FlowId(1)), "never overwritten");
    }

    #[test]
    fn the_hit_frequency_moves_by_overwrite_over_zombies() {
        // One zombie, always overwritten: alpha is 1. Then two zombies at p = 1/2: alpha is 1/4.
        let mut port = port(&[("zombies", "1"), ("overwrite", "1")]);
        let seen = [1, 1, 2, 2].map(|flow| {
            offer(&mut port, flow);
            port.discipline().hit_frequency
        });
        assert_eq!(seen, [0.0, 1.0, 0.0, 1.0]);
        let mut slow = self::port(&[("zombies", "2"), ("overwrite", "0.5")]);
        let seen: [f64; 5] = core::array::from_fn(|_| {
            offer(&mut slow, 1);
            slow.discipline().hit_frequency
        });
        assert_eq!(seen, [0.0, 0.0, 0.25, 0.4375, 0.578125]);
    }

    #[test]
    fn the_probability_is_that_of_the_queues_sixths_times_the_square_of_the_number_of_flows() {
        let mut sred = Sred::<()>::new(SredConfig::from_settings(&[("limit", "12p")]).unwrap(), &LINK).unwrap();
        let (mut rng, mut sink) = (Rng::new(1), ());
        // With 128 flows the factor is (128/256)^2 = 1/4, of 0.15/4 and of 0.15.
        sred.hit_frequency = 1.0 / 128.0;
        let seen: [f64; 6] = core::array::from_fn(|_| {
            sred.fifo.push(Packet::new(FlowId(1), 1000, ()), &mut Cx::new(Time::ZERO, &mut rng, &mut sink));
            sred.probability()
        });
        assert_eq!(seen, [0.0, 0.15 / 16.0, 0.15 / 16.0, 0.15 / 4.0, 0.15 / 4.0, 0.15 / 4.0]);
        // From 256 flows on, and before the first hit, the factor is 1.
        assert_eq!(
            [0.0, 1.0 / 256.0, 1.0 / 5000.0].map(|hits| {
                sred.hit_frequency = hits;
                sred.probability()
            }),
            [0.15; 3]
        );
    }

    #[test]
    fn with_full_sred_a_packet_that_hits_is_signaled_more_often() {
        // With one flow P goes to 1, so pzap is 0.15 (1/256)^2, and twice that after a hit: too small to see here. With
        // flows = 1 it is 0.15, and 0.3 after a hit.
        for (variant, expected) in [("simple", 1500), ("full", 3000)] {
            let mut port = port(&[("limit", "6p"), ("zombies", "1"), ("flows", "1"), ("variant", variant)]);
            (0..3).for_each(|_| offer(&mut port, 1));
            (0..100).for_each(|_| offer(&mut port, 1));
            while port.backlog().packets > 3 {
                port.dequeue(Time::ZERO, &mut ());
            }
            let before = port.totals().counts().marked();
            (0..10_000).for_each(|_| {
                offer(&mut port, 1);
                port.dequeue(Time::ZERO, &mut ());
            });
            let marked = port.totals().counts().marked() - before;
            // Tolerance: five standard deviations, 36 and 46.
            assert!(marked.abs_diff(expected) < 230, "{variant}: {marked}");
        }
    }
}
