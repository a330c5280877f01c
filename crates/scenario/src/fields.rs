//! The fields of packet headers as scenario files write them: prefixes, ports, protocols, DSCPs; one value, or a list.

use std::fmt;
use std::marker::PhantomData;
use std::net::IpAddr;

use headgate_core::nearest;
use ipnet::IpNet;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::classify::FlowKey;

/// Port numbers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The lowest.
    pub first: u16,
    /// The highest; not below the lowest.
    pub last: u16,
}

impl Ports {
    /// Whether `port` is one of them.
    #[inline]
    pub fn contains(&self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }

    /// Number `index` of them, from 0; after the last comes the first again.
    pub(crate) fn nth(&self, index: u32) -> u16 {
        self.first + (index % (u32::from(self.last - self.first) + 1)) as u16
    }
}

/// As scenario files have it.
impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

/// A number of eight bits or fewer, some of whose values have names.
pub(crate) trait Named: Sized + Copy {
    /// What it is, with its article.
    const WHAT: &'static str;
    /// The largest there is.
    const MOST: u8;
    /// Names and what they stand for. Of two names for one value the first is written.
    const NAMES: &'static [(&'static str, u8)];

    fn new(value: u8) -> Self;
    fn value(self) -> u8;
}

/// A differentiated services codepoint: the upper six bits of IPv4's TOS and IPv6's traffic class (RFC 2474).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dscp(pub(crate) u8);

impl Named for Dscp {
    const WHAT: &'static str = "a DSCP";
    const MOST: u8 = 63;
    // CS0 to CS7 (RFC 2474, 4.2.2; `DF` is what RFC 4594 calls CS0), LE (RFC 8622), AF (RFC 2597), VOICE-ADMIT (RFC 5865),
    // EF (RFC 3246).
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

/// What an IP packet carries, by IANA's protocol number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protocol(pub(crate) u8);

impl Named for Protocol {
    const WHAT: &'static str = "a protocol";
    const MOST: u8 = u8::MAX;
    const NAMES: &'static [(&'static str, u8)] = &[("tcp", 6), ("udp", 17), ("icmp", 1), ("icmpv6", 58), ("sctp", 132)];

    fn new(value: u8) -> Protocol {
        Protocol(value)
    }
    fn value(self) -> u8 {
        self.0
    }
}

/// As scenario files have it: the name in quotes, or the number where there is none.
pub(crate) fn written<N: Named>(value: N) -> String {
    let name = N::NAMES.iter().find(|(_, named)| *named == value.value());
    name.map_or_else(|| value.value().to_string(), |(name, _)| format!("\"{name}\""))
}

/// A field that a file gives as a text, and some also as a whole number.
pub(crate) trait Field: Sized {
    /// Whether a whole number will do.
    const WHOLE: bool = false;

    /// What is expected, in words.
    fn expecting() -> String;
    fn from_text(text: &str) -> Result<Self, String>;
    fn from_whole(number: i64) -> Result<Self, String> {
        Err(format!("expected {}, found {number}", Self::expecting()))
    }
}

impl<N: Named> Field for N {
    const WHOLE: bool = true;

    fn expecting() -> String {
        format!("{} such as \"{}\", or a number from 0 to {}", N::WHAT, N::NAMES[0].0, N::MOST)
    }
    fn from_text(text: &str) -> Result<N, String> {
        if let Ok(number) = text.parse() {
            return N::from_whole(number);
        }
        let names = || N::NAMES.iter().map(|(name, _)| *name);
        let found = N::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|(_, value)| N::new(*value)).ok_or_else(|| {
            let guess = nearest(text, names()).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            let known: Vec<&str> = names().collect();
            format!("`{text}` is not {}{guess} (known: {}, or 0 to {})", N::WHAT, known.join(", "), N::MOST)
        })
    }
    fn from_whole(number: i64) -> Result<N, String> {
        let value = u8::try_from(number).ok().filter(|value| *value <= N::MOST);
        value.map(N::new).ok_or_else(|| format!("{} is 0 to {}, not {number}", N::WHAT, N::MOST))
    }
}

impl Field for Ports {
    const WHOLE: bool = true;

    fn expecting() -> String {
        "a port such as 443, or a range such as \"5000-6000\"".to_string()
    }
    fn from_text(text: &str) -> Result<Ports, String> {
        let bad = |_| format!("expected {}, found {text:?}", Self::expecting());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |number: &str| Self::from_whole(number.trim().parse().map_err(bad)?);
        let ports = Ports { first: port(first)?.first, last: port(last)?.last };
        if ports.first > ports.last {
            return Err(format!("the range {text:?} ends before it begins"));
        }
        Ok(ports)
    }
    fn from_whole(number: i64) -> Result<Ports, String> {
        let port = u16::try_from(number).map_err(|_| format!("a port is 0 to 65535, not {number}"))?;
        Ok(Ports { first: port, last: port })
    }
}

/// A prefix; an address is one that holds nothing else.
impl Field for IpNet {
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

/// A prefix, or `"own"` for addresses of the flows' own.
#[derive(Clone, Debug)]
pub(crate) struct OrOwn(pub(crate) Option<IpNet>);

impl Field for OrOwn {
    fn expecting() -> String {
        format!("{}, or \"own\"", IpNet::expecting())
    }
    fn from_text(text: &str) -> Result<OrOwn, String> {
        if text == "own" { Ok(OrOwn(None)) } else { IpNet::from_text(text).map(|prefix| OrOwn(Some(prefix))) }
    }
}

/// An address or a prefix as it is read.
pub(crate) fn prefix(net: IpNet) -> String {
    if net.prefix_len() == net.max_prefix_len() { net.addr().to_string() } else { net.to_string() }
}

/// The label of a group of flows.
impl Field for String {
    fn expecting() -> String {
        "a label in quotes".to_string()
    }
    fn from_text(text: &str) -> Result<String, String> {
        Ok(text.to_string())
    }
}

impl FlowKey {
    const WORDS: [(&'static str, FlowKey); 8] = [
        ("5-tuple", FlowKey::FiveTuple),
        ("source", FlowKey::Source(FlowKey::WHOLE)),
        ("destination", FlowKey::Destination(FlowKey::WHOLE)),
        ("pair", FlowKey::Pair),
        ("protocol", FlowKey::Protocol),
        ("dscp", FlowKey::Dscp),
        ("class", FlowKey::Class),
        ("label", FlowKey::Label),
    ];
}

/// As scenario files have it.
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

impl Field for FlowKey {
    fn expecting() -> String {
        let words: Vec<&str> = Self::WORDS.iter().map(|(word, _)| *word).collect();
        format!("what makes packets one flow: {}, or a prefix such as source/24", words.join(", "))
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
                let guess = nearest(word, words).map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
                Err(format!("expected {}, found {text:?}{guess}", Self::expecting()))
            }
        }
    }
}

/// One value of a field.
#[derive(Clone, Debug)]
pub(crate) struct One<F>(pub(crate) F);

/// One value of a field or more, of which any will do.
#[derive(Clone, Debug)]
pub(crate) struct AnyOf<F>(pub(crate) Vec<F>);

struct OneVisitor<F>(PhantomData<F>);

impl<F: Field> Visitor<'_> for OneVisitor<F> {
    type Value = One<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&F::expecting())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<One<F>, E> {
        F::from_text(text).map(One).map_err(E::custom)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<One<F>, E> {
        F::from_whole(number).map(One).map_err(E::custom)
    }
}

impl<'de, F: Field> Deserialize<'de> for One<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneVisitor(PhantomData))
    }
}

struct AnyOfVisitor<F>(PhantomData<F>);

impl<'de, F: Field> Visitor<'de> for AnyOfVisitor<F> {
    type Value = AnyOf<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or a list of such", F::expecting())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<AnyOf<F>, E> {
        OneVisitor(PhantomData).visit_str(text).map(|One(one)| AnyOf(vec![one]))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<AnyOf<F>, E> {
        OneVisitor(PhantomData).visit_i64(number).map(|One(one)| AnyOf(vec![one]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<AnyOf<F>, A::Error> {
        let mut all = Vec::new();
        while let Some(One(one)) = list.next_element()? {
            all.push(one);
        }
        if all.is_empty() {
            return Err(A::Error::custom(
                "the list is empty, and nothing would match: leave the key out to match anything",
            ));
        }
        Ok(AnyOf(all))
    }
}

impl<'de, F: Field> Deserialize<'de> for AnyOf<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyOfVisitor(PhantomData))
    }
}
