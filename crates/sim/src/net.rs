//! The network of one run: every direction of every link, and the hosts.

use headgate_core::Time;
use headgate_link::WakeTimes;
use headgate_measure::Balance;

use crate::event::Event;
use crate::hosts::Hosts;
use crate::link::{Link, Onward};
use crate::queue::Queue;
use crate::segment::SimPacket;

pub struct Net {
    pub links: Vec<Link>,
    /// The next wake-up time of each link.
    pub wakes: WakeTimes,
    pub hosts: Hosts,
}

impl Net {
    /// Locates every packet in the network, for the conservation check; `under_way` covers the pending events.
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

    #[inline(always)]
    pub fn arrive(&mut self, number: u16, packet: SimPacket, now: Time, queue: &mut Queue<Event>) {
        let link = &mut self.links[usize::from(number)];
        link.arrive(packet, now, &mut Onward { number, hosts: &mut self.hosts, queue });
        self.wakes.set(number.into(), link.wake());
    }
}
