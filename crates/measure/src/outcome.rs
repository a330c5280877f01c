//! What one run gives: the rows of its tables, and a watcher for those who look on while it runs.
//!
//! A field of a row is a column of its table: its comment is what the documentation says of the column.

use headgate_core::{Counts, Time};
use headgate_scenario::Direction;

use crate::balance::Balance;
use crate::events::EventBatch;
use crate::flows::FlowRow;
use crate::metrics::{FairnessRow, OneWay, PortRow};
use crate::over_time::IntervalRow;
use crate::senders::TraceRow;
use crate::shown::PacketCounts;
use crate::table::{GROUP, Hidden, Nested, Unit, rows};

/// Everything one run of one discipline and one seed gives. Figures cover the time after the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// One row a flow, in the order of the scenario's groups, TCP before UDP.
    pub flows: Vec<FlowRow>,
    /// One row an interval, metric and group, warm-up included.
    pub intervals: Vec<IntervalRow>,
    /// Every transfer that began, warm-up included: those that arrived in the order in which they did, then the others.
    pub transfers: Vec<TransferRow>,
    /// One row a direction of a link, by its number: each link's forward one before its reverse one.
    pub links: Vec<LinkRow>,
    /// One-way delays, one row a group.
    pub one_way: Vec<OneWay>,
    /// Jain's index, one row a time scale.
    pub fairness: Vec<FairnessRow>,
    /// Packets sent where disciplines are compared in the whole run, warm-up included: the unit of cost.
    pub packets: u64,
    /// Events the simulator processed in the whole run.
    pub events: u64,
    /// Where all packets are at the end.
    pub balance: Balance,
}

impl Outcome {
    /// The directions of links at which disciplines are compared, each with its number.
    pub fn compared(&self) -> impl Iterator<Item = (usize, &LinkRow)> {
        self.links.iter().enumerate().filter(|(_, link)| link.compared)
    }

    /// The law of conservation: at every link, and from host to host.
    pub fn conserves(&self) -> bool {
        self.balance.holds() && self.links.iter().all(LinkRow::conserves)
    }
}

rows! {
    /// One transfer that began, warm-up included: a write of known size that somebody waits for.
    pub struct TransferRow derives Clone Copy Debug PartialEq Eq {
        /// The transfer's flow.
        flow: u32 as Unit::None,
        /// The flow's group.
        group: u32 as GROUP,
        /// When the transfer was handed to TCP.
        start: Time as Unit::Nanoseconds,
        /// Bytes asked for. Segments are whole, so that up to a segment less a byte more is sent.
        bytes: u64 as Unit::Bytes,
        /// When the last byte was with the receiver, and all before it; null if the run ended first.
        end: Option<Time> as Unit::Nanoseconds,
    } also {
        /// Time from start to end; null if the run ended first.
        completion as Unit::Milliseconds, after "end_ns": |row: &TransferRow| row.end.map(|end| end - row.start);
    }
}

rows! {
    /// One direction of a link.
    pub struct LinkRow derives Clone Debug Default PartialEq {
        /// The link's name; `bottleneck` in a dumbbell.
        link: String as Unit::None,
        /// Which way along the link: `forward` or `reverse`.
        direction: Direction as Unit::None,
        /// Whether disciplines are compared there: intervals, events and the unit of cost are of such links.
        compared: bool as Unit::None,
        /// All packets, data or not.
        counts: Counts as PacketCounts,
        /// Packets that were sent and lost on the way.
        lost: u64 as Unit::Packets,
        /// Packets that waited when counting began, and at the end.
        queued: [u64; 2] as Hidden,
        /// Share of the time in which the link was sending.
        utilisation: f64 as Unit::Share,
        /// Queue averaged over time, in packets.
        queue_packets_mean: f64 as Unit::Packets,
        /// Queue averaged over time, in bytes.
        queue_bytes_mean: f64 as Unit::Bytes,
        /// What is measured at the link's port beyond the counts.
        port: PortRow as Nested,
        /// Packets sent in the whole run where disciplines are compared, in the first row of such a link.
        packets: Option<u64> as Unit::Packets,
        /// The simulator's events in the whole run, in the same row.
        events: Option<u64> as Unit::Count,
    } also {
        /// Packets dropped over packets that arrived, without those that a discipline dropped since it had singled their
        /// flow out; null if none arrived. R. Mahajan, S. Floyd, D. Wetherall, "Controlling high-bandwidth flows at the
        /// congested router", ICNP 2001, section 1.
        ambient_drop_rate as Unit::Share, after "delay_ms_max": |row: &LinkRow| {
            let (came, dropped) = row.counts.ambient();
            (came > 0).then(|| dropped as f64 / came as f64)
        };
    }
}

impl LinkRow {
    /// Whether what arrived, with what waited when counting began, was sent or dropped or waits still.
    pub fn conserves(&self) -> bool {
        let [before, after] = self.queued;
        self.counts.arrived + before == self.counts.sent + self.counts.dropped() + after
    }
}

/// Notes what is counted of the run as a whole, in one row, so that a sum over the table is right.
pub fn note_run(links: &mut [LinkRow], packets: u64, events: u64) {
    if let Some(first) = links.iter_mut().find(|link| link.compared) {
        (first.packets, first.events) = (Some(packets), Some(events));
    }
}

/// Looks on while a run goes.
pub trait Watch {
    /// Called now and then, with the time of the run; `false` ends it before its time, without an outcome.
    fn goes_on(&mut self, now: Time) -> bool;
    /// A batch of events, in order, if the scenario records them.
    fn events(&mut self, batch: &EventBatch);
    /// A batch of traces, in order, if the scenario records them.
    fn traces(&mut self, _batch: &[TraceRow]) {}
    /// The next bytes of the pcapng file of the scenario's link number `link`, if it is captured.
    fn captured(&mut self, _link: u16, _bytes: &[u8]) {}
}

/// Nobody looks on.
impl Watch for () {
    fn goes_on(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, _: &EventBatch) {}
}
