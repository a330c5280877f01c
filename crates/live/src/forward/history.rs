//! Histories of the flows that send most, in short intervals. Verdicts are based on them.

use std::collections::VecDeque;

use aqm::parts::FlowTable;
use aqm::{FlowId, Span, Time};

use super::verdict::{FlowCounts, FlowInterval};

/// Least duration of an interval: several round trips of a short path, so that a TCP flow's reduction is visible.
pub(crate) const INTERVAL: Span = Span::from_millis(100);

/// Most intervals kept per flow: 10 s.
const MOST_INTERVALS: usize = 100;

/// Most flows watched at a time. A new flow replaces the flow that has not been a top sender for the longest time.
const MOST_WATCHED: u32 = 128;

#[derive(Clone, Debug)]
struct FlowHistory {
    intervals: VecDeque<FlowInterval>,
    /// Counts at the end of the last interval.
    before: FlowCounts,
    /// When the flow was last among the top senders.
    last_top: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct FlowHistories {
    flows: FlowTable<FlowHistory>,
    interval_end: Time,
}

impl FlowHistories {
    pub(crate) fn new(key: u64) -> FlowHistories {
        FlowHistories { flows: FlowTable::new(MOST_WATCHED, key), interval_end: Time::ZERO }
    }

    /// Ends an interval at `now` if it has lasted long enough. Watches the flows in `top`, the top senders, from now
    /// on; `counts` returns a flow's counts so far.
    pub(crate) fn end_interval(
        &mut self,
        now: Time,
        top: impl Iterator<Item = FlowId>,
        counts: impl Fn(FlowId) -> Option<FlowCounts>,
    ) {
        let duration = now - self.interval_end;
        if duration < INTERVAL {
            return;
        }
        self.interval_end = now;
        for at in (0..self.flows.len()).rev() {
            let (flow, history) = self.flows.at(at);
            match counts(flow).filter(|counts| counts.arrived >= history.before.arrived) {
                Some(counts) => {
                    let before = std::mem::replace(&mut history.before, counts);
                    if history.intervals.len() == MOST_INTERVALS {
                        history.intervals.pop_front();
                    }
                    history.intervals.push_back(FlowInterval { duration, counts: counts - before });
                }
                // The flow lost its row; its counts restarted or are gone.
                None => drop(self.flows.remove_at(at)),
            }
        }
        for flow in top {
            self.watch(flow, now, &counts);
        }
    }

    fn watch(&mut self, flow: FlowId, now: Time, counts: &impl Fn(FlowId) -> Option<FlowCounts>) {
        if let Some(history) = self.flows.get(flow) {
            history.last_top = now;
        } else if let Some(before) = counts(flow) {
            if self.flows.is_full()
                && let Some(at) = self.flows.eviction_candidate(|history| history.last_top)
            {
                self.flows.remove_at(at);
            }
            self.flows.insert(
                flow,
                FlowHistory { intervals: VecDeque::with_capacity(MOST_INTERVALS), before, last_top: now },
            );
        }
    }

    /// The recorded intervals of `flow`, oldest first.
    pub(crate) fn intervals(&mut self, flow: FlowId) -> &[FlowInterval] {
        self.flows.get(flow).map_or(&[], |history| &*history.intervals.make_contiguous())
    }
}
