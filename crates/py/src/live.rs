//! The Python class of a link on real packets. Its forwarding thread never waits for the interpreter.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aqm::{Rate, Span};
use headgate_live::datagram_load::{self, DatagramLoad};
use headgate_live::log::LinkLog;
use headgate_live::shell::{self, CommandStartError, CommandUser, StandardStreams};
use headgate_live::{Addresses, EmulatedLink as Running, LaneSettings, LinkSettings, netns};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use crate::errors::settings_or_live_error;
use crate::link_log;
use crate::scenario::Scenario;
use crate::view::view_dict;

/// Tests the device for links and prepares this process for making network namespaces. Raises `LiveError` with the missing
/// right.
#[pyfunction]
pub fn prepare() -> PyResult<()> {
    netns::prepare().map_err(settings_or_live_error)
}

/// Sends datagrams of `packet` bytes, headers included, at `rate_bps` for `seconds` over a temporary link, and returns
/// counts and delays. Releases the interpreter.
#[pyfunction]
pub fn measure<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    rate_bps: u64,
    packet: u32,
    seconds: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let lanes = [LaneSettings::of_bottleneck(&scenario.0), LaneSettings::of_bottleneck(&scenario.0)];
    let settings = LinkSettings { lanes, seed: 1, sysctls: Vec::new(), outside: false, log: None };
    let load = DatagramLoad { rate: Rate::from_bits(rate_bps), packet, duration: Span::from_secs_f64(seconds) };
    let measurement = py.detach(|| datagram_load::measure(settings, load)).map_err(settings_or_live_error)?;
    let dict = view_dict(py, &measurement.view)?;
    let ([near, far], received) = (measurement.counters, measurement.delay.count());
    let numbers = [
        ("sent", measurement.sent),
        ("received", received),
        // Datagrams that arrived within `taken_s`. The datagram whose arrival starts this time does not count.
        ("timed", received.saturating_sub(datagram_load::UNTIMED_PACKETS + 1)),
        ("near_sent", near.sent),
        ("near_dropped", near.send_drops),
        ("far_received", far.received),
        ("far_dropped", far.receive_drops),
    ];
    numbers.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
    dict.set_item("taken_s", measurement.receive_time.as_secs_f64())?;
    for (name, share) in [("delay_ms_p50", 0.5), ("delay_ms_p99", 0.99)] {
        dict.set_item(name, measurement.delay.quantile(share).map(|nanos| nanos / 1e6))?;
    }
    Ok(dict)
}

/// A link between two hosts, with the command in the near host and the server in the far host.
struct LinkProcesses {
    link: Running,
    qdiscs: [String; 2],
    seed: u64,
    command: Option<Child>,
    server: Option<Child>,
}

/// A link that runs until `stop`.
#[pyclass(frozen, module = "headgate._core")]
pub struct Link(Mutex<LinkProcesses>);

impl Link {
    fn inner(&self) -> MutexGuard<'_, LinkProcesses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Link {
    /// The near host's address.
    #[classattr]
    #[pyo3(name = "NEAR")]
    fn near() -> String {
        Running::NEAR.to_string()
    }

    /// The far host's address.
    #[classattr]
    #[pyo3(name = "FAR")]
    fn far() -> String {
        Running::FAR.to_string()
    }

    /// Makes the hosts and starts forwarding. Each direction takes the first link of its scenario, forward, with the
    /// first discipline. `sysctls` are names below /proc/sys/net with values, for both hosts. With `outside` the far end is
    /// the network of the calling thread. `log` is the folder for captures and rows over time.
    #[new]
    #[pyo3(signature = (forward, reverse, *, seed=1, sysctls=Vec::new(), outside=false, log=None))]
    fn new(
        py: Python<'_>,
        forward: &Scenario,
        reverse: &Scenario,
        seed: u64,
        sysctls: Vec<(String, String)>,
        outside: bool,
        log: Option<PathBuf>,
    ) -> PyResult<Link> {
        let lanes = [LaneSettings::of_bottleneck(&forward.0), LaneSettings::of_bottleneck(&reverse.0)];
        let qdiscs = [&lanes[0], &lanes[1]].map(|lane| lane.qdisc.to_string());
        let link = py
            .detach(|| Running::open(LinkSettings { lanes, seed, sysctls, outside, log }))
            .map_err(settings_or_live_error)?;
        Ok(Link(Mutex::new(LinkProcesses { link, qdiscs, seed, command: None, server: None })))
    }

    /// Starts the command in the near host, with our standard streams, as `user` (its number, its group's, those of
    /// its other groups, and variables of its environment) or as this process. Returns the id of a process that ends
    /// with the command and forwards signals to it.
    #[pyo3(signature = (words, user=None))]
    fn spawn(&self, words: Vec<OsString>, user: Option<UserParts>) -> PyResult<u32> {
        let mut inner = self.inner();
        let (user, variables) = with_user(user, variables(&inner.link));
        let child = shell::spawn(inner.link.near(), words, variables, user, StandardStreams::Inherited);
        let child = child.map_err(not_started)?;
        let pid = child.id();
        inner.command = Some(child);
        Ok(pid)
    }

    /// Starts the server in the far host, as `user`, with our standard error only.
    #[pyo3(signature = (words, user=None))]
    fn serve(&self, words: Vec<OsString>, user: Option<UserParts>) -> PyResult<()> {
        let mut inner = self.inner();
        let (user, variables) = with_user(user, variables(&inner.link));
        let child = shell::spawn(inner.link.far(), words, variables, user, StandardStreams::OnlyErrors);
        let child = child.map_err(not_started)?;
        inner.server = Some(child);
        Ok(())
    }

    /// Whether a process in the far host listens for TCP connections or UDP datagrams.
    fn listens(&self) -> PyResult<bool> {
        shell::has_listener(self.inner().link.far()).map_err(settings_or_live_error)
    }

    /// The exit code of the command, as a shell gives it; None while it runs.
    fn poll(&self) -> PyResult<Option<i32>> {
        poll(&mut self.inner().command)
    }

    /// The exit code of the server; None while it runs.
    fn poll_server(&self) -> PyResult<Option<i32>> {
        poll(&mut self.inner().server)
    }

    /// Whether the forwarding thread still runs.
    #[getter]
    fn is_running(&self) -> bool {
        self.inner().link.forwarder().is_running()
    }

    /// Whether the forwarding thread has real-time priority.
    #[getter]
    fn realtime(&self) -> bool {
        self.inner().link.forwarder().is_realtime()
    }

    /// The latest published state of both directions.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let view = self.inner().link.forwarder().view();
        view_dict(py, &view)
    }

    /// The rows over time since the last call, forward and reverse; none without a log.
    fn take_intervals(&self) -> PyResult<Option<[PyRecordBatch; 2]>> {
        let inner = self.inner();
        let rows = inner.link.log().map(LinkLog::take_rows);
        rows.map(|rows| link_log::intervals(&rows, &inner.qdiscs, inner.seed)).transpose()
    }

    /// Packets that the log has recorded and missed, and the error that ended it; None without a log.
    fn written<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.inner().link.log().map(|log| link_log::log_counts(py, &log.counts())).transpose()
    }

    /// Ends the server, stops forwarding and returns the final state.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stopped = py.detach(|| {
            let mut inner = self.inner();
            let inner = &mut *inner;
            [&mut inner.server, &mut inner.command]
                .into_iter()
                .filter_map(Option::as_mut)
                .try_for_each(shell::end_command)?;
            inner.link.stop()
        });
        view_dict(py, &stopped.map_err(settings_or_live_error)?)
    }
}

/// A user: its number, its group's, those of its other groups, and variables of its environment.
type UserParts = (u32, u32, Vec<u32>, Variables);
type Variables = Vec<(String, String)>;

/// The user of a command, and its environment: `variables` and those of the user.
fn with_user(user: Option<UserParts>, mut variables: Variables) -> (Option<CommandUser>, Variables) {
    let user = user.map(|(uid, gid, groups, own)| {
        variables.extend(own);
        CommandUser::new(uid, gid, &groups)
    });
    (user, variables)
}

/// Environment variables of a command: the addresses of both ends.
fn variables(link: &Running) -> Variables {
    let Addresses { v4, v6 } = link.addresses();
    let v4 = ["NEAR", "FAR"].into_iter().zip(v4.map(IpAddr::from));
    let v6 = ["NEAR6", "FAR6"].into_iter().zip(v6.into_iter().flatten().map(IpAddr::from));
    v4.chain(v6).map(|(end, address)| (format!("HEADGATE_{end}"), address.to_string())).collect()
}

/// An `OSError` tells of the program, as a shell would; a `LiveError` of the process.
fn not_started(error: CommandStartError) -> PyErr {
    match error {
        CommandStartError::Program(error) => PyOSError::new_err((error.raw_os_error(), error.to_string())),
        CommandStartError::Live(error) => settings_or_live_error(error),
    }
}

fn poll(child: &mut Option<Child>) -> PyResult<Option<i32>> {
    let child = child.as_mut().ok_or_else(|| PyRuntimeError::new_err("nothing was started"))?;
    shell::poll(child).map_err(settings_or_live_error)
}
