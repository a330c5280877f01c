//! The Python class of a scenario.

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use aqm::Time;
use headgate_measure::{Activity, FairShare, active_fair_shares, fair_shares};
use headgate_scenario::{Changes, Events, FairUnit, Files, Group, Hop, INPUTS, Qdisc};
use pyo3::exceptions::{PyFutureWarning, PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::scenario_error;
use crate::prototype::{Failure, NamedPrototype, Prototypes};

/// Name, kind (`tcp` or `udp`), number of flows, and rate of each flow in bit/s. The rate is None if congestion control
/// or a traffic source sets it. Then whether the flows are responsive, greedy and brief ([`FairShare`]).
type GroupRow = (String, &'static str, u32, Option<f64>, bool, bool, bool);

/// Name of a link, direction, mean rate in bit/s, and the direction's own discipline.
type HopRow<'a> = (&'a str, &'static str, f64, Option<String>);

fn fair_unit(word: &str) -> PyResult<FairUnit> {
    FairUnit::named(word).ok_or_else(|| PyValueError::new_err(format!("no unit of fairness is called {word:?}")))
}

/// Name, class and maker of a discipline written in Python.
type PrototypeRow = (String, Py<PyAny>, Py<PyAny>);

/// A callable that gives the bytes of the file at a path, or raises `OSError`.
struct PythonFiles<'a, 'py>(&'a Bound<'py, PyAny>);

impl Files for PythonFiles<'_, '_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let why = |error: PyErr| {
            let value = error.value(self.0.py());
            let reason = value.getattr("strerror").ok().and_then(|reason| reason.extract::<String>().ok());
            reason.unwrap_or_else(|| value.to_string())
        };
        self.0.call1((path,)).and_then(|bytes| bytes.extract()).map_err(why)
    }
}

/// A scenario that was read and checked, and its prototypes.
#[pyclass(frozen, module = "headgate._core")]
pub struct Scenario(pub headgate_scenario::Scenario, pub Vec<NamedPrototype>, pub Sections);

/// The sections of the canonical form, once they were asked for. The copies for single seeds share them: a sweep asks
/// twice for the text of each.
pub type Sections = Arc<OnceLock<String>>;

impl Scenario {
    /// The discipline at `index`, and those written in Python, of which it may be one.
    fn qdisc(&self, index: usize) -> PyResult<(&Qdisc, Prototypes<'_>)> {
        let missing = || PyIndexError::new_err(format!("the scenario has no discipline {index}"));
        let qdisc = self.0.qdiscs.get(index).ok_or_else(missing)?;
        Ok((qdisc, Prototypes { known: &self.1, failure: Failure::default() }))
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario from TOML `text`; `file` names it in messages, `files` gives the bytes of each file it names.
    #[new]
    #[pyo3(signature = (text, file, *, set=Vec::new(), qdiscs=Vec::new(), seeds=None, files=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        file: &str,
        set: Vec<String>,
        qdiscs: Vec<String>,
        seeds: Option<u32>,
        files: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Scenario> {
        let changes = Changes { set, qdiscs, seeds };
        let read = match &files {
            None => headgate_scenario::Scenario::read_warned(text, file, &changes, &()),
            Some(files) => headgate_scenario::Scenario::read_warned(text, file, &changes, &PythonFiles(files)),
        };
        let (scenario, warnings) = read.map_err(|error| scenario_error(py, error))?;
        for warning in warnings {
            let text = CString::new(warning.replace('\0', " "))?;
            PyErr::warn(py, &py.get_type::<PyFutureWarning>(), &text, 1)?;
        }
        Ok(Scenario(scenario, Vec::new(), Sections::default()))
    }

    /// A copy of the scenario with disciplines written in Python. Each entry of `made` is the name, class and maker of
    /// such a discipline, or None for the next of the scenario's own disciplines.
    fn with_prototypes(&self, made: Vec<Option<PrototypeRow>>) -> Scenario {
        let mut scenario = self.0.clone();
        let mut own = std::mem::take(&mut scenario.qdiscs).into_iter();
        let next = |made: &Option<PrototypeRow>| match made {
            Some((name, ..)) => Some(Qdisc::named(name)),
            None => own.next(),
        };
        scenario.qdiscs = made.iter().filter_map(next).collect();
        let named = made.into_iter().flatten();
        let prototypes = named.map(|(name, class, maker)| NamedPrototype { name, class, maker }).collect();
        Scenario(scenario, prototypes, Sections::default())
    }

    /// A copy of the scenario with this seed alone; None if it is none of its seeds.
    fn of_seed(&self, py: Python<'_>, seed: u64) -> Option<Scenario> {
        self.0.seeds.contains(&seed).then(|| {
            let scenario = headgate_scenario::Scenario { seeds: vec![seed], ..self.0.clone() };
            Scenario(scenario, self.1.iter().map(|prototyped| prototyped.copied(py)).collect(), self.2.clone())
        })
    }

    /// Name and class of each discipline written in Python.
    #[getter]
    fn prototypes(&self, py: Python<'_>) -> Vec<(String, Py<PyAny>)> {
        self.1.iter().map(|prototyped| (prototyped.name.clone(), prototyped.class.clone_ref(py))).collect()
    }

    /// The files that the scenario names, by the paths of its canonical form.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let inputs = self.0.inputs.iter();
        inputs.map(|(name, bytes)| (format!("{INPUTS}/{name}"), PyBytes::new(py, bytes))).collect()
    }

    /// The scenario in canonical form.
    fn to_toml(&self) -> String {
        self.0.head_to_toml() + self.2.get_or_init(|| self.0.sections_to_toml())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn about(&self) -> &str {
        &self.0.about
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.as_secs_f64()
    }

    #[getter]
    fn warmup_s(&self) -> f64 {
        self.0.warmup.as_secs_f64()
    }

    #[getter]
    fn rate_bps(&self) -> f64 {
        self.0.mean_rate(self.0.bottleneck()).as_bits() as f64
    }

    /// Name and direction of the first link at which disciplines are compared.
    #[getter]
    fn bottleneck(&self) -> (&str, &str) {
        let hop = self.0.bottleneck();
        (&self.0.links[usize::from(hop.link)].name, hop.direction.name())
    }

    #[getter]
    fn records(&self) -> Vec<&'static str> {
        let record = &self.0.record;
        let tables = [("events", record.events != Events::Off), ("traces", !record.flows.is_empty())];
        tables.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect()
    }

    #[getter]
    fn captures(&self) -> Vec<&str> {
        self.0.record.capture.iter().map(|link| self.0.links[usize::from(*link)].name.as_str()).collect()
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.0.seeds.clone()
    }

    #[getter]
    fn qdiscs(&self) -> Vec<String> {
        self.0.qdiscs.iter().map(ToString::to_string).collect()
    }

    /// Bytes of the tables of the discipline at `qdisc`, at one link that compares disciplines.
    fn table_bytes(&self, qdisc: usize) -> PyResult<usize> {
        let (qdisc, external) = self.qdisc(qdisc)?;
        Ok(headgate_sim::table_bytes(qdisc, &self.0, self.0.bottleneck(), &external).unwrap_or(0))
    }

    /// What a simulated run with the discipline at `qdisc` takes of memory, the largest first: words, key, bytes.
    fn memory(&self, qdisc: usize) -> PyResult<Vec<(String, String, u64)>> {
        let (qdisc, external) = self.qdisc(qdisc)?;
        let items = headgate_sim::estimate_memory(&self.0, qdisc, &external);
        Ok(items.into_iter().map(|item| (item.what, item.key, item.bytes)).collect())
    }

    #[getter]
    fn groups(&self) -> Vec<GroupRow> {
        let udp = |index: usize| index.checked_sub(self.0.tcp.len()).map(|index| &self.0.udp[index]);
        let constant = |index| udp(index).filter(|group| !group.is_controlled());
        let rate = |index| constant(index)?.rate.map(|rate| rate.as_bits() as f64);
        let row = |(group, share): (Group<'_>, FairShare)| {
            let (name, kind) = (group.name.to_string(), group.kind.name());
            (name, kind, group.flows, rate(group.index), share.responsive, share.is_greedy(), share.is_brief())
        };
        self.0.groups().zip(fair_shares(&self.0)).map(row).collect()
    }

    /// The unit among which links are to be divided fairly; None if the scenario states none.
    #[getter]
    fn fair(&self) -> Option<&'static str> {
        self.0.fair.map(FairUnit::name)
    }

    /// The number of each flow's unit of this kind.
    fn fair_units(&self, unit: &str) -> PyResult<Vec<u32>> {
        Ok(self.0.fair_units(fair_unit(unit)?).of_flow)
    }

    /// The fair share of each flow by unit, as goodput in bit/s averaged over the window; None for a flow that is not
    /// active in it. `active` has the times in nanoseconds at which each flow begins to send and is done.
    fn unit_shares(&self, unit: &str, active: Vec<[Option<u64>; 2]>) -> PyResult<Vec<Option<f64>>> {
        let time = |at: Option<u64>| at.map_or(Time::NEVER, Time::from_nanos);
        let activities: Vec<Activity> =
            active.into_iter().map(|[from, until]| Activity { from: time(from), until: time(until) }).collect();
        let window = [self.0.warmup, self.0.duration].map(|span| Time::ZERO + span);
        Ok(active_fair_shares(&self.0, fair_unit(unit)?, window, &activities))
    }

    /// Every direction of every link, forward before reverse: name, direction, mean rate in bit/s, and its own
    /// discipline; None if it runs the compared disciplines.
    #[getter]
    fn hops(&self) -> Vec<HopRow<'_>> {
        let row = |hop: Hop| {
            let settings = self.0.direction_settings(hop);
            let name = self.0.links[usize::from(hop.link)].name.as_str();
            let rate = self.0.mean_rate(hop).as_bits() as f64;
            (name, hop.direction.name(), rate, settings.qdisc.as_ref().map(ToString::to_string))
        };
        self.0.hops().map(row).collect()
    }

    /// The route of each group's data, as indices of `hops`.
    #[getter]
    fn routes(&self) -> Vec<Vec<u16>> {
        self.0.routes().map(|route| route.iter().map(|hop| hop.number()).collect()).collect()
    }
}

/// Line and column of the key at `path` in the text of a scenario file, both from 1; None if it is not there.
#[pyfunction]
pub fn key_position(text: &str, path: &str) -> Option<(u32, u32)> {
    headgate_scenario::key_position(text, path)
}

/// The text of a scenario file with current names, and line and text of each change.
///
/// Raises `ScenarioError` for text that is not TOML, or that has a key under its old and its new name.
#[pyfunction]
pub fn migrated(py: Python<'_>, text: &str, file: &str) -> PyResult<(String, Vec<(u32, String)>)> {
    let migrated = headgate_scenario::migrate(text, file).map_err(|error| scenario_error(py, error))?;
    Ok((migrated.text, migrated.changes))
}
