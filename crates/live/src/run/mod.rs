//! A scenario on real packets: its links in the loop, its flows from the kernel's TCP and our sources, in real time.
//!
//! Queues are measured where they are, by the code that the simulator measures with; what reaches receivers, they tell. A
//! run gives the simulator's [`Outcome`], and beside it what shows that the links were what the scenario says: the [`Proof`].

mod access;
mod account;
mod assemble;
mod capture;
mod error;
mod found;
mod moments;
mod network;
mod proof;
mod slots;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;

use headgate_core::{Qdisc, Span, Time};
use headgate_measure::{Outcome, TraceRow, Watch};
use headgate_scenario::Scenario;

use self::capture::Capture;
pub use self::error::RunError;
use self::found::Found;
use self::network::Network;
pub use self::proof::{Elsewhere, Proof};
use crate::forward::view::Window;
use crate::hosts;
use crate::io::clock::Begin;
use crate::link::Link;
use crate::load::{self, Load};

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

/// How long before its beginning the loop and the flows know when a run begins.
const AHEAD: Span = Span::from_millis(100);

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
/// the same. `show` is handed the [`Window`] in which the links show what they do, as soon as there is one.
pub fn run(
    scenario: &Scenario,
    qdisc: &Qdisc,
    seed: u64,
    watch: &mut dyn Watch,
    show: &mut dyn FnMut(Window),
) -> Result<Ran, RunError> {
    refuse(scenario)?;
    let scenario = Arc::new(scenario.clone());
    let (begin, (findings, inbox)) = (Begin::unknown(), channel());
    let (mut capture, recorders) = Capture::of(&scenario);
    let network = {
        let (scenario, qdisc, begin) = (Arc::clone(&scenario), qdisc.clone(), begin.clone());
        move || Network::new(&scenario, &qdisc, seed, begin, findings)
    };
    let mut link = Link::between(hosts::apart(load::sysctls(&scenario))?, recorders, network)?;
    show(link.running().window());
    let clock = link.clock;
    let load = Load::prepare(&scenario, seed, link.near(), link.far(), clock)?;
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
    let (view, counters) = (link.stop()?, link.counters()?);
    tell_traces(watch, &report.traces);
    capture.iter_mut().for_each(|capture| capture.take((at, Time::NEVER), watch));
    let proof = Proof::new(&view, counters, link.running().urgent(), &report);
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
