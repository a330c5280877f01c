//! TCP-Friendly Rate Control (TFRC, RFC 5348): a sender and a receiver that are independent of the network.
//!
//! TFRC sends at the rate that the TCP throughput equation gives for the round-trip time and the loss event rate. Its
//! rate therefore varies far less than TCP's. The receiver detects losses, averages them into a loss event rate, and
//! reports it about once a round trip. The sender turns each report into a rate. Both are driven by calls, as
//! [`tcp`](crate::tcp) is.
//!
//! Rates are in bytes per second and count the segment `s`, headers excluded (section 3.1).
//!
//! | RFC 5348 | here |
//! | --- | --- |
//! | throughput equation (3.1) | [`packets_a_round_trip`] |
//! | X, X_inst, t_ipi, nofeedback timer (4) | [`TfrcSender`] |
//! | X_recv_set (4.3); data-limited interval (8.2.1) | `receive_rates.rs`; `data_limited.rs` |
//! | lost packets (5.1, 5.2) | `loss_detector.rs` |
//! | loss intervals, p (5.3 to 5.5) | [`LossHistory`] |
//! | feedback packets (6) | [`TfrcReceiver`], [`TfrcReport`] |

mod data_limited;
mod equation;
mod loss_detector;
mod loss_history;
mod receive_rates;
mod receiver;
mod sender;

pub use equation::{loss_event_rate, packets_a_round_trip};
pub use loss_history::LossHistory;
pub use receiver::{TfrcData, TfrcReceiver, TfrcReport};
pub use sender::TfrcSender;

/// Settings shared by a group's flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcSettings {
    /// The segment size `s` in bytes, headers excluded.
    pub segment: u32,
}
