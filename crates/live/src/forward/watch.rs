//! What the flows did lately that send most: short stretches of time, one after the other, for verdicts.

use std::collections::VecDeque;

use headgate_core::parts::FlowTable;
use headgate_core::{FlowId, Span, Time};

use super::verdict::{FlowCounts, Slot};

/// A slot lasts as long at least: some round-trip times of a short path, so that it shows a TCP's window fall.
pub(crate) const SLOT: Span = Span::from_millis(100);

/// Slots that are kept of a flow: 10 s of them.
const SLOTS: usize = 100;

/// Flows that are watched at a time. Of further ones, those that have not been among the first for longest give way.
const WATCHED: u32 = 128;

#[derive(Clone, Debug)]
struct History {
    slots: VecDeque<Slot>,
    /// The counts when the last slot ended.
    before: FlowCounts,
    /// When it was among the first last.
    first: Time,
}

/// The flows that are watched.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    flows: FlowTable<History>,
    /// When the last slot ended.
    ended: Time,
}

impl Watch {
    /// One whose table is hashed under `key`.
    pub(crate) fn new(key: u64) -> Watch {
        Watch { flows: FlowTable::new(WATCHED, key), ended: Time::ZERO }
    }

    /// Ends a slot at `now`, if the last one ended long enough ago; `first` are those that sent most, who are watched from
    /// now on, and `counts` says what a flow did so far.
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
                    history.slots.push_back(Slot { lasted, counts: counts - before });
                }
                // It has lost its row, and has it anew or not at all.
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
            self.flows.insert(flow, History { slots: VecDeque::with_capacity(SLOTS), before, first: now });
        }
    }

    /// What `flow` did lately, as far as it was watched.
    pub(crate) fn slots(&mut self, flow: FlowId) -> &[Slot] {
        self.flows.get(flow).map_or(&[], |history| &*history.slots.make_contiguous())
    }
}
