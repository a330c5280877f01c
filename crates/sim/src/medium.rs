//! The way a packet goes after it was sent: it may be lost, held up a little, or held back so that others overtake it.

use headgate_core::{Rng, Time};
use headgate_scenario::{Impairments, Passage};

use crate::hosts::Hosts;
use crate::queue::Queue;
use crate::segment::SimPacket;
use crate::world::Event;

/// What happens to the packets of one direction of a link behind its transmitter.
pub struct Medium {
    number: u16,
    passage: Passage,
    /// Packets come out in an event of their own. Otherwise the host behind the link acts when they are sent, with the
    /// time at which they will be there, which is right as long as they come in order and soon.
    waits: bool,
    /// Packets lost since the beginning.
    lost: u64,
}

impl Medium {
    /// What `impairments` say, for direction `number`; `varies` says that packets may take long to be sent. `None` where
    /// nothing can happen to packets.
    pub fn new(number: u16, impairments: Impairments, varies: bool, rng: Rng) -> Option<Medium> {
        let waits = varies || impairments.reorder > 0.0;
        (waits || impairments != Impairments::default()).then(|| Medium {
            number,
            passage: Passage::new(impairments, rng),
            waits,
            lost: 0,
        })
    }

    /// A packet that would come out at `due` is on its way; says whether it will come out.
    pub fn carry(&mut self, packet: SimPacket, due: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) -> bool {
        let Some(at) = self.passage.pass(due) else {
            self.lost += 1;
            hosts.lost(&packet, due);
            return false;
        };
        if self.waits {
            queue.push(at, Event::out_of_link(self.number, packet));
        } else {
            hosts.leave(self.number, packet, at, queue);
        }
        true
    }

    /// Packets lost since the beginning.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}
