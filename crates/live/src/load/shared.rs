//! What the threads of a load tell each other: when it begins, that it is to stop, which transfers are under way.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use headgate_core::{Span, Time};
use headgate_measure::TransferRow;

use super::traces::TraceBox;
use crate::io::clock::{Begin, Monotonic};

/// Shared by all threads of a load.
pub struct Shared {
    /// What tells when it begins.
    pub clock: Monotonic,
    begin: Begin,
    stop: AtomicBool,
    transfers: Mutex<Vec<VecDeque<Transfer>>>,
    /// Rows of traced senders.
    pub traces: TraceBox,
}

/// A write that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its row, as long as it is under way.
    pub row: TransferRow,
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
            begin: Begin::unknown(),
            stop: AtomicBool::new(false),
            transfers: Mutex::new(vec![VecDeque::new(); flows]),
            traces: TraceBox::default(),
        }
    }

    /// It begins at `at`, a time of the clock.
    pub fn begin(&self, at: Time) {
        self.begin.at(at);
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
        let begin = Some(self.begin.get()).filter(|begin| *begin < Time::NEVER)?;
        Some(Time::ZERO + (self.clock.now() - begin))
    }

    /// How long it is until the beginning, or until it should be looked for again.
    pub fn until_begin(&self) -> Span {
        (self.begin.get() - self.clock.now()).min(Span::from_secs(1))
    }

    /// The transfers under way, by flow.
    pub fn transfers(&self) -> MutexGuard<'_, Vec<VecDeque<Transfer>>> {
        // A thread that panicked left whole entries.
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
