//! The wire formats of all flows.

use aqm::Ecn;
use headgate_scenario::{FlowHeaders, Header, Scenario};

use super::frame::Frame;
use super::tcp_format::{GroupFormat, HandshakeStep, group_formats};
use crate::segment::{AckOptionSlab, Segment, SegmentContents, SimPacket};

/// The constant header fields of each flow, shared by all captures of a run.
pub struct FrameFormats {
    /// By flow: the group, and the header of the sender's packets.
    flows: Vec<(u16, Header<'static>)>,
    groups: Vec<GroupFormat>,
    /// Headers as each link sees them: links may write other DSCPs.
    headers: FlowHeaders,
}

impl FrameFormats {
    pub fn new(scenario: &Scenario) -> FrameFormats {
        let groups = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u16));
        let flows: Vec<_> = groups.zip(scenario.headers().map(unlabeled)).collect();
        let groups = group_formats(scenario, flows.iter().map(|(_, header)| *header));
        FrameFormats { flows, groups, headers: scenario.flow_headers() }
    }

    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The format of a packet at direction `link`, and the header of its flow's data there.
    fn of(&self, packet: &SimPacket, link: u16) -> (GroupFormat, Header<'static>) {
        let (group, header) = self.flows[packet.flow.0 as usize];
        let dscp = self.headers.of_flow(packet.flow.0 as u32, link).map_or(header.dscp, |header| header.dscp);
        (self.groups[usize::from(group)], Header { dscp, ..header })
    }

    /// A packet as it appears on the wire of direction `link`.
    pub fn frame(&self, packet: &SimPacket, link: u16, ack_options: &AckOptionSlab) -> Frame {
        let (format, header) = self.of(packet, link);
        match (format, packet.handle.contents()) {
            (GroupFormat::Tcp(format), SegmentContents::Data { seq, cwr }) => {
                Frame::tcp(&header, packet.ecn, format.data(seq, cwr), format.payload)
            }
            (GroupFormat::Tcp(format), SegmentContents::Ack { ack, ece, ace, options }) => {
                let blocks = options.and_then(|id| ack_options.get(id).blocks).unwrap_or_default();
                Frame::tcp(&header.reply(), packet.ecn, format.ack(ack, Segment::ecn_flags(ece, ace), &blocks), 0)
            }
            _ if packet.handle.is_reply() => Frame::udp(&header.reply(), packet.ecn, packet.bytes),
            _ => Frame::udp(&header, packet.ecn, packet.bytes),
        }
    }

    /// The handshake of the packet's connection: each segment, and whether it travels forward. `None` for a datagram.
    pub fn handshake(&self, packet: &SimPacket, link: u16) -> Option<[(Frame, bool); 3]> {
        // The two directions of a link have the numbers 2 n and 2 n + 1.
        let (there, back) = if packet.handle.is_reply() { (link ^ 1, link) } else { (link, link ^ 1) };
        let (GroupFormat::Tcp(format), header) = self.of(packet, there) else { return None };
        let frame = |step, header| Frame::tcp(&header, Ecn::NotEct, format.handshake(step), 0);
        let answer = frame(HandshakeStep::SynAck, self.of(packet, back).1.reply());
        Some([(frame(HandshakeStep::Syn, header), true), (answer, false), (frame(HandshakeStep::Ack, header), true)])
    }
}

fn unlabeled(header: Header<'_>) -> Header<'static> {
    let Header { protocol, source, destination, source_port, destination_port, dscp, label: _ } = header;
    Header { protocol, source, destination, source_port, destination_port, dscp, label: "" }
}
