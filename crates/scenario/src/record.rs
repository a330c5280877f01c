//! The `[record]` section.

use std::fmt;
use std::ops::Range;

use aqm::Span;
use toml::Spanned;

use crate::check::{Section, within};
use crate::error::Fault;
use crate::model::{Record, TcpGroup, UdpGroup};
use crate::network::Link;
use crate::schema::{Form, Located, RawRecord, ValueKind, did_you_mean};

/// Limit against typing errors: a table over time with more rows cannot be read.
const MOST_INTERVALS: u64 = 1_000_000;

/// Traced flows: a whole group, written `web`, or one flow, `web/3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The group's name.
    pub group: String,
    /// The flow's number in its group, from 0; `None` for all.
    pub flow: Option<u32>,
}

impl Traced {
    /// Whether flow `flow` of group `group` is included.
    pub fn includes(&self, group: &str, flow: u32) -> bool {
        self.group == group && self.flow.is_none_or(|one| one == flow)
    }
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.group)?;
        self.flow.map_or(Ok(()), |flow| write!(f, "/{flow}"))
    }
}

impl ValueKind for Traced {
    fn form() -> Form {
        Form::new("group, or one of its flows", "str", r#"{"type": "string"}"#)
    }
    fn expecting() -> String {
        "a group such as \"web\", or one of its flows such as \"web/3\"".to_string()
    }
    fn from_text(text: &str) -> Result<Traced, String> {
        let (group, flow) = text.split_once('/').map_or((text, None), |(group, flow)| (group, Some(flow)));
        let number =
            flow.map(|flow| flow.parse().map_err(|_| format!("expected {}, found {text:?}", Self::expecting())));
        Ok(Traced { group: group.to_string(), flow: number.transpose()? })
    }
}

pub(crate) fn record(
    raw: Located<RawRecord>,
    duration: Span,
    (tcp, udp): (&[TcpGroup], &[UdpGroup]),
    links: &[Link],
) -> Result<Record, Fault> {
    let section = Section { span: raw.as_ref().map_or(0..0, Spanned::span), heading: "[record]" };
    let raw = raw.map(Spanned::into_inner).unwrap_or_default();
    let least = Span::from_nanos(duration.as_nanos().div_ceil(MOST_INTERVALS));
    // The default fits any run: at least one row in the shortest, and not too many in the longest.
    let default = raw.interval().clamp(least, duration);
    Ok(Record {
        interval: within(section.or_default(raw.interval.clone(), default), least..=duration)?,
        events: raw.events(),
        flows: raw.flows().into_iter().map(|flow| check_traced(flow, tcp, udp)).collect::<Result<_, _>>()?,
        flow_interval: within(section.or_default(raw.flow_interval.clone(), raw.flow_interval()), ..=duration)?,
        capture: captured_links(raw.capture(), links)?,
    })
}

/// Indices of the links to capture, each once.
fn captured_links(names: Vec<Spanned<String>>, links: &[Link]) -> Result<Vec<u16>, Fault> {
    let mut captured = Vec::new();
    for name in names {
        let (span, name) = (name.span(), name.into_inner());
        match links.iter().position(|link| link.name == name) {
            Some(link) if captured.contains(&(link as u16)) => {
                return Err(Fault::value(span, format!("`{name}` is named twice")));
            }
            Some(link) => captured.push(link as u16),
            None => return Err(unknown_name(span, "link", &name, links.iter().map(|link| link.name.as_str()))),
        }
    }
    Ok(captured)
}

fn unknown_name<'a>(span: Range<usize>, what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Fault {
    let guess = did_you_mean(name, known.clone());
    let known: Vec<&str> = known.collect();
    Fault::value(span, format!("no {what} is called `{name}`{guess}")).help(format!("known: {}", known.join(", ")))
}

/// Checks that the flows exist and their senders have state: a constant rate has none.
fn check_traced(value: Spanned<Traced>, tcp: &[TcpGroup], udp: &[UdpGroup]) -> Result<Traced, Fault> {
    let span = value.span();
    let traced = value.into_inner();
    if udp.iter().any(|group| group.name == traced.group && !group.is_controlled()) {
        let message = format!("`{}` has no congestion control: its senders have no state to trace", traced.group);
        return Err(Fault::value(span, message));
    }
    let controlled = udp.iter().filter(|group| group.is_controlled()).map(|group| (group.name.as_str(), group.flows));
    let groups = tcp.iter().map(|group| (group.name.as_str(), group.flows)).chain(controlled);
    let Some((name, flows)) = groups.clone().find(|(name, _)| *name == traced.group) else {
        return Err(unknown_name(span, "group", &traced.group, groups.map(|(name, _)| name)));
    };
    match traced.flow {
        Some(flow) if flow >= flows => {
            let known = if flows == 1 { "one flow, number 0".into() } else { format!("flows 0 to {}", flows - 1) };
            Err(Fault::value(span, format!("`{name}` has {known}, not {flow}")))
        }
        _ => Ok(traced),
    }
}
