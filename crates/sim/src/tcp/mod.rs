//! TCP in segments: a sender and a receiver that are independent of the network.
//!
//! Both are driven by calls: after an acknowledgement or a timer, call [`TcpSender::poll`] until it returns `None`.
//! Connections start established and never close. Data is unlimited ([`TcpSender::new`]) or supplied by the application
//! ([`TcpSender::finite`]). Sequence numbers count segments.

pub(crate) mod accecn;
pub mod cc;
mod outstanding;
mod pacing;
mod prr;
mod rack;
mod rate_sample;
mod receiver;
mod recent_blocks;
mod rto;
mod sender;
mod tlp;
mod tracker;
mod transmissions;

/// Settings shared by a group's flows. Every call takes them.
pub use headgate_scenario::TcpSettings;
pub use rate_sample::{DeliveryState, RateSample};
pub use receiver::{OutgoingAck, TcpReceiver};
pub use rto::Rto;
pub use sender::{Ack, OutgoingSegment, TcpSender};
