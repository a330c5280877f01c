//! The results of one run, and the trait of its observers.

use aqm::Time;

use crate::balance::Balance;
use crate::events::EventBatch;
use crate::flows::FlowRow;
use crate::links::LinkRow;
use crate::metrics::{FairnessRow, OneWayDelays};
use crate::over_time::IntervalRow;
use crate::sender_state::TraceRow;
use crate::table::{GROUP, Unit, rows};

/// All results of one run: one discipline, one seed. Numbers cover the time after the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One row a flow: groups in scenario order, TCP before UDP.
    pub flows: Vec<FlowRow>,
    /// One row an interval, metric and group, warm-up included.
    pub intervals: Vec<IntervalRow>,
    /// Every transfer that began, warm-up included: completed ones in order of completion, then the others.
    pub transfers: Vec<TransferRow>,
    /// One row a link direction, by number.
    pub links: Vec<LinkRow>,
    /// One-way delays, one row a group.
    pub one_way: Vec<OneWayDelays>,
    /// Jain's index, one row a time scale.
    pub fairness: Vec<FairnessRow>,
    /// Packets that compared disciplines sent in the whole run: the unit of cost.
    pub packets: u64,
    /// Events the simulator processed in the whole run.
    pub events: u64,
    /// Locations of all packets at the end.
    pub balance: Balance,
}

impl Outcome {
    /// The link directions that compare disciplines, with their numbers.
    pub fn compared(&self) -> impl Iterator<Item = (usize, &LinkRow)> {
        self.links.iter().enumerate().filter(|(_, link)| link.compared)
    }

    /// Whether packets are conserved, at every link and from host to host.
    pub fn conserves(&self) -> bool {
        self.balance.holds() && self.links.iter().all(LinkRow::conserves)
    }
}

rows! {
    /// One transfer that began, warm-up included: a write of known size, complete when its last byte arrives.
    pub struct TransferRow derives Clone Copy Debug PartialEq Eq {
        /// The transfer's flow.
        flow: u32 as Unit::None,
        /// The flow's group.
        group: u32 as GROUP,
        /// When the transfer was handed to TCP.
        start: Time as Unit::Nanoseconds,
        /// Bytes of the transfer. Segments are whole, so up to one segment less a byte more is sent.
        bytes: u64 as Unit::Bytes,
        /// When the receiver had every byte; null if the run ended first.
        end: Option<Time> as Unit::Nanoseconds,
    } also {
        /// Time from start to end; null if the run ended first.
        completion as Unit::Milliseconds, after "end_ns": |row: &TransferRow| row.end.map(|end| end - row.start);
    }
}

/// Observes a run.
pub trait RunObserver {
    /// Called from time to time with the run's time; `false` aborts the run, without an outcome.
    fn should_continue(&mut self, now: Time) -> bool;
    /// A batch of events, in order, if the scenario records them.
    fn events(&mut self, batch: &EventBatch);
    /// A batch of traces, in order, if the scenario records them.
    fn traces(&mut self, _batch: &[TraceRow]) {}
    /// The next bytes of a captured link's pcapng file.
    fn captured(&mut self, _link: u16, _bytes: &[u8]) {}
}

/// No observer.
impl RunObserver for () {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, _: &EventBatch) {}
}
