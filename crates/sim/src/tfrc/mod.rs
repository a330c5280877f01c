//! TCP-Friendly Rate Control (RFC 5348): a sender and a receiver that are independent of the network.
//!
//! TFRC sends at the rate that the TCP throughput equation gives for the round-trip time and the loss event rate, so
//! its rate varies far less than TCP's. The receiver measures losses and reports them about once a round trip; the
//! sender turns reports into a rate. Both are driven by calls, as [`tcp`](crate::tcp) is.
//!
//! Rates are in bytes per second and count the segment `s`, headers excluded (section 3.1).

mod equation;
mod holes;
mod limited;
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
