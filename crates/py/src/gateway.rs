//! The Python class of a gateway between two interfaces. Its forwarding thread never waits for the interpreter.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headgate_live::io::SendMethod;
use headgate_live::{
    Confinement, FailOpenBridge as Bridge, Gateway as Running, GatewayInterfaces as Claimed, GatewaySettings,
    LaneSettings, Role,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{live_error, settings_or_live_error};
use crate::scenario::Scenario;
use crate::view::view_dict;

/// Files that may be read, with all that their folders contain, and folders in which files may be removed.
type KeptPaths = (Vec<PathBuf>, Vec<PathBuf>);

fn confinement(role: Role, (readable, removable): KeptPaths) -> Confinement {
    Confinement { role, readable, removable }
}

/// Confines the calling thread, and the threads that it starts, to the rights of the process beside a gateway that joins
/// its interfaces at its end, or with `kept` to those of a gateway. Nothing gives the rights back. Returns a note for each
/// part that the system refused.
#[pyfunction]
#[pyo3(signature = (kept=None))]
pub fn confine(kept: Option<KeptPaths>) -> Vec<String> {
    let role = if kept.is_some() { Role::Gateway } else { Role::Keeper };
    confinement(role, kept.unwrap_or_default()).enter()
}

/// Two interfaces, known by their indexes, that no other gateway can claim while this object exists.
#[pyclass(frozen, module = "headgate._core")]
pub struct GatewayInterfaces(Claimed);

#[pymethods]
impl GatewayInterfaces {
    /// Claims the interfaces that are called `near` and `far` now. Raises `ValueError` if there is no such interface.
    #[new]
    fn new(py: Python<'_>, near: String, far: String) -> PyResult<GatewayInterfaces> {
        py.detach(|| Claimed::claim(&[near, far])).map(GatewayInterfaces).map_err(settings_or_live_error)
    }

    /// Indexes of both interfaces.
    #[getter]
    fn indexes(&self) -> (i32, i32) {
        self.0.indexes().into()
    }

    /// Removes the bridge of an earlier gateway that joins the interfaces. Returns whether there was one.
    fn part(&self) -> PyResult<bool> {
        self.0.part().map_err(settings_or_live_error)
    }

    /// Makes the bridge that joins the interfaces later.
    fn bridge(&self) -> PyResult<FailOpenBridge> {
        self.0.bridge().map(FailOpenBridge).map_err(settings_or_live_error)
    }
}

/// A bridge that joins the interfaces of a gateway that has ended.
#[pyclass(frozen, module = "headgate._core")]
pub struct FailOpenBridge(Bridge);

#[pymethods]
impl FailOpenBridge {
    /// Its name at this moment.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// Names of both interfaces at this moment, or their last names.
    #[getter]
    fn interfaces(&self) -> (String, String) {
        self.0.interface_names().into()
    }

    /// Numbers of the open files that it needs. A child process that joins the interfaces must keep them.
    #[getter]
    fn descriptors(&self) -> Vec<i32> {
        self.0.descriptors().into()
    }

    /// Joins both interfaces, or neither; then the bridge is removed.
    fn join(&self) -> PyResult<()> {
        self.0.join().map_err(|error| live_error("", error))
    }

    /// Removes the bridge.
    fn remove(&self) {
        self.0.remove();
    }
}

/// A gateway that runs until `stop`.
#[pyclass(frozen, module = "headgate._core")]
pub struct Gateway(Mutex<Running>);

impl Gateway {
    fn inner(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Gateway {
    /// Forwards between two claimed interfaces: forward from the first to the second, and reverse. Each direction takes the
    /// first link of its scenario, forward, with the first discipline. `send` selects the transmit path: `packet`, `xdp` or `auto`. `cpus` are processors that the forwarding
    /// threads keep to: none, one, or one for each direction. With `busy_poll` they never sleep. With `kept`, files to
    /// read and folders in which files may be removed, the gateway's threads and the calling thread give up all other
    /// rights for good.
    /// Raises `ValueError` for an unusable interface or discipline.
    #[new]
    #[pyo3(signature = (
        interfaces, forward, reverse, *, offloads_off=false, send="auto", seed=1, cpus=vec![],
        busy_poll=false, kept=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        interfaces: &GatewayInterfaces,
        forward: &Scenario,
        reverse: &Scenario,
        offloads_off: bool,
        send: &str,
        seed: u64,
        cpus: Vec<usize>,
        busy_poll: bool,
        kept: Option<KeptPaths>,
    ) -> PyResult<Gateway> {
        let (lanes, sending) = (lanes(forward, reverse), send_method(send)?);
        let confinement = kept.map(|kept| confinement(Role::Gateway, kept));
        let settings = GatewaySettings {
            interfaces: &interfaces.0,
            lanes,
            offloads_off,
            sending,
            seed,
            cpus,
            busy_poll,
            confinement,
        };
        let opened = py.detach(|| Running::open(settings)).map_err(settings_or_live_error)?;
        Ok(Gateway(Mutex::new(opened)))
    }

    /// Remarks on both interfaces: settings that cost speed or accuracy.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner().notes().to_vec()
    }

    /// Changes of the interfaces since the last call, a line each, with `note: ` or `warning: ` before it.
    fn changes(&self) -> Vec<String> {
        self.inner().changes()
    }

    /// Whether all forwarding threads still run.
    #[getter]
    fn is_running(&self) -> bool {
        self.inner().is_running()
    }

    /// Whether all forwarding threads have real-time priority.
    #[getter]
    fn realtime(&self) -> bool {
        self.inner().is_realtime()
    }

    /// Replaces the settings of both directions. Packets in the queues and in flight stay.
    fn refit(&self, py: Python<'_>, forward: &Scenario, reverse: &Scenario) -> PyResult<()> {
        let lanes = lanes(forward, reverse);
        py.detach(|| self.inner().refit(lanes)).map_err(settings_or_live_error)
    }

    /// The latest published state of both directions.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let view = py.detach(|| self.inner().view());
        view_dict(py, &view)
    }

    /// Stops forwarding and returns the final state.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let view = py.detach(|| self.inner().stop()).map_err(settings_or_live_error)?;
        view_dict(py, &view)
    }
}

fn lanes(forward: &Scenario, reverse: &Scenario) -> [LaneSettings; 2] {
    [LaneSettings::of_bottleneck(&forward.0), LaneSettings::of_bottleneck(&reverse.0)]
}

fn send_method(name: &str) -> PyResult<SendMethod> {
    match name {
        "auto" => Ok(SendMethod::Auto),
        "packet" => Ok(SendMethod::Packet),
        "xdp" => Ok(SendMethod::Xdp),
        _ => Err(PyValueError::new_err(format!("`send`: expected auto, packet or xdp, found {name:?}"))),
    }
}
