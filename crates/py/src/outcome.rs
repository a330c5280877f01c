//! The outcome of a run as Arrow tables.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use headgate_measure::{ColumnInfo, EventBatch, Names, OverTimeMetric, Row, Table, TraceRow};
use headgate_scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use crate::columns::Columns;

/// Discipline, seed and names of a run, for every row of its tables.
#[derive(Clone)]
pub struct RunId {
    /// The discipline, as the scenario writes it.
    pub qdisc: String,
    /// The seed.
    pub seed: u64,
    /// Names of groups and links.
    names: Names,
}

impl RunId {
    /// The run of `scenario` with the discipline at `index` and `seed`.
    pub fn new(scenario: &Scenario, index: usize, seed: u64) -> RunId {
        RunId { qdisc: scenario.qdiscs[index].to_string(), seed, names: Names::new(scenario) }
    }

    /// A table of these rows.
    fn table<R: Row>(&self, rows: &[R]) -> Columns {
        let mut columns = Columns::of_run(rows.len(), &self.qdisc, self.seed);
        columns.of(&self.names, rows.iter());
        columns
    }

    /// A batch of events at compared disciplines, with a column for each recorded gauge.
    ///
    /// # Errors
    /// Only a fault in the conversion to columns.
    pub fn events(&self, EventBatch { rows, gauges, values }: &EventBatch) -> Result<RecordBatch, ArrowError> {
        let mut columns = self.table(rows);
        for (place, gauge) in gauges.iter().enumerate() {
            let of = if gauge.of_flow { "flow" } else { "gauge" };
            let recorded = values.iter().skip(place).step_by(gauges.len()).copied();
            columns.f64_or_null(
                &format!("{of}:{}", gauge.name),
                recorded.map(|value| Some(value).filter(|v| !v.is_nan())),
            );
        }
        columns.finish()
    }

    /// A batch of traces.
    ///
    /// # Errors
    /// Only a fault in the conversion to columns.
    pub fn traces(&self, rows: &[TraceRow]) -> Result<RecordBatch, ArrowError> {
        self.table(rows).finish()
    }

    /// The name of link number `link`.
    pub fn link_name(&self, link: u16) -> &str {
        &self.names.links[usize::from(link) * 2].0
    }
}

/// All results of a run as Arrow tables; each has `__arrow_c_array__`.
#[pyclass(frozen, module = "headgate._core")]
pub struct Outcome {
    run: RunId,
    rows: headgate_measure::Outcome,
}

impl Outcome {
    /// The outcome `rows` of `run`.
    pub fn new(run: RunId, rows: headgate_measure::Outcome) -> Outcome {
        Outcome { run, rows }
    }

    fn table<R: Row>(&self, rows: &[R]) -> PyResult<PyRecordBatch> {
        to_python(self.run.table(rows).finish())
    }
}

#[pymethods]
impl Outcome {
    /// One row a flow.
    fn flows(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.flows)
    }

    /// One row an interval, metric and group.
    fn intervals(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.intervals)
    }

    /// One row a direction of a link.
    fn links(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.links)
    }

    /// Distributions of queueing delay at compared disciplines and of one-way delay: one row a non-empty bin.
    fn delays(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.delays())
    }

    /// Loss patterns at compared disciplines: one row a non-empty bin.
    fn losses(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.losses())
    }

    /// One row a transfer that began.
    fn transfers(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.transfers)
    }

    /// Jain's index over time: one row a time scale.
    fn fairness(&self) -> PyResult<PyRecordBatch> {
        self.table(&self.rows.fairness)
    }

    /// Packets that compared disciplines sent in the whole run.
    #[getter]
    fn packets(&self) -> u64 {
        self.rows.packets
    }
}

/// Hands a table to Python.
///
/// # Errors
/// `RuntimeError` with Arrow's message.
pub fn to_python(table: Result<RecordBatch, ArrowError>) -> PyResult<PyRecordBatch> {
    table.map(PyRecordBatch::new).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// A column: name, type, whether it can be null, unit, meaning.
type ColumnRow = (String, &'static str, bool, &'static str, String);

/// Every table of a result: name, description of a row, and columns. A column has name, type, nullability, unit and
/// meaning.
#[pyfunction]
pub fn tables() -> Vec<(&'static str, &'static str, Vec<ColumnRow>)> {
    let column = |about: ColumnInfo| (about.name, about.kind, about.nullable, about.unit.name(), about.meaning);
    let table = |table: Table| (table.name, table.about, table.columns.into_iter().map(column).collect());
    headgate_measure::tables().map(table).into()
}

/// Every metric over time: name, subject, unit and meaning.
#[pyfunction]
pub fn metrics_over_time() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    OverTimeMetric::ALL
        .iter()
        .map(|metric| (metric.name, metric.of, metric.unit.name(), metric.meaning.trim()))
        .collect()
}
