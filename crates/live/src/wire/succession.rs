//! One wire takes another's place while packets wait and fly: a link's settings change, and no packet is lost to that.
//!
//! What waits is taken out of the old discipline, which decides nothing more, and put into the new one, which decides as if
//! it all came at once, but for its age. What flies comes out when it would have, and nothing overtakes it.

use std::mem;

use headgate_core::{Discipline, Ecn, Span, Time};
use headgate_link::HandOver;

use super::Wire;
use crate::egress::Onward;
use crate::ends::Exit;
use crate::io::tap::Pen;
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
    left: HandOver<FrameId>,
    pen: Option<Pen>,
    exit: Exit,
    came: [u64; 2],
    oddities: Oddities,
    stalls: (u64, Span),
}

impl<D: Discipline<FrameId>> Wire<D> {
    /// Leaves all that it has to its successor.
    pub(super) fn bequeath(&mut self, now: Time) -> Estate {
        self.settle(now);
        let mut marked = Vec::new();
        let mut left = self.egress.hand_over(now, &mut |packet| marked.push(packet.handle.slot()));
        // A mark made after this point does not count: the packet is as its frame still says.
        marked.sort_unstable();
        for packet in left.packets.iter_mut().filter(|packet| marked.binary_search(&packet.handle.slot()).is_ok()) {
            packet.ecn = Ecn::NotEct;
        }
        let held = Held {
            left,
            pen: self.pen.take(),
            exit: mem::take(&mut self.exit),
            came: self.entry.counts(),
            oddities: *self.entry.oddities(),
            stalls: self.stalls,
        };
        let ledger = mem::replace(self.egress.port_mut().ledger_mut(), WireLedger::new(0));
        Estate { ledger, pool: mem::replace(&mut self.pool, Pool::new(1, 1)), held }
    }

    /// Goes on with what another wire has left, whose pool and ledger are this one's already.
    pub(crate) fn inherit(&mut self, held: Held, now: Time) {
        self.exit = held.exit.after(self.pool.slots());
        self.stalls = held.stalls;
        self.pen = held.pen;
        let (parser, mut left) = (self.entry.parser(), held.left);
        for packet in &mut left.packets {
            // What is a flow, and which class it is of, may be another matter now.
            if let Ok(parsed) = parser.parse(self.pool.frame(&packet.handle)) {
                (packet.flow, packet.class) = (parsed.flow, parsed.class);
                packet.ecn = if packet.ecn == Ecn::Ce { Ecn::Ce } else { parsed.ecn };
            }
        }
        let Wire { egress, exit, pool, pen, .. } = self;
        let receive = |packet: headgate_core::Packet<FrameId>, out| exit.fly(out, packet.handle);
        egress.take_over(left, now, &mut Onward { pool, pen: pen.as_ref(), receive });
        // They were counted when they came.
        self.entry.count_from(held.came, held.oddities);
    }
}
