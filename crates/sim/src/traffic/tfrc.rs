//! TFRC flows: sender, receiver, and the four access wires between them and the routers.

use aqm::{Ecn, Rng, Span, Time};
use headgate_link::{DrawnDelays, Wire, WireProperties};
use headgate_measure::SenderState;
use headgate_scenario::UdpGroup;

use super::{ecn_codepoint, first_link, first_reverse_link, packet, stop_time};
use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::segment::{ReportSlab, Segment, SlabId};
use crate::send_clock::SendClock;
use crate::tfrc::{TfrcReceiver, TfrcReport, TfrcSender, TfrcSettings};

/// The TFRC flows among the UDP flows.
pub struct TfrcFlows {
    /// By UDP group, and by UDP flow; flows without congestion control have no TFRC state.
    settings: Vec<TfrcFlowSettings>,
    flows: Vec<Option<Box<TfrcFlow>>>,
    /// The number of the first UDP flow.
    first: u32,
    reports: ReportSlab,
}

/// Settings shared by the TFRC flows of a group.
struct TfrcFlowSettings {
    tfrc: TfrcSettings,
    packet: u32,
    feedback: u32,
    ecn: Ecn,
    /// The shortest interval between datagrams, and the relative random variation of each.
    interval: Span,
    jitter: f64,
    stop: Time,
    clock: SendClock,
    /// The first links of the forward and the reverse route.
    link: u16,
    reverse_link: u16,
    data_from_sender: WireProperties,
    data_to_receiver: WireProperties,
    report_from_receiver: WireProperties,
    report_to_sender: WireProperties,
    drawn_delays: DrawnDelays,
}

struct TfrcFlow {
    /// Index into the UDP groups.
    group: u16,
    sender: TfrcSender,
    receiver: TfrcReceiver,
    /// The wires between the hosts and their routers.
    data_from_sender: Wire,
    data_to_receiver: Wire,
    report_from_receiver: Wire,
    report_to_sender: Wire,
    /// When the application supplies the next datagram.
    app_ready: Time,
    /// The random factor of the current interval.
    jitter_factor: f64,
    /// The earliest scheduled timer events; later deadlines are scheduled when they fire.
    sender_timer: Time,
    receiver_timer: Time,
    /// Reports sent.
    reports_sent: u64,
    /// Expirations of the nofeedback timer before the end of the warm-up.
    timeouts_in_warmup: u32,
    rng: Rng,
}

impl TfrcFlows {
    /// The settings of the UDP groups, without flows yet, and the delays that these drew. UDP flows are numbered from
    /// `first`.
    pub fn new(groups: &[UdpGroup], clock: SendClock, drawn_delays: &[DrawnDelays], first: u32) -> TfrcFlows {
        let settings = groups.iter().zip(drawn_delays);
        let settings = settings.map(|(group, drawn)| TfrcFlowSettings::new(group, clock, drawn.clone())).collect();
        TfrcFlows { settings, flows: Vec::new(), first, reports: ReportSlab::default() }
    }

    /// Adds the next UDP flow, which belongs to UDP group `group`. It has TFRC state if `is_controlled`.
    pub fn add(&mut self, is_controlled: bool, group: u16, rng: Rng) {
        let flow = || Box::new(TfrcFlow::new(group, &self.settings[usize::from(group)], rng));
        self.flows.push(is_controlled.then(flow));
    }

    /// A handle to a flow that acts at `now`.
    pub fn flow<'a>(&'a mut self, id: u32, now: Time, queue: &'a mut EventQueue<SimEvent>) -> TfrcFlowHandle<'a> {
        let flow =
            self.flows[(id - self.first) as usize].as_mut().expect("only TFRC's flows have its packets and timers");
        TfrcFlowHandle {
            id,
            settings: &self.settings[usize::from(flow.group)],
            flow,
            reports: &mut self.reports,
            now,
            queue,
        }
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
        self.flows.iter().flatten().map(|flow| u64::from(flow.sender.sent()) + flow.reports_sent).sum()
    }

    /// Whether a UDP flow has TFRC state.
    pub fn is_controlled(&self, id: u32) -> bool {
        self.flows[(id - self.first) as usize].is_some()
    }

    pub fn state(&self, id: u32) -> SenderState {
        let flow = self.flows[(id - self.first) as usize].as_ref();
        flow.map_or_else(SenderState::default, |flow| flow.sender.state())
    }

    /// Ends the warm-up: timeouts count from zero.
    pub fn restart(&mut self) {
        self.flows.iter_mut().flatten().for_each(|flow| flow.timeouts_in_warmup = flow.sender.timeouts());
    }

    /// Expirations of the nofeedback timer since the warm-up, by UDP flow; 0 without congestion control.
    pub fn timeouts(&self) -> impl Iterator<Item = u32> {
        let since = |flow: &TfrcFlow| flow.sender.timeouts() - flow.timeouts_in_warmup;
        self.flows.iter().map(move |flow| flow.as_deref().map_or(0, since))
    }
}

impl TfrcFlowSettings {
    fn new(group: &UdpGroup, clock: SendClock, drawn_delays: DrawnDelays) -> TfrcFlowSettings {
        TfrcFlowSettings {
            tfrc: TfrcSettings { segment: group.packet - group.header },
            packet: group.packet,
            feedback: group.feedback,
            ecn: ecn_codepoint(group.ecn, false),
            interval: group.most().transmit(group.packet),
            jitter: group.jitter,
            stop: stop_time(group.stop),
            clock,
            link: first_link(&group.route),
            reverse_link: first_reverse_link(&group.route),
            data_from_sender: WireProperties::new(&group.sender, group.packet),
            data_to_receiver: WireProperties::new(&group.receiver, group.packet),
            report_from_receiver: WireProperties::new(&group.receiver, group.feedback),
            report_to_sender: WireProperties::new(&group.sender, group.feedback),
            drawn_delays,
        }
    }
}

impl TfrcFlow {
    fn new(group: u16, settings: &TfrcFlowSettings, rng: Rng) -> TfrcFlow {
        TfrcFlow {
            group,
            sender: TfrcSender::new(&settings.tfrc),
            receiver: TfrcReceiver::default(),
            data_from_sender: Wire::default(),
            data_to_receiver: Wire::default(),
            report_from_receiver: Wire::default(),
            report_to_sender: Wire::default(),
            app_ready: Time::ZERO,
            jitter_factor: 1.0,
            sender_timer: Time::NEVER,
            receiver_timer: Time::NEVER,
            reports_sent: 0,
            timeouts_in_warmup: 0,
            rng,
        }
    }

    /// When the next datagram is sent.
    fn due(&self, settings: &TfrcFlowSettings) -> Time {
        let next = self.sender.next_send_time(&settings.tfrc).max(self.app_ready);
        self.sender
            .last_sent()
            .map_or(next, |last| last + Span::from_secs_f64((next - last).as_secs_f64() * self.jitter_factor))
    }
}

/// A flow at the time of an event, with its context.
pub struct TfrcFlowHandle<'a> {
    id: u32,
    flow: &'a mut TfrcFlow,
    settings: &'a TfrcFlowSettings,
    reports: &'a mut ReportSlab,
    now: Time,
    queue: &'a mut EventQueue<SimEvent>,
}

impl TfrcFlowHandle<'_> {
    /// Sends the datagrams that are allowed now.
    pub fn send(&mut self) {
        let TfrcFlowHandle { id, flow, settings, now, queue, .. } = self;
        if *now >= settings.stop {
            return;
        }
        let [drawn_delay, _] = settings.drawn_delays.of_flow(*id);
        while flow.due(settings) <= *now {
            // Only the allowed rate delayed this datagram: the sender is not data-limited.
            let allowance_used = flow.sender.next_send_time(&settings.tfrc) >= flow.app_ready;
            let data = flow.sender.send(allowance_used, *now);
            flow.jitter_factor = flow.rng.between(1.0 - settings.jitter, 1.0 + settings.jitter);
            flow.app_ready = *now + settings.interval;
            let segment = Segment::controlled(data.seq).with_send_time(*now, settings.clock);
            let packet = packet(*id, settings.packet, settings.ecn, segment);
            queue.push(
                flow.data_from_sender.pass(*now, &settings.data_from_sender) + drawn_delay,
                SimEvent::of_packet(EventKind::FromSender, settings.link, packet),
            );
        }
        let due = flow.due(settings);
        let next = flow.sender.deadline().map_or(due, |deadline| due.min(deadline));
        // After the last datagram the rate no longer matters.
        if due < settings.stop && next < flow.sender_timer {
            flow.sender_timer = next;
            queue.push(next, SimEvent::of_flow(EventKind::SenderTimer, *id));
        }
    }

    /// Handles an event of the sender's timer. The deadline may have moved since the event was scheduled.
    pub fn on_sender_timer(&mut self) {
        if self.flow.sender_timer == self.now {
            self.flow.sender_timer = Time::NEVER;
            self.flow.sender.on_timer(&self.settings.tfrc, self.now);
            self.send();
        }
    }

    pub fn on_report(&mut self, report: SlabId) {
        self.flow.sender.on_feedback(self.reports.remove(report), &self.settings.tfrc, self.now);
        self.send();
    }

    /// When a report that leaves the last router reaches its sender.
    pub fn report_arrives(&mut self) -> Time {
        let [drawn_delay, _] = self.settings.drawn_delays.of_flow(self.id);
        self.flow.report_to_sender.pass(self.now, &self.settings.report_to_sender) + drawn_delay
    }

    /// Processes a datagram (number, marked) that leaves the last router; returns its arrival time. As in TCP, the
    /// receiver acts at once with that later time. A feedback timer that expires earlier is handled first.
    pub fn on_data(&mut self, (seq, marked): (u32, bool)) -> Time {
        let [_, drawn_delay] = self.settings.drawn_delays.of_flow(self.id);
        let arrives = self.flow.data_to_receiver.pass(self.now, &self.settings.data_to_receiver) + drawn_delay;
        if let Some(due) = self.flow.receiver.deadline()
            && due < arrives
        {
            let report = self.flow.receiver.on_timer(&self.settings.tfrc, due);
            self.report(report, due);
        }
        let TfrcFlow { sender, receiver, .. } = &mut *self.flow;
        let report = receiver.on_data(sender.sent_data(seq), marked, &self.settings.tfrc, arrives);
        self.report(report, arrives);
        arrives
    }

    /// Handles an event of the feedback timer. The deadline may have moved since the event was scheduled.
    pub fn on_receiver_timer(&mut self) {
        if self.flow.receiver_timer == self.now {
            self.flow.receiver_timer = Time::NEVER;
            let report = self.flow.receiver.on_timer(&self.settings.tfrc, self.now);
            self.report(report, self.now);
        }
    }

    /// Sends `report`, if any, at `at`, and sets the feedback timer.
    fn report(&mut self, report: Option<TfrcReport>, at: Time) {
        let TfrcFlowHandle { id, flow, settings, reports, queue, .. } = self;
        if let Some(report) = report.and_then(|report| reports.insert(report)) {
            flow.reports_sent += 1;
            let packet = packet(*id, settings.feedback, Ecn::NotEct, Segment::report(report));
            let [_, drawn_delay] = settings.drawn_delays.of_flow(*id);
            let arrives = flow.report_from_receiver.pass(at, &settings.report_from_receiver) + drawn_delay;
            queue.push(arrives, SimEvent::of_packet(EventKind::FromReceiver, settings.reverse_link, packet));
        }
        if let Some(deadline) = flow.receiver.deadline()
            && deadline < flow.receiver_timer
        {
            flow.receiver_timer = deadline;
            queue.push(deadline, SimEvent::of_flow(EventKind::ReceiverTimer, *id));
        }
    }
}
