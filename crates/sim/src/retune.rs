//! Changes to a run between two events: a link's rate, its discipline, the source of a group.
//!
//! A changed run has no counterpart among scenarios, so only a viewer makes such changes.

use aqm::{Qdisc, Rate, Time};
use headgate_scenario::{Hop, Scenario};

use crate::link::Downstream;
use crate::link_discipline::LinkDiscipline;
use crate::run_error::RunError;
use crate::world::World;

impl World {
    /// Sets the rate of the link at `hop`. A packet that is being sent keeps its time. Returns whether it was set: a rate
    /// that the scenario varies is not.
    pub fn set_rate(&mut self, hop: Hop, rate: Rate) -> bool {
        self.net.links[usize::from(hop.number())].medium_mut().set_rate(rate)
    }

    /// Puts `qdisc` in place of the discipline at `hop`, at `now`. The queued packets are handed over; the state of the
    /// old discipline is lost.
    ///
    /// # Errors
    /// [`RunError::Build`] if the discipline cannot be built. The old one then stays.
    pub fn replace_discipline(
        &mut self,
        scenario: &Scenario,
        hop: Hop,
        qdisc: &Qdisc,
        seed: u64,
        now: Time,
    ) -> Result<(), RunError> {
        let label = scenario.label(hop);
        let new = LinkDiscipline::new(qdisc, scenario, (hop, &label), &scenario.link_classes(), seed, &())?;
        let (number, World { queue, net, .. }) = (hop.number(), self);
        let link = &mut net.links[usize::from(number)];
        link.replace_discipline(new, now, &mut Downstream { number, hosts: &mut net.hosts, queue });
        net.wakes.set(number.into(), link.wake_at());
        Ok(())
    }

    /// Gives the flows of a UDP group the source that `scenario` has for it. `group` counts UDP groups. What the old
    /// source began to write is still sent.
    pub fn replace_source(&mut self, scenario: &Scenario, group: usize) {
        let source = &scenario.udp[group].source;
        let flows = self.net.hosts.udp.iter_mut().filter(|flow| usize::from(flow.group) == group);
        (0..).zip(flows).for_each(|(number, flow)| flow.replace_source(source.start(number)));
    }
}
