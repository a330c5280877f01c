//! The state of a forwarder as Python dictionaries.

use aqm::parts::Histogram;
use aqm::{Counts, SignalCounts};
use headgate_live::io::KernelCounts;
use headgate_live::{FlowView, LANE_METRICS, LaneView, View};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Upper bounds of the histogram's buckets in seconds, from lateness of the thread to intolerable delays.
const BOUNDS: [f64; 14] = [3e-5, 1e-4, 3e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0];

pub fn view_dict<'py>(py: Python<'py>, view: &View) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("at_s", view.at.as_secs_f64())?;
    all.set_item("cpu_s", view.cpu.as_secs_f64())?;
    for ((direction, lane), kernel) in ["forward", "reverse"].into_iter().zip(&view.lanes).zip(&view.kernel) {
        all.set_item(direction, self::lane(py, lane, kernel)?)?;
    }
    Ok(all)
}

/// One direction as a dictionary, with the kernel's counts of the end that sends into it.
fn lane<'py>(py: Python<'py>, lane: &LaneView, kernel: &KernelCounts) -> PyResult<Bound<'py, PyDict>> {
    let (counts, port) = (&lane.counts, lane.totals.counts());
    let dict = PyDict::new(py);
    LANE_METRICS.iter().try_for_each(|number| dict.set_item(number.key, (number.read)(lane, kernel)))?;
    dict.set_item("stalled_ms", counts.stalled.as_secs_f64() * 1e3)?;
    dict.set_item("drops", reasons(py, port, |signals| signals.drops)?)?;
    dict.set_item("marks", reasons(py, port, |signals| signals.marks)?)?;
    let anomalies = || lane.anomalies.iter().map(|(anomaly, count)| (anomaly.name(), count, anomaly.forwarded()));
    let named = |all: &mut dyn Iterator<Item = (&'static str, u64, bool)>| {
        all.map(|anomaly| (anomaly.0, anomaly.1)).collect::<Vec<_>>()
    };
    dict.set_item("not_ip", named(&mut anomalies()))?;
    dict.set_item("discarded", named(&mut anomalies().filter(|anomaly| !anomaly.2)))?;
    let quantile = |of: &Histogram, share| of.quantile(share).map(|nanos| nanos / 1e6);
    let sojourn = lane.totals.queue_delay();
    dict.set_item("queue_delay", histogram(py, sojourn)?)?;
    dict.set_item("late", histogram(py, &lane.lateness)?)?;
    dict.set_item("queue_delay_ms_mean", sojourn.mean().map(|nanos| nanos / 1e6))?;
    dict.set_item("queue_delay_ms_p99", quantile(sojourn, 0.99))?;
    dict.set_item("late_ms_p50", quantile(&lane.lateness, 0.5))?;
    dict.set_item("late_ms_p99", quantile(&lane.lateness, 0.99))?;
    dict.set_item("gauges", lane.gauges.clone())?;
    dict.set_item("flows", lane.top.iter().map(|flow| self::flow(py, flow)).collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

/// One flow, and the verdict on it.
fn flow<'py>(py: Python<'py>, flow: &FlowView) -> PyResult<Bound<'py, PyDict>> {
    let (dict, judged) = (PyDict::new(py), &flow.verdict);
    dict.set_item("flow", format!("{:016x}", flow.flow.0))?;
    dict.set_item("protocol", flow.header.map(|header| header.protocol))?;
    dict.set_item("source", flow.header.map(|header| header.source.to_string()))?;
    dict.set_item("destination", flow.header.map(|header| header.destination.to_string()))?;
    dict.set_item("source_port", flow.header.map(|header| header.source_port))?;
    dict.set_item("destination_port", flow.header.map(|header| header.destination_port))?;
    let counts = [
        ("arrived", flow.counts.arrived),
        ("sent", flow.counts.sent),
        ("sent_bytes", flow.counts.sent_bytes),
        ("dropped", flow.counts.dropped),
        ("marked", flow.counts.marked),
    ];
    counts.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
    dict.set_item("arriving_bps", judged.arrival_rate)?;
    dict.set_item("sent_bps", judged.sent_rate)?;
    dict.set_item("fair_bps", judged.fair_rate)?;
    dict.set_item("tcp_bps", judged.tcp_rate)?;
    dict.set_item("less", judged.reaction.map(|reaction| reaction.reduction))?;
    dict.set_item("verdict", judged.responsiveness.name())?;
    dict.set_item("basis", judged.to_string())?;
    Ok(dict)
}

/// A histogram of times for Prometheus: count, sum and cumulative counts by bound, to the histogram's precision.
fn histogram<'py>(py: Python<'py>, of: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let below =
        |bound: f64| of.iter().take_while(|(nanos, _)| *nanos <= bound * 1e9).map(|(_, count)| count).sum::<u64>();
    dict.set_item("count", of.count())?;
    dict.set_item("sum_s", of.mean().unwrap_or(0.0) * 1e-9 * of.count() as f64)?;
    dict.set_item("below", BOUNDS.map(|bound| (bound, below(bound))).to_vec())?;
    Ok(dict)
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
pub fn prometheus_metrics() -> Vec<(&'static str, &'static str, &'static str)> {
    let exported = LANE_METRICS.iter().filter(|number| !number.prometheus.is_empty());
    exported.map(|number| (number.key, number.prometheus, number.meaning)).collect()
}
