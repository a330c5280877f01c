//! The network of one run: the links (one for each direction), the hosts, and the next wake-up time of each link.
//!
//! A packet arrives at a link, queues there, and leaves for the next link of its route or for its receiver
//! ([`Downstream`]).

use aqm::Time;
use headgate_link::WakeTimes;
use headgate_measure::Balance;

use crate::event::SimEvent;
use crate::event_queue::EventQueue;
use crate::hosts::Hosts;
use crate::link::{Downstream, SimLink};
use crate::segment::SimPacket;

pub struct Net {
    pub links: Vec<SimLink>,
    /// The next wake-up time of each link.
    pub wakes: WakeTimes,
    pub hosts: Hosts,
}

impl Net {
    /// Locates every packet in the network, for the conservation check. `in_flight` provides the other fields: packets
    /// sent, between links, and on access wires.
    pub fn balance(&self, in_flight: Balance) -> Balance {
        let sum = |count: fn(&SimLink) -> u64| self.links.iter().map(count).sum();
        Balance {
            delivered: self.hosts.delivered_packets,
            dropped: self.hosts.dropped_packets,
            lost: sum(|link| link.altered().lost),
            duplicated: sum(|link| link.altered().duplicates),
            queued: sum(|link| link.port().backlog().packets.into()),
            ..in_flight
        }
    }

    #[inline(always)]
    pub fn arrive(&mut self, number: u16, packet: SimPacket, now: Time, queue: &mut EventQueue<SimEvent>) {
        let link = &mut self.links[usize::from(number)];
        let before = link.wake_at();
        link.arrive(packet, now, &mut Downstream { number, hosts: &mut self.hosts, queue });
        // Most packets find a queue, or an idle link that sends them at once.
        if link.wake_at() != before {
            self.wakes.set(number.into(), link.wake_at());
        }
    }
}
