//! Parts that several disciplines are made of.

mod average;
mod bins;
mod early;
mod every;
mod fair_share;
mod fifo;
mod flow_count;
mod flow_slab;
mod flow_table;
mod hash;
mod histogram;
mod longest;
mod penalty_box;
mod red_queue;
mod sampled_fifo;
mod sub_queues;
mod token_bucket;
mod token_pool;

pub use average::Average;
pub use bins::{BinState, Bins, Found, MOST_LEVELS, Places, Steps, misclassification, unresponsive};
pub use early::{Detector, Spacing, Thresholds, Zone};
pub use every::Every;
pub use fair_share::{FairShare, Limiter};
pub use fifo::Fifo;
pub use flow_count::FlowCount;
pub use flow_slab::FlowSlab;
pub use flow_table::FlowTable;
pub use hash::keyed;
pub use histogram::Histogram;
pub use penalty_box::PenaltyBox;
pub use red_queue::{RedQueue, RedSettings, Weight, weight_of_burst};
pub use sampled_fifo::SampledFifo;
pub use sub_queues::{End, SubQueues};
pub use token_bucket::TokenBucket;
pub use token_pool::{TokenPool, Tokens};
