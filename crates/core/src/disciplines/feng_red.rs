//! Feng's RED (self-configuring RED): RED that scales `maxp` up or down whenever the average crosses a threshold.
//!
//! If the average queue rises above maxth, RED is too gentle: maxp is multiplied by `beta`. If it falls below minth,
//! RED is too aggressive: maxp is divided by `alpha`. maxp changes once per crossing, not while the average stays
//! beyond the threshold.
//!
//! The state is RED's plus the last zone of the average. On arrival, RED updates the average, maxp is adapted
//! ([`SelfConfiguringMaxp`]), and RED then decides on the packet ([`RedQueue`]). RED handles departures.
//!
//! Source: W. Feng, D. Kandlur, D. Saha, K. Shin, "A self-configuring RED gateway", IEEE INFOCOM 1999, figure 4.
//! Deviations are listed in docs/disciplines/feng_red.md.
//!
//! | paper | here |
//! | --- | --- |
//! | status | [`FengRed::zone`] |
//! | alpha, beta | `alpha`, `beta` |

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{MaxpScaling, RedDetector, RedQueue, RedSettings, SelfConfiguringMaxp, Zone};

crate::params! {
    /// Settings of [`FengRed`].
    pub struct FengRedConfig with red: RedSettings {
        red { limit, minth, maxth }
        /// Initial drop or mark probability just below `maxth`, before spacing.
        maxp: f64 = 0.02, in (Bound::Excluded(0.0), Bound::Included(1.0)),
            also "max_p" "probability" "cur_max_p_", inverse "linterm_" "LInterm";
        /// Divisor of maxp when the average falls below `minth`.
        alpha: f64 = 3.0, in 1.0.., also "alpha_" "FengAlpha";
        /// Factor of maxp when the average rises above `maxth`.
        beta: f64 = 2.0, in 1.0.., also "beta_" "FengBeta";
        /// Lower bound of maxp. The paper has none, but a maxp of 0 would never rise again.
        bottom: f64 = 0.0001, in (Bound::Excluded(0.0), Bound::Included(1.0));
        red {
            wq, burst, target_delay, spacing, gentle, byte_mode, ignore_size, spare_first, spare_below, mark_above_maxth,
            ecn, mean_packet
        }
    }
    presets {
        "paper" "Feng, Kandlur, Saha, Shin 1999: alpha 3, beta 2; RED's values as in `red` (the defaults)" {}
        "ns2" "ns-2 2.35, ns-default.tcl with adaptive_ 1, feng_adaptive_ 1, alpha_ 3 and beta_ 2 (test-suite-adaptive-red)" {
            "minth" = "auto", "maxth" = "auto", "maxp" = "0.1", "wq" = "auto", "spacing" = "wait", "gentle" = "on",
            "byte_mode" = "on", "spare_first" = "on", "spare_below" = "1", "ecn" = "off", "mean_packet" = "500B"
        }
    }
    reasons { Overflow, Early, Forced }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::MAXP;
    }
    fixed {
        "adaptive_" = true, "red";
        "feng_adaptive_" "FengAdaptive" = true, "ared";
    }
}

/// RED with a maxp that follows the load.
pub struct FengRed<T> {
    red: RedQueue<T>,
    maxp: SelfConfiguringMaxp,
    scaling: MaxpScaling,
}

impl<T> FengRed<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, or no weight suits the burst.
    pub fn new(config: FengRedConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let red = RedQueue::new(RedSettings { maxp: config.maxp, ..config.red }, link)?;
        let scaling = MaxpScaling { alpha: config.alpha, beta: config.beta, least: config.bottom };
        Ok(FengRed { red, maxp: SelfConfiguringMaxp::new(config.maxp), scaling })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        self.red.detector()
    }

    /// The last zone of the average.
    pub fn zone(&self) -> Zone {
        self.maxp.zone()
    }

    #[inline]
    fn adapt(&mut self) {
        let detector = self.red.detector_mut();
        if self.maxp.update(detector.average(), detector.thresholds(), &self.scaling) {
            detector.set_maxp(self.maxp.maxp());
        }
    }
}

impl<T> Discipline<T> for FengRed<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.red.update(cx);
        self.adapt();
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
    use crate::{FlowId, Port, Rate, Rng, Time};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // The average is the current queue length, and no packet is dropped or marked.
    const EXACT: &[(&str, &str)] =
        &[("limit", "60p"), ("minth", "10p"), ("maxth", "20p"), ("wq", "1"), ("spare_below", "1000")];

    fn port(settings: &[(&str, &str)]) -> Port<(), FengRed<()>> {
        let config = FengRedConfig::from_settings(&[EXACT, settings].concat()).unwrap();
        Port::new(FengRed::new(config, &LINK).unwrap(), Rng::new(3))
    }

    fn arrive(port: &mut Port<(), FengRed<()>>, queue: u32) -> f64 {
        while port.backlog().packets > queue {
            port.dequeue(Time::ZERO, &mut ());
        }
        while port.backlog().packets <= queue {
            port.enqueue(Packet::new(FlowId(1), 1000, ()), Time::ZERO, &mut ());
        }
        port.discipline().detector().maxp()
    }

    #[test]
    fn maxp_moves_once_for_each_crossing_outwards() {
        let mut port = port(&[("maxp", "0.06")]);
        let steps = [5, 15, 25, 30, 21, 15, 25, 15, 5, 0, 9, 15, 5];
        // By hand: unchanged at the start; doubled above maxth, once; doubled again after the average was between;
        // divided by 3 below minth, twice.
        let expected = [0.06, 0.06, 0.12, 0.12, 0.12, 0.12, 0.24, 0.24, 0.08, 0.08, 0.08, 0.08, 0.08 / 3.0];
        let seen = steps.map(|queue| arrive(&mut port, queue));
        assert!(seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{seen:?}");
    }

    #[test]
    fn a_threshold_that_is_only_touched_is_not_crossed() {
        let mut port = port(&[("maxp", "0.06")]);
        let seen = [15, 20, 10, 20].map(|queue| arrive(&mut port, queue));
        assert_eq!((seen, port.discipline().zone()), ([0.06; 4], Zone::Between));
    }

    #[test]
    fn maxp_stays_between_bottom_and_one_and_recovers_from_either() {
        let mut port = port(&[("maxp", "0.5")]);
        (0..10).for_each(|_| assert!(arrive(&mut port, 15) * arrive(&mut port, 25) <= 1.0));
        assert_eq!(port.discipline().detector().maxp(), 1.0);
        (0..1000).for_each(|_| assert!(arrive(&mut port, 15) >= arrive(&mut port, 5)));
        assert_eq!(port.discipline().detector().maxp(), 0.0001);
        arrive(&mut port, 15);
        assert_eq!(arrive(&mut port, 25), 0.0002);
    }
}
