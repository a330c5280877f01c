//! Rust errors as Python exceptions.

#[cfg(target_os = "linux")]
use headgate_live::{LiveError as LiveFailure, SystemError};
use headgate_scenario::ScenarioError as ReadError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    headgate._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be used: `.message` says why, `.help` what would be right, `.file`, `.line`, `.column`, `.key` \
     and `.change` (such as `--set link.rate=5`) where; what does not apply is None."
);
create_exception!(
    headgate._core,
    LiveError,
    PyRuntimeError,
    "Something that real packets need and this machine does not give. `.request` names the refused request of `requests()`, \
     `.errno` the system's answer; both are None for another failure."
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

/// The exception for a failure on real packets; `context` precedes the message.
#[cfg(target_os = "linux")]
pub fn live_error(context: &str, error: LiveFailure) -> PyErr {
    let text = if context.is_empty() { error.to_string() } else { format!("{context}: {error}") };
    let (request, number) = match &error {
        LiveFailure::System(SystemError { request, source, .. }) => (Some(request.row().name), source.raw_os_error()),
        _ => (None, None),
    };
    let raised = LiveError::new_err(text);
    Python::attach(|py| {
        let value = raised.value(py);
        let set = value.setattr("request", request).and_then(|()| value.setattr("errno", number));
        set.err().unwrap_or_else(|| raised.clone_ref(py))
    })
}

/// The same, but a `ValueError` for settings that the user can correct.
#[cfg(target_os = "linux")]
pub fn settings_or_live_error(error: LiveFailure) -> PyErr {
    match error {
        LiveFailure::Refused(why) => PyValueError::new_err(why),
        error => live_error("", error),
    }
}
