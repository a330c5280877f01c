//! Traffic sources and their receivers: one file per transport, each with the access wires of its flows.

mod app;
mod controlled;
mod limit_clock;
mod media;
mod media_flow;
mod tcp;
mod tcp_settings;
mod tfrc;
mod udp;

pub use app::{FlowApp, TransferRequest};
pub use controlled::{ControlledContext, ControlledFlows};
pub use limit_clock::LimitClock;
pub use tcp::{TcpCounts, TcpFlow};
pub use tcp_settings::TcpFlowSettings;
pub use udp::{UdpFlow, UdpFlowSettings};

use aqm::{ClassId, Ecn, FlowId, Packet, Span, Time};
use headgate_scenario::Hop;
pub use headgate_scenario::{Starts, flow_stream, source_stream};

use crate::segment::{AckOptionSlab, AckOptions, Segment, SimPacket, SlabId};

/// The receivers' replies: their number, and the contents too large for their packets.
#[derive(Default)]
pub struct Replies {
    pub sent: u64,
    /// Options of acknowledgements.
    pub ack_options: AckOptionSlab,
}

impl Replies {
    #[inline(never)]
    fn insert_options(&mut self, options: AckOptions) -> Option<SlabId> {
        self.ack_options.insert(options)
    }
}

/// The number of a route's first link.
fn first_link(route: &[Hop]) -> u16 {
    route.first().expect("a route has a link").number()
}

/// The number of the reverse route's first link.
fn first_reverse_link(route: &[Hop]) -> u16 {
    route.last().expect("a route has a link").back().number()
}

/// The ECN codepoint of new data. ECT(1) is reserved for scalable controls with accurate feedback (RFC 9331, sections 4.1
/// and 4.2).
fn ecn_codepoint(ecn: bool, scalable: bool) -> Ecn {
    match (ecn, scalable) {
        (false, _) => Ecn::NotEct,
        (true, false) => Ecn::Ect0,
        (true, true) => Ecn::Ect1,
    }
}

fn stop_time(at: Option<Span>) -> Time {
    at.map_or(Time::NEVER, |stop| Time::ZERO + stop)
}

#[inline]
fn packet(flow: u32, bytes: u32, ecn: Ecn, handle: Segment) -> SimPacket {
    Packet { arrived: Time::ZERO, flow: FlowId(u64::from(flow)), bytes, class: ClassId(0), ecn, handle }
}
