//! The log of a link, for Python.

use headgate_live::log::LogCounts;
use headgate_measure::{IntervalRow, Names};
use headgate_scenario::Direction;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use crate::columns::Columns;
use crate::outcome::to_python;

/// Rows over time as two tables, forward and reverse, of the disciplines `qdiscs`. The columns are those of `intervals`
/// in a result, for one link without groups.
pub fn intervals(rows: &[IntervalRow], qdiscs: &[String; 2], seed: u64) -> PyResult<[PyRecordBatch; 2]> {
    let links = Direction::BOTH.map(|direction| ("link".to_string(), direction.name()));
    let names = Names::of_links(links.to_vec());
    let [forward, reverse] = Direction::BOTH.map(|direction| {
        let direction_rows = rows.iter().filter(|row| row.link == Some(direction as u16));
        let mut columns = Columns::of_run(direction_rows.clone().count(), &qdiscs[direction as usize], seed);
        columns.of(&names, direction_rows.map(|row| (&names, row)));
        to_python(columns.finish())
    });
    Ok([forward?, reverse?])
}

/// The number of packets and rows written and missed, and the error that ended the log.
pub fn log_counts<'py>(py: Python<'py>, counts: &LogCounts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("packets", counts.packets)?;
    dict.set_item("missed", counts.missed)?;
    dict.set_item("rows_missed", counts.rows_missed)?;
    dict.set_item("failed", &counts.failed)?;
    Ok(dict)
}
