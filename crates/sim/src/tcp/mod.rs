//! TCP in segments: a sender and a receiver that are independent of the network.
//!
//! Both are driven by calls. After an acknowledgement or a timer, call [`TcpSender::poll`] until it returns `None`.
//! Connections start established and never close. Data is unlimited ([`TcpSender::new`]) or supplied by the
//! application ([`TcpSender::finite`]). Sequence numbers count segments.
//!
//! | task | file |
//! | --- | --- |
//! | events of the sender, timers | `sender.rs` |
//! | choice of the next segment without and with SACK | `sender/sending.rs`, `sender/sacked_sending.rs` |
//! | pacing | `pacing.rs` |
//! | recovery without and with SACK | `sender/recovery.rs`, `sender/sacked.rs`, `sender/sacked_losses.rs` |
//! | which segments have arrived or are lost | `scoreboard.rs` (state), `transmissions.rs` (send times) |
//! | loss detection by time, tail probes, reduction | `rack.rs`, `tlp.rs`, `prr.rs` |
//! | retransmission timeout, delivery rates | `rto.rs`, `rate_sample.rs` |
//! | window laws | `cc/` |
//! | acknowledgements, ECN feedback | `receiver.rs`, `accecn.rs` |

pub(crate) mod accecn;
pub mod cc;
mod out_of_order;
mod pacing;
mod prr;
mod quick_acks;
mod rack;
mod rate_sample;
mod receiver;
mod recent_blocks;
mod rto;
mod scoreboard;
mod sender;
mod tlp;
mod tracker;
mod transmissions;

pub use accecn::{Ace, EcnCounts};
/// Settings shared by a group's flows. Every call takes them.
pub use headgate_scenario::TcpSettings;
pub use rate_sample::{DeliveryState, RateSample};
pub use receiver::{OutgoingAck, TcpReceiver};
pub use rto::{Rto, RttDeviation};
pub use sender::{Ack, LossState, OutgoingSegment, OutstandingCounts, SendLimit, TcpSender};
