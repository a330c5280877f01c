//! An application on a TCP connection: turns a source's delays into times.

use aqm::{Rng, Span, Time};

use crate::registry::FlowSource;
use crate::write::{SourceWrite, WriteAmount, WriteStart};

/// The application of a flow. The caller reports when a write begins, when TCP has taken its data, and when the data is
/// acknowledged.
#[derive(Clone, Debug)]
pub struct Application {
    source: FlowSource,
    rng: Rng,
    /// The next write, not yet begun.
    next: Option<SourceWrite>,
    /// When the last write began, or else when the flow started.
    began: Time,
    awaits: Awaited,
    /// Whether [`take_end`](Application::take_end) has returned true.
    over: bool,
}

/// The application's reaction once all its data is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Nothing,
    /// Ask the source: its next write depends on this transfer's completion.
    Answer,
    /// Begin the known next write after its delay.
    Pause,
}

impl Application {
    /// An application before its first write. `None` if it always has more data than TCP takes, and so needs no timing.
    pub fn new(mut source: FlowSource, mut rng: Rng) -> Option<Application> {
        let next = source.next(&mut rng);
        let greedy = SourceWrite::after_start(Span::ZERO, WriteAmount::Endless);
        if next.is_some_and(|write| write.on_new_connection(false) == greedy) {
            return None;
        }
        Some(Application { source, rng, next, began: Time::ZERO, awaits: Awaited::Nothing, over: false })
    }

    /// Starts the flow. Returns when its first write begins, if any.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        self.began = now;
        self.next.map(|write| match write.after {
            WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap) => now + gap,
        })
    }

    /// Begins the next write.
    pub fn begin(&mut self, now: Time) -> Option<SourceWrite> {
        self.began = now;
        self.next.take()
    }

    /// Reports that TCP has taken `write`. Returns when the next write begins, if that is known.
    pub fn written(&mut self, write: &SourceWrite, now: Time) -> Option<Time> {
        if !write.transfer {
            return self.ask(now);
        }
        self.awaits = Awaited::Answer;
        None
    }

    /// Reports that all data is acknowledged. Returns when the next write begins, if it waited for this.
    pub fn acknowledged(&mut self, now: Time) -> Option<Time> {
        match std::mem::replace(&mut self.awaits, Awaited::Nothing) {
            Awaited::Nothing => None,
            Awaited::Answer => {
                self.source.done(now - self.began);
                self.ask(now).or_else(|| self.acknowledged(now))
            }
            Awaited::Pause => self.next.map(|write| match write.after {
                WriteStart::AfterStart(gap) => (self.began + gap).max(now),
                WriteStart::AfterDelivery(pause) => now + pause,
            }),
        }
    }

    /// Whether all writes are finished, and transfers acknowledged. Returns true only once.
    pub fn take_end(&mut self) -> bool {
        let over = self.next.is_none() && self.awaits == Awaited::Nothing;
        over && !std::mem::replace(&mut self.over, over)
    }

    /// Asks the source for its next write. Returns when it begins, if that is known.
    fn ask(&mut self, now: Time) -> Option<Time> {
        self.next = self.source.next(&mut self.rng);
        match self.next?.after {
            WriteStart::AfterStart(gap) => Some((self.began + gap).max(now)),
            WriteStart::AfterDelivery(_) => {
                self.awaits = Awaited::Pause;
                None
            }
        }
    }
}
