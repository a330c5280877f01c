//! The application of a simulated connection, and its transfers.

use std::collections::VecDeque;

use aqm::{Rng, Time};
use headgate_traffic::{Application, FlowSource, SourceWrite, WriteAmount};

/// A write whose completion time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferRequest {
    pub start: Time,
    /// Bytes requested.
    pub bytes: u64,
}

pub struct FlowApp {
    writer: Application,
    /// Open transfers, oldest first, each with the number after its last segment.
    open_transfers: VecDeque<(u32, TransferRequest)>,
    /// Last segments of writes that have not arrived and are not full: number and bytes, ascending.
    short_segments: VecDeque<(u32, u32)>,
}

impl FlowApp {
    /// `None` for a source that always has more data than TCP accepts.
    pub fn new(source: FlowSource, rng: Rng) -> Option<FlowApp> {
        Application::new(source, rng).map(|writer| FlowApp {
            writer,
            open_transfers: VecDeque::new(),
            short_segments: VecDeque::new(),
        })
    }

    /// Starts the flow; returns the time of its first write, if any.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        self.writer.start(now)
    }

    /// Begins the due write.
    pub fn begin(&mut self, now: Time) -> Option<SourceWrite> {
        self.writer.begin(now)
    }

    /// TCP has accepted the write, up to the segment before `end`, in segments of `payload` bytes. Returns the time of
    /// the next write, if known.
    pub fn written(&mut self, write: &SourceWrite, (end, payload): (u32, u32), now: Time) -> Option<Time> {
        if let WriteAmount::Bytes(bytes) = write.data {
            if write.transfer {
                self.open_transfers.push_back((end, TransferRequest { start: now, bytes }));
            }
            let last = (bytes % u64::from(payload)) as u32;
            if last > 0 {
                self.short_segments.push_back((end - 1, last));
            }
        }
        self.writer.written(write, now)
    }

    /// All data is acknowledged. Returns the time of the next write, if it depended on that.
    pub fn acknowledged(&mut self, now: Time) -> Option<Time> {
        self.writer.acknowledged(now)
    }

    /// Whether the source has finished, given that all its data is acknowledged; true only once.
    pub fn take_end(&mut self) -> bool {
        self.writer.take_end()
    }

    /// The number after the last segment of the oldest open transfer; `u32::MAX` if there is none.
    pub fn open_transfer_end(&self) -> u32 {
        self.open_transfers.front().map_or(u32::MAX, |(end, _)| *end)
    }

    /// Removes the oldest open transfer, which has arrived, and returns it.
    pub fn take_arrived_transfer(&mut self) -> Option<TransferRequest> {
        self.open_transfers.pop_front().map(|(_, transfer)| transfer)
    }

    /// Whether a segment that has not arrived is not full.
    pub fn has_short_segments(&self) -> bool {
        !self.short_segments.is_empty()
    }

    /// The bytes of segment `seq`, which arrives for the first time, if it is not full.
    pub fn take_short_segment(&mut self, seq: u32) -> Option<u32> {
        let place = self.short_segments.binary_search_by_key(&seq, |(number, _)| *number).ok()?;
        self.short_segments.remove(place).map(|(_, bytes)| bytes)
    }

    /// Open transfers, oldest first.
    pub fn open_transfers(&self) -> impl Iterator<Item = TransferRequest> {
        self.open_transfers.iter().map(|(_, transfer)| *transfer)
    }
}
