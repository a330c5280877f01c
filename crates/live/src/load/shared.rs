//! State shared by the threads of a load: start time, stop flag, open transfers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use aqm::{Span, Time};
use headgate_measure::TransferRow;

use super::traces::TraceCollector;
use crate::io::clock::{Monotonic, StartTime};

pub struct LoadState {
    pub clock: Monotonic,
    begin: StartTime,
    stop: AtomicBool,
    transfers: Mutex<Vec<VecDeque<OpenTransfer>>>,
    pub traces: TraceCollector,
}

/// A write whose completion is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTransfer {
    pub row: TransferRow,
    /// Number of the flow's connection that carries it, from 1.
    pub connection: u32,
    /// Position of its last byte in the connection.
    pub end: u64,
}

impl LoadState {
    pub fn new(clock: Monotonic, flows: usize) -> LoadState {
        LoadState {
            clock,
            begin: StartTime::unset(),
            stop: AtomicBool::new(false),
            transfers: Mutex::new(vec![VecDeque::new(); flows]),
            traces: TraceCollector::default(),
        }
    }

    /// Sets time zero to `at`, by the clock.
    pub fn begin(&self, at: Time) {
        self.begin.set(at);
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

    /// Time to the start, at most 1 s. A caller that waits longer checks again, since the start may be set meanwhile.
    pub fn until_begin(&self) -> Span {
        (self.begin.get() - self.clock.now()).min(Span::from_secs(1))
    }

    /// Open transfers, by flow.
    pub fn transfers(&self) -> MutexGuard<'_, Vec<VecDeque<OpenTransfer>>> {
        // Each entry stays complete even if a thread panics.
        self.transfers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
