//! Choices among words, seeds, and tables that other commands read.

use toml::de::DeValue;

use crate::error::Fault;
use crate::model::Events;
use crate::schema::{Form, Node, Show, ValueKind, did_you_mean, mismatch, whole};

/// The defaults of a group of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Current defaults, from the RFCs.
    Rfc,
    /// Defaults of ns-2, which the papers used.
    Ns2,
    /// Defaults of the Linux kernel.
    Linux,
}

/// What the rates of a group's sources count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateOf {
    /// Packets with their headers.
    Wire,
    /// The data in them.
    Payload,
}

impl RateOf {
    /// The bytes that count of a full packet of `packet` bytes, `header` of them headers.
    pub const fn bytes(self, packet: u32, header: u32) -> u32 {
        match self {
            RateOf::Wire => packet,
            RateOf::Payload => packet - header,
        }
    }
}

impl WordChoice for RateOf {
    const WHAT: &'static str = "meaning of a rate";
    const WORDS: &'static [(&'static str, RateOf)] = &[("wire", RateOf::Wire), ("payload", RateOf::Payload)];
}

/// A choice among a few words.
pub(crate) trait WordChoice: Copy + PartialEq + 'static {
    const WHAT: &'static str;
    /// Choices in listing order.
    const WORDS: &'static [(&'static str, Self)];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map_or("", |(word, _)| word)
    }

    fn known() -> String {
        Self::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        found.ok_or_else(|| {
            let guess = did_you_mean(text, Self::WORDS.iter().map(|(word, _)| *word));
            format!("unknown {} `{text}`{guess} (known: {})", Self::WHAT, Self::known())
        })
    }
}

impl WordChoice for Events {
    const WHAT: &'static str = "choice of events";
    const WORDS: &'static [(&'static str, Events)] =
        &[("off", Events::Off), ("drops", Events::Drops), ("decisions", Events::Decisions), ("all", Events::All)];
}

impl WordChoice for Profile {
    const WHAT: &'static str = "profile";
    const WORDS: &'static [(&'static str, Profile)] =
        &[("rfc", Profile::Rfc), ("ns2", Profile::Ns2), ("linux", Profile::Linux)];
}

#[derive(Clone, Debug)]
pub(crate) struct AnyTable;

impl ValueKind for AnyTable {
    fn form() -> Form {
        Form::new("table", "Mapping[str, Any]", r#"{"type": "object"}"#)
    }
    fn expecting() -> String {
        "a table".to_string()
    }
    fn read(node: &Node<'_>) -> Result<AnyTable, Fault> {
        if node.get_ref().is_table() { Ok(AnyTable) } else { mismatch(node, "a table") }
    }
}

/// Seeds: a count (1, 2, ... n), or a list.
#[derive(Clone, Debug)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

impl Seeds {
    /// Limit against typing errors: more runs would take too long.
    const MOST: u64 = 10_000;

    fn listed(items: &[Node<'_>], whole: &Node<'_>) -> Result<Seeds, Fault> {
        let mut seeds = Vec::new();
        for item in items {
            let seed = u64::read(item)?;
            if seeds.contains(&seed) {
                return Err(Fault::value(whole.span(), format!("seed {seed} is given twice")));
            }
            if seeds.len() as u64 == Seeds::MOST {
                return Err(Fault::value(whole.span(), format!("more than {} seeds", Seeds::MOST)));
            }
            seeds.push(seed);
        }
        if seeds.is_empty() { Err(Fault::value(whole.span(), "the list of seeds is empty")) } else { Ok(Seeds(seeds)) }
    }
}

/// A count for seeds 1, 2, ... n, otherwise a list.
impl Show for Seeds {
    fn show(&self) -> String {
        let is_count = self.0.iter().copied().eq(1..=self.0.len() as u64);
        if is_count { self.0.len().to_string() } else { format!("{:?}", self.0) }
    }
}

impl ValueKind for Seeds {
    fn form() -> Form {
        let json = r#"{"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": "integer"}}]}"#;
        Form::new("a count, or a list of whole numbers", "int | Sequence[int]", json)
    }
    fn expecting() -> String {
        "a count such as 10, or a list such as [1, 5, 9]".to_string()
    }
    fn read(node: &Node<'_>) -> Result<Seeds, Fault> {
        match node.get_ref() {
            DeValue::Array(items) => Seeds::listed(items, node),
            DeValue::Integer(count) => match whole(count) {
                Some(count @ 1..=Seeds::MOST) => Ok(Seeds((1..=count).collect())),
                _ => {
                    let message = format!("the count of seeds must be 1 to {}, not {count}", Seeds::MOST);
                    Err(Fault::value(node.span(), message))
                }
            },
            _ => mismatch(node, &Seeds::expecting()),
        }
    }
}
