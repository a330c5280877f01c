//! Parts that several disciplines are made of.

mod average;
mod early;
mod every;
mod fifo;
mod flow_table;
mod hash;
mod histogram;
mod token_pool;

pub use average::Average;
pub use early::{Detector, Spacing, Thresholds, Zone};
pub use every::Every;
pub use fifo::Fifo;
pub use flow_table::FlowTable;
pub use hash::keyed;
pub use histogram::Histogram;
pub use token_pool::{TokenPool, Tokens};
