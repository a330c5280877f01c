//! Stochastic Fair BLUE (SFB): BLUE per hashed bin instead of per queue.
//!
//! SFB keeps `levels` tables of `bins` bins. At each level an independent hash maps a flow to one bin, so a flow has
//! one bin per level. A bin counts its queued packets and holds a drop or mark probability p.
//!
//! On arrival, each bin of the flow is updated as in BLUE. Its p rises by `d1` if the bin holds more than `bin_size`
//! packets, and falls by `d2` if it is empty. The packet's probability is the smallest p among its bins. A responsive
//! flow that shares one bin with an unresponsive flow therefore still has a clean bin at another level.
//!
//! If every bin of a flow has p = 1, SFB treats the flow as unresponsive. Its packets must pass a rate limiter
//! ([`Limiter`], chosen by [`Penalty`]). Any other packet is dropped if its flow's bins are overfull
//! ([`Overfull`](crate::parts::Overfull)), or else dropped or marked with probability p. On departure, the packet leaves
//! its bins, and a bin that becomes empty lowers its p.
//!
//! The hash functions change every `rehash`. A second set of bins is trained in advance (`double_buffer`), so
//! unresponsive flows are recognized immediately after the change.
//!
//! Source: W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE active queue management algorithms", IEEE/ACM ToN 10(4),
//! 2002, section IV. Defaults and the box time are those of the comparison paper (RED, FRED, BLUE, SFB and CHOKe in
//! ns-2), sections 2.4, 3.3.3 and 4.3. Deviations are listed in docs/disciplines/sfb.md.
//!
//! | paper | here |
//! | --- | --- |
//! | N, L | `bins`, `levels` |
//! | `B[l][n]`.qlen, pm | [`Bin::packets`], [`Bin::probability`] |
//! | p_min | [`BinSummary::probability`](crate::parts::BinSummary::probability) |
//! | d1, d2, freeze_time | `d1`, `d2`, `freeze_time` |
//! | Boxtime, Hinterval | `boxtime`, `rehash` |

mod settings;

use alloc::collections::VecDeque;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{Bin, Bins, FairShareLimiter, Fifo, FlowCount, Limiter, PacketLimiter};
use crate::parts::{BinNumbers, PolledTimer, ProbabilitySteps, TokenBucket, keyed};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::Level;

pub use crate::parts::{estimate_unresponsive_flows, misclassification};
pub use settings::{Penalty, Rules, SfbConfig};

/// A FIFO behind accounting bins.
pub struct Sfb<T> {
    config: SfbConfig,
    /// Each queued packet with its bins.
    fifo: Fifo<T, BinNumbers>,
    /// Queued packets that are counted in the next set too: sequence number, and bins in that set.
    trained: VecDeque<(u64, BinNumbers)>,
    /// Packets that have left the FIFO. This is the sequence number of its head.
    left: u64,
    bins: Bins,
    bin_size: u32,
    bin_max: u32,
    /// The limiter of unresponsive flows.
    pub limiter: Limiter,
    rehash: PolledTimer,
}

impl<T> Sfb<T> {
    /// An empty queue; every probability is 0.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `bin_size` or `bin_max` is in bytes: a bin counts packets; if
    /// `bin_max` is below `bin_size`, or `warmup` is longer than `rehash`.
    pub fn new(config: SfbConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let auto = Level::Share(1.5 / f64::from(config.bins));
        // The casts saturate and round down. A bin counts whole packets, so more than 13.04 packets are more than 13.
        let packets = |name, level: Level| -> Result<u32, BuildError> {
            Ok(level.counted_in_packets(name, config.limit, link.mean_packet)? as u32)
        };
        let bin_size = packets("bin_size", config.bin_size.unwrap_or(auto))?;
        let bin_max = config.bin_max.map_or(Ok(bin_size), |level| packets("bin_max", level))?;
        if bin_max < bin_size {
            return Err(BuildError::Conflict("`bin_max` must not be below `bin_size`".into()));
        }
        if config.warmup.is_some_and(|warmup| warmup > config.rehash) {
            return Err(BuildError::Conflict("`warmup` must not be longer than `rehash`".into()));
        }
        let limiter = limiter(&config, link)?;
        let steps = ProbabilitySteps { up: config.d1, down: config.d2, freeze: config.freeze_time };
        let bins = Bins::new(config.levels as usize, config.bins as usize, steps, link.key, link.tables)?;
        let rehash = PolledTimer::new(config.rehash, Time::ZERO);
        let (fifo, trained) = (Fifo::new(config.limit), VecDeque::new());
        Ok(Sfb { config, fifo, trained, left: 0, bins, bin_size, bin_max, limiter, rehash })
    }

    /// All bins: the set in use, level after level, then the next set.
    pub fn bins(&self) -> impl Iterator<Item = &Bin> {
        self.bins.all_bins()
    }

    /// The bins of `flow` in the set in use, one per level. The limiter uses the same numbers.
    pub fn bins_of(&self, flow: FlowId) -> BinNumbers {
        self.bins.bins_of(flow)
    }

    /// Changes the hash functions when due. Two changes reset every bin, so no more are made after a jump of the clock.
    #[inline]
    fn switch_hashes(&mut self, now: Time) {
        let due = self.rehash.advance(now).min(2);
        let keep = self.follows_linux();
        (0..due).for_each(|_| self.bins.switch(keep));
    }

    #[inline]
    fn follows_linux(&self) -> bool {
        self.config.rules == Rules::Linux
    }

    fn is_training(&self, now: Time) -> bool {
        let period = self.config.rehash.as_nanos();
        let warmup = self.config.warmup.map_or(period, Span::as_nanos);
        // Changes fall on whole multiples of the period.
        self.config.double_buffer && period > 0 && now.as_nanos() % period >= period - warmup
    }

    /// Updates the next set for an arrival of an unresponsive flow.
    fn train(&mut self, flow: FlowId, now: Time) {
        if self.follows_linux() {
            self.bins.arrive(&self.bins.next_bins_of(flow), self.bin_size, now);
        } else {
            self.bins.train(flow, now);
        }
    }

    /// Counts the queued packet in the next set too. Without this, the flow's bins would be empty after the change and
    /// their probability would fall. The flow would then pass without a limit until it has filled them.
    fn train_packet(&mut self, flow: FlowId) {
        let numbers = self.bins.next_bins_of(flow);
        self.bins.enter(&numbers);
        self.trained.push_back((self.left + u64::from(self.fifo.backlog().packets) - 1, numbers));
    }

    /// Drops or stores a packet whose bins are `overfull`, or whose flow is `unresponsive`. A separate function, like
    /// [`enqueue_signaled`](Sfb::enqueue_signaled), to keep the common path short.
    #[inline(never)]
    fn enqueue_limited(&mut self, packet: Packet<T>, numbers: &BinNumbers, verdict: BinVerdict, cx: &mut Cx<'_, T>) {
        let BinVerdict { unresponsive, overfull } = verdict;
        let full = overfull && !(unresponsive && self.config.penalty_alone);
        // Linux drops the packet before it looks at the next set.
        if unresponsive && self.is_training(cx.now) && !(full && self.follows_linux()) {
            self.train(packet.flow, cx.now);
        }
        if full {
            return cx.drop(packet, Why::FlowLimit);
        }
        let levels = &numbers[..self.config.levels as usize];
        if !self.limiter.admits(levels, packet.bytes, cx.now) {
            return cx.drop(packet, Why::Unresponsive);
        }
        let (bytes, flow) = (packet.bytes, packet.flow);
        if self.store(packet, numbers, cx) {
            self.limiter.charge(levels, bytes, cx.now, cx.rng);
            if self.is_training(cx.now) {
                self.train_packet(flow);
            }
        }
    }

    /// Marks and stores, or drops, a packet whose `draw` was below its bins' `probability`.
    #[inline(never)]
    fn enqueue_signaled(&mut self, packet: Packet<T>, numbers: &BinNumbers, draws: [f64; 2], cx: &mut Cx<'_, T>) {
        let [draw, probability] = draws;
        // With Linux's rules 2p - 1 of all packets are dropped, so all at p = 1.
        let marks_as_well = !self.follows_linux() || draw >= 2.0 * probability - 1.0;
        let may_mark = self.config.ecn && self.fifo.admits(packet.bytes) && marks_as_well;
        if let Some(packet) = cx.signal(packet, Why::Early, may_mark) {
            self.store(packet, numbers, cx);
        }
    }

    /// Stores the packet and counts it in its bins, or drops it if it does not fit. Returns whether it was stored.
    #[inline(always)]
    fn store(&mut self, packet: Packet<T>, numbers: &BinNumbers, cx: &mut Cx<'_, T>) -> bool {
        if !self.fifo.admits(packet.bytes) {
            cx.drop(packet, Why::Overflow);
            return false;
        }
        self.fifo.put_tagged(packet, *numbers);
        self.bins.enter(numbers);
        true
    }
}

/// Why a packet may be dropped without a draw.
#[derive(Clone, Copy, Debug)]
struct BinVerdict {
    /// Its bins' lowest probability is 1.
    unresponsive: bool,
    /// A bin, or all (`overfull`), hold more than `bin_max` packets.
    overfull: bool,
}

fn limiter(config: &SfbConfig, link: &LinkInfo) -> Result<Limiter, BuildError> {
    let burst = config.penalty_burst.bytes(link.mean_packet) as u32;
    Ok(match config.penalty {
        Penalty::Rate => Limiter::Rate(TokenBucket::new(config.penalty_rate, burst)),
        Penalty::Linux => {
            let burst = config.penalty_burst.packets(link.mean_packet) as u32;
            Limiter::Packets(PacketLimiter::new(config.penalty_packets, burst))
        }
        Penalty::Boxtime => {
            let (every, random) = (config.boxtime, config.randomize_boxtime);
            Limiter::Interval { every, random, opens: Time::ZERO }
        }
        Penalty::FairShare => {
            // Differs from the keys of the bins, which are derived from the secret and small numbers.
            let flows = FlowCount::new(config.flow_window, keyed(link.key, FlowId(u64::MAX)));
            let bins = 2 * (config.levels * config.bins) as usize;
            Limiter::Each(FairShareLimiter::new(link.rate, burst, flows, bins, link.tables)?)
        }
    })
}

impl<T> Discipline<T> for Sfb<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if self.follows_linux() && !self.fifo.admits(packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        self.switch_hashes(cx.now);
        self.limiter.count_arrival(packet.flow, cx.now);
        let numbers = self.bins.bins_of(packet.flow);
        let found = self.bins.arrive(&numbers, self.bin_size, cx.now);
        let overfull = self.config.overfull.length(found.fullest, found.emptiest) > self.bin_max;
        let (p, unresponsive) = (found.probability, found.probability >= 1.0);
        if overfull | unresponsive {
            return self.enqueue_limited(packet, &numbers, BinVerdict { unresponsive, overfull }, cx);
        }
        let draw = if p > 0.0 { cx.rng.unit() } else { 1.0 };
        if draw < p {
            return self.enqueue_signaled(packet, &numbers, [draw, p], cx);
        }
        self.store(packet, &numbers, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.switch_hashes(cx.now);
        let (packet, numbers) = self.fifo.pop_tagged()?;
        let lower = self.config.lower_at_departure;
        self.bins.leave(&numbers, lower, cx.now);
        if let Some((_, numbers)) = self.trained.front().filter(|(number, _)| *number == self.left) {
            self.bins.leave(numbers, lower, cx.now);
            self.trained.pop_front();
        }
        self.left += 1;
        Some(packet)
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let SfbConfig { levels, bins: width, .. } = self.config;
        let bins = f64::from(levels * width);
        let polluted = self.bins.probabilities().filter(|p| *p >= 1.0).count() as u32;
        gauge("probability_max", self.bins.probabilities().fold(0.0, f64::max));
        gauge("probability_mean", self.bins.probabilities().sum::<f64>() / bins);
        gauge("polluted_bins", f64::from(polluted));
        gauge("unresponsive_flows", estimate_unresponsive_flows(width, levels, polluted));
        gauge("bin_packets_max", f64::from(self.bins.max_packets()));
        if let Limiter::Each(fair) = &self.limiter {
            gauge("flows", fair.flows());
        }
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let found = self.bins.summary(&self.bins_of(flow));
        gauge("probability", found.probability);
        gauge("bin_packets", found.fullest.into());
    }
    fn observe_bins(&self, bin: &mut dyn FnMut(usize, usize, f64, u32)) {
        self.bins.in_use().for_each(|(level, number, each)| bin(level, number, each.probability, each.packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::params::Params;
    use crate::port::Port;
    use crate::rng::Rng;
    use crate::units::Rate;
    use alloc::string::ToString;
    use proptest::prelude::*;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);

    fn sfb(settings: &[(&str, &str)]) -> Port<(), Sfb<()>> {
        let config = SfbConfig::from_settings(settings).unwrap();
        Port::new(Sfb::new(config, &LINK).unwrap(), Rng::new(1))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(port: &mut Port<(), Sfb<()>>, flow: u64, ecn: Ecn, now: Time) {
        port.enqueue(Packet { ecn, ..Packet::new(FlowId(flow), 1000, ()) }, now, &mut ());
    }

    fn drops(port: &Port<(), Sfb<()>>, why: Why) -> u64 {
        port.totals().counts().drops(why)
    }

    fn queued_by_set(sfb: &Sfb<()>) -> [u32; 2] {
        let size = (sfb.config.levels * sfb.config.bins) as u16;
        let numbers = || sfb.fifo.tags().chain(sfb.trained.iter().map(|(_, numbers)| numbers));
        [0, 1].map(|set| numbers().filter(|numbers| numbers[0] / size == set).count() as u32)
    }

    proptest! {
        #[test]
        fn each_level_counts_the_packets_queued_under_its_set_and_none_when_the_queue_is_empty(
            calls in prop::collection::vec((0u64..30, 0u64..40, any::<bool>()), 1..300), levels in 1u32..=8,
        ) {
            let levels = levels.to_string();
            let mut port = sfb(&[("limit", "40p"), ("levels", &levels), ("bins", "5"), ("rehash", "300ms"), ("d1", "0.3")]);
            let mut now = 0;
            for (flow, wait, departs) in calls {
                now += if wait == 39 { 5000 } else { wait };
                if departs {
                    port.dequeue(at(now), &mut ());
                } else {
                    arrive(&mut port, flow, Ecn::NotEct, at(now));
                }
                let (queued, counted) = (queued_by_set(port.discipline()), port.discipline().bins.packets_by_level());
                for set in [0, 1] {
                    prop_assert!(counted[set].iter().all(|sum| *sum == queued[set]), "{:?} {:?}", queued, counted);
                }
            }
            while port.dequeue(at(now), &mut ()).is_some() {}
            prop_assert!(port.discipline().bins.packets_by_level().iter().flatten().all(|sum| *sum == 0));
        }
    }

    #[test]
    fn a_bin_holds_its_size_and_the_packet_that_finds_more_is_dropped_and_raises_the_probability() {
        // 1.5/23 of 200 packets is 13.04: the fourteenth still enters, the fifteenth finds 14.
        let mut port = sfb(&[("limit", "200p")]);
        (0..16).for_each(|ms| arrive(&mut port, 1, Ecn::NotEct, at(ms)));
        assert_eq!((port.backlog().packets, drops(&port, Why::FlowLimit)), (14, 2));
        assert!(port.gauges().contains(&("probability_max", 0.01)));
    }

    #[test]
    fn above_one_threshold_the_probability_rises_and_above_the_other_packets_are_dropped() {
        let mut port = sfb(&[("target", "2"), ("max", "4"), ("d1", "0")]);
        (0..9).for_each(|ms| arrive(&mut port, 1, Ecn::NotEct, at(ms)));
        assert_eq!((port.backlog().packets, drops(&port, Why::FlowLimit)), (5, 4));
    }

    #[test]
    fn a_flow_whose_bins_have_all_reached_1_passes_one_packet_each_box_time() {
        let mut port = sfb(&[("bin_size", "3"), ("d1", "0.5"), ("d2", "0"), ("boxtime", "50ms")]);
        (0..6).for_each(|ms| arrive(&mut port, 1, Ecn::Ect0, at(ms)));
        while port.dequeue(at(6), &mut ()).is_some() {}
        let passed = (10..1010).filter(|ms| {
            arrive(&mut port, 1, Ecn::Ect0, at(*ms));
            port.dequeue(at(*ms), &mut ()).is_some()
        });
        assert_eq!(passed.count(), 20);
        assert_eq!(drops(&port, Why::Unresponsive), 980, "dropped, though they could have been marked");
    }

    #[test]
    fn a_penalized_packet_that_does_not_fit_does_not_use_up_the_box_time() {
        let mut port = sfb(&[("limit", "5p"), ("bin_size", "1"), ("bin_max", "9"), ("d1", "1"), ("bins", "512")]);
        (0..3).for_each(|ms| arrive(&mut port, 1, Ecn::NotEct, at(ms)));
        (2..4).for_each(|flow| arrive(&mut port, flow, Ecn::NotEct, at(3)));
        assert_eq!(port.backlog().packets, 5);
        arrive(&mut port, 1, Ecn::NotEct, at(60));
        assert_eq!(drops(&port, Why::Overflow), 1);
        port.dequeue(at(60), &mut ());
        arrive(&mut port, 1, Ecn::NotEct, at(60));
        assert_eq!((port.backlog().packets, drops(&port, Why::Unresponsive)), (5, 0));
    }

    #[test]
    fn an_unresponsive_flow_stays_limited_over_a_rehash_only_with_double_buffering() {
        for (kept, early) in [("on", 0), ("off", 1)] {
            let doubled = ("double_buffer", kept);
            let mut port = sfb(&[("bin_size", "3"), ("d1", "0.5"), ("d2", "0"), ("rehash", "1s"), doubled]);
            (0..1000).for_each(|ms| arrive(&mut port, 1, Ecn::NotEct, at(ms)));
            while port.dequeue(at(999), &mut ()).is_some() {}
            let free = (1000..1049).filter(|ms| {
                arrive(&mut port, 1, Ecn::NotEct, at(*ms));
                port.dequeue(at(*ms), &mut ()).is_some()
            });
            assert_eq!(free.count() > 1, early == 1, "double_buffer={kept}");
        }
    }

    #[test]
    fn an_unresponsive_flow_with_packets_waiting_stays_limited_over_a_rehash() {
        // Each empty bin that an arrival finds would lose a quarter, and every fourth packet would pass.
        let settings = [("bin_size", "3"), ("bin_max", "9"), ("d1", "0.5"), ("d2", "0.25"), ("rehash", "1s")];
        let mut port = sfb(&settings);
        let mut step = |ms| {
            let before = port.backlog().packets;
            arrive(&mut port, 1, Ecn::NotEct, at(ms));
            let passed = port.backlog().packets > before;
            if passed && ms > 100 {
                port.dequeue(at(ms), &mut ());
            }
            passed
        };
        (0..1000).for_each(|ms| _ = step(ms));
        assert!((1000..1050).filter(|ms| step(*ms)).count() <= 1);
    }

    #[test]
    fn the_next_set_is_warm_only_within_the_warm_up_before_the_change() {
        let port = sfb(&[("rehash", "10s"), ("db", "3s")]);
        let is_training = [0, 6999, 7000, 9999, 10_000, 17_000].map(|ms| port.discipline().is_training(at(ms)));
        assert_eq!(is_training, [false, false, true, true, false, true]);
        assert!(!sfb(&[("rehash", "0s")]).discipline().is_training(at(5)));
    }

    #[test]
    fn presets_say_what_their_sources_say() {
        for preset in SfbConfig::presets() {
            let config = SfbConfig::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Sfb::<()>::new(config, &LINK).is_ok(), "{}", preset.name);
        }
        let sfb = |preset| Sfb::<()>::new(SfbConfig::from_settings(&[("preset", preset)]).unwrap(), &LINK).unwrap();
        assert_eq!((sfb("blue").bin_size, sfb("linux").bin_max, sfb("paper").bin_size), (13, 24, 65));
    }

    #[test]
    fn contradictory_settings_are_refused() {
        for settings in [[("bin_size", "9"), ("bin_max", "8")], [("rehash", "1s"), ("warmup", "2s")]] {
            let config = SfbConfig::from_settings(&settings).unwrap();
            assert!(matches!(Sfb::<()>::new(config, &LINK), Err(BuildError::Conflict(_))));
        }
    }
}
