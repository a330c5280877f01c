//! The hosts: every flow's sender and receiver, by flow number, and the measurements at both ends.
//!
//! Each method handles one event and schedules the events that follow from it. Packets that leave the last link reach
//! their receiver through [`Hosts::forward_packet`]. Acknowledgements and reports return through
//! [`Hosts::acknowledge`], most of them without an event of their own (`ahead.rs`). A dropped or lost packet ends in
//! [`Hosts::release`].

mod ahead;
mod headers;
mod limit_clocks;
mod limits;
mod received;
mod run_span;
mod totals;

use aqm::{Packet, Time, Why};
use headgate_link::{DrawnDelays, drawn_delays};
use headgate_measure::{ReceiverMetrics, Traces, TransferRow};
use headgate_scenario::{FlowHeaders, Paths, Scenario, TcpGroup, UdpGroup};

use crate::capture::Captures;
use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::segment::{AckOptions, Segment, SegmentContents, SimPacket};
use crate::send_clock::SendClock;
use crate::tcp::Ack;
use crate::traffic::{
    ControlledContext, ControlledFlows, FlowApp, Replies, Starts, TcpCounts, TcpFlow, TcpFlowSettings, TransferRequest,
    UdpFlow, UdpFlowSettings, flow_stream, source_stream,
};
use limit_clocks::LimitClocks;
use received::ReceivedDatagrams;
use run_span::RunSpan;

/// All flows, TCP before UDP, with the slabs of their packets and the measurements at both ends.
pub struct Hosts {
    pub(crate) tcp: Vec<TcpFlow>,
    pub(crate) udp: Vec<UdpFlow>,
    /// The UDP flows with congestion control.
    pub(crate) controlled: ControlledFlows,
    /// Each TCP flow's counts at the end of the warm-up.
    warmup_counts: Vec<TcpCounts>,
    limit_clocks: LimitClocks,
    span: RunSpan,
    /// The clock of send times.
    clock: SendClock,
    pub(crate) tcp_settings: Vec<TcpFlowSettings>,
    udp_settings: Vec<UdpFlowSettings>,
    replies: Replies,
    paths: Paths,
    flow_headers: FlowHeaders,
    /// Packets delivered to hosts, and dropped by disciplines, since the start. Data counts as delivered when it
    /// leaves its last queue.
    pub delivered_packets: u64,
    pub dropped_packets: u64,
    /// Measurements at the receivers.
    pub receiver_metrics: ReceiverMetrics,
    /// Datagrams received, if links duplicate packets: copies are no goodput.
    received: Option<ReceivedDatagrams>,
    /// The traces and captures, if requested.
    pub traces: Option<Traces>,
    pub captures: Option<Box<Captures>>,
    /// Completed transfers.
    transfers: Vec<TransferRow>,
}

impl Hosts {
    /// Creates the flows of `scenario` and schedules their first events.
    pub fn new(scenario: &Scenario, seed: u64, queue: &mut EventQueue<SimEvent>) -> Hosts {
        let drawn_delays = drawn_delays(scenario, seed);
        let (tcp_delays, udp_delays) = drawn_delays.split_at(scenario.tcp.len());
        let tcp_flows: u32 = scenario.tcp.iter().map(|group| group.flows).sum();
        let udp_flows: u32 = scenario.udp.iter().map(|group| group.flows).sum();
        let clock = SendClock::of_run(scenario.duration);
        let mut hosts = Hosts {
            tcp: Vec::with_capacity(tcp_flows as usize),
            udp: Vec::with_capacity(udp_flows as usize),
            controlled: ControlledFlows::new(&scenario.udp, clock, udp_delays, tcp_flows),
            warmup_counts: Vec::with_capacity(tcp_flows as usize),
            limit_clocks: LimitClocks::default(),
            span: RunSpan::new(scenario),
            clock,
            tcp_settings: settings(&scenario.tcp, tcp_delays, |group, drawn| TcpFlowSettings::new(group, clock, drawn)),
            udp_settings: settings(&scenario.udp, udp_delays, |group, drawn| UdpFlowSettings::new(group, clock, drawn)),
            replies: Replies::default(),
            paths: Paths::new(scenario),
            flow_headers: scenario.flow_headers(),
            delivered_packets: 0,
            dropped_packets: 0,
            receiver_metrics: ReceiverMetrics::new(scenario),
            received: ReceivedDatagrams::new(scenario, tcp_flows),
            traces: Traces::new(scenario),
            captures: Captures::new(scenario).map(Box::new),
            transfers: Vec::new(),
        };
        for (g, group) in scenario.tcp.iter().enumerate() {
            hosts.add_tcp(g, group, seed, queue);
        }
        for (g, group) in scenario.udp.iter().enumerate() {
            hosts.add_udp(g, group, seed, queue);
        }
        hosts.limit_clocks = LimitClocks::new(scenario, &hosts.tcp);
        hosts
    }

    fn add_tcp(&mut self, number: usize, group: &TcpGroup, seed: u64, queue: &mut EventQueue<SimEvent>) {
        let mut starts = Starts::new(group.start, seed, &group.name);
        for i in 0..group.flows {
            let mut rng = flow_stream(seed, &group.name, i);
            let app = FlowApp::new(group.source.start(i), source_stream(seed, &group.name, i));
            let (start, flow) = (starts.draw(i, &mut rng), self.tcp.len());
            queue.push(start, SimEvent::of_flow(EventKind::FlowStart, flow as u32));
            self.receiver_metrics.flow_begins(flow, number, start);
            self.tcp.push(TcpFlow::new(&self.tcp_settings[number], number as u16, app, rng));
            self.warmup_counts.push(TcpCounts::default());
        }
    }

    fn add_udp(&mut self, number: usize, group: &UdpGroup, seed: u64, queue: &mut EventQueue<SimEvent>) {
        let mut starts = Starts::new(group.start, seed, &group.name);
        for i in 0..group.flows {
            let mut rng = flow_stream(seed, &group.name, i);
            let (start, flow) = (starts.draw(i, &mut rng), self.tcp.len() + self.udp.len());
            self.controlled.add(group, (number as u16, i), start, &rng);
            self.udp.push(UdpFlow::new(number as u16, start, group.source.start(i), rng));
            self.receiver_metrics.flow_begins(flow, self.tcp_settings.len() + number, start);
            match group.is_controlled() {
                false => self.emit(flow, queue),
                true => queue.push(start, SimEvent::of_flow(EventKind::FlowStart, flow as u32)),
            }
        }
    }

    pub fn start_flow(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        match self.tcp.get_mut(id as usize) {
            Some(flow) => flow.start(id, &self.tcp_settings[flow.group as usize], now, queue),
            None => self.controlled.start(id, context(now, queue, &mut self.receiver_metrics)),
        }
        self.start_clock(id, now);
        self.observe(id, now);
        self.record_end(id, now);
    }

    pub fn app_write(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        let flow = &mut self.tcp[id as usize];
        flow.on_write(id, &self.tcp_settings[flow.group as usize], now, queue);
        self.observe(id, now);
    }

    /// Ends a TCP flow's write of limited duration.
    pub fn app_close(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        self.tcp[id as usize].on_close(id, now, queue);
        self.update_clock(id, now);
        self.record_end(id, now);
    }

    /// Records the end of a TCP flow, if it has ended.
    #[inline]
    fn record_end(&mut self, id: u32, now: Time) {
        if let Some(flow) = self.tcp.get_mut(id as usize)
            && flow.take_end()
        {
            self.receiver_metrics.flow_ends(id as usize, flow.group.into(), now);
            self.end_clock(id, now);
        }
    }

    /// Records that a datagram was delivered or dropped.
    #[inline]
    fn count_gone_datagram(&mut self, id: usize, now: Time) {
        let flow = &mut self.udp[id - self.tcp.len()];
        if flow.count_gone() {
            self.receiver_metrics.flow_ends(id, self.tcp_settings.len() + usize::from(flow.group), now);
        }
    }

    /// Sends the next segment of a paced flow.
    pub fn paced_send(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        let flow = &mut self.tcp[id as usize];
        flow.on_departure(id, &self.tcp_settings[flow.group as usize], now, queue);
        self.update_clock(id, now);
    }

    pub fn sender_timer(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        match self.tcp.get_mut(id as usize) {
            Some(flow) => flow.on_sender_timer(id, &self.tcp_settings[flow.group as usize], now, queue),
            None => self.controlled.on_sender_timer(id, context(now, queue, &mut self.receiver_metrics)),
        }
        self.observe(id, now);
    }

    pub fn receiver_timer(&mut self, id: u32, now: Time, queue: &mut EventQueue<SimEvent>) {
        let Some(flow) = self.tcp.get_mut(id as usize) else {
            return self.controlled.on_receiver_timer(id, context(now, queue, &mut self.receiver_metrics));
        };
        flow.on_receiver_timer(id, &self.tcp_settings[flow.group as usize], now, &mut self.replies, queue);
    }

    /// Records a packet whose transmission at `link` begins.
    #[inline]
    pub fn sent(&mut self, link: u16, packet: &SimPacket, now: Time) {
        if let Some(captures) = &mut self.captures {
            captures.sent(link, packet, now, &self.replies.ack_options);
        }
    }

    /// Moves a packet that reaches the end of `link` at `now` to the next link of its route or to its host. `now` may be
    /// later than the current event, which is at `left`.
    #[inline(always)]
    pub fn forward_packet(
        &mut self,
        link: u16,
        packet: SimPacket,
        [left, now]: [Time; 2],
        queue: &mut EventQueue<SimEvent>,
    ) {
        if let Some(next) = self.paths.next(link, packet.flow.0 as usize) {
            push_from_link(next, packet, now, queue);
        } else if packet.handle.is_reply() {
            self.receive_reply(&packet, now, queue);
        } else if packet.handle.is_any_datagram() {
            self.receive_datagram(&packet, [left, now], queue);
        } else {
            self.receive_data(&packet, [left, now], queue);
        }
    }

    /// Releases the state of a packet that was dropped or lost at `now`.
    pub fn release(&mut self, packet: &SimPacket, now: Time) {
        match packet.handle.contents() {
            SegmentContents::Ack { options: Some(id), .. } => _ = self.replies.ack_options.remove(id),
            SegmentContents::Report(id) => self.controlled.free_report(packet.flow.0 as u32, id),
            SegmentContents::Datagram => self.count_gone_datagram(packet.flow.0 as usize, now),
            SegmentContents::Ack { options: None, .. }
            | SegmentContents::Data { .. }
            | SegmentContents::Controlled { .. } => {}
        }
    }

    /// A copy of a packet, with contents of its own in the slabs, if there is room.
    pub fn duplicate(&mut self, packet: &SimPacket) -> Option<SimPacket> {
        let handle = match packet.handle.contents() {
            SegmentContents::Ack { ack, ece, ace, options: Some(id) } => {
                let options = *self.replies.ack_options.get(id);
                Segment::ack(ack, ece, ace, Some(self.replies.ack_options.insert(options)?))
            }
            SegmentContents::Report(id) => Segment::report(self.controlled.copy_report(packet.flow.0 as u32, id)?),
            SegmentContents::Datagram => {
                self.udp[packet.flow.0 as usize - self.tcp.len()].add_copy();
                packet.handle
            }
            SegmentContents::Ack { options: None, .. }
            | SegmentContents::Data { .. }
            | SegmentContents::Controlled { .. } => packet.handle,
        };
        Some(Packet { handle, ..*packet })
    }

    /// Records a drop by the discipline at `link`.
    pub fn dropped(&mut self, link: u16, packet: &SimPacket, why: Why, now: Time) {
        self.dropped_packets += 1;
        if let Some(captures) = &mut self.captures {
            captures.dropped(link, packet, why, now, &self.replies.ack_options);
        }
        if !packet.handle.is_reply() {
            self.receiver_metrics.packet_dropped(packet.flow.0 as usize, why, now);
        }
        self.release(packet, now);
    }

    /// Delivers data from the last router to its receiver.
    #[inline(never)]
    fn receive_data(&mut self, packet: &SimPacket, [left, now]: [Time; 2], queue: &mut EventQueue<SimEvent>) {
        let id = packet.flow.0 as usize;
        let SegmentContents::Data { seq, cwr } = packet.handle.contents() else { return };
        self.delivered_packets += 1;
        let flow = &mut self.tcp[id];
        let settings = &self.tcp_settings[flow.group as usize];
        let data = (seq, cwr, packet);
        let (bytes, arrives) = flow.on_data(id as u32, data, settings, now, &mut self.replies, queue);
        let (group, age) = (flow.group as usize, flow.last_age());
        let sent = settings.clock.sent(age, arrives);
        let data = (bytes.into(), age, packet.handle.sending_order(sent));
        self.receiver_metrics.packet_delivered((id, group), data, [left, arrives]);
        if bytes > 0 {
            // What arrives after the end remains in flight.
            while arrives < self.span.end
                && let Some(TransferRequest { start, bytes }) = flow.take_arrived_transfer()
            {
                let (flow, group, end) = (id as u32, group as u32, Some(arrives));
                self.transfers.push(TransferRow { flow, group, start, bytes, end });
            }
        }
        self.update_clock_at_receiver(id, [left, now]);
    }

    #[inline(never)]
    fn receive_datagram(&mut self, packet: &SimPacket, [left, now]: [Time; 2], queue: &mut EventQueue<SimEvent>) {
        let id = packet.flow.0 as u32;
        let Hosts { udp, udp_settings, receiver_metrics, clock, .. } = self;
        let flow = &mut udp[id as usize - self.tcp.len()];
        let settings = &udp_settings[flow.group as usize];
        let arrives = match packet.handle.contents() {
            // The receiver acts at once, with the later arrival time, as TCP's does.
            SegmentContents::Controlled { seq } => {
                self.controlled.on_data(packet, seq, context(now, queue, receiver_metrics))
            }
            _ => flow.receive(id, packet.bytes, settings, now),
        };
        let group = self.tcp_settings.len() + flow.group as usize;
        self.delivered_packets += 1;
        let age = packet.handle.age(arrives, *clock);
        let sent = packet.handle.sending_order(clock.sent(age, arrives));
        let is_copy = self.received.as_mut().is_some_and(|received| received.has(id, packet.handle.number()));
        let bytes = if is_copy { 0 } else { u64::from(packet.bytes - settings.header) };
        let data = (bytes, age, sent);
        receiver_metrics.packet_delivered((id as usize, group), data, [left, arrives]);
        if flow.count_gone() {
            receiver_metrics.flow_ends(id as usize, group, left);
        }
    }

    /// Delivers an acknowledgement or report to its sender.
    #[inline(never)]
    pub fn acknowledge(&mut self, packet: &SimPacket, now: Time, queue: &mut EventQueue<SimEvent>) {
        self.delivered_packets += 1;
        let id = packet.flow.0 as u32;
        match packet.handle.contents() {
            SegmentContents::Report(report) => {
                self.controlled.on_report(id, report, context(now, queue, &mut self.receiver_metrics));
            }
            contents => {
                let flow = &mut self.tcp[id as usize];
                let settings = &self.tcp_settings[flow.group as usize];
                acknowledge_flow(flow, id, contents, settings, now, &mut self.replies, queue);
            }
        }
        self.observe(id, now);
        self.record_end(id, now);
    }

    /// Observes the sender's state after an event: what limits it, and its trace, if requested.
    #[inline]
    fn observe(&mut self, id: u32, now: Time) {
        self.update_clock(id, now);
        self.trace(id, now);
    }

    #[inline]
    fn trace(&mut self, id: u32, now: Time) {
        let Some(traces) = &mut self.traces else { return };
        traces.record(id, now, || match self.tcp.get(id as usize) {
            Some(flow) => flow.state(&self.tcp_settings[flow.group as usize]),
            None => self.controlled.state(id),
        });
    }

    /// Emits a flow's next datagram when the packet of `event`, its latest one, reaches the first link.
    #[inline]
    pub fn next_datagram(&mut self, event: &SimEvent, queue: &mut EventQueue<SimEvent>) {
        if event.contents().is_datagram() {
            self.emit(event.flow as usize, queue);
        }
    }

    #[inline]
    fn emit(&mut self, id: usize, queue: &mut EventQueue<SimEvent>) {
        let flow = &mut self.udp[id - self.tcp.len()];
        let settings = &self.udp_settings[flow.group as usize];
        if let Some((arrives, packet)) = flow.emit(id as u32, settings) {
            queue.push(arrives, SimEvent::of_packet(EventKind::FromSender, settings.link, packet));
        }
    }

    /// The TCP flow of this number, if any, for prefetching.
    #[inline]
    pub fn tcp(&self, flow: u32) -> Option<&TcpFlow> {
        self.tcp.get(flow as usize)
    }

    /// Whether more options or reports are on their way than packets can number.
    pub fn has_overflowed(&self) -> bool {
        self.replies.ack_options.has_overflowed() || self.controlled.has_overflowed()
    }

    /// Ends the warm-up: resets the counts.
    pub fn restart(&mut self, now: Time) {
        self.end_warmup(now);
        self.controlled.restart();
        self.receiver_metrics.restart(now);
    }
}

/// The context of a UDP flow with congestion control.
fn context<'a>(
    now: Time,
    queue: &'a mut EventQueue<SimEvent>,
    metrics: &'a mut ReceiverMetrics,
) -> ControlledContext<'a> {
    ControlledContext { now, queue, meters: &mut metrics.calls }
}

/// A packet arrives at `link` from another one.
#[inline(never)]
fn push_from_link(link: u16, packet: SimPacket, now: Time, queue: &mut EventQueue<SimEvent>) {
    queue.push(now, SimEvent::of_packet(EventKind::FromLink, link, packet));
}

/// Delivers an acknowledgement with these `contents` to the sender of `flow`.
#[inline(always)]
fn acknowledge_flow(
    flow: &mut TcpFlow,
    id: u32,
    contents: SegmentContents,
    settings: &TcpFlowSettings,
    now: Time,
    replies: &mut Replies,
    queue: &mut EventQueue<SimEvent>,
) {
    let SegmentContents::Ack { ack, ece, ace, options } = contents else { return };
    // Few acknowledgements have options. Apart from the others, they cost those nothing.
    match options.map(|id| replies.ack_options.remove(id)) {
        None => flow.on_ack(id, Ack { ack, ece, ace, ..Ack::default() }, settings, now, queue),
        Some(AckOptions { blocks, delay, echo, counts }) => {
            flow.on_ack_with_options(id, Ack { ack, ece, ace, blocks, delay, echo, counts }, settings, now, queue);
        }
    }
}

/// The settings of each group.
fn settings<G, S>(groups: &[G], drawn_delays: &[DrawnDelays], new: impl Fn(&G, DrawnDelays) -> S) -> Vec<S> {
    groups.iter().zip(drawn_delays).map(|(group, drawn)| new(group, drawn.clone())).collect()
}
