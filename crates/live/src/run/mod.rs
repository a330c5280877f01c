//! A scenario on real packets: its links in the loop, its flows from the kernel's TCP and our sources, in real time.
//!
//! Queues are measured where they are, by the code that the simulator measures with; what reaches receivers, they tell. A
//! run gives the simulator's [`Outcome`], and beside it what shows that the links were what the scenario says: the [`Proof`].

mod access;
mod account;
mod assemble;
mod capture;
mod doors;
mod moments;
mod network;
mod proof;
mod slots;
mod testbed;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use headgate_core::parts::Histogram;
use headgate_core::{Qdisc, Span, Time};
use headgate_measure::{EventBatch, Outcome, TraceRow, Watch};
use headgate_scenario::Scenario;

use self::account::{Post, Sample, Total};
use self::capture::Capture;
use self::moments::Begin;
pub use self::proof::{Elsewhere, Proof};
use self::testbed::Testbed;
use crate::load::{self, Load};
use crate::view::Window;

/// Everything one run of one discipline and one seed gives.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What the simulator would give too.
    pub outcome: Outcome,
    /// Whether the links were what the scenario says, and nothing else in the way.
    pub proof: Proof,
    /// What was otherwise than the scenario says, a sentence each.
    pub notes: Vec<String>,
}

/// Why a run gave no outcome.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario is none that can be run on real packets.
    Refused(String),
    /// What the system said.
    System(io::Error),
    /// The watcher asked to stop.
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused(why) => f.write_str(why),
            RunError::System(error) => error.fmt(f),
            RunError::Stopped => f.write_str("stopped before the end"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> RunError {
        RunError::System(error)
    }
}

/// How long before its beginning the loop and the flows know when a run begins.
const AHEAD: Span = Span::from_millis(100);
/// How often the watcher is asked.
const LOOK: Duration = Duration::from_millis(50);
/// The loop hands out its last counts within [`SHOW_EVERY`](crate::SHOW_EVERY) of the end; on a machine that is this much
/// later, nothing it measured would be worth anything.
const GRACE: Span = Span::from_secs(5);

/// Says why `scenario` cannot be run on real packets, if it cannot.
///
/// # Errors
/// [`RunError::Refused`] with the key and what is possible; what the system says.
pub fn refuse(scenario: &Scenario) -> Result<(), RunError> {
    if scenario.links.len() > 1 && !scenario.record.capture.is_empty() {
        let what = "`record.capture`: real packets are captured at both hosts, which says what passed a link only where there is \
                    one; leave it out, or run without --live";
        return Err(RunError::Refused(what.to_string()));
    }
    load::refuse(scenario).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => RunError::Refused(error.to_string()),
        _ => RunError::System(error),
    })
}

/// Runs `scenario` with `qdisc` wherever disciplines are compared, in as much time as the scenario lasts and a little more. The
/// chance of disciplines, link and sources is that of `seed`; what the kernel and the machine do is not, and no two runs are
/// the same.
///
/// # Errors
/// See [`RunError`].
pub fn run(scenario: &Scenario, qdisc: &Qdisc, seed: u64, watch: &mut dyn Watch) -> Result<Ran, RunError> {
    run_shown(scenario, qdisc, seed, watch, &mut |_| {})
}

/// The same; `show` is handed the [`Window`] in which the links show what they do, as soon as there is one.
///
/// # Errors
/// See [`RunError`].
pub fn run_shown(
    scenario: &Scenario,
    qdisc: &Qdisc,
    seed: u64,
    watch: &mut dyn Watch,
    show: &mut dyn FnMut(Window),
) -> Result<Ran, RunError> {
    refuse(scenario)?;
    let scenario = Arc::new(scenario.clone());
    let (begin, (posts, inbox)) = (Begin::unknown(), channel());
    let (mut capture, pens) = Capture::of(&scenario);
    let testbed = Testbed::open(&scenario, qdisc, seed, (&begin, &posts), pens)?;
    drop(posts);
    show(testbed.window());
    let (near, far) = testbed.hosts();
    let load = Load::prepare(&scenario, seed, near, far, testbed.clock())?;
    let clock = testbed.clock();
    let at = clock.now() + AHEAD;
    begin.at(at);
    load.begin(at);
    let mut tell = |watch: &mut dyn Watch| {
        let now = clock.now();
        tell_traces(watch, &load.take_traces());
        capture.iter_mut().for_each(|capture| capture.take((at, now), watch));
        Time::ZERO + (now - at)
    };
    let found = Found::watched(&inbox, &scenario, &mut tell, watch)?;
    let report = load.stop()?;
    let (view, counters, urgent) = testbed.stop()?;
    tell_traces(watch, &report.traces);
    capture.iter_mut().for_each(|capture| capture.take((at, Time::NEVER), watch));
    let proof = Proof::new(&view, counters, urgent, &report);
    let mut notes = report.notes.clone();
    notes.extend(load::differences(&scenario));
    notes.extend(capture.and_then(|capture| capture.missing()));
    let outcome = assemble::outcome(&scenario, &found, &report, proof.balance(&view));
    Ok(Ran { outcome, proof, notes })
}

fn tell_traces(watch: &mut dyn Watch, rows: &[TraceRow]) {
    if !rows.is_empty() {
        watch.traces(rows);
    }
}

/// What the loop found.
struct Found {
    /// By time, one of each direction of each link.
    samples: BTreeMap<Time, Vec<Sample>>,
    /// By number.
    totals: Vec<Total>,
    /// By group, how long data took from sender to receiver, less what a full packet takes without queues.
    excess: Vec<Histogram>,
}

impl Found {
    /// Waits for everything, and tells the watcher meanwhile; `tell` tells of what does not come to the inbox, and gives the
    /// run's time.
    fn watched(
        inbox: &Receiver<Post>,
        scenario: &Scenario,
        tell: &mut dyn FnMut(&mut dyn Watch) -> Time,
        watch: &mut dyn Watch,
    ) -> Result<Found, RunError> {
        let end = Time::ZERO + scenario.duration;
        let mut found = Found { samples: BTreeMap::new(), totals: Vec::new(), excess: Vec::new() };
        let mut ended = false;
        loop {
            let post = inbox.recv_timeout(LOOK);
            let now = tell(watch);
            match post {
                Ok(Post::Sample(sample)) => found.keep(sample, 2 * scenario.links.len(), watch),
                Ok(Post::Total(total)) => found.totals.push(*total),
                Ok(Post::End(excess)) => (found.excess, ended) = (excess, true),
                Err(RecvTimeoutError::Timeout) if now < end + GRACE => {}
                Err(_) => return Err(io::Error::other("the loop ended before the run").into()),
            }
            if !watch.goes_on(now.min(end)) {
                return Err(RunError::Stopped);
            }
            if ended {
                found.totals.sort_by_key(|total| total.link);
                return Ok(found);
            }
        }
    }

    /// Keeps a sample; when all `directions` have told of its interval, the watcher has their events.
    fn keep(&mut self, sample: Sample, directions: usize, watch: &mut dyn Watch) {
        let there = self.samples.entry(sample.at).or_default();
        there.push(sample);
        if there.len() < directions {
            return;
        }
        there.sort_by_key(|sample| sample.link);
        let mut events = EventBatch::default();
        for sample in
            there.iter_mut().filter(|sample| !sample.events.gauges.is_empty() || !sample.events.rows.is_empty())
        {
            events.gauges.clone_from(&sample.events.gauges);
            events.rows.append(&mut sample.events.rows);
            events.values.append(&mut sample.events.values);
        }
        events.sort();
        if !events.rows.is_empty() {
            watch.events(&events);
        }
    }
}
