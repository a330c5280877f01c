//! TCP in segments: a sender and a receiver that are independent of the network.
//!
//! Both are driven by calls: after an acknowledgement or a timer, call [`Sender::poll`] until it returns `None`.
//! Connections start established and never close. Data is unlimited ([`Sender::new`]) or supplied by the application
//! ([`Sender::finite`]). Sequence numbers count segments.

pub(crate) mod accecn;
pub mod cc;
mod filed;
mod outstanding;
mod pacing;
mod prr;
mod rack;
mod rate_sample;
mod receiver;
mod rto;
mod sender;
mod tlp;
mod tracker;
mod transmissions;

/// Settings shared by a group's flows. Every call takes them.
pub use headgate_scenario::TcpSettings as Config;
pub use rate_sample::{RateSample, Snapshot};
pub use receiver::{Receiver, Reply};
pub use rto::Rto;
pub use sender::{Ack, Data, Sender};
