//! What a forwarder shows of itself while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Span, Time, Totals};
use headgate_measure::Occupancy;

use crate::io::KernelCounts;
use crate::ledger::{FlowCounts, FlowView};
use crate::oddities::Oddities;
use crate::wire::WireCounts;

/// Flows that a view names.
pub const MOST_SHOWN: usize = 32;

/// One direction at a moment.
#[derive(Clone, Debug, Default)]
pub struct WireView {
    /// Arrivals, departures, drops and marks by reason, and sojourn times, at the port.
    pub totals: Totals,
    /// What happened before and behind it.
    pub counts: WireCounts,
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
    /// Those that have no row of their own any more.
    pub others: FlowCounts,
}

impl WireView {
    /// Whether every frame that came is accounted for.
    pub fn adds_up(&self) -> bool {
        let (port, counts) = (self.totals.counts(), &self.counts);
        let (coming, flying) = (self.coming as u64, self.flying as u64);
        counts.came == counts.no_slot + self.oddities.dropped() + coming + port.arrived
            && port.arrived == port.sent + port.dropped() + u64::from(self.backlog.packets)
            && port.sent == counts.lost + counts.out + flying
    }
}

/// A link at a moment.
#[derive(Clone, Debug)]
pub struct View {
    /// The moment.
    pub at: Time,
    /// Of a link from the first end to the second, and back; of a network each direction of each link, by number.
    pub wires: Vec<WireView>,
    /// What the kernel says of the first end and the second.
    pub kernel: [KernelCounts; 2],
    /// CPU time of the thread that forwards.
    pub cpu: Span,
}

/// Nothing has happened yet on a link.
impl Default for View {
    fn default() -> View {
        let wires = vec![WireView::default(); 2];
        View { at: Time::ZERO, wires, kernel: [KernelCounts::default(); 2], cpu: Span::ZERO }
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
