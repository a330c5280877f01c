//! Changes to a run: some hold from now on, others need a new run.

use headgate_scenario::{Changes, Events, Hop, RateVariation, Scenario};

use crate::lab::Lab;
use crate::{Message, limits};

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// It holds from now on.
    Applied,
    /// Nothing changed: the value can only be set from the start of a run.
    NeedsRestart,
}

/// The text of the scenario in `toml` after `changes`, each written as for `headgate run --set`.
///
/// # Errors
/// A message if the scenario cannot be read, a key does not exist, or a value cannot be used.
pub fn changed(toml: &str, changes: &[String]) -> Result<String, Message> {
    let changes = Changes { set: changes.to_vec(), ..Changes::default() };
    let read = Scenario::read(toml, "the scenario", &changes).map_err(|error| error.to_string())?;
    limits::check(&read)?;
    Ok(read.to_toml())
}

impl Lab {
    /// Changes `key` to `value`, written as for `headgate run --set`. The rate of the link, the rate of a UDP group and
    /// the parameters of the discipline change from now on.
    ///
    /// # Errors
    /// A message if there is no such key, or if the value cannot be used. The run then goes on unchanged.
    pub fn set(&mut self, key: &str, value: &str) -> Result<SetOutcome, Message> {
        let changes = Changes { set: vec![format!("{key}={value}")], ..Changes::default() };
        let mut next =
            Scenario::read(&self.scenario.to_toml(), "the scenario", &changes).map_err(|error| error.to_string())?;
        next.record.events = Events::All;
        limits::check(&next)?;
        if self.world.is_none()
            || !(self.changes_rate(&next) || self.changes_source(&next) || self.changes_qdisc(&next)?)
        {
            return Ok(SetOutcome::NeedsRestart);
        }
        self.scenario = next;
        // A new queue may have dropped packets, which the picture still holds.
        self.advance_to(self.now);
        Ok(SetOutcome::Applied)
    }

    /// Sets the rate of the shown link, if `next` differs in nothing else.
    fn changes_rate(&mut self, next: &Scenario) -> bool {
        let link = usize::from(self.hop.link);
        let old = &self.scenario;
        let mut alike = next.clone();
        let Some(new) = alike.links.get_mut(link) else { return false };
        (new.forward.rate, new.reverse.rate) = (old.links[link].forward.rate, old.links[link].reverse.rate);
        let rate = |scenario: &Scenario, hop: Hop| scenario.direction_settings(hop).rate;
        let mut changed = vec![self.hop, self.hop.back()];
        changed.retain(|hop| rate(next, *hop) != rate(old, *hop));
        let is_constant = |hop: &Hop| old.direction_settings(*hop).rate_variation == RateVariation::Constant;
        let Some(world) = &mut self.world else { return false };
        alike == *old
            && changed.iter().all(is_constant)
            && changed.into_iter().all(|hop| world.set_rate(hop, rate(next, hop)))
    }

    /// Sets the sources of UDP groups, if `next` differs in nothing else.
    fn changes_source(&mut self, next: &Scenario) -> bool {
        let mut alike = next.clone();
        if alike.udp.len() != self.scenario.udp.len() {
            return false;
        }
        let mut different = Vec::new();
        for (number, (new, old)) in alike.udp.iter_mut().zip(&self.scenario.udp).enumerate() {
            if new != old && !new.is_controlled() && !old.is_controlled() {
                different.push(number);
                (new.traffic, new.source, new.settings.rate) =
                    (old.traffic.clone(), old.source.clone(), old.settings.rate);
            }
        }
        let Some(world) = &mut self.world else { return false };
        let only_sources = alike == self.scenario && !different.is_empty();
        if only_sources {
            different.into_iter().for_each(|group| world.replace_source(next, group));
        }
        only_sources
    }

    /// Replaces the discipline on every link that compares disciplines, if `next` differs in nothing else.
    fn changes_qdisc(&mut self, next: &Scenario) -> Result<bool, Message> {
        let alike = Scenario { qdiscs: self.scenario.qdiscs.clone(), ..next.clone() };
        let Some(world) = &mut self.world else { return Ok(false) };
        if alike != self.scenario {
            return Ok(false);
        }
        for hop in next.hops().filter(|hop| next.direction_settings(*hop).qdisc.is_none()) {
            world
                .replace_discipline(next, hop, &next.qdiscs[0], self.seed, self.now)
                .map_err(|error| error.to_string())?;
        }
        Ok(true)
    }
}
