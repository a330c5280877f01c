//! One run's outcome as Arrow tables.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use headgate_core::parts::Histogram;
use headgate_core::{Span, Time};
use headgate_measure::{FairnessRow, FlowRow, IntervalRow, LinkRow, TransferRow};
use headgate_scenario::{Hop, Scenario};
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
    rows: headgate_measure::Outcome,
}

impl Outcome {
    /// The outcome `rows` of `run`.
    pub fn new(run: Run, rows: headgate_measure::Outcome) -> Outcome {
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
        columns.u64("lost", rows.iter().map(|row| row.lost));
        columns.f64("goodput_bps", rows.iter().map(|row| row.goodput_bps));
        columns.f64("fair_share_bps", rows.iter().map(|row| row.fair_share_bps));
        columns.f64_or_null("share_of_fair", rows.iter().map(share_of_fair));
        columns.u64("retransmits", rows.iter().map(|row| row.retransmits));
        columns.u64("timeouts", rows.iter().map(|row| row.timeouts));
        columns.f64_or_null("cwnd_mean", rows.iter().map(|row| row.cwnd_mean));
        columns.f64_or_null("delay_ms_mean", rows.iter().map(|row| row.delay_ms_mean));
        columns.f64_or_null("startup_ms", rows.iter().map(|row| row.startup.map(span_ms)));
        columns.f64_or_null("identified_ms", rows.iter().map(|row| row.treated.identification.map(span_ms)));
        columns.f64_or_null("response_ms", rows.iter().map(|row| row.treated.response.map(span_ms)));
        columns.f64_or_null("released_ms", rows.iter().map(|row| row.treated.release.map(span_ms)));
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
        columns.u64("lost", rows.iter().map(|row| row.lost));
        columns.f64("utilisation", rows.iter().map(|row| row.utilisation));
        columns.f64("queue_packets_mean", rows.iter().map(|row| row.queue_packets_mean));
        columns.f64("queue_bytes_mean", rows.iter().map(|row| row.queue_bytes_mean));
        columns.f64_or_null("delay_ms_mean", rows.iter().map(|row| row.delay.mean().map(milliseconds)));
        for (name, share) in DELAYS {
            columns.f64_or_null(name, rows.iter().map(quantile(share)));
        }
        columns.f64_or_null("ambient_drop_rate", rows.iter().map(ambient_drop_rate));
        columns.u64("loss_events", rows.iter().map(|row| row.synchronisation.events));
        columns.f64_or_null("loss_sync_global", rows.iter().map(|row| row.synchronisation.global));
        columns.f64_or_null("loss_sync_pairwise", rows.iter().map(|row| row.synchronisation.pairwise));
        // Both count the run as a whole: they stand in one row, so that a sum over the table is right.
        let first = self.rows.compared().next().map(|(number, _)| number);
        let once = |count| (0..rows.len()).map(move |row| Some(count).filter(|_| Some(row) == first));
        columns.u64_or_null("packets", once(self.rows.packets));
        columns.u64_or_null("events", once(self.rows.events));
        columns.finish()
    }

    fn delay_table(&self) -> Result<RecordBatch, ArrowError> {
        let mut table = Boxes::default();
        for (number, link) in self.rows.compared() {
            for (group, delays) in link.delays.iter().enumerate() {
                // The last are the replies, which are of no group.
                let group = Some(group).filter(|group| *group < self.run.groups.len());
                table.add("queueing", (Some(number as u16), group), delays, milliseconds);
            }
        }
        for (group, way) in self.rows.one_way.iter().enumerate() {
            let delay = |nanos| span_ms(way.base) + milliseconds(nanos);
            table.add("one_way", (None, Some(group)), &way.excess, delay);
        }
        table.finish(&self.run, "delay_ms")
    }

    fn loss_table(&self) -> Result<RecordBatch, ArrowError> {
        let mut table = Boxes::default();
        for (number, link) in self.rows.compared() {
            for (group, pattern) in link.losses.iter().enumerate() {
                let place = (Some(number as u16), Some(group));
                table.add("run_packets", place, &pattern.runs, |packets| packets);
                table.add("distance_packets", place, &pattern.distances, |packets| packets);
                table.add("interval_ms", place, &pattern.intervals, milliseconds);
            }
        }
        table.finish(&self.run, "value")
    }

    fn transfer_table(&self) -> Result<RecordBatch, ArrowError> {
        let rows = &self.rows.transfers;
        let group = |row: &TransferRow| &self.run.groups[self.rows.flows[row.flow as usize].group as usize];
        let took = |row: &TransferRow| row.end.map(|end| span_ms(end - row.start));
        let mut columns = self.run.columns(rows.len());
        columns.u32("flow", rows.iter().map(|row| row.flow));
        columns.text("group", rows.iter().map(|row| &group(row).0));
        columns.text("kind", rows.iter().map(|row| group(row).1));
        columns.u64("start_ns", rows.iter().map(|row| row.start.as_nanos()));
        columns.u64("bytes", rows.iter().map(|row| row.bytes));
        columns.u64_or_null("end_ns", rows.iter().map(|row| row.end.map(Time::as_nanos)));
        columns.f64_or_null("completion_ms", rows.iter().map(took));
        columns.finish()
    }

    fn fairness_table(&self) -> Result<RecordBatch, ArrowError> {
        let rows = &self.rows.fairness;
        let quantile = |share| move |row: &FairnessRow| row.millionths.quantile(share).map(|parts| parts / 1e6);
        let mut columns = self.run.columns(rows.len());
        columns.f64("scale_s", rows.iter().map(|row| row.scale_s));
        columns.u64("slots", rows.iter().map(|row| row.millionths.count()));
        columns.f64_or_null("jain_mean", rows.iter().map(|row| row.millionths.mean().map(|parts| parts / 1e6)));
        for (name, share) in [("jain_min", 0.0), ("jain_p05", 0.05), ("jain_p50", 0.5)] {
            columns.f64_or_null(name, rows.iter().map(quantile(share)));
        }
        columns.finish()
    }
}

/// Quantiles of delay by column; the least and the greatest are the middles of the outermost boxes.
const DELAYS: [(&str, f64); 5] = [
    ("delay_ms_min", 0.0),
    ("delay_ms_p50", 0.5),
    ("delay_ms_p95", 0.95),
    ("delay_ms_p99", 0.99),
    ("delay_ms_max", 1.0),
];

/// Boxes of many histograms, a row each.
#[derive(Default)]
struct Boxes {
    measures: Vec<&'static str>,
    links: Vec<Option<u16>>,
    groups: Vec<Option<usize>>,
    values: Vec<f64>,
    counts: Vec<u64>,
}

impl Boxes {
    /// The boxes of one histogram that are not empty, their middles as `shown`.
    fn add(
        &mut self,
        measure: &'static str,
        (link, group): (Option<u16>, Option<usize>),
        histogram: &Histogram,
        shown: impl Fn(f64) -> f64,
    ) {
        for (middle, count) in histogram.iter() {
            self.measures.push(measure);
            self.links.push(link);
            self.groups.push(group);
            self.values.push(shown(middle));
            self.counts.push(count);
        }
    }

    fn finish(self, run: &Run, value: &str) -> Result<RecordBatch, ArrowError> {
        let mut columns = run.columns(self.values.len());
        columns.text("measure", self.measures.iter());
        run.link_columns(&mut columns, self.links.iter().copied());
        columns.text_or_null("group", self.groups.iter().map(|group| group.map(|index| &run.groups[index].0)));
        columns.text_or_null("kind", self.groups.iter().map(|group| group.map(|index| run.groups[index].1)));
        columns.f64(value, self.values.into_iter());
        columns.u64("count", self.counts.into_iter());
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

    /// The distributions of queueing delay where disciplines are compared, and of one-way delay: one row a histogram box
    /// that is not empty.
    fn delays(&self) -> PyResult<PyRecordBatch> {
        to_python(self.delay_table())
    }

    /// How losses follow each other where disciplines are compared: one row a histogram box that is not empty.
    fn losses(&self) -> PyResult<PyRecordBatch> {
        to_python(self.loss_table())
    }

    /// One row a transfer that began.
    fn transfers(&self) -> PyResult<PyRecordBatch> {
        to_python(self.transfer_table())
    }

    /// Jain's index over time: one row a time scale.
    fn fairness(&self) -> PyResult<PyRecordBatch> {
        to_python(self.fairness_table())
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

fn ambient_drop_rate(row: &LinkRow) -> Option<f64> {
    let (came, dropped) = row.counts.ambient();
    (came > 0).then(|| dropped as f64 / came as f64)
}

fn span_ms(span: Span) -> f64 {
    milliseconds(span.as_nanos() as f64)
}

fn milliseconds(nanos: f64) -> f64 {
    nanos / 1e6
}
