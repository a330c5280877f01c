//! One run: a scenario, one of its disciplines, one seed.

use headgate_core::disciplines::{Droptail, DroptailConfig};
use headgate_core::registry::{self, Job};
use headgate_core::{Backlog, Class, Cx, Discipline, Params, Place, Port, Rate, Rng, Time};
use headgate_scenario::{Qdisc, Scenario};

use crate::classified::{Classified, Heading};
use crate::hosts::Hosts;
use crate::link::Link;
use crate::meter::{EventLog, FlowLedger};
use crate::outcome::{Outcome, RunError, Watch};
use crate::queue::Queue;
use crate::sampler::Sampler;
use crate::segment::{Segment, SimPacket};
use crate::world::{Net, World};

/// Simulates `scenario` with `qdisc` at the forward bottleneck. The same arguments give the same outcome, to the last
/// bit, wherever and beside whatever it runs.
///
/// # Errors
/// [`RunError::Build`] if a discipline cannot be built, [`RunError::Stopped`] if the watcher asks to stop.
pub fn run(scenario: &Scenario, qdisc: &Qdisc, seed: u64, watch: &mut dyn Watch) -> Result<Outcome, RunError> {
    let settings = qdisc.settings_with(scenario.link.limit);
    let classes = scenario.shares();
    let place = place(scenario, &classes, scenario.link.rate, seed, "forward");
    let simulate = Simulate { scenario, classes: &classes, seed, watch };
    if scenario.classifies() {
        let inner = registry::boxed(&qdisc.name, &as_text(&settings), &place)?;
        return simulate.run(Classified::new(inner, scenario, Heading::Forward));
    }
    registry::with::<Segment, _>(&qdisc.name, &as_text(&settings), &place, simulate)?
}

/// The simulation as a job on whichever discipline was named: the event loop is compiled for each.
struct Simulate<'a> {
    scenario: &'a Scenario,
    classes: &'a [Class],
    seed: u64,
    watch: &'a mut dyn Watch,
}

impl Job<Segment> for Simulate<'_> {
    type Output = Result<Outcome, RunError>;

    fn run<D: Discipline<Segment> + 'static>(self, discipline: D) -> Self::Output {
        let Simulate { scenario, classes, seed, watch } = self;
        let link = &scenario.link;
        let mut queue = Queue::new(typical_gap(scenario));
        let hosts = Hosts::new(scenario, seed, &mut queue);
        let ledger = FlowLedger::new(hosts.packet_sizes(), EventLog::new(scenario.record.events));
        let port = Port::with_ledger(discipline, Rng::named(seed, "port forward"), ledger);
        let back = Port::new(Back::new(scenario, classes, seed)?, Rng::named(seed, "port reverse"));
        let world = World {
            queue,
            net: Net {
                forward: Link::new(port, link.rate, link.delay),
                reverse: Link::new(back, link.reverse.rate, link.delay),
                hosts,
            },
            sampler: Sampler::new(scenario.record.interval, scenario.tcp.len() + scenario.udp.len()),
        };
        world.run(scenario, watch)
    }
}

/// The discipline on the way back: nearly always DropTail, which is compiled in; any other stands behind a pointer.
enum Back {
    Droptail(Droptail<Segment>),
    Other(Box<dyn Discipline<Segment>>),
}

impl Back {
    fn new(scenario: &Scenario, classes: &[Class], seed: u64) -> Result<Back, RunError> {
        let reverse = &scenario.link.reverse;
        let settings = reverse.qdisc.settings_with(reverse.limit);
        let place = place(scenario, classes, reverse.rate, seed, "reverse");
        if reverse.qdisc.name == "droptail" {
            let config = DroptailConfig::from_settings(&as_text(&settings))?;
            return Ok(Back::Droptail(Droptail::new(config, &place)?));
        }
        if scenario.classifies() {
            let inner = registry::boxed(&reverse.qdisc.name, &as_text(&settings), &place)?;
            return Ok(Back::Other(Box::new(Classified::new(inner, scenario, Heading::Reverse))));
        }
        Ok(Back::Other(registry::boxed(&reverse.qdisc.name, &as_text(&settings), &place)?))
    }
}

/// The same call on whichever discipline it is.
macro_rules! either {
    ($back:expr, $it:ident => $call:expr) => {
        match $back {
            Back::Droptail($it) => $call,
            Back::Other($it) => $call,
        }
    };
}

impl Discipline<Segment> for Back {
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
}

fn as_text<'a>(settings: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// What a discipline is told of its place, with a key of its own.
fn place<'a>(scenario: &Scenario, classes: &'a [Class], rate: Rate, seed: u64, direction: &str) -> Place<'a> {
    let key = Rng::named(seed, &format!("key {direction}")).bits();
    Place { classes, ..Place::new(rate, scenario.mean_packet(), key) }
}

/// Nanoseconds between two events while the bottleneck is busy: a packet there causes about five, and what the UDP
/// sources send one each.
fn typical_gap(scenario: &Scenario) -> u64 {
    let packets = |rate: Rate, bytes: u32| 1e9 / rate.transmit(bytes).as_nanos().max(1) as f64;
    let bottleneck = packets(scenario.link.rate, scenario.mean_packet());
    let sources = scenario.udp.iter().map(|group| f64::from(group.flows) * packets(group.rate, group.packet));
    (1e9 / (5.0 * bottleneck + sources.sum::<f64>())) as u64
}
