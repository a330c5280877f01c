//! Building blocks of congestion controls that model the path.

mod bubble;
mod extra_acked;
mod full_pipe;
mod max_filter;
mod rounds;
#[cfg(test)]
pub mod toy;

pub use bubble::Bubble;
pub use extra_acked::{AggregationSample, ExtraAcked};
pub use full_pipe::FullPipe;
pub use max_filter::MaxFilter;
pub use rounds::Rounds;
