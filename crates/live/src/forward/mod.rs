//! One paced loop that moves frames between two ends.
//!
//! - An **entry** takes frames from one end; an **exit** gives packets to an end when they are due.
//! - A **lane** is one direction of a link: from an entry over its queue and its medium to an exit.
//! - A **fabric** connects the two ends: a lane in each direction, or a scenario's network of links.
//!
//! A [`Forwarder`] moves frames over a fabric by a [`Clock`](pacing::Clock). [`ForwarderThread`] gives it a thread;
//! other threads observe it through a [`SharedView`].

pub(crate) mod ends;
pub(crate) mod fabric;
pub(crate) mod forwarder;
mod history;
pub(crate) mod lane;
pub(crate) mod ledger;
pub mod pacing;
pub(crate) mod queue;
pub(crate) mod running;
pub(crate) mod settings;
pub mod verdict;
pub(crate) mod view;

pub use fabric::{Fabric, Lanes};
pub use forwarder::{CATCH_UP, ChangeSender, FabricChange, Forwarder, PUBLISH_INTERVAL};
pub use lane::{Lane, LaneHandover};
pub use ledger::{FlowView, LaneLedger};
pub use running::ForwarderThread;
pub use settings::LaneSettings;
pub use verdict::FlowCounts;
pub use view::{LANE_METRICS, LaneCounts, LaneMetric, LaneView, MOST_FLOWS_SHOWN, SharedView, View};
