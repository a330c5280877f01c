//! One run: a scenario, one of its disciplines, one seed.

use headgate_core::registry::{self, Job};
use headgate_core::{Discipline, Limit, Place, Port, Rate, Rng};
use headgate_scenario::{Qdisc, Scenario};

use crate::hosts::Hosts;
use crate::link::Link;
use crate::meter::{EventLog, FlowLedger};
use crate::outcome::{Outcome, RunError, Watch};
use crate::queue::Queue;
use crate::sampler::Sampler;
use crate::segment::Segment;
use crate::world::World;

/// Simulates `scenario` with `qdisc` at the forward bottleneck. The same arguments give the same outcome, to the last
/// bit, wherever and beside whatever it runs.
///
/// # Errors
/// [`RunError::Build`] if a discipline cannot be built, [`RunError::Stopped`] if the watcher asks to stop.
pub fn run(scenario: &Scenario, qdisc: &Qdisc, seed: u64, watch: &mut dyn Watch) -> Result<Outcome, RunError> {
    let settings = settings(qdisc, scenario.link.limit);
    let place = place(scenario, scenario.link.rate, seed, "forward");
    registry::with::<Segment, _>(&qdisc.name, &as_text(&settings), &place, Simulate { scenario, seed, watch })?
}

/// The simulation as a job on whichever discipline was named: the event loop is compiled for each.
struct Simulate<'a> {
    scenario: &'a Scenario,
    seed: u64,
    watch: &'a mut dyn Watch,
}

impl Job<Segment> for Simulate<'_> {
    type Output = Result<Outcome, RunError>;

    fn run<D: Discipline<Segment> + 'static>(self, discipline: D) -> Self::Output {
        let Simulate { scenario, seed, watch } = self;
        let link = &scenario.link;
        let mut queue = Queue::new(typical_gap(scenario));
        let hosts = Hosts::new(scenario, seed, &mut queue);
        let ledger = FlowLedger::new(hosts.len(), EventLog::new(scenario.record.events));
        let port = Port::with_ledger(discipline, Rng::named(seed, "port forward"), ledger);
        let back = settings(&link.reverse.qdisc, link.reverse.limit);
        let place = place(scenario, link.reverse.rate, seed, "reverse");
        let back = registry::boxed(&link.reverse.qdisc.name, &as_text(&back), &place)?;
        let back = Port::new(back, Rng::named(seed, "port reverse"));
        let world = World {
            queue,
            forward: Link::new(port, link.rate, link.delay),
            reverse: Link::new(back, link.reverse.rate, link.delay),
            hosts,
            sampler: Sampler::new(scenario.record.interval, scenario.tcp.len() + scenario.udp.len()),
        };
        world.run(scenario, watch)
    }
}

/// A discipline's settings, with the link's limit where they give none.
fn settings(qdisc: &Qdisc, limit: Limit) -> Vec<(String, String)> {
    let mut settings = qdisc.settings.clone();
    if !settings.iter().any(|(name, _)| name == "limit") {
        settings.insert(0, ("limit".into(), limit.to_string()));
    }
    settings
}

fn as_text(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// What a discipline is told of its place: packets of the size most flows send, and a key of its own.
fn place(scenario: &Scenario, rate: Rate, seed: u64, direction: &str) -> Place {
    let tcp = scenario.tcp.iter().map(|group| (group.flows, group.packet));
    let sizes = tcp.chain(scenario.udp.iter().map(|group| (group.flows, group.packet)));
    let (flows, bytes) = sizes
        .fold((0, 0), |(flows, bytes), (n, packet)| (flows + u64::from(n), bytes + u64::from(n) * u64::from(packet)));
    let mean_packet = (bytes / flows.max(1)).max(1) as u32;
    Place { rate, mean_packet, key: Rng::named(seed, &format!("key {direction}")).bits() }
}

/// Nanoseconds between two events while the bottleneck is busy: a packet there causes about five, and what the UDP
/// sources send one each.
fn typical_gap(scenario: &Scenario) -> u64 {
    let packets = |rate: Rate, bytes: u32| 1e9 / rate.transmit(bytes).as_nanos().max(1) as f64;
    let bottleneck = packets(scenario.link.rate, place(scenario, scenario.link.rate, 0, "").mean_packet);
    let sources = scenario.udp.iter().map(|group| f64::from(group.flows) * packets(group.rate, group.packet));
    (1e9 / (5.0 * bottleneck + sources.sum::<f64>())) as u64
}
