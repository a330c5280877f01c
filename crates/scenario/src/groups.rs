//! The groups of flows as one list, TCP before UDP: the order in which results count them.

use std::fmt;

use crate::header::Headers;
use crate::model::{FlowGroup, Scenario, TcpGroup, UdpGroup};
use crate::network::Hop;

/// What a group's flows speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// TCP.
    Tcp,
    /// UDP: it does not slow down, unless by TFRC.
    Udp,
}

impl Kind {
    /// The word for it in scenario files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Tcp => "tcp",
            Kind::Udp => "udp",
        }
    }

    /// IANA's protocol number.
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

/// What all groups have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Its place in the list, from 0.
    pub index: usize,
    /// Its name in tables.
    pub name: &'a str,
    /// TCP or UDP.
    pub kind: Kind,
    /// How many flows.
    pub flows: u32,
    /// A full packet on the wire in bytes.
    pub packet: u32,
    /// The directions of links that its data goes over.
    pub route: &'a [Hop],
    /// What its packets' headers say.
    pub headers: &'a Headers,
}

impl<'a> Group<'a> {
    fn of<S>(group: &'a FlowGroup<S>, kind: Kind, packet: u32) -> Group<'a> {
        let FlowGroup { name, flows, route, headers, .. } = group;
        Group { index: 0, name, kind, flows: *flows, packet, route, headers }
    }
}

/// The name of group number `index` (from 0) of its kind where the file gives none: `tcp`, `tcp2`, `tcp3` ...
pub(crate) fn default_name(kind: Kind, index: usize) -> String {
    if index == 0 { kind.to_string() } else { format!("{kind}{}", index + 1) }
}

/// Every group, TCP before UDP.
pub(crate) fn groups<'a>(tcp: &'a [TcpGroup], udp: &'a [UdpGroup]) -> impl Iterator<Item = Group<'a>> + Clone {
    let tcp = tcp.iter().map(|group| Group::of(group, Kind::Tcp, group.packet));
    let both = tcp.chain(udp.iter().map(|group| Group::of(group, Kind::Udp, group.packet)));
    both.enumerate().map(|(index, group)| Group { index, ..group })
}

impl Scenario {
    /// Every group, TCP before UDP.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        groups(&self.tcp, &self.udp)
    }

    /// The routes of all groups, on which their data goes; what comes back goes the same way back.
    pub fn routes(&self) -> impl Iterator<Item = &[Hop]> {
        self.groups().map(|group| group.route)
    }

    /// The flows of all groups together.
    pub fn total_flows(&self) -> u32 {
        self.groups().map(|group| group.flows).sum()
    }

    /// The size of a typical packet in bytes, for disciplines that count in packets: the mean over all flows.
    pub fn mean_packet(&self) -> u32 {
        let bytes: u64 = self.groups().map(|group| u64::from(group.flows) * u64::from(group.packet)).sum();
        (bytes / u64::from(self.total_flows()).max(1)) as u32
    }
}
