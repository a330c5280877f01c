//! What Headgate measures and reports of a run, simulated or on real packets.
//!
//! Both worlds give the same tables because one code fills them. A port's [`FlowLedger`] counts, [`Occupancy`] follows
//! the queue over time, [`Ends`] is told what reaches its receiver, an [`EventLog`] has what happened
//! to single packets, and an [`Outcome`] is what one run gives of all that. Whoever runs a scenario brings packets and
//! time: [`Counted`] says of a packet which flow's it is. [`dues`] are what flows should have got.
#![forbid(unsafe_code)]

mod balance;
mod counted;
mod distributions;
mod due;
mod events;
mod flows;
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
pub use meter::FlowLedger;
pub use metrics::{
    Ends, FairnessRow, Fate, LossPattern, Milestones, OneWay, PortMetrics, PortRow, Synchronisation, Treated, one_ways,
};
pub use occupancy::Occupancy;
pub use outcome::{LinkRow, Outcome, TransferRow, Watch, note_run};
pub use over_time::{IntervalRow, Metric, Quantity, Told, group_rows, queue_rows};
pub use path::{base_one_way, base_rtt, mean_base_rtt};
pub use reasons::{declare_reason, reasons};
pub use senders::{SenderState, TraceRow};
pub use share::{Demand, max_min};
pub use table::{Cells, Column, Names, Row, Unit};
pub use tables::{About, Table, tables};
pub use traces::Traces;
