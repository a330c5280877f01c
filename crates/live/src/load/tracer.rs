//! Traces of chosen senders: periodic samples of the kernel's state, with a row for each change.

use headgate_core::{Span, Time};
use headgate_measure::Traces;
use headgate_scenario::Scenario;

use super::tcp::TcpSender;
use super::traces::{TraceCollector, interval};

pub struct Tracer {
    traces: Traces,
    pub every: Span,
    place: usize,
}

impl Tracer {
    /// Traces the flows that `scenario` names, if any. `place` is the host's index in the [`TraceCollector`].
    pub fn new(scenario: &Scenario, place: usize) -> Option<Tracer> {
        let every = interval(scenario)?;
        Some(Tracer { traces: Traces::looked_at(scenario)?, every, place })
    }

    /// Samples the traced senders that are active.
    pub fn look(&mut self, senders: &[TcpSender], now: Time, rows: &TraceCollector) {
        for sender in senders.iter().filter(|sender| sender.lasts[0] <= now && now < sender.lasts[1]) {
            if self.traces.wants(sender.number)
                && let Some(state) = sender.state()
            {
                self.traces.note(sender.number, now, || state);
            }
        }
        rows.put(self.place, now, self.traces.rows());
    }

    pub fn end(&mut self, rows: &TraceCollector) {
        rows.put(self.place, Time::NEVER, self.traces.rows());
    }
}
