//! What a forwarder shows of itself while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Counts, Span, Time, Totals};
use headgate_measure::Occupancy;

use super::ledger::FlowView;
use crate::io::KernelCounts;
use crate::io::oddities::Oddities;

/// Flows that a view names.
pub const MOST_SHOWN: usize = 32;

/// What a lane counts beside what its port does. Frames that came are those without a slot, those dropped for what they
/// were, and those that arrived at the port; those that were sent there are lost, on their way, or came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounts {
    /// Frames that came, those that were dropped at the door included.
    pub came: u64,
    /// Frames for which no slot was free.
    pub no_slot: u64,
    /// Packets lost on the way, by chance.
    pub lost: u64,
    /// Packets that came out.
    pub out: u64,
    /// Packets that came out and that the other end refused. They are gone.
    pub refused: u64,
    /// How often the loop stood still for longer than is caught up.
    pub stalls: u64,
    /// The time that was not caught up.
    pub stalled: Span,
}

/// One direction at a moment.
#[derive(Clone, Debug, Default)]
pub struct LaneView {
    /// Arrivals, departures, drops and marks by reason, and sojourn times, at the port.
    pub totals: Totals,
    /// What happened before and behind it.
    pub counts: LaneCounts,
    /// Frames that were no plain IP packets.
    pub oddities: Oddities,
    /// What waits.
    pub backlog: Backlog,
    /// How full the queue and how busy the link was, since the beginning.
    pub occupancy: Occupancy,
    /// Packets on links of their own before the queue.
    pub coming: usize,
    /// Packets on their way.
    pub flying: usize,
    /// Slots that are free.
    pub free_slots: usize,
    /// How late packets came out, in nanoseconds: from when they were due to when the loop came to send them.
    pub lateness: Histogram,
    /// What the discipline says of itself.
    pub gauges: Vec<(&'static str, f64)>,
    /// The flows that sent most since the view before; in a run of several links, at the first one that compares disciplines.
    pub top: Vec<FlowView>,
}

impl LaneView {
    fn port(&self) -> &Counts {
        self.totals.counts()
    }
}

/// A number that every direction shows.
pub struct Number {
    /// Its key.
    pub key: &'static str,
    /// What Prometheus calls it, with `_total` if it only grows; empty if it is not told.
    pub metric: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Reads it from a direction, and from what the kernel says of the end that packets come from.
    pub read: fn(&LaneView, &KernelCounts) -> u64,
}

/// All of them, in the order in which Prometheus has them.
pub const NUMBERS: [Number; 16] = [
    number("came", "", "Frames that came.", |lane, _| lane.counts.came),
    number("arrived", "arrived_packets_total", "Packets that came to the discipline.", |lane, _| lane.port().arrived),
    number("sent", "sent_packets_total", "Packets that it let go.", |lane, _| lane.port().sent),
    number("sent_bytes", "sent_bytes_total", "Their bytes.", |lane, _| lane.port().sent_bytes),
    number("dropped", "", "Packets that it dropped.", |lane, _| lane.port().dropped()),
    number("marked", "", "Packets that it marked.", |lane, _| lane.port().marked()),
    number("lost", "lost_packets_total", "Packets lost on the way by chance, as was asked for.", |lane, _| {
        lane.counts.lost
    }),
    number("out", "", "Packets that came out.", |lane, _| lane.counts.out),
    number("refused", "refused_packets_total", "Packets that the far interface refused.", |lane, _| {
        lane.counts.refused
    }),
    number("no_slot", "no_slot_packets_total", "Packets that found no room in memory.", |lane, _| lane.counts.no_slot),
    number(
        "kernel_dropped",
        "kernel_drops_total",
        "Packets that the kernel dropped before they were seen.",
        |_, kernel| kernel.dropped,
    ),
    number("no_checksum", "", "Packets whose checksum the kernel left out.", |_, kernel| kernel.no_checksum),
    number("stalls", "stalls_total", "Times in which the loop was too late to make up for it.", |lane, _| {
        lane.counts.stalls
    }),
    number("queue_packets", "backlog_packets", "Packets that wait.", |lane, _| lane.backlog.packets.into()),
    number("queue_bytes", "backlog_bytes", "Bytes that wait.", |lane, _| lane.backlog.bytes),
    number("flying", "flying_packets", "Packets on their way.", |lane, _| lane.flying as u64),
];

const fn number(
    key: &'static str,
    metric: &'static str,
    meaning: &'static str,
    read: fn(&LaneView, &KernelCounts) -> u64,
) -> Number {
    Number { key, metric, meaning, read }
}

/// A link at a moment.
#[derive(Clone, Debug)]
pub struct View {
    /// The moment.
    pub at: Time,
    /// Of a link from the first end to the second, and back; of a network each direction of each link, by number.
    pub lanes: Vec<LaneView>,
    /// What the kernel says of the first end and the second.
    pub kernel: [KernelCounts; 2],
    /// CPU time of the thread that forwards.
    pub cpu: Span,
}

/// Nothing has happened yet on a link.
impl Default for View {
    fn default() -> View {
        let lanes = vec![LaneView::default(); 2];
        View { at: Time::ZERO, lanes, kernel: [KernelCounts::default(); 2], cpu: Span::ZERO }
    }
}

/// Where a forwarder leaves its latest [`View`], for another thread to look at.
#[derive(Clone, Debug, Default)]
pub struct Window(Arc<Mutex<View>>);

impl Window {
    /// The latest view.
    pub fn look(&self) -> View {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Leaves `view`, unless somebody is just looking: the one after it will do as well. Never waits.
    pub(crate) fn leave(&self, view: View) {
        if let Ok(mut latest) = self.0.try_lock() {
            *latest = view;
        }
    }
}
