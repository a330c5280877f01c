//! One run, with the interpreter free for other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use headgate_core::Time;
use headgate_sim::{EventRow, RunError, Watch};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;

use crate::errors::Stopped;
use crate::outcome::{Outcome, Run, to_python};
use crate::scenario::Scenario;

/// Events are handed to Python in batches of about this many rows.
const BATCH: usize = 1 << 16;

#[derive(Default)]
struct Shared {
    nanos: AtomicU64,
    stop: AtomicBool,
}

/// Watches and stops runs from another thread; one object may serve many runs.
#[pyclass(frozen, module = "headgate._core")]
#[derive(Default)]
pub struct Progress(Arc<Shared>);

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

/// Adds up simulated time, hands events on, and says when to stop.
struct Watcher {
    shared: Arc<Shared>,
    seen: u64,
    run: Run,
    on_events: Option<Py<PyAny>>,
    batch: Vec<EventRow>,
    failed: Option<PyErr>,
}

impl Watcher {
    /// Tells of simulated time up to `now`.
    fn advance(&mut self, now: u64) {
        self.shared.nanos.fetch_add(now.saturating_sub(self.seen), Ordering::Relaxed);
        self.seen = now;
    }

    /// Hands the batch to Python; an exception there ends the run.
    fn flush(&mut self) {
        let Some(callback) = &self.on_events else { return };
        if self.batch.is_empty() || self.failed.is_some() {
            return;
        }
        let table = self.run.events(&self.batch);
        self.failed = Python::attach(|py| callback.call1(py, (to_python(table)?,))).err();
        self.batch.clear();
    }
}

impl Watch for Watcher {
    fn goes_on(&mut self, now: Time) -> bool {
        self.advance(now.as_nanos());
        self.failed.is_none() && !self.shared.stop.load(Ordering::Relaxed)
    }

    fn events(&mut self, batch: &[EventRow]) {
        if self.on_events.is_some() {
            self.batch.extend_from_slice(batch);
            if self.batch.len() >= BATCH {
                self.flush();
            }
        }
    }
}

/// Runs `scenario` with its discipline number `qdisc_index` and `seed`. Other Python threads go on meanwhile.
///
/// `on_events` is called with an Arrow record batch of events at the bottleneck, if the scenario records them.
#[pyfunction]
#[pyo3(signature = (scenario, qdisc_index, seed, progress=None, on_events=None))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    qdisc_index: usize,
    seed: u64,
    progress: Option<&Progress>,
    on_events: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let scenario = &scenario.0;
    let qdisc = scenario.qdiscs.get(qdisc_index).ok_or_else(|| {
        PyIndexError::new_err(format!("discipline {qdisc_index} of a scenario of {}", scenario.qdiscs.len()))
    })?;
    let shared = progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.0));
    let run = Run::new(scenario, qdisc_index, seed);
    let mut watcher = Watcher { shared, seen: 0, run: run.clone(), on_events, batch: Vec::new(), failed: None };
    let outcome = py.detach(|| {
        let outcome = headgate_sim::run(scenario, qdisc, seed, &mut watcher);
        watcher.flush();
        outcome
    });
    match (watcher.failed.take(), outcome) {
        (Some(error), _) => Err(error),
        (None, Err(RunError::Stopped)) => Err(Stopped::new_err("stopped before the end")),
        (None, Err(error)) => Err(PyRuntimeError::new_err(format!("{}: {error}", run.qdisc))),
        (None, Ok(rows)) => {
            watcher.advance(scenario.duration.as_nanos());
            Ok(Outcome::new(run, rows))
        }
    }
}
