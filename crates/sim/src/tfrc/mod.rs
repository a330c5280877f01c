//! TCP-Friendly Rate Control (RFC 5348): a sender and a receiver that know nothing of any network.
//!
//! TFRC sends at the rate that the TCP throughput equation gives for the round-trip time and the loss event rate, and
//! so changes its rate far less than TCP does. The receiver measures losses and reports them about once a round trip;
//! the sender turns reports into a rate. Both are driven, as [`tcp`](crate::tcp) is: a packet, a report or a timer goes
//! in, and what is to be sent comes out.
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
pub use receiver::{Data, Feedback, Receiver};
pub use sender::Sender;

/// What all flows of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The segment size `s` in bytes, headers excluded.
    pub segment: u32,
}
