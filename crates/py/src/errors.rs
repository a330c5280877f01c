//! Errors as Python raises them.

use headgate_scenario::ScenarioError as Refused;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    headgate._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be used: `.file`, `.line`, `.column` and `.key` say where (or are None), `.message` why."
);
create_exception!(headgate._core, Stopped, PyException, "A run that was asked to stop before its end.");

/// The exception for a scenario that was refused.
pub fn refused(py: Python<'_>, error: Refused) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let value = raised.value(py);
    let Refused { message, key, file, line, column, .. } = error;
    let parts = value
        .setattr("message", message)
        .and_then(|()| value.setattr("key", &*key))
        .and_then(|()| value.setattr("file", file))
        .and_then(|()| value.setattr("line", line))
        .and_then(|()| value.setattr("column", column));
    parts.err().unwrap_or(raised)
}
