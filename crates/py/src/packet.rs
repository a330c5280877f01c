//! A packet as a Python tuple.

use aqm::{Ecn, Packet};

/// Number, flow, bytes, class, ECN field and arrival in nanoseconds of a packet.
pub type PacketRow = (u64, u64, u32, u16, &'static str, u64);

/// Names of the ECN field's values.
pub const ECN: [(&str, Ecn); 4] = [("not-ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];

/// The row of packet `number`.
pub fn packet_row<T>(packet: &Packet<T>, number: u64) -> PacketRow {
    let Packet { arrived, flow, bytes, class, ecn, .. } = packet;
    let word = ECN.iter().find(|(_, field)| field == ecn).map_or("ce", |(word, _)| word);
    (number, flow.0, *bytes, class.0, word, arrived.as_nanos())
}
