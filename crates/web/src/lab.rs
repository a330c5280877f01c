//! One run that a page advances.

use aqm::{Span, Time};
use headgate_measure::Outcome;
use headgate_scenario::{Changes, Events, Hop, Qdisc, Scenario};
use headgate_sim::World;
use serde_json::{Map, Value};

use crate::queue_picture::QueuePicture;
use crate::{Message, limits};

/// One run of a scenario with one discipline and one seed.
pub struct Lab {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    /// The queue that is shown: the first that compares disciplines.
    pub(crate) hop: Hop,
    /// Everything before this time has happened.
    pub(crate) now: Time,
    pub(crate) picture: QueuePicture,
    /// `None` once the run is finished.
    pub(crate) world: Option<World>,
    pub(crate) outcome: Option<Outcome>,
    /// What a finished run still shows.
    pub(crate) final_state: Map<String, Value>,
}

impl Lab {
    /// A run of the scenario in `toml` with `qdisc`, such as `red:maxp=0.1`, before its first event.
    ///
    /// # Errors
    /// A message if the scenario or the discipline cannot be read, or if the scenario is too large for a page.
    pub fn new(toml: &str, qdisc: &str, seed: u64) -> Result<Lab, Message> {
        let changes = Changes { qdiscs: vec![qdisc.to_string()], ..Changes::default() };
        let mut scenario = Scenario::read(toml, "the scenario", &changes).map_err(|error| error.to_string())?;
        limits::check(&scenario)?;
        // The picture of the queue is made of its events. Traces and captures have no reader here.
        scenario.record.events = Events::All;
        scenario.record.flows.clear();
        scenario.record.capture.clear();
        let hop = scenario.bottleneck();
        let world = World::build(&scenario, &scenario.qdiscs[0], seed, &()).map_err(|error| error.to_string())?;
        Ok(Lab {
            picture: QueuePicture::new(hop.number()),
            scenario,
            seed,
            hop,
            now: Time::ZERO,
            world: Some(world),
            outcome: None,
            final_state: Map::new(),
        })
    }

    /// The discipline.
    pub fn qdisc(&self) -> &Qdisc {
        &self.scenario.qdiscs[0]
    }

    /// The end of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.scenario.duration
    }

    /// Advances to `until_ms`, at most to the end. The next snapshot has the events.
    pub fn advance(&mut self, until_ms: f64) {
        self.picture.keeps_events = true;
        self.advance_to(time(until_ms));
    }

    /// Advances without keeping events: to look for a place in the run.
    pub fn skip(&mut self, until_ms: f64) {
        self.forget_events();
        self.picture.keeps_events = false;
        self.advance_to(time(until_ms));
    }

    /// Advances until something happens to a packet at the queue, or to the end. Returns the time in milliseconds.
    pub fn step(&mut self) -> f64 {
        self.picture.keeps_events = true;
        let seen = self.picture.recorded();
        while self.picture.recorded() == seen {
            let Some(world) = &mut self.world else { break };
            match world.advance_one(&mut self.picture).unwrap_or_default() {
                // The events of this moment are not over.
                Some(now) => self.now = self.now.max(now),
                None => {
                    self.now = self.end();
                    break;
                }
            }
        }
        millis(self.now)
    }

    pub(crate) fn advance_to(&mut self, until: Time) {
        let until = until.min(self.end());
        if let Some(world) = &mut self.world {
            // The picture never asks to stop.
            _ = world.advance(until, &mut self.picture);
            self.now = self.now.max(until);
        }
    }

    fn forget_events(&mut self) {
        self.picture.forgotten += self.picture.events.len() as u64;
        self.picture.events.clear();
    }
}

/// Milliseconds as a time. A negative or undefined number is the start.
pub(crate) fn time(millis: f64) -> Time {
    Time::from_nanos((millis * 1e6).round() as u64)
}

/// A time in milliseconds.
pub(crate) fn millis(time: Time) -> f64 {
    span_millis(time - Time::ZERO)
}

/// A span in milliseconds.
pub(crate) fn span_millis(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e6
}
