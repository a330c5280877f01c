//! A scenario file as written: every key that exists, none filled in. [`resolve`](crate::resolve) makes a scenario of
//! it.

use std::fmt;

use headgate_core::{Limit, Rate, Span};
use ipnet::IpNet;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use crate::classify::FlowKey;
use crate::fields::{AnyOf, Dscp, One, Ports, Protocol};
use crate::model::Events;
use crate::qdisc::Written;
use crate::record::Traced;
use crate::schema::{At, RawTcp, RawUdp};
use crate::values::{Quantity, Seeds};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawScenario {
    pub(crate) name: At<String>,
    pub(crate) about: At<String>,
    pub(crate) duration: At<Quantity<Span>>,
    pub(crate) warmup: At<Quantity<Span>>,
    pub(crate) seeds: At<Seeds>,
    pub(crate) qdiscs: At<Vec<Spanned<Written>>>,
    pub(crate) link: At<RawLinks>,
    #[serde(default)]
    pub(crate) tcp: Vec<Spanned<RawTcp>>,
    #[serde(default)]
    pub(crate) udp: Vec<Spanned<RawUdp>>,
    pub(crate) classify: At<RawClassify>,
    #[serde(default)]
    pub(crate) class: Vec<Spanned<RawClass>>,
    pub(crate) record: At<RawRecord>,
    #[expect(dead_code, reason = "what is swept is no part of one scenario: `headgate sweep` reads it from the file")]
    sweep: Option<RawSweep>,
    #[expect(dead_code, reason = "what a result must keep changes no run: `headgate check` reads it from the file")]
    expect: Option<Vec<String>>,
}

/// `[sweep]`, a table of anything.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a table")]
struct RawSweep {}

/// `[link]`, or links headed `[[link]]`.
#[derive(Debug)]
pub(crate) enum RawLinks {
    One(Box<RawLink>),
    Several(Vec<Spanned<RawLink>>),
}

struct LinksVisitor;

impl<'de> Visitor<'de> for LinksVisitor {
    type Value = RawLinks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a section headed [link], or links headed [[link]]")
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<RawLinks, A::Error> {
        RawLink::deserialize(MapAccessDeserializer::new(table)).map(|link| RawLinks::One(Box::new(link)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RawLinks, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(RawLinks::Several)
    }
}

impl<'de> Deserialize<'de> for RawLinks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinksVisitor)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawLink {
    pub(crate) name: At<String>,
    pub(crate) from: At<String>,
    pub(crate) to: At<String>,
    pub(crate) rate: At<Quantity<Rate>>,
    pub(crate) delay: At<Quantity<Span>>,
    pub(crate) schedule: At<Vec<Spanned<RawStep>>>,
    pub(crate) schedule_period: At<Quantity<Span>>,
    pub(crate) trace: At<String>,
    pub(crate) loss: At<f64>,
    pub(crate) loss_burst: At<f64>,
    pub(crate) jitter: At<Quantity<Span>>,
    pub(crate) reorder: At<f64>,
    pub(crate) reorder_by: At<Quantity<Span>>,
    pub(crate) limit: At<Quantity<Limit>>,
    pub(crate) qdisc: At<Written>,
    pub(crate) reverse: At<RawReverse>,
}

/// One step of a schedule of rates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { at = \"10s\", rate = \"5Mbit/s\" }")]
pub(crate) struct RawStep {
    pub(crate) at: At<Quantity<Span>>,
    pub(crate) rate: At<Quantity<Rate>>,
}

/// The keys of a direction that [`RawMedium`] takes.
macro_rules! medium {
    ($raw:ident) => {
        RawMedium {
            rate: $raw.rate,
            schedule: $raw.schedule,
            schedule_period: $raw.schedule_period,
            trace: $raw.trace,
            loss: $raw.loss,
            loss_burst: $raw.loss_burst,
            jitter: $raw.jitter,
            reorder: $raw.reorder,
            reorder_by: $raw.reorder_by,
        }
    };
}
pub(crate) use medium;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawReverse {
    pub(crate) rate: At<Quantity<Rate>>,
    pub(crate) schedule: At<Vec<Spanned<RawStep>>>,
    pub(crate) schedule_period: At<Quantity<Span>>,
    pub(crate) trace: At<String>,
    pub(crate) loss: At<f64>,
    pub(crate) loss_burst: At<f64>,
    pub(crate) jitter: At<Quantity<Span>>,
    pub(crate) reorder: At<f64>,
    pub(crate) reorder_by: At<Quantity<Span>>,
    pub(crate) limit: At<Quantity<Limit>>,
    pub(crate) qdisc: At<Written>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawClassify {
    pub(crate) flow: At<One<FlowKey>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawClass {
    pub(crate) name: At<String>,
    pub(crate) parent: At<String>,
    pub(crate) weight: At<f64>,
    pub(crate) protocol: At<AnyOf<Protocol>>,
    pub(crate) source: At<AnyOf<IpNet>>,
    pub(crate) destination: At<AnyOf<IpNet>>,
    pub(crate) source_port: At<AnyOf<Ports>>,
    pub(crate) destination_port: At<AnyOf<Ports>>,
    pub(crate) dscp: At<AnyOf<Dscp>>,
    pub(crate) label: At<AnyOf<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawRecord {
    pub(crate) interval: At<Quantity<Span>>,
    pub(crate) events: At<Events>,
    pub(crate) flows: At<Vec<Spanned<Traced>>>,
    pub(crate) flow_interval: At<Quantity<Span>>,
    pub(crate) capture: At<Vec<Spanned<String>>>,
}
