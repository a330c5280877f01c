//! The groups of flows as one list, TCP before UDP: the order in which results count them.

use std::fmt;

use crate::model::Scenario;

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
}

/// The name of group number `index` (from 0) of its kind where the file gives none: `tcp`, `tcp2`, `tcp3` ...
pub(crate) fn default_name(kind: Kind, index: usize) -> String {
    if index == 0 { kind.to_string() } else { format!("{kind}{}", index + 1) }
}

impl Scenario {
    /// Every group, TCP before UDP.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let tcp = self.tcp.iter().map(|group| (Kind::Tcp, &group.name, group.flows));
        let udp = self.udp.iter().map(|group| (Kind::Udp, &group.name, group.flows));
        tcp.chain(udp).enumerate().map(|(index, (kind, name, flows))| Group { index, name, kind, flows })
    }

    /// The flows of all groups together.
    pub fn total_flows(&self) -> u32 {
        self.groups().map(|group| group.flows).sum()
    }

    /// The size of a typical packet in bytes, for disciplines that count in packets: the mean over all flows.
    pub fn mean_packet(&self) -> u32 {
        let tcp = self.tcp.iter().map(|group| (group.flows, group.packet));
        let sizes = tcp.chain(self.udp.iter().map(|group| (group.flows, group.packet)));
        let bytes: u64 = sizes.map(|(flows, packet)| u64::from(flows) * u64::from(packet)).sum();
        (bytes / u64::from(self.total_flows()).max(1)) as u32
    }
}
