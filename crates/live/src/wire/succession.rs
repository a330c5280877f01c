//! One wire takes another's place while packets wait and fly: a link's settings change, and no packet is lost to that.
//!
//! What waits is taken out of the old discipline, which decides nothing more, and put into the new one, which decides as if
//! it all came at once, but for its age. What flies comes out when it would have, and nothing overtakes it.

use std::mem;

use headgate_core::{Discipline, Ecn, Span, Time};

use super::Wire;
use crate::egress::Left;
use crate::ends::Exit;
use crate::ledger::WireLedger;
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
    left: Left,
    exit: Exit,
    came: [u64; 2],
    oddities: Oddities,
    stalls: (u64, Span),
}

impl<D: Discipline<FrameId>> Wire<D> {
    /// Leaves all that it has to its successor.
    pub(super) fn bequeath(&mut self, now: Time) -> Estate {
        self.advance(now);
        let held = Held {
            left: self.egress.leave(now),
            exit: mem::take(&mut self.exit),
            came: self.entry.counts(),
            oddities: *self.entry.oddities(),
            stalls: self.stalls,
        };
        let ledger = mem::replace(self.egress.ledger_mut(), WireLedger::new(0));
        Estate { ledger, pool: mem::replace(&mut self.pool, Pool::new(1, 1)), held }
    }

    /// Goes on with what another wire has left, whose pool and ledger are this one's already.
    pub(crate) fn inherit(&mut self, held: Held, now: Time) {
        self.exit = held.exit.after(self.pool.slots());
        self.stalls = held.stalls;
        let parser = self.entry.parser();
        self.egress.inherit(held.left, now, &mut self.pool, |packet, pool| {
            // What is a flow, and which class it is of, may be another matter now.
            if let Ok(parsed) = parser.parse(pool.frame(&packet.handle)) {
                (packet.flow, packet.class) = (parsed.flow, parsed.class);
                packet.ecn = if packet.ecn == Ecn::Ce { Ecn::Ce } else { parsed.ecn };
            }
        });
        // They were counted when they came.
        self.entry.count_from(held.came, held.oddities);
    }
}
