//! What a link wrote down, as Python sees it.

use headgate_live::log::Written;
use headgate_measure::IntervalRow;
use headgate_scenario::Direction;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use crate::columns::Columns;
use crate::outcome::to_python;

/// Rows over time, as a table each for the direction up and the one down, whose disciplines are `qdiscs`. The columns are
/// those of a result's `intervals`, of one link without groups.
pub fn intervals(rows: &[IntervalRow], qdiscs: &[String; 2], seed: u64) -> PyResult<[PyRecordBatch; 2]> {
    let [up, down] = [Direction::Forward, Direction::Reverse].map(|direction| {
        let rows: Vec<&IntervalRow> = rows.iter().filter(|row| row.link == Some(direction as u16)).collect();
        let metric = |row: &&IntervalRow| match row.is_gauge {
            true => format!("gauge:{}", row.metric),
            false => row.metric.to_string(),
        };
        let mut columns = Columns::of_run(rows.len(), &qdiscs[direction as usize], seed);
        columns.f64("time_s", rows.iter().map(|row| row.time_s));
        columns.text("metric", rows.iter().map(metric));
        columns.text_or_null("link", rows.iter().map(|_| Some("link")));
        columns.text_or_null("direction", rows.iter().map(|_| Some(direction.name())));
        columns.text_or_null("group", rows.iter().map(|_| None::<&str>));
        columns.f64("value", rows.iter().map(|row| row.value));
        to_python(columns.finish())
    });
    Ok([up?, down?])
}

/// How much was written, and what was not and why.
pub fn written<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("packets", written.packets)?;
    found.set_item("missed", written.missed)?;
    found.set_item("rows_missed", written.rows_missed)?;
    found.set_item("failed", &written.failed)?;
    Ok(found)
}
