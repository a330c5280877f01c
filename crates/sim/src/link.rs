//! One direction of a link: a queue with its discipline, the transmitter and the medium, which delays and loses
//! packets.
//!
//! [`LinkQueue`] has the mechanism, which live links share. This file builds it from a scenario. It also delivers
//! departing packets to the hosts.

use aqm::{AckHeader, Packet, PacketHeaders, Port, Rng, Sink, Time, Why};
use headgate_link::{LinkQueue, Medium, NextHop};
use headgate_measure::LinkLedger;
use headgate_scenario::{Hop, Scenario};

use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::hosts::Hosts;
use crate::link_discipline::LinkDiscipline;
use crate::segment::{Segment, SimPacket};

pub type SimLink = LinkQueue<Segment, LinkDiscipline, LinkLedger, Medium>;

/// An idle link for `hop`. `label` selects its random streams.
pub fn new_link(scenario: &Scenario, hop: Hop, discipline: LinkDiscipline, seed: u64, label: &str) -> SimLink {
    let ledger = LinkLedger::new(scenario, hop, &discipline);
    let port = Port::with_ledger(discipline, Rng::named(seed, &format!("port {label}")), ledger);
    let delay = scenario.links[usize::from(hop.link)].delay;
    let medium = Medium::new(scenario.direction_settings(hop), delay, Rng::named(seed, &format!("medium {label}")));
    LinkQueue::new(port, medium)
}

/// The hosts and events that a departing packet can reach.
pub struct Downstream<'a> {
    /// Link number, counting both directions of every link.
    pub number: u16,
    pub hosts: &'a mut Hosts,
    pub queue: &'a mut EventQueue<SimEvent>,
}

impl NextHop<Segment> for Downstream<'_> {
    #[inline(always)]
    fn sending(&mut self, packet: &SimPacket, now: Time) {
        self.hosts.sent(self.number, packet, now);
    }

    /// With `late_or_reordered`, the packet's arrival is an event of its own. Otherwise the host behind the link handles
    /// it at once, with the later time `arrival`. The result is the same, because these packets arrive in order and
    /// soon.
    #[inline(always)]
    fn receive(&mut self, packet: SimPacket, [began, arrival]: [Time; 2], late_or_reordered: bool) {
        if late_or_reordered {
            self.queue.push(arrival, SimEvent::of_packet(EventKind::ReachesFarEnd, self.number, packet));
        } else {
            self.hosts.forward_packet(self.number, packet, [began, arrival], self.queue);
        }
    }

    fn lost(&mut self, packet: SimPacket, now: Time, _: Time) {
        self.hosts.release(&packet, now);
    }

    /// A packet has no DSCP of its own: [`FlowHeaders`](headgate_scenario::FlowHeaders) know what each link wrote.
    fn remark(&mut self, packet: &SimPacket, dscp: Option<u8>) -> bool {
        dscp.is_some_and(|dscp| self.hosts.headers(self.number, packet).dscp != dscp)
    }

    fn duplicate(&mut self, packet: &SimPacket) -> Option<SimPacket> {
        self.hosts.duplicate(packet)
    }
}

impl Sink<Segment> for Downstream<'_> {
    fn dropped(&mut self, packet: Packet<Segment>, why: Why, now: Time) {
        self.hosts.dropped(self.number, &packet, why, now);
    }
    fn marked(&mut self, _: &SimPacket, _: Why, _: Time) {}
    fn headers(&self, packet: &SimPacket) -> PacketHeaders {
        self.hosts.headers(self.number, packet)
    }
    fn ack(&self, packet: &SimPacket) -> Option<AckHeader> {
        self.hosts.ack(packet)
    }
}
