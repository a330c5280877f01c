//! Real traffic over a link: a scenario's flows as kernel sockets in the hosts at both ends.
//!
//! Start times and writes come from the scenario's sources, with the simulator's random streams. The kernel transports
//! the data. Each host has one thread for its senders and one for its receivers.

mod deliveries;
pub(crate) mod flows;
mod group;
mod poll;
pub mod ports;
mod receiver;
mod report;
mod sender;
mod shared;
mod tally;
mod tcp;
mod timers;
mod tracer;
mod traces;
mod udp;

use std::sync::Arc;
use std::thread::JoinHandle;

use aqm::{Span, Time};
use headgate_measure::TraceRow;
use headgate_scenario::{Direction, Scenario};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub use self::deliveries::Delivery;
pub use self::group::{check_supported, differences, sysctls};
pub use self::report::{FlowReport, LoadReport};
pub use self::tally::SenderCounts;

use self::flows::{LiveFlow, flows};
use self::poll::Waker;
use self::receiver::{HostReceivers, ReceiverResults};
use self::sender::{HostSenders, SenderResults};
use self::shared::LoadState;
use self::tracer::Tracer;
use crate::error::{LiveError, LiveResult};
use crate::hosts::Addresses;
use crate::hosts::netns::Namespace;
use crate::io::clock::Monotonic;
use crate::io::request::Request;
use crate::threads::spawn;

/// Length of a delivery slot; shorter for short intervals.
const SLOT: Span = Span::from_millis(10);

/// The flows of a scenario, set up over a link. Dropping it ends them.
pub struct TrafficLoad {
    shared: Arc<LoadState>,
    senders: Vec<LoadWorker<SenderResults>>,
    receivers: Vec<LoadWorker<ReceiverResults>>,
    report: LoadReport,
}

impl TrafficLoad {
    /// Opens the sockets of `scenario`'s flows in the hosts `near` and `far` and connects them over the running link.
    /// `seed` selects the run; `clock` measures its time.
    ///
    /// # Errors
    /// An unsuitable scenario ([`check_supported`]); otherwise the refused request.
    pub fn prepare(
        scenario: &Scenario,
        seed: u64,
        near: &Namespace,
        far: &Namespace,
        clock: Monotonic,
    ) -> LiveResult<TrafficLoad> {
        check_supported(scenario)?;
        raise_limit(scenario.total_flows(), getrlimit(Resource::Nofile))?;
        let flows = flows(scenario, seed);
        let shared = Arc::new(LoadState::new(clock, flows.len()));
        let report =
            |flow: &LiveFlow| FlowReport { group: flow.group, start: flow.lifetime[0], ..FlowReport::default() };
        let report = LoadReport { flows: flows.iter().map(report).collect(), ..LoadReport::default() };
        let mut load = TrafficLoad { shared, senders: Vec::new(), receivers: Vec::new(), report };
        let end = Time::ZERO + scenario.duration;
        // Flows that start after the end never send.
        let flows = flows.into_iter().filter(|flow| flow.lifetime[0] < end);
        let (forward, reverse): (Vec<LiveFlow>, Vec<LiveFlow>) =
            flows.partition(|flow| flow.direction == Direction::Forward);
        let ends = [(near, Addresses::ISOLATED.v4[0]), (far, Addresses::ISOLATED.v4[1])];
        load.open(scenario, forward, ends)?;
        load.open(scenario, reverse, [ends[1], ends[0]])?;
        Ok(load)
    }

    fn open(
        &mut self,
        scenario: &Scenario,
        flows: Vec<LiveFlow>,
        [(host, from), (other, to)]: [(&Namespace, std::net::Ipv4Addr); 2],
    ) -> LiveResult<()> {
        if flows.is_empty() {
            return Ok(());
        }
        let [warm, end] = [scenario.warmup, scenario.duration].map(|span| Time::ZERO + span);
        let slot = SLOT.min(Span::from_nanos(scenario.record.interval.as_nanos() / 10));
        let bound: Vec<_> = flows.iter().map(|flow| (flow.number, flow.traffic.receiver_settings())).collect();
        let shared = Arc::clone(&self.shared);
        let made = move || {
            let receivers = HostReceivers::new(&bound, to, warm, slot, shared)?;
            Ok((receivers.poller.waker.clone(), move || receivers.run()))
        };
        self.receivers.push(LoadWorker::start(other, "receivers", made)?);
        let shared = Arc::clone(&self.shared);
        let index = self.senders.len();
        let tracer = Tracer::new(scenario, index);
        if tracer.is_some() {
            shared.traces.expect(index);
        }
        let made = move || {
            let senders = HostSenders::new(flows, (from, to), [warm, end], shared, tracer)?;
            Ok((senders.poller.waker.clone(), move || senders.run()))
        };
        self.senders.push(LoadWorker::start(host, "senders", made)?);
        Ok(())
    }

    /// Sets time zero of the flows to `at`, by the clock.
    pub fn begin(&self, at: Time) {
        self.shared.begin(at);
        self.wake();
    }

    /// Takes the rows of traced senders since the last call, in order of time.
    pub fn take_traces(&self) -> Vec<TraceRow> {
        self.shared.traces.take()
    }

    fn wake(&self) {
        self.senders.iter().for_each(|worker| worker.waker.wake());
        self.receivers.iter().for_each(|worker| worker.waker.wake());
    }

    /// Ends all flows and returns their report, or the error that stopped a thread.
    pub fn stop(mut self) -> LiveResult<LoadReport> {
        self.shared.stop();
        self.wake();
        let mut report = std::mem::take(&mut self.report);
        for worker in std::mem::take(&mut self.senders) {
            report.take_sent(worker.join()?);
        }
        for worker in std::mem::take(&mut self.receivers) {
            report.take_received(worker.join()?);
        }
        report.finish(&self.shared);
        Ok(report)
    }
}

/// Ends a partly prepared load too.
impl Drop for TrafficLoad {
    fn drop(&mut self) {
        self.shared.stop();
        self.wake();
        self.senders.drain(..).for_each(|worker| drop(worker.join()));
        self.receivers.drain(..).for_each(|worker| drop(worker.join()));
    }
}

struct LoadWorker<T> {
    waker: Waker,
    thread: JoinHandle<Option<LiveResult<T>>>,
}

impl<T: Send + 'static> LoadWorker<T> {
    /// Starts a thread called `name` in `host`. It runs the closure that `make` builds there.
    fn start<R: FnOnce() -> LiveResult<T>>(
        host: &Namespace,
        name: &'static str,
        make: impl FnOnce() -> LiveResult<(Waker, R)> + Send + 'static,
    ) -> LiveResult<LoadWorker<T>> {
        let work = move || {
            // Real-time priority where permitted, as for the loop: lateness here would be part of the measurement.
            let _ = crate::io::set_realtime_priority(1);
            make()
        };
        // A thread inherits the namespace of its creator.
        let (waker, thread) = host.run(move || spawn(name, work))??;
        Ok(LoadWorker { waker, thread })
    }

    fn join(self) -> LiveResult<T> {
        let ended = self.thread.join().ok().flatten();
        ended.unwrap_or_else(|| Err(LiveError::Ended("a load's thread panicked".to_string())))
    }
}

/// Raises the `limit` of open files for `flows`: a TCP flow has three sockets, sender, listener and receiver.
pub(crate) fn raise_limit(flows: u32, limit: Rlimit) -> LiveResult<()> {
    let needed = u64::from(flows) * 3 + 256;
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|most| most < needed) {
        let most = limit.maximum.unwrap_or(0);
        let what = format!(
            "{flows} flows need {needed} open files, and {most} are allowed: raise the limit (ulimit -Hn), or give the \
             scenario fewer flows"
        );
        return Err(LiveError::Refused(what));
    }
    Request::OpenFiles.ask(|| setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit }))
}
