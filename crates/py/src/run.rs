//! One run, with the interpreter released.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use aqm::{Qdisc, Time};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use headgate_measure::{EventBatch, RunObserver, TraceRow};
use headgate_sim::RunError;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Stopped;
use crate::outcome::{Outcome, RunId, to_python};
use crate::prototype::{Failure, Prototypes};
use crate::scenario::Scenario;

/// Rows are handed to Python in batches of about this many.
const BATCH: usize = 1 << 16;

#[derive(Default)]
struct ProgressState {
    nanos: AtomicU64,
    stop: AtomicBool,
}

/// Watches and stops runs from another thread; one object may serve many runs.
#[pyclass(frozen, module = "headgate._core")]
#[derive(Default)]
pub struct Progress(Arc<ProgressState>);

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Progress {
        Progress::default()
    }

    /// Simulated seconds done so far, over all runs that use this object.
    #[getter]
    fn seconds(&self) -> f64 {
        Time::from_nanos(self.0.nanos.load(Ordering::Relaxed)).as_secs_f64()
    }

    /// Whether `stop` was called.
    #[getter]
    fn stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Makes every run that uses this object end soon with `Stopped`.
    fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

/// Callbacks of a run for its records.
pub struct Callbacks {
    /// Called with a table's name and an Arrow record batch of its next rows.
    pub on_batch: Option<Py<PyAny>>,
    /// Called with a link's name and the next bytes of its pcapng file.
    pub on_capture: Option<Py<PyAny>>,
    /// Exception of a discipline written in Python, which ends the run.
    pub failure: Failure,
}

/// Adds up simulated time, hands records to Python and stops the run on request.
struct RunWatcher {
    shared: Arc<ProgressState>,
    seen: u64,
    run: RunId,
    callbacks: Callbacks,
    events: EventBatch,
    traces: Vec<TraceRow>,
    failed: Option<PyErr>,
}

impl RunWatcher {
    fn new(shared: Arc<ProgressState>, run: RunId, callbacks: Callbacks) -> RunWatcher {
        RunWatcher { shared, seen: 0, run, callbacks, events: EventBatch::default(), traces: Vec::new(), failed: None }
    }

    /// Adds the simulated time since the last call.
    fn advance(&mut self, now: u64) {
        self.shared.nanos.fetch_add(now.saturating_sub(self.seen), Ordering::Relaxed);
        self.seen = now;
    }

    /// Hands a batch to Python; an exception there ends the run.
    fn pass_to_python(&mut self, name: &str, table: Result<RecordBatch, ArrowError>) {
        if let (Some(callback), None) = (&self.callbacks.on_batch, &self.failed) {
            self.failed = Python::attach(|py| callback.call1(py, (name, to_python(table)?))).err();
        }
    }

    /// Hands the events to Python if there are at least `least`.
    fn pass_events(&mut self, least: usize) {
        if self.events.rows.len() >= least {
            let EventBatch { rows, values, .. } = &self.events;
            debug_assert_eq!(values.len(), rows.len() * self.events.gauges.len(), "gauges beside every event");
            self.pass_to_python("events", self.run.events(&self.events));
            self.events.rows.clear();
            self.events.values.clear();
        }
    }

    /// Hands the traces to Python if there are at least `least`.
    fn pass_traces(&mut self, least: usize) {
        if self.traces.len() >= least {
            self.pass_to_python("traces", self.run.traces(&self.traces));
            self.traces.clear();
        }
    }
}

impl RunObserver for RunWatcher {
    fn should_continue(&mut self, now: Time) -> bool {
        self.advance(now.as_nanos());
        self.failed.is_none() && !self.callbacks.failure.any() && !self.shared.stop.load(Ordering::Relaxed)
    }

    fn events(&mut self, batch: &EventBatch) {
        if self.callbacks.on_batch.is_none() {
            return;
        }
        self.events.gauges.clone_from(&batch.gauges);
        self.events.rows.extend_from_slice(&batch.rows);
        self.events.values.extend_from_slice(&batch.values);
        self.pass_events(BATCH);
    }

    fn traces(&mut self, batch: &[TraceRow]) {
        if self.callbacks.on_batch.is_none() {
            return;
        }
        self.traces.extend_from_slice(batch);
        self.pass_traces(BATCH);
    }

    fn captured(&mut self, link: u16, bytes: &[u8]) {
        if let (Some(callback), None, false) = (&self.callbacks.on_capture, &self.failed, bytes.is_empty()) {
            let name = self.run.link_name(link);
            self.failed = Python::attach(|py| callback.call1(py, (name, PyBytes::new(py, bytes)))).err();
        }
    }
}

/// Calls `job` to run `scenario` with discipline number `qdisc_index`, watched through `progress` and `callbacks`.
/// Releases the interpreter.
pub fn watched<T: Send, E: Send>(
    py: Python<'_>,
    (scenario, qdisc_index, seed): (&headgate_scenario::Scenario, usize, u64),
    progress: Option<&Progress>,
    callbacks: Callbacks,
    job: impl FnOnce(&Qdisc, &mut dyn RunObserver) -> Result<T, E> + Send,
) -> PyResult<(RunId, Result<T, E>)> {
    let qdisc = scenario.qdiscs.get(qdisc_index).ok_or_else(|| {
        PyIndexError::new_err(format!("discipline {qdisc_index} of a scenario of {}", scenario.qdiscs.len()))
    })?;
    let shared = progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.0));
    let run = RunId::new(scenario, qdisc_index, seed);
    let mut watcher = RunWatcher::new(shared, run.clone(), callbacks);
    let result = py.detach(|| {
        let result = job(qdisc, &mut watcher);
        watcher.pass_events(1);
        watcher.pass_traces(1);
        if result.is_ok() {
            watcher.advance(scenario.duration.as_nanos());
        }
        result
    });
    watcher.callbacks.failure.take(py).or(watcher.failed).map_or(Ok((run, result)), Err)
}

/// Runs `scenario` with discipline number `qdisc_index` and `seed`. Releases the interpreter.
///
/// `on_batch` is called with a table's name, `events` or `traces`, and an Arrow record batch of its next rows.
/// `on_capture` is called with a link's name and the next bytes of its pcapng file. Both need the scenario's `record`.
#[pyfunction]
#[pyo3(signature = (scenario, qdisc_index, seed, progress=None, on_batch=None, on_capture=None))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    qdisc_index: usize,
    seed: u64,
    progress: Option<&Progress>,
    on_batch: Option<Py<PyAny>>,
    on_capture: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let Scenario(scenario, known, _) = scenario;
    let prototypes = Prototypes { known, failure: Failure::default() };
    let callbacks = Callbacks { on_batch, on_capture, failure: prototypes.failure.clone() };
    let simulate =
        |qdisc: &Qdisc, watch: &mut dyn RunObserver| headgate_sim::run_with(scenario, qdisc, seed, watch, &prototypes);
    let (run, result) = watched(py, (scenario, qdisc_index, seed), progress, callbacks, simulate)?;
    match result {
        Err(RunError::Stopped) => Err(Stopped::new_err("stopped before the end")),
        Err(error) => Err(PyRuntimeError::new_err(format!("{}: {error}", run.qdisc))),
        Ok(rows) => Ok(Outcome::new(run, rows)),
    }
}
