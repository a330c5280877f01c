//! Maps ports to flows: each flow has its own receiver port, in both hosts and for both protocols. Sender ports are
//! chosen by the kernel from a higher range, a new one for each connection.

/// Port of the first flow: the first that needs no privilege (RFC 6335, section 6).
const FIRST: u16 = 1024;

/// Start of the kernel's range for senders (`net.ipv4.ip_local_port_range`).
const EPHEMERAL: u16 = 32_768;

/// Number of receiver ports.
pub const MOST_FLOWS: u32 = (EPHEMERAL - FIRST) as u32;

/// Direction of a packet within its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// From sender to receiver.
    Data,
    /// From receiver to sender, such as an ACK.
    Reply,
}

/// Receiver port of flow number `flow`, which must be below [`MOST_FLOWS`].
pub fn port(flow: u32) -> u16 {
    debug_assert!(flow < MOST_FLOWS, "flow {flow} has no port");
    FIRST + flow as u16
}

/// Finds flow and kind of a packet by its ports; `None` if they belong to no flow.
#[inline]
pub fn flow(source: u16, destination: u16) -> Option<(u32, PacketKind)> {
    let of = |port: u16| (FIRST..EPHEMERAL).contains(&port).then(|| u32::from(port - FIRST));
    match (of(source), of(destination)) {
        (None, Some(flow)) => Some((flow, PacketKind::Data)),
        (Some(flow), None) => Some((flow, PacketKind::Reply)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_known_by_its_receivers_port_alone() {
        for number in [0, 1, 9, MOST_FLOWS - 1] {
            assert_eq!(flow(EPHEMERAL, port(number)), Some((number, PacketKind::Data)));
            assert_eq!(flow(port(number), u16::MAX), Some((number, PacketKind::Reply)));
        }
    }

    #[test]
    fn packets_between_two_senders_or_two_receivers_belong_to_no_flow() {
        for (source, destination) in [(40_000, 40_001), (5000, 5001), (22, 40_000), (0, 0)] {
            assert_eq!(flow(source, destination), None, "{source} to {destination}");
        }
    }
}
