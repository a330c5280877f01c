//! Building blocks of congestion controls that model the path.

mod extra_acked;
mod full_pipe;
mod max_filter;
mod rounds;
mod self_limited;
#[cfg(test)]
pub mod test_path;

pub use extra_acked::{AggregationSample, ExtraAcked};
pub use full_pipe::FullPipe;
pub use max_filter::MaxFilter;
pub use rounds::Rounds;
pub use self_limited::SelfLimitedSpan;
