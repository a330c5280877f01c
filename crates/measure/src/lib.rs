//! Measurements and result tables of a run, simulated or on real packets.
//!
//! The simulator and the live forwarder fill the same tables with the same code. A port's [`LinkLedger`] counts
//! packets, [`Occupancy`] integrates the queue over time, [`Ends`] records deliveries, and an [`EventLog`] records
//! single packets. An [`Outcome`] holds the results of one run; [`dues`] gives the fair shares. The host of a run
//! implements [`Counted`] to map packets to flows.
#![forbid(unsafe_code)]

mod balance;
mod counted;
mod distributions;
mod due;
mod events;
mod flows;
mod links;
mod meter;
mod metrics;
mod occupancy;
mod outcome;
mod over_time;
mod path;
pub mod pcapng;
mod reasons;
mod senders;
mod share;
mod shown;
mod table;
mod tables;
mod traces;

pub use balance::Balance;
pub use counted::Counted;
pub use distributions::{DelayRow, LossRow};
pub use due::{Due, dues};
pub use events::{EventBatch, EventLog, EventRow, Gauge, Happening};
pub use flows::{FlowRow, Transported, flow_rows};
pub use links::{LinkRow, note_run};
pub use meter::LinkLedger;
pub use metrics::{
    Ends, FairnessRow, LossPattern, LossSynchronization, Milestones, OneWay, PortMetrics, PortRow, Treated, one_ways,
};
pub use occupancy::Occupancy;
pub use outcome::{Outcome, TransferRow, Watch};
pub use over_time::{IntervalRow, Metric, Quantity, Told, group_rows, queue_rows};
pub use path::{base_one_way, base_rtt, mean_base_rtt};
pub use reasons::{declare_reason, reasons};
pub use senders::{SenderState, TraceRow};
pub use share::{Demand, max_min};
pub use table::{About, Cells, Column, Names, Row, Unit};
pub use tables::{Table, tables};
pub use traces::Traces;
