//! Recent history of the flows that send most, in short slots, for verdicts.

use std::collections::VecDeque;

use headgate_core::parts::FlowTable;
use headgate_core::{FlowId, Span, Time};

use super::verdict::{FlowCounts, FlowInterval};

/// Least duration of a slot: several round trips of a short path, so that a TCP's reduction is visible.
pub(crate) const SLOT: Span = Span::from_millis(100);

/// Slots kept per flow: 10 s.
const SLOTS: usize = 100;

/// Flows watched at a time. The one that was among the top senders longest ago makes room for a new one.
const WATCHED: u32 = 128;

#[derive(Clone, Debug)]
struct FlowHistory {
    slots: VecDeque<FlowInterval>,
    /// Counts at the end of the last slot.
    before: FlowCounts,
    /// When the flow was last among the top senders.
    first: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct FlowHistories {
    flows: FlowTable<FlowHistory>,
    ended: Time,
}

impl FlowHistories {
    pub(crate) fn new(key: u64) -> FlowHistories {
        FlowHistories { flows: FlowTable::new(WATCHED, key), ended: Time::ZERO }
    }

    /// Ends a slot at `now` if it lasted long enough. Watches the flows in `first`, the top senders, from now on;
    /// `counts` returns a flow's counts so far.
    pub(crate) fn look(
        &mut self,
        now: Time,
        first: impl Iterator<Item = FlowId>,
        counts: impl Fn(FlowId) -> Option<FlowCounts>,
    ) {
        let lasted = now - self.ended;
        if lasted < SLOT {
            return;
        }
        self.ended = now;
        for at in (0..self.flows.len()).rev() {
            let (flow, history) = self.flows.at(at);
            match counts(flow).filter(|counts| counts.arrived >= history.before.arrived) {
                Some(counts) => {
                    let before = std::mem::replace(&mut history.before, counts);
                    if history.slots.len() == SLOTS {
                        history.slots.pop_front();
                    }
                    history.slots.push_back(FlowInterval { lasted, counts: counts - before });
                }
                // The flow lost its row; its counts restarted or are gone.
                None => drop(self.flows.remove_at(at)),
            }
        }
        for flow in first {
            self.keep(flow, now, &counts);
        }
    }

    fn keep(&mut self, flow: FlowId, now: Time, counts: &impl Fn(FlowId) -> Option<FlowCounts>) {
        if let Some(history) = self.flows.get(flow) {
            history.first = now;
        } else if let Some(before) = counts(flow) {
            if self.flows.is_full()
                && let Some(at) = self.flows.stalest(|history| history.first)
            {
                self.flows.remove_at(at);
            }
            self.flows.insert(flow, FlowHistory { slots: VecDeque::with_capacity(SLOTS), before, first: now });
        }
    }

    /// The recorded slots of `flow`, oldest first.
    pub(crate) fn slots(&mut self, flow: FlowId) -> &[FlowInterval] {
        self.flows.get(flow).map_or(&[], |history| &*history.slots.make_contiguous())
    }
}
