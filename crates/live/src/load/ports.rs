//! Which packets are which flow's: a flow has its receiver's port to itself, in both hosts and for both protocols. Senders have
//! ports that the kernel chooses, a new one for each connection, from above those.

/// The first flow's port: the first that everybody may bind (RFC 6335, section 6).
const FIRST: u16 = 1024;

/// The first port that the kernel chooses for a sender (`net.ipv4.ip_local_port_range`).
const EPHEMERAL: u16 = 32_768;

/// As many flows as there are ports for.
pub const MOST_FLOWS: u32 = (EPHEMERAL - FIRST) as u32;

/// What a packet is to its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// From its sender to its receiver.
    Data,
    /// Back: acknowledgements, and what else a receiver says.
    Reply,
}

/// The receiver's port of flow number `flow`, which is below [`MOST_FLOWS`].
pub fn port(flow: u32) -> u16 {
    debug_assert!(flow < MOST_FLOWS, "flow {flow} has no port");
    FIRST + flow as u16
}

/// The flow of a packet with these ports, and what the packet is to it; `None` if it is of no flow.
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
    fn what_is_between_two_senders_or_two_receivers_is_nobodys() {
        for (source, destination) in [(40_000, 40_001), (5000, 5001), (22, 40_000), (0, 0)] {
            assert_eq!(flow(source, destination), None, "{source} to {destination}");
        }
    }
}
