//! Congestion controllers and sources of traffic as Python sees them, and the search for any of what can be named.

use headgate_core::{self as core, registry};
use headgate_scenario::Controller as Known;
use headgate_traffic::registry::{ENTRIES, Entry};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;

use crate::registry::{Discipline, NamedValues, Parameter};

/// A congestion controller.
#[pyclass(frozen, module = "headgate._core")]
pub struct Controller(Known);

#[pymethods]
impl Controller {
    /// The word that its key takes.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// What it does, in one line.
    #[getter]
    fn summary(&self) -> &'static str {
        self.0.summary
    }

    /// The publication that defines it.
    #[getter]
    fn citation(&self) -> &'static str {
        self.0.citation
    }

    /// Whose it is: `tcp` or `udp`.
    #[getter]
    fn section(&self) -> &'static str {
        self.0.section
    }

    /// The key that takes it: `cc`, or `recovery` of a loss recovery.
    #[getter]
    fn key(&self) -> &'static str {
        self.0.key
    }

    /// The keys of its group that bear on it, with the defaults that they have beside it.
    #[getter]
    fn parameters(&self) -> Vec<Parameter> {
        self.0.fields().into_iter().map(Parameter::from).collect()
    }

    fn __repr__(&self) -> String {
        format!("Controller({:?})", self.0.name)
    }
}

/// A source of traffic.
#[pyclass(frozen, module = "headgate._core")]
pub struct Source(&'static Entry);

#[pymethods]
impl Source {
    /// The name users write.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// What it sends, in one line.
    #[getter]
    fn summary(&self) -> &'static str {
        self.0.summary
    }

    /// Whose model it is.
    #[getter]
    fn citation(&self) -> &'static str {
        self.0.citation
    }

    /// What can carry it: `tcp`, `udp` or both.
    #[getter]
    fn protocols(&self) -> Vec<&'static str> {
        self.0.protocols.iter().map(|protocol| protocol.name()).collect()
    }

    /// Every parameter with its value under a preset, as text; `LookupError` if there is no such preset.
    fn values(&self, preset: &str) -> PyResult<Vec<(&'static str, String)>> {
        self.0.resolve(&[("preset", preset)]).map_err(|error| PyLookupError::new_err(error.to_string()))
    }

    /// Its parameters, in the order in which they are documented.
    #[getter]
    fn parameters(&self) -> Vec<Parameter> {
        self.0.fields().into_iter().map(Parameter::from).collect()
    }

    /// Its named sets of values, the one that the defaults come from first.
    #[getter]
    fn presets(&self) -> Vec<NamedValues> {
        self.0.presets().iter().map(NamedValues::from).collect()
    }

    fn __repr__(&self) -> String {
        format!("Source({:?})", self.0.name)
    }
}

/// Every congestion controller: those of TCP, from the oldest on, then that of UDP.
#[pyfunction]
pub fn controllers() -> Vec<Controller> {
    Known::all().map(Controller).collect()
}

/// Every source, sorted by name.
#[pyfunction]
pub fn sources() -> Vec<Source> {
    ENTRIES.iter().map(Source).collect()
}

/// The discipline, controller or source called `name`; `LookupError` with the nearest name if there is none.
#[pyfunction]
pub fn find(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    let any = |found: PyResult<Bound<'_, PyAny>>| found.map(Bound::unbind);
    if let Ok(entry) = registry::find(name) {
        return any(Discipline::of(entry).into_bound_py_any(py));
    }
    if let Some(controller) = Known::find(name) {
        return any(Controller(controller).into_bound_py_any(py));
    }
    if let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) {
        return any(Source(entry).into_bound_py_any(py));
    }
    let disciplines = registry::ENTRIES.iter().map(|entry| entry.name);
    let known = disciplines.chain(Known::all().map(|known| known.name)).chain(ENTRIES.iter().map(|entry| entry.name));
    let guess = match core::nearest(name, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => "; `headgate list` names them all".to_string(),
    };
    Err(PyLookupError::new_err(format!("no discipline, controller or source is called `{name}`{guess}")))
}

/// The one of `known` most like `typed`, if any is close enough to be what was meant.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 makes the list for this call")]
pub fn nearest(typed: &str, known: Vec<String>) -> Option<String> {
    core::nearest(typed, known.iter().map(String::as_str)).map(str::to_string)
}
