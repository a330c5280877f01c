//! One direction of a link in the world: its queue, and where its packets go next.

use headgate_core::{Packet, Port, Rng, Sink, Time, Why};
use headgate_link::{LinkQueue, Medium, NextHop};
use headgate_measure::LinkLedger;
use headgate_scenario::{Hop, Scenario};

use crate::event::{Event, What};
use crate::hosts::Hosts;
use crate::queue::Queue;
use crate::queueing::Queueing;
use crate::segment::{Segment, SimPacket};

/// One direction of a link.
pub type Link = LinkQueue<Segment, Queueing, LinkLedger, Medium>;

/// The idle link of `hop`, whose discipline is `discipline` and whose random streams go by `label`.
pub fn link(scenario: &Scenario, hop: Hop, discipline: Queueing, seed: u64, label: &str) -> Link {
    let ledger = LinkLedger::new(scenario, hop, &discipline);
    let port = Port::with_ledger(discipline, Rng::named(seed, &format!("port {label}")), ledger);
    let delay = scenario.links[usize::from(hop.link)].delay;
    let medium = Medium::new(scenario.simplex(hop), delay, Rng::named(seed, &format!("medium {label}")));
    LinkQueue::new(port, medium)
}

/// The world behind a link, for packets that leave it.
pub struct Onward<'a> {
    /// The link's number among all directions of all links.
    pub number: u16,
    /// The hosts.
    pub hosts: &'a mut Hosts,
    /// The events to come.
    pub queue: &'a mut Queue<Event>,
}

impl NextHop<Segment> for Onward<'_> {
    #[inline(always)]
    fn sending(&mut self, packet: &SimPacket, now: Time) {
        self.hosts.sent(self.number, packet, now);
    }

    /// A packet that waits comes out in an event of its own. Otherwise the host behind the link acts when it is sent, with the
    /// time at which it will be there, which is right as long as packets come in order and soon.
    #[inline(always)]
    fn receive(&mut self, packet: SimPacket, out: Time, waits: bool) {
        if waits {
            self.queue.push(out, Event::packet(What::OutOfLink, self.number, packet));
        } else {
            self.hosts.leave(self.number, packet, out, self.queue);
        }
    }

    fn lost(&mut self, packet: SimPacket, _: Time, due: Time) {
        self.hosts.lost(&packet, due);
    }
}

impl Sink<Segment> for Onward<'_> {
    fn dropped(&mut self, packet: Packet<Segment>, why: Why, now: Time) {
        self.hosts.dropped(self.number, &packet, why, now);
    }
    fn marked(&mut self, _: &SimPacket, _: Why, _: Time) {}
}
