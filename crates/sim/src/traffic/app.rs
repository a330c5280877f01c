//! What writes to a simulated connection, and the transfers that somebody waits for.

use std::collections::VecDeque;

use headgate_core::{Rng, Time};
use headgate_traffic::{Data, Source, Write, Writer};

/// A write that somebody waits for, until the receiver has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When it was written.
    pub start: Time,
    /// How much was asked for, in bytes.
    pub bytes: u64,
}

/// The application of one flow.
pub struct App {
    writer: Writer,
    /// Transfers under way, oldest first, each with the number after its last segment.
    open: VecDeque<(u32, Transfer)>,
}

impl App {
    /// An application that has written nothing; `None` for one that always has more to send than TCP takes.
    pub fn new(source: Source, rng: Rng) -> Option<App> {
        Writer::new(source, rng).map(|writer| App { writer, open: VecDeque::new() })
    }

    /// The flow starts: when its first write begins, if it ever writes.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        self.writer.start(now)
    }

    /// The write whose time has come.
    pub fn begin(&mut self, now: Time) -> Option<Write> {
        self.writer.begin(now)
    }

    /// The write that began is with TCP up to the segment before `end`: when the next one begins, if that is known.
    pub fn written(&mut self, write: &Write, end: u32, now: Time) -> Option<Time> {
        if let (true, Data::Bytes(bytes)) = (write.transfer, write.data) {
            self.open.push_back((end, Transfer { start: now, bytes }));
        }
        self.writer.written(write, now)
    }

    /// All that was written is acknowledged: when the next write begins, if this is what it waited for.
    pub fn acknowledged(&mut self, now: Time) -> Option<Time> {
        self.writer.acknowledged(now)
    }

    /// Whether nothing more will be written, if all that was is acknowledged; true once.
    pub fn ends(&mut self) -> bool {
        self.writer.ends()
    }

    /// The number after the last segment of the oldest transfer under way; `u32::MAX` if there is none.
    pub fn milestone(&self) -> u32 {
        self.open.front().map_or(u32::MAX, |(end, _)| *end)
    }

    /// The oldest transfer under way is with its receiver.
    pub fn arrived(&mut self) -> Option<Transfer> {
        self.open.pop_front().map(|(_, transfer)| transfer)
    }

    /// Transfers that have not arrived, oldest first.
    pub fn unfinished(&self) -> impl Iterator<Item = Transfer> {
        self.open.iter().map(|(_, transfer)| *transfer)
    }
}
