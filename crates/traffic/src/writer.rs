//! An application on a TCP connection: a source with a clock.

use headgate_core::{Rng, Span, Time};

use crate::registry::Source;
use crate::write::{After, Data, Write};

/// The application of a flow. Its caller reports when writes begin, are taken by TCP, and are acknowledged.
#[derive(Clone, Debug)]
pub struct Writer {
    source: Source,
    rng: Rng,
    /// The next write, not yet begun.
    next: Option<Write>,
    /// When the last write began, or else when the flow started.
    began: Time,
    awaits: Awaits,
    /// [`ends`](Writer::ends) has returned true.
    over: bool,
}

/// The application's reaction once all its data is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Nothing,
    /// Ask the source: its next write depends on this one's completion.
    Answer,
    /// Begin the known next write, after its delay.
    Pause,
}

impl Writer {
    /// An application that has written nothing; `None` if it always has more data than TCP takes and needs no writer.
    pub fn new(mut source: Source, mut rng: Rng) -> Option<Writer> {
        let next = source.next(&mut rng);
        let greedy = Write::after(Span::ZERO, Data::Endless);
        if next.is_some_and(|write| write.on_fresh(false) == greedy) {
            return None;
        }
        Some(Writer { source, rng, next, began: Time::ZERO, awaits: Awaits::Nothing, over: false })
    }

    /// Starts the flow. Returns when its first write begins, if any.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        self.began = now;
        self.next.map(|write| match write.after {
            After::Start(gap) | After::Done(gap) => now + gap,
        })
    }

    /// Begins the next write.
    pub fn begin(&mut self, now: Time) -> Option<Write> {
        self.began = now;
        self.next.take()
    }

    /// Reports that TCP has taken `write`. Returns when the next one begins, if known.
    pub fn written(&mut self, write: &Write, now: Time) -> Option<Time> {
        if !write.transfer {
            return self.ask(now);
        }
        self.awaits = Awaits::Answer;
        None
    }

    /// Reports that all data is acknowledged. Returns when the next write begins, if it waited for this.
    pub fn acknowledged(&mut self, now: Time) -> Option<Time> {
        match std::mem::replace(&mut self.awaits, Awaits::Nothing) {
            Awaits::Nothing => None,
            Awaits::Answer => {
                self.source.done(now - self.began);
                self.ask(now).or_else(|| self.acknowledged(now))
            }
            Awaits::Pause => self.next.map(|write| match write.after {
                After::Start(gap) => (self.began + gap).max(now),
                After::Done(pause) => now + pause,
            }),
        }
    }

    /// Whether all writes are finished, once acknowledged; true only once.
    pub fn ends(&mut self) -> bool {
        let over = self.next.is_none() && self.awaits == Awaits::Nothing;
        over && !std::mem::replace(&mut self.over, over)
    }

    /// Asks the source for its next write. Returns when it begins, if that is known.
    fn ask(&mut self, now: Time) -> Option<Time> {
        self.next = self.source.next(&mut self.rng);
        match self.next?.after {
            After::Start(gap) => Some((self.began + gap).max(now)),
            After::Done(_) => {
                self.awaits = Awaits::Pause;
                None
            }
        }
    }
}
