//! Headgate's packet simulator. It runs the disciplines of `headgate-core` in any network of links, with TCP as the
//! RFCs specify it.
#![forbid(unsafe_code)]

mod capture;
mod classified;
mod event;
mod event_queue;
mod hosts;
mod link;
mod link_discipline;
mod net;
mod prefetch;
mod run;
mod sampler;
mod segment;
pub mod tcp;
pub mod tfrc;
mod traffic;
mod world;

pub use link_discipline::ExternalDisciplines;
pub use run::{RunError, run, run_with};
pub use segment::{SackBlock, SackBlocks};
pub use world::World;
