//! Settings of one direction of a link, and the lane built from them.

use aqm::registry::{self, DisciplineVisitor};
use aqm::{BuildError, Class, Discipline, Limit, LinkInfo, Port, Qdisc, Rate, Rng, Span, Time, can_reserve};
use headgate_link::{Medium, Meter};
use headgate_scenario::{Classifier, DirectionSettings, FlowKey, Hop, Scenario, TrafficClass};

use super::fabric::Lanes;
use super::lane::{DisciplineLane, Lane, LaneEnds, LaneHandover};
use super::ledger::LaneLedger;
use super::queue::{DeferredMedium, FrameQueue};
use crate::error::{LiveError, LiveResult};
use crate::io::BATCH;
use crate::io::frame::{Layer, Parser};
use crate::io::pool::{FrameId, Pool};

/// A discipline chosen at run time.
pub(crate) type FrameDiscipline = Box<dyn Discipline<FrameId>>;

/// Settings of one direction of a link.
#[derive(Clone, Debug)]
pub struct LaneSettings {
    /// Rate, rate changes, queue limit and emulated impairments. `qdisc` replaces its discipline.
    pub direction_settings: DirectionSettings,
    /// The discipline.
    pub qdisc: Qdisc,
    /// Propagation delay.
    pub delay: Span,
    /// The link rate that the discipline assumes: the mean if the rate changes.
    pub mean_rate: Rate,
    /// The packet size that the discipline assumes, in bytes.
    pub mean_packet: u32,
    /// The fields that identify a flow.
    pub flow_key: FlowKey,
    /// Rules that assign packets to classes.
    pub rules: Vec<TrafficClass>,
    /// The classes in the form passed to disciplines.
    pub classes: Vec<Class>,
    /// Slots for frames that are queued, propagating or being parsed; see [`LaneSettings::slots`].
    pub slots: u32,
    /// Bytes per slot; [`Pool::DEFAULT_SLOT`] if the MTU of the ends is unknown. The entry drops longer frames.
    pub slot_bytes: usize,
}

impl LaneSettings {
    /// Names of the directions, which select their random streams.
    const LABELS: [&str; 2] = ["forward", "reverse"];

    /// The first direction of `scenario` that compares disciplines, with its first discipline.
    pub fn of_bottleneck(scenario: &Scenario) -> LaneSettings {
        LaneSettings::for_hop(scenario, scenario.bottleneck(), &scenario.qdiscs[0])
    }

    /// Direction `hop` of the scenario with `qdisc`.
    pub(crate) fn for_hop(scenario: &Scenario, hop: Hop, qdisc: &Qdisc) -> LaneSettings {
        let (direction_settings, delay) =
            (scenario.direction_settings(hop).clone(), scenario.links[usize::from(hop.link)].delay);
        LaneSettings {
            slots: LaneSettings::slots(&direction_settings, delay),
            direction_settings,
            qdisc: qdisc.clone(),
            delay,
            mean_rate: scenario.mean_rate(hop),
            mean_packet: scenario.mean_packet(),
            flow_key: scenario.flow_key,
            rules: scenario.classes.clone(),
            classes: scenario.link_classes(),
            slot_bytes: Pool::DEFAULT_SLOT,
        }
    }

    /// Number of slots, at most a million, so that no frame is dropped for lack of one. It covers a full queue, the
    /// link's longest delay filled with the smallest Ethernet packets, and two batches.
    pub fn slots(direction_settings: &DirectionSettings, delay: Span) -> u32 {
        const SMALLEST_FRAME: u64 = 60;
        let queued = match direction_settings.limit {
            Limit::Packets(packets) => u64::from(packets),
            Limit::Bytes(bytes) => bytes / SMALLEST_FRAME,
        };
        let longest = delay + direction_settings.impairments.jitter + direction_settings.impairments.reorder_by;
        let propagating = direction_settings.rate_variation.most(direction_settings.rate, longest) / SMALLEST_FRAME;
        // Copies propagate too.
        let copies = 1 + u64::from(direction_settings.impairments.duplicate > 0.0);
        let propagating = propagating.saturating_mul(copies);
        let slots = queued.saturating_add(propagating).saturating_add(2 * BATCH as u64);
        slots.min(1_000_000) as u32
    }

    /// Builds a lane for frames of `layer`. `seed` and `label`, the direction's name, select the same random streams as
    /// in the simulator.
    ///
    /// # Errors
    /// refused if the discipline's parameters are invalid, or need more memory than the system gives.
    pub fn build(&self, layer: Layer, seed: u64, label: &str) -> LiveResult<Box<dyn Lane>> {
        self.build_or_replace(layer, LaneStreams { seed, label }, None)
    }

    /// Builds the lanes of the directions in `serves`; same errors as [`build`](LaneSettings::build).
    pub(crate) fn build_lanes(
        lanes: &[LaneSettings; 2],
        serves: [bool; 2],
        layer: Layer,
        seed: u64,
    ) -> LiveResult<Lanes> {
        let build = |at: usize| serves[at].then(|| lanes[at].build(layer, seed, LaneSettings::LABELS[at])).transpose();
        Ok([build(0)?, build(1)?])
    }

    /// Replaces the lanes that the thread serves; see [`refit`](LaneSettings::refit).
    pub(crate) fn refit_lanes(
        settings: &[LaneSettings; 2],
        lanes: &mut Lanes,
        now: Time,
        layer: Layer,
        seed: u64,
    ) -> LiveResult<()> {
        for ((to, lane), label) in settings.iter().zip(lanes).zip(LaneSettings::LABELS) {
            if let Some(lane) = lane {
                to.refit(lane, now, layer, seed, label)?;
            }
        }
        Ok(())
    }

    /// Replaces `lane` at `now`. Its queued packets are enqueued in the new discipline in order; a packet that does not
    /// fit or is rejected counts as a drop. Packets in propagation leave when they would have. Counts continue, and the
    /// number of slots never falls.
    ///
    /// # Errors
    /// refused if the discipline's parameters are invalid; `lane` is then unchanged.
    pub fn refit(&self, lane: &mut Box<dyn Lane>, now: Time, layer: Layer, seed: u64, label: &str) -> LiveResult<()> {
        *lane = self.build_or_replace(layer, LaneStreams { seed, label }, Some((&mut **lane, now)))?;
        Ok(())
    }

    fn build_or_replace<'a>(
        &'a self,
        layer: Layer,
        streams: LaneStreams<'a>,
        replaced: Option<(&'a mut dyn Lane, Time)>,
    ) -> LiveResult<Box<dyn Lane>> {
        self.refuse_huge_pool()?;
        self.with_link_info(streams, |settings, link| {
            let builder = LaneBuilder { settings: self, layer, streams, replaced };
            registry::with(&self.qdisc.name, settings, link, builder)
        })
    }

    /// Refuses more slots than the system has memory for. The registry does the same for the discipline's tables.
    fn refuse_huge_pool(&self) -> LiveResult<()> {
        let bytes = Pool::bytes_of(self.slots, self.slot_bytes);
        if can_reserve(bytes) {
            return Ok(());
        }
        let what = format!("{} slots for frames need {} MB of memory", self.slots, bytes / 1_000_000);
        Err(LiveError::Refused(format!("{what}, more than the system gives: lower the limit or the delay")))
    }

    /// Builds the queue and the medium alone, of any discipline. `meter` gets the discipline and the lane's ledger.
    /// Same errors as [`build`](LaneSettings::build).
    pub(crate) fn queue<M: Meter<FrameId>>(
        &self,
        (seed, label): (u64, &str),
        meter: impl FnOnce(&FrameDiscipline, LaneLedger) -> M,
    ) -> LiveResult<FrameQueue<FrameDiscipline, M>> {
        let streams = LaneStreams { seed, label };
        let discipline =
            self.with_link_info(streams, |settings, link| registry::boxed(&self.qdisc.name, settings, link))?;
        Ok(self.queue_with(discipline, (seed, label), meter))
    }

    /// Like [`queue`](LaneSettings::queue), with `discipline` in place of the one in the settings.
    pub(crate) fn queue_with<M: Meter<FrameId>>(
        &self,
        discipline: FrameDiscipline,
        (seed, label): (u64, &str),
        meter: impl FnOnce(&FrameDiscipline, LaneLedger) -> M,
    ) -> FrameQueue<FrameDiscipline, M> {
        let streams = LaneStreams { seed, label };
        let meter = meter(&discipline, streams.ledger());
        let port = Port::with_ledger(discipline, streams.rng("port"), meter);
        FrameQueue::new(port, self.medium(Layer::Ip, streams))
    }

    fn medium(&self, layer: Layer, streams: LaneStreams<'_>) -> DeferredMedium {
        let framing = self.direction_settings.framing.beyond_header(layer.header_bytes());
        let direction_settings = DirectionSettings { framing, ..self.direction_settings.clone() };
        DeferredMedium::new(Medium::new(&direction_settings, self.delay, streams.rng("medium")))
    }

    /// Calls `make` with the discipline's settings as text and the link's [`LinkInfo`], as the registry takes them.
    fn with_link_info<T>(
        &self,
        streams: LaneStreams<'_>,
        make: impl FnOnce(&[(&str, &str)], &LinkInfo<'_>) -> Result<T, BuildError>,
    ) -> LiveResult<T> {
        let refused = LiveError::Refused;
        let settings = self.qdisc.settings_with(self.direction_settings.limit);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let key = streams.rng("key").bits();
        let link = LinkInfo { classes: &self.classes, ..LinkInfo::new(self.mean_rate, self.mean_packet, key) };
        make(&settings, &link).map_err(|error| refused(error.to_string()))
    }
}

/// Selects the random streams of a direction within a run.
#[derive(Clone, Copy)]
struct LaneStreams<'a> {
    seed: u64,
    label: &'a str,
}

impl LaneStreams<'_> {
    fn rng(self, what: &str) -> Rng {
        Rng::named(self.seed, &format!("{what} {}", self.label))
    }

    fn ledger(self) -> LaneLedger {
        LaneLedger::new(self.rng("ledger").bits())
    }
}

/// Builds a lane for its concrete discipline, as a replacement if an old lane is given.
struct LaneBuilder<'a> {
    settings: &'a LaneSettings,
    layer: Layer,
    streams: LaneStreams<'a>,
    replaced: Option<(&'a mut dyn Lane, Time)>,
}

impl DisciplineVisitor<FrameId> for LaneBuilder<'_> {
    type Output = Box<dyn Lane>;

    fn visit<D: Discipline<FrameId> + 'static>(self, discipline: D) -> Box<dyn Lane> {
        let LaneBuilder { settings, layer, streams, replaced } = self;
        let key = streams.rng("flows").bits();
        let classifier = Classifier::new(&settings.rules, settings.flow_key, key);
        let parser = Parser::with_classifier(layer, classifier, key);
        let mut medium = settings.medium(layer, streams);
        let Some((lane, now)) = replaced else {
            let port = Port::with_ledger(discipline, streams.rng("port"), streams.ledger());
            let ends = LaneEnds::new(parser, Pool::new(settings.slots, settings.slot_bytes));
            return Box::new(DisciplineLane { queue: FrameQueue::new(port, medium), ends });
        };
        let mut handover = lane.hand_over(now);
        handover.refit(parser, settings.slots);
        let LaneHandover { ends, ledger, queued, used } = handover;
        medium.replace(used, now);
        let port = Port::with_ledger(discipline, streams.rng(&format!("port at {now}")), ledger);
        let mut lane = DisciplineLane { queue: FrameQueue::new(port, medium), ends };
        lane.take_over(queued, now);
        Box::new(lane)
    }
}
