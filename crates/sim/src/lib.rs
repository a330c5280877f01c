//! Headgate's packet simulator. It runs the disciplines of `aqm` in any network of links, with TCP as the
//! RFCs specify it.
#![forbid(unsafe_code)]

mod capture;
mod classified;
mod event;
mod event_queue;
mod hosts;
mod inspect;
mod link;
mod link_discipline;
mod media;
mod memory;
mod net;
mod prefetch;
mod retune;
mod run;
mod run_error;
mod sampler;
mod segment;
mod send_clock;
pub mod tcp;
pub mod tfrc;
mod traffic;
mod world;

pub use link_discipline::{ExternalDisciplines, table_bytes};
pub use memory::{MemoryUse, estimate_memory};
pub use run::{run, run_with};
pub use run_error::RunError;
pub use segment::{AckOptions, SackBlock, SackBlocks};
pub use send_clock::{SendClock, Timestamp};
pub use world::World;
