//! Stochastic Fair RED (SFRED): SFB's bins, each with an adaptive RED.
//!
//! As in SFB, independent hashes map a flow to one bin per level. A bin keeps its queued packets, their average, and a
//! maxp. maxp adapts as in `feng_red` ([`SelfConfiguringMaxp`]).
//!
//! On arrival, each bin of the flow updates its average and maxp. If even the smallest *maxp* is 1, the flow is treated
//! as unresponsive, and all such flows share one rate limit. Any other packet is dropped if its flow's bins are overfull,
//! or else dropped or marked with the smallest RED probability of its bins. On departure, the packet leaves its bins.
//!
//! Source: W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE active queue management algorithms", IEEE/ACM ToN 10(4),
//! 2002, section IV-A. It sketches SFRED only to compare SFB with it; docs/disciplines/sfred.md lists what is ours.

use alloc::vec::Vec;
use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{
    Average, BinNumbers, Fifo, LevelHash, MaxpScaling, Overfull, SelfConfiguringMaxp, Thresholds, TokenBucket,
    for_each_level,
};
use crate::reason::Why;
use crate::time::Time;
use crate::units::{Level, Limit, Rate};

crate::params! {
    /// Settings of [`Sfred`].
    pub struct SfredConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Levels of bins, each with its own hash function.
        levels: u32 = 2, in 1..=8, also "L";
        /// Number of bins per level.
        bins: u32 = 23, in 1..=4096, also "N";
        /// Packets in a bin above which it is overfull (see `overfull`). `auto`: 1.5/bins of the limit.
        bin_size: Option<Level> = None, also "Bin_Size";
        /// Bins that must be overfull for an arriving packet to be dropped: `any` or `all` of its flow's.
        overfull: Overfull = Overfull::All;
        /// Average of a bin below which it neither drops nor marks. Falling below it lowers the bin's maxp. A share
        /// refers to `bin_size`.
        minth: Level = Level::Share(0.2), also "min" "thresh_";
        /// Average of a bin above which it drops or marks every packet. Rising above it raises the bin's maxp.
        maxth: Level = Level::Share(0.8), also "max" "maxthresh_";
        /// Initial maxp of each bin.
        maxp: f64 = 0.02, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "max_p";
        /// Lower bound of maxp; the upper bound is 1.
        maxp_min: f64 = 0.01, in (Bound::Excluded(0.0), Bound::Included(1.0));
        /// Weight of each new bin length in the bin's average.
        wq: f64 = 0.02, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "q_weight_";
        /// Exempts unresponsive flows from drops for overfull bins: only the rate limit applies to them. Off: overfull
        /// bins can drop their packets first.
        penalty_alone: bool = true;
        /// Rate limit of all unresponsive flows together.
        penalty_rate: Rate = Rate::from_bits(160_000), in Rate::from_bits(1)..;
        /// Burst of all unresponsive flows together.
        penalty_burst: Limit = Limit::Packets(2);
        /// Marks ECN-capable packets instead of dropping them at random. Packets of unresponsive flows and packets for
        /// overfull bins are always dropped.
        ecn: bool = true, also "setbit_";
    }
    presets {
        "paper" "the defaults: SFB's bins (section IV-B), RED's thresholds and weight R3 (section III-B)" {}
        "blue" "the BLUE paper, section IV-B: 200 KB, bins of 13" { "limit" = "200KB", "bin_size" = "13p" }
    }
    reasons { Overflow, Early, Forced, FlowLimit, Unresponsive }
    gauges {
        Gauge::new("average_max", "packets", "Largest average of a bin.");
        Gauge::new("maxp_max", "probability", "Largest maxp of a bin.");
        Gauge::new("maxp_mean", "probability", "Mean maxp of the bins.");
        Gauge::new("polluted_bins", "bins", "Bins with a maxp of 1.");
        Gauge::new("bin_packets_max", "packets", "Packets in the fullest bin.");
    }
}

#[derive(Clone, Debug)]
struct RedBin {
    packets: u32,
    average: Average,
    maxp: SelfConfiguringMaxp,
}

/// The state of one bin, for tools.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedBinState {
    /// Its queued packets.
    pub packets: u32,
    /// Their average, as of the last arrival.
    pub average: f64,
    /// Its maxp.
    pub maxp: f64,
}

/// The state of an arrival's bins: the longest and shortest queue, and the least probability and maxp.
struct RedBinSummary {
    fullest: u32,
    emptiest: u32,
    probability: f64,
    maxp: f64,
}

/// A FIFO behind accounting bins with a RED each.
pub struct Sfred<T> {
    /// Each packet with its bins. The hash functions never change, so it leaves the bins that it entered.
    fifo: Fifo<T, BinNumbers>,
    hash: LevelHash,
    levels: usize,
    bins: Vec<RedBin>,
    bin_size: u32,
    overfull: Overfull,
    penalty_alone: bool,
    thresholds: Thresholds,
    scaling: MaxpScaling,
    /// The limiter of unresponsive flows.
    pub penalty: TokenBucket,
    ecn: bool,
}

impl<T> Sfred<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if a threshold is in bytes: a bin counts packets; if minth is not
    /// below maxth, or maxth is above `bin_size`.
    pub fn new(config: SfredConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let auto = Level::Share(1.5 / f64::from(config.bins));
        let packets = |name, level: Level| level.counted_in_packets(name, config.limit, link.mean_packet);
        let bin_size = packets("bin_size", config.bin_size.unwrap_or(auto))?;
        let in_bin = |name, level: Level| match level {
            Level::Share(part) => Ok(part * bin_size),
            other => packets(name, other),
        };
        let (min, max) = (in_bin("minth", config.minth)?, in_bin("maxth", config.maxth)?);
        let thresholds = Thresholds::new(min, max, bin_size, "packets in a bin")?;
        let bin = RedBin {
            packets: 0,
            average: Average::new(config.wq, link.rate.transmit(link.mean_packet)),
            maxp: SelfConfiguringMaxp::new(config.maxp),
        };
        let burst = config.penalty_burst.bytes(link.mean_packet) as u32;
        Ok(Sfred {
            fifo: Fifo::new(config.limit),
            hash: LevelHash::new(config.levels as usize, config.bins as usize, link.key, 1),
            levels: config.levels as usize,
            bins: link.tables.filled((config.levels * config.bins) as usize, bin)?,
            // The cast saturates and rounds down. A bin counts whole packets, so more than 13.04 packets are more than
            // 13.
            bin_size: bin_size as u32,
            overfull: config.overfull,
            penalty_alone: config.penalty_alone,
            thresholds,
            // The paper gives no factors. The self-configuring RED paper has these.
            scaling: MaxpScaling { alpha: 3.0, beta: 2.0, least: config.maxp_min },
            penalty: TokenBucket::new(config.penalty_rate, burst),
            ecn: config.ecn,
        })
    }

    /// Every bin, level after level.
    pub fn bins(&self) -> impl Iterator<Item = RedBinState> {
        self.bins.iter().map(|bin| RedBinState {
            packets: bin.packets,
            average: bin.average.value(),
            maxp: bin.maxp.maxp(),
        })
    }

    /// Updates the bins at `numbers` for an arrival and returns their state.
    #[inline(always)]
    fn update_bins(&mut self, numbers: &[u16], now: Time) -> RedBinSummary {
        let Thresholds { min, max } = self.thresholds;
        let mut found = RedBinSummary { fullest: 0, emptiest: u32::MAX, probability: 1.0, maxp: 1.0 };
        let bins = self.bins.as_mut_slice();
        for number in numbers {
            let bin = &mut bins[usize::from(*number)];
            let average = bin.average.update(f64::from(bin.packets), now);
            bin.maxp.update(average, self.thresholds, &self.scaling);
            let maxp = bin.maxp.maxp();
            let probability = if average < min {
                0.0
            } else if average < max {
                maxp * (average - min) / (max - min)
            } else {
                1.0
            };
            found.fullest = found.fullest.max(bin.packets);
            found.emptiest = found.emptiest.min(bin.packets);
            // No value is NaN; `f64::min` would check for it.
            if probability < found.probability {
                found.probability = probability;
            }
            if maxp < found.maxp {
                found.maxp = maxp;
            }
        }
        found
    }

    /// As [`update_bins`](Sfred::update_bins), for numbers of levels other than two.
    #[inline(never)]
    fn update_levels(&mut self, numbers: &BinNumbers, now: Time) -> RedBinSummary {
        self.update_bins(&numbers[..self.levels], now)
    }

    /// Reason to drop or mark the packet, if any, and whether its flow is unresponsive.
    #[inline(always)]
    fn judge(&mut self, bytes: u32, numbers: &BinNumbers, cx: &mut Cx<'_, T>) -> (Option<Why>, bool) {
        // As `for_each_level`, whose closure the compiler does not inline here.
        let two = self.levels == 2;
        let found = if two { self.update_bins(&numbers[..2], cx.now) } else { self.update_levels(numbers, cx.now) };
        let unresponsive = found.maxp >= 1.0;
        let overfull = self.overfull.length(found.fullest, found.emptiest) > self.bin_size;
        if overfull && !(unresponsive && self.penalty_alone) {
            return (Some(Why::FlowLimit), false);
        }
        if unresponsive {
            let passes = self.penalty.admits(bytes, cx.now);
            return ((!passes).then_some(Why::Unresponsive), true);
        }
        let why = if found.probability < 1.0 { Why::Early } else { Why::Forced };
        (cx.rng.chance(found.probability).then_some(why), false)
    }

    /// Marks and stores the packet, or drops it. A separate function keeps the common path short.
    #[inline(never)]
    fn enqueue_signaled(&mut self, packet: Packet<T>, numbers: &BinNumbers, why: Why, cx: &mut Cx<'_, T>) {
        let may_mark = self.ecn && [Why::Early, Why::Forced].contains(&why) && self.fifo.admits(packet.bytes);
        if let Some(packet) = cx.signal(packet, why, may_mark) {
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
        let bins = self.bins.as_mut_slice();
        for_each_level(self.levels, |level| bins[usize::from(numbers[level])].packets += 1);
        true
    }
}

impl<T> Discipline<T> for Sfred<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let numbers = self.hash.bin_numbers(packet.flow);
        let (why, unresponsive) = self.judge(packet.bytes, &numbers, cx);
        if let Some(why) = why {
            return self.enqueue_signaled(packet, &numbers, why, cx);
        }
        let bytes = packet.bytes;
        if self.store(packet, &numbers, cx) && unresponsive {
            self.penalty.take(bytes, cx.now);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let (packet, numbers) = self.fifo.pop_tagged()?;
        let bins = self.bins.as_mut_slice();
        for_each_level(self.levels, |level| {
            let bin = &mut bins[usize::from(numbers[level])];
            bin.packets -= 1;
            bin.average.record_dequeue(true, cx.now);
            if bin.packets == 0 {
                bin.average.record_dequeue(false, cx.now);
            }
        });
        Some(packet)
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let bins = self.bins.len() as f64;
        gauge("average_max", self.bins().map(|bin| bin.average).fold(0.0, f64::max));
        gauge("maxp_max", self.bins().map(|bin| bin.maxp).fold(0.0, f64::max));
        gauge("maxp_mean", self.bins().map(|bin| bin.maxp).sum::<f64>() / bins);
        gauge("polluted_bins", self.bins().filter(|bin| bin.maxp >= 1.0).count() as f64);
        gauge("bin_packets_max", f64::from(self.bins().map(|bin| bin.packets).max().unwrap_or(0)));
    }
    fn observe_bins(&self, bin: &mut dyn FnMut(usize, usize, f64, u32)) {
        let width = self.bins.len() / self.levels;
        for (place, each) in self.bins().enumerate() {
            bin(place / width, place % width, each.maxp, each.packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rng, Span};

    fn port(settings: &[(&str, &str)]) -> Port<(), Sfred<()>> {
        let config = SfredConfig::from_settings(settings).unwrap();
        let link = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
        Port::new(Sfred::new(config, &link).unwrap(), Rng::new(1))
    }

    fn arrive(port: &mut Port<(), Sfred<()>>, flow: u64, us: u64) {
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(flow), 1000, ()) };
        port.enqueue(packet, Time::ZERO + Span::from_micros(us), &mut ());
    }

    fn drops(port: &Port<(), Sfred<()>>, why: Why) -> u64 {
        port.totals().counts().drops(why)
    }

    /// One bin in which the average is the length.
    const ONE_BIN: &[(&str, &str)] =
        &[("bins", "1"), ("levels", "1"), ("bin_size", "5p"), ("minth", "1p"), ("maxth", "3p"), ("wq", "1")];

    #[test]
    fn a_bin_above_maxth_signals_every_packet_and_doubles_its_maxp_once() {
        let mut port = port(&[ONE_BIN, &[("maxp", "0.25")]].concat());
        (0..7).for_each(|_| arrive(&mut port, 1, 0));
        // The arrivals find 0 to 6 packets. From 3 on all are marked, and the seventh does not fit.
        let counts = port.totals().counts();
        assert_eq!((counts.marks(Why::Forced), counts.drops(Why::FlowLimit)), (3, 1));
        assert_eq!(port.discipline().bins().next().unwrap().maxp, 0.5);
    }

    #[test]
    fn a_flow_whose_bins_have_all_a_maxp_of_1_is_limited_in_rate() {
        let mut port =
            port(&[ONE_BIN, &[("maxp", "0.5"), ("penalty_rate", "80kbit/s"), ("penalty_burst", "1p")]].concat());
        (0..5).for_each(|_| arrive(&mut port, 1, 0));
        // The fifth packet found an average of 4 and a maxp of 1, and took the token. At 80 kbit/s the next token is
        // there after 100 ms.
        arrive(&mut port, 1, 99_999);
        assert_eq!((drops(&port, Why::Unresponsive), port.backlog().packets), (1, 5));
        arrive(&mut port, 1, 100_000);
        assert_eq!((drops(&port, Why::Unresponsive), port.backlog().packets), (1, 6));
    }

    #[test]
    fn idle_time_lowers_the_average_of_an_empty_bin() {
        let mut port = port(&[ONE_BIN, &[("wq", "0.5"), ("maxp", "0.01"), ("minth", "2p")]].concat());
        (0..4).for_each(|_| arrive(&mut port, 1, 0));
        // By hand: averages 0, 0.5, 1.25, 2.125.
        while port.dequeue(Time::ZERO, &mut ()).is_some() {}
        // Three packets of 1 ms could have been sent.
        arrive(&mut port, 1, 3000);
        assert_eq!(port.discipline().bins().next().unwrap().average, 2.125 / 8.0);
    }

    #[test]
    fn every_preset_builds_and_thresholds_out_of_order_are_a_conflict() {
        for preset in SfredConfig::presets() {
            assert!(port(&[("preset", preset.name)]).discipline().bin_size >= 13, "{}", preset.name);
        }
        let link = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
        for bad in [("minth", "90%"), ("maxth", "100p"), ("bin_size", "0p")] {
            let config = SfredConfig::from_settings(&[bad]).unwrap();
            assert!(matches!(Sfred::<()>::new(config, &link), Err(BuildError::Conflict(_))), "{bad:?}");
        }
    }
}
