//! The traces of chosen senders: what the kernel says of them every so often, a row where something has changed.

use headgate_core::{Span, Time};
use headgate_measure::Traces;
use headgate_scenario::Scenario;

use super::tcp::TcpSender;
use super::traces::{TraceBox, interval};

/// The senders that are traced in one host.
pub struct Tracer {
    traces: Traces,
    /// How often they are looked at.
    pub every: Span,
    /// The host's place in the [`TraceBox`].
    place: usize,
}

impl Tracer {
    /// Of the flows that `scenario` names, if it names any; `place` tells hosts apart.
    pub fn new(scenario: &Scenario, place: usize) -> Option<Tracer> {
        let every = interval(scenario)?;
        Some(Tracer { traces: Traces::looked_at(scenario)?, every, place })
    }

    /// Looks at those of `senders` that are traced and have started.
    pub fn look(&mut self, senders: &[TcpSender], now: Time, rows: &TraceBox) {
        for sender in senders.iter().filter(|sender| sender.lasts[0] <= now && now < sender.lasts[1]) {
            if self.traces.wants(sender.number)
                && let Some(state) = sender.state()
            {
                self.traces.note(sender.number, now, || state);
            }
        }
        rows.put(self.place, now, self.traces.rows());
    }

    /// No further look.
    pub fn end(&mut self, rows: &TraceBox) {
        rows.put(self.place, Time::NEVER, self.traces.rows());
    }
}
