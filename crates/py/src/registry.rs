//! The registries for Python: disciplines, congestion controllers and sources of traffic.

use aqm::registry::{self, Abilities, DisciplineEntry, Group, Listing};
use aqm::{self as core, BuildError, ParameterInfo, Preset};
use headgate_scenario::Controller as ScenarioController;
use headgate_traffic::registry as traffic;
use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;

/// One parameter of a discipline or a source, or one option of a controller.
#[pyclass(frozen, get_all, module = "headgate._core", name = "Parameter")]
pub struct Parameter {
    name: &'static str,
    also: Vec<&'static str>,
    inverse: Vec<&'static str>,
    renamed_from: Vec<&'static str>,
    doc: String,
    kind: String,
    default: String,
    range: String,
}

impl From<ParameterInfo> for Parameter {
    fn from(field: ParameterInfo) -> Parameter {
        let ParameterInfo { name, also, inverse, renamed_from, doc, kind, default, range } = field;
        let [also, inverse, renamed_from] = [also, inverse, renamed_from].map(<[_]>::to_vec);
        Parameter { name, also, inverse, renamed_from, doc, kind, default, range }
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

/// The origin of an entry's parameters.
enum ParameterSource {
    Listing(&'static Listing),
    Controller(ScenarioController),
}

/// Base class of registry entries.
#[pyclass(frozen, subclass, module = "headgate._core")]
pub struct Named {
    /// The name users write.
    #[pyo3(get)]
    name: &'static str,
    /// One line on the idea.
    #[pyo3(get)]
    summary: &'static str,
    /// The publication that defines it.
    #[pyo3(get)]
    citation: &'static str,
    parameter_source: ParameterSource,
}

impl Named {
    fn listed(listing: &'static Listing) -> Named {
        let Listing { name, summary, citation, .. } = *listing;
        Named { name, summary, citation, parameter_source: ParameterSource::Listing(listing) }
    }

    fn listing(&self) -> PyResult<&'static Listing> {
        match self.parameter_source {
            ParameterSource::Listing(listing) => Ok(listing),
            ParameterSource::Controller(_) => Err(PyLookupError::new_err(format!("`{}` has no presets", self.name))),
        }
    }
}

#[pymethods]
impl Named {
    /// Its parameters, in the order of their documentation. For a controller, the keys of its group that concern it,
    /// with their defaults for this controller.
    #[getter]
    fn parameters(&self) -> Vec<Parameter> {
        let fields = match self.parameter_source {
            ParameterSource::Listing(listing) => listing.fields(),
            ParameterSource::Controller(controller) => controller.fields(),
        };
        fields.into_iter().map(Parameter::from).collect()
    }

    /// Its presets, beginning with the preset that gives the defaults.
    #[getter]
    fn presets(&self) -> PyResult<Vec<NamedValues>> {
        Ok(self.listing()?.presets().iter().map(NamedValues::from).collect())
    }

    /// Names of switches of other programs whose value the choice of this entry fixes.
    #[getter]
    fn fixed(&self) -> PyResult<Vec<&'static str>> {
        Ok(self.listing()?.fixed().iter().flat_map(|switch| switch.names).copied().collect())
    }

    /// Every parameter with its value under a preset, as text; `LookupError` if there is no such preset.
    fn values(&self, preset: &str) -> PyResult<Vec<(&'static str, String)>> {
        self.listing()?.resolve(&[("preset", preset)]).map_err(|error| unknown(&error))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("{}({:?})", slf.get_type().name()?, slf.get().name))
    }
}

/// A discipline of the registry.
#[pyclass(frozen, get_all, extends = Named, module = "headgate._core")]
pub struct Discipline {
    /// Its name in print.
    display_name: &'static str,
    /// Its family.
    family: &'static str,
    /// Its position in the family, from 0.
    family_index: u8,
    /// Its origin: `paper`, `comparison` or `modern`.
    group: &'static str,
    /// It limits unresponsive flows.
    protects: bool,
    /// It keeps per-flow state.
    per_flow: bool,
    /// It can mark instead of dropping.
    ecn: bool,
    /// Packets of different flows may overtake each other.
    schedules: bool,
    /// Its gauges: name, unit and meaning; `N` in a name stands for a number.
    gauges: Vec<(&'static str, &'static str, &'static str)>,
}

impl Discipline {
    fn of(py: Python<'_>, entry: &'static DisciplineEntry) -> PyResult<Py<Discipline>> {
        let DisciplineEntry { display_name, family_index, abilities, .. } = *entry;
        let Abilities { protects, per_flow, ecn, schedules } = abilities;
        let (family, group) = (entry.family.name(), entry.group.name());
        let gauges = entry.gauges().iter().map(|gauge| (gauge.name, gauge.unit, gauge.about)).collect();
        let own = Discipline { display_name, family, family_index, group, protects, per_flow, ecn, schedules, gauges };
        Py::new(py, (own, Named::listed(entry)))
    }
}

/// A congestion controller, or a loss recovery.
#[pyclass(frozen, get_all, extends = Named, module = "headgate._core")]
pub struct Controller {
    /// Its protocol: `tcp` or `udp`.
    section: &'static str,
    /// The key that takes it: `cc`, or `recovery` of a loss recovery.
    key: &'static str,
}

impl Controller {
    fn of(py: Python<'_>, known: ScenarioController) -> PyResult<Py<Controller>> {
        let ScenarioController { name, summary, citation, section, key } = known;
        let named = Named { name, summary, citation, parameter_source: ParameterSource::Controller(known) };
        Py::new(py, (Controller { section, key }, named))
    }
}

/// A source of traffic.
#[pyclass(frozen, get_all, extends = Named, module = "headgate._core")]
pub struct Source {
    /// Protocols that can carry it: `tcp`, `udp` or both.
    protocols: Vec<&'static str>,
}

impl Source {
    fn of(py: Python<'_>, entry: &'static traffic::SourceEntry) -> PyResult<Py<Source>> {
        let protocols = entry.protocols.iter().map(|protocol| protocol.name()).collect();
        Py::new(py, (Source { protocols }, Named::listed(entry)))
    }
}

/// Every reason for drops and marks: its name, and the words after "because".
#[pyfunction]
pub fn reasons() -> Vec<(&'static str, &'static str)> {
    registry::reasons().iter().map(|why| (why.name(), why.about())).collect()
}

/// The groups of disciplines in listing order: name, and a description of the disciplines in it.
#[pyfunction]
pub fn groups() -> Vec<(&'static str, &'static str)> {
    Group::ALL.iter().map(|group| (group.name(), group.about())).collect()
}

/// Every discipline, sorted by name.
#[pyfunction]
pub fn disciplines(py: Python<'_>) -> PyResult<Vec<Py<Discipline>>> {
    registry::ENTRIES.iter().map(|entry| Discipline::of(py, entry)).collect()
}

/// The discipline called `name`; `LookupError` with the nearest name if there is none.
#[pyfunction]
pub fn discipline(py: Python<'_>, name: &str) -> PyResult<Py<Discipline>> {
    Discipline::of(py, registry::find(name).map_err(|error| unknown(&error))?)
}

/// Every congestion controller: TCP's from the oldest on, then UDP's.
#[pyfunction]
pub fn controllers(py: Python<'_>) -> PyResult<Vec<Py<Controller>>> {
    ScenarioController::all().map(|known| Controller::of(py, known)).collect()
}

/// Every source, sorted by name.
#[pyfunction]
pub fn sources(py: Python<'_>) -> PyResult<Vec<Py<Source>>> {
    traffic::ENTRIES.iter().map(|entry| Source::of(py, entry)).collect()
}

/// The discipline, controller or source called `name`; `LookupError` with the nearest name if there is none.
#[pyfunction]
pub fn find(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    if let Ok(entry) = registry::find(name) {
        return Ok(Discipline::of(py, entry)?.into_any());
    }
    if let Some(controller) = ScenarioController::find(name) {
        return Ok(Controller::of(py, controller)?.into_any());
    }
    if let Ok(entry) = traffic::find(name) {
        return Ok(Source::of(py, entry)?.into_any());
    }
    let disciplines = registry::ENTRIES.iter().map(|entry| entry.name);
    let sources = traffic::ENTRIES.iter().map(|entry| entry.name);
    let guess = match core::nearest(
        name,
        disciplines.chain(ScenarioController::all().map(|known| known.name)).chain(sources),
    ) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => "; `headgate list` names them all".to_string(),
    };
    Err(PyLookupError::new_err(format!("no discipline, controller or source is called `{name}`{guess}")))
}

/// The element of `known` nearest to `typed`, if one is close enough.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 makes the list for this call")]
pub fn nearest(typed: &str, known: Vec<String>) -> Option<String> {
    core::nearest(typed, known.iter().map(String::as_str)).map(str::to_string)
}

fn unknown(error: &BuildError) -> PyErr {
    PyLookupError::new_err(error.to_string())
}
