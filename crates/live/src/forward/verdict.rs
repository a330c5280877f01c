//! Verdicts on flows: who holds the link, who is unresponsive, and the evidence.
//!
//! The tests are those of S. Floyd, K. Fall, "Promoting the use of end-to-end congestion control in the Internet",
//! IEEE/ACM ToN 7(4), 1999, section III. A flow is *unresponsive* if it fails all three: it sends no less after many
//! drops or marks than after few, more than its fair share, and more than a TCP would at its drop rate. A TCP whose
//! cycles are too short to observe passes the third test, one with a short round trip the first.
//!
//! BBR follows its delivery rate, not single drops. It fails the first test, and all three when it exceeds its share.
//! Flows singled out by a discipline's own test (RED-PD section 4.3, SFB, BREATHe) are *monitored* in any case.

use std::fmt;

use headgate_core::Span;
use headgate_core::parts::tcp_rate;

use crate::counts::counts;

/// Round-trip time of the TCP used for comparison, since the path's is unknown. It is RED-PD's target.
pub const ROUND_TRIP: Span = Span::from_millis(40);

/// A verdict needs this much time and this many signals; calling a flow unresponsive needs more time.
const LEAST_TIME: Span = Span::from_secs(2);
const ACCUSED_AFTER: Span = Span::from_secs(5);
const LEAST_SIGNALS: u64 = 5;

/// The rate is compared over this many slots before and after a slot: several round trips, enough for a TCP to react. A
/// BBR cycle or a short burst, which fall after the drops they cause, is mostly over by then.
const REACH: usize = 3;

/// Least number of slots with many signals, and with few, for a comparison.
const LEAST_SLOTS: usize = 3;

/// A responsive flow's rate falls by this share and this many standard errors after slots with many signals. Chance
/// alone reaches both once in 160 times.
const SLOWED: f64 = 0.05;
const STANDARD_ERRORS: f64 = 2.5;

/// A flow exceeds its share from this multiple on, since the fair rate is only an estimate.
const MARGIN: f64 = 1.25;

/// The verdict on a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Responsiveness {
    /// Too few packets, drops or marks for a verdict.
    #[default]
    Unknown,
    /// It sends less after drops and marks.
    Responsive,
    /// Responsiveness unknown; it sends no more than its share, or than a TCP would.
    Friendly,
    /// It does not slow down, and sends more than its share and than a TCP would.
    Unresponsive,
    /// The discipline has singled it out.
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
    /// What happened to the packets of a flow.
    FlowCounts {
        /// Packets that came.
        arrived,
        /// Their bytes.
        arrived_bytes,
        /// Packets that were sent.
        sent,
        /// Their bytes.
        sent_bytes,
        /// Packets that the discipline dropped.
        dropped,
        /// Packets that the discipline marked.
        marked,
        /// Packets that it dropped or marked because it had singled the flow out.
        singled,
    }
}

impl FlowCounts {
    /// Drops plus marks.
    pub fn signals(&self) -> u64 {
        self.dropped + self.marked
    }
}

/// A flow's counts over a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowInterval {
    /// Its duration.
    pub lasted: Span,
    /// Counts within it.
    pub counts: FlowCounts,
}

impl FlowInterval {
    fn signals(&self) -> u64 {
        self.counts.signals()
    }

    fn rate(&self) -> f64 {
        self.counts.arrived_bytes as f64 * 8.0 / self.lasted.as_secs_f64().max(1e-9)
    }
}

/// Change of a flow's rate after many drops and marks, relative to its rate after few.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateReaction {
    /// Reduction as a share of its rate.
    pub less: f64,
    /// The reduction in standard errors.
    pub errors: f64,
}

impl RateReaction {
    fn slows_down(&self) -> bool {
        self.less >= SLOWED && self.errors >= STANDARD_ERRORS
    }
}

/// A verdict with its evidence. `Display` prints the evidence in words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResponsivenessVerdict {
    /// The verdict.
    pub verdict: Responsiveness,
    /// Counts over the whole observed time.
    pub all: FlowInterval,
    /// Arrival rate over the later half of that time, in bit/s.
    pub rate: f64,
    /// Rate sent by the link over the last second, in bit/s.
    pub sent: f64,
    /// Fair rate in bit/s; `None` if the link meets every demand.
    pub fair: Option<f64>,
    /// Reaction to drops and marks, given enough of them.
    pub answer: Option<RateReaction>,
    /// Rate of a TCP at the same drop rate, in bit/s.
    pub tcp: f64,
}

/// Judges a flow by its consecutive `slots` and the `fair` rate in bit/s; `monitored` if the discipline singled it out.
pub fn judge(slots: &[FlowInterval], fair: Option<f64>, monitored: bool) -> ResponsivenessVerdict {
    let all = whole(slots);
    let signals = all.signals();
    let answer = answer(slots);
    // The current rate: a finished slow start or burst does not count against the flow.
    let late = whole(&slots[slots.len() / 2..]);
    let (rate, packets) = (late.rate(), late.counts.arrived.max(1) as f64);
    let tcp = late.counts.arrived_bytes as f64 * 8.0 / packets * tcp_rate(ROUND_TRIP, late.signals() as f64 / packets);
    let verdict = match (answer, fair) {
        _ if monitored || all.counts.singled > 0 => Responsiveness::Monitored,
        _ if all.lasted < LEAST_TIME || signals < LEAST_SIGNALS => Responsiveness::Unknown,
        (Some(answer), _) if answer.slows_down() => Responsiveness::Responsive,
        _ if rate <= tcp => Responsiveness::Friendly,
        (_, Some(fair)) if rate <= MARGIN * fair => Responsiveness::Friendly,
        (Some(_), Some(_)) if all.lasted >= ACCUSED_AFTER => Responsiveness::Unresponsive,
        _ => Responsiveness::Unknown,
    };
    ResponsivenessVerdict { verdict, all, rate, sent: lately(slots), fair, answer, tcp }
}

/// Bit/s sent over the last second, or over all slots if they are fewer.
fn lately(slots: &[FlowInterval]) -> f64 {
    let (mut bytes, mut lasted) = (0, Span::ZERO);
    for slot in slots.iter().rev() {
        if lasted >= Span::from_secs(1) {
            break;
        }
        bytes += slot.counts.sent_bytes;
        lasted = lasted + slot.lasted;
    }
    bytes as f64 * 8.0 / lasted.as_secs_f64().max(1e-9)
}

/// Compares rate changes around slots with more signals than usual to those around the others, each from the [`REACH`]
/// slots before to the [`REACH`] after. The slot itself is left out: more packets cause more drops, so its rate tells
/// nothing about the reaction.
fn answer(slots: &[FlowInterval]) -> Option<RateReaction> {
    let inner = slots.windows(2 * REACH + 1);
    let count = inner.len();
    let usual = inner.clone().map(|around| around[REACH].signals()).sum::<u64>() as f64 / count as f64;
    let mut changes = [RateChanges::default(), RateChanges::default()];
    for around in inner {
        let (before, from) = around.split_at(REACH);
        let many = from[0].signals() as f64 > usual;
        changes[usize::from(many)].add(whole(&from[1..]).rate() - whole(before).rate());
    }
    let [few, many] = changes;
    let rate = slots.iter().map(FlowInterval::rate).sum::<f64>() / slots.len() as f64;
    if few.count.min(many.count) < LEAST_SLOTS || rate <= 0.0 {
        // As many signals in every slot: nothing to compare, and they do not slow the flow down.
        let always = count >= LEAST_SLOTS && slots.iter().all(|slot| slot.signals() > 0);
        return always.then_some(RateReaction { less: 0.0, errors: 0.0 });
    }
    let less = few.mean - many.mean;
    // Each slot is part of several overlapping changes, so there are fewer independent samples by that factor. A
    // constant rate has no error: any difference is then significant.
    let variance = REACH as f64 * (few.variance_of_mean() + many.variance_of_mean());
    let error = variance.sqrt().max(f64::MIN_POSITIVE);
    Some(RateReaction { less: less / rate, errors: less / error })
}

fn whole(slots: &[FlowInterval]) -> FlowInterval {
    slots.iter().fold(FlowInterval::default(), |sum, slot| FlowInterval {
        lasted: sum.lasted + slot.lasted,
        counts: sum.counts + slot.counts,
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
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
    }

    fn variance_of_mean(&self) -> f64 {
        self.squares / (self.count as f64 - 1.0) / self.count as f64
    }
}

impl fmt::Display for ResponsivenessVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, sends) = (self.all.lasted.as_secs_f64(), self.sends());
        let signals = format!("{} in {seconds:.0} s", signals(self.all.counts.dropped, self.all.counts.marked));
        let (tcp, round_trip) = (mbit(self.tcp), ROUND_TRIP.as_nanos() / 1_000_000);
        match self.verdict {
            Responsiveness::Unknown if self.all.lasted < ACCUSED_AFTER => {
                write!(f, "seen for {seconds:.1} s, too short to tell")
            }
            Responsiveness::Unknown if self.all.signals() < LEAST_SIGNALS => write!(f, "{signals}, too few to tell"),
            Responsiveness::Unknown => write!(f, "{signals}, at too few moments to tell"),
            Responsiveness::Responsive => {
                // At most 100 %: a flow that stops falls by more than its mean rate.
                let less = 100.0 * self.answer.map_or(0.0, |answer| answer.less.min(1.0));
                write!(f, "sends {less:.0} % less after many drops or marks than after few: {signals}")
            }
            Responsiveness::Friendly if self.rate <= self.tcp && self.tcp.is_finite() => {
                write!(f, "{sends}, no more than the {tcp} of a TCP of {round_trip} ms round-trip time; {signals}")
            }
            Responsiveness::Friendly => write!(f, "{sends}; {signals}"),
            Responsiveness::Unresponsive => {
                write!(f, "{sends}, did not slow down after {signals}; ")?;
                write!(f, "a TCP of {round_trip} ms round-trip time would send {tcp}")
            }
            Responsiveness::Monitored => {
                let singled = self.all.counts.singled;
                write!(f, "{sends}; the discipline has singled it out: {signals}, {singled} of them for that")?;
                match self.answer {
                    Some(answer) if answer.slows_down() => write!(f, "; it slows down"),
                    Some(_) if self.all.signals() >= LEAST_SIGNALS => write!(f, "; it does not slow down"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl ResponsivenessVerdict {
    /// `sends 5.1 Mbit/s, 5.1 times its share`.
    fn sends(&self) -> String {
        let share = self.fair.map(|fair| format!(", {:.1} times its share", self.rate / fair));
        format!("sends {}{}", mbit(self.rate), share.unwrap_or_default())
    }
}

/// Formats bit/s as Mbit/s with two significant digits where possible.
fn mbit(bps: f64) -> String {
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
