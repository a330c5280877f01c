//! Senders that act ahead of time.
//!
//! An acknowledgement that leaves its last router has only its flow's own wire before it, so its arrival time is known.
//! Until then, only the flow's earlier acknowledgements and its timers can change the sender. The sender therefore acts
//! at once, with the later time, as receivers do, and the acknowledgement needs no event. A timer that expires before
//! it is handled first.
//!
//! A flow waits for the event if its application or pacing may wake it in between.

use aqm::Time;

use super::{Hosts, acknowledge_flow, context};
use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::segment::SimPacket;

impl Hosts {
    /// An acknowledgement or report leaves the last router.
    #[inline(never)]
    pub(super) fn receive_reply(&mut self, packet: &SimPacket, now: Time, queue: &mut EventQueue<SimEvent>) {
        let id = packet.flow.0 as u32;
        let Some(flow) = self.tcp.get_mut(id as usize) else {
            let arrives = self.controlled.report_arrives(packet, context(now, queue, &mut self.receiver_metrics));
            return queue.push(arrives, SimEvent::of_packet(EventKind::ToSender, 0, *packet));
        };
        let settings = &self.tcp_settings[usize::from(flow.group)];
        let arrives = flow.ack_arrives(id, settings, now);
        // What arrives after the end remains in flight.
        if arrives >= self.span.end || !flow.acts_ahead(settings) {
            return queue.push(arrives, SimEvent::of_packet(EventKind::ToSender, 0, *packet));
        }
        if arrives >= self.span.warmup_end || flow.sender_timer() <= arrives {
            return self.acknowledge_after_timers(packet, arrives, queue);
        }
        self.delivered_packets += 1;
        acknowledge_flow(flow, id, packet.handle.contents(), settings, arrives, &mut self.replies, queue);
        // A flow that acts ahead has no application, and no end.
        self.observe(id, arrives);
    }

    /// Delivers an acknowledgement that arrives at `arrives`, later than the current event. The end of the warm-up or a
    /// timer may come first.
    #[cold]
    #[inline(never)]
    fn acknowledge_after_timers(&mut self, packet: &SimPacket, arrives: Time, queue: &mut EventQueue<SimEvent>) {
        let id = packet.flow.0 as u32;
        if arrives >= self.span.warmup_end {
            self.count_before(id, queue);
        }
        self.handle_timers(id, arrives, queue);
        self.acknowledge(packet, arrives, queue);
    }

    /// Handles the timer events of a sender that are due at `until` or earlier.
    fn handle_timers(&mut self, id: u32, until: Time, queue: &mut EventQueue<SimEvent>) {
        while self.tcp[id as usize].sender_timer() <= until {
            self.sender_timer(id, self.tcp[id as usize].sender_timer(), queue);
        }
    }

    /// Counts a sender that will be past the end of the warm-up before the warm-up ends.
    fn count_before(&mut self, id: u32, queue: &mut EventQueue<SimEvent>) {
        let at = self.span.warmup_end;
        if !self.warmup_counts[id as usize].taken {
            // At the end of the warm-up itself, counting comes first.
            self.handle_timers(id, Time::from_nanos(at.as_nanos().saturating_sub(1)), queue);
            self.warmup_counts[id as usize] = self.tcp[id as usize].counts(at);
            self.restart_clock(id as usize, at);
        }
    }

    /// Counts the other senders as the warm-up ends.
    pub(super) fn end_warmup(&mut self, now: Time) {
        self.span.warmup_end = Time::NEVER;
        for id in 0..self.tcp.len() {
            if !self.warmup_counts[id].taken {
                self.warmup_counts[id] = self.tcp[id].counts(now);
                self.restart_clock(id, now);
            }
        }
    }
}
