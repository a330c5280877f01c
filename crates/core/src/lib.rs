//! Headgate's queue disciplines: the code that decides which packets enter a congested link.
//!
//! A [`Discipline`] has no clock, randomness or sockets of its own. The *host* passes them in through [`Cx`]: the
//! program around the discipline, such as the simulator or the live link. The same code therefore runs in every host. A
//! [`Port`] owns a discipline, is its only caller and keeps the counts. The [`registry`] finds a discipline by name.
//!
//! ```
//! use aqm::{FlowId, LinkInfo, Packet, Port, Rate, Rng, Time, registry};
//!
//! let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
//! let queue = registry::boxed::<()>("droptail", &[("limit", "2p")], &link).unwrap();
//! let mut port = Port::new(queue, Rng::named(1, "bottleneck"));
//! for flow in 0..3 {
//!     port.enqueue(Packet::new(FlowId(flow), 1000, ()), Time::ZERO, &mut ());
//! }
//! assert_eq!(port.totals().dropped(), 1);
//! assert_eq!(port.dequeue(Time::ZERO, &mut ()).unwrap().flow, FlowId(0));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

// Its example is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod build_error;
mod counts;
mod cx;
mod discipline;
pub mod disciplines;
mod foreign;
mod framing;
mod gauge;
mod headers;
mod listing;
mod names;
mod packet;
pub mod params;
pub mod parts;
mod port;
mod qdisc;
mod reason;
pub mod registry;
mod rng;
mod scaled;
pub mod settings;
mod tables;
mod time;
mod units;
mod value;

pub use counts::{Counts, SignalCounts};
pub use cx::{Cx, Sink};
pub use discipline::{Class, Discipline, LinkInfo};
pub use framing::{CellFraming, Framing};
pub use gauge::Gauge;
pub use headers::{AckHeader, HostId, PacketHeaders};
pub use names::nearest;
pub use packet::{Backlog, ClassId, Ecn, FlowId, Packet};
pub use params::{BuildError, FixedSwitch, ParameterInfo, Params, Preset};
pub use port::{Ledger, Port, Totals};
pub use qdisc::Qdisc;
pub use reason::{ByReason, Reason, Why};
pub use rng::Rng;
pub use tables::{Tables, can_reserve};
pub use time::{Span, Time};
pub use units::{Level, Limit, Rate};
