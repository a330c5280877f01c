//! The trend of the delay, and whether the link is used too much (draft-ietf-rmcat-gcc-02, sections 5.3 and 5.4, as in
//! WebRTC's `TrendlineEstimator`).
//!
//! The delay of each group of packets is smoothed. A line through the last [`WINDOW`] points gives the trend: its slope
//! is the part by which packets are sent faster than the bottleneck's rate. If it stays above a threshold for 10 ms, the
//! link is over-used. The threshold follows the trend slowly, so that a TCP flow that fills the queue does not starve
//! the call.

use aqm::Time;

use super::bandwidth_use::BandwidthUse;
use super::groups::GroupDelta;

/// Points of the line.
const WINDOW: usize = 20;
/// Weight of the old value in the smoothed delay.
const SMOOTHING: f64 = 0.9;
/// The slope is multiplied by this and by the number of groups, at most [`MOST_DELTAS`].
const GAIN: f64 = 4.0;
const MOST_DELTAS: u32 = 60;
/// Over-use lasts longer than this.
const OVER_USE_MS: f64 = 10.0;
/// The threshold at first, and its limits (the draft's `del_var_th`).
const FIRST_THRESHOLD: f64 = 12.5;
const THRESHOLDS: (f64, f64) = (6.0, 600.0);
/// Gains of the threshold (the draft's K_u and K_d), per millisecond.
const K_UP: f64 = 0.0087;
const K_DOWN: f64 = 0.039;
/// The threshold does not follow a trend this far above it: a spike.
const SPIKE: f64 = 15.0;
/// The threshold moves as if at most this time had passed.
const LONGEST_STEP_MS: f64 = 100.0;

#[derive(Clone, Debug)]
pub struct TrendDetector {
    deltas: u32,
    first: Option<Time>,
    accumulated_ms: f64,
    smoothed_ms: f64,
    /// Arrival and smoothed delay in ms of the last groups, a ring.
    points: [(f64, f64); WINDOW],
    trend: f64,
    threshold: f64,
    threshold_at: Option<Time>,
    /// How long the trend has been above the threshold, and in how many groups; `None` if it is not.
    over_ms: Option<f64>,
    over_groups: u32,
    state: BandwidthUse,
}

impl Default for TrendDetector {
    fn default() -> TrendDetector {
        TrendDetector {
            deltas: 0,
            first: None,
            accumulated_ms: 0.0,
            smoothed_ms: 0.0,
            points: [(0.0, 0.0); WINDOW],
            trend: 0.0,
            threshold: FIRST_THRESHOLD,
            threshold_at: None,
            over_ms: None,
            over_groups: 0,
            state: BandwidthUse::Normal,
        }
    }
}

impl TrendDetector {
    pub fn bandwidth_use(&self) -> BandwidthUse {
        self.state
    }

    /// Adds a group of packets.
    pub fn update(&mut self, delta: &GroupDelta) {
        let first = *self.first.get_or_insert(delta.at);
        self.accumulated_ms += delta.arrived_ms - delta.sent_ms;
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.accumulated_ms;
        self.points[self.deltas as usize % WINDOW] = ((delta.at - first).as_secs_f64() * 1e3, self.smoothed_ms);
        self.deltas += 1;
        let trend = if self.deltas as usize >= WINDOW { slope(&self.points).unwrap_or(self.trend) } else { self.trend };
        self.detect(trend, delta);
    }

    fn detect(&mut self, trend: f64, delta: &GroupDelta) {
        if self.deltas < 2 {
            return;
        }
        let scaled = f64::from(self.deltas.min(MOST_DELTAS)) * trend * GAIN;
        if scaled > self.threshold {
            // The first time, over-use is taken to have begun in the middle of the interval.
            let over_ms = self.over_ms.map_or(delta.sent_ms / 2.0, |so_far| so_far + delta.sent_ms);
            self.over_ms = Some(over_ms);
            self.over_groups += 1;
            if over_ms > OVER_USE_MS && self.over_groups > 1 && trend >= self.trend {
                (self.over_ms, self.over_groups) = (Some(0.0), 0);
                self.state = BandwidthUse::Over;
            }
        } else {
            (self.over_ms, self.over_groups) = (None, 0);
            self.state = if scaled < -self.threshold { BandwidthUse::Under } else { BandwidthUse::Normal };
        }
        self.trend = trend;
        self.adapt_threshold(scaled.abs(), delta.at);
    }

    fn adapt_threshold(&mut self, scaled: f64, now: Time) {
        let since = self.threshold_at.replace(now).map_or(0.0, |last| (now.max(last) - last).as_secs_f64() * 1e3);
        if scaled > self.threshold + SPIKE {
            return;
        }
        let gain = if scaled < self.threshold { K_DOWN } else { K_UP };
        let moved = self.threshold + gain * (scaled - self.threshold) * since.min(LONGEST_STEP_MS);
        self.threshold = moved.clamp(THRESHOLDS.0, THRESHOLDS.1);
    }
}

/// The slope of the line with the least squared distance; `None` if all points arrived at once.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / count, y / count);
    let both = |point: &(f64, f64)| ((point.0 - x) * (point.1 - y), (point.0 - x) * (point.0 - x));
    let (over, under) = points.iter().map(both).fold((0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    (under > 0.0).then(|| over / under)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups sent every 20 ms whose delay grows by `growth` ms each, from group `from` on.
    fn detector(count: u32, growth: impl Fn(u32) -> f64) -> (TrendDetector, Vec<BandwidthUse>) {
        let (mut detector, mut states, mut now) = (TrendDetector::default(), Vec::new(), 0.0);
        for number in 0..count {
            now += 20.0 + growth(number);
            let at = Time::from_nanos((now * 1e6) as u64);
            detector.update(&GroupDelta { sent_ms: 20.0, arrived_ms: 20.0 + growth(number), at });
            states.push(detector.bandwidth_use());
        }
        (detector, states)
    }

    #[test]
    fn the_slope_of_a_line_is_found() {
        // Delays 0, 1, ..., 9 at 0, 5, ..., 45 ms rise by a fifth.
        let points: Vec<(f64, f64)> = (0..10).map(|n| (5.0 * f64::from(n), f64::from(n))).collect();
        assert!((slope(&points).unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(slope(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn a_growing_delay_is_over_use_and_a_shrinking_one_under_use() {
        // 1 ms in 20 ms: a slope of nearly 1/21 once smoothed. 4 x 60 x 1/21 = 11.4 is above the threshold, which by
        // then has fallen towards its least value of 6.
        let (_, states) = detector(120, |number| if number > 60 { 1.0 } else { 0.0 });
        assert_eq!(states[60], BandwidthUse::Normal);
        assert!(states[60..90].contains(&BandwidthUse::Over));
        let (_, states) = detector(120, |number| if number > 60 { -1.0 } else { 0.0 });
        assert!(states[60..90].contains(&BandwidthUse::Under));
    }

    #[test]
    fn without_a_trend_the_threshold_falls_by_k_down_a_millisecond_to_its_least() {
        // The first update only sets the time. One step of 20 ms: 12.5 + 0.039 x (0 - 12.5) x 20 = 2.75, so 6.
        let (detector, _) = detector(3, |_| 0.0);
        assert!((detector.threshold - 6.0).abs() < 1e-12);
    }

    #[test]
    fn the_threshold_rises_by_k_up_a_millisecond_and_not_after_a_spike() {
        let mut detector = TrendDetector::default();
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        detector.adapt_threshold(20.0, at(0));
        detector.adapt_threshold(20.0, at(10));
        // 12.5 + 0.0087 x 7.5 x 10.
        assert!((detector.threshold - 13.1525).abs() < 1e-9);
        detector.adapt_threshold(13.1525 + 15.01, at(20));
        assert!((detector.threshold - 13.1525).abs() < 1e-9);
    }

    #[test]
    fn one_group_above_the_threshold_is_no_over_use() {
        let mut detector = TrendDetector { deltas: 60, ..TrendDetector::default() };
        let delta = GroupDelta { sent_ms: 30.0, arrived_ms: 40.0, at: Time::from_nanos(1_000_000_000) };
        detector.detect(0.06, &delta); // 60 x 0.06 x 4 = 14.4
        assert_eq!(detector.bandwidth_use(), BandwidthUse::Normal);
        detector.detect(0.07, &delta);
        assert_eq!(detector.bandwidth_use(), BandwidthUse::Over);
    }
}
