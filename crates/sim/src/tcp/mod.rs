//! TCP, segment by segment: a sender and a receiver that know nothing of any network.
//!
//! Both are driven: an acknowledgement or a timer goes in, then [`Sender::poll`] gives segments until it gives none.
//! Connections are established already and never end; data is unlimited ([`Sender::new`]) or what was offered
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

/// What all flows of a group have in common: every call takes it.
pub use headgate_scenario::TcpSettings as Config;
pub use rate_sample::{RateSample, Snapshot};
pub use receiver::{Receiver, Reply};
pub use rto::Rto;
pub use sender::{Ack, Data, Sender};
