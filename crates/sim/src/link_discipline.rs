//! The discipline of one direction of a link, built from the registry or supplied by the caller.

use aqm::disciplines::{Droptail, DroptailConfig};
use aqm::parts::Fifo;
use aqm::{
    Backlog, BuildError, Class, Cx, Discipline, FlowId, Limit, LinkInfo, Params, Qdisc, Rate, Rng, Time, registry,
};
use headgate_scenario::{Hop, Scenario};

use crate::classified::Classified;
use crate::segment::{Segment, SimPacket};

/// Disciplines outside the registry, supplied by the caller of a run.
pub trait ExternalDisciplines {
    /// Builds `qdisc` for a queue of `limit` at `link_info`; `None` if `qdisc` is not one of these disciplines.
    fn boxed<T: Copy + 'static>(
        &self,
        qdisc: &Qdisc,
        limit: Limit,
        link_info: &LinkInfo<'_>,
    ) -> Option<Box<dyn Discipline<T>>>;

    /// Bytes that `qdisc` allocates when it is built, before its first packet; `None` if `qdisc` is not one of these
    /// disciplines.
    fn table_bytes(&self, qdisc: &Qdisc, limit: Limit, link_info: &LinkInfo<'_>) -> Option<usize>;
}

impl ExternalDisciplines for () {
    fn boxed<T: Copy + 'static>(&self, _: &Qdisc, _: Limit, _: &LinkInfo<'_>) -> Option<Box<dyn Discipline<T>>> {
        None
    }
    fn table_bytes(&self, _: &Qdisc, _: Limit, _: &LinkInfo<'_>) -> Option<usize> {
        None
    }
}

/// Bytes of the tables of `qdisc`, from the registry or `external`, at `hop`. Allocates none of the registry's.
///
/// # Errors
/// An error in the discipline's settings.
pub fn table_bytes(
    qdisc: &Qdisc,
    scenario: &Scenario,
    hop: Hop,
    external: &impl ExternalDisciplines,
) -> Result<usize, BuildError> {
    let (limit, classes) = (scenario.direction_settings(hop).limit, scenario.link_classes());
    let link_info = link_info(scenario, &classes, scenario.mean_rate(hop), 0);
    if let Some(bytes) = external.table_bytes(qdisc, limit, &link_info) {
        return Ok(bytes);
    }
    let settings = qdisc.settings_with(limit);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    registry::table_bytes::<Segment>(&qdisc.name, &settings, &link_info)
}

/// DropTail, the discipline of most links, is compiled in; any other is boxed.
pub enum LinkDiscipline {
    Droptail(Droptail<Segment>),
    Other(Box<dyn Discipline<Segment>>),
}

impl LinkDiscipline {
    /// Builds `qdisc`, from the registry or `external`, for `hop`. `label` selects the random stream of its key.
    ///
    /// # Errors
    /// An error in the discipline's settings.
    pub fn new(
        qdisc: &Qdisc,
        scenario: &Scenario,
        (hop, label): (Hop, &str),
        classes: &[Class],
        seed: u64,
        external: &impl ExternalDisciplines,
    ) -> Result<LinkDiscipline, BuildError> {
        let direction_settings = scenario.direction_settings(hop);
        let settings = qdisc.settings_with(direction_settings.limit);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let link_info =
            link_info(scenario, classes, scenario.mean_rate(hop), Rng::named(seed, &format!("key {label}")).bits());
        if qdisc.name == "droptail" {
            let config = DroptailConfig::from_settings(&settings)?;
            return Ok(LinkDiscipline::Droptail(Droptail::new(config, &link_info)?));
        }
        if scenario.classifies() {
            let inner = built(qdisc, &settings, direction_settings.limit, &link_info, external)?;
            return Ok(LinkDiscipline::Other(Box::new(Classified::new(inner, scenario, hop))));
        }
        built(qdisc, &settings, direction_settings.limit, &link_info, external).map(LinkDiscipline::Other)
    }
}

fn built<T: Copy + 'static>(
    qdisc: &Qdisc,
    settings: &[(&str, &str)],
    limit: Limit,
    link_info: &LinkInfo<'_>,
    external: &impl ExternalDisciplines,
) -> Result<Box<dyn Discipline<T>>, BuildError> {
    external.boxed(qdisc, limit, link_info).map_or_else(|| registry::boxed(&qdisc.name, settings, link_info), Ok)
}

/// The properties of the link that a discipline may know.
fn link_info<'a>(scenario: &Scenario, classes: &'a [Class], rate: Rate, key: u64) -> LinkInfo<'a> {
    LinkInfo { classes, ..LinkInfo::new(rate, scenario.mean_packet(), key) }
}

/// Calls the same method on either variant.
macro_rules! either {
    ($link_discipline:expr, $it:ident => $call:expr) => {
        match $link_discipline {
            LinkDiscipline::Droptail($it) => $call,
            LinkDiscipline::Other($it) => $call,
        }
    };
}

impl Discipline<Segment> for LinkDiscipline {
    #[inline]
    fn enqueue(&mut self, packet: SimPacket, cx: &mut Cx<'_, Segment>) {
        either!(self, it => it.enqueue(packet, cx));
    }
    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_, Segment>) -> Option<SimPacket> {
        either!(self, it => it.dequeue(cx))
    }
    #[inline]
    fn fifo(&mut self) -> Option<&mut Fifo<Segment>> {
        match self {
            LinkDiscipline::Droptail(droptail) => droptail.fifo(),
            LinkDiscipline::Other(_) => None,
        }
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        either!(self, it => it.backlog())
    }
    fn ready_at(&self, now: Time) -> Option<Time> {
        either!(self, it => it.ready_at(now))
    }
    fn shed(&mut self, cx: &mut Cx<'_, Segment>) {
        either!(self, it => it.shed(cx));
    }
    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        either!(self, it => it.observe(gauge));
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        either!(self, it => it.observe_flow(flow, gauge));
    }
    fn observe_bins(&self, bin: &mut dyn FnMut(usize, usize, f64, u32)) {
        either!(self, it => it.observe_bins(bin));
    }
}
