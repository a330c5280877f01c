//! Rust errors as Python exceptions.

use headgate_scenario::ScenarioError as ReadError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    headgate._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be used: `.message` says why, `.help` what would be right, `.file`, `.line`, `.column`, `.key` \
     and `.change` (such as `--set link.rate=5`) where; what does not apply is None."
);
create_exception!(headgate._core, Stopped, PyException, "A run that was asked to stop before its end.");

/// The exception for an invalid scenario.
pub fn scenario_error(py: Python<'_>, error: ReadError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let value = raised.value(py);
    let ReadError { message, help, key, file, line, column, change, .. } = error;
    let parts = value
        .setattr("message", message)
        .and_then(|()| value.setattr("help", help.as_deref()))
        .and_then(|()| value.setattr("change", change.as_deref()))
        .and_then(|()| value.setattr("key", &*key))
        .and_then(|()| value.setattr("file", file))
        .and_then(|()| value.setattr("line", line))
        .and_then(|()| value.setattr("column", column));
    parts.err().unwrap_or(raised)
}
