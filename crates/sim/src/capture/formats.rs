//! The wire formats of all flows.

use aqm::Ecn;
use headgate_scenario::{Header, Scenario};

use super::frame::Frame;
use super::tcp_format::{GroupFormat, HandshakeStep, group_formats};
use crate::segment::{AckOptionSlab, Segment, SegmentContents, SimPacket};

/// The constant header fields of each flow, shared by all captures of a run.
pub struct FrameFormats {
    /// By flow: the group, and the header of the sender's packets.
    flows: Vec<(u16, Header<'static>)>,
    groups: Vec<GroupFormat>,
}

impl FrameFormats {
    pub fn new(scenario: &Scenario) -> FrameFormats {
        let groups = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index as u16));
        let flows: Vec<_> = groups.zip(scenario.headers().map(unlabeled)).collect();
        let groups = group_formats(scenario, flows.iter().map(|(_, header)| *header));
        FrameFormats { flows, groups }
    }

    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    fn of(&self, packet: &SimPacket) -> (GroupFormat, Header<'static>) {
        let (group, header) = self.flows[packet.flow.0 as usize];
        (self.groups[usize::from(group)], header)
    }

    /// A packet as it appears on the wire.
    pub fn frame(&self, packet: &SimPacket, ack_options: &AckOptionSlab) -> Frame {
        let (format, header) = self.of(packet);
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
    pub fn handshake(&self, packet: &SimPacket) -> Option<[(Frame, bool); 3]> {
        let (GroupFormat::Tcp(format), header) = self.of(packet) else { return None };
        let frame = |step, header| Frame::tcp(&header, Ecn::NotEct, format.handshake(step), 0);
        let answer = frame(HandshakeStep::SynAck, header.reply());
        Some([(frame(HandshakeStep::Syn, header), true), (answer, false), (frame(HandshakeStep::Ack, header), true)])
    }
}

fn unlabeled(header: Header<'_>) -> Header<'static> {
    let Header { protocol, source, destination, source_port, destination_port, dscp, label: _ } = header;
    Header { protocol, source, destination, source_port, destination_port, dscp, label: "" }
}
