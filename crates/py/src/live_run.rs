//! A scenario on real packets, for Python.

use aqm::Qdisc;
use aqm::parts::Histogram;
use headgate_live::run::{self, KernelQdisc, KernelReport, LinkFidelity, LiveRunError};
use headgate_live::{LiveError, SharedView};
use headgate_measure::RunObserver;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCFunction, PyDict};

use crate::errors::{Stopped, live_error};
use crate::outcome::Outcome;
use crate::prototype::Failure;
use crate::run::{Callbacks, Progress, watched};
use crate::scenario::Scenario;
use crate::view;

/// Raises `ValueError` with the reason if `scenario` cannot be run on real packets.
#[pyfunction]
pub fn check_live(scenario: &Scenario) -> PyResult<()> {
    run::check_supported(&scenario.0).map_err(|error| to_py_error("", error))
}

/// Raises `ValueError` with the reason if the kernel cannot take the place of the compared discipline of `scenario`.
#[pyfunction]
pub fn check_kernel(scenario: &Scenario) -> PyResult<()> {
    run::check_kernel_supported(&scenario.0).map_err(|error| to_py_error("", error))
}

/// Why this machine's kernel or tc has no qdisc of these words, kind and options; `None` if they have it. Raises
/// `LiveError` for another reason.
#[pyfunction]
pub fn check_kernel_qdisc(py: Python<'_>, words: Vec<String>) -> PyResult<Option<String>> {
    match py.detach(|| run::check_kernel_qdisc(&KernelQdisc { words })) {
        Ok(()) => Ok(None),
        Err(LiveError::Unsupported(why)) => Ok(Some(why)),
        Err(error) => Err(live_error("", error)),
    }
}

/// Runs `scenario` on real packets, in real time, with discipline number `qdisc_index` and `seed`. Returns the tables
/// of a simulation, the measurements of the run's fidelity, and remarks on departures from the scenario. Releases the
/// interpreter.
///
/// With `kernel_qdisc`, kind and options as words of tc, the kernel's qdisc takes the place of the discipline.
///
/// `on_batch` and `on_capture` are called as by `run`. `on_link` is called once, with a function that returns the state
/// of the first link with compared disciplines.
#[pyfunction]
#[pyo3(signature = (
    scenario, qdisc_index, seed, progress=None, on_batch=None, on_capture=None, on_link=None, kernel_qdisc=None
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn run_live<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    qdisc_index: usize,
    seed: u64,
    progress: Option<&Progress>,
    on_batch: Option<Py<PyAny>>,
    on_capture: Option<Py<PyAny>>,
    on_link: Option<Py<PyAny>>,
    kernel_qdisc: Option<Vec<String>>,
) -> PyResult<(Outcome, Bound<'py, PyDict>, Vec<String>)> {
    let scenario = &scenario.0;
    let callbacks = Callbacks { on_batch, on_capture, failure: Failure::default() };
    let first = 2 * usize::from(scenario.bottleneck().link);
    let live = |qdisc: &Qdisc, watch: &mut dyn RunObserver| {
        let mut show = |shared| on_link.iter().for_each(|callback| pass_view_function(callback, &shared, first));
        match kernel_qdisc {
            Some(words) => run::run_kernel(scenario, &KernelQdisc { words }, seed, watch, &mut show),
            None => run::run(scenario, qdisc, seed, watch, &mut show),
        }
    };
    let (run, live) = watched(py, (scenario, qdisc_index, seed), progress, callbacks, live)?;
    let live = live.map_err(|error| to_py_error(&run.qdisc, error))?;
    let holds = live.outcome.conserves();
    let fidelity = fidelity_dict(py, &live.fidelity)?;
    fidelity.set_item("conserves", holds)?;
    if let Some(KernelReport { statistics, drops, strays }) = live.kernel {
        let report = PyDict::new(py);
        report.set_item("statistics", statistics)?;
        report.set_item("drops", drops)?;
        report.set_item("strays", strays)?;
        fidelity.set_item("kernel_qdisc", report)?;
    }
    Ok((Outcome::new(run, live.outcome), fidelity, live.notes))
}

/// Calls `on_link` with a function that returns the state of direction `first` and its reverse. An exception in it does
/// not stop the run.
fn pass_view_function(on_link: &Py<PyAny>, shared: &SharedView, first: usize) {
    Python::attach(|py| {
        let shared = shared.clone();
        let view_function = PyCFunction::new_closure(py, None, None, move |args, _| {
            let mut view = shared.latest();
            view.lanes.drain(..first);
            view::view_dict(args.py(), &view).map(Bound::unbind)
        });
        if let Err(error) = view_function.and_then(|view_function| on_link.call1(py, (view_function,))) {
            error.write_unraisable(py, None);
        }
    });
}

fn to_py_error(qdisc: &str, error: LiveRunError) -> PyErr {
    match error {
        LiveRunError::Refused(why) => PyValueError::new_err(why),
        LiveRunError::Stopped => Stopped::new_err("stopped before the end"),
        LiveRunError::System(error) => live_error(qdisc, error),
        error => live_error(qdisc, LiveError::Ended(error.to_string())),
    }
}

fn fidelity_dict<'py>(py: Python<'py>, fidelity: &LinkFidelity) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("realtime", fidelity.realtime)?;
    all.set_item("cpu", fidelity.cpu.as_secs_f64() / fidelity.duration.as_secs_f64().max(1e-9))?;
    all.set_item("cpu_s", fidelity.cpu.as_secs_f64())?;
    quantiles(&all, "late", &fidelity.lateness)?;
    quantiles(&all, "send_late", &fidelity.send_lateness)?;
    let (stalls, stalled) = fidelity.stalls;
    all.set_item("stalls", stalls)?;
    all.set_item("stalled_ms", stalled.as_secs_f64() * 1e3)?;
    all.set_item("oversize", fidelity.oversize)?;
    all.set_item("host_losses", fidelity.host_losses.named().into_py_dict(py)?)?;
    for (name, counters) in ["near", "far"].into_iter().zip(&fidelity.counters) {
        all.set_item(name, counters.named().into_py_dict(py)?)?;
    }
    let [link, receivers] = fidelity.marks;
    all.set_item("marks", [("link", link), ("receivers", receivers)].into_py_dict(py)?)?;
    Ok(all)
}

fn quantiles(all: &Bound<'_, PyDict>, name: &str, histogram: &Histogram) -> PyResult<()> {
    for (suffix, share) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        let value = histogram.quantile(share).map(|nanos| nanos / 1e6);
        all.set_item(format!("{name}_ms_{suffix}"), value)?;
    }
    Ok(())
}
