//! What shows that the bottleneck was ours and was what the scenario says: everything that could have made it another.

use headgate_core::parts::Histogram;
use headgate_core::{Span, Time};
use headgate_measure::Balance;

use crate::counts::counts;
use crate::forward::view::{LaneView, View};
use crate::io::interface::Counters;
use crate::io::oddities::Oddity;
use crate::load::LoadReport;

/// How true a run was.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The loop's thread came before ordinary ones (`SCHED_FIFO`).
    pub urgent: bool,
    /// Processor time of the loop, looking at the clock included.
    pub cpu: Span,
    /// How long it ran.
    pub lasted: Span,
    /// How much later than they were due packets came out of the link, in nanoseconds, both ways.
    pub lateness: Histogram,
    /// How much later than their sources wrote them datagrams were sent, in nanoseconds.
    pub send_lateness: Histogram,
    /// How often the link stood still because the loop did, and for how long in all.
    pub stalls: (u64, Span),
    /// Packets longer than a link takes, which offloads make: none could be queued as what it is.
    pub oversize: u64,
    /// Packets that vanished elsewhere than at the link's queues and by its losses.
    pub elsewhere: Elsewhere,
    /// What the kernel counted at the near host's device and the far one's.
    pub counters: [Counters; 2],
    /// Packets that the link marked, and those that receivers' hosts say came with a mark.
    pub marks: [u64; 2],
}

counts! {
    /// Packets that the link is not to blame for.
    Elsewhere {
        /// Before the link, at the devices of the hosts.
        device,
        /// In the loop, for want of room.
        no_slot,
        /// In the loop, because they made no sense.
        unreadable,
        /// Behind the link: the host did not take them.
        refused,
    }
}

impl Proof {
    pub(super) fn new(view: &View, counters: [Counters; 2], urgent: bool, report: &LoadReport) -> Proof {
        let mut lateness = Histogram::default();
        view.lanes.iter().for_each(|lane| lateness.merge(&lane.lateness));
        let sum = |of: fn(&LaneView) -> u64| view.lanes.iter().map(of).sum::<u64>();
        let device: u64 = counters.iter().map(|counters| counters.send_drops + counters.receive_drops).sum();
        let stalled = view.lanes.iter().map(|lane| lane.counts.stalled).max().unwrap_or(Span::ZERO);
        let stalls = view.lanes.iter().map(|lane| lane.counts.stalls).max().unwrap_or(0);
        Proof {
            urgent,
            cpu: view.cpu,
            lasted: view.at - Time::ZERO,
            lateness,
            send_lateness: report.late.clone(),
            stalls: (stalls, stalled),
            oversize: sum(|lane| lane.oddities.of(Oddity::Oversize)),
            elsewhere: Elsewhere {
                device: device + view.kernel.iter().map(|counts| counts.dropped).sum::<u64>(),
                no_slot: sum(|lane| lane.counts.no_slot),
                unreadable: sum(|lane| lane.oddities.dropped()),
                refused: sum(|lane| lane.counts.refused),
            },
            counters,
            marks: [sum(|lane| lane.totals.counts().marked()), report.marked],
        }
    }

    /// Where all packets are that the kernel says it sent over the link, from its making on, handshakes included: with the
    /// kernel's own counts at both ends, and the loop's between them.
    pub(super) fn balance(&self, view: &View) -> Balance {
        let sum = |of: fn(&LaneView) -> u64| view.lanes.iter().map(of).sum::<u64>();
        let [near, far] = &self.counters;
        Balance {
            sent: near.sent + far.sent,
            delivered: near.received + far.received,
            dropped: sum(|lane| lane.totals.dropped()),
            lost: sum(|lane| lane.counts.lost),
            queued: sum(|lane| lane.backlog.packets.into()),
            between: sum(|lane| lane.flying as u64),
            on_access: sum(|lane| lane.coming as u64),
        }
    }
}
