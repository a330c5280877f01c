//! Headgate on real packets: frames in, a discipline, a paced link, frames out.
//!
//! The code that decides is that of the simulator. Here it meets frames from a TUN device or a packet socket, the
//! machine's clock, and hosts that nobody simulates.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod build;
pub mod clock;
pub mod ecn;
mod forward;
mod frame;
pub mod io;
mod ledger;
mod oddities;
pub mod pacing;
mod pool;
mod view;
mod wire;

pub use build::WireSettings;
pub use forward::{CATCH_UP, Forwarder, SHOW_EVERY};
pub use frame::{IpAt, Layer, Parsed, Parser};
pub use ledger::{FlowCounts, FlowView, WireLedger};
pub use oddities::{Oddities, Oddity};
pub use pool::{FrameId, Pool};
pub use view::{MOST_SHOWN, View, Window, WireView};
pub use wire::{Lane, WireCounts};
