//! The headers of packets, for disciplines that ask for more than flow and class.

use aqm::{AckHeader, PacketHeaders, Time};
use headgate_scenario::host_id;

use super::Hosts;
use crate::segment::{AckOptions, Segment, SegmentContents, SimPacket};

/// Hosts are known by a hash of their address. It needs no secret: nobody attacks a simulation.
const KEY: u64 = 0;

/// The flags ECE and CWR of an acknowledgement, and the flag AE of accurate ECN feedback.
const ECE_AND_CWR: u8 = 0b011;
const AE: u8 = 0b100;

impl Hosts {
    /// The headers of a packet at `link`.
    pub fn headers(&self, link: u16, packet: &SimPacket) -> PacketHeaders {
        let unknown = PacketHeaders::of_flow(packet.flow);
        // Lossless: the simulator numbers flows with 32 bits.
        let Some(header) = self.flow_headers.of_flow(packet.flow.0 as u32, link) else { return unknown };
        let header = if packet.handle.is_reply() { header.reply() } else { header };
        PacketHeaders {
            source: host_id(header.source, KEY),
            destination: host_id(header.destination, KEY),
            dscp: header.dscp,
        }
    }

    /// The fields of a packet that is an acknowledgement.
    pub fn ack(&self, packet: &SimPacket) -> Option<AckHeader> {
        let SegmentContents::Ack { ack, ece, ace, options } = packet.handle.contents() else { return None };
        let options = options.map_or_else(AckOptions::default, |id| *self.replies.ack_options.get(id));
        let [first, second, third] = options.blocks.unwrap_or_default();
        Some(AckHeader {
            connection: packet.flow.0,
            number: ack,
            pure: ace.bits() & AE == 0,
            ecn_flags: Segment::ecn_flags(ece, ace) & ECE_AND_CWR,
            timestamps: options.echo.map(|echo| [0, microseconds(echo.time())]),
            sack: [first, second, third, (0, 0)],
        })
    }
}

/// Wraps around, as timestamps do.
fn microseconds(time: Time) -> u32 {
    (time.as_nanos() / 1000) as u32
}
