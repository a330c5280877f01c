//! What RFC 7928, section 2, and RFC 5166 ask of an evaluation, measured while a run goes: one file a metric.
//!
//! Everything is added up as it happens; nothing is kept for single packets. What is kept for a flow is bounded, and
//! what only a loss changes lies apart from what every packet changes.

mod ends;
mod fairness;
mod loss;
mod milestones;
mod port;
mod spells;
mod synchrony;

pub use ends::{Ends, OneWay, one_ways};
pub use fairness::FairnessRow;
pub use loss::{Loss, LossPattern};
pub use milestones::Milestones;
pub use port::{PortMetrics, PortRow};
pub use spells::Treated;
pub use synchrony::Synchronisation;
