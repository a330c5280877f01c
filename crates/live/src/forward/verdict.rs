//! Verdicts on the flows of a link: responsive, unresponsive, or monitored by the discipline.
//!
//! The tests are those of S. Floyd, K. Fall, "Promoting the use of end-to-end congestion control in the Internet",
//! IEEE/ACM ToN 7(4), 1999, section III. A flow is *unresponsive* if it fails all three:
//!
//! 1. It reduces its rate after intervals with many drops or marks, compared to intervals with few.
//! 2. It sends no more than its fair share.
//! 3. It sends no more than a TCP flow at its drop rate.
//!
//! Each test errs in favor of the flow. A TCP flow whose cycles are too short to observe passes the third test. One
//! with a short round-trip time passes the first.
//!
//! BBR follows its delivery rate, not single drops. It fails the first test, and all three if it exceeds its fair
//! share. Some disciplines test flows themselves (RED-PD section 4.3, SFB, BREATHe). A flow that such a discipline has
//! identified is *monitored* in any case.

use std::fmt;

use aqm::Span;
use aqm::parts::tcp_rate;

use crate::counts::counts;

/// Round-trip time of the TCP flow used for comparison: RED-PD's target, as the path's is unknown.
pub const ROUND_TRIP: Span = Span::from_millis(40);

/// Least observation time for any verdict, and for the verdict "unresponsive".
const LEAST_TIME: Span = Span::from_secs(2);
const UNRESPONSIVE_AFTER: Span = Span::from_secs(5);

/// Least number of drops and marks for a verdict.
const LEAST_SIGNALS: u64 = 5;

/// The rate is compared over this many intervals before and after an interval, 300 ms each. That is several round trips,
/// enough for a TCP flow to react. A short burst, or a probe of BBR, causes drops and then ends by itself, which looks
/// like a reaction. If it lasts less than 300 ms, the rate before it counts too, and the rates differ little.
const NEAR_INTERVALS: usize = 3;

/// Least number of intervals with many signals, and with few, for a comparison.
const LEAST_INTERVALS: usize = 3;

/// After intervals with many signals, a responsive flow's rate falls by at least this share and at least this many
/// standard errors. A normally distributed change exceeds 2.5 standard errors downwards once in 160 comparisons.
const LEAST_REDUCTION: f64 = 0.05;
const LEAST_STANDARD_ERRORS: f64 = 2.5;

/// A flow exceeds its fair share from this multiple on, since the fair rate is only an estimate.
const FAIR_MARGIN: f64 = 1.25;

/// The kind of verdict on a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Responsiveness {
    /// Too few packets, drops or marks for a verdict.
    #[default]
    Unknown,
    /// The flow reduces its rate after drops and marks.
    Responsive,
    /// Reaction unknown. The flow sends no more than its fair share, or no more than a TCP flow would.
    Friendly,
    /// The flow does not reduce its rate. It sends more than its fair share and more than a TCP flow would.
    Unresponsive,
    /// The discipline has identified the flow by a test of its own.
    Monitored,
}

impl Responsiveness {
    /// Its name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Responsiveness::Unknown => "unknown",
            Responsiveness::Responsive => "responsive",
            Responsiveness::Friendly => "friendly",
            Responsiveness::Unresponsive => "unresponsive",
            Responsiveness::Monitored => "monitored",
        }
    }
}

counts! {
    /// Packet counts of a flow.
    FlowCounts {
        /// Packets that arrived at the discipline.
        arrived,
        /// Bytes of these packets.
        arrived_bytes,
        /// Packets that the link sent.
        sent,
        /// Bytes of these packets.
        sent_bytes,
        /// Packets that the discipline dropped.
        dropped,
        /// Packets that the discipline marked.
        marked,
        /// Drops and marks for the reason that the discipline monitors the flow.
        monitored,
    }
}

impl FlowCounts {
    /// Drops plus marks.
    pub fn signals(&self) -> u64 {
        self.dropped + self.marked
    }
}

/// A flow's counts over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowInterval {
    /// Duration of the interval.
    pub duration: Span,
    /// Counts within the interval.
    pub counts: FlowCounts,
}

impl FlowInterval {
    fn signals(&self) -> u64 {
        self.counts.signals()
    }

    fn rate(&self) -> f64 {
        self.counts.arrived_bytes as f64 * 8.0 / self.duration.as_secs_f64().max(1e-9)
    }
}

/// Reduction of a flow's rate after many drops and marks, compared to few.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateReaction {
    /// The reduction as a share of the flow's mean rate; negative if the rate rises.
    pub reduction: f64,
    /// The reduction in standard errors.
    pub standard_errors: f64,
}

impl RateReaction {
    fn is_significant(&self) -> bool {
        self.reduction >= LEAST_REDUCTION && self.standard_errors >= LEAST_STANDARD_ERRORS
    }
}

/// A verdict and the measurements behind it. `Display` explains it in one sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResponsivenessVerdict {
    /// The kind of verdict.
    pub responsiveness: Responsiveness,
    /// Counts over the whole observed time.
    pub total: FlowInterval,
    /// Arrival rate over the later half of that time, in bit/s.
    pub arrival_rate: f64,
    /// Rate sent by the link over the last second, in bit/s.
    pub sent_rate: f64,
    /// Fair rate in bit/s; `None` if the link meets every demand.
    pub fair_rate: Option<f64>,
    /// Reaction to drops and marks, given enough of them.
    pub reaction: Option<RateReaction>,
    /// Rate of a TCP flow at the same drop rate, in bit/s.
    pub tcp_rate: f64,
}

/// Judges a flow by its consecutive `intervals` and the `fair` rate in bit/s; `monitored` if the discipline
/// monitors it.
pub fn judge(intervals: &[FlowInterval], fair: Option<f64>, monitored: bool) -> ResponsivenessVerdict {
    let total = sum(intervals);
    let signals = total.signals();
    let reaction = measure_reaction(intervals);
    // The current rate: a finished slow start or burst does not count against the flow.
    let later_half = sum(&intervals[intervals.len() / 2..]);
    let (rate, packets) = (later_half.rate(), later_half.counts.arrived.max(1) as f64);
    let tcp = later_half.counts.arrived_bytes as f64 * 8.0 / packets
        * tcp_rate(ROUND_TRIP, later_half.signals() as f64 / packets);
    let responsiveness = match (reaction, fair) {
        _ if monitored || total.counts.monitored > 0 => Responsiveness::Monitored,
        _ if total.duration < LEAST_TIME || signals < LEAST_SIGNALS => Responsiveness::Unknown,
        (Some(reaction), _) if reaction.is_significant() => Responsiveness::Responsive,
        _ if rate <= tcp => Responsiveness::Friendly,
        (_, Some(fair)) if rate <= FAIR_MARGIN * fair => Responsiveness::Friendly,
        (Some(_), Some(_)) if total.duration >= UNRESPONSIVE_AFTER => Responsiveness::Unresponsive,
        _ => Responsiveness::Unknown,
    };
    ResponsivenessVerdict {
        responsiveness,
        total,
        arrival_rate: rate,
        sent_rate: recent_rate(intervals),
        fair_rate: fair,
        reaction,
        tcp_rate: tcp,
    }
}

/// Rate in bit/s that the link sent over the last second, or over all intervals if they are shorter.
fn recent_rate(intervals: &[FlowInterval]) -> f64 {
    let (mut bytes, mut duration) = (0, Span::ZERO);
    for interval in intervals.iter().rev() {
        if duration >= Span::from_secs(1) {
            break;
        }
        bytes += interval.counts.sent_bytes;
        duration = duration + interval.duration;
    }
    bytes as f64 * 8.0 / duration.as_secs_f64().max(1e-9)
}

/// Compares the rate changes around intervals with more signals than the mean with the changes around all others.
///
/// A change is the rate of the [`NEAR_INTERVALS`] intervals after an interval, less the rate of the [`NEAR_INTERVALS`]
/// before it. The interval itself is left out: more packets cause more drops, so its rate says nothing about the
/// reaction.
fn measure_reaction(intervals: &[FlowInterval]) -> Option<RateReaction> {
    let inner = intervals.windows(2 * NEAR_INTERVALS + 1);
    let count = inner.len();
    let mean_signals = inner.clone().map(|around| around[NEAR_INTERVALS].signals()).sum::<u64>() as f64 / count as f64;
    let mut changes = [RateChanges::default(), RateChanges::default()];
    for around in inner {
        let (before, after) = around.split_at(NEAR_INTERVALS);
        let many = after[0].signals() as f64 > mean_signals;
        changes[usize::from(many)].add(sum(&after[1..]).rate() - sum(before).rate());
    }
    let [few, many] = changes;
    let rate = intervals.iter().map(FlowInterval::rate).sum::<f64>() / intervals.len() as f64;
    if few.count.min(many.count) < LEAST_INTERVALS || rate <= 0.0 {
        // Drops or marks in every interval leave nothing to compare. The flow has evidently not reacted to them.
        let always = count >= LEAST_INTERVALS && intervals.iter().all(|interval| interval.signals() > 0);
        return always.then_some(RateReaction { reduction: 0.0, standard_errors: 0.0 });
    }
    let reduction = few.mean - many.mean;
    // Each interval is part of [`NEAR_INTERVALS`] overlapping changes, so the number of independent samples is smaller
    // by that factor. A constant rate has no error: any difference is then significant.
    let variance = NEAR_INTERVALS as f64 * (few.variance_of_mean() + many.variance_of_mean());
    let error = variance.sqrt().max(f64::MIN_POSITIVE);
    Some(RateReaction { reduction: reduction / rate, standard_errors: reduction / error })
}

fn sum(intervals: &[FlowInterval]) -> FlowInterval {
    intervals.iter().fold(FlowInterval::default(), |sum, interval| FlowInterval {
        duration: sum.duration + interval.duration,
        counts: sum.counts + interval.counts,
    })
}

/// Running mean and variance of a sample (Welford).
#[derive(Clone, Copy, Debug, Default)]
struct RateChanges {
    count: usize,
    mean: f64,
    squares: f64,
}

impl RateChanges {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
    }

    fn variance_of_mean(&self) -> f64 {
        self.squares / (self.count as f64 - 1.0) / self.count as f64
    }
}

impl fmt::Display for ResponsivenessVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rate_in_words) = (self.total.duration.as_secs_f64(), self.rate_in_words());
        let signals = format!("{} in {seconds:.0} s", signals(self.total.counts.dropped, self.total.counts.marked));
        let (tcp, round_trip) = (in_mbit(self.tcp_rate), ROUND_TRIP.as_nanos() / 1_000_000);
        match self.responsiveness {
            Responsiveness::Unknown if self.total.duration < UNRESPONSIVE_AFTER => {
                write!(f, "observed for {seconds:.1} s, too short for a verdict")
            }
            Responsiveness::Unknown if self.total.signals() < LEAST_SIGNALS => {
                write!(f, "{signals}, too few for a verdict")
            }
            Responsiveness::Unknown => write!(f, "{signals}, in too few intervals for a verdict"),
            Responsiveness::Responsive => {
                // At most 100 %: a flow that stops falls by more than its mean rate.
                let percent = 100.0 * self.reaction.map_or(0.0, |reaction| reaction.reduction.min(1.0));
                write!(f, "sends {percent:.0} % less after many drops or marks than after few: {signals}")
            }
            Responsiveness::Friendly if self.arrival_rate <= self.tcp_rate && self.tcp_rate.is_finite() => {
                write!(
                    f,
                    "{rate_in_words}, at most the {tcp} of a TCP flow with a round-trip time of {round_trip} ms; \
                     no reduction of its rate was measured after {signals}"
                )
            }
            Responsiveness::Friendly => {
                write!(f, "{rate_in_words}, which counts as fair up to {FAIR_MARGIN} times; ")?;
                write!(f, "no reduction of its rate was measured after {signals}")
            }
            Responsiveness::Unresponsive => {
                write!(f, "{rate_in_words}, did not reduce its rate after {signals}; ")?;
                write!(f, "a TCP flow with a round-trip time of {round_trip} ms would send {tcp}")
            }
            Responsiveness::Monitored => {
                let monitored = self.total.counts.monitored;
                write!(
                    f,
                    "{rate_in_words}; monitored by the discipline: {signals}, {monitored} of them for that reason"
                )?;
                match self.reaction {
                    Some(reaction) if reaction.is_significant() => write!(f, "; it reduces its rate"),
                    Some(_) if self.total.signals() >= LEAST_SIGNALS => write!(f, "; it does not reduce its rate"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl ResponsivenessVerdict {
    /// `sends 5.1 Mbit/s, 5.1 times its fair share`.
    fn rate_in_words(&self) -> String {
        let share = self.fair_rate.map(|fair| format!(", {:.1} times its fair share", self.arrival_rate / fair));
        format!("sends {}{}", in_mbit(self.arrival_rate), share.unwrap_or_default())
    }
}

/// Formats bit/s as Mbit/s with two significant digits where possible.
fn in_mbit(bps: f64) -> String {
    let mbit = bps / 1e6;
    let places = 1 + usize::from(mbit < 0.95) + usize::from(mbit < 0.095);
    format!("{mbit:.places$} Mbit/s")
}

fn signals(drops: u64, marks: u64) -> String {
    let counted = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    match (drops, marks) {
        (0, 0) => "no drops or marks".to_string(),
        (drops, 0) => counted(drops, "drop"),
        (0, marks) => counted(marks, "mark"),
        (drops, marks) => format!("{} and {}", counted(drops, "drop"), counted(marks, "mark")),
    }
}
