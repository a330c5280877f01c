//! What the threads of a load tell each other: when it begins, that it is to stop, which transfers are under way.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use headgate_core::{Span, Time};

use super::traces::TraceBox;
use crate::io::clock::Monotonic;

/// Shared by all threads of a load.
pub struct Shared {
    clock: Monotonic,
    /// When it begins, in nanoseconds of the clock; the greatest number as long as nobody said.
    begin: AtomicU64,
    stop: AtomicBool,
    transfers: Mutex<Vec<VecDeque<Transfer>>>,
    traces: TraceBox,
}

/// A write that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When it was written.
    pub start: Time,
    /// How much the application asked for, in bytes.
    pub bytes: u64,
    /// The flow's connection that carries it, from 1.
    pub connection: u32,
    /// The number of bytes that the connection carries up to its end.
    pub end: u64,
}

impl Shared {
    /// Of `flows` flows, not begun.
    pub fn new(clock: Monotonic, flows: usize) -> Shared {
        Shared {
            clock,
            begin: AtomicU64::new(u64::MAX),
            stop: AtomicBool::new(false),
            transfers: Mutex::new(vec![VecDeque::new(); flows]),
            traces: TraceBox::default(),
        }
    }

    /// It begins at `at`, a time of the clock.
    pub fn begin(&self, at: Time) {
        self.begin.store(at.as_nanos(), Ordering::Release);
    }

    /// Everybody stops.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Whether everybody is to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// The time that has passed since the beginning, zero before; `None` if nobody has said when that is.
    pub fn now(&self) -> Option<Time> {
        let begin = Some(self.begin.load(Ordering::Acquire)).filter(|begin| *begin != u64::MAX)?;
        Some(Time::ZERO + (self.clock.now() - Time::from_nanos(begin)))
    }

    /// The clock's time.
    pub fn clock(&self) -> Time {
        self.clock.now()
    }

    /// How long it is until the beginning, or until it should be looked for again.
    pub fn until_begin(&self) -> Span {
        match self.begin.load(Ordering::Acquire) {
            u64::MAX => Span::from_secs(1),
            begin => Time::from_nanos(begin) - self.clock.now(),
        }
    }

    /// Rows of traced senders.
    pub fn traces(&self) -> &TraceBox {
        &self.traces
    }

    /// The transfers under way, by flow.
    pub fn transfers(&self) -> MutexGuard<'_, Vec<VecDeque<Transfer>>> {
        // A thread that panicked left whole entries.
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
