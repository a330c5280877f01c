//! What senders show of themselves, for traces.

use headgate_core::{Span, Time};

use crate::table::{Column, Nested, Row, Unit, Value, rows};

rows! {
    /// One change of a traced sender's state.
    pub struct TraceRow derives Clone Copy Debug PartialEq {
        /// When the state changed.
        time: Time as Unit::Nanoseconds,
        /// The flow.
        flow: u32 as Unit::None,
        /// What the sender shows of itself.
        state: SenderState as Nested,
    }
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

    /// A column of TCP alone.
    fn of_tcp<T>(name: &str, unit: Unit, meaning: &str, get: fn(&TcpState, u64) -> Option<T>) -> Column<SenderState>
    where
        Option<T>: Value,
    {
        Column::new(name, unit, meaning, move |state: &SenderState| {
            state.tcp().and_then(|(tcp, acked)| get(tcp, acked))
        })
    }

    /// A column of TFRC alone.
    fn of_tfrc(name: &str, unit: Unit, meaning: &str, get: fn(&TfrcState) -> Option<f64>) -> Column<SenderState> {
        Column::new(name, unit, meaning, move |state: &SenderState| state.tfrc().and_then(get))
    }

    fn rtt(&self) -> Option<Span> {
        match self {
            SenderState::Tcp { state, .. } => state.srtt.map(|(srtt, _)| srtt),
            SenderState::Tfrc(state) => state.rtt,
        }
    }

    /// The phase, packets sent again, and timeouts.
    fn progress(&self) -> (&'static str, u32, u32) {
        match self {
            SenderState::Tcp { state, .. } => (state.phase, state.retransmits, state.timeouts),
            SenderState::Tfrc(state) => (state.phase, 0, state.timeouts),
        }
    }
}

impl Row for SenderState {
    const ABOUT: &'static str = "What a traced sender shows of itself.";

    fn columns() -> Vec<Column<SenderState>> {
        use Unit::{BitsPerSecond, Bytes, Count, Milliseconds, Packets, Share};
        vec![
            Self::of_tcp("cwnd", Packets, "Congestion window; null for TFRC.", |tcp, _| Some(tcp.cwnd)),
            Self::of_tcp("ssthresh", Packets, "Slow start threshold; null for no bound, and for TFRC.", |tcp, _| {
                Some(tcp.ssthresh).filter(|packets| packets.is_finite())
            }),
            Column::new("srtt", Milliseconds, "Smoothed round-trip time; null before the first sample.", Self::rtt),
            Self::of_tcp(
                "rttvar",
                Milliseconds,
                "Round-trip time variation (RFC 6298); null as srtt, and for TFRC.",
                |tcp, _| tcp.srtt.map(|(_, rttvar)| rttvar),
            ),
            Self::of_tcp("rto", Milliseconds, "Retransmission timeout, backoff included; null for TFRC.", |tcp, _| {
                Some(tcp.rto)
            }),
            Self::of_tcp("flight", Packets, "Packets outstanding; null for TFRC.", |tcp, _| Some(tcp.flight)),
            Self::of_tcp("acked_bytes", Bytes, "Data acknowledged so far; null for TFRC.", |_, acked| Some(acked)),
            Column::new(
                "phase",
                Unit::None,
                "What rules the sender: `slow_start`, `avoidance`, `recovery`; BBR has [its own](../guide/transport.md#bbr). \
                 Of TFRC `slow_start` until a loss event, then `avoidance`: the equation.",
                |state: &SenderState| state.progress().0,
            ),
            Column::new("retransmits", Packets, "Packets sent again so far; none of TFRC.", |state: &SenderState| {
                state.progress().1
            }),
            Column::new(
                "timeouts",
                Count,
                "Retransmission timeouts so far; of TFRC, expiries of the nofeedback timer.",
                |state: &SenderState| state.progress().2,
            ),
            Self::of_tfrc("rate_bps", BitsPerSecond, "TFRC's allowed rate X, without headers; null for TCP.", |tfrc| {
                Some(8.0 * tfrc.rate)
            }),
            Self::of_tfrc(
                "receive_rate_bps",
                BitsPerSecond,
                "The receive rate X_recv last reported; null before, and for TCP.",
                |tfrc| tfrc.receive_rate.map(|rate| 8.0 * rate),
            ),
            Self::of_tfrc("loss_event_rate", Share, "The loss event rate p last reported; null for TCP.", |tfrc| {
                Some(tfrc.loss)
            }),
        ]
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
