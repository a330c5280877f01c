//! Random early detection: compares the average queue with two thresholds and chooses packets to drop or mark.
//!
//! To signal a packet means to drop or mark it. [`RedDetector`] only decides whether to signal a packet; the owner of
//! the queue drops or marks it. RED and its variants, CHOKe and FRED use it.
//!
//! Source: S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993,
//! figure 2. `gentle`: S. Floyd, "Recommendation on using the gentle variant of RED", 2000.

use alloc::format;

use super::Average;
use crate::params::BuildError;
use crate::rng::Rng;
use crate::time::Time;
use crate::units::{Level, Limit};

crate::choice! {
    /// How signals are spaced.
    pub enum Spacing {
        /// pa = pb/(1 - count pb): gaps between signals are uniform in 1..1/pb (Floyd, Jacobson 1993, method 2).
        Uniform = "uniform",
        /// pa = 0 while count pb < 1, then pb/(2 - count pb): gaps are uniform in 1/pb..2/pb (ns-2's `wait_`).
        Wait = "wait",
    }
}

/// Position of the average queue relative to the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Below minth: no packet is dropped or marked.
    Below,
    /// Between the thresholds: packets are dropped or marked at random.
    Between,
    /// At or above maxth (`gentle`: twice maxth): every packet is dropped or marked.
    Above,
}

/// The two thresholds, in the unit of the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The paper's minth.
    pub min: f64,
    /// The paper's maxth.
    pub max: f64,
}

impl Thresholds {
    /// Thresholds checked against each other and `limit`, all in the same unit.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `min` is not below `max`, or `max` above `limit`.
    pub fn new(min: f64, max: f64, limit: f64, unit: &str) -> Result<Thresholds, BuildError> {
        if min >= max {
            return Err(BuildError::Conflict(format!("minth ({min} {unit}) must be below maxth ({max} {unit})")));
        }
        if max > limit {
            let why = format!("maxth ({max} {unit}) lies above the limit ({limit} {unit}): it could not be reached");
            return Err(BuildError::Conflict(why));
        }
        Ok(Thresholds { min, max })
    }

    /// Thresholds in packets of `mean_packet` bytes, checked.
    ///
    /// # Errors
    /// As for [`new`](Thresholds::new).
    pub fn in_packets(min: Level, max: Level, limit: Limit, mean_packet: u32) -> Result<Thresholds, BuildError> {
        let [min, max] = [min, max].map(|level| level.packets(limit, mean_packet));
        Thresholds::new(min, max, limit.packets(mean_packet), "packets")
    }
}

/// RED without its queue: decides on each packet from the average, the probability, and the spacing of signals.
#[derive(Clone, Debug)]
pub struct RedDetector {
    average: Average,
    thresholds: Thresholds,
    maxp: f64,
    gentle: bool,
    spacing: Spacing,
    spare_first: bool,
    /// The paper's count: packets since the last signal; -1 while the average is below minth.
    count: i64,
    /// 1/(maxth - minth) and 1/maxth, for [`estimate`](RedDetector::estimate).
    reciprocals: [f64; 2],
}

/// Bound of the rounding errors in [`RedDetector::draws`], which are below 2^-50.
const MARGIN: f64 = 1.0 / (1u64 << 40) as f64;

impl RedDetector {
    /// A detector whose probability rises to `maxp` at maxth.
    pub fn new(average: Average, thresholds: Thresholds, maxp: f64) -> RedDetector {
        RedDetector {
            average,
            thresholds,
            maxp,
            gentle: false,
            spacing: Spacing::Uniform,
            spare_first: false,
            count: -1,
            reciprocals: [1.0 / (thresholds.max - thresholds.min), 1.0 / thresholds.max],
        }
    }

    /// With `gentle`, the probability rises from maxp to 1 between maxth and twice maxth instead of jumping to 1.
    pub fn gentle(self, gentle: bool) -> RedDetector {
        RedDetector { gentle, ..self }
    }

    /// Sets the spacing of signals.
    pub fn spacing(self, spacing: Spacing) -> RedDetector {
        RedDetector { spacing, ..self }
    }

    /// Spares the first packet after the average reaches minth, as Linux and ns-2 do.
    pub fn spare_first(self, spare_first: bool) -> RedDetector {
        RedDetector { spare_first, ..self }
    }

    /// The paper's maxp: the probability just below maxth.
    pub fn maxp(&self) -> f64 {
        self.maxp
    }

    /// Sets maxp, for adaptive variants.
    pub fn set_maxp(&mut self, maxp: f64) {
        self.maxp = maxp;
    }

    /// The paper's count: packets since the last signal, -1 while the average is below minth.
    pub fn count(&self) -> i64 {
        self.count
    }

    /// The average queue decayed to `now`; see [`Average::decayed_to`].
    pub fn decayed_to(&self, queue: f64, now: Time) -> f64 {
        self.average.decayed_to(queue, now)
    }

    /// The average queue.
    #[inline]
    pub fn average(&self) -> f64 {
        self.average.value()
    }

    /// The thresholds.
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// Updates the average with the queue length before an arrival and returns its zone.
    #[inline]
    pub fn update(&mut self, queue: f64, now: Time) -> Zone {
        let average = self.average.update(queue, now);
        if average < self.thresholds.min {
            Zone::Below
        } else if average < self.thresholds.max || (self.gentle && average < 2.0 * self.thresholds.max) {
            Zone::Between
        } else {
            Zone::Above
        }
    }

    /// Records a dequeue, see [`Average::record_dequeue`].
    #[inline]
    pub fn record_dequeue(&mut self, found: bool, now: Time) {
        self.average.record_dequeue(found, now);
    }

    /// The paper's pb, before spacing: 0 below minth, 1 in the zone above.
    #[inline]
    pub fn probability(&self) -> f64 {
        let (average, Thresholds { min, max }) = (self.average.value(), self.thresholds);
        if average < min {
            0.0
        } else if average < max {
            self.maxp * (average - min) / (max - min)
        } else if self.gentle {
            (self.maxp + (1.0 - self.maxp) * (average - max) / max).min(1.0)
        } else {
            1.0
        }
    }

    /// Decides whether to signal a packet [between](Zone::Between) the thresholds, with probability pa. `scale`
    /// multiplies pb: 1, or in byte mode the packet's size over the mean. Draws at most one number.
    // Always inlined: see `RedQueue::offer`.
    #[inline(always)]
    pub fn early(&mut self, scale: f64, rng: &mut Rng) -> bool {
        self.count_packet();
        if self.spare_first && self.count == 0 {
            return false;
        }
        let hit = self.draws(scale, rng);
        if hit {
            self.restart_spacing();
        }
        hit
    }

    /// True with probability pa. Divides only if the draw is below pa or close to it: for all other draws, the
    /// multiplications of [`estimate`](RedDetector::estimate) give the same answer.
    #[inline(always)]
    fn draws(&self, scale: f64, rng: &mut Rng) -> bool {
        let estimate = self.estimate() * scale;
        let open = 1.0 - self.count as f64 * estimate;
        // The outcome is open: 0 < pa < 1.
        if self.spacing == Spacing::Uniform && estimate > MARGIN && open > estimate + MARGIN {
            let draw = rng.unit();
            return draw * open <= estimate + MARGIN && draw < self.exact_probability(scale);
        }
        rng.chance(self.exact_probability(scale))
    }

    /// The paper's pb by multiplication: [`probability`](RedDetector::probability) to within a few roundings. May
    /// exceed 1.
    #[inline]
    fn estimate(&self) -> f64 {
        let (average, Thresholds { min, max }) = (self.average.value(), self.thresholds);
        if average < max {
            self.maxp * (average - min) * self.reciprocals[0]
        } else {
            self.maxp + (1.0 - self.maxp) * (average - max) * self.reciprocals[1]
        }
    }

    /// The paper's pa. A separate function keeps its divisions out of the common path.
    #[cold]
    fn exact_probability(&self, scale: f64) -> f64 {
        self.spaced_probability(self.probability() * scale)
    }

    /// Counts an arrival between the thresholds. Call it for arrivals that are exempt from signals (FRED: the flow has
    /// few packets queued); [`early`](RedDetector::early) counts all others.
    #[inline]
    pub fn count_packet(&mut self) {
        self.count += 1;
    }

    /// Restarts the spacing after any signal.
    #[inline]
    pub fn restart_spacing(&mut self) {
        self.count = 0;
    }

    /// Resets `count` because the average is below minth.
    #[inline]
    pub fn reset_spacing(&mut self) {
        self.count = -1;
    }

    /// The paper's pa for pb = `probability`.
    #[inline]
    fn spaced_probability(&self, probability: f64) -> f64 {
        let used = self.count as f64 * probability;
        let open = match self.spacing {
            Spacing::Uniform => 1.0 - used,
            Spacing::Wait if used < 1.0 => return 0.0,
            Spacing::Wait => 2.0 - used,
        };
        // pa has reached 1: signal now, unless pb is 0.
        if open > probability { probability / open } else { f64::from(u8::from(probability > 0.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn detector(maxp: f64) -> RedDetector {
        let thresholds = Thresholds { min: 10.0, max: 20.0 };
        RedDetector::new(Average::new(1.0, Span::from_millis(1)), thresholds, maxp)
    }

    #[test]
    fn the_probability_rises_in_one_line_then_jumps_or_with_gentle_in_two() {
        let steps = [9.9, 10.0, 15.0, 19.0, 20.0, 30.0, 40.0];
        let curve =
            |mut d: RedDetector| steps.map(|queue| (d.update(queue, Time::ZERO), (d.probability() * 1e6) as u32));
        use Zone::*;
        // By hand with maxp 0.1: 0.1 x 5/10, 0.1 x 9/10; gentle: 0.1 + 0.9 x 0/20, 0.1 + 0.9 x 10/20.
        let common = [(Below, 0), (Between, 0), (Between, 50_000), (Between, 90_000)];
        assert_eq!(curve(detector(0.1))[..4], common);
        assert_eq!(curve(detector(0.1))[4..], [(Above, 1_000_000); 3]);
        assert_eq!(curve(detector(0.1).gentle(true))[..4], common);
        let gentle = [(Between, 100_000), (Between, 550_000), (Above, 1_000_000)];
        assert_eq!(curve(detector(0.1).gentle(true))[4..], gentle);
    }

    #[test]
    fn spacing_makes_a_signal_certain_within_the_gap() {
        let mut uniform = detector(0.5);
        uniform.update(15.0, Time::ZERO);
        // pb = 1/4. By hand, count 0 to 3: 1/4, 1/4 / (3/4) = 1/3, 1/4 / (2/4) = 1/2, 1/4 / (1/4) = 1.
        let seen: [f64; 5] = core::array::from_fn(|_| {
            uniform.count_packet();
            uniform.spaced_probability(uniform.probability())
        });
        assert_eq!(seen, [0.25, 1.0 / 3.0, 0.5, 1.0, 1.0]);
        let mut wait = detector(0.5).spacing(Spacing::Wait);
        wait.update(15.0, Time::ZERO);
        let seen: [f64; 9] = core::array::from_fn(|_| {
            wait.count_packet();
            wait.spaced_probability(wait.probability())
        });
        // 0 for count 0 to 3, then as above with 2 - count/4.
        assert_eq!(seen, [0.0, 0.0, 0.0, 0.0, 0.25, 1.0 / 3.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn gaps_between_signals_are_uniform_not_geometric() {
        let (mut detector, mut rng) = (detector(0.5), Rng::new(1));
        detector.update(14.0, Time::ZERO);
        // pb = 1/5. At the next packet after a signal, count is 1, so the gap is 1, 2, 3 or 4 packets.
        let (mut gaps, mut last) = ([0u32; 5], 0);
        for packet in 1..100_001_usize {
            if detector.early(1.0, &mut rng) {
                gaps[(packet - last - 1).min(4)] += 1;
                last = packet;
            }
        }
        // 10 000 of each gap are expected, with a standard deviation of about 87. The tolerance is five of them.
        assert!(gaps[..4].iter().all(|n| n.abs_diff(10_000) < 435) && gaps[4] <= 1, "{gaps:?}");
    }

    #[test]
    fn a_probability_of_zero_never_signals_however_many_packets_pass() {
        let (mut detector, mut rng) = (detector(0.0), Rng::new(1));
        detector.update(15.0, Time::ZERO);
        assert!((0..1000).all(|_| !detector.early(1.0, &mut rng)));
    }

    #[test]
    fn thresholds_that_cannot_work_are_refused_with_a_reason() {
        let build = |min, max| Thresholds::in_packets(min, max, Limit::Packets(100), 1000);
        assert_eq!(build(Level::Share(0.25), Level::Bytes(50_000.0)), Ok(Thresholds { min: 25.0, max: 50.0 }));
        let why = |result: Result<_, BuildError>| format!("{}", result.unwrap_err());
        let equal = build(Level::Packets(50.0), Level::Share(0.5));
        assert_eq!(why(equal), "minth (50 packets) must be below maxth (50 packets)");
        let beyond = build(Level::Packets(50.0), Level::Packets(101.0));
        assert!(why(beyond).starts_with("maxth (101 packets) lies above the limit (100 packets)"));
    }
}
