//! The discipline of one direction of a link: whichever was named, behind one type.

use headgate_core::disciplines::{Droptail, DroptailConfig};
use headgate_core::{
    Backlog, BuildError, Class, Cx, Discipline, FlowId, Limit, Params, Place, Qdisc, Rate, Rng, Time, registry,
};
use headgate_scenario::{Hop, Scenario};

use crate::classified::Classified;
use crate::segment::{Segment, SimPacket};

/// Disciplines that the registry does not know, from whoever runs a scenario.
pub trait Foreign {
    /// The discipline that `qdisc` names, for a queue with room for `limit` at `place`; none if it is not one of these.
    fn boxed<T: Copy + 'static>(
        &self,
        qdisc: &Qdisc,
        limit: Limit,
        place: &Place<'_>,
    ) -> Option<Box<dyn Discipline<T>>>;
}

/// None.
impl Foreign for () {
    fn boxed<T: Copy + 'static>(&self, _: &Qdisc, _: Limit, _: &Place<'_>) -> Option<Box<dyn Discipline<T>>> {
        None
    }
}

/// DropTail, which most links have, is compiled in; any other stands behind a pointer.
pub enum Queueing {
    /// DropTail.
    Droptail(Droptail<Segment>),
    /// Any other.
    Other(Box<dyn Discipline<Segment>>),
}

impl Queueing {
    /// The discipline `qdisc`, of the registry or `foreign`, at `hop`, which draws its key from the stream of `label`.
    ///
    /// # Errors
    /// What is wrong with its settings.
    pub fn new(
        qdisc: &Qdisc,
        scenario: &Scenario,
        (hop, label): (Hop, &str),
        classes: &[Class],
        seed: u64,
        foreign: &impl Foreign,
    ) -> Result<Queueing, BuildError> {
        let simplex = scenario.simplex(hop);
        let settings = qdisc.settings_with(simplex.limit);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let place = place(scenario, classes, scenario.mean_rate(hop), Rng::named(seed, &format!("key {label}")).bits());
        if qdisc.name == "droptail" {
            let config = DroptailConfig::from_settings(&settings)?;
            return Ok(Queueing::Droptail(Droptail::new(config, &place)?));
        }
        if scenario.classifies() {
            let inner = built(qdisc, &settings, simplex.limit, &place, foreign)?;
            return Ok(Queueing::Other(Box::new(Classified::new(inner, scenario, hop))));
        }
        built(qdisc, &settings, simplex.limit, &place, foreign).map(Queueing::Other)
    }
}

/// A discipline behind a pointer.
fn built<T: Copy + 'static>(
    qdisc: &Qdisc,
    settings: &[(&str, &str)],
    limit: Limit,
    place: &Place<'_>,
    foreign: &impl Foreign,
) -> Result<Box<dyn Discipline<T>>, BuildError> {
    foreign.boxed(qdisc, limit, place).map_or_else(|| registry::boxed(&qdisc.name, settings, place), Ok)
}

/// What a discipline is told of its place.
fn place<'a>(scenario: &Scenario, classes: &'a [Class], rate: Rate, key: u64) -> Place<'a> {
    Place { classes, ..Place::new(rate, scenario.mean_packet(), key) }
}

/// The same call on whichever discipline it is.
macro_rules! either {
    ($queueing:expr, $it:ident => $call:expr) => {
        match $queueing {
            Queueing::Droptail($it) => $call,
            Queueing::Other($it) => $call,
        }
    };
}

impl Discipline<Segment> for Queueing {
    #[inline]
    fn enqueue(&mut self, packet: SimPacket, cx: &mut Cx<'_, Segment>) {
        either!(self, it => it.enqueue(packet, cx));
    }
    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_, Segment>) -> Option<SimPacket> {
        either!(self, it => it.dequeue(cx))
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
}
