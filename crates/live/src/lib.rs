//! Headgate on real packets: frames in, a discipline, a paced link, frames out.
//!
//! The disciplines are the simulator's code. A [`Forwarder`] moves frames of TUN devices or packet sockets between two
//! ends, each a [`LinkEnd`](io::LinkEnd), over a [`Lane`] in each direction, by the machine's clock. Tests replace the
//! ends with lists of frames, and the clock with a clock that they advance (`tests/support/memory.rs`):
//!
//! ```
//! use aqm::{Span, Time};
//! use headgate_live::{Forwarder, LaneSettings, Layer};
//! use headgate_scenario::{Changes, Scenario};
//! # mod memory {
//! #     include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/memory.rs"));
//! # }
//! # use memory::FakeClock;
//!
//! let text = "name = 'a-link'\nduration = '1s'\nqdiscs = ['sfb']\n\
//!             link = { rate = '8Mbit/s', delay = '5ms', limit = '50p' }\n[[tcp]]\n";
//! let scenario = Scenario::read(text, "a.toml", &Changes::default()).unwrap();
//! let settings = LaneSettings::of_bottleneck(&scenario);
//! let lanes = ["forward", "reverse"].map(|label| settings.build(Layer::Ethernet, 1, label).unwrap());
//!
//! // A frame of 1000 bytes that is not IP takes 1 ms to send and 5 ms to propagate.
//! let mut clock = FakeClock::new();
//! let a = clock.end(Layer::Ethernet, [(Time::ZERO, vec![0xff; 1000])]);
//! let b = clock.end(Layer::Ethernet, []);
//! let mut forwarder = Forwarder::new(a, b, lanes.map(Some), clock);
//! let end = Time::ZERO + Span::from_millis(20);
//! while forwarder.view().at < end {
//!     forwarder.turn(end).unwrap();
//! }
//! let (at, frame) = &forwarder.b.sent()[0];
//! assert_eq!((*at, frame.len()), (Time::ZERO + Span::from_millis(6), 1000));
//! ```
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod confinement;
mod counts;
mod error;
mod forward;
mod gateway;
mod hosts;
pub mod io;
mod link;
pub mod load;
#[cfg(test)]
mod refusals;
pub mod run;
mod threads;
mod timeline;

pub use confinement::{Confinement, Role};
pub use error::{LiveError, LiveResult, SystemError};
pub use forward::{
    CATCH_UP, ChangeSender, Fabric, FabricChange, FlowCounts, FlowView, Forwarder, ForwarderThread, LANE_METRICS, Lane,
    LaneCounts, LaneHandover, LaneLedger, LaneMetric, LaneSettings, LaneView, Lanes, MOST_FLOWS_SHOWN,
    PUBLISH_INTERVAL, SharedView, View, pacing, verdict,
};
pub use gateway::{FailOpenBridge, Gateway, GatewayInterfaces, GatewaySettings};
pub use hosts::{Addresses, netns, shell};
pub use io::anomalies::{AnomalyCounts, FrameAnomaly};
pub use io::frame::{IpPosition, Layer, ParsedFrame, Parser};
pub use io::pool::{FrameId, Pool};
pub use io::request::{Cause, Request};
pub use io::{clock, ecn};
pub use link::{EmulatedLink, LinkSettings, datagram_load, log};

#[cfg(test)]
extern crate self as headgate_live;
#[cfg(test)]
#[path = "../tests/support/memory.rs"]
mod memory;
