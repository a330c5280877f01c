//! Parts that several disciplines are made of.

mod every;
mod fifo;
mod flow_table;
mod hash;
mod histogram;

pub use every::Every;
pub use fifo::Fifo;
pub use flow_table::FlowTable;
pub use hash::keyed;
pub use histogram::Histogram;
