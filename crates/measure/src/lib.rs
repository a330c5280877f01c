//! Measurements and result tables of a run, simulated or on real packets.
//!
//! The simulator and the live forwarder fill the same tables with the same code. A port's [`LinkLedger`] counts
//! packets, [`Occupancy`] integrates the queue over time, [`ReceiverMetrics`] records deliveries, and an [`EventLog`]
//! records single packets. An [`Outcome`] holds the results of one run; [`fair_shares`] gives the fair shares. The
//! simulator and the live forwarder implement [`HasFlow`], which maps packets to flows.
#![forbid(unsafe_code)]

mod active_shares;
mod balance;
mod capacity_use;
mod cohorts;
mod core_columns;
mod crossing;
mod distributions;
mod events;
mod fair_share;
mod flows;
mod group_demands;
mod has_flow;
mod limits;
mod link_ledger;
mod links;
mod max_min;
mod metrics;
mod occupancy;
mod outcome;
mod over_time;
mod packet_numbers;
mod path;
pub mod pcapng;
mod reasons;
mod sender_state;
mod shared_links;
mod table;
mod tables;
mod traces;
mod unit_shares;

pub use active_shares::{Activity, active_fair_shares};
pub use balance::Balance;
pub use capacity_use::CapacityUse;
pub use distributions::{DelayRow, LossRow};
pub use events::{EventBatch, EventLog, EventRow, GaugeColumn, PacketEvent};
pub use fair_share::{FairShare, fair_shares};
pub use flows::{FlowRow, TransportCounts, flow_rows};
pub use has_flow::HasFlow;
pub use limits::{HeldTimes, LimitTimes};
pub use link_ledger::LinkLedger;
pub use links::{LinkRow, record_run_totals};
pub use max_min::{FlowDemand, max_min};
pub use metrics::{
    CallMeters, CallQuality, FairnessRow, LossPattern, LossSynchronization, Milestones, OneWayDelays, PortMetrics,
    PortRow, ReceiverMetrics, ReorderingMeter, ResponseTimes, SendingOrder, one_way_delays,
};
pub use occupancy::Occupancy;
pub use outcome::{Outcome, RunObserver, TransferRow};
pub use over_time::{IntervalQuantity, IntervalRow, OverTimeMetric, SampledCounters, group_rows, queue_rows};
pub use path::{base_one_way, base_rtt, mean_base_rtt};
pub use reasons::{declare_reason, reasons};
pub use sender_state::{SenderState, TraceRow};
pub use table::{Cells, Column, ColumnInfo, Names, Row, Unit};
pub use tables::{Table, tables};
pub use traces::Traces;
