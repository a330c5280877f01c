use super::Zone;

/// Feng's adaptation of RED's maxp: divided by alpha = 3 when the average falls below minth, multiplied by beta = 2
/// when it rises above maxth.
///
/// Source: W. Feng, D. Kandlur, D. Saha, K. Shin, "A self-configuring RED gateway", IEEE INFOCOM 1999, figure 4.
#[derive(Clone, Copy, Debug)]
pub struct SelfConfiguringMaxp {
    maxp: f64,
    least: f64,
    zone: Zone,
}

impl SelfConfiguringMaxp {
    /// Starts with `maxp` and an average below minth. `least` is a lower bound that the paper lacks. Without it, a
    /// queue that is often empty would drive maxp to 0, and doubling never recovers from that. The upper bound is 1.
    pub fn new(maxp: f64, least: f64) -> SelfConfiguringMaxp {
        SelfConfiguringMaxp { maxp, least, zone: Zone::Below }
    }

    /// The current value.
    #[inline]
    pub fn maxp(&self) -> f64 {
        self.maxp
    }

    /// Adapts maxp to a new average and returns it.
    #[inline]
    pub fn update(&mut self, average: f64, minth: f64, maxth: f64) -> f64 {
        let zone = if average < minth {
            Zone::Below
        } else if average > maxth {
            Zone::Above
        } else {
            Zone::Between
        };
        if zone != self.zone {
            self.zone = zone;
            match zone {
                Zone::Below => self.maxp = (self.maxp / 3.0).max(self.least),
                Zone::Above => self.maxp = (self.maxp * 2.0).min(1.0),
                Zone::Between => {}
            }
        }
        self.maxp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maxp_moves_once_a_crossing_and_stays_in_its_bounds() {
        let mut adapted = SelfConfiguringMaxp::new(0.375, 0.05);
        // minth 1, maxth 3. By hand: maxp doubles above maxth, once; stays between; doubles above again, to at most 1;
        // is divided by 3 below minth.
        let averages = [0.0, 3.5, 9.0, 3.0, 3.5, 0.5, 0.0, 1.0, 0.9, 1.0, 0.9, 1.5, 0.9];
        let expected = [0.375, 0.75, 0.75, 0.75, 1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0, 1.0 / 9.0];
        let seen = averages.map(|average| adapted.update(average, 1.0, 3.0));
        assert_eq!(seen[..10], expected);
        assert_eq!(seen[10..], [0.05; 3]);
    }
}
