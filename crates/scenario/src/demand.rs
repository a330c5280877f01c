//! What the flows of a group have to send, how many there are, and from when to when.

use headgate_core::{Rate, Span};
use headgate_traffic::{Plan, Sender, Traffic};
use toml::Spanned;

use crate::check::{MOST_FLOWS, Section, within};
use crate::error::Fault;
use crate::inputs::Loader;
use crate::routes::Graph;
use crate::schema::{At, RawEnds, RawGroup};
use crate::start::{self, Start};
use crate::traffic::plan;

/// What they come to.
pub(crate) struct Demand {
    pub(crate) flows: u32,
    pub(crate) traffic: Traffic,
    pub(crate) plan: Plan,
    pub(crate) start: Start,
    pub(crate) stop: Option<Span>,
}

/// Where the flows are.
pub(crate) struct Surroundings<'a> {
    /// How long a run is.
    pub(crate) duration: Span,
    /// The network.
    pub(crate) graph: &'a Graph<'a>,
    /// Finds what sources name.
    pub(crate) loader: &'a Loader<'a>,
}

/// The demand of a group whose flows `sender` sends for, and have `default` to send where the file does not say. `link`
/// is the rate of the first link on their way.
pub(crate) fn demand(
    section: &Section,
    (group, ends): (&RawGroup, &RawEnds),
    default: Traffic,
    sender: &Sender,
    link: Rate,
    around: &Surroundings<'_>,
) -> Result<Demand, Fault> {
    let written = section.or(group.traffic.clone(), default);
    let (traffic, plan) = plan(&written, sender, around.loader)?;
    let starts = section.place(&ends.start);
    let start = start::start(ends.start.clone(), Start::AT_ONCE, || a_second(&traffic, &plan, sender, link))?;
    let end = match &ends.stop {
        Some(stop) => stop.get_ref().unwrap_or(around.duration).min(around.duration),
        None => around.duration,
    };
    let flows = match &group.flows {
        Some(flows) => known(within(flows.clone(), 1..=MOST_FLOWS)?, flows, &plan)?,
        None => plan.flows().or_else(|| start.flows_until(end)).ok_or_else(|| {
            Fault::value(starts.clone(), format!("brings more flows than a scenario may have, {MOST_FLOWS}"))
        })?,
    };
    let latest = start.latest(flows);
    if latest >= around.duration {
        let message = format!("flows start as late as {latest}, but the run ends at {}", around.duration);
        return Err(Fault::value(starts, message));
    }
    Ok(Demand { flows, traffic, plan, start, stop: stop(&ends.stop, latest)? })
}

/// The flows, if a source that knows only so many has them all.
fn known(flows: u32, at: &Spanned<u32>, plan: &Plan) -> Result<u32, Fault> {
    match plan.flows() {
        Some(known) if flows > known => {
            Err(Fault::value(at.span(), format!("{flows} is more than the file's {known}")))
        }
        _ => Ok(flows),
    }
}

/// The flows a second that fill a link of rate `link` with what they write, and the headers of the packets for it.
fn a_second(traffic: &Traffic, plan: &Plan, sender: &Sender, link: Rate) -> Result<f64, String> {
    let mean = plan.mean_bytes().filter(|bytes| *bytes > 0.0);
    let mean = mean.ok_or_else(|| {
        let such = "`ftp:size=pareto2(100KB,1.2)` or `web:pages=5`";
        format!("a load needs a source whose flows end and have a mean size, such as {such}; `{traffic}` has none")
    })?;
    let on_the_wire = mean * f64::from(sender.packet) / f64::from(sender.payload.max(1));
    Ok(link.as_bits() as f64 / 8.0 / on_the_wire)
}

fn stop(stop: &At<Option<Span>>, latest: Span) -> Result<Option<Span>, Fault> {
    let Some(stop) = stop else { return Ok(None) };
    match *stop.get_ref() {
        Some(end) if end <= latest => {
            Err(Fault::value(stop.span(), format!("flows stop at {end}, but start as late as {latest}")))
        }
        end => Ok(end),
    }
}
