//! Settings that the TCP flows of a group share.

use aqm::{Ecn, Span, Time};
use headgate_link::{DrawnDelays, WireProperties};
use headgate_scenario::TcpGroup;

use super::{ecn_codepoint, first_link, first_reverse_link, stop_time};
use crate::send_clock::SendClock;
use crate::tcp::TcpSettings;

/// Settings shared by the TCP flows of a group.
pub struct TcpFlowSettings {
    /// A full data packet on the wire, in bytes.
    pub packet: u32,
    /// Its payload, in bytes.
    pub payload: u32,
    pub(super) tcp: TcpSettings,
    /// An acknowledgement on the wire, in bytes.
    pub(super) ack: u32,
    /// The first links of the forward and the reverse route.
    pub(super) links: [u16; 2],
    pub(super) ecn: Ecn,
    /// ECN codepoint of retransmissions: Not-ECT unless configured, so that their loss is detected (RFC 3168, section
    /// 6.1.5).
    pub(super) ecn_retransmitted: Ecn,
    /// The receiver needs more of each segment than its number.
    pub(super) reads_headers: bool,
    /// The largest random delay before a transmission.
    pub(super) send_jitter: Span,
    /// Only the first segment of a burst is delayed; the others follow it.
    pub(super) jitter_bursts: bool,
    pub(super) stop: Time,
    /// The clock of send times.
    pub clock: SendClock,
    pub(super) data_from_sender: WireProperties,
    pub(super) data_to_receiver: WireProperties,
    pub(super) ack_from_receiver: WireProperties,
    pub(super) ack_to_sender: WireProperties,
    pub(super) drawn_delays: DrawnDelays,
}

impl TcpFlowSettings {
    /// The settings of `group` with the delays that its flows drew.
    pub fn new(group: &TcpGroup, clock: SendClock, drawn_delays: DrawnDelays) -> TcpFlowSettings {
        TcpFlowSettings {
            packet: group.packet,
            payload: group.packet - group.header,
            tcp: group.settings.clone(),
            ack: group.ack,
            links: [first_link(&group.route), first_reverse_link(&group.route)],
            ecn: codepoint(group),
            ecn_retransmitted: if group.ecn_retransmits { codepoint(group) } else { Ecn::NotEct },
            reads_headers: group.timestamps || group.settings.counts_ecn(),
            send_jitter: group.send_jitter,
            jitter_bursts: group.jitter_bursts,
            stop: stop_time(group.stop),
            clock,
            data_from_sender: WireProperties::new(&group.sender, group.packet),
            data_to_receiver: WireProperties::new(&group.receiver, group.packet),
            ack_from_receiver: WireProperties::new(&group.receiver, group.ack),
            ack_to_sender: WireProperties::new(&group.sender, group.ack),
            drawn_delays,
        }
    }
}

/// ECN codepoint of new data. DCTCP is scalable, but older than ECT(1).
fn codepoint(group: &TcpGroup) -> Ecn {
    ecn_codepoint(group.ecn, group.cc.traits().ect1 && group.accecn)
}
