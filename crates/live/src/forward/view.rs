//! Snapshots of a running forwarder.

use std::sync::{Arc, Mutex, PoisonError};

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Counts, Span, Time, Totals};
use headgate_measure::Occupancy;

use super::ledger::FlowView;
use crate::io::KernelCounts;
use crate::io::anomalies::AnomalyCounts;

/// Most flows named in a view.
pub const MOST_SHOWN: usize = 32;

/// Counts of a lane outside its port. Frames received are dropped for lack of a slot or as oddities, or arrive at the
/// port. Packets sent by the port are lost, propagating, or delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounts {
    /// Frames received, including those dropped at the entry.
    pub came: u64,
    /// Frames for which no slot was free.
    pub no_slot: u64,
    /// Packets lost by the emulated medium.
    pub lost: u64,
    /// Packets delivered to the other end.
    pub out: u64,
    /// Delivered packets that the other end refused; they are lost.
    pub refused: u64,
    /// Stalls: times at which the loop was later than it catches up.
    pub stalls: u64,
    /// Total duration of the stalls.
    pub stalled: Span,
}

/// A snapshot of one direction.
#[derive(Clone, Debug, Default)]
pub struct LaneView {
    /// Arrivals, departures, drops and marks by reason, and queueing delays, at the port.
    pub totals: Totals,
    /// Counts at the entry and the exit.
    pub counts: LaneCounts,
    /// Frames that were not plain IP packets, by kind.
    pub oddities: AnomalyCounts,
    /// Packets and bytes in the queue.
    pub backlog: Backlog,
    /// Queue occupancy and link utilization since the start.
    pub occupancy: Occupancy,
    /// Packets on their flow's own links before the queue.
    pub coming: usize,
    /// Packets in propagation.
    pub flying: usize,
    /// Slots not in use.
    pub free_slots: usize,
    /// Delay between a packet's due time and its departure, in nanoseconds.
    pub lateness: Histogram,
    /// The discipline's gauges, by name.
    pub gauges: Vec<(&'static str, f64)>,
    /// The flows with most bytes sent since the previous view. In a network, only the first link that compares
    /// disciplines has them.
    pub top: Vec<FlowView>,
}

impl LaneView {
    fn port(&self) -> &Counts {
        self.totals.counts()
    }
}

/// A counter shown for every direction.
pub struct LaneMetric {
    /// Its key.
    pub key: &'static str,
    /// Its Prometheus name, with `_total` if it only grows; empty if it is not exported.
    pub metric: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Reads it from a direction and from the kernel's counts of the end that sends into it.
    pub read: fn(&LaneView, &KernelCounts) -> u64,
}

/// All counters, in the order of the Prometheus export.
pub const LANE_METRICS: [LaneMetric; 16] = [
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
) -> LaneMetric {
    LaneMetric { key, metric, meaning, read }
}

/// A snapshot of a link or network.
#[derive(Clone, Debug)]
pub struct View {
    /// Time of the snapshot.
    pub at: Time,
    /// For a link, forward and reverse; for a network, every direction by number.
    pub lanes: Vec<LaneView>,
    /// The kernel's counts at the first and the second end.
    pub kernel: [KernelCounts; 2],
    /// CPU time of the forwarding thread.
    pub cpu: Span,
}

impl Default for View {
    fn default() -> View {
        let lanes = vec![LaneView::default(); 2];
        View { at: Time::ZERO, lanes, kernel: [KernelCounts::default(); 2], cpu: Span::ZERO }
    }
}

/// Holds a forwarder's latest [`View`] for other threads.
#[derive(Clone, Debug, Default)]
pub struct SharedView(Arc<Mutex<View>>);

impl SharedView {
    /// The latest view.
    pub fn look(&self) -> View {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores `view`, unless a reader holds the lock; never waits.
    pub(crate) fn leave(&self, view: View) {
        if let Ok(mut latest) = self.0.try_lock() {
            *latest = view;
        }
    }
}
