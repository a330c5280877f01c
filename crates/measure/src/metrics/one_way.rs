//! One-way delays between transports, and the least that a path allows.

use aqm::Span;
use aqm::parts::Histogram;
use headgate_scenario::{Scenario, UdpGroup};

use crate::path::base_one_way;

/// One-way delays of packets between transports, access links included (RFC 7928, section 2.6; RFC 7679).
///
/// Stored as excess over the path's least delay, so that a variation of milliseconds stays exact on a long path. The
/// packet delay variation of RFC 5481, section 4.2, is this excess less its minimum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneWayDelays {
    /// Least delay of a packet: no queue, and the highest rate of each link.
    pub base: Span,
    /// Delay above `base` in nanoseconds, off by at most 2^10 ns and 0.8 %.
    pub excess: Histogram,
}

/// Empty one-way delays of all groups, TCP before UDP.
pub fn one_way_delays(scenario: &Scenario) -> Vec<OneWayDelays> {
    let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, group.packet));
    let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, least_datagram(group)));
    let ends = tcp.chain(udp).zip(scenario.routes());
    ends.map(|((sender, receiver, bytes), route)| OneWayDelays {
        base: base_one_way(scenario, route, [sender, receiver], bytes),
        excess: Histogram::default(),
    })
    .collect()
}

/// The least datagram of a group in bytes on the wire: its writes may fill less than one.
fn least_datagram(group: &UdpGroup) -> u32 {
    let payload = group.packet - group.header;
    match group.source.write_bytes() {
        _ if group.is_controlled() && !group.is_call() => group.packet,
        Some(bytes) if bytes % u64::from(payload) == 0 => group.packet,
        Some(bytes) => group.header + (bytes % u64::from(payload)) as u32,
        None => group.header,
    }
}
