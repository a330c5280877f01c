//! UDP flows with congestion control: TFRC's flows and calls. Each event of such a flow goes to its kind.

use aqm::{Ecn, Rng, Time};
use headgate_link::DrawnDelays;
use headgate_measure::{CallMeters, SenderState};
use headgate_scenario::UdpGroup;

use super::media::MediaFlows;
use super::tfrc::TfrcFlows;
use crate::event::SimEvent;
use crate::event_queue::EventQueue;
use crate::segment::{SimPacket, SlabId};
use crate::send_clock::SendClock;

/// The flows with congestion control among the UDP flows.
pub struct ControlledFlows {
    tfrc: TfrcFlows,
    media: MediaFlows,
}

/// The event queue and the meters of calls, for a flow that handles an event.
pub struct ControlledContext<'a> {
    pub now: Time,
    pub queue: &'a mut EventQueue<SimEvent>,
    pub meters: &'a mut CallMeters,
}

impl ControlledFlows {
    /// The settings of the UDP groups, without flows yet. UDP flows are numbered from `first`.
    pub fn new(groups: &[UdpGroup], clock: SendClock, drawn_delays: &[DrawnDelays], first: u32) -> ControlledFlows {
        ControlledFlows {
            tfrc: TfrcFlows::new(groups, clock, drawn_delays, first),
            media: MediaFlows::new(groups, clock, drawn_delays, first),
        }
    }

    /// Adds the next UDP flow, number `number` of UDP group `index`, which starts at `start`.
    pub fn add(&mut self, group: &UdpGroup, (index, number): (u16, u32), start: Time, rng: &Rng) {
        self.tfrc.add(group.is_controlled() && !group.is_call(), index, rng.clone());
        self.media.add(group, (index, number), start, rng.clone());
    }

    pub fn start(&mut self, id: u32, cx: ControlledContext<'_>) {
        match self.media.has(id) {
            true => self.media.flow(id, cx.now, cx.queue, cx.meters).start(),
            false => self.tfrc.flow(id, cx.now, cx.queue).send(),
        }
    }

    pub fn on_sender_timer(&mut self, id: u32, cx: ControlledContext<'_>) {
        match self.media.has(id) {
            true => self.media.flow(id, cx.now, cx.queue, cx.meters).on_sender_timer(),
            false => self.tfrc.flow(id, cx.now, cx.queue).on_sender_timer(),
        }
    }

    pub fn on_receiver_timer(&mut self, id: u32, cx: ControlledContext<'_>) {
        match self.media.has(id) {
            true => self.media.flow(id, cx.now, cx.queue, cx.meters).on_receiver_timer(),
            false => self.tfrc.flow(id, cx.now, cx.queue).on_receiver_timer(),
        }
    }

    /// A datagram with this number leaves its last router; returns its arrival time.
    pub fn on_data(&mut self, packet: &SimPacket, number: u32, cx: ControlledContext<'_>) -> Time {
        let (id, marked) = (packet.flow.0 as u32, packet.ecn == Ecn::Ce);
        match self.media.has(id) {
            true => self.media.flow(id, cx.now, cx.queue, cx.meters).on_data((number, packet.bytes, marked)),
            false => self.tfrc.flow(id, cx.now, cx.queue).on_data((number, marked)),
        }
    }

    /// When a report that leaves the last router reaches its sender.
    pub fn report_arrives(&mut self, packet: &SimPacket, cx: ControlledContext<'_>) -> Time {
        let id = packet.flow.0 as u32;
        match self.media.has(id) {
            true => self.media.flow(id, cx.now, cx.queue, cx.meters).report_arrives(packet.bytes),
            false => self.tfrc.flow(id, cx.now, cx.queue).report_arrives(),
        }
    }

    pub fn on_report(&mut self, id: u32, report: SlabId, cx: ControlledContext<'_>) {
        match self.media.has(id) {
            true => self.media.flow(id, cx.now, cx.queue, cx.meters).on_report(report),
            false => self.tfrc.flow(id, cx.now, cx.queue).on_report(report),
        }
    }

    /// Whether a report found no room.
    pub fn has_overflowed(&self) -> bool {
        self.tfrc.has_overflowed() || self.media.has_overflowed()
    }

    /// A copy of a report of a flow, if there is room.
    pub fn copy_report(&mut self, id: u32, report: SlabId) -> Option<SlabId> {
        match self.media.has(id) {
            true => self.media.copy_report(report),
            false => self.tfrc.copy_report(report),
        }
    }

    /// Frees a lost report of a flow.
    pub fn free_report(&mut self, id: u32, report: SlabId) {
        match self.media.has(id) {
            true => self.media.free_report(report),
            false => self.tfrc.free_report(report),
        }
    }

    /// Packets sent so far, data and reports.
    pub fn sent_packets(&self) -> u64 {
        self.tfrc.sent_packets() + self.media.sent_packets()
    }

    /// Whether a UDP flow has congestion control.
    pub fn is_controlled(&self, id: u32) -> bool {
        self.media.has(id) || self.tfrc.is_controlled(id)
    }

    pub fn state(&self, id: u32) -> SenderState {
        if self.media.has(id) { self.media.state(id) } else { self.tfrc.state(id) }
    }

    /// Ends the warm-up: timeouts count from zero.
    pub fn restart(&mut self) {
        self.tfrc.restart();
    }

    /// Expirations of TFRC's nofeedback timer since the warm-up, by UDP flow; 0 for other flows.
    pub fn timeouts(&self) -> impl Iterator<Item = u32> {
        self.tfrc.timeouts()
    }
}
