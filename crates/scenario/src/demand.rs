//! A group's demand: traffic, number of flows, start and stop.

use headgate_core::{Rate, Span};
use headgate_traffic::{GroupSource, SenderInfo, Traffic};
use toml::Spanned;

use crate::check::{MOST_FLOWS, Section};
use crate::error::Fault;
use crate::inputs::InputLoader;
use crate::routes::Graph;
use crate::schema::{RawEndpoints, RawGroup};
use crate::start::{self, Start};
use crate::traffic::build_source;

pub(crate) struct LongRunDemand {
    pub(crate) flows: u32,
    pub(crate) traffic: Traffic,
    pub(crate) source: GroupSource,
    pub(crate) start: Start,
    pub(crate) stop: Option<Span>,
}

/// Context in which a group is resolved.
pub(crate) struct DemandContext<'a> {
    pub(crate) duration: Span,
    pub(crate) graph: &'a Graph<'a>,
    /// Loads the files that sources name.
    pub(crate) loader: &'a InputLoader<'a>,
}

/// `default` is the traffic if the file gives none; `link` is the rate of the route's first link.
pub(crate) fn demand(
    section: &Section,
    (group, ends): (&RawGroup, &RawEndpoints),
    default: Traffic,
    sender: &SenderInfo,
    link: Rate,
    around: &DemandContext<'_>,
) -> Result<LongRunDemand, Fault> {
    let written = section.or(group.traffic.clone(), default);
    let (traffic, source) = build_source(&written, sender, around.loader)?;
    let starts = section.place(&ends.start);
    let start = start::start(ends.start(), &starts, || a_second(&traffic, &source, sender, link))?;
    let end = ends.stop().map_or(around.duration, |stop| stop.min(around.duration));
    let flows = match &group.flows {
        Some(flows) => known(flows, &source)?,
        None => source.flows().or_else(|| start.flows_until(end)).ok_or_else(|| {
            Fault::value(starts.clone(), format!("brings more flows than a scenario may have, {MOST_FLOWS}"))
        })?,
    };
    let latest = start.latest(flows);
    if latest >= around.duration {
        let message = format!("flows start as late as {latest}, but the run ends at {}", around.duration);
        return Err(Fault::value(starts, message));
    }
    match (ends.stop(), section.place(&ends.stop)) {
        (Some(stop), place) if stop <= latest => {
            Err(Fault::value(place, format!("flows stop at {stop}, but start as late as {latest}")))
        }
        (stop, _) => Ok(LongRunDemand { flows, traffic, source, start, stop }),
    }
}

/// Checks that a source with a fixed number of flows has enough of them.
fn known(flows: &Spanned<u32>, source: &GroupSource) -> Result<u32, Fault> {
    match (*flows.get_ref(), source.flows()) {
        (given, Some(known)) if given > known => {
            Err(Fault::value(flows.span(), format!("{given} is more than the file's {known}")))
        }
        (given, _) => Ok(given),
    }
}

/// Flow arrivals per second that fill a link of rate `link`, packet headers included.
fn a_second(traffic: &Traffic, source: &GroupSource, sender: &SenderInfo, link: Rate) -> Result<f64, String> {
    let mean = source.mean_bytes().filter(|bytes| *bytes > 0.0);
    let mean = mean.ok_or_else(|| {
        let such = "`ftp:size=pareto2(100KB,1.2)` or `web:pages=5`";
        format!("a load needs a source whose flows end and have a mean size, such as {such}; `{traffic}` has none")
    })?;
    let on_the_wire = mean * f64::from(sender.packet) / f64::from(sender.payload.max(1));
    Ok(link.as_bits() as f64 / 8.0 / on_the_wire)
}
