//! The network of one run: every direction of every link, and the hosts.

use headgate_core::Time;
use headgate_link::Wakes;
use headgate_measure::Balance;

use crate::event::Event;
use crate::hosts::Hosts;
use crate::link::{Link, Onward};
use crate::queue::Queue;
use crate::segment::SimPacket;

/// The network.
pub struct Net {
    /// The links, by number.
    pub links: Vec<Link>,
    /// When each wants to be looked at.
    pub wakes: Wakes,
    /// The hosts.
    pub hosts: Hosts,
}

impl Net {
    /// Where all packets are that do not wait for an event, beside those that do.
    pub fn balance(&self, under_way: Balance) -> Balance {
        let sum = |count: fn(&Link) -> u64| self.links.iter().map(count).sum();
        Balance {
            delivered: self.hosts.delivered_packets,
            dropped: self.hosts.dropped_packets,
            lost: sum(Link::lost),
            queued: sum(|link| link.port().backlog().packets.into()),
            ..under_way
        }
    }

    /// A packet reaches a link.
    #[inline(always)]
    pub fn arrive(&mut self, number: u16, packet: SimPacket, now: Time, queue: &mut Queue<Event>) {
        let link = &mut self.links[usize::from(number)];
        link.arrive(packet, now, &mut Onward { number, hosts: &mut self.hosts, queue });
        self.wakes.set(number.into(), link.wake());
    }
}
