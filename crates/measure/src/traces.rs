//! The traces of chosen senders: a row each time a sender's state changes.

use aqm::{Span, Time};
use headgate_scenario::Scenario;

use crate::sender_state::{SenderState, TraceRow};

/// Rows not yet taken, and each traced flow's last row.
pub struct Traces {
    /// By flow: whether it is traced, and its last row.
    last: Vec<FlowTrace>,
    min_interval: Span,
    rows: Vec<TraceRow>,
}

#[derive(Clone, Copy)]
enum FlowTrace {
    NotTraced,
    NoRowYet,
    Row(TraceRow),
}

impl Traces {
    /// Traces of the flows named by `scenario`; `None` if it names none.
    pub fn new(scenario: &Scenario) -> Option<Traces> {
        let record = &scenario.record;
        let flows = scenario.groups().flat_map(|group| (0..group.flows).map(move |flow| (group.name, flow)));
        let wanted = |group: &str, flow| record.flows.iter().any(|traced| traced.includes(group, flow));
        let last =
            flows.map(|(group, flow)| if wanted(group, flow) { FlowTrace::NoRowYet } else { FlowTrace::NotTraced });
        let traces = || Traces { last: last.collect(), min_interval: record.flow_interval, rows: Vec::new() };
        (!record.flows.is_empty()).then(traces)
    }

    /// Like [`new`](Traces::new) for polled senders: the poller enforces the interval.
    pub fn for_polled_senders(scenario: &Scenario) -> Option<Traces> {
        Traces::new(scenario).map(|traces| Traces { min_interval: Span::ZERO, ..traces })
    }

    /// Whether `flow` is traced.
    pub fn is_traced(&self, flow: u32) -> bool {
        !matches!(self.last[flow as usize], FlowTrace::NotTraced)
    }

    /// Records the state of `flow`'s sender after an event, if it changed.
    pub fn record(&mut self, flow: u32, now: Time, state: impl FnOnce() -> SenderState) {
        let last = &mut self.last[flow as usize];
        let early = match last {
            FlowTrace::NotTraced => return,
            FlowTrace::NoRowYet => false,
            FlowTrace::Row(row) => now < row.time + self.min_interval,
        };
        if early {
            return; // the change appears in the next row
        }
        let state = state();
        if !matches!(last, FlowTrace::Row(row) if !state.differs(&row.state)) {
            let row = TraceRow { time: now, flow, state };
            *last = FlowTrace::Row(row);
            self.rows.push(row);
        }
    }

    /// Takes the rows up to `now`, in order of time. Later rows, of senders that act ahead of time, remain.
    pub fn take(&mut self, now: Time) -> Vec<TraceRow> {
        self.rows.sort_by_key(|row| row.time);
        let due = self.rows.partition_point(|row| row.time <= now);
        self.rows.drain(..due).collect()
    }

    /// The rows since they were last taken.
    pub fn rows_mut(&mut self) -> &mut Vec<TraceRow> {
        &mut self.rows
    }
}
