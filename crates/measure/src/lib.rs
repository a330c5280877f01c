//! Measurements and result tables of a run, simulated or on real packets.
//!
//! The simulator and the live forwarder fill the same tables with the same code. A port's [`LinkLedger`] counts
//! packets, [`Occupancy`] integrates the queue over time, [`Ends`] records deliveries, and an [`EventLog`] records
//! single packets. An [`Outcome`] holds the results of one run; [`fair_shares`] gives the fair shares. The host of a
//! run implements [`Counted`] to map packets to flows.
#![forbid(unsafe_code)]

mod balance;
mod counted;
mod distributions;
mod events;
mod fair_share;
mod flows;
mod links;
mod max_min;
mod meter;
mod metrics;
mod occupancy;
mod outcome;
mod over_time;
mod path;
pub mod pcapng;
mod reasons;
mod senders;
mod shown;
mod table;
mod tables;
mod traces;

pub use balance::Balance;
pub use counted::Counted;
pub use distributions::{DelayRow, LossRow};
pub use events::{EventBatch, EventLog, EventRow, GaugeColumn, PacketEvent};
pub use fair_share::{FairShare, fair_shares};
pub use flows::{FlowRow, TransportCounts, flow_rows};
pub use links::{LinkRow, note_run};
pub use max_min::{FlowDemand, max_min};
pub use meter::LinkLedger;
pub use metrics::{
    Ends, FairnessRow, LossPattern, LossSynchronization, Milestones, OneWay, PortMetrics, PortRow, ResponseTimes,
    one_ways,
};
pub use occupancy::Occupancy;
pub use outcome::{Outcome, TransferRow, Watch};
pub use over_time::{IntervalQuantity, IntervalRow, OverTimeMetric, SampledCounters, group_rows, queue_rows};
pub use path::{base_one_way, base_rtt, mean_base_rtt};
pub use reasons::{declare_reason, reasons};
pub use senders::{SenderState, TraceRow};
pub use table::{Cells, Column, ColumnInfo, Names, Row, Unit};
pub use tables::{Table, tables};
pub use traces::Traces;
