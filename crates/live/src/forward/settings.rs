//! One direction of a link as it is asked for, and the lane made of it.

use std::io;
use std::ops::RangeInclusive;

use headgate_core::registry::{self, Job};
use headgate_core::{BuildError, Class, Discipline, Limit, Place, Port, Qdisc, Rate, Rng, Span, Time};
use headgate_link::{Medium, Meter};
use headgate_scenario::{ClassRule, Classifier, FlowKey, Hop, Scenario, Simplex};

use super::fabric::Lanes;
use super::lane::{Lane, LaneOf, Remains, Sides};
use super::ledger::LaneLedger;
use super::queue::{FrameQueue, LateMedium};
use crate::io::BATCH;
use crate::io::frame::{Layer, Parser};
use crate::io::pool::{FrameId, Pool};

/// A discipline that nothing was compiled for.
pub(crate) type Anything = Box<dyn Discipline<FrameId>>;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LaneSettings {
    /// Rate, how it changes, room in the queue, and what becomes of packets on the way. Its own discipline is not looked at.
    pub simplex: Simplex,
    /// The discipline.
    pub qdisc: Qdisc,
    /// Propagation delay.
    pub delay: Span,
    /// What the discipline takes for the link's rate: the mean where it changes.
    pub mean_rate: Rate,
    /// What the discipline takes for the size of a packet, in bytes.
    pub mean_packet: u32,
    /// Bytes that every packet costs on the link beside its own; negative to leave out a link header that it has.
    /// Disciplines count packets without it.
    pub overhead: i32,
    /// What the discipline takes for one flow.
    pub flow_key: FlowKey,
    /// Aggregates of flows.
    pub rules: Vec<ClassRule>,
    /// The same, as disciplines are told of them.
    pub classes: Vec<Class>,
    /// Frames that may wait, fly or be looked at; [`LaneSettings::slots`] says how many are enough.
    pub slots: u32,
    /// Bytes for a frame, [`Pool::SLOT`] if nothing is known of the ends: a longer one is dropped at the entry.
    pub slot_bytes: usize,
}

impl LaneSettings {
    /// What `overhead` may be: the shortest IP packet has 20 bytes (RFC 791, section 3.1), and none may be free.
    pub const OVERHEADS: RangeInclusive<i32> = -19..=1000;

    /// The forward direction of the scenario's first link, with the first of its disciplines.
    pub fn of(scenario: &Scenario, overhead: i32) -> LaneSettings {
        LaneSettings { overhead, ..LaneSettings::at(scenario, scenario.bottleneck(), &scenario.qdiscs[0]) }
    }

    /// The direction `hop` of the scenario with `qdisc`, where a packet costs its own bytes.
    pub(crate) fn at(scenario: &Scenario, hop: Hop, qdisc: &Qdisc) -> LaneSettings {
        let (simplex, delay) = (scenario.simplex(hop).clone(), scenario.links[usize::from(hop.link)].delay);
        LaneSettings {
            slots: LaneSettings::slots(&simplex, delay),
            simplex,
            qdisc: qdisc.clone(),
            delay,
            mean_rate: scenario.mean_rate(hop),
            mean_packet: scenario.mean_packet(),
            overhead: 0,
            flow_key: scenario.flow_key,
            rules: scenario.classes.clone(),
            classes: scenario.shares(),
            slot_bytes: Pool::SLOT,
        }
    }

    /// How many slots a lane needs, so that none is dropped for want of one: for what may wait, for what the link holds
    /// of the smallest packets that Ethernet has, and for a batch. No more than a million.
    pub fn slots(simplex: &Simplex, delay: Span) -> u32 {
        const SMALLEST: u64 = 60;
        let waiting = match simplex.limit {
            Limit::Packets(packets) => u64::from(packets),
            Limit::Bytes(bytes) => bytes / SMALLEST,
        };
        let longest = delay + simplex.impairments.jitter + simplex.impairments.reorder_by;
        let flying = simplex.pace.most(simplex.rate, longest) / SMALLEST;
        let slots = waiting.saturating_add(flying).saturating_add(2 * BATCH as u64);
        slots.min(1_000_000) as u32
    }

    /// A lane like this, for frames that begin with `layer`. Its random streams go by `seed` and `label`, its direction's
    /// name, as the simulator's do.
    ///
    /// # Errors
    /// `InvalidInput`: what is wrong with the discipline or the overhead.
    pub fn build(&self, layer: Layer, seed: u64, label: &str) -> io::Result<Box<dyn Lane>> {
        self.lane(layer, Streams { seed, label }, None)
    }

    /// Lanes like these, forward and reverse; errors as those of [`build`](LaneSettings::build).
    pub(crate) fn build_both(lanes: &[LaneSettings; 2], layer: Layer, seed: u64) -> io::Result<Lanes> {
        let [forward, reverse] = lanes;
        Ok([forward.build(layer, seed, "forward")?, reverse.build(layer, seed, "reverse")?])
    }

    /// Puts a lane like this in the place of `lane` at `now`. What waits there is put into its discipline, in order; what
    /// that has no room for, or will not have, is dropped and counted as its drop. What flies comes out as it would have.
    /// All counts go on, and there are never fewer slots than before.
    ///
    /// # Errors
    /// `InvalidInput`: what is wrong with the discipline or the overhead; `lane` is as it was.
    pub fn refit(&self, lane: &mut Box<dyn Lane>, now: Time, layer: Layer, seed: u64, label: &str) -> io::Result<()> {
        *lane = self.lane(layer, Streams { seed, label }, Some((&mut **lane, now)))?;
        Ok(())
    }

    fn lane<'a>(
        &'a self,
        layer: Layer,
        streams: Streams<'a>,
        before: Option<(&'a mut dyn Lane, Time)>,
    ) -> io::Result<Box<dyn Lane>> {
        self.placed(streams, |settings, place| {
            let job = Build { settings: self, layer, streams, before };
            registry::with(&self.qdisc.name, settings, place, job)
        })
    }

    /// The queue and the medium alone, of any discipline. `meter` is handed the discipline and the counts that every lane
    /// has. Errors are those of [`build`](LaneSettings::build).
    pub(crate) fn queue<M: Meter<FrameId>>(
        &self,
        (seed, label): (u64, &str),
        meter: impl FnOnce(&Anything, LaneLedger) -> M,
    ) -> io::Result<FrameQueue<Anything, M>> {
        let streams = Streams { seed, label };
        let discipline = self.placed(streams, |settings, place| registry::boxed(&self.qdisc.name, settings, place))?;
        let meter = meter(&discipline, streams.ledger());
        let port = Port::with_ledger(discipline, streams.of("port"), meter);
        Ok(FrameQueue::new(port, self.medium(streams)))
    }

    fn medium(&self, streams: Streams<'_>) -> LateMedium {
        LateMedium::new(Medium::new(&self.simplex, self.delay, streams.of("medium")), self.overhead)
    }

    /// Calls `make` with what the registry wants to know.
    fn placed<T>(
        &self,
        streams: Streams<'_>,
        make: impl FnOnce(&[(&str, &str)], &Place<'_>) -> Result<T, BuildError>,
    ) -> io::Result<T> {
        let refused = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        if !LaneSettings::OVERHEADS.contains(&self.overhead) {
            let (least, most) = LaneSettings::OVERHEADS.into_inner();
            let what = format!("an overhead of {} bytes a packet: it must be {least} to {most}", self.overhead);
            return Err(refused(what));
        }
        let settings = self.qdisc.settings_with(self.simplex.limit);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let key = streams.of("key").bits();
        let place = Place { classes: &self.classes, ..Place::new(self.mean_rate, self.mean_packet, key) };
        make(&settings, &place).map_err(|error| refused(error.to_string()))
    }
}

/// The random streams of a direction, by its name among those of the run.
#[derive(Clone, Copy)]
struct Streams<'a> {
    seed: u64,
    label: &'a str,
}

impl Streams<'_> {
    fn of(self, what: &str) -> Rng {
        Rng::named(self.seed, &format!("{what} {}", self.label))
    }

    fn ledger(self) -> LaneLedger {
        LaneLedger::new(self.of("ledger").bits())
    }
}

/// A lane that is made for its discipline, perhaps in the place of another one.
struct Build<'a> {
    settings: &'a LaneSettings,
    layer: Layer,
    streams: Streams<'a>,
    before: Option<(&'a mut dyn Lane, Time)>,
}

impl Job<FrameId> for Build<'_> {
    type Output = Box<dyn Lane>;

    fn run<D: Discipline<FrameId> + 'static>(self, discipline: D) -> Box<dyn Lane> {
        let Build { settings, layer, streams, before } = self;
        let key = streams.of("flows").bits();
        let classifier = Classifier::new(&settings.rules, settings.flow_key, key);
        let parser = Parser::with_classifier(layer, classifier, key);
        let medium = settings.medium(streams);
        let Some((lane, now)) = before else {
            let port = Port::with_ledger(discipline, streams.of("port"), streams.ledger());
            let sides = Sides::new(parser, Pool::new(settings.slots, settings.slot_bytes));
            return Box::new(LaneOf { queue: FrameQueue::new(port, medium), sides });
        };
        let mut remains = lane.leave(now);
        remains.refit(parser, settings.slots);
        let Remains { sides, ledger, queued } = remains;
        let port = Port::with_ledger(discipline, streams.of(&format!("port at {now}")), ledger);
        let mut lane = LaneOf { queue: FrameQueue::new(port, medium), sides };
        lane.take_over(queued, now);
        Box::new(lane)
    }
}
