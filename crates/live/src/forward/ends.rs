//! Where frames come in from their host, and where they go out to one.

use std::collections::VecDeque;
use std::io;

use headgate_core::parts::Histogram;
use headgate_core::{Packet, Span, Time};

use crate::io::frame::{Parsed, Parser};
use crate::io::oddities::Oddity;
use crate::io::pool::{FrameId, Pool};
use crate::io::{BATCH, Io};

/// What takes frames from one end, and counts them.
pub(crate) struct Entry {
    /// What reads the frames.
    pub(crate) parser: Parser,
    /// Frames that came, and those of them for which there was no room.
    pub(crate) came: u64,
    pub(crate) no_slot: u64,
    batch: Vec<FrameId>,
}

impl Entry {
    /// One whose frames `parser` reads.
    pub(crate) fn new(parser: Parser) -> Entry {
        Entry { parser, came: 0, no_slot: 0, batch: Vec::with_capacity(BATCH) }
    }

    /// Takes what has come to `from`, and hands over packet by packet, with what its headers say; one that is given back finds no
    /// room. Says whether there may be more.
    #[inline]
    pub(crate) fn take(
        &mut self,
        from: &mut dyn Io,
        pool: &mut Pool,
        mut arrive: impl FnMut(Packet<FrameId>, &Parsed, &mut Pool) -> Result<(), FrameId>,
    ) -> io::Result<bool> {
        let received = from.recv(pool, &mut self.batch);
        self.came += self.batch.len() as u64;
        for frame in self.batch.drain(..) {
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
        let received = received?;
        self.came += received.no_slot + received.oversize;
        self.no_slot += received.no_slot;
        self.parser.oddities.add(Oddity::Oversize, received.oversize);
        Ok(received.more)
    }

    /// From now on `parser` reads the frames. All counts go on.
    pub(crate) fn read_by(&mut self, mut parser: Parser) {
        parser.oddities = self.parser.oddities;
        self.parser = parser;
    }
}

/// A packet on its way to its host.
struct Flying {
    due: Time,
    frame: FrameId,
}

/// What gives packets to one end when they are due. Lateness here is the only error that there is; it does not add up, and is
/// recorded for every packet.
#[derive(Default)]
pub(crate) struct Exit {
    /// In the order in which they come out.
    flying: VecDeque<Flying>,
    /// When the last packet comes out that flew when this took the place of another: none overtakes it.
    not_before: Time,
    /// How late packets came out, in nanoseconds.
    pub(crate) lateness: Histogram,
    /// Packets that came out, and those of them that the end refused.
    pub(crate) out: u64,
    pub(crate) refused: u64,
    batch: Vec<FrameId>,
}

impl Exit {
    /// One with room for as many packets as there are `slots`, for which it never grows.
    pub(crate) fn new(slots: usize) -> Exit {
        Exit { flying: VecDeque::with_capacity(slots), batch: Vec::with_capacity(BATCH), ..Exit::default() }
    }

    /// `frame` is due at `due`, behind those that come out before it: the last ones, but where packets overtake each other.
    #[inline]
    pub(crate) fn fly(&mut self, due: Time, frame: FrameId) {
        if self.flying.back().is_none_or(|last| last.due <= due) {
            self.flying.push_back(Flying { due, frame });
        } else {
            let due = due.max(self.not_before);
            let place = self.flying.partition_point(|other| other.due <= due);
            self.flying.insert(place, Flying { due, frame });
        }
    }

    /// When the next packet is due; [`Time::NEVER`] if none flies.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.flying.front().map_or(Time::NEVER, |first| first.due)
    }

    /// Gives `to` a batch of what is due; says whether there may be more. `out` is told of each frame.
    #[inline]
    pub(crate) fn give(
        &mut self,
        now: Time,
        to: &mut dyn Io,
        pool: &mut Pool,
        mut out: impl FnMut(&FrameId),
    ) -> io::Result<bool> {
        while self.batch.len() < BATCH
            && self.flying.front().is_some_and(|first| first.due <= now)
            && let Some(first) = self.flying.pop_front()
        {
            self.lateness.record((now - first.due).as_nanos());
            out(&first.frame);
            self.batch.push(first.frame);
        }
        if self.batch.is_empty() {
            return Ok(false);
        }
        if self.flying.is_empty() {
            // From its beginning again, which is still in a cache.
            self.flying.clear();
        }
        let more = self.batch.len() == BATCH;
        let refused = to.send(pool, &self.batch);
        self.out += self.batch.len() as u64;
        self.batch.drain(..).for_each(|frame| pool.give(frame));
        self.refused += refused? as u64;
        Ok(more)
    }

    /// Nothing moved for `by`.
    pub(crate) fn stall(&mut self, by: Span) {
        self.not_before += by;
        self.flying.iter_mut().for_each(|packet| packet.due += by);
    }

    /// The packets that fly.
    pub(crate) fn flying(&self) -> impl ExactSizeIterator<Item = &FrameId> {
        self.flying.iter().map(|packet| &packet.frame)
    }

    /// Goes on for another lane, among `slots` slots. Nothing overtakes what flies already.
    pub(crate) fn go_on(&mut self, slots: usize) {
        self.flying.reserve(slots - self.flying.len());
        self.not_before = self.flying.back().map_or(Time::ZERO, |last| last.due);
    }
}
