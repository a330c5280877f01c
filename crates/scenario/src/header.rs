//! Packet headers as a classifier sees them, and the header fields of a group's flows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::fields::Ports;
use crate::model::Scenario;

/// The header fields that a classifier reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Header<'a> {
    /// IANA protocol number of the payload: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// The sender's address.
    pub source: IpAddr,
    /// The receiver's address.
    pub destination: IpAddr,
    /// The sender's port; 0 if the packet has none (ICMP, a later fragment).
    pub source_port: u16,
    /// The receiver's port; 0 if the packet has none.
    pub destination_port: u16,
    /// The differentiated services codepoint, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// The label of the flow's group; empty for packets from outside the scenario.
    pub label: &'a str,
}

impl Header<'_> {
    /// The header of a reply: both ends exchanged.
    #[must_use]
    pub fn reply(self) -> Self {
        Header {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..self
        }
    }
}

/// Header fields of a group's packets. From a prefix or a range of ports, each flow takes the next address or port; the
/// last is followed by the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The senders' addresses; `None` gives each flow its own.
    pub source: Option<IpNet>,
    /// The receivers' addresses; `None` gives each flow its own.
    pub destination: Option<IpNet>,
    /// The senders' ports.
    pub source_port: Ports,
    /// The receivers' ports.
    pub destination_port: Ports,
    /// The differentiated services codepoint, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// The group's label for classes.
    pub label: String,
}

/// Senders' own addresses: private (RFC 1918) and documentation (RFC 3849) prefixes.
const SOURCES: (IpNet, IpNet) = own(Ipv4Addr::new(10, 0, 0, 0), 8, 1);
/// Receivers' own addresses. They are distinct for up to `check::MOST_FLOWS` flows.
const DESTINATIONS: (IpNet, IpNet) = own(Ipv4Addr::new(172, 16, 0, 0), 12, 2);

const fn own(v4: Ipv4Addr, length: u8, subnet: u16) -> (IpNet, IpNet) {
    let v6 = Ipv6Addr::new(0x2001, 0xdb8, subnet, 0, 0, 0, 0, 0);
    (IpNet::V4(Ipv4Net::new_assert(v4, length)), IpNet::V6(Ipv6Net::new_assert(v6, 64)))
}

impl Headers {
    pub(crate) fn mixes_versions(&self) -> bool {
        self.source.zip(self.destination).is_some_and(|(source, destination)| is_v6(source) != is_v6(destination))
    }

    /// Whether each flow has addresses of its own at both ends.
    pub(crate) fn has_own_addresses(&self) -> bool {
        self.source.is_none() && self.destination.is_none()
    }

    /// The header of data of the group's flow `index`, which is flow `flow` of the scenario.
    fn header(&self, protocol: u8, index: u32, flow: u32) -> Header<'_> {
        let v6 = self.source.or(self.destination).is_some_and(is_v6);
        let address = |given: Option<IpNet>, own: (IpNet, IpNet)| match given {
            Some(prefix) => nth(prefix, index),
            None => nth(if v6 { own.1 } else { own.0 }, flow),
        };
        Header {
            protocol,
            source: address(self.source, SOURCES),
            destination: address(self.destination, DESTINATIONS),
            source_port: self.source_port.nth(index),
            destination_port: self.destination_port.nth(index),
            dscp: self.dscp,
            label: &self.label,
        }
    }
}

fn is_v6(prefix: IpNet) -> bool {
    matches!(prefix, IpNet::V6(_))
}

/// Host address `index` of `prefix`; wraps around.
fn nth(prefix: IpNet, index: u32) -> IpAddr {
    // The first address names the network, or any of its routers (RFC 4291, 2.6.1). In IPv4 the last is for broadcasts.
    // Prefixes of one or two addresses reserve neither (RFC 3021, RFC 6164).
    let bits = prefix.max_prefix_len() - prefix.prefix_len();
    let reserved = match prefix {
        _ if bits < 2 => 0,
        IpNet::V4(_) => 2,
        IpNet::V6(_) => 1,
    };
    // There are never more than 2^32 flows.
    let index = u64::from(index) % ((1 << bits.min(40)) - reserved) + reserved.min(1);
    match prefix {
        IpNet::V4(net) => Ipv4Addr::from_bits(net.network().to_bits() + index as u32).into(),
        IpNet::V6(net) => Ipv6Addr::from_bits(net.network().to_bits() + u128::from(index)).into(),
    }
}

/// The headers of a scenario's flows, computed when they are asked for: a table of all would cost memory in runs whose
/// disciplines never ask.
#[derive(Clone, Debug)]
pub struct FlowHeaders {
    /// The first flow of each group, its protocol and header fields.
    groups: Vec<(u32, u8, Headers)>,
    /// By group, and by number of a direction: the DSCP with which packets reach it. Empty if no link writes one.
    dscps: Vec<u8>,
    directions: usize,
}

impl FlowHeaders {
    /// The header of data of `flow`, in the flow order of results, where it reaches the direction `link` by number; `None`
    /// for any other flow. Replies have the [`reply`](Header::reply).
    pub fn of_flow(&self, flow: u32, link: u16) -> Option<Header<'_>> {
        let group = self.groups.partition_point(|(first, ..)| *first <= flow).checked_sub(1)?;
        let (first, protocol, headers) = &self.groups[group];
        let header = headers.header(*protocol, flow - first, flow);
        let dscp = self.dscps.get(group * self.directions + usize::from(link));
        Some(Header { dscp: dscp.copied().unwrap_or(header.dscp), ..header })
    }
}

impl Scenario {
    /// The headers of the flows, by number.
    pub fn flow_headers(&self) -> FlowHeaders {
        let mut first = 0;
        let groups = self.groups().filter(|group| group.flows > 0).map(|group| {
            let begins = first;
            first += group.flows;
            (begins, group.kind.protocol(), group.headers.clone())
        });
        FlowHeaders { groups: groups.collect(), dscps: self.dscps(), directions: self.hops().count() }
    }

    /// By group with flows, and by direction: the DSCP with which packets reach it. Empty if no link writes one.
    fn dscps(&self) -> Vec<u8> {
        if self.hops().all(|hop| self.direction_settings(hop).impairments.remarks.dscp.is_none()) {
            return Vec::new();
        }
        let groups = self.groups().filter(|group| group.flows > 0);
        let dscps =
            groups.flat_map(|group| self.hops().map(move |hop| self.dscp_at(hop, group.route, group.headers.dscp)));
        dscps.collect()
    }

    /// The header of each flow's data, in the flow order of results. Replies have the [`reply`](Header::reply).
    pub fn headers(&self) -> impl Iterator<Item = Header<'_>> {
        let flows = self.groups().flat_map(|group| (0..group.flows).map(move |index| (group, index)));
        (0..).zip(flows).map(|(flow, (group, index))| group.headers.header(group.kind.protocol(), index, flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Section;
    use crate::flows;
    use crate::schema::RawHeaders;

    fn addresses(prefix: &str, indices: &[u32]) -> Vec<String> {
        indices.iter().map(|index| nth(prefix.parse().unwrap(), *index).to_string()).collect()
    }

    #[test]
    fn addresses_are_taken_in_turn_without_the_networks_own() {
        assert_eq!(addresses("10.1.2.0/30", &[0, 1, 2]), ["10.1.2.1", "10.1.2.2", "10.1.2.1"]);
        assert_eq!(
            addresses("10.1.0.0/16", &[254, 255, 65_533, 65_534]),
            ["10.1.0.255", "10.1.1.0", "10.1.255.254", "10.1.0.1"]
        );
        assert_eq!(addresses("10.1.2.0/31", &[0, 1, 2]), ["10.1.2.0", "10.1.2.1", "10.1.2.0"]);
        assert_eq!(addresses("10.1.2.7/32", &[0, 9]), ["10.1.2.7", "10.1.2.7"]);
        assert_eq!(addresses("0.0.0.0/0", &[0, u32::MAX - 2, u32::MAX - 1]), ["0.0.0.1", "255.255.255.254", "0.0.0.1"]);
        assert_eq!(addresses("2001:db8::/126", &[0, 2, 3]), ["2001:db8::1", "2001:db8::3", "2001:db8::1"]);
        assert_eq!(addresses("2001:db8::/127", &[0, 1, 2]), ["2001:db8::", "2001:db8::1", "2001:db8::"]);
        assert_eq!(addresses("::/0", &[0, u32::MAX]), ["::1", "::1:0:0"]);
    }

    #[test]
    fn ports_are_taken_in_turn() {
        let ports = Ports { first: 5000, last: 5002 };
        assert_eq!([0, 1, 2, 3, u32::MAX].map(|index| ports.nth(index)), [5000, 5001, 5002, 5000, 5000]);
        let all = Ports { first: 0, last: u16::MAX };
        assert_eq!([0, 65_535, 65_536].map(|index| all.nth(index)), [0, 65_535, 0]);
    }

    #[test]
    fn an_answer_goes_the_other_way() {
        let section = Section { span: 0..0, heading: "" };
        let headers = flows::headers(&RawHeaders::default(), &section, "web").unwrap();
        let header = headers.header(6, 3, 300);
        let reply = header.reply();
        assert_eq!((header.source, header.destination), (reply.destination, reply.source));
        assert_eq!((header.source_port, header.destination_port), (49_155, 5001));
        assert_eq!((reply.source_port, reply.destination_port), (5001, 49_155));
        assert_eq!(
            (header.source.to_string(), header.destination.to_string()),
            ("10.0.1.45".into(), "172.16.1.45".into())
        );
        assert_eq!(reply.reply(), header);
    }
}
