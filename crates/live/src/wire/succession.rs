//! One wire takes another's place while packets wait and fly: a link's settings change, and no packet is lost to that.
//!
//! What waits is taken out of the old discipline, which decides nothing more, and put into the new one, which decides as if
//! it all came at once, but for its age. What flies comes out when it would have, and nothing overtakes it.

use std::collections::VecDeque;
use std::mem;

use headgate_core::parts::Histogram;
use headgate_core::{Discipline, Ecn, Packet, Time};

use super::{Coming, Flying, Recycle, Wire, WireCounts};
use crate::ledger::WireLedger;
use crate::meter::Meter;
use crate::oddities::Oddities;
use crate::pool::{FrameId, Pool};

/// What one wire leaves to another: packets, and all that was counted.
pub struct Estate {
    pub(crate) ledger: WireLedger,
    pub(crate) pool: Pool,
    pub(crate) held: Held,
}

/// The packets that a wire has, their bytes being in the pool, and its own counts.
pub(crate) struct Held {
    /// In the order in which they would have been sent.
    queued: Vec<Packet<FrameId>>,
    coming: VecDeque<Coming>,
    flying: VecDeque<Flying>,
    oddities: Oddities,
    free_at: Time,
    counts: WireCounts,
    lateness: Histogram,
}

impl<D: Discipline<FrameId>, L: Meter> Wire<D, L> {
    /// Leaves all that it has to its successor, but what its meter has beyond the counts of every wire.
    pub(super) fn bequeath(&mut self, now: Time) -> Estate {
        self.advance(now);
        let mut marked = Vec::new();
        let mut queued = self.port.drain(now, &mut |packet| marked.push(packet.handle.slot()));
        // What the discipline marks only now it has not marked: it is as its frame still says.
        marked.sort_unstable();
        for packet in queued.iter_mut().filter(|packet| marked.binary_search(&packet.handle.slot()).is_ok()) {
            packet.ecn = Ecn::NotEct;
        }
        let held = Held {
            queued,
            coming: mem::take(&mut self.coming),
            flying: mem::take(&mut self.flying),
            oddities: *self.parser.oddities(),
            free_at: self.free_at,
            counts: self.counts,
            lateness: mem::take(&mut self.lateness),
        };
        let ledger = mem::replace(self.port.ledger_mut().wire(), WireLedger::new(0));
        Estate { ledger, pool: mem::replace(&mut self.pool, Pool::new(1, 1)), held }
    }

    /// Goes on with what another wire has left, whose pool and ledger are this one's already.
    pub(crate) fn inherit(&mut self, left: Held, now: Time) {
        (self.coming, self.flying) = (left.coming, left.flying);
        self.flying.reserve(self.pool.slots() - self.flying.len());
        self.not_before = self.flying.back().map_or(Time::ZERO, |last| last.due);
        (self.free_at, self.counts, self.lateness) = (left.free_at, left.counts, left.lateness);
        self.idle = left.free_at <= now;
        for mut packet in left.queued {
            // What is a flow, and which class it is of, may be another matter now.
            if let Ok(parsed) = self.parser.parse(self.pool.frame(&packet.handle)) {
                (packet.flow, packet.class) = (parsed.flow, parsed.class);
                packet.ecn = if packet.ecn == Ecn::Ce { Ecn::Ce } else { parsed.ecn };
            }
            self.port.readmit(packet, now, &mut Recycle(&mut self.pool));
        }
        // They were counted when they came.
        self.parser.count_from(left.oddities);
        if self.port.backlog().packets > 0 {
            self.wake = now.max(self.free_at);
        }
    }
}
