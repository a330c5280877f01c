//! Headgate's scenario files: one network, its flows, the disciplines to compare.
#![forbid(unsafe_code)]

mod model;

pub use model::{Access, Cc, Events, Link, Qdisc, Record, Reverse, Scenario, Start, TcpGroup, UdpGroup};
