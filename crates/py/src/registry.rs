//! The registry of disciplines as Python sees it.

use headgate_core::registry::{self, Entry};
use headgate_core::{Field, Preset};
use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;

/// One parameter of a discipline or a source, or one option of a controller.
#[pyclass(frozen, get_all, module = "headgate._core", name = "Parameter")]
pub struct Parameter {
    name: &'static str,
    also: Vec<&'static str>,
    doc: String,
    kind: String,
    default: String,
    range: String,
}

impl From<Field> for Parameter {
    fn from(field: Field) -> Parameter {
        let Field { name, also, doc, kind, default, range } = field;
        Parameter { name, also: also.to_vec(), doc, kind, default, range }
    }
}

/// A named set of values for the parameters of a discipline or a source.
#[pyclass(frozen, get_all, module = "headgate._core", name = "Preset")]
pub struct NamedValues {
    name: &'static str,
    about: &'static str,
    settings: Vec<(&'static str, &'static str)>,
}

impl From<&Preset> for NamedValues {
    fn from(preset: &Preset) -> NamedValues {
        NamedValues { name: preset.name, about: preset.about, settings: preset.settings.to_vec() }
    }
}

/// One row of the registry.
#[pyclass(frozen, module = "headgate._core")]
pub struct Discipline(&'static Entry);

impl Discipline {
    /// The one of a row.
    pub fn of(entry: &'static Entry) -> Discipline {
        Discipline(entry)
    }
}

#[pymethods]
impl Discipline {
    /// The name users write.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// One line on the idea.
    #[getter]
    fn summary(&self) -> &'static str {
        self.0.summary
    }

    /// The publication that defines it.
    #[getter]
    fn citation(&self) -> &'static str {
        self.0.citation
    }

    /// Where it comes from: `paper`, `comparison` or `modern`.
    #[getter]
    fn group(&self) -> &'static str {
        self.0.group.name()
    }

    /// It holds back flows that do not slow down.
    #[getter]
    fn protects(&self) -> bool {
        self.0.abilities.protects
    }

    /// It keeps state for each flow.
    #[getter]
    fn per_flow(&self) -> bool {
        self.0.abilities.per_flow
    }

    /// It can mark instead of dropping.
    #[getter]
    fn ecn(&self) -> bool {
        self.0.abilities.ecn
    }

    /// Packets of different flows may overtake each other.
    #[getter]
    fn schedules(&self) -> bool {
        self.0.abilities.schedules
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
        format!("Discipline({:?})", self.0.name)
    }
}

/// Every reason for which a discipline of the registry drops or marks: its name, and what follows "because".
#[pyfunction]
pub fn reasons() -> Vec<(&'static str, &'static str)> {
    registry::reasons().iter().map(|why| (why.name(), why.about())).collect()
}

/// Every discipline, sorted by name.
#[pyfunction]
pub fn disciplines() -> Vec<Discipline> {
    registry::ENTRIES.iter().map(Discipline).collect()
}

/// The discipline called `name`; `LookupError` with the nearest name if there is none.
#[pyfunction]
pub fn discipline(name: &str) -> PyResult<Discipline> {
    registry::find(name).map(Discipline).map_err(|error| PyLookupError::new_err(error.to_string()))
}
