//! What one run gives: plain tables, and a watcher for those who look on while it runs.

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Counts, Span, Time, Why};
use headgate_scenario::Direction;

use crate::balance::Balance;
use crate::metrics::{FairnessRow, LossPattern, OneWay, Synchronisation, Treated};
use crate::senders::TraceRow;

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
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowRow {
    /// Its number, from 0.
    pub flow: u32,
    /// Its group: an index into the scenario's groups, TCP before UDP.
    pub group: u32,
    /// What happened to its data in the network: what arrived at the first queue on its way, what left the last, and
    /// drops and marks at all of them.
    pub counts: Counts,
    /// Packets of its data that links lost on the way, which no discipline dropped.
    pub lost: u64,
    /// Useful bytes delivered (headers, duplicates excluded) per second, in bits per second.
    pub goodput_bps: f64,
    /// Its max-min fair share of the bottleneck, as goodput, in bits per second.
    pub fair_share_bps: f64,
    /// Packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts; of TFRC, how often the nofeedback timer expired.
    pub timeouts: u64,
    /// The congestion window averaged over time, in packets; `None` for UDP.
    pub cwnd_mean: Option<f64>,
    /// The mean of its data packets' queueing delays, all queues together, in milliseconds; `None` if none was sent.
    pub delay_ms_mean: Option<f64>,
    /// From its start to the first useful byte at the receiver, warm-up or not; `None` if there was none.
    pub startup: Option<Span>,
    /// When a discipline singled it out (its first drop for a reason that is only given for such flows: `unresponsive`,
    /// `prefilter`, `heavy_hitter`), held it to its share and let it go again. Measured from its start, or from where its
    /// source last rose above its share or fell back, if such rates are laid down beforehand. All but the first are of
    /// flows that send more than their share and do not slow down.
    pub treated: Treated,
}

/// A transfer: a write that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferRow {
    /// Its flow.
    pub flow: u32,
    /// When it was written to the connection.
    pub start: Time,
    /// How much was asked for, in bytes; segments are whole, so that up to a segment less a byte more is sent.
    pub bytes: u64,
    /// When its last segment reached the receiver, with all before it; `None` if the run ended first.
    pub end: Option<Time>,
}

/// One metric over one interval.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// When the interval ended, in seconds.
    pub time_s: f64,
    /// `queue_packets` and `queue_bytes` (means over the interval), `utilisation`, `ambient_drop_rate` (drops at the
    /// queue over what came to it; no row where nothing came), all of a link; `goodput_bps`, `drops`, `marks` (the
    /// latter two are counts), of a group; or a gauge of a link's discipline (at the interval's end).
    pub metric: &'static str,
    /// Whether `metric` is the name of a discipline's gauge.
    pub is_gauge: bool,
    /// The direction of a link, where the metric is of one: an index into [`Outcome::links`].
    pub link: Option<u16>,
    /// The group, where the metric is of one.
    pub group: Option<u32>,
    /// The value.
    pub value: f64,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRow {
    /// The link's name.
    pub link: String,
    /// Which way along it.
    pub direction: Direction,
    /// Whether disciplines are compared there: intervals, events and the unit of cost are of such.
    pub compared: bool,
    /// What happened to all packets.
    pub counts: Counts,
    /// Packets that were sent and lost on the way.
    pub lost: u64,
    /// Packets that waited when counting began, and at the end.
    pub queued: [u64; 2],
    /// The share of the time in which the link was sending.
    pub utilisation: f64,
    /// The queue averaged over time, in packets.
    pub queue_packets_mean: f64,
    /// The same in bytes.
    pub queue_bytes_mean: f64,
    /// Time in the queue of the packets that were sent, in nanoseconds.
    pub delay: Histogram,
    /// The same by group, and last that of replies (acknowledgements).
    pub delays: Vec<Histogram>,
    /// How losses of data follow each other, by group.
    pub losses: Vec<LossPattern>,
    /// Whether TCP flows lose together.
    pub synchronisation: Synchronisation,
}

/// What happened to a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It came.
    Arrived,
    /// It left to be sent.
    Sent,
    /// It was dropped.
    Dropped(Why),
    /// It was marked.
    Marked(Why),
    /// It began to be sent, and will be lost on the way.
    Lost,
}

/// One event at a queue where disciplines are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// When.
    pub time: Time,
    /// The direction of a link: an index into [`Outcome::links`].
    pub link: u16,
    /// What.
    pub happening: Happening,
    /// The packet's flow.
    pub flow: u32,
    /// The packet's size in bytes.
    pub bytes: u32,
    /// What waits in the queue just after.
    pub queue: Backlog,
}

/// A gauge of a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Its name.
    pub name: &'static str,
    /// Whether it tells of the packet's flow alone, and not of the queue.
    pub of_flow: bool,
}

/// Events in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventBatch {
    /// The events.
    pub rows: Vec<EventRow>,
    /// The gauges that are told with each; none unless the scenario records decisions.
    pub gauges: Vec<Gauge>,
    /// The gauges just after each event, one event after the other; NaN where the discipline did not tell, or had no part
    /// in it.
    pub values: Vec<f64>,
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
