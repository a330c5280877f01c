//! RED: signal by chance, the more likely the longer the average queue.
//!
//! S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993; the
//! `gentle` variant: S. Floyd, "Recommendation on using the gentle variant of RED", 2000; `auto` values: S. Floyd,
//! R. Gummadi, S. Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue
//! management", 2001, section 4. The paper's avg, count, pb and pa live in [`Detector`]; q is the queue's length.

use core::ops::Bound;

use crate::cx::{Cx, Why};
use crate::discipline::{Backlog, Discipline, Place};
use crate::packet::Packet;
use crate::params::{BuildError, Bytes};
use crate::parts::{Average, Detector, Fifo, Spacing, Thresholds, Zone};
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Red`].
    pub struct RedConfig {
        /// Room for waiting packets; what does not fit is dropped whatever the average says.
        limit: Limit = Limit::Packets(1000);
        /// The average queue below which no packet is signalled. `auto`: half of 5 ms at the link's rate, at least 5
        /// packets.
        minth: Option<Level> = Some(Level::Share(0.25)), also "min" "thresh" "thresh_";
        /// The average queue from which every packet is signalled (with `gentle`, from twice this). `auto`: 3 minth.
        maxth: Option<Level> = Some(Level::Share(0.5)), also "max" "maxthresh" "maxthresh_";
        /// The probability just below maxth, before signals are spaced.
        maxp: f64 = 0.02, in 0.0..=1.0, also "max_p" "probability";
        /// The weight of each new queue length in the average. `auto`: 1 - exp(-1/C) with C the link's rate in mean
        /// packets a second.
        wq: Option<f64> = Some(0.002), in (Bound::Excluded(0.0), Bound::Included(1.0)), also "q_weight" "q_weight_";
        /// How signals are spread: `uniform` as in the paper, or `wait`, which leaves a gap after each, as in ns-2.
        spacing: Spacing = Spacing::Uniform;
        /// From maxth to twice maxth the probability rises from maxp to 1, instead of jumping at maxth.
        gentle: bool = false, also "gentle_";
        /// Measures the queue in bytes, and signals a packet in proportion to its size over the mean size.
        byte_mode: bool = false, also "bytes" "bytes_" "queue_in_bytes_";
        /// Signals that are certain mark too where `ecn` allows, instead of always dropping.
        mark_above_maxth: bool = false;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "setbit_";
        /// The size of a typical packet, for idle time, byte mode and thresholds of another unit. `auto`: what the
        /// host says.
        mean_packet: Option<Bytes> = None, in Bytes(1).., also "avpkt" "mean_pktsize" "mean_pktsize_";
    }
    presets {
        "paper" "the defaults: wq and maxp of Floyd and Jacobson 1993, thresholds that scale with the buffer" {}
        "floyd1993" "Floyd and Jacobson 1993, the simulations: thresholds of 5 and 15 packets" {
            "minth" = "5p", "maxth" = "15p"
        }
        "ns2" "ns-2 2.35, ns-default.tcl" {
            "minth" = "auto", "maxth" = "auto", "maxp" = "0.1", "wq" = "auto", "spacing" = "wait", "gentle" = "on",
            "byte_mode" = "on", "ecn" = "off", "mean_packet" = "500B"
        }
        "linux" "Linux sch_red with tc's defaults; wq as tc derives it for a limit of 1000 packets" {
            "minth" = "8.3333%", "maxth" = "25%", "maxp" = "0.02", "wq" = "0.015625", "byte_mode" = "on",
            "mark_above_maxth" = "on", "ecn" = "off", "mean_packet" = "1000B"
        }
        "R1" "the BLUE paper, table I" {
            "minth" = "20%", "maxth" = "80%", "maxp" = "1", "wq" = "0.0002", "mark_above_maxth" = "on"
        }
        "R2" "the BLUE paper, table I" {
            "minth" = "20%", "maxth" = "80%", "maxp" = "1", "wq" = "0.002", "mark_above_maxth" = "on"
        }
        "R3" "the BLUE paper, table I" {
            "minth" = "20%", "maxth" = "80%", "maxp" = "1", "wq" = "0.02", "mark_above_maxth" = "on"
        }
        "R4" "the BLUE paper, table I" {
            "minth" = "20%", "maxth" = "80%", "maxp" = "1", "wq" = "0.2", "mark_above_maxth" = "on"
        }
    }
}

/// First in, first out, with random early detection at the entry.
pub struct Red<T> {
    config: RedConfig,
    fifo: Fifo<T>,
    detector: Detector,
    /// In bytes.
    mean_packet: f64,
}

impl<T> Red<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, or maxth is above the limit.
    pub fn new(config: RedConfig, place: &Place) -> Result<Self, BuildError> {
        let own = config.mean_packet.map(|size| u32::try_from(size.0).unwrap_or(u32::MAX));
        let place = Place { mean_packet: own.unwrap_or(place.mean_packet).max(1), ..*place };
        let thresholds = config.thresholds(&place)?;
        let average = Average::new(config.weight(&place), place.rate.transmit(place.mean_packet));
        let detector = Detector::new(average, thresholds, config.maxp).gentle(config.gentle).spacing(config.spacing);
        let (fifo, mean_packet) = (Fifo::new(config.limit), f64::from(place.mean_packet));
        Ok(Red { config, fifo, detector, mean_packet })
    }

    #[inline]
    fn queue(&self) -> f64 {
        let held = self.fifo.backlog();
        if self.config.byte_mode { held.bytes as f64 } else { f64::from(held.packets) }
    }

    /// The packet itself if it may be stored.
    #[inline]
    fn judge(&mut self, zone: Zone, packet: Packet<T>, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        match zone {
            Zone::Below => {
                self.detector.calm();
                Some(packet)
            }
            Zone::Between => {
                let scale = if self.config.byte_mode { f64::from(packet.bytes) / self.mean_packet } else { 1.0 };
                let hit = self.detector.early(scale, cx.rng);
                cx.signal_if(hit, packet, Why::Early, self.config.ecn)
            }
            Zone::Above => {
                self.detector.signalled();
                cx.signal(packet, Why::Forced, self.config.ecn && self.config.mark_above_maxth)
            }
        }
    }
}

impl RedConfig {
    /// In the unit of the average.
    fn thresholds(&self, place: &Place) -> Result<Thresholds, BuildError> {
        let mean = place.mean_packet;
        let auto = (0.005 / 2.0 * packets_a_second(place)).max(5.0);
        let minth = self.minth.unwrap_or(Level::Packets(auto));
        if self.byte_mode {
            let min = minth.bytes(self.limit, mean);
            let max = self.maxth.map_or(3.0 * min, |level| level.bytes(self.limit, mean));
            return Thresholds::new(min, max, self.limit.bytes(mean), "bytes");
        }
        let min = minth.packets(self.limit, mean);
        let maxth = self.maxth.unwrap_or(Level::Packets(3.0 * min));
        Thresholds::in_packets(minth, maxth, self.limit, mean)
    }

    fn weight(&self, place: &Place) -> f64 {
        self.wq.unwrap_or_else(|| 1.0 - libm::exp(-1.0 / packets_a_second(place)))
    }
}

fn packets_a_second(place: &Place) -> f64 {
    place.rate.as_bits() as f64 / (8.0 * f64::from(place.mean_packet))
}

impl<T> Discipline<T> for Red<T> {
    #[inline]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.detector.update(self.queue(), cx.now);
        // A full queue first: what is dropped for want of room is not marked before.
        if !self.fifo.admits(packet.bytes) {
            self.detector.signalled();
            cx.drop(packet, Why::Overflow);
        } else if let Some(packet) = self.judge(zone, packet, cx) {
            self.fifo.push(packet, cx);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop();
        self.detector.left(packet.is_some(), cx.now);
        packet
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.detector.average());
        gauge("probability", self.detector.probability());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Counts, Ecn, FlowId, Port, Rate, Rng, Time};

    // 1000 B take 1 ms.
    const PLACE: Place = Place::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Port<(), Red<()>> {
        let config = RedConfig::from_settings(settings).unwrap();
        Port::new(Red::new(config, &PLACE).unwrap(), Rng::new(3))
    }

    fn packet(bytes: u32, ecn: Ecn) -> Packet<()> {
        Packet { ecn, ..Packet::new(FlowId(1), bytes, ()) }
    }

    fn offer(port: &mut Port<(), Red<()>>, packets: usize, bytes: u32, ecn: Ecn) -> Counts {
        (0..packets).for_each(|_| port.enqueue(packet(bytes, ecn), Time::ZERO, &mut ()));
        port.totals().counts().clone()
    }

    fn gauge(port: &Port<(), Red<()>>, name: &str) -> f64 {
        port.gauges().into_iter().find(|(gauge, _)| *gauge == name).unwrap().1
    }

    const BY_HAND: &[(&str, &str)] = &[("limit", "20p"), ("minth", "1p"), ("maxth", "3p"), ("wq", "0.5")];

    #[test]
    fn average_and_probability_follow_the_paper_packet_by_packet() {
        // maxp is 2^-20: chance interferes with one run in a million, and the seed is fixed.
        let mut port = port(&[BY_HAND, &[("maxp", "0.00000095367431640625")]].concat());
        let mut arrive = || {
            port.enqueue(packet(1000, Ecn::NotEct), Time::ZERO, &mut ());
            (gauge(&port, "average"), gauge(&port, "probability") * 1_048_576.0)
        };
        // The arrivals meet 0, 1, 2, 3, 4 packets. By hand, avg <- (avg + q)/2 and pb = maxp (avg - 1)/2.
        let expected = [(0.0, 0.0), (0.5, 0.0), (1.25, 0.125), (2.125, 0.5625), (3.0625, 1_048_576.0)];
        assert_eq!(core::array::from_fn(|_| arrive()), expected);
    }

    #[test]
    fn spacing_starts_anew_after_the_average_was_below_minth() {
        let settings = [("limit", "20p"), ("minth", "1p"), ("maxth", "3p"), ("wq", "1"), ("maxp", "0.5")];
        let dropped = (0..1000).filter(|seed| {
            let config = RedConfig::from_settings(&settings).unwrap();
            let (mut red, mut rng) = (Red::new(config, &PLACE).unwrap(), Rng::new(*seed));
            (0..100).for_each(|_| red.detector.passed());
            // Averages 0, 1, 2: below; pb 0 with count 0; pb 1/4 with count 1, so pa = 1/3.
            (0..3).for_each(|_| red.enqueue(packet(1000, Ecn::NotEct), &mut Cx::new(Time::ZERO, &mut rng, &mut ())));
            red.backlog().packets == 2
        });
        // Standard deviation 15: five of them.
        let dropped = dropped.count();
        assert!(dropped.abs_diff(333) < 75, "{dropped}");
    }

    #[test]
    fn above_maxth_every_packet_is_dropped_or_if_asked_marked() {
        // maxp 0: nothing is dropped by chance, so the queue grows until its average reaches 3. By hand, q = n on
        // arrival n (from 0): averages 0, 0.5, 1.25, 2.125, 3.0625: the fifth packet and all later ones are forced.
        let forced = Why::Forced as usize;
        let mut dropping = port(&[BY_HAND, &[("maxp", "0")]].concat());
        assert_eq!(offer(&mut dropping, 7, 1000, Ecn::Ect0).drops[forced], 3);
        let mut marking = port(&[BY_HAND, &[("maxp", "0"), ("mark_above_maxth", "on")]].concat());
        assert_eq!(offer(&mut marking, 7, 1000, Ecn::Ect0).marks[forced], 3);
        let mut deaf = port(&[BY_HAND, &[("maxp", "0"), ("mark_above_maxth", "on")]].concat());
        assert_eq!(offer(&mut deaf, 7, 1000, Ecn::NotEct).drops[forced], 3);
    }

    #[test]
    fn with_ecn_a_packet_that_understands_is_marked_by_chance_and_stays() {
        let settings = [("limit", "10p"), ("minth", "0p"), ("maxth", "10p"), ("maxp", "1"), ("wq", "1")];
        let mut port = port(&settings);
        let counts = offer(&mut port, 10, 1000, Ecn::Ect1);
        assert!(counts.marks[Why::Early as usize] > 0);
        assert_eq!((counts.dropped(), port.backlog().packets), (0, 10));
    }

    #[test]
    fn a_full_queue_drops_for_overflow_and_marks_nothing_first() {
        let mut port = port(&[("limit", "3p"), ("minth", "0p"), ("maxth", "3p"), ("maxp", "1"), ("wq", "0.0001")]);
        let counts = offer(&mut port, 50, 1000, Ecn::Ect0);
        assert_eq!(counts.drops[Why::Overflow as usize], 47);
        assert!(counts.marked() <= 3);
    }

    #[test]
    fn idle_time_lets_the_average_fall() {
        let mut port = port(&[BY_HAND, &[("maxp", "0")]].concat());
        offer(&mut port, 4, 1000, Ecn::NotEct);
        while port.dequeue(Time::ZERO, &mut ()).is_some() {}
        // 2 ms idle at 1 ms a packet, wq 1/2: 2.125 / 4.
        port.enqueue(packet(1000, Ecn::NotEct), Time::from_nanos(2_000_000), &mut ());
        assert_eq!(gauge(&port, "average"), 2.125 / 4.0);
    }

    #[test]
    fn in_byte_mode_a_packet_is_signalled_in_proportion_to_its_size() {
        let settings = [("limit", "1MB"), ("minth", "0B"), ("maxth", "1MB"), ("byte_mode", "on"), ("maxp", "0.5")];
        let signalled = |bytes: u32| {
            let config = RedConfig::from_settings(&[&settings[..], &[("wq", "1")]].concat()).unwrap();
            let (mut red, mut rng) = (Red::new(config, &PLACE).unwrap(), Rng::new(3));
            let zone = red.detector.update(500_000.0, Time::ZERO);
            let judge = |_: &u32| {
                red.judge(zone, packet(bytes, Ecn::NotEct), &mut Cx::new(Time::ZERO, &mut rng, &mut ())).is_none()
            };
            (0..10_000).filter(judge).count() as i32
        };
        // Half of maxth: pb = 1/4 for a mean packet, gaps uniform in 1..=3, mean 2; at a tenth of the size pb = 1/40,
        // gaps in 1..=39, mean 20. Standard deviations of the counts are 29 and 13: five of them.
        let (mean, small) = (signalled(1000), signalled(100));
        assert!((mean - 5000).abs() < 145 && (small - 500).abs() < 65, "{mean} {small}");
    }

    #[test]
    fn in_byte_mode_the_average_is_of_bytes() {
        let settings = [("limit", "10KB"), ("minth", "1KB"), ("maxth", "9KB"), ("byte_mode", "on"), ("wq", "1")];
        let mut port = port(&settings);
        port.enqueue(packet(700, Ecn::NotEct), Time::ZERO, &mut ());
        port.enqueue(packet(40, Ecn::NotEct), Time::ZERO, &mut ());
        assert_eq!(gauge(&port, "average"), 700.0);
    }

    #[test]
    fn auto_thresholds_and_weight_follow_the_link() {
        // By hand for 8 Mbit/s and 500 B: C = 2000 packets a second, 2.5 ms of it are 5 packets, 2500 bytes.
        let config = RedConfig::from_settings(&[("preset", "ns2")]).unwrap();
        let red: Red<()> = Red::new(config.clone(), &PLACE).unwrap();
        assert_eq!(red.detector.thresholds(), Thresholds { min: 2500.0, max: 7500.0 });
        let weight = config.weight(&Place { mean_packet: 500, ..PLACE });
        assert!((weight - 1.0 / 2000.0).abs() < 2e-7, "{weight}");
    }

    #[test]
    fn every_preset_builds_and_the_names_of_tc_and_ns2_work() {
        for preset in RedConfig::presets() {
            let config = RedConfig::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Red::<()>::new(config, &PLACE).is_ok(), "{}", preset.name);
        }
        let tc = [("min", "30KB"), ("max", "90KB"), ("avpkt", "1000B"), ("probability", "0.1")];
        let ns2 = [("thresh_", "30KB"), ("maxthresh_", "90KB"), ("mean_pktsize_", "1000B"), ("maxp", "0.1")];
        assert_eq!(RedConfig::from_settings(&tc), RedConfig::from_settings(&ns2));
    }

    #[test]
    fn thresholds_in_the_wrong_order_or_out_of_reach_are_a_conflict() {
        for bad in [[("minth", "50p"), ("maxth", "50p")], [("minth", "10p"), ("maxth", "2000p")]] {
            for bytes in ["off", "on"] {
                let config = RedConfig::from_settings(&[&bad[..], &[("byte_mode", bytes)]].concat()).unwrap();
                assert!(matches!(Red::<()>::new(config, &PLACE), Err(BuildError::Conflict(_))), "{bad:?}");
            }
        }
    }
}
