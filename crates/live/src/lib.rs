//! Headgate on real packets: frames in, a discipline, a paced link, frames out.
//!
//! The code that decides is that of the simulator. Here it meets frames from a TUN device or a packet socket, the
//! machine's clock, and hosts that nobody simulates: a [`Forwarder`] moves them between two ends, each an [`Io`](io::Io),
//! over a [`Lane`] each way. Ends from a list and a clock that goes where it is told do for a test:
//!
//! ```
//! use headgate_core::{Limit, Qdisc, Rate, Span, Time};
//! use headgate_live::io::memory::FakeClock;
//! use headgate_live::{Forwarder, Layer, Pool, WireSettings};
//! use headgate_scenario::{Impairments, Pace, Simplex};
//!
//! let simplex = Simplex {
//!     rate: Rate::from_bits(8_000_000),
//!     pace: Pace::Constant,
//!     impairments: Impairments::default(),
//!     limit: Limit::Packets(50),
//!     qdisc: None,
//! };
//! let (delay, qdisc) = (Span::from_millis(5), Qdisc::named("sfb"));
//! let settings = WireSettings {
//!     simplex: &simplex,
//!     qdisc: &qdisc,
//!     delay,
//!     mean_rate: simplex.rate,
//!     mean_packet: 1000,
//!     overhead: 0,
//!     classes: &[],
//!     slots: WireSettings::slots(&simplex, delay),
//!     slot_bytes: Pool::SLOT,
//!     seed: 1,
//!     label: "forward",
//! };
//! let forth = settings.build(Layer::Ethernet, None).unwrap();
//! let back = WireSettings { label: "reverse", ..settings }.build(Layer::Ethernet, None).unwrap();
//!
//! // A frame that is no IP, of 1000 bytes: a millisecond to send, five on its way.
//! let mut clock = FakeClock::new();
//! let a = clock.end(Layer::Ethernet, [(Time::ZERO, vec![0xff; 1000])]);
//! let b = clock.end(Layer::Ethernet, []);
//! let mut forwarder = Forwarder::new(a, b, [forth, back], clock);
//! let end = Time::ZERO + Span::from_millis(20);
//! while forwarder.view().at < end {
//!     forwarder.turn(end).unwrap();
//! }
//! let (at, frame) = &forwarder.b.sent()[0];
//! assert_eq!((*at, frame.len()), (Time::ZERO + Span::from_millis(6), 1000));
//! ```
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod build;
mod capture;
pub mod check;
pub mod clock;
mod controllers;
pub mod ecn;
mod egress;
mod ends;
mod fabric;
mod forward;
mod frame;
mod gateway;
mod guard;
mod hosts;
pub mod io;
mod ledger;
mod link;
pub mod load;
pub mod log;
pub mod netns;
mod oddities;
pub mod pacing;
mod pool;
mod recent;
mod rows;
pub mod run;
mod running;
pub mod shell;
pub mod verdict;
mod view;
mod watch;
mod way;
mod wire;

pub use build::WireSettings;
pub use fabric::{Fabric, Lanes};
pub use forward::{CATCH_UP, Forwarder, Inbox, Job, SHOW_EVERY};
pub use frame::{IpAt, Layer, Parsed, Parser};
pub use gateway::{Gateway, GatewaySettings};
pub use hosts::Addresses;
pub use ledger::{FlowCounts, FlowView, WireLedger};
pub use link::{Extras, Link, LinkSettings};
pub use oddities::{Oddities, Oddity};
pub use pool::{FrameId, Pool};
pub use running::Running;
pub use view::{MOST_SHOWN, NUMBERS, Number, View, Window, WireView};
pub use way::OneWay;
pub use wire::{Estate, Lane, WireCounts};
