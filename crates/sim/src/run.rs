//! One run: one scenario, one discipline, one seed.
//!
//! [`World::build`] builds the links and the hosts and schedules the flows' first events. [`run`] lets the [`World`]
//! process events until the scenario ends.

use aqm::Rate;
use headgate_measure::{Outcome, RunObserver};
use headgate_scenario::{Hop, Qdisc, Scenario};

use crate::event_queue::EventQueue;
use crate::hosts::Hosts;
use crate::link::{SimLink, new_link};
use crate::link_discipline::{ExternalDisciplines, LinkDiscipline};
use crate::run_error::RunError;
use crate::world::World;

/// Typical gaps in a tick of the event queue. The events of the next round trip then go to its lowest level at once, and
/// still few share a tick.
const GAPS_PER_TICK: u64 = 4;

/// Room reserved for events: few flows have more packets on their way at a time.
const EVENTS_PER_FLOW: usize = 7;

/// Simulates `scenario` with `qdisc` at the compared links. Equal arguments give bit-identical outcomes.
///
/// # Errors
/// [`RunError::Build`] if a discipline cannot be built, [`RunError::Stopped`] if the observer asks to stop.
pub fn run(scenario: &Scenario, qdisc: &Qdisc, seed: u64, watch: &mut dyn RunObserver) -> Result<Outcome, RunError> {
    run_with(scenario, qdisc, seed, watch, &())
}

/// Like [`run`], with additional disciplines from `external`.
///
/// # Errors
/// The errors of [`run`].
pub fn run_with(
    scenario: &Scenario,
    qdisc: &Qdisc,
    seed: u64,
    watch: &mut dyn RunObserver,
    external: &impl ExternalDisciplines,
) -> Result<Outcome, RunError> {
    World::build(scenario, qdisc, seed, external)?.finish(scenario, watch)
}

impl World {
    /// A run of `scenario` with `qdisc` at the compared links, before its first event. Disciplines outside the registry
    /// come from `external`.
    ///
    /// # Errors
    /// [`RunError::Build`] if a discipline cannot be built.
    pub fn build(
        scenario: &Scenario,
        qdisc: &Qdisc,
        seed: u64,
        external: &impl ExternalDisciplines,
    ) -> Result<World, RunError> {
        let links = links(scenario, qdisc, seed, external)?;
        let mut queue = EventQueue::new(GAPS_PER_TICK * typical_gap(scenario));
        queue.reserve(EVENTS_PER_FLOW * scenario.total_flows() as usize);
        let hosts = Hosts::new(scenario, seed, &mut queue);
        Ok(World::new(scenario, queue, links, hosts))
    }
}

/// Both directions of every link.
fn links(
    scenario: &Scenario,
    qdisc: &Qdisc,
    seed: u64,
    external: &impl ExternalDisciplines,
) -> Result<Vec<SimLink>, RunError> {
    let classes = scenario.link_classes();
    let built = |hop: Hop| {
        let label = scenario.label(hop);
        let named = scenario.direction_settings(hop).qdisc.as_ref().unwrap_or(qdisc);
        let discipline = LinkDiscipline::new(named, scenario, (hop, &label), &classes, seed, external)?;
        Ok(new_link(scenario, hop, discipline, seed, &label))
    };
    scenario.hops().map(built).collect()
}

/// Typical time between events in nanoseconds while all links are busy. A packet causes about five events at a link. A
/// datagram of an uncontrolled UDP source causes one.
fn typical_gap(scenario: &Scenario) -> u64 {
    let packets = |rate: Rate, bytes: u32| 1e9 / rate.transmit(bytes).as_nanos().max(1) as f64;
    let links = scenario.links.iter().map(|link| 5.0 * packets(link.forward.rate, scenario.mean_packet()));
    let constant = scenario.udp.iter().filter(|group| !group.is_controlled());
    let sources = constant.map(|group| f64::from(group.flows) * packets(group.most(), group.packet));
    (1e9 / links.chain(sources).sum::<f64>()) as u64
}
