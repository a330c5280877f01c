//! A FIFO with RED, shared by `red` and the disciplines that build on it.
//!
//! [`RedDetector`] makes the decision. This file adds the user's settings, the queue, and the drop or mark.

use alloc::format;
use core::ops::Bound;

use super::{Average, Fifo, RedDetector, Spacing, Thresholds, Zone};
use crate::cx::Cx;
use crate::discipline::LinkInfo;
use crate::packet::{Backlog, Packet};
use crate::params::{BuildError, Bytes};
use crate::reason::Why;
use crate::time::Span;
use crate::units::{Level, Limit, Rate};

crate::params! {
    /// RED's settings, shared by all disciplines that build on RED.
    pub struct RedSettings {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000), also "MaxSize";
        /// Average queue length below which no packet is dropped or marked. With a threshold in bytes, the average counts
        /// bytes. `auto`: half the queue that `target_delay` allows, at least 5 packets and at most a sixth of the limit.
        minth: Option<Level> = Some(Level::Share(0.25)), also "min" "thresh" "thresh_" "MinTh";
        /// Average queue length from which every packet is dropped or marked (with `gentle`, from twice this). `auto`:
        /// three times `minth`.
        maxth: Option<Level> = Some(Level::Share(0.5)), also "max" "maxthresh" "maxthresh_" "MaxTh";
        /// Drop or mark probability just below `maxth`, before spacing.
        maxp: f64 = 0.02, in 0.0..=1.0, also "max_p" "probability" "cur_max_p_", inverse "linterm_" "LInterm";
        /// Weight of each new queue length in the average. `auto`: 1 - exp(-1/C), where C is the link's rate in mean
        /// packets per second.
        wq: Option<f64> = Some(0.002), in (Bound::Excluded(0.0), Bound::Included(1.0)), also "q_weight" "q_weight_" "w_q" "QW";
        /// tc's `burst`: packets that may arrive at once at an empty queue before the average reaches `minth`. Sets
        /// `wq` to a power of two. 0: `wq` as given. `auto`: (2 minth + maxth)/3, as in tc.
        burst: Option<u32> = Some(0);
        /// Target queueing delay from which `auto` derives `minth`.
        target_delay: Span = Span::from_millis(5), also "targetdelay" "targetdelay_" "TargetDelay";
        /// How drops and marks are spaced: `uniform` as in the paper, or `wait` as in ns-2, which leaves a gap after
        /// each.
        spacing: Spacing = Spacing::Uniform;
        /// Raises the probability from `maxp` to 1 between `maxth` and twice `maxth`, instead of jumping to 1 at
        /// `maxth`.
        gentle: bool = false, also "gentle_" "Gentle";
        /// Measures the queue in bytes and scales the probability by the packet's size over the mean size.
        byte_mode: bool = false, also "bytes" "bytes_" "queue_in_bytes_";
        /// In byte mode, makes the probability independent of the packet's size, as Linux does.
        ignore_size: bool = false;
        /// Never drops or marks the first packet after the average reaches `minth`, as in Linux and ns-2.
        spare_first: bool = false;
        /// Drops or marks nothing while fewer packets than this are queued. ns-2 uses 1 in byte mode and 2 in packet
        /// mode.
        spare_below: u32 = 0;
        /// Marks ECN-capable packets above `maxth` too, instead of dropping them.
        mark_above_maxth: bool = false;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "setbit_" "UseEcn";
        /// Size of a typical packet, for idle time, byte mode and thresholds in another unit. `auto`: the host's value.
        mean_packet: Option<Bytes> = None, in Bytes(1).., also "avpkt" "mean_pktsize" "mean_pktsize_" "MeanPktSize";
    }
    presets {}
}

impl RedSettings {
    /// RED's decision on `link`. An `auto` minth is half the queue at the target delay, at least 5 packets and at most
    /// a sixth of the limit. An `auto` maxth is three times minth.
    pub fn detector(&self, link: &LinkInfo) -> Result<RedDetector, BuildError> {
        let mean = self.mean_packet(link);
        let thresholds = self.thresholds(link.rate, mean)?;
        let weight = self.weight(link.rate, thresholds, mean)?;
        let average = Average::new(weight, link.rate.transmit(mean));
        Ok(RedDetector::new(average, thresholds, self.maxp)
            .gentle(self.gentle)
            .spacing(self.spacing)
            .spare_first(self.spare_first))
    }

    /// Whether the queue is measured in bytes: in byte mode, or if a threshold is given in bytes. A conversion of bytes to
    /// packets would move such a threshold with the packets' sizes.
    pub(crate) fn counts_bytes(&self) -> bool {
        self.byte_mode || [self.minth, self.maxth].into_iter().flatten().any(Level::is_of_bytes)
    }

    /// The typical packet size in bytes, at least 1.
    pub fn mean_packet(&self, link: &LinkInfo) -> u32 {
        let own = self.mean_packet.map(|size| u32::try_from(size.0).unwrap_or(u32::MAX));
        own.unwrap_or(link.mean_packet).max(1)
    }

    fn thresholds(&self, rate: Rate, mean: u32) -> Result<Thresholds, BuildError> {
        let counts_bytes = self.counts_bytes();
        let level = |level: Level| {
            if counts_bytes { level.bytes(self.limit, mean) } else { level.packets(self.limit, mean) }
        };
        let (limit, unit) = (level(Level::Share(1.0)), if counts_bytes { "bytes" } else { "packets" });
        let (min, max) = match (self.minth.map(level), self.maxth.map(level)) {
            (Some(min), Some(max)) => (min, max),
            (Some(min), None) => (min, 3.0 * min),
            (None, max) => {
                // Floyd, Gummadi, Shenker 2001, section 4: half the queue at the target delay, at least 5 packets, and
                // maxth three times that. The paper has no limit; here 2 maxth, the end of the gentle range, must fit
                // it.
                let wanted = (self.target_delay.as_secs_f64() / 2.0 * packets_a_second(rate, mean)).max(5.0);
                let min = level(Level::Packets(wanted)).min(limit / 6.0);
                (min, max.unwrap_or(3.0 * min))
            }
        };
        Thresholds::new(min, max, limit, unit)
    }

    pub(crate) fn weight(&self, rate: Rate, thresholds: Thresholds, mean: u32) -> Result<f64, BuildError> {
        if self.burst == Some(0) {
            return Ok(self.wq.unwrap_or_else(|| weight_of_rate(rate, mean)));
        }
        let unit = if self.counts_bytes() { f64::from(mean) } else { 1.0 };
        let (min, max) = (thresholds.min / unit, thresholds.max / unit);
        // Rounds down like tc's integers.
        let burst = self.burst.unwrap_or(((2.0 * min + max) / 3.0) as u32);
        weight_of_burst(burst, min).ok_or_else(|| {
            BuildError::Conflict(format!("no weight suits a burst of {burst} packets with minth at {min} packets"))
        })
    }
}

/// The weight with which the average has a time constant of one second: 1 - exp(-1/C), where C is the link's rate in
/// packets of `mean` bytes a second. The weight of an old average falls to 1/e with C arrivals, which take a second on
/// a busy link (Floyd, Gummadi, Shenker 2001, section 4).
pub fn weight_of_rate(rate: Rate, mean: u32) -> f64 {
    // `expm1` is accurate where 1 - exp(-1/C) would round to 0. A rate of zero gives a weight of 1.
    (-libm::expm1(-1.0 / packets_a_second(rate, mean))).clamp(f64::MIN_POSITIVE, 1.0)
}

/// The weight wq for tc's `burst`, with minth at `min` packets. It is the greatest 2^-W, W = 1 to 31, with burst + 1 -
/// min <= (1 - (1 - wq)^burst)/wq. A burst of that length into an empty queue then passes before the average reaches
/// minth. `None` if no weight fits, or if the burst is shorter than minth.
///
/// Source: iproute2, `tc_red_eval_ewma`, after Floyd, Jacobson 1993, section VI, where the power is burst + 1.
pub fn weight_of_burst(burst: u32, min: f64) -> Option<f64> {
    let excess = f64::from(burst) + 1.0 - min;
    let mut weights = (1..32).map(|log| libm::ldexp(1.0, -log));
    let passes = |weight: &f64| excess <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight;
    if excess < 1.0 { None } else { weights.find(passes) }
}

fn packets_a_second(rate: Rate, mean: u32) -> f64 {
    rate.as_bits() as f64 / (8.0 * f64::from(mean))
}

/// A FIFO with random early detection on arrival.
#[derive(Clone, Debug)]
pub struct RedQueue<T> {
    settings: RedSettings,
    fifo: Fifo<T>,
    detector: RedDetector,
    /// Whether the queue is measured in bytes.
    counts_bytes: bool,
    /// The mean size in bytes, if the probability scales with packet size.
    scale_by: Option<f64>,
}

impl<T> RedQueue<T> {
    /// An empty queue on `link`.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, or no weight suits the burst.
    pub fn new(settings: RedSettings, link: &LinkInfo) -> Result<RedQueue<T>, BuildError> {
        let detector = settings.detector(link)?;
        let by_size = settings.byte_mode && !settings.ignore_size;
        let scale_by = by_size.then(|| f64::from(settings.mean_packet(link)));
        Ok(RedQueue {
            fifo: Fifo::new(settings.limit),
            counts_bytes: settings.counts_bytes(),
            settings,
            detector,
            scale_by,
        })
    }

    /// The detector.
    #[inline]
    pub fn detector(&self) -> &RedDetector {
        &self.detector
    }

    /// The detector, to change maxp.
    #[inline]
    pub fn detector_mut(&mut self) -> &mut RedDetector {
        &mut self.detector
    }

    /// The queue's length in the unit of the average.
    #[inline]
    pub fn length(&self) -> f64 {
        let held = self.fifo.backlog();
        // A signed number becomes a float in one instruction, and the greatest queue is far below 2^63 bytes.
        let length = if self.counts_bytes { held.bytes as i64 } else { i64::from(held.packets) };
        length as f64
    }

    /// Updates the average for an arrival, and returns its zone.
    #[inline]
    pub fn update(&mut self, cx: &Cx<'_, T>) -> Zone {
        self.detector.update(self.length(), cx.now)
    }

    /// Stores or drops the packet for the `zone` from [`update`](RedQueue::update). Returns the reason if it was marked
    /// or dropped. Draws at most one number.
    // Always inlined: a call would pass the packet through memory, and RED would take a quarter more instructions.
    #[inline(always)]
    pub fn offer(&mut self, zone: Zone, packet: Packet<T>, cx: &mut Cx<'_, T>) -> Option<Why> {
        // A packet that does not fit is dropped without being marked first.
        if !self.fifo.admits(packet.bytes) {
            self.detector.restart_spacing();
            cx.drop(packet, Why::Overflow);
            return Some(Why::Overflow);
        }
        let why = self.judge(zone, packet.bytes, cx);
        match why {
            Some(why) => self.signal(packet, why, cx),
            None => self.fifo.put(packet),
        }
        why
    }

    /// Marks and stores the packet, or drops it. A separate function, to keep the common path short.
    #[cold]
    fn signal(&mut self, packet: Packet<T>, why: Why, cx: &mut Cx<'_, T>) {
        let may_mark = self.settings.ecn && (why == Why::Early || self.settings.mark_above_maxth);
        if let Some(packet) = cx.signal(packet, why, may_mark) {
            self.fifo.put(packet);
        }
    }

    /// Reason to mark or drop a packet of `bytes`, if any.
    #[inline(always)]
    fn judge(&mut self, zone: Zone, bytes: u32, cx: &mut Cx<'_, T>) -> Option<Why> {
        if zone == Zone::Below || self.fifo.backlog().packets < self.settings.spare_below {
            self.detector.reset_spacing();
            return None;
        }
        if zone == Zone::Above {
            self.detector.restart_spacing();
            return Some(Why::Forced);
        }
        let scale = self.scale_by.map_or(1.0, |mean| f64::from(bytes) / mean);
        self.detector.early(scale, cx.rng).then_some(Why::Early)
    }

    /// Dequeues the oldest packet. On an empty queue, records that the link is idle.
    #[inline]
    pub fn pop(&mut self, cx: &Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop();
        self.detector.record_dequeue(packet.is_some(), cx.now);
        packet
    }

    /// Packets and bytes held.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    /// Reports `average`, `probability` and `maxp`.
    pub fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.detector.average());
        gauge("probability", self.detector.probability());
        gauge("maxp", self.detector.maxp());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowId;
    use crate::rng::Rng;
    use crate::time::Time;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    #[test]
    fn the_weight_of_a_burst_is_the_one_tc_finds() {
        // Floyd, Jacobson 1993, section VI, example: minth 5, L = 50: wq <= 0.0042, which would allow 2^-8. tc's power
        // is L, not L + 1: 46 <= 256 (1 - (255/256)^50) = 45.5 does not hold, so 2^-9.
        assert_eq!(weight_of_burst(50, 5.0), Some(1.0 / 512.0));
        // By hand, minth 32: W = 2^-2 admits 35 packets, 35 + 1 - 32 = 4 <= 4 (1 - (3/4)^35) = 3.9998 does not hold, so
        // 2^-3; a burst of 34 still passes at 2^-2: 3 <= 3.9998, and not at 2^-1: 3 > 2.
        assert_eq!([35, 34].map(|burst| weight_of_burst(burst, 32.0)), [Some(0.125), Some(0.25)]);
        assert_eq!([weight_of_burst(30, 32.0), weight_of_burst(0, 0.0)], [None, None]);
    }

    /// The number of 10 000 packets of `bytes` that are marked or dropped at pb = 1/4.
    fn signaled(bytes: u32, ignore_size: bool) -> i32 {
        let limit = Limit::Bytes(1_000_000);
        let (minth, maxth) = (Some(Level::Bytes(0.0)), Some(Level::Share(1.0)));
        let plain = RedSettings { limit, minth, maxth, wq: Some(1.0), ..RedSettings::default() };
        let settings = RedSettings { maxp: 0.5, byte_mode: true, ignore_size, ..plain };
        let (mut queue, mut rng) = (RedQueue::<()>::new(settings, &LINK).unwrap(), Rng::new(3));
        let zone = queue.detector.update(500_000.0, Time::ZERO);
        let hit = |_: &u32| queue.judge(zone, bytes, &mut Cx::new(Time::ZERO, &mut rng, &mut ())) == Some(Why::Early);
        (0..10_000).filter(hit).count() as i32
    }

    #[test]
    fn in_byte_mode_a_packet_is_signaled_in_proportion_to_its_size_unless_that_is_ignored() {
        // Half of maxth: pb = 1/4 for a mean packet, gaps uniform in 1..=3, mean 2. At a tenth of the size pb = 1/40,
        // gaps in 1..=39, mean 20. Standard deviations are 29 and 13; the tolerance is five of them.
        assert!((signaled(1000, false) - 5000).abs() < 145 && (signaled(100, false) - 500).abs() < 65);
        assert_eq!(signaled(100, true), signaled(1000, false));
    }

    #[test]
    fn offer_returns_the_reason_for_a_drop_or_mark() {
        let (minth, maxth) = (Some(Level::Packets(0.5)), Some(Level::Packets(1.5)));
        let plain = RedSettings { minth, maxth, wq: Some(1.0), ..RedSettings::default() };
        let settings = RedSettings { limit: Limit::Packets(3), maxp: 0.0, ..plain };
        let (mut queue, mut rng) = (RedQueue::<()>::new(settings, &LINK).unwrap(), Rng::new(3));
        let mut told = |zone| {
            let (mut sink, packet) = ((), Packet::new(FlowId(1), 1000, ()));
            queue.offer(zone, packet, &mut Cx::new(Time::ZERO, &mut rng, &mut sink))
        };
        let zones = [Zone::Below, Zone::Between, Zone::Above, Zone::Below, Zone::Below, Zone::Above];
        let expected = [None, None, Some(Why::Forced), None, Some(Why::Overflow), Some(Why::Overflow)];
        assert_eq!(zones.map(&mut told), expected);
    }
}
