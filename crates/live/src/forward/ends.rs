//! The entry that takes frames from a host, and the exit that gives frames to a host.

use std::collections::VecDeque;
use std::io;

use aqm::parts::Histogram;
use aqm::{Packet, Span, Time};

use crate::io::anomalies::FrameAnomaly;
use crate::io::frame::{ParsedFrame, Parser};
use crate::io::pool::{FrameId, Pool};
use crate::io::{BATCH, LinkEnd};

/// Takes frames from one end, parses them and counts them. They arrive when all of a batch have been read: a frame that
/// came while the batch was read must not have arrived before it came.
pub(crate) struct LaneEntry {
    pub(crate) parser: Parser,
    /// Frames received, and the frames among them dropped because no slot was free.
    pub(crate) offered: u64,
    pub(crate) no_slot: u64,
    /// Taken, and not arrived yet.
    taken: Vec<FrameId>,
}

impl LaneEntry {
    pub(crate) fn new(parser: Parser) -> LaneEntry {
        LaneEntry { parser, offered: 0, no_slot: 0, taken: Vec::with_capacity(BATCH) }
    }

    /// Takes a batch from `from`, for [`arrive`](LaneEntry::arrive). Returns true if more frames may be waiting.
    pub(crate) fn take(&mut self, from: &mut dyn LinkEnd, pool: &mut Pool) -> io::Result<bool> {
        let received = from.recv(pool, &mut self.taken);
        self.offered += self.taken.len() as u64;
        let received = received?;
        self.offered += received.no_slot + received.oversize;
        self.no_slot += received.no_slot;
        self.parser.anomalies.add(FrameAnomaly::Oversize, received.oversize);
        Ok(received.more)
    }

    /// Parses the taken frames and passes each packet to the callback. A frame that it returns counts as dropped for lack
    /// of a slot.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        pool: &mut Pool,
        mut arrive: impl FnMut(Packet<FrameId>, &ParsedFrame, &mut Pool) -> Result<(), FrameId>,
    ) {
        for frame in self.taken.drain(..) {
            let bytes = pool.frame(&frame);
            let Ok(parsed) = &self.parser.parse(bytes) else {
                pool.give(frame);
                continue;
            };
            let size = bytes.len() as u32;
            pool.set_ip(&frame, parsed.ip);
            let packet = Packet { class: parsed.class, ecn: parsed.ecn, ..Packet::new(parsed.flow, size, frame) };
            if let Err(frame) = arrive(packet, parsed, pool) {
                pool.give(frame);
                self.no_slot += 1;
            }
        }
    }

    /// Replaces the parser; all counts are kept.
    pub(crate) fn replace_parser(&mut self, mut parser: Parser) {
        parser.anomalies = self.parser.anomalies;
        self.parser = parser;
    }
}

/// A packet in propagation.
struct PropagatingFrame {
    due: Time,
    frame: FrameId,
}

/// Sends packets to one end at their due times. The lateness of each packet is recorded. It delays that packet only and
/// does not accumulate.
#[derive(Default)]
pub(crate) struct LaneExit {
    /// Ordered by due time.
    propagating: VecDeque<PropagatingFrame>,
    /// Due time of the last packet inherited from the previous lane; later packets must not overtake it.
    not_before: Time,
    /// Delay between a packet's due time and its departure, in nanoseconds.
    pub(crate) lateness: Histogram,
    /// Packets that the end accepted, and packets that it refused.
    pub(crate) delivered: u64,
    pub(crate) refused: u64,
    batch: Vec<FrameId>,
}

impl LaneExit {
    /// An exit with preallocated memory for `slots` packets.
    pub(crate) fn new(slots: usize) -> LaneExit {
        LaneExit {
            propagating: VecDeque::with_capacity(slots),
            batch: Vec::with_capacity(BATCH),
            ..LaneExit::default()
        }
    }

    /// Queues `frame` for `due`, behind packets due earlier.
    #[inline]
    pub(crate) fn schedule(&mut self, due: Time, frame: FrameId) {
        if self.propagating.back().is_none_or(|last| last.due <= due) {
            self.propagating.push_back(PropagatingFrame { due, frame });
        } else {
            let due = due.max(self.not_before);
            let index = self.propagating.partition_point(|other| other.due <= due);
            self.propagating.insert(index, PropagatingFrame { due, frame });
        }
    }

    /// Due time of the next packet; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.propagating.front().map_or(Time::NEVER, |first| first.due)
    }

    /// Sends a batch of due packets to `to` and calls `sent` for each, with whether `to` accepted it. Returns true if
    /// more may be due. An end reports only how many packets it refused. They count as the last packets of the batch,
    /// as at a full device.
    #[inline]
    pub(crate) fn send_due(
        &mut self,
        now: Time,
        to: &mut dyn LinkEnd,
        pool: &mut Pool,
        mut sent: impl FnMut(&FrameId, bool),
    ) -> io::Result<bool> {
        while self.batch.len() < BATCH
            && self.propagating.front().is_some_and(|first| first.due <= now)
            && let Some(first) = self.propagating.pop_front()
        {
            self.lateness.record((now - first.due).as_nanos());
            self.batch.push(first.frame);
        }
        if self.batch.is_empty() {
            return Ok(false);
        }
        if self.propagating.is_empty() {
            // Restart at the front of the buffer, which is still in a cache.
            self.propagating.clear();
        }
        let more = self.batch.len() == BATCH;
        let result = to.send(pool, &self.batch);
        // After an error the number of accepted packets is unknown, so none counts as delivered.
        let refused = *result.as_ref().unwrap_or(&self.batch.len());
        let accepted = self.batch.len() - refused;
        self.delivered += accepted as u64;
        self.refused += refused as u64;
        for (index, frame) in self.batch.drain(..).enumerate() {
            sent(&frame, index < accepted);
            pool.give(frame);
        }
        result.map(|_| more)
    }

    /// Delays every packet by `by`.
    pub(crate) fn stall(&mut self, by: Span) {
        self.not_before += by;
        self.propagating.iter_mut().for_each(|packet| packet.due += by);
    }

    pub(crate) fn propagating(&self) -> impl ExactSizeIterator<Item = &FrameId> {
        self.propagating.iter().map(|packet| &packet.frame)
    }

    /// Prepares the exit for a replacement lane with up to `slots` packets. Packets already in propagation leave first.
    pub(crate) fn continue_with(&mut self, slots: usize) {
        self.propagating.reserve(slots - self.propagating.len());
        self.not_before = self.propagating.back().map_or(Time::ZERO, |last| last.due);
    }
}
