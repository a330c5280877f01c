//! Conversions between Rust and Python. The package `python/headgate` is the user's interface.
#![forbid(unsafe_code)]

mod columns;
mod errors;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod link_log;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod live_run;
mod outcome;
mod packet;
mod port;
mod prototype;
mod registry;
#[cfg(target_os = "linux")]
mod requests;
mod run;
mod scenario;
#[cfg(target_os = "linux")]
mod view;

/// The compiled part of the package `headgate`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::errors::{LiveError, ScenarioError, Stopped};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::gateway::{FailOpenBridge, Gateway, GatewayInterfaces, confine};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live::{Link, measure, prepare};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::live_run::{check_kernel, check_kernel_qdisc, check_live, run_live};
    #[pymodule_export]
    use crate::outcome::{Outcome, metrics_over_time, table_of_runs, tables};
    #[pymodule_export]
    use crate::port::Port;
    #[pymodule_export]
    use crate::prototype::PacketActions;
    #[pymodule_export]
    use crate::registry::{
        Controller, Discipline, Named, NamedValues, Parameter, Source, controllers, discipline, disciplines, find,
        groups, nearest, reasons, sources,
    };
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::requests::{refused, requests};
    #[pymodule_export]
    use crate::run::{Progress, run};
    #[pymodule_export]
    use crate::scenario::{Scenario, key_position, migrated};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::view::prometheus_metrics;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
