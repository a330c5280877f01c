//! A group's demand: traffic, number of flows, start and stop.

use aqm::{Rate, Span};
use headgate_traffic::{GroupSource, SenderInfo, Traffic};
use toml::Spanned;

use crate::check::{MOST_FLOWS, Section};
use crate::error::Fault;
use crate::inputs::InputLoader;
use crate::routes::Graph;
use crate::schema::{RawEndpoints, RawGroup};
use crate::start::{self, Start};
use crate::traffic::build_source;

pub(crate) struct ResolvedDemand {
    pub(crate) flows: u32,
    pub(crate) traffic: Traffic,
    pub(crate) source: GroupSource,
    pub(crate) start: Start,
    pub(crate) stop: Option<Span>,
}

/// The run, network and files with which a group is resolved.
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
    context: &DemandContext<'_>,
) -> Result<ResolvedDemand, Fault> {
    let written = section.or_default(group.traffic.clone(), default);
    let (traffic, source) = build_source(&written, sender, context.loader)?;
    let start_span = section.span_of(&ends.start);
    let start = start::start(ends.start(), &start_span, || arrivals_to_fill(&traffic, &source, sender, link))?;
    let end = ends.stop().map_or(context.duration, |stop| stop.min(context.duration));
    let flows = match &group.flows {
        Some(flows) => check_flow_count(flows, &source)?,
        None => source.flows().or_else(|| start.flows_until(end)).ok_or_else(|| {
            Fault::value(start_span.clone(), format!("brings more than {MOST_FLOWS} flows, the limit of a scenario"))
        })?,
    };
    let latest = start.latest(flows);
    if latest >= context.duration {
        let message = format!("flows start as late as {latest}, but the run ends at {}", context.duration);
        return Err(Fault::value(start_span, message));
    }
    match (ends.stop(), section.span_of(&ends.stop)) {
        (Some(stop), span) if stop <= latest => {
            Err(Fault::value(span, format!("flows stop at {stop}, but start as late as {latest}")))
        }
        (stop, _) => Ok(ResolvedDemand { flows, traffic, source, start, stop }),
    }
}

/// Checks that a source with a fixed number of flows has enough of them.
fn check_flow_count(flows: &Spanned<u32>, source: &GroupSource) -> Result<u32, Fault> {
    match (*flows.get_ref(), source.flows()) {
        (given, Some(available)) if given > available => {
            Err(Fault::value(flows.span(), format!("{given} is more than the file's {available}")))
        }
        (given, _) => Ok(given),
    }
}

/// Flow arrivals per second that fill a link of rate `link`, packet headers included.
fn arrivals_to_fill(traffic: &Traffic, source: &GroupSource, sender: &SenderInfo, link: Rate) -> Result<f64, String> {
    let mean = source.mean_bytes().filter(|bytes| *bytes > 0.0);
    let mean = mean.ok_or_else(|| {
        let such = "`ftp:size=pareto2(100KB,1.2)` or `web:pages=5`";
        format!("a load needs a source whose flows end and have a mean size, such as {such}; `{traffic}` has none")
    })?;
    let on_the_wire = mean * f64::from(sender.packet) / f64::from(sender.payload.max(1));
    Ok(link.as_bits() as f64 / 8.0 / on_the_wire)
}
