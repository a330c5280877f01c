use super::{Thresholds, Zone};

/// Settings of the adaptation: how far one crossing moves maxp, and its lower bound.
#[derive(Clone, Copy, Debug)]
pub struct MaxpScaling {
    /// Divisor of maxp when the average falls below minth.
    pub alpha: f64,
    /// Factor of maxp when the average rises above maxth.
    pub beta: f64,
    /// Lower bound of maxp, which the paper lacks. Without it, a queue that is often empty would drive maxp to 0, and no
    /// factor recovers from that. The upper bound is 1.
    pub least: f64,
}

/// Feng's adaptation of RED's maxp: divided by alpha when the average falls below minth, multiplied by beta when it
/// rises above maxth.
///
/// An average equal to a threshold lies in no zone, and the last zone stays. All comparisons in figure 4 are strict, as
/// in ns-2.35 (`REDQueue::updateMaxPFeng`, `red.cc`).
///
/// Source: W. Feng, D. Kandlur, D. Saha, K. Shin, "A self-configuring RED gateway", IEEE INFOCOM 1999, figure 4.
#[derive(Clone, Copy, Debug)]
pub struct SelfConfiguringMaxp {
    maxp: f64,
    zone: Zone,
}

impl SelfConfiguringMaxp {
    /// Starts with `maxp`. The paper leaves the initial zone open: an empty queue is below minth.
    pub fn new(maxp: f64) -> SelfConfiguringMaxp {
        SelfConfiguringMaxp { maxp, zone: Zone::Below }
    }

    /// The current value.
    #[inline]
    pub fn maxp(&self) -> f64 {
        self.maxp
    }

    /// The paper's status: the last zone of the average.
    #[inline]
    pub fn zone(&self) -> Zone {
        self.zone
    }

    /// Adapts maxp to a new average. Returns whether it may have changed.
    #[inline]
    pub fn update(&mut self, average: f64, thresholds: Thresholds, scaling: &MaxpScaling) -> bool {
        let stays = if average < thresholds.min {
            self.zone == Zone::Below
        } else if average < thresholds.max {
            self.zone == Zone::Between
        } else {
            self.zone == Zone::Above
        };
        if !stays {
            self.leave_zone(average, thresholds, scaling);
        }
        !stays
    }

    /// Figure 4, for an average that may have left its zone. A separate function, because few averages do.
    #[cold]
    fn leave_zone(&mut self, average: f64, Thresholds { min, max }: Thresholds, scaling: &MaxpScaling) {
        let MaxpScaling { alpha, beta, least } = *scaling;
        if min < average && average < max {
            self.zone = Zone::Between;
        } else if average < min && self.zone != Zone::Below {
            (self.zone, self.maxp) = (Zone::Below, (self.maxp / alpha).max(least));
        } else if average > max && self.zone != Zone::Above {
            (self.zone, self.maxp) = (Zone::Above, (self.maxp * beta).min(1.0).max(least));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Thresholds = Thresholds { min: 1.0, max: 3.0 };

    fn seen<const N: usize>(averages: [f64; N]) -> [f64; N] {
        let scaling = MaxpScaling { alpha: 3.0, beta: 2.0, least: 0.05 };
        let mut adapted = SelfConfiguringMaxp::new(0.375);
        averages.map(|average| {
            let before = adapted.maxp();
            let crossed = adapted.update(average, LIMITS, &scaling);
            assert!(crossed || adapted.maxp() == before);
            adapted.maxp()
        })
    }

    #[test]
    fn maxp_moves_once_a_crossing_and_stays_in_its_bounds() {
        // By hand: maxp doubles above maxth, once; stays between; doubles above again, to at most 1; is divided by 3
        // below minth.
        let seen = seen([0.0, 3.5, 9.0, 2.5, 3.5, 0.5, 0.0, 1.5, 0.9, 1.1, 0.9, 1.5, 0.9]);
        let expected = [0.375, 0.75, 0.75, 0.75, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0, 1.0 / 9.0];
        assert_eq!(seen[..10], expected);
        assert_eq!(seen[10..], [0.05; 3]);
    }

    #[test]
    fn an_average_at_a_threshold_leaves_the_zone_as_it_was() {
        // Figure 4: "minth < qave < maxth" sets the status to Between. At 3 it stays Above, at 1 it stays Below, so
        // the next average beyond the same threshold is no crossing.
        assert_eq!(seen([3.5, 3.0, 3.5, 0.5, 1.0, 0.5]), [0.75, 0.75, 0.75, 0.25, 0.25, 0.25]);
        // From one threshold to the other without an average between them: each side is crossed once.
        assert_eq!(seen([3.0, 3.5, 3.0, 1.0, 0.5]), [0.375, 0.75, 0.75, 0.75, 0.25]);
    }
}
