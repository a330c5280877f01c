//! One run's outcome as Arrow tables.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use headgate_scenario::{Hop, Scenario};
use headgate_sim::{FlowRow, IntervalRow, LinkRow};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use crate::columns::Columns;

/// What every row of one run's tables carries or refers to.
#[derive(Clone)]
pub struct Run {
    /// The discipline, as the scenario writes it.
    pub qdisc: String,
    /// The seed.
    pub seed: u64,
    /// Name and kind of every group, TCP before UDP.
    groups: Vec<(String, &'static str)>,
    /// Name and direction of every direction of a link, by number.
    links: Vec<(String, &'static str)>,
}

impl Run {
    /// The run of `scenario` with the discipline at `index` and `seed`.
    pub fn new(scenario: &Scenario, index: usize, seed: u64) -> Run {
        let groups = scenario.groups().map(|group| (group.name.to_string(), group.kind.name())).collect();
        let link = |hop: Hop| (scenario.links[usize::from(hop.link)].name.clone(), hop.direction.name());
        Run { qdisc: scenario.qdiscs[index].to_string(), seed, groups, links: scenario.hops().map(link).collect() }
    }

    /// A table of `rows` rows of this run.
    pub fn columns(&self, rows: usize) -> Columns {
        Columns::of_run(rows, &self.qdisc, self.seed)
    }

    /// Name and direction of each row's link, if it has one.
    pub fn link_columns(&self, columns: &mut Columns, rows: impl Iterator<Item = Option<u16>> + Clone) {
        let link = |number: Option<u16>| number.map(|number| &self.links[usize::from(number)]);
        columns.text_or_null("link", rows.clone().map(|number| link(number).map(|(name, _)| name)));
        columns.text_or_null("direction", rows.map(|number| link(number).map(|(_, direction)| direction)));
    }

    /// What the link number `link` of the scenario is called.
    pub fn link_name(&self, link: u16) -> &str {
        &self.links[usize::from(link) * 2].0
    }
}

/// Everything one run gave, as Arrow tables (each offers `__arrow_c_array__`).
#[pyclass(frozen, module = "headgate._core")]
pub struct Outcome {
    run: Run,
    rows: headgate_sim::Outcome,
}

impl Outcome {
    /// The outcome `rows` of `run`.
    pub fn new(run: Run, rows: headgate_sim::Outcome) -> Outcome {
        Outcome { run, rows }
    }

    fn flow_table(&self) -> Result<RecordBatch, ArrowError> {
        let rows = &self.rows.flows;
        let group = |index: u32| &self.run.groups[index as usize];
        let mut columns = self.run.columns(rows.len());
        columns.u32("flow", rows.iter().map(|row| row.flow));
        columns.text("group", rows.iter().map(|row| &group(row.group).0));
        columns.text("kind", rows.iter().map(|row| group(row.group).1));
        columns.counts(rows.iter().map(|row| &row.counts));
        columns.f64("goodput_bps", rows.iter().map(|row| row.goodput_bps));
        columns.f64("fair_share_bps", rows.iter().map(|row| row.fair_share_bps));
        columns.f64_or_null("share_of_fair", rows.iter().map(share_of_fair));
        columns.u64("retransmits", rows.iter().map(|row| row.retransmits));
        columns.u64("timeouts", rows.iter().map(|row| row.timeouts));
        columns.f64_or_null("cwnd_mean", rows.iter().map(|row| row.cwnd_mean));
        columns.f64_or_null("delay_ms_mean", rows.iter().map(|row| row.delay_ms_mean));
        columns.finish()
    }

    fn interval_table(&self) -> Result<RecordBatch, ArrowError> {
        let rows = &self.rows.intervals;
        let group = |row: &IntervalRow| row.group.map(|index| &self.run.groups[index as usize].0);
        let mut columns = self.run.columns(rows.len());
        columns.f64("time_s", rows.iter().map(|row| row.time_s));
        columns.text("metric", rows.iter().map(metric));
        self.run.link_columns(&mut columns, rows.iter().map(|row| row.link));
        columns.text_or_null("group", rows.iter().map(group));
        columns.f64("value", rows.iter().map(|row| row.value));
        columns.finish()
    }

    fn link_table(&self) -> Result<RecordBatch, ArrowError> {
        let rows = &self.rows.links;
        let quantile = |share| move |row: &LinkRow| row.delay.quantile(share).map(milliseconds);
        let mut columns = self.run.columns(rows.len());
        columns.text("link", rows.iter().map(|row| &row.link));
        columns.text("direction", rows.iter().map(|row| row.direction.name()));
        columns.bool("compared", rows.iter().map(|row| row.compared));
        columns.counts(rows.iter().map(|row| &row.counts));
        columns.f64("utilisation", rows.iter().map(|row| row.utilisation));
        columns.f64("queue_packets_mean", rows.iter().map(|row| row.queue_packets_mean));
        columns.f64("queue_bytes_mean", rows.iter().map(|row| row.queue_bytes_mean));
        columns.f64_or_null("delay_ms_mean", rows.iter().map(|row| row.delay.mean().map(milliseconds)));
        for (name, share) in [("delay_ms_p50", 0.5), ("delay_ms_p95", 0.95), ("delay_ms_p99", 0.99)] {
            columns.f64_or_null(name, rows.iter().map(quantile(share)));
        }
        // Both count the run as a whole: they stand in one row, so that a sum over the table is right.
        let first = self.rows.compared().next().map(|(number, _)| number);
        let once = |count| (0..rows.len()).map(move |row| Some(count).filter(|_| Some(row) == first));
        columns.u64_or_null("packets", once(self.rows.packets));
        columns.u64_or_null("events", once(self.rows.events));
        columns.finish()
    }

    fn delay_table(&self) -> Result<RecordBatch, ArrowError> {
        let of_link =
            |(number, row): (usize, &LinkRow)| row.delay.iter().map(move |of_box| (number as u16, of_box)).collect();
        let boxes: Vec<(u16, (f64, u64))> = self.rows.compared().flat_map::<Vec<_>, _>(of_link).collect();
        let mut columns = self.run.columns(boxes.len());
        self.run.link_columns(&mut columns, boxes.iter().map(|(number, _)| Some(*number)));
        columns.f64("delay_ms", boxes.iter().map(|(_, (nanos, _))| milliseconds(*nanos)));
        columns.u64("count", boxes.iter().map(|(_, (_, count))| *count));
        columns.finish()
    }
}

#[pymethods]
impl Outcome {
    /// One row a flow.
    fn flows(&self) -> PyResult<PyRecordBatch> {
        to_python(self.flow_table())
    }

    /// One row an interval, metric and group.
    fn intervals(&self) -> PyResult<PyRecordBatch> {
        to_python(self.interval_table())
    }

    /// One row a direction of a link.
    fn links(&self) -> PyResult<PyRecordBatch> {
        to_python(self.link_table())
    }

    /// The distribution of queueing delay where disciplines are compared: one row a histogram box that is not empty.
    fn delays(&self) -> PyResult<PyRecordBatch> {
        to_python(self.delay_table())
    }

    /// Packets sent where disciplines are compared in the whole run.
    #[getter]
    fn packets(&self) -> u64 {
        self.rows.packets
    }
}

/// Hands a table to Python.
///
/// # Errors
/// `RuntimeError` with what Arrow said.
pub fn to_python(table: Result<RecordBatch, ArrowError>) -> PyResult<PyRecordBatch> {
    table.map(PyRecordBatch::new).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// No share where the flow is due nothing, such as one that stopped before the warm-up ended.
fn share_of_fair(row: &FlowRow) -> Option<f64> {
    (row.fair_share_bps > 0.0).then(|| row.goodput_bps / row.fair_share_bps)
}

fn metric(row: &IntervalRow) -> String {
    if row.is_gauge { format!("gauge:{}", row.metric) } else { row.metric.to_string() }
}

fn milliseconds(nanos: f64) -> f64 {
    nanos / 1e6
}
