//! Resolves classes and checks them against each other and the groups' labels.

use std::ops::Range;

use aqm::ClassId;
use toml::Spanned;

use crate::check::{self, Section};
use crate::classify::{Conditions, FlowKey, TrafficClass};
use crate::error::Fault;
use crate::fair::FairUnit;
use crate::schema::{Located, RawClass, RawClassify, did_you_mean};

/// Bounds the cost of a packet, which may be compared with every class.
const MOST_CLASSES: usize = 1000;

pub(crate) fn flow_key(raw: Located<RawClassify>, classes: &[TrafficClass]) -> Result<FlowKey, Fault> {
    let section = Section { span: raw.as_ref().map_or(0..0, Spanned::span), heading: "[classify]" };
    let raw = raw.map(Spanned::into_inner).unwrap_or_default();
    if raw.flow() == FlowKey::Class && classes.is_empty() {
        let message = "the scenario has no [[class]]: all packets would be one flow";
        return Err(Fault::value(section.span_of(&raw.flow), message));
    }
    Ok(raw.flow())
}

/// The unit of fairness, which needs a class if it is the class.
pub(crate) fn fair_unit(raw: Located<FairUnit>, classes: &[TrafficClass]) -> Result<Option<FairUnit>, Fault> {
    let Some(raw) = raw else { return Ok(None) };
    if *raw.get_ref() == FairUnit::Class && classes.is_empty() {
        return Err(Fault::value(raw.span(), "the scenario has no [[class]]: all flows would be one unit"));
    }
    Ok(Some(raw.into_inner()))
}

pub(crate) fn classes(raw: Vec<Spanned<RawClass>>, labels: &[&str]) -> Result<Vec<TrafficClass>, Fault> {
    if let Some(one_more) = raw.get(MOST_CLASSES) {
        return Err(Fault::plain(one_more.span(), format!("more than {MOST_CLASSES} classes")));
    }
    let names: Vec<String> =
        raw.iter().filter_map(|class| Some(class.get_ref().name.as_ref()?.get_ref().clone())).collect();
    let mut classes: Vec<TrafficClass> = Vec::new();
    for class in raw {
        let class = rule(class, &classes, &names, labels)?;
        classes.push(class);
    }
    Ok(classes)
}

/// `earlier` holds the preceding classes, `names` the names of all.
fn rule(
    raw: Spanned<RawClass>,
    earlier: &[TrafficClass],
    names: &[String],
    labels: &[&str],
) -> Result<TrafficClass, Fault> {
    let section = Section { span: raw.span(), heading: "[[class]]" };
    let raw = raw.into_inner();
    let name = section.require("name", raw.name.clone())?;
    let span = name.span();
    let name = check::check_name(&name)?;
    if earlier.iter().any(|class| class.name == name) {
        return Err(Fault::plain(span, format!("two classes are called `{name}`")));
    }
    Ok(TrafficClass {
        parent: raw.parent.as_ref().map(|wanted| parent(wanted, &name, earlier, names)).transpose()?,
        weight: raw.weight(),
        conditions: Conditions {
            protocol: raw.protocol().0.into_iter().map(|protocol| protocol.0).collect(),
            source: raw.source().0,
            destination: raw.destination().0,
            source_port: raw.source_port().0,
            destination_port: raw.destination_port().0,
            dscp: raw.dscp().0.into_iter().map(|dscp| dscp.0).collect(),
            label: check_labels(raw.label().0, section.span_of(&raw.label), labels)?,
        },
        name,
    })
}

/// The parent's number. The parent must precede `child`.
fn parent(wanted: &Spanned<String>, child: &str, earlier: &[TrafficClass], names: &[String]) -> Result<ClassId, Fault> {
    let (name, span) = (wanted.get_ref(), wanted.span());
    if let Some(index) = earlier.iter().position(|class| class.name == *name) {
        return Ok(ClassId(index as u16 + 1));
    }
    if name == child {
        return Err(Fault::value(span, "a class cannot be its own parent"));
    }
    if names.contains(name) {
        return Err(Fault::value(span, format!("class `{name}` comes later: a parent stands before its children")));
    }
    let guess = did_you_mean(name, names.iter().map(String::as_str).filter(|name| *name != child));
    Err(Fault::value(span, format!("no class is called `{name}`{guess}")))
}

/// Checks that each label of a class is the label of a group.
fn check_labels(wanted: Vec<String>, span: Range<usize>, labels: &[&str]) -> Result<Vec<String>, Fault> {
    let Some(unknown) = wanted.iter().find(|label| !labels.contains(&label.as_str())) else { return Ok(wanted) };
    let message = format!("no group is labeled `{unknown}`{}", did_you_mean(unknown, labels.iter().copied()));
    Err(Fault::value(span, message).help(format!("known labels: {}", labels.join(", "))))
}
