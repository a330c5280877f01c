//! What all flows of a group have in common.

use headgate_core::Span;
use headgate_scenario::{Cc, TcpGroup};

use super::cc::wants_rates;

/// The knobs of TCP, shared by all flows of a group and handed to every call.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Congestion control and loss recovery.
    pub cc: Cc,
    /// The receiver's window, in segments.
    pub window: u32,
    /// `cwnd` at the start, in segments.
    pub initial_window: u32,
    /// `ssthresh` at the start, in segments.
    pub initial_ssthresh: Option<u32>,
    /// How long an ACK may wait for a second segment; `None` acknowledges each at once.
    pub delayed_ack: Option<Span>,
    /// The retransmission timeout before the first sample.
    pub initial_rto: Span,
    /// The least retransmission timeout.
    pub min_rto: Span,
    /// The greatest retransmission timeout, backoff included.
    pub max_rto: Span,
    /// The clock's granularity: samples and timeouts are rounded up to it.
    pub granularity: Span,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Segments leave at a rate, one by one.
    pub pacing: bool,
    /// Losses are found by time, and probes ask for the last segments (RFC 8985).
    pub rack: bool,
    /// A loss recovery reduces in proportion to what arrives (RFC 9937).
    pub prr: bool,
    /// An ECN echo at a window of one segment makes the sender wait for its timer (RFC 3168, section 6.1.2).
    pub ecn_timeout: bool,
    /// After a pause longer than the retransmission timeout `cwnd` starts anew (RFC 5681, section 4.1).
    pub idle_restart: bool,
    /// The receiver counts marks for the sender (accurate ECN feedback, RFC 9768).
    pub accecn: bool,
    /// The first slow start ends where round-trip times rise (HyStart++, RFC 9406); for senders with SACK.
    pub hystart: bool,
    /// A mark lowers the window by less than a loss does (Alternative Backoff with ECN, RFC 8511).
    pub abe: bool,
    /// Windows grow by what is acknowledged, in slow start by so many segments an ACK at most (RFC 3465's L); `None` counts ACKs.
    pub abc: Option<u32>,
    /// The queueing delay that LEDBAT keeps.
    pub target: Span,
    /// Segments a round trip by which LEDBAT's window grows where there is no queue.
    pub gain: f64,
}

impl Config {
    /// The sender keeps a record of each segment outstanding.
    #[inline]
    pub(super) fn tracks(&self) -> bool {
        self.rack || self.prr || self.hystart || self.models()
    }

    /// The controller goes by a model of the path, and sets `cwnd` in recovery and after a pause too.
    #[inline]
    pub(super) fn models(&self) -> bool {
        wants_rates(self.cc)
    }
}

/// As the RFCs have it: what a group of the `rfc` profile has where its file says nothing.
impl Default for Config {
    fn default() -> Config {
        Config::from(&TcpGroup::default())
    }
}

impl From<&TcpGroup> for Config {
    fn from(group: &TcpGroup) -> Config {
        Config {
            cc: group.cc,
            window: group.window,
            initial_window: group.initial_window,
            initial_ssthresh: group.initial_ssthresh,
            delayed_ack: group.delayed_ack,
            initial_rto: group.initial_rto,
            min_rto: group.min_rto,
            max_rto: group.max_rto,
            granularity: group.rto_granularity,
            limited_transmit: group.limited_transmit,
            pacing: group.pacing,
            rack: group.rack,
            prr: group.prr,
            ecn_timeout: group.ecn_timeout,
            idle_restart: group.idle_restart,
            accecn: group.accecn,
            hystart: group.hystart,
            abe: group.abe,
            abc: group.abc,
            target: group.target,
            gain: group.gain,
        }
    }
}
