//! Runs a scenario on real packets, in real time: its links in the loop, its flows over the kernel's TCP and the
//! simulator's sources.
//!
//! The loop measures queues with the simulator's code. The receivers measure deliveries. A run returns the simulator's
//! [`Outcome`], and a [`LinkFidelity`] of how exactly the links met the scenario.

mod access;
mod assemble;
mod capture;
mod error;
mod fidelity;
mod kernel;
mod meter;
mod network;
mod record_times;
mod records;
mod slots;

use std::sync::Arc;
use std::sync::mpsc::channel;

use aqm::{Qdisc, Span, Time};
use headgate_measure::{Outcome, RunObserver, TraceRow};
use headgate_scenario::{Direction, Scenario};

use self::capture::RunCapture;
pub use self::error::LiveRunError;
pub use self::fidelity::{HostLosses, LinkFidelity};
use self::kernel::KernelRouter;
pub use self::kernel::{KernelQdisc, check_kernel_qdisc};
use self::network::LinkNetwork;
use self::records::RunRecords;
use crate::error::LiveError;
use crate::forward::view::SharedView;
use crate::hosts;
use crate::io::KernelQueue;
use crate::io::clock::StartTime;
use crate::link::EmulatedLink;
use crate::load::{self, TrafficLoad};

/// The result of one run: one discipline, one seed.
#[derive(Clone, Debug)]
pub struct LiveRun {
    /// The same tables as from the simulator.
    pub outcome: Outcome,
    /// Measurements of how closely the links met the scenario.
    pub fidelity: LinkFidelity,
    /// Differences from the scenario, a sentence each.
    pub notes: Vec<String>,
    /// The kernel's report on its qdisc, if it took the place of the discipline.
    pub kernel: Option<KernelReport>,
}

/// What the kernel tells of its qdisc after a run, and the loop of the packets in it, since the qdisc was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReport {
    /// Statistics of the qdiscs, as `tc -s -j qdisc` prints them.
    pub statistics: String,
    /// Drops that the loop attributed to packets.
    pub drops: u64,
    /// Packets released after they had been counted as dropped.
    pub strays: u64,
}

/// Time from the announcement of the start to the threads until the start itself.
const START_DELAY: Span = Span::from_millis(100);

/// Rejects a `scenario` whose compared discipline the kernel cannot take the place of.
///
/// # Errors
/// [`LiveRunError::Refused`] with the key; the errors of [`check_supported`].
pub fn check_kernel_supported(scenario: &Scenario) -> Result<(), LiveRunError> {
    check_supported(scenario)?;
    kernel::refusal(scenario).map_or(Ok(()), |why| Err(LiveRunError::Refused(why)))
}

/// Rejects a `scenario` that cannot run on real packets.
///
/// # Errors
/// [`LiveRunError::Refused`] with the key and the possible values; otherwise the refused request.
pub fn check_supported(scenario: &Scenario) -> Result<(), LiveRunError> {
    if scenario.links.len() > 1 && !scenario.record.capture.is_empty() {
        let what = "`record.capture` works on real packets only with one link: remove it, or run without --live";
        return Err(LiveRunError::Refused(what.to_string()));
    }
    if let Some(link) = scenario.links.iter().find(|link| {
        Direction::BOTH.iter().any(|direction| link.direction_settings(*direction).impairments.duplicate > 0.0)
    }) {
        let what = "`duplicate` does not work on real packets, because a copy cannot be told from its packet";
        let what = format!("{what}: remove it from link `{}`, or run without --live", link.name);
        return Err(LiveRunError::Refused(what));
    }
    load::check_supported(scenario).map_err(|error| match error {
        LiveError::Refused(why) => LiveRunError::Refused(why),
        error => error.into(),
    })
}

/// Runs `scenario` in real time, with `qdisc` wherever disciplines are compared. `seed` selects the random streams of
/// disciplines, links and sources; the kernel's and the machine's timing still differs between runs. `show` gets the
/// [`SharedView`] of the links' state at the start.
pub fn run(
    scenario: &Scenario,
    qdisc: &Qdisc,
    seed: u64,
    watch: &mut dyn RunObserver,
    show: &mut dyn FnMut(SharedView),
) -> Result<LiveRun, LiveRunError> {
    check_supported(scenario)?;
    run_with(scenario, (qdisc, None), seed, watch, show)
}

/// Like [`run`], with the kernel's `qdisc` in place of the compared discipline.
///
/// # Errors
/// Those of [`run`], [`check_kernel_supported`] and [`check_kernel_qdisc`].
pub fn run_kernel(
    scenario: &Scenario,
    qdisc: &KernelQdisc,
    seed: u64,
    watch: &mut dyn RunObserver,
    show: &mut dyn FnMut(SharedView),
) -> Result<LiveRun, LiveRunError> {
    check_kernel_supported(scenario)?;
    let rate = scenario.direction_settings(scenario.bottleneck()).rate;
    run_with(scenario, (&scenario.qdiscs[0], Some(KernelRouter::new(qdisc, rate)?)), seed, watch, show)
}

fn run_with(
    scenario: &Scenario,
    (qdisc, kernel): (&Qdisc, Option<(KernelRouter, KernelQueue)>),
    seed: u64,
    watch: &mut dyn RunObserver,
    show: &mut dyn FnMut(SharedView),
) -> Result<LiveRun, LiveRunError> {
    let scenario = Arc::new(scenario.clone());
    let (router, queue) = kernel.unzip();
    let (begin, (sender, inbox)) = (StartTime::unset(), channel());
    let (mut capture, recorders) = RunCapture::of(&scenario);
    let network = {
        let (scenario, qdisc, begin) = (Arc::clone(&scenario), qdisc.clone(), begin.clone());
        move || LinkNetwork::new(&scenario, &qdisc, queue, seed, begin, sender)
    };
    let mut link = EmulatedLink::between(hosts::isolated(load::sysctls(&scenario))?, recorders, network)?;
    show(link.forwarder().shared_view());
    let clock = link.clock;
    let load = TrafficLoad::prepare(&scenario, seed, link.near(), link.far(), clock);
    let load = load.map_err(|error| first_cause(&mut link, error.into()))?;
    let at = clock.now() + START_DELAY;
    begin.set(at);
    load.begin(at);
    let mut report_progress = |watch: &mut dyn RunObserver| {
        let now = clock.now();
        pass_traces(watch, &load.take_traces());
        capture.iter_mut().for_each(|capture| capture.take((at, now), watch));
        Time::ZERO + (now - at)
    };
    let records = RunRecords::collect(&inbox, &scenario, &mut report_progress, watch);
    let records = records.map_err(|error| first_cause(&mut link, error))?;
    let report = load.stop()?;
    // The loop has the device, and the statistics disappear with it.
    let statistics = router.as_ref().map(KernelRouter::statistics).transpose()?;
    let strays = link.forwarder().apply(|network, _| network.strays())?;
    let (view, counters) = (link.stop()?, link.counters()?);
    let drops = view.lanes[usize::from(scenario.bottleneck().number())].totals.dropped();
    let kernel = statistics.map(|statistics| KernelReport { statistics, drops, strays });
    pass_traces(watch, &report.traces);
    capture.iter_mut().for_each(|capture| capture.take((at, Time::NEVER), watch));
    let fidelity = LinkFidelity::new(&view, counters, link.forwarder().is_realtime(), &report);
    let mut notes = report.notes.clone();
    notes.extend(load::differences(&scenario));
    notes.extend(capture.and_then(|capture| capture.missing()));
    let outcome = assemble::outcome(&scenario, &records, &report, fidelity.balance(&view));
    Ok(LiveRun { outcome, fidelity, notes, kernel })
}

/// The error that ended the loop, if it ended by one: then nothing crosses the link, and `error` only follows from it.
fn first_cause(link: &mut EmulatedLink<LinkNetwork>, error: LiveRunError) -> LiveRunError {
    link.stop().err().map_or(error, LiveRunError::from)
}

fn pass_traces(watch: &mut dyn RunObserver, rows: &[TraceRow]) {
    if !rows.is_empty() {
        watch.traces(rows);
    }
}
