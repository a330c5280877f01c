//! Metrics of RFC 7928, section 2, and RFC 5166, updated while a run goes: one file a metric.
//!
//! No state is kept for single packets, and state per flow is bounded. State that only losses change is stored apart
//! from state that every packet changes.

mod arrivals;
mod calls;
mod fairness;
mod group_slots;
mod loss;
mod milestones;
mod one_way;
mod port;
mod receivers;
mod reordering;
mod response;
mod shares;
mod synchronization;
mod unit_slots;

pub use calls::{CallMeters, CallQuality};
pub use fairness::FairnessRow;
pub use loss::{Loss, LossPattern};
pub use milestones::Milestones;
pub use one_way::{OneWayDelays, one_way_delays};
pub use port::{PortMetrics, PortRow};
pub use receivers::ReceiverMetrics;
pub use reordering::{ReorderingMeter, SendingOrder};
pub use response::ResponseTimes;
pub use synchronization::LossSynchronization;
