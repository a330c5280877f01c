//! What senders show of themselves, for traces.

use headgate_core::{Span, Time};

/// A traced sender, each time its state changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRow {
    /// When.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// What the sender shows of itself.
    pub state: SenderState,
}

/// What a traced sender shows of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SenderState {
    /// TCP.
    Tcp {
        /// Window, timer, counts.
        state: TcpState,
        /// Bytes of data acknowledged so far.
        acked_bytes: u64,
    },
    /// TFRC.
    Tfrc(TfrcState),
}

impl SenderState {
    /// Whether enough has changed since `earlier` for a row.
    pub fn differs(&self, earlier: &SenderState) -> bool {
        match (self, earlier) {
            (SenderState::Tcp { state, .. }, SenderState::Tcp { state: earlier, .. }) => state.differs(earlier),
            _ => self != earlier,
        }
    }

    /// Of TCP: what it shows, and the bytes of data acknowledged so far.
    pub fn tcp(&self) -> Option<(&TcpState, u64)> {
        match self {
            SenderState::Tcp { state, acked_bytes } => Some((state, *acked_bytes)),
            SenderState::Tfrc(_) => None,
        }
    }

    /// Of TFRC.
    pub fn tfrc(&self) -> Option<&TfrcState> {
        match self {
            SenderState::Tcp { .. } => None,
            SenderState::Tfrc(state) => Some(state),
        }
    }
}

/// A TCP sender at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpState {
    /// The congestion window, in segments.
    pub cwnd: f64,
    /// The slow start threshold, in segments; infinite for no bound.
    pub ssthresh: f64,
    /// The smoothed round-trip time and its variation (RFC 6298), once there was a sample.
    pub srtt: Option<(Span, Span)>,
    /// The retransmission timeout, backoff included.
    pub rto: Span,
    /// Segments outstanding (RFC 5681, FlightSize).
    pub flight: u32,
    /// Segments acknowledged, all those before them too.
    pub acked: u32,
    /// What rules its window.
    pub phase: &'static str,
    /// Segments sent again so far.
    pub retransmits: u32,
    /// Retransmission timeouts so far.
    pub timeouts: u32,
}

impl TcpState {
    /// Whether more than what is outstanding has changed, which does with every segment.
    pub fn differs(&self, earlier: &TcpState) -> bool {
        *self != TcpState { flight: self.flight, ..*earlier }
    }
}

/// A TFRC sender at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcState {
    /// The allowed rate `X`, in bytes per second.
    pub rate: f64,
    /// The receive rate last reported, `X_recv`, in bytes per second.
    pub receive_rate: Option<f64>,
    /// The loss event rate last reported, `p`.
    pub loss: f64,
    /// The smoothed round-trip time `R`, once there was a sample.
    pub rtt: Option<Span>,
    /// What rules its rate: slow start until a loss event is reported, the equation from then on (section 4.3, step 4).
    pub phase: &'static str,
    /// How often the nofeedback timer expired.
    pub timeouts: u32,
}
