//! Classifying: which aggregate a packet belongs to, and which packets a discipline takes for one flow.
//!
//! The host classifies, disciplines are told: [`Packet`](headgate_core::Packet)'s `flow` and `class` are what a
//! [`Classifier`] gives. It looks at a [`Header`] and nothing else, wherever that is from.

use std::net::IpAddr;

use headgate_core::parts::keyed;
use headgate_core::{Class, ClassId, FlowId};
use ipnet::IpNet;

use crate::fields::Ports;
use crate::header::Header;
use crate::model::Scenario;

/// Which packets are of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKey {
    /// Those alike in addresses, ports and protocol.
    FiveTuple,
    /// Those whose senders' addresses are alike in this many first bits: 128 for all bits, also of an IPv4 address.
    Source(u8),
    /// The same for the receivers' addresses.
    Destination(u8),
    /// Those between the same two addresses.
    Pair,
    /// Those of one protocol.
    Protocol,
    /// Those with one DSCP.
    Dscp,
    /// Those of one class.
    Class,
    /// Those of one label.
    Label,
}

impl FlowKey {
    /// All bits of an address.
    pub(crate) const WHOLE: u8 = 128;
}

/// An aggregate of flows: what it takes in, and its share.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRule {
    /// Its name.
    pub name: String,
    /// The class it is a part of: one before it.
    pub parent: Option<ClassId>,
    /// Its share of the link, or of its parent's part, beside its siblings' weights; above zero.
    pub weight: f64,
    /// What it takes in.
    pub conditions: Conditions,
}

/// What a packet's header must say. Of each field's values any will do; a field without values may say anything.
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
    /// Whether `header` says what it must.
    #[inline]
    pub fn hold(&self, header: &Header<'_>) -> bool {
        any(&self.protocol, |protocol| *protocol == header.protocol)
            && any(&self.dscp, |dscp| *dscp == header.dscp)
            && any(&self.source_port, |ports| ports.contains(header.source_port))
            && any(&self.destination_port, |ports| ports.contains(header.destination_port))
            && any(&self.source, |prefix| prefix.contains(&header.source))
            && any(&self.destination, |prefix| prefix.contains(&header.destination))
            && any(&self.label, |label| label == header.label)
    }

    /// Whether every header will do.
    pub fn are_none(&self) -> bool {
        *self == Conditions::default()
    }
}

#[inline]
fn any<T>(values: &[T], fits: impl Fn(&T) -> bool) -> bool {
    values.is_empty() || values.iter().any(fits)
}

/// Sorts packets into classes and flows: no allocation, a look at each class at most.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// The classes, each before its children and those before its next sibling.
    nodes: Vec<Node>,
    flow: FlowKey,
    key: u64,
}

#[derive(Clone, Debug)]
struct Node {
    class: ClassId,
    conditions: Conditions,
    /// A packet that fulfils the conditions is the class's own, whether a child takes it or not.
    takes: bool,
    /// Where the nodes after the class's last descendant begin.
    end: usize,
}

impl Classifier {
    /// A classifier for `classes`, numbered from 1, each after its parent. `key` is a secret: without it nobody can
    /// choose headers that fall into one flow.
    pub fn new(classes: &[ClassRule], flow: FlowKey, key: u64) -> Classifier {
        let mut nodes: Vec<Node> = Vec::with_capacity(classes.len());
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); classes.len() + 1];
        for (index, class) in classes.iter().enumerate() {
            children[usize::from(class.parent.unwrap_or_default().0)].push(index);
        }
        // Depth first, by hand: a chain of classes may be long. `open` holds the nodes whose descendants are under way.
        let mut open: Vec<usize> = Vec::new();
        let mut ahead: Vec<(usize, usize)> = children[0].iter().rev().map(|index| (*index, 0)).collect();
        while let Some((index, depth)) = ahead.pop() {
            for closed in open.drain(depth..) {
                nodes[closed].end = nodes.len();
            }
            open.push(nodes.len());
            let below = &children[index + 1];
            let conditions = classes[index].conditions.clone();
            let takes = below.is_empty() || !conditions.are_none();
            nodes.push(Node { class: ClassId(index as u16 + 1), conditions, takes, end: 0 });
            ahead.extend(below.iter().rev().map(|child| (*child, depth + 1)));
        }
        for closed in open {
            nodes[closed].end = nodes.len();
        }
        Classifier { nodes, flow, key }
    }

    /// The class of a packet, 0 if none takes it in. The first class of those without a parent whose conditions hold
    /// takes the packet, and of its children again the first, and so on; what no child takes stays with the parent. A
    /// class without conditions has what its children take, or anything if it has none.
    #[inline]
    pub fn class(&self, header: &Header<'_>) -> ClassId {
        let mut class = ClassId(0);
        let (mut at, mut end) = (0, self.nodes.len());
        while at < end {
            let node = &self.nodes[at];
            if !node.conditions.hold(header) {
                at = node.end;
                continue;
            }
            if node.takes {
                (class, end) = (node.class, node.end);
            }
            at += 1;
        }
        class
    }

    /// The flow of a packet that is of `class`: a hash, the same for the same flow and for others by chance alone.
    #[inline]
    pub fn flow(&self, header: &Header<'_>, class: ClassId) -> FlowId {
        let mut hash = Hash(self.key);
        match self.flow {
            FlowKey::FiveTuple => {
                hash.address(header.source, FlowKey::WHOLE);
                hash.address(header.destination, FlowKey::WHOLE);
                let ports = u64::from(header.source_port) << 16 | u64::from(header.destination_port);
                hash.word(u64::from(header.protocol) << 32 | ports);
            }
            FlowKey::Source(bits) => hash.address(header.source, bits),
            FlowKey::Destination(bits) => hash.address(header.destination, bits),
            FlowKey::Pair => {
                hash.address(header.source, FlowKey::WHOLE);
                hash.address(header.destination, FlowKey::WHOLE);
            }
            FlowKey::Protocol => hash.word(header.protocol.into()),
            FlowKey::Dscp => hash.word(header.dscp.into()),
            FlowKey::Class => hash.word(class.0.into()),
            FlowKey::Label => hash.text(header.label),
        }
        FlowId(hash.0)
    }
}

/// What was hashed so far is the key of what comes.
struct Hash(u64);

impl Hash {
    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = keyed(self.0, FlowId(word));
    }

    /// The first `bits` of an address, all of it if it has fewer.
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
    /// Whether disciplines see other flows and classes than every flow by itself, in class 0.
    pub fn classifies(&self) -> bool {
        !self.classes.is_empty() || self.flow_key != FlowKey::FiveTuple
    }

    /// A classifier as the scenario has it; `key` is a secret.
    pub fn classifier(&self, key: u64) -> Classifier {
        Classifier::new(&self.classes, self.flow_key, key)
    }

    /// The classes as disciplines are told of them in [`Place`](headgate_core::Place), what none takes first; empty if
    /// the scenario has none.
    pub fn shares(&self) -> Vec<Class> {
        if self.classes.is_empty() {
            return Vec::new();
        }
        let rest = Class { parent: None, weight: 1.0 };
        let classes = self.classes.iter().map(|class| Class { parent: class.parent, weight: class.weight });
        std::iter::once(rest).chain(classes).collect()
    }
}
