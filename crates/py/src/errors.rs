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
