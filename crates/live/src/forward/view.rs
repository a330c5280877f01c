//! Snapshots of a running forwarder.

use std::sync::{Arc, Mutex, PoisonError};

use aqm::parts::Histogram;
use aqm::{Backlog, Counts, Span, Time, Totals};
use headgate_measure::Occupancy;

use super::ledger::FlowView;
use crate::io::KernelCounts;
use crate::io::anomalies::AnomalyCounts;

/// Most flows named in a view.
pub const MOST_FLOWS_SHOWN: usize = 32;

/// Counts of a lane outside its port. A received frame is dropped for lack of a slot, dropped as an anomaly, or arrives
/// at the port. A packet that the port sent, or a copy of one, is lost, propagating, delivered or refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounts {
    /// Frames received, including those dropped at the entry.
    pub offered: u64,
    /// Frames for which no slot was free.
    pub no_slot: u64,
    /// Packets lost by the emulated medium.
    pub lost: u64,
    /// Copies that the emulated medium made of packets.
    pub duplicates: u64,
    /// Packets whose ECN field or DSCP the emulated medium changed.
    pub remarked: u64,
    /// Packets taken by the other end, or by the next link of a network.
    pub delivered: u64,
    /// Packets that the other end refused. They are lost.
    pub refused: u64,
    /// Number of stalls: turns that were late by more than [`CATCH_UP`](crate::CATCH_UP).
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
    pub anomalies: AnomalyCounts,
    /// Packets and bytes in the queue.
    pub backlog: Backlog,
    /// Queue occupancy and link utilization since the start.
    pub occupancy: Occupancy,
    /// Packets on their flow's own links before the queue.
    pub on_access: usize,
    /// Packets in propagation.
    pub propagating: usize,
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
    fn port_counts(&self) -> &Counts {
        self.totals.counts()
    }
}

/// A counter or gauge of one direction.
pub struct LaneMetric {
    /// Key in a view.
    pub key: &'static str,
    /// Prometheus name, with `_total` for a counter; empty if it is not exported.
    pub prometheus: &'static str,
    /// Help text.
    pub meaning: &'static str,
    /// Reads the value from a direction, and from the kernel's counts of the end that sends into it.
    pub read: fn(&LaneView, &KernelCounts) -> u64,
}

/// All metrics, in the order of the Prometheus export.
pub const LANE_METRICS: [LaneMetric; 19] = [
    metric("offered", "", "Frames received from the interface.", |lane, _| lane.counts.offered),
    metric("arrived", "arrived_packets_total", "Packets that arrived at the discipline.", |lane, _| {
        lane.port_counts().arrived
    }),
    metric("sent", "sent_packets_total", "Packets sent by the link.", |lane, _| lane.port_counts().sent),
    metric("sent_bytes", "sent_bytes_total", "Bytes sent by the link.", |lane, _| lane.port_counts().sent_bytes),
    metric("dropped", "", "Packets dropped by the discipline.", |lane, _| lane.port_counts().dropped()),
    metric("marked", "", "Packets marked by the discipline.", |lane, _| lane.port_counts().marked()),
    metric("lost", "link_losses_total", "Link losses: packets lost by the emulated medium.", |lane, _| {
        lane.counts.lost
    }),
    metric("duplicates", "link_duplicates_total", "Copies of packets made by the emulated medium.", |lane, _| {
        lane.counts.duplicates
    }),
    metric(
        "remarked",
        "link_remarks_total",
        "Packets whose ECN field or DSCP the emulated medium changed.",
        |lane, _| lane.counts.remarked,
    ),
    metric("delivered", "", "Packets taken by the far interface.", |lane, _| lane.counts.delivered),
    metric("refused", "refused_packets_total", "Packets refused by the far interface.", |lane, _| lane.counts.refused),
    metric(
        "no_slot",
        "no_slot_packets_total",
        "Packets dropped because the link's packet memory was full.",
        |lane, _| lane.counts.no_slot,
    ),
    metric(
        "kernel_dropped",
        "kernel_drops_total",
        "Packets dropped by the kernel before the link received them.",
        |_, kernel| kernel.dropped,
    ),
    metric("no_checksum", "", "Packets received without a checksum.", |_, kernel| kernel.no_checksum),
    metric(
        "super_packets",
        "super_packets_total",
        "Super-packets received and segmented: several packets in one frame, by an offload.",
        |_, kernel| kernel.super_packets,
    ),
    metric("stalls", "stalls_total", "Times that the forwarding thread was too late to catch up.", |lane, _| {
        lane.counts.stalls
    }),
    metric("queue_packets", "backlog_packets", "Packets in the queue.", |lane, _| lane.backlog.packets.into()),
    metric("queue_bytes", "backlog_bytes", "Bytes in the queue.", |lane, _| lane.backlog.bytes),
    metric("propagating", "propagating_packets", "Packets in propagation.", |lane, _| lane.propagating as u64),
];

const fn metric(
    key: &'static str,
    prometheus: &'static str,
    meaning: &'static str,
    read: fn(&LaneView, &KernelCounts) -> u64,
) -> LaneMetric {
    LaneMetric { key, prometheus, meaning, read }
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
    pub fn latest(&self) -> View {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores `view`, unless a reader holds the lock; never waits.
    pub(crate) fn publish(&self, view: View) {
        if let Ok(mut latest) = self.0.try_lock() {
            *latest = view;
        }
    }
}
