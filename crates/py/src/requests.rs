//! The requests that real packets make to the system, for Python: its own requests have rows in the same table.

use std::io;

use headgate_live::{Cause, Request};
use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;

use crate::errors::live_error;

/// Name, act and purpose of a request, and its remedies by cause.
type RequestTexts = (&'static str, &'static str, &'static str, Vec<(&'static str, &'static str)>);

/// The texts of every request.
#[pyfunction]
pub fn requests() -> Vec<RequestTexts> {
    let remedies = |request: Request| Cause::ALL.map(|cause| (cause.name(), request.remedy(cause))).to_vec();
    let row = |request: &Request| (request.row().name, request.row().act, request.row().purpose, remedies(*request));
    Request::ALL.iter().map(row).collect()
}

/// The `LiveError` of the request `name` about `object`, to which the system answered error number `errno`.
#[pyfunction]
#[pyo3(signature = (name, errno, object=""))]
pub fn refused(name: &str, errno: i32, object: &str) -> PyResult<PyErr> {
    let request = Request::ALL.iter().find(|request| request.row().name == name);
    let request = request.ok_or_else(|| PyLookupError::new_err(format!("no request {name:?}")))?;
    Ok(live_error("", request.refused_about(object, io::Error::from_raw_os_error(errno))))
}
