//! Random Early Detection (RED): drop or mark arrivals with a probability that grows with the average queue length.
//!
//! DropTail drops only when the buffer is full, and then packets of many flows at once. RED drops or marks single
//! packets earlier. Senders therefore slow down before the buffer overflows, and at different times. RED acts on an
//! average queue length, so short bursts pass.
//!
//! On arrival, RED updates the average avg <- (1 - wq) avg + wq q, where q is the queue length. A packet that does not
//! fit is dropped. Below minth, the packet is queued. Between minth and maxth, the packet is dropped or marked at
//! random. The probability pb grows linearly from 0 to maxp. The count of packets since the last drop or mark turns pb
//! into pa, which spaces drops and marks evenly. Above maxth (`gentle`: twice that), every packet is dropped, or marked
//! with `mark_above_maxth`. On departure, an empty queue starts an idle period, for which the average decays at the
//! next arrival.
//!
//! [`RedQueue`] holds the queue and the settings, and drops or marks packets. [`RedDetector`] holds the average and
//! computes the probability. Adaptive RED, Feng's RED, RED-PD, BREATHe and the penalty box build on both.
//!
//! Source: S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993.
//! The `gentle` variant: S. Floyd, "Recommendation on using the gentle variant of RED", 2000. `auto` values: the
//! Adaptive RED paper (see `ared`), section 4. Deviations are listed in docs/disciplines/red.md.
//!
//! | paper | here |
//! | --- | --- |
//! | avg, q_time | [`Average`](crate::parts::Average) |
//! | count, pb, pa, minth, maxth, maxp | [`RedDetector`] |
//! | q, wq | [`RedQueue::length`], [`Average`](crate::parts::Average) |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{RedDetector, RedQueue, RedSettings};

crate::params! {
    /// Settings of [`Red`].
    pub struct RedConfig with red: RedSettings {
        red {}
    }
    presets {
        "paper" "the defaults: wq and maxp of Floyd and Jacobson 1993, thresholds that scale with the buffer" {}
        "floyd1993" "Floyd and Jacobson 1993, the simulations: thresholds of 5 and 15 packets" {
            "minth" = "5p", "maxth" = "15p"
        }
        "ns2" "ns-2 2.35, ns-default.tcl" {
            "minth" = "auto", "maxth" = "auto", "maxp" = "0.1", "wq" = "auto", "spacing" = "wait", "gentle" = "on",
            "byte_mode" = "on", "spare_first" = "on", "spare_below" = "1", "ecn" = "off", "mean_packet" = "500B"
        }
        "linux" "sch_red of Linux 6 with iproute2's defaults: min = max/3, max = limit/4, wq = 2^-W from the burst" {
            "minth" = "8.3333%", "maxth" = "25%", "maxp" = "0.02", "burst" = "auto", "byte_mode" = "on",
            "ignore_size" = "on", "spare_first" = "on", "mark_above_maxth" = "on", "ecn" = "off",
            "mean_packet" = "1000B"
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
    reasons { Overflow, Early, Forced }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::MAXP;
    }
    fixed {
        "adaptive_" "ARED" "AdaptMaxP" = false, "ared";
        "feng_adaptive_" "FengAdaptive" = false, "feng_red";
    }
}

/// A FIFO with RED at its entrance.
pub struct Red<T> {
    red: RedQueue<T>,
}

impl<T> Red<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, or no weight suits the burst.
    pub fn new(config: RedConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        Ok(Red { red: RedQueue::new(config.red, link)? })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        self.red.detector()
    }
}

impl<T> Discipline<T> for Red<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.red.update(cx);
        self.red.offer(zone, packet, cx);
    }

    crate::discipline::dequeue_from!(red);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.red.observe(gauge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::parts::{Thresholds, weight_of_rate};
    use crate::reason::Why;
    use crate::{Counts, Ecn, FlowId, Port, Rate, Rng, Time};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Port<(), Red<()>> {
        let config = RedConfig::from_settings(settings).unwrap();
        Port::new(Red::new(config, &LINK).unwrap(), Rng::new(3))
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
        // maxp is 2^-20: one run in a million has a random drop, and the seed is fixed.
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
            let (mut red, mut rng) = (Red::new(config, &LINK).unwrap(), Rng::new(*seed));
            (0..100).for_each(|_| red.red.detector_mut().count_packet());
            // Averages 0, 1, 2: below; pb 0 with count 0; pb 1/4 with count 1, so pa = 1/3.
            (0..3).for_each(|_| red.enqueue(packet(1000, Ecn::NotEct), &mut Cx::new(Time::ZERO, &mut rng, &mut ())));
            red.backlog().packets == 2
        });
        // Tolerance: five standard deviations of 15.
        let dropped = dropped.count();
        assert!(dropped.abs_diff(333) < 75, "{dropped}");
    }

    #[test]
    fn above_maxth_every_packet_is_dropped_or_with_mark_above_maxth_marked() {
        // With maxp 0 no packet is dropped at random, so the queue grows until its average reaches 3. By hand, q = n on
        // arrival n (from 0). The averages are 0, 0.5, 1.25, 2.125 and 3.0625: the fifth and all later packets are
        // forced.
        let forced = Why::Forced;
        let mut dropping = port(&[BY_HAND, &[("maxp", "0")]].concat());
        assert_eq!(offer(&mut dropping, 7, 1000, Ecn::Ect0).drops(forced), 3);
        let mut marking = port(&[BY_HAND, &[("maxp", "0"), ("mark_above_maxth", "on")]].concat());
        assert_eq!(offer(&mut marking, 7, 1000, Ecn::Ect0).marks(forced), 3);
        let mut deaf = port(&[BY_HAND, &[("maxp", "0"), ("mark_above_maxth", "on")]].concat());
        assert_eq!(offer(&mut deaf, 7, 1000, Ecn::NotEct).drops(forced), 3);
    }

    #[test]
    fn with_ecn_an_ecn_capable_packet_is_marked_at_random_and_queued() {
        let settings = [("limit", "10p"), ("minth", "0p"), ("maxth", "10p"), ("maxp", "1"), ("wq", "1")];
        let mut port = port(&settings);
        let counts = offer(&mut port, 10, 1000, Ecn::Ect1);
        assert!(counts.marks(Why::Early) > 0);
        assert_eq!((counts.dropped(), port.backlog().packets), (0, 10));
    }

    #[test]
    fn a_full_queue_drops_for_overflow_and_marks_nothing_first() {
        let mut port = port(&[("limit", "3p"), ("minth", "0p"), ("maxth", "3p"), ("maxp", "1"), ("wq", "0.0001")]);
        let counts = offer(&mut port, 50, 1000, Ecn::Ect0);
        assert_eq!(counts.drops(Why::Overflow), 47);
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
    fn in_byte_mode_the_average_is_of_bytes() {
        let settings = [("limit", "10KB"), ("minth", "1KB"), ("maxth", "9KB"), ("byte_mode", "on"), ("wq", "1")];
        let mut port = port(&settings);
        port.enqueue(packet(700, Ecn::NotEct), Time::ZERO, &mut ());
        port.enqueue(packet(40, Ecn::NotEct), Time::ZERO, &mut ());
        assert_eq!(gauge(&port, "average"), 700.0);
    }

    #[test]
    fn auto_thresholds_and_weight_follow_the_link() {
        // 8 Mbit/s and 500 B: C = 2000 packets a second, 2.5 ms of it are 5 packets, 2500 bytes.
        let config = RedConfig::from_settings(&[("preset", "ns2")]).unwrap();
        let red: Red<()> = Red::new(config, &LINK).unwrap();
        assert_eq!(red.detector().thresholds(), Thresholds { min: 2500.0, max: 7500.0 });
        let weight = weight_of_rate(LINK.rate, 500);
        assert!((weight - 1.0 / 2000.0).abs() < 2e-7, "{weight}");
        // A second of that delay: 500 packets. In a buffer of 60 packets, a sixth of it, and three times that.
        for (limit, min) in [("10000p", 500.0), ("60p", 10.0)] {
            let settings = [("limit", limit), ("minth", "auto"), ("maxth", "auto"), ("target_delay", "1s")];
            let red: Red<()> = Red::new(RedConfig::from_settings(&settings).unwrap(), &LINK).unwrap();
            assert_eq!(red.detector().thresholds(), Thresholds { min, max: 3.0 * min });
        }
    }

    #[test]
    fn the_linux_presets_find_the_weight_tc_finds() {
        // tc for `limit 1000000 avpkt 1000`: max 250000, min 83333, burst (2 x 83.3 + 250)/3 = 138, W = 6:
        // 138 + 1 - 83.3 = 55.7 <= 64 (1 - (63/64)^138) = 56.7, and not with W = 5: 32 (1 - (31/32)^138) = 31.6.
        let config = RedConfig::from_settings(&[("preset", "linux")]).unwrap();
        let thresholds = Thresholds { min: 83_333.0, max: 250_000.0 };
        assert_eq!(config.red.weight(LINK.rate, thresholds, 1000), Ok(1.0 / 64.0));
        let short = RedConfig::from_settings(&[("preset", "linux"), ("burst", "50")]).unwrap();
        assert!(matches!(Red::<()>::new(short, &LINK), Err(BuildError::Conflict(why)) if why.contains("burst of 50")));
    }

    #[test]
    fn the_first_packet_above_minth_and_packets_in_a_short_queue_are_spared_by_settings() {
        // The average is the current queue length. At 0 it is below minth, at 1 pb = 0, and from 2 on every packet is
        // dropped.
        let sure = [("limit", "20p"), ("minth", "1p"), ("maxth", "1.5p"), ("wq", "1")];
        let kept = |more: &[(&str, &str)]| {
            let mut port = port(&[&sure, more].concat());
            offer(&mut port, 10, 1000, Ecn::NotEct);
            port.backlog().packets
        };
        assert_eq!([kept(&[]), kept(&[("spare_below", "2")]), kept(&[("spare_below", "5")])], [2, 2, 5]);
        // The second packet is the first above minth, and meets pb = 0.5/0.5001.
        let chance = |spare: &str| {
            let settings = [("limit", "20p"), ("minth", "0.5p"), ("maxth", "1.0001p"), ("maxp", "1"), ("wq", "1")];
            let mut port = port(&[&settings[..], &[("spare_first", spare)]].concat());
            offer(&mut port, 10, 1000, Ecn::NotEct);
            port.backlog().packets
        };
        assert_eq!([chance("off"), chance("on")], [1, 2]);
    }

    #[test]
    fn every_preset_builds_and_the_names_of_tc_and_ns2_work() {
        for preset in RedConfig::presets() {
            let config = RedConfig::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Red::<()>::new(config, &LINK).is_ok(), "{}", preset.name);
        }
        let tc = [("min", "30KB"), ("max", "90KB"), ("avpkt", "1000B"), ("probability", "0.1")];
        let ns2 = [("thresh_", "30KB"), ("maxthresh_", "90KB"), ("mean_pktsize_", "1000B"), ("maxp", "0.1")];
        assert_eq!(RedConfig::from_settings(&tc), RedConfig::from_settings(&ns2));
        // ns-3's defaults (red-queue-disc.cc); its Initialize takes maxp = 1/LInterm.
        let ns3 = [("MaxSize", "25p"), ("MinTh", "5"), ("MaxTh", "15"), ("QW", "0.002"), ("LInterm", "50")];
        let ours = [("limit", "25p"), ("minth", "5p"), ("maxth", "15p"), ("wq", "0.002"), ("maxp", "0.02")];
        assert_eq!(RedConfig::from_settings(&ns3), RedConfig::from_settings(&ours));
        let switches = [("Gentle", "true"), ("ARED", "false"), ("UseEcn", "false"), ("linterm_", "10")];
        let ours = [("gentle", "on"), ("ecn", "off"), ("maxp", "0.1")];
        assert_eq!(RedConfig::from_settings(&switches), RedConfig::from_settings(&ours));
    }

    #[test]
    fn thresholds_in_the_wrong_order_or_out_of_reach_are_a_conflict() {
        for bad in [[("minth", "50p"), ("maxth", "50p")], [("minth", "10p"), ("maxth", "2000p")]] {
            for bytes in ["off", "on"] {
                let config = RedConfig::from_settings(&[&bad[..], &[("byte_mode", bytes)]].concat()).unwrap();
                assert!(matches!(Red::<()>::new(config, &LINK), Err(BuildError::Conflict(_))), "{bad:?}");
            }
        }
    }
}
