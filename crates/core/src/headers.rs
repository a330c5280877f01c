//! Header fields that few disciplines read. Packets do not carry them: the host answers when asked, see
//! [`Sink::headers`](crate::Sink::headers) and [`Sink::ack`](crate::Sink::ack).

use crate::packet::FlowId;

/// A host's identifier, chosen as [`FlowId`] is: a number in the simulator, a keyed hash of the address on real packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u64);

/// Header fields of a packet, beside its flow, class and ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeaders {
    /// The sender.
    pub source: HostId,
    /// The receiver.
    pub destination: HostId,
    /// The differentiated services codepoint, 0 to 63 (RFC 2474).
    pub dscp: u8,
}

impl PacketHeaders {
    /// The headers of a packet from a host that knows no more than the flow: each flow has its own sender and receiver,
    /// and no codepoint.
    pub const fn of_flow(flow: FlowId) -> PacketHeaders {
        PacketHeaders { source: HostId(flow.0), destination: HostId(flow.0), dscp: 0 }
    }
}

/// Fields of a TCP segment with the ACK flag, for filters of acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckHeader {
    /// The connection and direction: packets of one number have the same addresses and ports.
    pub connection: u64,
    /// The acknowledgement number; it may wrap around.
    pub number: u32,
    /// Whether a later acknowledgement says all that it says, apart from the fields below: it has no data, no flag beside
    /// ACK, ECE and CWR, and no option beside SACK and timestamps.
    pub pure: bool,
    /// The flags ECE (bit 0) and CWR (bit 1) (RFC 3168, section 6.1).
    pub ecn_flags: u8,
    /// Timestamp and echoed timestamp (RFC 7323), if any.
    pub timestamps: Option<[u32; 2]>,
    /// Start and end of each SACK block (RFC 2018); unused ones are empty.
    pub sack: [(u32, u32); 4],
}
