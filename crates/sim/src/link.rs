//! One direction of a link in the world: its queue, and where its packets go next.

use headgate_core::{Backlog, Packet, Port, Rng, Sink, Time, Why};
use headgate_link::{Account, LinkQueue, Medium, NextHop};
use headgate_measure::IntervalRow;
use headgate_scenario::{Hop, Scenario};

use crate::hosts::Hosts;
use crate::queue::Queue;
use crate::queueing::Queueing;
use crate::segment::{Segment, SimPacket};
use crate::world::Event;

/// One direction of a link.
pub struct Link {
    queue: LinkQueue<Segment, Queueing, Account, Medium>,
    /// Its number among all directions of all links.
    number: u16,
}

/// The world behind a link, for packets that leave it.
struct Onward<'a> {
    number: u16,
    hosts: &'a mut Hosts,
    queue: &'a mut Queue<Event>,
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
            self.queue.push(out, Event::out_of_link(self.number, packet));
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

impl Link {
    /// The idle link of `hop`, whose discipline is `discipline` and whose random streams go by `label`.
    pub fn new(scenario: &Scenario, hop: Hop, discipline: Queueing, seed: u64, label: &str) -> Link {
        let simplex = scenario.simplex(hop);
        let account = Account::new(scenario, hop, &discipline);
        let port = Port::with_ledger(discipline, Rng::named(seed, &format!("port {label}")), account);
        let delay = scenario.links[usize::from(hop.link)].delay;
        let medium = Medium::new(simplex, delay, Rng::named(seed, &format!("medium {label}")));
        Link { queue: LinkQueue::new(port, medium), number: hop.number() }
    }

    /// A packet arrives.
    #[inline(always)]
    pub fn arrive(&mut self, packet: SimPacket, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        self.queue.arrive(packet, now, &mut Onward { number: self.number, hosts, queue });
    }

    /// The transmitter is free, or the discipline ready.
    #[inline(always)]
    pub fn free(&mut self, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        self.queue.free(now, &mut Onward { number: self.number, hosts, queue });
    }

    /// When to call [`free`](Link::free); [`Time::NEVER`] while no packet waits.
    #[inline]
    pub fn wake(&self) -> Time {
        self.queue.wake()
    }

    /// Completes what is measured up to `now`.
    pub fn settle(&mut self, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        self.queue.settle(now, &mut Onward { number: self.number, hosts, queue });
        let (held, ahead) = (self.backlog(), self.queue.ahead(now));
        self.account_mut().settle(held, ahead, now);
    }

    /// An interval ends, which was settled: its rows.
    pub fn sample(&mut self, now: Time, rows: &mut Vec<IntervalRow>) {
        let held = self.backlog();
        let (discipline, account) = self.queue.port_mut().parts();
        account.sample(held, now, discipline, rows);
    }

    /// The warm-up ends, and was settled: what was counted before does not count.
    pub fn restart(&mut self, now: Time) {
        let held = self.backlog();
        self.account_mut().restart(held, now);
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.queue.port().backlog()
    }

    /// Packets lost on the way since the beginning.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    /// What is measured here.
    pub fn account(&self) -> &Account {
        self.queue.port().ledger()
    }

    /// The same, to change it.
    pub fn account_mut(&mut self) -> &mut Account {
        self.queue.port_mut().ledger_mut()
    }
}
