//! Headgate's packet simulator: the same disciplines, any network of links, TCP by the RFCs.
#![forbid(unsafe_code)]

mod balance;
mod capture;
mod classified;
mod due;
mod events;
mod hosts;
mod link;
mod medium;
mod meter;
mod metrics;
mod outcome;
mod paths;
mod queue;
mod queueing;
mod run;
mod sampler;
mod segment;
mod share;
pub mod tcp;
pub mod tfrc;
mod traces;
mod traffic;
mod wakes;
mod wire;
mod world;

pub use balance::Balance;
pub use due::{Due, dues};
pub use metrics::{FairnessRow, LossPattern, OneWay, Synchronisation, Treated};
pub use outcome::{
    EventBatch, EventRow, FlowRow, Gauge, Happening, IntervalRow, LinkRow, Outcome, RunError, SenderState, TraceRow,
    TransferRow, Watch,
};
pub use run::run;
pub use segment::{Block, Blocks};
pub use share::{Demand, max_min};
