//! Headgate's scenario files: one network, its flows, the disciplines to compare.
//!
//! ```
//! use headgate_scenario::{Changes, Scenario};
//!
//! let text = r#"
//!     name = "two"
//!     duration = "10s"
//!     qdiscs = ["droptail"]
//!     link = { rate = "10Mbit/s", delay = "10ms", limit = "100p" }
//!     [[tcp]]
//!     flows = 2
//! "#;
//! let slower = Changes { set: vec!["link.rate=5Mbit/s".to_string()], ..Changes::default() };
//! let scenario = Scenario::read(text, "two.toml", &slower).unwrap();
//! assert_eq!(scenario.links[0].forward.rate.as_bits(), 5_000_000);
//! assert_eq!(Scenario::read(&scenario.to_toml(), "again.toml", &Changes::default()), Ok(scenario));
//!
//! let error = Scenario::read(&text.replace("delay", "dealy"), "two.toml", &slower).unwrap_err();
//! assert_eq!(error.message, "unknown key `dealy` in [link]; did you mean `delay`?");
//! assert_eq!((error.line, error.column), (Some(5), Some(33)));
//! ```
#![forbid(unsafe_code)]

mod access;
mod access_delay;
mod cc;
mod changes;
mod check;
mod classes;
mod classify;
mod controllers;
mod demand;
mod error;
mod fair;
mod fields;
mod flows;
mod foreign_names;
mod groups;
mod header;
mod identity;
mod inputs;
mod key_position;
mod links;
mod medium;
mod migrate;
mod model;
mod network;
mod paths;
mod qdisc;
mod qdisc_changes;
mod quoted;
mod read;
mod record;
mod resolve;
mod routes;
mod schema;
mod settings;
mod start;
mod texts;
mod traffic;
mod values;
mod write;

pub use access_delay::AccessDelay;
pub use aqm::Qdisc;
pub use cc::{Cc, ControllerTraits, Recovery, UdpCc};
pub use changes::Changes;
pub use classify::{Classifier, Conditions, FlowKey, TrafficClass, five_tuple_id, host_id};
pub use controllers::Controller;
pub use error::ScenarioError;
pub use fair::{FairUnit, FairUnits};
pub use fields::Ports;
pub use foreign_names::FOREIGN_NAMES;
pub use groups::{Group, Kind};
pub use header::{FlowHeaders, Header, Headers};
pub use headgate_traffic::{GroupSource, Traffic};
pub use identity::Identity;
pub use inputs::{Files, INPUTS, Inputs};
pub use ipnet::IpNet;
pub use key_position::key_position;
pub use medium::{EcnTreatment, Impairments, OPPORTUNITY, RateVariation, Remarks};
pub use migrate::{Migrated, migrate};
pub use model::{Events, FlowGroup, Record, Scenario, TcpGroup, UdpGroup};
pub use network::{DUMBBELL, Direction, DirectionSettings, Hop, Link};
pub use paths::Paths;
pub use record::Traced;
pub use schema::{Access, Form, Key, TcpSettings, UdpSettings, keys};
pub use start::{Start, Starts, flow_stream, source_stream};
pub use values::RateOf;
