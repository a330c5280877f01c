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
}

impl FlowApp {
    /// `None` for a source that always has more data than TCP accepts.
    pub fn new(source: FlowSource, rng: Rng) -> Option<FlowApp> {
        Application::new(source, rng).map(|writer| FlowApp { writer, open_transfers: VecDeque::new() })
    }

    /// Starts the flow; returns the time of its first write, if any.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        self.writer.start(now)
    }

    /// Begins the due write.
    pub fn begin(&mut self, now: Time) -> Option<SourceWrite> {
        self.writer.begin(now)
    }

    /// TCP has accepted the write, up to the segment before `end`. Returns the time of the next write, if known.
    pub fn written(&mut self, write: &SourceWrite, end: u32, now: Time) -> Option<Time> {
        if let (true, WriteAmount::Bytes(bytes)) = (write.transfer, write.data) {
            self.open_transfers.push_back((end, TransferRequest { start: now, bytes }));
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

    /// Open transfers, oldest first.
    pub fn open_transfers(&self) -> impl Iterator<Item = TransferRequest> {
        self.open_transfers.iter().map(|(_, transfer)| *transfer)
    }
}
