//! Fidelity of a live run: whether the emulated link behaved as the scenario says and was the only bottleneck.
//!
//! A run is faithful if packets leave the link on time, no packet is lost outside the link, and the loop does not
//! stall. The kernel's counts at both hosts and the counts of the loop must add up ([`LinkFidelity::balance`]).

use aqm::parts::Histogram;
use aqm::{Span, Time};
use headgate_measure::Balance;

use crate::counts::counts;
use crate::forward::view::{LaneView, View};
use crate::io::anomalies::FrameAnomaly;
use crate::io::interface_counters::InterfaceCounters;
use crate::load::LoadReport;

/// Measurements of how exactly a run met its scenario.
#[derive(Clone, Debug)]
pub struct LinkFidelity {
    /// The loop's thread had real-time priority (`SCHED_FIFO`).
    pub realtime: bool,
    /// CPU time of the loop, including polling the clock.
    pub cpu: Span,
    /// Duration of the loop.
    pub duration: Span,
    /// Delay between a packet's due time and its departure from the link, in nanoseconds, both directions.
    pub lateness: Histogram,
    /// Lateness of datagrams against their source's schedule, in nanoseconds.
    pub send_lateness: Histogram,
    /// Number and total duration of the link's stalls.
    pub stalls: (u64, Span),
    /// Packets longer than the MTU, made by offloads. They are dropped, as a link could not carry them.
    pub oversize: u64,
    /// Packets lost outside the link.
    pub host_losses: HostLosses,
    /// The kernel's counts at the near and the far host's device.
    pub counters: [InterfaceCounters; 2],
    /// Packets marked by the link, and packets received with CE as counted by the hosts.
    pub marks: [u64; 2],
}

counts! {
    /// Packets lost in the hosts or the forwarding loop instead of at the link.
    HostLosses {
        /// At the hosts' devices, before the link.
        device,
        /// In the loop, for lack of a slot.
        no_slot,
        /// In the loop, because their headers are invalid.
        unreadable,
        /// Behind the link, refused by the receiving host.
        refused,
    }
}

impl LinkFidelity {
    pub(super) fn new(
        view: &View,
        counters: [InterfaceCounters; 2],
        realtime: bool,
        report: &LoadReport,
    ) -> LinkFidelity {
        let mut lateness = Histogram::default();
        view.lanes.iter().for_each(|lane| lateness.merge(&lane.lateness));
        let sum = |of: fn(&LaneView) -> u64| view.lanes.iter().map(of).sum::<u64>();
        let device: u64 = counters.iter().map(|counters| counters.send_drops + counters.receive_drops).sum();
        let stalled = view.lanes.iter().map(|lane| lane.counts.stalled).max().unwrap_or(Span::ZERO);
        let stalls = view.lanes.iter().map(|lane| lane.counts.stalls).max().unwrap_or(0);
        LinkFidelity {
            realtime,
            cpu: view.cpu,
            duration: view.at - Time::ZERO,
            lateness,
            send_lateness: report.late.clone(),
            stalls: (stalls, stalled),
            oversize: sum(|lane| lane.anomalies.of(FrameAnomaly::Oversize)),
            host_losses: HostLosses {
                device,
                no_slot: sum(|lane| lane.counts.no_slot),
                unreadable: sum(|lane| lane.anomalies.dropped()),
                refused: sum(|lane| lane.counts.refused),
            },
            counters,
            marks: [sum(|lane| lane.totals.counts().marked()), report.marked],
        }
    }

    /// Accounts for every packet that the kernel sent over the link since its creation, handshakes included. The kernel
    /// counts packets at both ends, the loop between them.
    pub(super) fn balance(&self, view: &View) -> Balance {
        let sum = |of: fn(&LaneView) -> u64| view.lanes.iter().map(of).sum::<u64>();
        let [near, far] = &self.counters;
        Balance {
            sent: near.sent + far.sent,
            delivered: near.received + far.received,
            dropped: sum(|lane| lane.totals.dropped()),
            lost: sum(|lane| lane.counts.lost),
            duplicated: sum(|lane| lane.counts.duplicates),
            queued: sum(|lane| lane.backlog.packets.into()),
            between: sum(|lane| lane.propagating as u64),
            on_access: sum(|lane| lane.on_access as u64),
        }
    }
}
