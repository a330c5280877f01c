//! An end that records its frames, for captures.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use aqm::{Time, Why};

use super::end::{KernelCounts, LinkEnd, ReceiveResult};
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::pool::{FrameId, Pool};

/// Bytes kept of a frame: IPv6 and TCP headers with all options (40 and 60), and some for extensions.
pub const KEPT_BYTES: usize = 128;

/// Most pending records: half a minute of full packets at 10 Mbit/s, in 5 MB.
const MOST_PENDING: usize = 1 << 15;

/// Event of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEvent {
    /// The host sent it into the link's queue.
    In,
    /// The link gave it to the host, which may have refused it.
    Out,
    /// The discipline dropped it.
    Dropped(Why),
    /// The emulated medium lost it.
    Lost,
}

/// A frame and its event.
#[derive(Clone, Copy, Debug)]
pub struct FrameRecord {
    /// Time by the loop's clock: of the intake or delivery, or the nominal time of the drop.
    pub at: Time,
    /// What happened to the frame.
    pub event: FrameEvent,
    /// Its length in bytes.
    pub length: u32,
    bytes: [u8; KEPT_BYTES],
}

impl FrameRecord {
    /// Its first bytes, up to [`KEPT_BYTES`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..KEPT_BYTES.min(self.length as usize)]
    }
}

/// Receives the records of one end.
#[derive(Debug)]
pub struct FrameRecords {
    /// The records, in order of time.
    pub inbox: Receiver<FrameRecord>,
    missed: Arc<AtomicU64>,
}

impl FrameRecords {
    /// Frames that were not recorded for lack of space.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

/// Records frames without blocking; records that do not fit are counted. Copies share the channel.
#[derive(Clone, Debug)]
pub struct Recorder {
    outbox: SyncSender<FrameRecord>,
    missed: Arc<AtomicU64>,
}

impl Recorder {
    /// Allocates the channel for records, once.
    pub fn new() -> (Recorder, FrameRecords) {
        let (outbox, inbox) = sync_channel(MOST_PENDING);
        let missed = Arc::new(AtomicU64::new(0));
        (Recorder { outbox, missed: Arc::clone(&missed) }, FrameRecords { inbox, missed })
    }

    /// Records an event of a frame with these bytes.
    #[inline]
    pub fn record(&self, at: Time, event: FrameEvent, frame: &[u8]) {
        let kept = KEPT_BYTES.min(frame.len());
        let mut bytes = [0; KEPT_BYTES];
        bytes[..kept].copy_from_slice(&frame[..kept]);
        let record = FrameRecord { at, event, length: frame.len() as u32, bytes };
        if self.outbox.try_send(record).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Recorders for two ends, with their records.
pub(crate) fn recorders() -> ([Option<Recorder>; 2], Option<[FrameRecords; 2]>) {
    let [near, far] = [(); 2].map(|()| Recorder::new());
    ([Some(near.0), Some(far.0)], Some([near.1, far.1]))
}

/// An end with an optional recorder.
#[derive(Debug)]
pub struct RecordedEnd<T> {
    end: T,
    clock: Monotonic,
    recorder: Option<Recorder>,
}

impl<T> RecordedEnd<T> {
    /// Wraps `end`; `clock` is the loop's.
    pub fn new(end: T, clock: Monotonic, recorder: Option<Recorder>) -> RecordedEnd<T> {
        RecordedEnd { end, clock, recorder }
    }

    #[inline]
    fn record(&self, event: FrameEvent, pool: &Pool, frames: &[FrameId]) {
        if let Some(recorder) = self.recorder.as_ref().filter(|_| !frames.is_empty()) {
            let at = self.clock.now();
            frames.iter().for_each(|frame| recorder.record(at, event, pool.frame(frame)));
        }
    }
}

impl<T: LinkEnd> LinkEnd for RecordedEnd<T> {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let before = batch.len();
        let received = self.end.recv(pool, batch);
        self.record(FrameEvent::In, pool, &batch[before..]);
        received
    }

    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        self.record(FrameEvent::Out, pool, batch);
        self.end.send(pool, batch)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.end.fd()
    }

    fn layer(&self) -> Layer {
        self.end.layer()
    }

    fn mtu(&self) -> usize {
        self.end.mtu()
    }

    fn kernel(&mut self) -> KernelCounts {
        self.end.kernel()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FakeClock;

    #[test]
    fn frames_without_room_for_a_record_are_counted_and_forwarded() {
        let (recorder, records) = Recorder::new();
        let frames = (0..MOST_PENDING + 10).map(|n| (Time::ZERO, vec![n as u8; 200]));
        let mut end = RecordedEnd::new(FakeClock::new().end(Layer::Ip, frames), Monotonic::new(), Some(recorder));
        let mut pool = Pool::new(64, 256);
        let (mut batch, mut passed) = (Vec::new(), 0);
        loop {
            end.recv(&mut pool, &mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            passed += batch.len();
            batch.drain(..).for_each(|frame| pool.give(frame));
        }
        assert_eq!((passed, records.missed()), (MOST_PENDING + 10, 10));
        let first = records.inbox.recv().unwrap();
        assert_eq!((first.event, first.length, first.bytes()), (FrameEvent::In, 200, &[0; KEPT_BYTES][..]));
        assert_eq!(records.inbox.try_iter().count(), MOST_PENDING - 1);
    }
}
