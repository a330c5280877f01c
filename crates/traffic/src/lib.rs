//! Headgate's traffic sources: models of what applications send.
//!
//! A source has no clock and no network. Its next [`SourceWrite`] gives an amount of data and a delay after the last write. A
//! sender with a clock and a connection, simulated or real, carries it out: TCP, which reports acknowledgements, or
//! UDP, which sends datagrams. The [`registry`] finds sources by name; a [`Traffic`] is a source as users write it.
//!
//! ```
//! use std::sync::Arc;
//! use headgate_core::Rng;
//! use headgate_traffic::{After, Data, Sender, Traffic};
//!
//! let traffic: Traffic = "ftp:size=pareto(100KB,1.5),count=2,wait=exp(1s)".parse().unwrap();
//! let no_files = &mut |name: &str| Err(format!("there is no {name}"));
//! let plan = traffic.plan(&Sender::tcp(1500, 1460), no_files).unwrap();
//! let (mut flow, mut rng) = (plan.start(0), Rng::named(1, "web/0"));
//! let first = flow.next(&mut rng).unwrap();
//! assert!(matches!((first.after, first.data), (After::Start(_), Data::Bytes(_))));
//! // The second file is requested after the first is delivered, and a pause.
//! assert!(matches!(flow.next(&mut rng).unwrap().after, After::Done(_)));
//! assert_eq!(flow.next(&mut rng), None);
//! ```
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
