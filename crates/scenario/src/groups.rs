//! All groups of flows in the order of results: TCP before UDP.

use std::fmt;

use crate::header::Headers;
use crate::model::{FlowGroup, Scenario, TcpGroup, UdpGroup};
use crate::network::Hop;

/// Transport protocol of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// TCP.
    Tcp,
    /// UDP: unresponsive without congestion control.
    Udp,
}

impl Kind {
    /// The name in scenario files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Tcp => "tcp",
            Kind::Udp => "udp",
        }
    }

    /// IANA protocol number.
    pub const fn protocol(self) -> u8 {
        match self {
            Kind::Tcp => 6,
            Kind::Udp => 17,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Properties of every group, whatever its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Position in the list, from 0.
    pub index: usize,
    /// Its name in tables.
    pub name: &'a str,
    /// TCP or UDP.
    pub kind: Kind,
    /// Number of flows.
    pub flows: u32,
    /// Size of a full packet on the wire, in bytes.
    pub packet: u32,
    /// The link directions that its data crosses.
    pub route: &'a [Hop],
    /// Fields of its packet headers.
    pub headers: &'a Headers,
}

impl<'a> Group<'a> {
    fn of<S>(group: &'a FlowGroup<S>, kind: Kind, packet: u32) -> Group<'a> {
        let FlowGroup { name, flows, route, headers, .. } = group;
        Group { index: 0, name, kind, flows: *flows, packet, route, headers }
    }
}

/// The default name of group `index` (from 0) of its kind: `tcp`, `tcp2`, `tcp3` ...
pub(crate) fn default_name(kind: Kind, index: usize) -> String {
    if index == 0 { kind.to_string() } else { format!("{kind}{}", index + 1) }
}

pub(crate) fn groups<'a>(tcp: &'a [TcpGroup], udp: &'a [UdpGroup]) -> impl Iterator<Item = Group<'a>> + Clone {
    let tcp = tcp.iter().map(|group| Group::of(group, Kind::Tcp, group.packet));
    let both = tcp.chain(udp.iter().map(|group| Group::of(group, Kind::Udp, group.packet)));
    both.enumerate().map(|(index, group)| Group { index, ..group })
}

impl Scenario {
    /// All groups, TCP before UDP.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        groups(&self.tcp, &self.udp)
    }

    /// The routes of all groups' data. Replies take the same links back.
    pub fn routes(&self) -> impl Iterator<Item = &[Hop]> {
        self.groups().map(|group| group.route)
    }

    /// Total number of flows.
    pub fn total_flows(&self) -> u32 {
        self.groups().map(|group| group.flows).sum()
    }

    /// Mean packet size over all flows in bytes, for disciplines that count in packets.
    pub fn mean_packet(&self) -> u32 {
        let bytes: u64 = self.groups().map(|group| u64::from(group.flows) * u64::from(group.packet)).sum();
        (bytes / u64::from(self.total_flows()).max(1)) as u32
    }
}
