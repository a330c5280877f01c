// A forwarder without a machine: ends that are lists of frames, and a clock that tests set. The crate's unit tests and
// its example include this file.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use aqm::{Span, Time};

use headgate_live::io::{BATCH, LinkEnd, ReceiveResult};
use headgate_live::pacing::Clock;
use headgate_live::{FrameId, LaneView, Layer, Pool};

/// A clock that advances only in `wait`: to the requested time, or to the next frame.
#[derive(Debug, Default)]
pub struct FakeClock {
    now: Rc<Cell<Time>>,
    /// Time of each end's next frame.
    arrivals: Vec<Rc<Cell<Time>>>,
    /// Delay between a timer's deadline and the wake-up, for each wait in turn.
    late: Vec<Span>,
    waits: usize,
    /// Time that passes at an end before it reads, for each read in turn.
    interruptions: Vec<Span>,
}

impl FakeClock {
    /// A clock that wakes on time.
    pub fn new() -> FakeClock {
        FakeClock::default()
    }

    /// A clock that wakes late by these spans, used in turn and repeated.
    pub fn late(late: Vec<Span>) -> FakeClock {
        FakeClock { late, ..FakeClock::default() }
    }

    /// A clock whose ends are interrupted for these spans before they read, used in turn and repeated.
    pub fn interrupted(interruptions: Vec<Span>) -> FakeClock {
        FakeClock { interruptions, ..FakeClock::default() }
    }

    /// An end that receives `frames` by this clock: times and bytes, in order of time.
    pub fn end(&mut self, layer: Layer, frames: impl IntoIterator<Item = (Time, Vec<u8>)>) -> MemoryEnd {
        let arriving: VecDeque<(Time, Vec<u8>)> = frames.into_iter().collect();
        let next = Rc::new(Cell::new(arriving.front().map_or(Time::NEVER, |(at, _)| *at)));
        self.arrivals.push(Rc::clone(&next));
        let (now, interruptions) = (Rc::clone(&self.now), self.interruptions.clone());
        MemoryEnd { now, next, arriving, sent: Vec::new(), layer, room: usize::MAX, interruptions, reads: 0 }
    }
}

fn in_turn(spans: &[Span], turn: usize) -> Span {
    spans.get(turn % spans.len().max(1)).copied().unwrap_or_default()
}

impl Clock for FakeClock {
    fn now(&mut self) -> Time {
        self.now.get()
    }

    fn wait(&mut self, until: Time, _: [Option<BorrowedFd<'_>>; 3]) -> io::Result<[bool; 2]> {
        let first = self.arrivals.iter().map(|next| next.get()).fold(until, Time::min);
        let late = in_turn(&self.late, self.waits);
        self.waits += 1;
        self.now.set(self.now.get().max(first + late));
        Ok([true; 2])
    }

    fn cpu(&self) -> Span {
        Span::ZERO
    }
}

/// An end that receives frames from a list and keeps the frames sent to it.
#[derive(Debug)]
pub struct MemoryEnd {
    now: Rc<Cell<Time>>,
    next: Rc<Cell<Time>>,
    arriving: VecDeque<(Time, Vec<u8>)>,
    sent: Vec<(Time, Vec<u8>)>,
    layer: Layer,
    /// Number of frames that it accepts; it refuses all others.
    room: usize,
    interruptions: Vec<Span>,
    reads: usize,
}

impl MemoryEnd {
    /// The frames sent, with their times.
    pub fn sent(&self) -> &[(Time, Vec<u8>)] {
        &self.sent
    }

    /// Accepts `frames` more frames and refuses all others.
    pub fn refuse_after(&mut self, frames: usize) {
        self.room = self.sent.len() + frames;
    }

    fn due(&self) -> bool {
        self.next.get() <= self.now.get()
    }
}

impl LinkEnd for MemoryEnd {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let mut received = ReceiveResult::default();
        self.now.set(self.now.get() + in_turn(&self.interruptions, self.reads));
        self.reads += 1;
        while self.due() && batch.len() < BATCH {
            let Some((_, bytes)) = self.arriving.pop_front() else { break };
            self.next.set(self.arriving.front().map_or(Time::NEVER, |(at, _)| *at));
            if bytes.len() > pool.slot_bytes() {
                received.oversize += 1;
            } else if let Some(frame) = pool.take() {
                pool.slot_mut(&frame)[..bytes.len()].copy_from_slice(&bytes);
                pool.set_len(&frame, bytes.len());
                batch.push(frame);
            } else {
                received.no_slot += 1;
            }
        }
        received.more = self.due();
        Ok(received)
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let taken = batch.len().min(self.room - self.sent.len());
        let now = self.now.get();
        self.sent.extend(batch[..taken].iter().map(|frame| (now, pool.frame(frame).to_vec())));
        Ok(batch.len() - taken)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn layer(&self) -> Layer {
        self.layer
    }

    fn mtu(&self) -> usize {
        1500
    }
}

/// The conservation check of a lane's view.
pub trait Conserved {
    /// Whether every offered frame is accounted for.
    fn adds_up(&self) -> bool;
}

impl Conserved for LaneView {
    fn adds_up(&self) -> bool {
        let (port, counts) = (self.totals.counts(), &self.counts);
        let (on_access, propagating) = (self.on_access as u64, self.propagating as u64);
        counts.offered == counts.no_slot + self.anomalies.dropped() + on_access + port.arrived
            && port.arrived == port.sent + port.dropped() + u64::from(self.backlog.packets)
            && port.sent + counts.duplicates == counts.lost + counts.delivered + counts.refused + propagating
    }
}
