//! State shared by the threads of a load: start time, stop flag, open transfers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use headgate_core::{Span, Time};
use headgate_measure::TransferRow;

use super::traces::TraceBox;
use crate::io::clock::{Begin, Monotonic};

pub struct Shared {
    pub clock: Monotonic,
    begin: Begin,
    stop: AtomicBool,
    transfers: Mutex<Vec<VecDeque<Transfer>>>,
    pub traces: TraceBox,
}

/// A write whose completion is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub row: TransferRow,
    /// Number of the flow's connection that carries it, from 1.
    pub connection: u32,
    /// Position of its last byte in the connection.
    pub end: u64,
}

impl Shared {
    pub fn new(clock: Monotonic, flows: usize) -> Shared {
        Shared {
            clock,
            begin: Begin::unknown(),
            stop: AtomicBool::new(false),
            transfers: Mutex::new(vec![VecDeque::new(); flows]),
            traces: TraceBox::default(),
        }
    }

    /// Sets time zero to `at`, by the clock.
    pub fn begin(&self, at: Time) {
        self.begin.at(at);
    }

    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Time since the start, zero before it; `None` until the start is known.
    pub fn now(&self) -> Option<Time> {
        let begin = Some(self.begin.get()).filter(|begin| *begin < Time::NEVER)?;
        Some(Time::ZERO + (self.clock.now() - begin))
    }

    /// Time to the start, at most the interval at which to check again.
    pub fn until_begin(&self) -> Span {
        (self.begin.get() - self.clock.now()).min(Span::from_secs(1))
    }

    /// Open transfers, by flow.
    pub fn transfers(&self) -> MutexGuard<'_, Vec<VecDeque<Transfer>>> {
        // Each entry stays complete even if a thread panics.
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
