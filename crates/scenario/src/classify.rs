//! Classification: maps a packet's header to its class (an aggregate of flows) and its flow, as disciplines see them.
//!
//! The simulator or the forwarding loop classifies each packet and sets its `flow` and `class` (see
//! [`Packet`](aqm::Packet)). A [`Classifier`] reads only the [`Header`], simulated or real.

use std::net::IpAddr;

use aqm::parts::keyed;
use aqm::{Class, ClassId, FlowId, HostId};
use ipnet::IpNet;

use crate::fields::Ports;
use crate::header::Header;
use crate::model::Scenario;

/// The header fields that packets of one flow share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKey {
    /// Addresses, ports and protocol.
    FiveTuple,
    /// This many leading bits of the source address; 128 for the whole address, also in IPv4.
    Source(u8),
    /// The same for the destination address.
    Destination(u8),
    /// Both addresses.
    Pair,
    /// The sum of both addresses. The flow's identifier is the sum itself, because ns-2's SFQ hashes this number.
    AddressSum,
    /// The protocol.
    Protocol,
    /// The DSCP.
    Dscp,
    /// The class.
    Class,
    /// The label.
    Label,
}

impl FlowKey {
    pub(crate) const WHOLE: u8 = 128;
}

/// An aggregate of flows: the packets it matches, and its share of the link.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficClass {
    /// Its name.
    pub name: String,
    /// The parent class; it precedes this class.
    pub parent: Option<ClassId>,
    /// Weight among its siblings, above zero. Siblings divide the link, or their parent's share.
    pub weight: f64,
    /// The packets it matches.
    pub conditions: Conditions,
}

/// Conditions on a header. A field matches if one of its values does; a field without values matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// IANA's protocol numbers.
    pub protocol: Vec<u8>,
    /// Prefixes of the sender's address.
    pub source: Vec<IpNet>,
    /// Prefixes of the receiver's address.
    pub destination: Vec<IpNet>,
    /// The sender's ports.
    pub source_port: Vec<Ports>,
    /// The receiver's ports.
    pub destination_port: Vec<Ports>,
    /// Differentiated services codepoints.
    pub dscp: Vec<u8>,
    /// Labels of groups.
    pub label: Vec<String>,
}

impl Conditions {
    /// Whether `header` meets all conditions.
    #[inline]
    pub fn match_header(&self, header: &Header<'_>) -> bool {
        matches_any(&self.protocol, |protocol| *protocol == header.protocol)
            && matches_any(&self.dscp, |dscp| *dscp == header.dscp)
            && matches_any(&self.source_port, |ports| ports.contains(header.source_port))
            && matches_any(&self.destination_port, |ports| ports.contains(header.destination_port))
            && matches_any(&self.source, |prefix| prefix.contains(&header.source))
            && matches_any(&self.destination, |prefix| prefix.contains(&header.destination))
            && matches_any(&self.label, |label| label == header.label)
    }

    /// Whether every header matches.
    pub fn is_empty(&self) -> bool {
        *self == Conditions::default()
    }
}

#[inline]
fn matches_any<T>(values: &[T], fits: impl Fn(&T) -> bool) -> bool {
    values.is_empty() || values.iter().any(fits)
}

/// Sorts packets into classes and flows. Allocates nothing and checks each class at most once.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// The classes in depth-first order.
    nodes: Vec<RuleNode>,
    flow: FlowKey,
    key: u64,
}

#[derive(Clone, Debug)]
struct RuleNode {
    class: ClassId,
    conditions: Conditions,
    /// Whether a matching packet belongs to the class even if no child matches.
    takes_unmatched: bool,
    /// Index after the class's last descendant.
    end: usize,
}

impl Classifier {
    /// A classifier for `classes`, which are numbered from 1 and follow their parents. A secret `key` prevents senders
    /// from choosing headers that collide in one flow.
    pub fn new(classes: &[TrafficClass], flow: FlowKey, key: u64) -> Classifier {
        let mut nodes: Vec<RuleNode> = Vec::with_capacity(classes.len());
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); classes.len() + 1];
        for (index, class) in classes.iter().enumerate() {
            children[usize::from(class.parent.unwrap_or_default().0)].push(index);
        }
        // Depth first without recursion: a chain of classes may be long. `ancestors` holds the current node's
        // ancestors.
        let mut ancestors: Vec<usize> = Vec::new();
        let mut pending: Vec<(usize, usize)> = children[0].iter().rev().map(|index| (*index, 0)).collect();
        while let Some((index, depth)) = pending.pop() {
            for closed in ancestors.drain(depth..) {
                nodes[closed].end = nodes.len();
            }
            ancestors.push(nodes.len());
            let inner = &children[index + 1];
            let conditions = classes[index].conditions.clone();
            let takes_unmatched = inner.is_empty() || !conditions.is_empty();
            nodes.push(RuleNode { class: ClassId(index as u16 + 1), conditions, takes_unmatched, end: 0 });
            pending.extend(inner.iter().rev().map(|child| (*child, depth + 1)));
        }
        for closed in ancestors {
            nodes[closed].end = nodes.len();
        }
        Classifier { nodes, flow, key }
    }

    /// The class of a packet; 0 if none matches. The first matching class without a parent takes the packet, then its
    /// first matching child, and so on. A class without conditions matches what its children match; without children,
    /// it matches everything.
    #[inline]
    pub fn class(&self, header: &Header<'_>) -> ClassId {
        let mut class = ClassId(0);
        let (mut at, mut end) = (0, self.nodes.len());
        while at < end {
            let node = &self.nodes[at];
            if !node.conditions.match_header(header) {
                at = node.end;
                continue;
            }
            if node.takes_unmatched {
                (class, end) = (node.class, node.end);
            }
            at += 1;
        }
        class
    }

    /// The flow of a packet of `class`: a keyed hash, so that different flows collide only by chance. With
    /// [`FlowKey::AddressSum`] it is the sum of the addresses.
    #[inline]
    pub fn flow(&self, header: &Header<'_>, class: ClassId) -> FlowId {
        let mut hash = Hash(self.key);
        match self.flow {
            FlowKey::FiveTuple => return FlowId(five_tuple_id(header, self.key)),
            FlowKey::Source(bits) => hash.address(header.source, bits),
            FlowKey::Destination(bits) => hash.address(header.destination, bits),
            FlowKey::Pair => {
                hash.address(header.source, FlowKey::WHOLE);
                hash.address(header.destination, FlowKey::WHOLE);
            }
            FlowKey::AddressSum => {
                return FlowId(low_bits(header.source).wrapping_add(low_bits(header.destination)).into());
            }
            FlowKey::Protocol => hash.word(header.protocol.into()),
            FlowKey::Dscp => hash.word(header.dscp.into()),
            FlowKey::Class => hash.word(class.0.into()),
            FlowKey::Label => hash.text(header.label),
        }
        FlowId(hash.0)
    }
}

/// The last 32 bits of an address, all of an IPv4 address.
fn low_bits(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(v6) => v6.to_bits() as u32,
    }
}

/// An identifier of the header's addresses, ports and protocol, hashed under `key`.
#[inline]
pub fn five_tuple_id(header: &Header<'_>, key: u64) -> u64 {
    let mut hash = Hash(key);
    hash.address(header.source, FlowKey::WHOLE);
    hash.address(header.destination, FlowKey::WHOLE);
    let ports = u64::from(header.source_port) << 16 | u64::from(header.destination_port);
    hash.word(u64::from(header.protocol) << 32 | ports);
    hash.0
}

/// The identifier of the host with this address, hashed under `key`.
#[inline]
pub fn host_id(address: IpAddr, key: u64) -> HostId {
    let mut hash = Hash(key);
    hash.address(address, FlowKey::WHOLE);
    HostId(hash.0)
}

/// A hash in progress: each result is the key of the next step.
struct Hash(u64);

impl Hash {
    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = keyed(self.0, FlowId(word));
    }

    /// Hashes the first `bits` of an address, at most its length.
    #[inline]
    fn address(&mut self, address: IpAddr, bits: u8) {
        match address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
                self.word(4 << 32 | u64::from(v4.to_bits() & mask));
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
                let bits = v6.to_bits() & mask;
                self.word((bits >> 64) as u64);
                self.word(bits as u64);
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for piece in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.word(u64::from_le_bytes(word));
        }
    }
}

impl Scenario {
    /// Whether disciplines see other flows than 5-tuples, or classes.
    pub fn classifies(&self) -> bool {
        !self.classes.is_empty() || self.flow_key != FlowKey::FiveTuple
    }

    /// The scenario's classifier; `key` is a secret.
    pub fn classifier(&self, key: u64) -> Classifier {
        Classifier::new(&self.classes, self.flow_key, key)
    }

    /// The classes for [`LinkInfo`](aqm::LinkInfo), unclassified traffic first; empty if the scenario has
    /// none.
    pub fn link_classes(&self) -> Vec<Class> {
        if self.classes.is_empty() {
            return Vec::new();
        }
        let rest = Class { parent: None, weight: 1.0 };
        let classes = self.classes.iter().map(|class| Class { parent: class.parent, weight: class.weight });
        std::iter::once(rest).chain(classes).collect()
    }
}
