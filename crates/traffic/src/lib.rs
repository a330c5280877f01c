//! Headgate's traffic sources: models of what applications send.
//!
//! A source has no clock and no network. It returns one [`SourceWrite`] after another: an amount of data, and a delay
//! after the previous write. A sender with a clock and a connection, simulated or real, carries the write out. TCP
//! reports when it is delivered; UDP only sends datagrams. The [`registry`] finds sources by name. A [`Traffic`] is a
//! source as users write it.
#![forbid(unsafe_code)]

extern crate alloc;

mod application;
mod arrivals;
mod capture;
mod distribution;
mod model;
mod on_off;
mod read;
pub mod registry;
pub mod sources;
mod trace;
mod traffic;
pub mod values;
mod write;

pub use application::Application;
pub use arrivals::{PoissonArrivals, most_arrivals};
pub use distribution::{Distribution, DistributionKind};
pub use model::{FileLoader, Protocol, SenderInfo, SourceModel};
pub use registry::{FlowSource, GroupSource};
pub use trace::{TraceError, TrafficTrace};
pub use traffic::Traffic;
pub use write::{SourceWrite, WriteAmount, WriteStart};
