//! What a wire is to be like, and the wire made of it.

use headgate_core::registry::{self, Job};
use headgate_core::{BuildError, Class, Discipline, Place, Port, Qdisc, Rate, Rng, Span, Time};
use headgate_link::{Medium, Meter};
use headgate_scenario::{Classifier, FlowKey, Simplex};

use crate::egress::{Egress, LateMedium};
use crate::ends::Entry;
use crate::frame::{Layer, Parser};
use crate::ledger::WireLedger;
use crate::pool::{FrameId, Pool};
use crate::wire::{Estate, Lane, Wire};

/// A discipline that nothing was compiled for.
pub(crate) type Anything = Box<dyn Discipline<FrameId>>;

/// One direction of a link as it is asked for.
#[derive(Clone, Debug)]
pub struct WireSettings<'a> {
    /// Rate, how it changes, room in the queue, and what becomes of packets on the way. Its own discipline is not looked at.
    pub simplex: &'a Simplex,
    /// The discipline.
    pub qdisc: &'a Qdisc,
    /// Propagation delay.
    pub delay: Span,
    /// What the discipline takes for the link's rate: the mean where it changes.
    pub mean_rate: Rate,
    /// The size of a typical packet in bytes, for the discipline.
    pub mean_packet: u32,
    /// Bytes that every packet costs on the link beside its own; negative to leave out a link header that it has.
    /// Disciplines count packets without it.
    pub overhead: i32,
    /// The host's classes; empty where nothing is classified.
    pub classes: &'a [Class],
    /// Frames that may wait, fly or be looked at; [`WireSettings::slots`] says how many are enough.
    pub slots: u32,
    /// Bytes for a frame, [`Pool::SLOT`] if nothing is known of the ends: whatever is longer is dropped at the door.
    pub slot_bytes: usize,
    /// The run's seed.
    pub seed: u64,
    /// The direction's name among those of the run: its random streams go by it, as the simulator's do.
    pub label: &'a str,
}

impl WireSettings<'_> {
    /// How many slots a wire needs, so that none is dropped for want of one: for what may wait, for what the link holds
    /// of the smallest packets that Ethernet has, and for a batch. No more than a million.
    pub fn slots(simplex: &Simplex, delay: Span) -> u32 {
        const SMALLEST: u64 = 60;
        let waiting = match simplex.limit {
            headgate_core::Limit::Packets(packets) => u64::from(packets),
            headgate_core::Limit::Bytes(bytes) => bytes / SMALLEST,
        };
        let longest = delay + simplex.impairments.jitter + simplex.impairments.reorder_by;
        let flying = simplex.pace.most(simplex.rate, longest) / SMALLEST;
        let slots = waiting.saturating_add(flying).saturating_add(2 * crate::io::BATCH as u64);
        slots.min(1_000_000) as u32
    }

    /// The wire, for frames that begin with `layer`. Flows and classes are those of `classifier`, which is handed the key;
    /// `None` for the 5-tuple and no classes.
    ///
    /// # Errors
    /// What is wrong with the discipline or its settings.
    pub fn build(
        &self,
        layer: Layer,
        classifier: Option<&dyn Fn(u64) -> Classifier>,
    ) -> Result<Box<dyn Lane>, BuildError> {
        self.with_discipline(New {
            ledger: WireLedger::new(self.stream("ledger").bits()),
            pool: Pool::new(self.slots, self.slot_bytes),
            fresh: self.fresh(layer, classifier, self.stream("port")),
        })
    }

    /// Puts a wire that is like this in the place of `lane` at `now`. What waits there is put into its discipline, in order;
    /// what that has no room for, or will not have, is dropped and counted as its drop. What flies comes out as it would
    /// have. All counts go on, and there are never fewer slots than before.
    ///
    /// # Errors
    /// What is wrong with the discipline or its settings; `lane` is as it was.
    pub fn refit(
        &self,
        lane: &mut Box<dyn Lane>,
        now: Time,
        layer: Layer,
        classifier: Option<&dyn Fn(u64) -> Classifier>,
    ) -> Result<(), BuildError> {
        let port = self.stream(&format!("port at {now}"));
        let fresh = self.fresh(layer, classifier, port);
        *lane = self.with_discipline(Refit { lane, now, slots: self.slots, fresh })?;
        Ok(())
    }

    /// The random stream of a part of this direction.
    fn stream(&self, what: &str) -> Rng {
        Rng::named(self.seed, &format!("{what} {}", self.label))
    }

    fn fresh(&self, layer: Layer, classifier: Option<&dyn Fn(u64) -> Classifier>, port: Rng) -> Fresh {
        let names = self.stream("flows").bits();
        let of = |key| classifier.map_or_else(|| Classifier::new(&[], FlowKey::FiveTuple, key), |make| make(key));
        Fresh { parser: Parser::with_classifier(layer, of(names), names), rng: port, medium: self.medium() }
    }

    fn medium(&self) -> LateMedium {
        let medium = Medium::new(self.simplex, self.delay, self.stream("medium"));
        LateMedium { medium, overhead: self.overhead, origin: Time::ZERO }
    }

    /// The queue and the transmitter alone, of any discipline. `meter` is handed the discipline and the counts that every wire
    /// has.
    ///
    /// # Errors
    /// What is wrong with the discipline or its settings.
    pub(crate) fn egress<M: Meter<FrameId>>(
        &self,
        meter: impl FnOnce(&Anything, WireLedger) -> M,
    ) -> Result<Egress<Anything, M>, BuildError> {
        let discipline = self.placed(|settings, place| registry::boxed(&self.qdisc.name, settings, place))?;
        let meter = meter(&discipline, WireLedger::new(self.stream("ledger").bits()));
        let port = Port::with_ledger(discipline, self.stream("port"), meter);
        Ok(Egress::new(port, self.medium()))
    }

    fn with_discipline(&self, job: impl Job<FrameId, Output = Box<dyn Lane>>) -> Result<Box<dyn Lane>, BuildError> {
        self.placed(|settings, place| registry::with(&self.qdisc.name, settings, place, job))
    }

    /// Calls `make` with what the registry wants to know.
    fn placed<T>(&self, make: impl FnOnce(&[(&str, &str)], &Place<'_>) -> T) -> T {
        let settings = self.qdisc.settings_with(self.simplex.limit);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let key = self.stream("key").bits();
        let place = Place { classes: self.classes, ..Place::new(self.mean_rate, self.mean_packet, key) };
        make(&settings, &place)
    }
}

/// What every wire has anew: all but its discipline, its slots and its counts.
struct Fresh {
    parser: Parser,
    rng: Rng,
    medium: LateMedium,
}

impl Fresh {
    fn wire<D: Discipline<FrameId>>(self, discipline: D, ledger: WireLedger, pool: Pool) -> Wire<D> {
        let port = Port::with_ledger(discipline, self.rng, ledger);
        Wire::new(Entry::new(self.parser), Egress::new(port, self.medium), pool)
    }
}

/// A wire of its own.
struct New {
    ledger: WireLedger,
    pool: Pool,
    fresh: Fresh,
}

impl Job<FrameId> for New {
    type Output = Box<dyn Lane>;

    fn run<D: Discipline<FrameId> + 'static>(self, discipline: D) -> Box<dyn Lane> {
        Box::new(self.fresh.wire(discipline, self.ledger, self.pool))
    }
}

/// A wire in another one's place: that leaves what it has once there is a discipline to take it.
struct Refit<'a> {
    lane: &'a mut Box<dyn Lane>,
    now: Time,
    slots: u32,
    fresh: Fresh,
}

impl Job<FrameId> for Refit<'_> {
    type Output = Box<dyn Lane>;

    fn run<D: Discipline<FrameId> + 'static>(self, discipline: D) -> Box<dyn Lane> {
        let Estate { ledger, mut pool, held } = self.lane.leave(self.now);
        pool.grow(self.slots);
        let mut wire = self.fresh.wire(discipline, ledger, pool);
        wire.inherit(held, self.now);
        Box::new(wire)
    }
}
