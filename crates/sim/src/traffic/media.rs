//! Calls: a video source, a pacer, the congestion control of the sender, the receiver's reports, and the access wires.

use aqm::{Ecn, Rng, Span, Time};
use headgate_link::DrawnDelays;
use headgate_measure::{CallMeters, SenderState};
use headgate_scenario::UdpGroup;

use super::media_flow::{MediaFlow, MediaFlowSettings, STALLED};
use super::packet;
use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::media::{Feedback, MediaReport, PacketReport, report_bytes};
use crate::segment::{Segment, Slab, SlabId};
use crate::send_clock::SendClock;

/// The sender skips a frame while its unsent data would take longer than this at the target rate. It bounds the delay
/// that the sender itself adds, and its memory.
const MOST_UNSENT: f64 = 0.5;

/// The calls among the UDP flows.
pub struct MediaFlows {
    /// By UDP group, and by UDP flow; other flows have no state.
    settings: Vec<MediaFlowSettings>,
    flows: Vec<Option<Box<MediaFlow>>>,
    /// The number of the first UDP flow.
    first: u32,
    reports: Slab<MediaReport>,
    /// Scratch for the packets of one report.
    news: Vec<PacketReport>,
}

impl MediaFlows {
    /// The settings of the UDP groups, without flows yet, and the delays that these drew. UDP flows are numbered from
    /// `first`.
    pub fn new(groups: &[UdpGroup], clock: SendClock, drawn_delays: &[DrawnDelays], first: u32) -> MediaFlows {
        let settings = groups.iter().zip(drawn_delays);
        let settings = settings.map(|(group, drawn)| MediaFlowSettings::new(group, clock, drawn.clone())).collect();
        MediaFlows { settings, flows: Vec::new(), first, reports: Slab::default(), news: Vec::new() }
    }

    /// Adds the next UDP flow, number `number` of UDP group `index`, which starts at `start`. It has state if it is a
    /// call.
    pub fn add(&mut self, group: &UdpGroup, (index, number): (u16, u32), start: Time, rng: Rng) {
        let flow = || Box::new(MediaFlow::new(group, (index, number), start, rng));
        self.flows.push(group.is_call().then(flow));
    }

    /// Whether a UDP flow is a call.
    pub fn has(&self, id: u32) -> bool {
        self.flows[(id - self.first) as usize].is_some()
    }

    /// A handle to a call that acts at `now`.
    pub fn flow<'a>(
        &'a mut self,
        id: u32,
        now: Time,
        queue: &'a mut EventQueue<SimEvent>,
        meters: &'a mut CallMeters,
    ) -> MediaFlowHandle<'a> {
        let flow = self.flows[(id - self.first) as usize].as_mut().expect("only calls have their packets and timers");
        let settings = &self.settings[usize::from(flow.group)];
        MediaFlowHandle { id, settings, flow, reports: &mut self.reports, news: &mut self.news, now, queue, meters }
    }

    /// Whether a report found no room.
    pub fn has_overflowed(&self) -> bool {
        self.reports.has_overflowed()
    }

    /// A copy of a report, if there is room.
    pub fn copy_report(&mut self, report: SlabId) -> Option<SlabId> {
        let copy = *self.reports.get(report);
        self.reports.insert(copy)
    }

    /// Frees a lost report.
    pub fn free_report(&mut self, report: SlabId) {
        self.reports.remove(report);
    }

    /// Packets sent so far, data and reports.
    pub fn sent_packets(&self) -> u64 {
        self.flows.iter().flatten().map(|flow| u64::from(flow.history.next()) + flow.reports_sent).sum()
    }

    pub fn state(&self, id: u32) -> SenderState {
        let flow = self.flows[(id - self.first) as usize].as_ref();
        flow.map_or_else(SenderState::default, |flow| SenderState {
            srtt: flow.rtt,
            phase: "avoidance",
            rate_bps: Some(flow.controller.target() * 8.0),
            ..SenderState::default()
        })
    }
}

/// A call at the time of an event, with its context.
pub struct MediaFlowHandle<'a> {
    id: u32,
    flow: &'a mut MediaFlow,
    settings: &'a MediaFlowSettings,
    reports: &'a mut Slab<MediaReport>,
    news: &'a mut Vec<PacketReport>,
    now: Time,
    queue: &'a mut EventQueue<SimEvent>,
    meters: &'a mut CallMeters,
}

impl MediaFlowHandle<'_> {
    /// Starts the call.
    pub fn start(&mut self) {
        self.flow.request_rate(self.settings, self.now);
        self.flow.draw_frame();
        self.act();
    }

    /// Takes the frames and sends the packets that are due.
    fn act(&mut self) {
        if self.now >= self.settings.stop {
            return;
        }
        while self.flow.frame_at <= self.now {
            self.capture();
        }
        while self.send_next() {}
        let due = self.flow.due(self.settings);
        if due < self.settings.stop && due < self.flow.sender_timer {
            self.flow.sender_timer = due;
            self.queue.push(due, SimEvent::of_flow(EventKind::SenderTimer, self.id));
        }
    }

    /// The camera takes a frame. The encoder skips it if too much is unsent.
    fn capture(&mut self) {
        let MediaFlowHandle { id, flow, settings, now, meters, .. } = self;
        meters.captured(*id as usize, *now);
        if (flow.unsent_bytes as f64) < MOST_UNSENT * flow.controller.target() {
            let packets = flow.frame_bytes.div_ceil(settings.payload.into()).max(1) as u32;
            flow.frames.add(*now, packets);
            flow.unsent_frames.push_back(flow.frame_bytes);
            flow.unsent_bytes += flow.frame_bytes + u64::from(packets * settings.header);
        }
        flow.request_rate(settings, *now);
        flow.draw_frame();
    }

    /// Sends the next packet if pacing and window allow it; returns whether they did.
    fn send_next(&mut self) -> bool {
        let MediaFlowHandle { id, flow, settings, now, queue, .. } = self;
        let Some((data, bytes)) = flow.next_packet(settings) else { return false };
        if !flow.fits_window(bytes) {
            if *now < flow.last_sent + STALLED {
                return false;
            }
            flow.history.give_up();
        } else if *now < flow.next_send {
            return false;
        }
        flow.next_send = *now + Span::from_secs_f64(f64::from(bytes) / flow.controller.pacing_rate());
        flow.last_sent = *now;
        flow.take(data, bytes);
        let segment = Segment::controlled(flow.history.send(bytes, *now)).with_send_time(*now, settings.clock);
        let [drawn_delay, _] = settings.drawn_delays.of_flow(*id);
        let arrives = flow.data_from_sender.pass_sized(*now, bytes, &settings.data_from_sender) + drawn_delay;
        let packet = packet(*id, bytes, settings.ecn, segment);
        queue.push(arrives, SimEvent::of_packet(EventKind::FromSender, settings.link, packet));
        true
    }

    /// Handles an event of the sender's timer. The deadline may have moved since the event was scheduled.
    pub fn on_sender_timer(&mut self) {
        if self.flow.sender_timer == self.now {
            self.flow.sender_timer = Time::NEVER;
            self.act();
        }
    }

    pub fn on_report(&mut self, report: SlabId) {
        let MediaFlowHandle { flow, settings, reports, news, now, .. } = self;
        let report = reports.remove(report);
        news.clear();
        let rtt = flow.history.on_report(&report, *now, news);
        flow.rtt = rtt.or(flow.rtt);
        flow.controller.on_feedback(&Feedback { packets: news, rtt, in_flight: flow.history.in_flight() }, *now);
        flow.request_rate(settings, *now);
        self.act();
    }

    /// When a report of `bytes` that leaves the last router reaches its sender.
    pub fn report_arrives(&mut self, bytes: u32) -> Time {
        let [drawn_delay, _] = self.settings.drawn_delays.of_flow(self.id);
        self.flow.report_to_sender.pass_sized(self.now, bytes, &self.settings.report_to_sender) + drawn_delay
    }

    /// Processes a packet (number, bytes, marked) that leaves the last router; returns its arrival time. As in TCP, the
    /// receiver acts at once with that later time. A report due earlier is made first.
    pub fn on_data(&mut self, (number, bytes, marked): (u32, u32, bool)) -> Time {
        let MediaFlowHandle { id, flow, settings, now, .. } = self;
        let [_, drawn_delay] = settings.drawn_delays.of_flow(*id);
        let arrives = flow.data_to_receiver.pass_sized(*now, bytes, &settings.data_to_receiver) + drawn_delay;
        if flow.report_due < arrives {
            self.report(self.flow.report_due);
        }
        let MediaFlowHandle { id, flow, settings, queue, meters, .. } = self;
        if flow.history.arrive(number, marked, arrives)
            && let Some(captured) = flow.frames.arrive(number)
        {
            meters.complete(*id as usize, captured, arrives);
        }
        let due = flow.reported_at.map_or(arrives, |last| arrives.max(last + settings.report_interval));
        flow.report_due = flow.report_due.min(due);
        if flow.report_due < flow.receiver_timer {
            flow.receiver_timer = flow.report_due;
            queue.push(flow.report_due, SimEvent::of_flow(EventKind::ReceiverTimer, *id));
        }
        arrives
    }

    /// Handles an event of the report timer. The deadline may have moved since the event was scheduled.
    pub fn on_receiver_timer(&mut self) {
        if self.flow.receiver_timer != self.now {
            return;
        }
        self.flow.receiver_timer = Time::NEVER;
        if self.flow.report_due <= self.now {
            self.report(self.now);
        } else if self.flow.report_due != Time::NEVER {
            self.flow.receiver_timer = self.flow.report_due;
            self.queue.push(self.flow.report_due, SimEvent::of_flow(EventKind::ReceiverTimer, self.id));
        }
    }

    /// The receiver makes a report at `at`.
    fn report(&mut self, at: Time) {
        let MediaFlowHandle { id, flow, settings, reports, queue, .. } = self;
        (flow.report_due, flow.reported_at) = (Time::NEVER, Some(at));
        let report = flow.history.report(at);
        let bytes = report_bytes(&report);
        let Some(report) = reports.insert(report) else { return };
        flow.reports_sent += 1;
        let [_, drawn_delay] = settings.drawn_delays.of_flow(*id);
        let arrives = flow.report_from_receiver.pass_sized(at, bytes, &settings.report_from_receiver) + drawn_delay;
        let packet = packet(*id, bytes, Ecn::NotEct, Segment::report(report));
        queue.push(arrives, SimEvent::of_packet(EventKind::FromReceiver, settings.reverse_link, packet));
    }
}
