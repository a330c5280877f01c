//! Who holds the link, and who slows down: a verdict on a flow, with the evidence for it.
//!
//! The tests are those of S. Floyd, K. Fall, "Promoting the use of end-to-end congestion control in the Internet", IEEE/ACM
//! ToN 7(4), 1999, section III. A flow is *unresponsive* if it does not send less after many of its packets were dropped or
//! marked than after few (their test for unresponsive flows), and sends more than its share (for a disproportionate share) and
//! more than a TCP would at its drop rate (for TCP-friendliness). All three must fail: a TCP whose cycles are too short to be
//! seen passes the third, one of a short round trip the first. What rules a rate is not asked: BBR goes by what arrives and not
//! by single drops, so that it fails the first, and with more than its share all three. What a discipline singles out by its own
//! test (RED-PD's, section 4.3 of its paper, SFB's, BREATHe's) is *monitored*, whatever is found here.

use std::fmt;

use headgate_core::Span;
use headgate_core::parts::tcp_rate;

use crate::counts::counts;

/// The round-trip time of the TCP that a flow is compared with: what a path has is not known here. RED-PD's target.
pub const ROUND_TRIP: Span = Span::from_millis(40);

/// A verdict rests on so much time at least, and so many drops and marks; nobody is accused before some more has passed.
const LEAST_TIME: Span = Span::from_secs(2);
const ACCUSED_AFTER: Span = Span::from_secs(5);
const LEAST_SIGNALS: u64 = 5;

/// The rate is compared over so many slots before and after one: several round trips, within which a TCP has answered, and a
/// cycle of BBR's or a burst that ends by itself, both of which send less after the drops that they cause, is mostly over.
const REACH: usize = 3;

/// Slots with many signals, and with few, that must be there to compare.
const LEAST_SLOTS: usize = 3;

/// A flow slows down that sends less by this share of its rate after slots with many signals than after those with few, and
/// by so many standard errors: once in 160 times by chance alone.
const SLOWED: f64 = 0.05;
const STANDARD_ERRORS: f64 = 2.5;

/// A share is exceeded from here on: what is fair is known no better.
const MARGIN: f64 = 1.25;

/// What is found of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// There is too little to go by.
    #[default]
    Unknown,
    /// It sends less after drops and marks.
    Responsive,
    /// Whether it slows down does not show: it sends no more than its share, or than a TCP would.
    Friendly,
    /// It does not slow down, and has more than its share.
    Unresponsive,
    /// The discipline has singled it out.
    Monitored,
}

impl Verdict {
    /// Its name in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Unknown => "unknown",
            Verdict::Responsive => "responsive",
            Verdict::Friendly => "friendly",
            Verdict::Unresponsive => "unresponsive",
            Verdict::Monitored => "monitored",
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
    /// Packets that were dropped or marked.
    pub fn signals(&self) -> u64 {
        self.dropped + self.marked
    }
}

/// What happened to a flow in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// How long it lasted.
    pub lasted: Span,
    /// What happened in it.
    pub counts: FlowCounts,
}

impl Slot {
    fn signals(&self) -> u64 {
        self.counts.signals()
    }

    fn rate(&self) -> f64 {
        self.counts.arrived_bytes as f64 * 8.0 / self.lasted.as_secs_f64().max(1e-9)
    }
}

/// What a flow's rate does after many drops and marks, beside what it does after few.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// How much less it sends, as a share of its rate.
    pub less: f64,
    /// How many standard errors that is.
    pub errors: f64,
}

impl Answer {
    fn slows_down(&self) -> bool {
        self.less >= SLOWED && self.errors >= STANDARD_ERRORS
    }
}

/// A verdict and what it rests on. It displays as the evidence, in words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// All that is known of the flow.
    pub all: Slot,
    /// What it sent in the later half of that time, in bit/s.
    pub rate: f64,
    /// What the link sent of it in the last second, in bit/s.
    pub sent: f64,
    /// What would be fair, in bit/s; `None` where nobody asks for more than there is.
    pub fair: Option<f64>,
    /// How it answers drops and marks, where there were enough to tell.
    pub answer: Option<Answer>,
    /// What a TCP would have sent then at its drop rate, in bit/s.
    pub tcp: f64,
}

/// The verdict on a flow that did `slots`, one after the other, where `fair` bit/s would be fair; `monitored` if the
/// discipline says so.
pub fn judge(slots: &[Slot], fair: Option<f64>, monitored: bool) -> Judgement {
    let all = whole(slots);
    let signals = all.signals();
    let answer = answer(slots);
    // What it sends now: a slow start or a burst that is over is nothing to hold against it.
    let late = whole(&slots[slots.len() / 2..]);
    let (rate, packets) = (late.rate(), late.counts.arrived.max(1) as f64);
    let tcp = late.counts.arrived_bytes as f64 * 8.0 / packets * tcp_rate(ROUND_TRIP, late.signals() as f64 / packets);
    let verdict = match (answer, fair) {
        _ if monitored || all.counts.singled > 0 => Verdict::Monitored,
        _ if all.lasted < LEAST_TIME || signals < LEAST_SIGNALS => Verdict::Unknown,
        (Some(answer), _) if answer.slows_down() => Verdict::Responsive,
        _ if rate <= tcp => Verdict::Friendly,
        (_, Some(fair)) if rate <= MARGIN * fair => Verdict::Friendly,
        (Some(_), Some(_)) if all.lasted >= ACCUSED_AFTER => Verdict::Unresponsive,
        _ => Verdict::Unknown,
    };
    Judgement { verdict, all, rate, sent: lately(slots), fair, answer, tcp }
}

/// What was sent in the last second, or as much of it as there is, in bit/s.
fn lately(slots: &[Slot]) -> f64 {
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

/// Compares how the rate changes across slots with more signals than usual and across the others: from the [`REACH`] slots
/// before each to as many after it. What comes in a slot itself is left out: where there are more packets there are more drops,
/// which says nothing of an answer.
fn answer(slots: &[Slot]) -> Option<Answer> {
    let inner = slots.windows(2 * REACH + 1);
    let count = inner.len();
    let usual = inner.clone().map(|around| around[REACH].signals()).sum::<u64>() as f64 / count as f64;
    let mut changes = [Changes::default(), Changes::default()];
    for around in inner {
        let (before, from) = around.split_at(REACH);
        let many = from[0].signals() as f64 > usual;
        changes[usize::from(many)].add(whole(&from[1..]).rate() - whole(before).rate());
    }
    let [few, many] = changes;
    let rate = slots.iter().map(Slot::rate).sum::<f64>() / slots.len() as f64;
    if few.count.min(many.count) < LEAST_SLOTS || rate <= 0.0 {
        // Signals all the time, and always as many: they change nothing.
        let always = count >= LEAST_SLOTS && slots.iter().all(|slot| slot.signals() > 0);
        return always.then_some(Answer { less: 0.0, errors: 0.0 });
    }
    let less = few.mean - many.mean;
    // Slots are in several changes each, of which so many fewer are independent. A constant rate has no errors at all: then any
    // difference is one.
    let variance = REACH as f64 * (few.variance_of_mean() + many.variance_of_mean());
    let error = variance.sqrt().max(f64::MIN_POSITIVE);
    Some(Answer { less: less / rate, errors: less / error })
}

/// What happened in all of `slots`.
fn whole(slots: &[Slot]) -> Slot {
    slots
        .iter()
        .fold(Slot::default(), |sum, slot| Slot { lasted: sum.lasted + slot.lasted, counts: sum.counts + slot.counts })
}

/// Mean and variance of a sample, as it comes (Welford's way).
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    count: usize,
    mean: f64,
    squares: f64,
}

impl Changes {
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

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, sends) = (self.all.lasted.as_secs_f64(), self.sends());
        let signals = format!("{} in {seconds:.0} s", signals(self.all.counts.dropped, self.all.counts.marked));
        let (tcp, round_trip) = (mbit(self.tcp), ROUND_TRIP.as_nanos() / 1_000_000);
        match self.verdict {
            Verdict::Unknown if self.all.lasted < ACCUSED_AFTER => {
                write!(f, "seen for {seconds:.1} s, too short to tell")
            }
            Verdict::Unknown if self.all.signals() < LEAST_SIGNALS => write!(f, "{signals}, too few to tell"),
            Verdict::Unknown => write!(f, "{signals}, at too few moments to tell"),
            Verdict::Responsive => {
                // Of its mean rate, which a flow that comes to a halt falls by more than.
                let less = 100.0 * self.answer.map_or(0.0, |answer| answer.less.min(1.0));
                write!(f, "sends {less:.0} % less after many drops or marks than after few: {signals}")
            }
            Verdict::Friendly if self.rate <= self.tcp && self.tcp.is_finite() => {
                write!(f, "{sends}, no more than the {tcp} of a TCP of {round_trip} ms round-trip time; {signals}")
            }
            Verdict::Friendly => write!(f, "{sends}; {signals}"),
            Verdict::Unresponsive => {
                write!(f, "{sends}, did not slow down after {signals}; ")?;
                write!(f, "a TCP of {round_trip} ms round-trip time would send {tcp}")
            }
            Verdict::Monitored => {
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

impl Judgement {
    /// `sends 5.1 Mbit/s, 5.1 times its share`.
    fn sends(&self) -> String {
        let share = self.fair.map(|fair| format!(", {:.1} times its share", self.rate / fair));
        format!("sends {}{}", mbit(self.rate), share.unwrap_or_default())
    }
}

/// Bit/s, in Mbit/s, with two digits that say something, as far as there are any.
fn mbit(bps: f64) -> String {
    let mbit = bps / 1e6;
    let places = 1 + usize::from(mbit < 0.95) + usize::from(mbit < 0.095);
    format!("{mbit:.places$} Mbit/s")
}

/// Drops and marks.
fn signals(drops: u64, marks: u64) -> String {
    let counted = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    match (drops, marks) {
        (0, 0) => "no drops or marks".to_string(),
        (drops, 0) => counted(drops, "drop"),
        (0, marks) => counted(marks, "mark"),
        (drops, marks) => format!("{} and {}", counted(drops, "drop"), counted(marks, "mark")),
    }
}
