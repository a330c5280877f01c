//! The state of a forwarder as Python dictionaries.

use headgate_core::parts::Histogram;
use headgate_core::{Counts, SignalCounts};
use headgate_live::io::KernelCounts;
use headgate_live::{FlowView, LANE_METRICS, LaneView, View};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Upper bounds of the histogram's buckets in seconds, from lateness of the thread to intolerable delays.
const BOUNDS: [f64; 14] = [3e-5, 1e-4, 3e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0];

pub fn shown<'py>(py: Python<'py>, view: &View) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("at_s", view.at.as_secs_f64())?;
    all.set_item("cpu_s", view.cpu.as_secs_f64())?;
    for ((way, lane), kernel) in ["forward", "reverse"].into_iter().zip(&view.lanes).zip(&view.kernel) {
        all.set_item(way, self::lane(py, lane, kernel)?)?;
    }
    Ok(all)
}

/// One direction, and the kernel's counts of the end that it comes from.
fn lane<'py>(py: Python<'py>, lane: &LaneView, kernel: &KernelCounts) -> PyResult<Bound<'py, PyDict>> {
    let (counts, port) = (&lane.counts, lane.totals.counts());
    let shown = PyDict::new(py);
    LANE_METRICS.iter().try_for_each(|number| shown.set_item(number.key, (number.read)(lane, kernel)))?;
    shown.set_item("stalled_ms", counts.stalled.as_secs_f64() * 1e3)?;
    shown.set_item("drops", reasons(py, port, |signals| signals.drops)?)?;
    shown.set_item("marks", reasons(py, port, |signals| signals.marks)?)?;
    let odd = || lane.anomalies.iter().map(|(anomaly, count)| (anomaly.name(), count, anomaly.forwarded()));
    let named =
        |all: &mut dyn Iterator<Item = (&'static str, u64, bool)>| all.map(|odd| (odd.0, odd.1)).collect::<Vec<_>>();
    shown.set_item("not_ip", named(&mut odd()))?;
    shown.set_item("discarded", named(&mut odd().filter(|odd| !odd.2)))?;
    let quantile = |of: &Histogram, share| of.quantile(share).map(|nanos| nanos / 1e6);
    let sojourn = lane.totals.sojourn();
    shown.set_item("queue_delay", histogram(py, sojourn)?)?;
    shown.set_item("late", histogram(py, &lane.lateness)?)?;
    shown.set_item("queue_delay_ms_mean", sojourn.mean().map(|nanos| nanos / 1e6))?;
    shown.set_item("queue_delay_ms_p99", quantile(sojourn, 0.99))?;
    shown.set_item("late_ms_p50", quantile(&lane.lateness, 0.5))?;
    shown.set_item("late_ms_p99", quantile(&lane.lateness, 0.99))?;
    shown.set_item("gauges", lane.gauges.clone())?;
    shown.set_item("flows", lane.top.iter().map(|flow| self::flow(py, flow)).collect::<PyResult<Vec<_>>>()?)?;
    Ok(shown)
}

/// One flow, and the verdict on it.
fn flow<'py>(py: Python<'py>, flow: &FlowView) -> PyResult<Bound<'py, PyDict>> {
    let (shown, judged) = (PyDict::new(py), &flow.verdict);
    shown.set_item("flow", format!("{:016x}", flow.flow.0))?;
    shown.set_item("protocol", flow.header.map(|header| header.protocol))?;
    shown.set_item("source", flow.header.map(|header| header.source.to_string()))?;
    shown.set_item("destination", flow.header.map(|header| header.destination.to_string()))?;
    shown.set_item("source_port", flow.header.map(|header| header.source_port))?;
    shown.set_item("destination_port", flow.header.map(|header| header.destination_port))?;
    let counts = [
        ("arrived", flow.counts.arrived),
        ("sent", flow.counts.sent),
        ("sent_bytes", flow.counts.sent_bytes),
        ("dropped", flow.counts.dropped),
        ("marked", flow.counts.marked),
    ];
    counts.into_iter().try_for_each(|(name, number)| shown.set_item(name, number))?;
    shown.set_item("arriving_bps", judged.arrival_rate)?;
    shown.set_item("sent_bps", judged.sent_rate)?;
    shown.set_item("fair_bps", judged.fair_rate)?;
    shown.set_item("tcp_bps", judged.tcp_rate)?;
    shown.set_item("less", judged.reaction.map(|reaction| reaction.reduction))?;
    shown.set_item("verdict", judged.responsiveness.name())?;
    shown.set_item("basis", judged.to_string())?;
    Ok(shown)
}

/// A histogram of times for Prometheus: count, sum and cumulative counts by bound, to the histogram's precision.
fn histogram<'py>(py: Python<'py>, of: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let shown = PyDict::new(py);
    let below =
        |bound: f64| of.iter().take_while(|(nanos, _)| *nanos <= bound * 1e9).map(|(_, count)| count).sum::<u64>();
    shown.set_item("count", of.count())?;
    shown.set_item("sum_s", of.mean().unwrap_or(0.0) * 1e-9 * of.count() as f64)?;
    shown.set_item("below", BOUNDS.map(|bound| (bound, below(bound))).to_vec())?;
    Ok(shown)
}

/// The reasons that occurred, with their counts.
fn reasons<'py>(py: Python<'py>, counts: &Counts, count: fn(&SignalCounts) -> u64) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (why, signals) in counts.signals.iter().filter(|(_, signals)| count(signals) > 0) {
        found.set_item(why.name(), count(signals))?;
    }
    Ok(found)
}

/// The metrics of a direction that are exported to Prometheus: key, name and meaning.
#[pyfunction]
pub fn numbers() -> Vec<(&'static str, &'static str, &'static str)> {
    let told = LANE_METRICS.iter().filter(|number| !number.prometheus.is_empty());
    told.map(|number| (number.key, number.prometheus, number.meaning)).collect()
}
