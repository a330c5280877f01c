//! Traces of chosen senders: periodic samples of the kernel's state, with a row for each change.

use aqm::{Span, Time};
use headgate_measure::Traces;
use headgate_scenario::Scenario;

use super::tcp::KernelTcpSender;
use super::traces::{TraceCollector, interval};

pub struct Tracer {
    traces: Traces,
    pub every: Span,
    index: usize,
}

impl Tracer {
    /// Traces the flows that `scenario` names, if any. `index` is the host's index in the [`TraceCollector`].
    pub fn new(scenario: &Scenario, index: usize) -> Option<Tracer> {
        let every = interval(scenario)?;
        Some(Tracer { traces: Traces::for_polled_senders(scenario)?, every, index })
    }

    /// Samples the traced senders that are active.
    pub fn sample(&mut self, senders: &[KernelTcpSender], now: Time, rows: &TraceCollector) {
        for sender in senders.iter().filter(|sender| sender.lifetime[0] <= now && now < sender.lifetime[1]) {
            if self.traces.is_traced(sender.number)
                && let Some(state) = sender.state()
            {
                self.traces.record(sender.number, now, || state);
            }
        }
        rows.put(self.index, now, self.traces.rows_mut());
    }

    pub fn end(&mut self, rows: &TraceCollector) {
        rows.put(self.index, Time::NEVER, self.traces.rows_mut());
    }
}
