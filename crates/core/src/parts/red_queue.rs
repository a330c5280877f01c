//! RED around a FIFO: what `red`, the two adaptive REDs and the penalty box have in common.
//!
//! The decision itself is the [`Detector`]'s; here are its settings as users give them, the queue it watches, and what
//! becomes of a packet.

use alloc::format;

use super::{Average, Detector, Fifo, Spacing, Thresholds, Zone};
use crate::cx::{Cx, Why};
use crate::discipline::Place;
use crate::packet::{Backlog, Packet};
use crate::params::{BuildError, Bytes};
use crate::time::Span;
use crate::units::{Level, Limit, Rate};

/// RED's settings. What is `None` follows from the link, see [`RedQueue::new`].
#[derive(Clone, Debug)]
pub struct RedSettings {
    /// Room for waiting packets.
    pub limit: Limit,
    /// The average queue below which no packet is signalled.
    pub minth: Option<Level>,
    /// The average queue from which every packet is signalled (with `gentle`, from twice this).
    pub maxth: Option<Level>,
    /// The probability just below maxth.
    pub maxp: f64,
    /// How the weight of the average is found.
    pub weight: Weight,
    /// The queueing delay that thresholds found from the link aim at.
    pub target_delay: Span,
    /// How signals are spread.
    pub spacing: Spacing,
    /// Whether the probability rises to 1 between maxth and twice maxth, instead of jumping.
    pub gentle: bool,
    /// Whether the queue is measured in bytes.
    pub byte_mode: bool,
    /// Whether in byte mode a packet is signalled whatever its size.
    pub ignore_size: bool,
    /// Whether the first packet after the average has come up to minth is spared.
    pub spare_first: bool,
    /// Nothing is signalled while fewer packets than this wait.
    pub spare_below: u32,
    /// Whether signals that are certain mark too.
    pub mark_above_maxth: bool,
    /// Whether packets are marked that can carry a mark.
    pub ecn: bool,
    /// The size of a typical packet; `None`: what the host says.
    pub mean_packet: Option<Bytes>,
}

impl RedSettings {
    /// The plain algorithm of 1993 with these thresholds, its wq and its maxp.
    pub fn plain(limit: Limit, minth: Level, maxth: Level) -> RedSettings {
        RedSettings {
            limit,
            minth: Some(minth),
            maxth: Some(maxth),
            maxp: 0.02,
            weight: Weight::Given(0.002),
            target_delay: Span::from_millis(5),
            spacing: Spacing::Uniform,
            gentle: false,
            byte_mode: false,
            ignore_size: false,
            spare_first: false,
            spare_below: 0,
            mark_above_maxth: false,
            ecn: true,
            mean_packet: None,
        }
    }

    /// The size of a typical packet in bytes, at least 1.
    pub fn mean_packet(&self, place: &Place) -> u32 {
        let own = self.mean_packet.map(|size| u32::try_from(size.0).unwrap_or(u32::MAX));
        own.unwrap_or(place.mean_packet).max(1)
    }

    /// In the unit of the average.
    fn thresholds(&self, rate: Rate, mean: u32) -> Result<Thresholds, BuildError> {
        let level = |level: Level| {
            if self.byte_mode { level.bytes(self.limit, mean) } else { level.packets(self.limit, mean) }
        };
        let (limit, unit) = (level(Level::Share(1.0)), if self.byte_mode { "bytes" } else { "packets" });
        let (min, max) = match (self.minth.map(level), self.maxth.map(level)) {
            (Some(min), Some(max)) => (min, max),
            (Some(min), None) => (min, 3.0 * min),
            (None, max) => {
                // Floyd, Gummadi, Shenker 2001, section 4: half of what the target delay's queue comes to, at least 5
                // packets, and maxth three times that. The paper has no buffer: where twice maxth, the end of the
                // gentle part, would lie above ours, the buffer decides.
                let wanted = (self.target_delay.as_secs_f64() / 2.0 * packets_a_second(rate, mean)).max(5.0);
                let min = level(Level::Packets(wanted)).min(limit / 6.0);
                (min, max.unwrap_or(3.0 * min))
            }
        };
        Thresholds::new(min, max, limit, unit)
    }
}

/// How the weight wq of each new queue length in the average is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// As given.
    Given(f64),
    /// 1 - exp(-1/C), C being the link's rate in mean packets a second: one second of averaging (Floyd, Gummadi,
    /// Shenker 2001, section 4).
    FromRate,
    /// As tc finds it from a burst in packets, which it finds itself where none is given; see [`weight_of_burst`].
    FromBurst(Option<u32>),
}

impl Weight {
    /// The weight for a link of `rate` and these `thresholds`, in packets of `mean` bytes.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if no power of two suits the burst.
    pub fn value(self, rate: Rate, thresholds: Thresholds, mean: u32) -> Result<f64, BuildError> {
        match self {
            Weight::Given(weight) => Ok(weight),
            // Below 2^-53 the difference is 0; on a link of no rate it is 1.
            Weight::FromRate => Ok((-libm::expm1(-1.0 / packets_a_second(rate, mean))).clamp(f64::MIN_POSITIVE, 1.0)),
            Weight::FromBurst(burst) => {
                let Thresholds { min, max } = thresholds;
                // The cast floors, as tc's integers do.
                let burst = burst.unwrap_or(((2.0 * min + max) / 3.0) as u32);
                weight_of_burst(burst, min).ok_or_else(|| {
                    BuildError::Conflict(format!(
                        "no weight suits a burst of {burst} packets with minth at {min} packets"
                    ))
                })
            }
        }
    }
}

/// The weight wq that tc's `burst` stands for, with minth at `min` packets: the greatest 2^-W, W = 1 to 31, with
/// burst + 1 - min <= (1 - (1 - wq)^burst)/wq, so that a burst of so many packets into an empty queue passes before the
/// average reaches minth (iproute2, `tc_red_eval_ewma`, after Floyd, Jacobson 1993, section VI, which has the power of
/// burst + 1). `None` if there is none, or if the burst is shorter than minth.
pub fn weight_of_burst(burst: u32, min: f64) -> Option<f64> {
    let excess = f64::from(burst) + 1.0 - min;
    let mut weights = (1..32).map(|log| libm::ldexp(1.0, -log));
    let passes = |weight: &f64| excess <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight;
    if excess < 1.0 { None } else { weights.find(passes) }
}

fn packets_a_second(rate: Rate, mean: u32) -> f64 {
    rate.as_bits() as f64 / (8.0 * f64::from(mean))
}

/// First in, first out, with random early detection at the entry.
#[derive(Clone, Debug)]
pub struct RedQueue<T> {
    settings: RedSettings,
    fifo: Fifo<T>,
    detector: Detector,
    /// The mean size in bytes, if a packet is signalled in proportion to its own.
    scale_by: Option<f64>,
}

impl<T> RedQueue<T> {
    /// An empty queue at `place`. A missing minth is half of what queues up in the target delay, at least 5 packets and
    /// at most a sixth of the limit; a missing maxth is three times minth.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, or no weight suits the burst.
    pub fn new(settings: RedSettings, place: &Place) -> Result<RedQueue<T>, BuildError> {
        let mean = settings.mean_packet(place);
        let thresholds = settings.thresholds(place.rate, mean)?;
        let unit = if settings.byte_mode { f64::from(mean) } else { 1.0 };
        let in_packets = Thresholds { min: thresholds.min / unit, max: thresholds.max / unit };
        let weight = settings.weight.value(place.rate, in_packets, mean)?;
        let average = Average::new(weight, place.rate.transmit(mean));
        let detector = Detector::new(average, thresholds, settings.maxp)
            .gentle(settings.gentle)
            .spacing(settings.spacing)
            .spare_first(settings.spare_first);
        let scale_by = (settings.byte_mode && !settings.ignore_size).then_some(f64::from(mean));
        Ok(RedQueue { fifo: Fifo::new(settings.limit), settings, detector, scale_by })
    }

    /// The average, the probability and the spacing.
    #[inline]
    pub fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The same, to move maxp.
    #[inline]
    pub fn detector_mut(&mut self) -> &mut Detector {
        &mut self.detector
    }

    /// The queue's length in the unit of the average.
    #[inline]
    pub fn length(&self) -> f64 {
        let held = self.fifo.backlog();
        if self.settings.byte_mode { held.bytes as f64 } else { f64::from(held.packets) }
    }

    /// Takes the queue an arrival finds into the average, and says where that stands now.
    #[inline]
    pub fn update(&mut self, cx: &Cx<'_, T>) -> Zone {
        self.detector.update(self.length(), cx.now)
    }

    /// Stores the packet, or drops it, and says why it was marked or dropped if it was; `zone` is what
    /// [`update`](RedQueue::update) said for it. Draws one number where chance decides.
    #[inline]
    pub fn offer(&mut self, zone: Zone, packet: Packet<T>, cx: &mut Cx<'_, T>) -> Option<Why> {
        // A full queue first: what is dropped for want of room is not marked before.
        if !self.fifo.admits(packet.bytes) {
            self.detector.signalled();
            cx.drop(packet, Why::Overflow);
            return Some(Why::Overflow);
        }
        let zone = if self.fifo.backlog().packets < self.settings.spare_below { Zone::Below } else { zone };
        let why = self.judge(zone, packet.bytes, cx);
        match why {
            Some(why) => self.signal(packet, why, cx),
            None => self.fifo.put(packet),
        }
        why
    }

    /// Marks and stores the packet, or drops it. Apart, for the packets that are stored as they came not to pay for it.
    #[cold]
    fn signal(&mut self, packet: Packet<T>, why: Why, cx: &mut Cx<'_, T>) {
        let may_mark = self.settings.ecn && (why == Why::Early || self.settings.mark_above_maxth);
        if let Some(packet) = cx.signal(packet, why, may_mark) {
            self.fifo.put(packet);
        }
    }

    /// Why a packet of `bytes` is signalled, if it is.
    #[inline]
    fn judge(&mut self, zone: Zone, bytes: u32, cx: &mut Cx<'_, T>) -> Option<Why> {
        match zone {
            Zone::Below => {
                self.detector.calm();
                None
            }
            Zone::Between => {
                let scale = self.scale_by.map_or(1.0, |mean| f64::from(bytes) / mean);
                self.detector.early(scale, cx.rng).then_some(Why::Early)
            }
            Zone::Above => {
                self.detector.signalled();
                Some(Why::Forced)
            }
        }
    }

    /// Takes the oldest packet, or notes that the link falls idle.
    #[inline]
    pub fn pop(&mut self, cx: &Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop();
        self.detector.left(packet.is_some(), cx.now);
        packet
    }

    /// What is held.
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

    const PLACE: Place = Place::new(Rate::from_bits(8_000_000), 1000, 7);

    #[test]
    fn the_weight_of_a_burst_is_the_one_tc_finds() {
        // Floyd, Jacobson 1993, section VI, example: minth 5, L = 50: wq <= 0.0042, which would allow 2^-8. tc raises to
        // the power of L where the paper has L + 1: 46 <= 256 (1 - (255/256)^50) = 45.5 does not hold, so 2^-9.
        assert_eq!(weight_of_burst(50, 5.0), Some(1.0 / 512.0));
        // By hand, minth 32: W = 2^-2 admits 35 packets, 35 + 1 - 32 = 4 <= 4 (1 - (3/4)^35) = 3.9998 does not hold, so
        // 2^-3; a burst of 34 still passes at 2^-2: 3 <= 3.9998, and not at 2^-1: 3 > 2.
        assert_eq!([35, 34].map(|burst| weight_of_burst(burst, 32.0)), [Some(0.125), Some(0.25)]);
        assert_eq!([weight_of_burst(30, 32.0), weight_of_burst(0, 0.0)], [None, None]);
    }

    /// How many of 10 000 packets of `bytes` are signalled at pb = 1/4.
    fn signalled(bytes: u32, ignore_size: bool) -> i32 {
        let plain = RedSettings::plain(Limit::Bytes(1_000_000), Level::Bytes(0.0), Level::Share(1.0));
        let settings = RedSettings { maxp: 0.5, weight: Weight::Given(1.0), byte_mode: true, ignore_size, ..plain };
        let (mut queue, mut rng) = (RedQueue::<()>::new(settings, &PLACE).unwrap(), Rng::new(3));
        let zone = queue.detector.update(500_000.0, Time::ZERO);
        let hit = |_: &u32| queue.judge(zone, bytes, &mut Cx::new(Time::ZERO, &mut rng, &mut ())) == Some(Why::Early);
        (0..10_000).filter(hit).count() as i32
    }

    #[test]
    fn in_byte_mode_a_packet_is_signalled_in_proportion_to_its_size_unless_that_is_ignored() {
        // Half of maxth: pb = 1/4 for a mean packet, gaps uniform in 1..=3, mean 2; at a tenth of the size pb = 1/40,
        // gaps in 1..=39, mean 20. Standard deviations of the counts are 29 and 13: five of them.
        assert!((signalled(1000, false) - 5000).abs() < 145 && (signalled(100, false) - 500).abs() < 65);
        assert_eq!(signalled(100, true), signalled(1000, false));
    }

    #[test]
    fn what_became_of_a_packet_is_told() {
        let plain = RedSettings::plain(Limit::Packets(3), Level::Packets(0.5), Level::Packets(1.5));
        let settings = RedSettings { weight: Weight::Given(1.0), maxp: 0.0, ..plain };
        let (mut queue, mut rng) = (RedQueue::<()>::new(settings, &PLACE).unwrap(), Rng::new(3));
        let mut told = |zone| {
            let (mut sink, packet) = ((), Packet::new(FlowId(1), 1000, ()));
            queue.offer(zone, packet, &mut Cx::new(Time::ZERO, &mut rng, &mut sink))
        };
        let zones = [Zone::Below, Zone::Between, Zone::Above, Zone::Below, Zone::Below, Zone::Above];
        let expected = [None, None, Some(Why::Forced), None, Some(Why::Overflow), Some(Why::Overflow)];
        assert_eq!(zones.map(&mut told), expected);
    }
}
