//! What writes to a TCP connection: a source with a clock.

use headgate_core::{Rng, Span, Time};

use crate::registry::Source;
use crate::write::{After, Data, Write};

/// The application of one flow. Whoever carries its writes says when they begin, when TCP has them, and when all is
/// acknowledged.
#[derive(Clone, Debug)]
pub struct Writer {
    source: Source,
    rng: Rng,
    /// Asked for and not begun.
    next: Option<Write>,
    /// When the last write began; before the first, when the flow started.
    began: Time,
    /// The next write is asked for, or begins, when all is acknowledged.
    awaits: Awaits,
    /// All that was written is acknowledged, nothing more will be, and it was told.
    over: bool,
}

/// What an application does once everything it wrote is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Nothing,
    /// Somebody waited for the last write: only now he knows what is next.
    Answer,
    /// The next write is known, and begins so long after.
    Pause,
}

impl Writer {
    /// An application that has written nothing; `None` for one that always has more to send than TCP takes: that needs
    /// nobody to ask.
    pub fn new(mut source: Source, mut rng: Rng) -> Option<Writer> {
        let next = source.next(&mut rng);
        let greedy = Write::after(Span::ZERO, Data::Endless);
        if next.is_some_and(|write| write.on_fresh(false) == greedy) {
            return None;
        }
        Some(Writer { source, rng, next, began: Time::ZERO, awaits: Awaits::Nothing, over: false })
    }

    /// The flow starts: when its first write begins, if it ever writes.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        self.began = now;
        self.next.map(|write| match write.after {
            After::Start(gap) | After::Done(gap) => now + gap,
        })
    }

    /// The write whose time has come.
    pub fn begin(&mut self, now: Time) -> Option<Write> {
        self.began = now;
        self.next.take()
    }

    /// TCP has the write that began: when the next one begins, if that is known.
    pub fn written(&mut self, write: &Write, now: Time) -> Option<Time> {
        if !write.transfer {
            return self.ask(now);
        }
        self.awaits = Awaits::Answer;
        None
    }

    /// All that was written is acknowledged: when the next write begins, if this is what it waited for.
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

    /// Whether nothing more will be written, if all that was is acknowledged; true once.
    pub fn ends(&mut self) -> bool {
        let over = self.next.is_none() && self.awaits == Awaits::Nothing;
        over && !std::mem::replace(&mut self.over, over)
    }

    /// Asks the source for its next write: when it begins, if nothing has to happen before.
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
