//! Packet header fields in scenario files: prefixes, ports, protocols, DSCPs; single values or lists.

use std::fmt::{self, Debug};
use std::net::IpAddr;

use ipnet::IpNet;
use toml::de::DeValue;

use crate::classify::FlowKey;
use crate::error::Fault;
use crate::schema::{Form, Node, Show, ValueKind, did_you_mean, mismatch};

/// A range of port numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The lowest port.
    pub first: u16,
    /// The highest port; not below `first`.
    pub last: u16,
}

impl Ports {
    /// Whether `port` is in the range.
    #[inline]
    pub fn contains(&self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }

    /// Port `index` of the range, from 0; wraps around.
    pub(crate) fn nth(&self, index: u32) -> u16 {
        self.first + (index % (u32::from(self.last - self.first) + 1)) as u16
    }
}

/// As scenario files write it.
impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

/// A number of at most eight bits with names for some values.
pub(crate) trait NamedNumber: Copy + Debug {
    /// Name of the quantity, with its article.
    const WHAT: &'static str;
    const MOST: u8;
    /// Names and values. The first name of a value is the one written.
    const NAMES: &'static [(&'static str, u8)];

    fn new(value: u8) -> Self;
    fn value(self) -> u8;
}

/// A differentiated services codepoint: the upper six bits of IPv4's TOS and IPv6's traffic class (RFC 2474).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dscp(pub(crate) u8);

impl NamedNumber for Dscp {
    const WHAT: &'static str = "a DSCP";
    const MOST: u8 = 63;
    // CS0 to CS7 (RFC 2474, 4.2.2; `DF` is what RFC 4594 calls CS0), LE (RFC 8622), AF (RFC 2597), VOICE-ADMIT (RFC
    // 5865), EF (RFC 3246).
    #[rustfmt::skip]
    const NAMES: &'static [(&'static str, u8)] = &[
        ("CS0", 0), ("DF", 0), ("LE", 1), ("CS1", 8), ("AF11", 10), ("AF12", 12), ("AF13", 14),
        ("CS2", 16), ("AF21", 18), ("AF22", 20), ("AF23", 22), ("CS3", 24), ("AF31", 26), ("AF32", 28), ("AF33", 30),
        ("CS4", 32), ("AF41", 34), ("AF42", 36), ("AF43", 38), ("CS5", 40), ("VOICE-ADMIT", 44), ("EF", 46),
        ("CS6", 48), ("CS7", 56),
    ];

    fn new(value: u8) -> Dscp {
        Dscp(value)
    }
    fn value(self) -> u8 {
        self.0
    }
}

/// An IP packet's payload by IANA protocol number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpProtocol(pub(crate) u8);

impl NamedNumber for IpProtocol {
    const WHAT: &'static str = "a protocol";
    const MOST: u8 = u8::MAX;
    const NAMES: &'static [(&'static str, u8)] = &[("tcp", 6), ("udp", 17), ("icmp", 1), ("icmpv6", 58), ("sctp", 132)];

    fn new(value: u8) -> IpProtocol {
        IpProtocol(value)
    }
    fn value(self) -> u8 {
        self.0
    }
}

/// The name in quotes, or the number if it has none.
impl<N: NamedNumber> Show for N {
    fn show(&self) -> String {
        let name = N::NAMES.iter().find(|(_, named)| *named == self.value());
        name.map_or_else(|| self.value().to_string(), |(name, _)| format!("\"{name}\""))
    }
}

/// A single port is a number, a range a text.
impl Show for Ports {
    fn show(&self) -> String {
        if self.first == self.last { self.to_string() } else { format!("\"{self}\"") }
    }
}

impl<N: NamedNumber> ValueKind for N {
    const NUMBERS: bool = true;

    fn expecting() -> String {
        format!("{} such as \"{}\", or a number from 0 to {}", N::WHAT, N::NAMES[0].0, N::MOST)
    }
    fn from_text(text: &str) -> Result<N, String> {
        if text.parse::<i64>().is_ok() {
            return N::from_number(text);
        }
        let names = || N::NAMES.iter().map(|(name, _)| *name);
        let found = N::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|(_, value)| N::new(*value)).ok_or_else(|| {
            let guess = did_you_mean(text, names());
            let known: Vec<&str> = names().collect();
            format!("`{text}` is not {}{guess} (known: {}, or 0 to {})", N::WHAT, known.join(", "), N::MOST)
        })
    }
    fn from_number(number: &str) -> Result<N, String> {
        let value = number.parse().ok().filter(|value| *value <= N::MOST);
        value.map(N::new).ok_or_else(|| format!("{} is 0 to {}, not {number}", N::WHAT, N::MOST))
    }
}

impl ValueKind for Ports {
    const NUMBERS: bool = true;

    fn expecting() -> String {
        "a port such as 443, or a range such as \"5000-6000\"".to_string()
    }
    fn from_text(text: &str) -> Result<Ports, String> {
        let bad = |_| format!("expected {}, found {text:?}", Self::expecting());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |number: &str| Self::from_number(&number.trim().parse::<i64>().map_err(bad)?.to_string());
        let ports = Ports { first: port(first)?.first, last: port(last)?.last };
        if ports.first > ports.last {
            return Err(format!("the range {text:?} ends before it begins"));
        }
        Ok(ports)
    }
    fn from_number(number: &str) -> Result<Ports, String> {
        let port = number.parse().map_err(|_| format!("a port is 0 to 65535, not {number}"))?;
        Ok(Ports { first: port, last: port })
    }
}

/// An address is a prefix of full length.
impl ValueKind for IpNet {
    fn expecting() -> String {
        "an address or a prefix, such as \"10.1.0.0/16\" or \"2001:db8::/32\"".to_string()
    }
    fn from_text(text: &str) -> Result<IpNet, String> {
        let address = || text.parse::<IpAddr>().map(IpNet::from).ok();
        let prefix = text.parse::<IpNet>().ok().or_else(address);
        let prefix = prefix.ok_or_else(|| format!("expected {}, found {text:?}", Self::expecting()))?;
        if prefix.trunc() != prefix {
            return Err(format!("{text:?} has bits beyond its length; write \"{}\"", prefix.trunc()));
        }
        Ok(prefix)
    }
}

/// A prefix, or `"own"` for a separate address per flow.
#[derive(Clone, Debug)]
pub(crate) struct PrefixOrOwn(pub(crate) Option<IpNet>);

impl ValueKind for PrefixOrOwn {
    fn expecting() -> String {
        format!("{}, or \"own\"", IpNet::expecting())
    }
    fn from_text(text: &str) -> Result<PrefixOrOwn, String> {
        if text == "own" {
            Ok(PrefixOrOwn(None))
        } else {
            IpNet::from_text(text).map(|prefix| PrefixOrOwn(Some(prefix)))
        }
    }
}

impl Show for IpNet {
    fn show(&self) -> String {
        if self.prefix_len() == self.max_prefix_len() { format!("\"{}\"", self.addr()) } else { format!("\"{self}\"") }
    }
}

impl Show for PrefixOrOwn {
    fn show(&self) -> String {
        self.0.map_or_else(|| "\"own\"".to_string(), |prefix| prefix.show())
    }
}

impl FlowKey {
    const WORDS: [(&'static str, FlowKey); 9] = [
        ("5-tuple", FlowKey::FiveTuple),
        ("source", FlowKey::Source(FlowKey::WHOLE)),
        ("destination", FlowKey::Destination(FlowKey::WHOLE)),
        ("pair", FlowKey::Pair),
        ("address_sum", FlowKey::AddressSum),
        ("protocol", FlowKey::Protocol),
        ("dscp", FlowKey::Dscp),
        ("class", FlowKey::Class),
        ("label", FlowKey::Label),
    ];
}

/// As scenario files write it.
impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (Self::WORDS.iter().find(|(_, key)| key == self), self) {
            (Some((word, _)), _) => f.write_str(word),
            (None, FlowKey::Destination(bits)) => write!(f, "destination/{bits}"),
            (None, FlowKey::Source(bits)) => write!(f, "source/{bits}"),
            (None, _) => unreachable!("every other key has its word"),
        }
    }
}

impl ValueKind for FlowKey {
    fn expecting() -> String {
        let words: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
        format!("the header fields of a flow: {}, or a prefix such as source/24", words.join(", "))
    }
    fn from_text(text: &str) -> Result<FlowKey, String> {
        let (word, bits) = text.split_once('/').map_or((text, None), |(word, bits)| (word, Some(bits)));
        let bits = bits.map(|bits| bits.parse().ok().filter(|bits| *bits <= FlowKey::WHOLE));
        match (Self::WORDS.iter().find(|(known, _)| *known == word), bits) {
            (Some((_, key)), None) => Ok(*key),
            (Some((_, FlowKey::Source(_))), Some(Some(bits))) => Ok(FlowKey::Source(bits)),
            (Some((_, FlowKey::Destination(_))), Some(Some(bits))) => Ok(FlowKey::Destination(bits)),
            (Some((_, FlowKey::Source(_) | FlowKey::Destination(_))), _) => {
                Err(format!("a prefix has 0 to {} bits, found {text:?}", FlowKey::WHOLE))
            }
            (known, _) => {
                let words = Self::WORDS.iter().map(|(word, _)| *word).filter(|_| known.is_none());
                Err(format!("expected {}, found {text:?}{}", Self::expecting(), did_you_mean(word, words)))
            }
        }
    }
}

/// One or more values of a field; any of them may match.
#[derive(Clone, Debug)]
pub(crate) struct AnyOf<F>(pub(crate) Vec<F>);

/// A single value without its list.
impl<F: Show> Show for AnyOf<F> {
    fn show(&self) -> String {
        if let [one] = self.0.as_slice() { one.show() } else { self.0.show() }
    }
}

impl<F: ValueKind> ValueKind for AnyOf<F> {
    fn form() -> Form {
        let Form { words, json, .. } = F::form();
        let json = format!(r#"{{"anyOf": [{json}, {{"type": "array", "items": {json}, "minItems": 1}}]}}"#);
        Form::new(format!("{words}, or a list of such"), "Several", json)
    }
    fn expecting() -> String {
        format!("{}, or a list of such", F::expecting())
    }
    fn read(node: &Node<'_>) -> Result<AnyOf<F>, Fault> {
        match node.get_ref() {
            DeValue::Array(items) if items.is_empty() => {
                let message = "the list is empty and would match no packet: leave the key out to match any";
                Err(Fault::value(node.span(), message))
            }
            DeValue::Array(items) => items.iter().map(F::read).collect::<Result<_, _>>().map(AnyOf),
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) => F::read(node).map(|one| AnyOf(vec![one])),
            _ => mismatch(node, &Self::expecting()),
        }
    }
}
