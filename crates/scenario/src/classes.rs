//! Resolves classes and checks them against each other and the groups' labels.

use std::ops::Bound;

use headgate_core::ClassId;
use toml::Spanned;

use crate::check::{self, Section, within};
use crate::classify::{ClassRule, Conditions, FlowKey};
use crate::error::Fault;
use crate::fields::AnyOf;
use crate::schema::{At, RawClass, RawClassify, did_you_mean};

/// Bounds the cost of a packet, which may be compared with every class.
const MOST_CLASSES: usize = 1000;
/// Beyond any useful ratio of shares.
const LARGEST_WEIGHT: f64 = 1e6;

pub(crate) fn flow_key(raw: At<RawClassify>, classes: &[ClassRule]) -> Result<FlowKey, Fault> {
    let section = Section { span: raw.as_ref().map_or(0..0, Spanned::span), heading: "[classify]" };
    let flow = section.or(raw.map(Spanned::into_inner).unwrap_or_default().flow, FlowKey::FiveTuple);
    if *flow.get_ref() == FlowKey::Class && classes.is_empty() {
        return Err(Fault::value(flow.span(), "the scenario has no [[class]]: all packets would be one flow"));
    }
    Ok(flow.into_inner())
}

pub(crate) fn classes(raw: Vec<Spanned<RawClass>>, labels: &[&str]) -> Result<Vec<ClassRule>, Fault> {
    if let Some(one_more) = raw.get(MOST_CLASSES) {
        return Err(Fault::plain(one_more.span(), format!("more than {MOST_CLASSES} classes")));
    }
    let names: Vec<String> =
        raw.iter().filter_map(|class| Some(class.get_ref().name.as_ref()?.get_ref().clone())).collect();
    let mut classes: Vec<ClassRule> = Vec::new();
    for class in raw {
        let class = rule(class, &classes, &names, labels)?;
        classes.push(class);
    }
    Ok(classes)
}

/// `before` holds the preceding classes, `names` the names of all.
fn rule(raw: Spanned<RawClass>, before: &[ClassRule], names: &[String], labels: &[&str]) -> Result<ClassRule, Fault> {
    let section = Section { span: raw.span(), heading: "[[class]]" };
    let raw = raw.into_inner();
    let name = section.need("name", raw.name)?;
    let place = name.span();
    let name = check::name(&name)?;
    if before.iter().any(|class| class.name == name) {
        return Err(Fault::plain(place, format!("two classes are called `{name}`")));
    }
    Ok(ClassRule {
        parent: raw.parent.map(|wanted| parent(&wanted, &name, before, names)).transpose()?,
        weight: within(section.or(raw.weight, 1.0), (Bound::Excluded(0.0), Bound::Included(LARGEST_WEIGHT)))?,
        conditions: Conditions {
            protocol: all(raw.protocol).into_iter().map(|protocol| protocol.0).collect(),
            source: all(raw.source),
            destination: all(raw.destination),
            source_port: all(raw.source_port),
            destination_port: all(raw.destination_port),
            dscp: all(raw.dscp).into_iter().map(|dscp| dscp.0).collect(),
            label: known(raw.label, labels)?,
        },
        name,
    })
}

/// The parent's number. The parent must precede `child`.
fn parent(wanted: &Spanned<String>, child: &str, before: &[ClassRule], names: &[String]) -> Result<ClassId, Fault> {
    let (name, span) = (wanted.get_ref(), wanted.span());
    if let Some(index) = before.iter().position(|class| class.name == *name) {
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

/// The labels of a class. Some group must have each of them.
fn known(wanted: At<AnyOf<String>>, labels: &[&str]) -> Result<Vec<String>, Fault> {
    let Some(wanted) = wanted else { return Ok(Vec::new()) };
    let span = wanted.span();
    let wanted = wanted.into_inner().0;
    let Some(unknown) = wanted.iter().find(|label| !labels.contains(&label.as_str())) else { return Ok(wanted) };
    let message = format!("no group is labelled `{unknown}`{}", did_you_mean(unknown, labels.iter().copied()));
    Err(Fault::value(span, message).help(format!("known labels: {}", labels.join(", "))))
}

fn all<T>(values: At<AnyOf<T>>) -> Vec<T> {
    values.map(|values| values.into_inner().0).unwrap_or_default()
}
