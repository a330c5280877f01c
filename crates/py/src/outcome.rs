//! The outcome of a run as Arrow tables.

use std::borrow::Cow;

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
        columns.of(&self.names, rows.iter().map(|row| (&self.names, row)));
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

/// A run of a table of several runs: the text in its column `point`, and the outcome.
type PointRow = (String, Py<Outcome>);

/// The table called `name` of several runs in their order, and the number of rows of each.
///
/// The first column, `point`, has the run's text. There is a column for every reason of the registry, so that tables of
/// different disciplines have the same columns. Releases the interpreter.
#[pyfunction]
pub fn table_of_runs(py: Python<'_>, name: &str, runs: Vec<PointRow>) -> PyResult<(PyRecordBatch, Vec<usize>)> {
    let runs: Vec<(&str, &Outcome)> = runs.iter().map(|(point, outcome)| (&**point, outcome.get())).collect();
    let (table, counts) = py.detach(|| match name {
        "flows" => joined(&runs, |rows| Cow::Borrowed(&rows.flows)),
        "intervals" => joined(&runs, |rows| Cow::Borrowed(&rows.intervals)),
        "links" => joined(&runs, |rows| Cow::Borrowed(&rows.links)),
        "delays" => joined(&runs, |rows| Cow::Owned(rows.delays())),
        "losses" => joined(&runs, |rows| Cow::Owned(rows.losses())),
        "transfers" => joined(&runs, |rows| Cow::Borrowed(&rows.transfers)),
        "fairness" => joined(&runs, |rows| Cow::Borrowed(&rows.fairness)),
        _ => (Err(ArrowError::InvalidArgumentError(format!("there is no table {name}"))), Vec::new()),
    });
    Ok((to_python(table)?, counts))
}

/// The rows of each run that `rows` returns, as one table, and their number by run.
fn joined<'a, R: Row + Clone>(
    runs: &[(&'a str, &'a Outcome)],
    rows: impl Fn(&'a headgate_measure::Outcome) -> Cow<'a, Vec<R>>,
) -> (Result<RecordBatch, ArrowError>, Vec<usize>) {
    let rows_by_run: Vec<_> = runs.iter().map(|(_, outcome)| rows(&outcome.rows)).collect();
    let counts: Vec<usize> = rows_by_run.iter().map(|rows| rows.len()).collect();
    let cells = || runs.iter().zip(&rows_by_run).flat_map(|(run, rows)| rows.iter().map(move |row| (run, row)));
    let mut columns = Columns::new(counts.iter().sum());
    columns.plain_text("point", cells().map(|((point, _), _)| *point));
    columns.text("qdisc", cells().map(|((_, outcome), _)| &outcome.run.qdisc));
    columns.u64("seed", cells().map(|((_, outcome), _)| outcome.run.seed));
    let every_reason = Names::of_links(Vec::new()).with_every_reason();
    columns.of(&every_reason, cells().map(|((_, outcome), row)| (&outcome.run.names, row)));
    (columns.finish(), counts)
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
