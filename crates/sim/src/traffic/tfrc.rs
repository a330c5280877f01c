//! TFRC flows: sender, receiver, and the wires between them and the routers.

use headgate_core::{Ecn, Rng, Span, Time};
use headgate_link::{Wire, WireProperties};
use headgate_measure::SenderState;
use headgate_scenario::UdpGroup;

use super::{capable, first, first_back, packet, stops};
use crate::event::{Event, What};
use crate::queue::Queue;
use crate::segment::{Reports, Segment, StoreId};
use crate::tfrc::{Config, Feedback, Receiver, Sender};

/// The TFRC flows among the UDP flows.
pub struct Tfrc {
    /// By UDP group, and by UDP flow; flows without congestion control have no TFRC state.
    kinds: Vec<TfrcKind>,
    flows: Vec<Option<Box<TfrcFlow>>>,
    /// The number of the first UDP flow.
    first: u32,
    reports: Reports,
}

/// Settings shared by the TFRC flows of a group.
struct TfrcKind {
    config: Config,
    packet: u32,
    feedback: u32,
    ecn: Ecn,
    /// The shortest interval between datagrams, and the relative random variation of each.
    gap: Span,
    jitter: f64,
    stop: Time,
    /// The first links of the forward and the reverse route.
    link: u16,
    back_link: u16,
    data_up: WireProperties,
    data_down: WireProperties,
    report_up: WireProperties,
    report_down: WireProperties,
}

struct TfrcFlow {
    /// Index into the UDP groups.
    group: u16,
    sender: Sender,
    receiver: Receiver,
    /// Sender to router, router to receiver, and the way back.
    up: Wire,
    down: Wire,
    report_up: Wire,
    report_down: Wire,
    /// When the application supplies the next datagram.
    wanted: Time,
    /// The random factor of the current interval.
    stretch: f64,
    /// The earliest scheduled timer events; later deadlines are scheduled when they fire.
    sender_timer: Time,
    receiver_timer: Time,
    /// Reports sent.
    reported: u64,
    /// Expirations of the nofeedback timer before the end of the warm-up.
    timeouts_before: u32,
    rng: Rng,
}

impl Tfrc {
    /// The UDP groups `groups`, whose flows are numbered from `first`.
    pub fn new(groups: &[UdpGroup], first: u32) -> Tfrc {
        let kinds = groups.iter().map(TfrcKind::new).collect();
        Tfrc { kinds, flows: Vec::new(), first, reports: Reports::default() }
    }

    /// Adds the next UDP flow, of group number `group`; it has TFRC if `is_controlled`.
    pub fn add(&mut self, is_controlled: bool, group: u16, rng: Rng) {
        let flow = || Box::new(TfrcFlow::new(group, &self.kinds[usize::from(group)], rng));
        self.flows.push(is_controlled.then(flow));
    }

    /// A handle to a flow that acts at `now`.
    pub fn flow<'a>(&'a mut self, id: u32, now: Time, queue: &'a mut Queue<Event>) -> FlowAt<'a> {
        let flow =
            self.flows[(id - self.first) as usize].as_mut().expect("only TFRC's flows have its packets and timers");
        FlowAt { id, kind: &self.kinds[usize::from(flow.group)], flow, reports: &mut self.reports, now, queue }
    }

    /// Frees a lost report.
    pub fn forget(&mut self, report: StoreId) {
        self.reports.take(report);
    }

    /// Packets sent so far, data and reports.
    pub fn sent_packets(&self) -> u64 {
        self.flows.iter().flatten().map(|flow| u64::from(flow.sender.sent()) + flow.reported).sum()
    }

    pub fn state(&self, id: u32) -> SenderState {
        let flow = self.flows[(id - self.first) as usize].as_ref();
        flow.map_or_else(SenderState::default, |flow| flow.sender.state())
    }

    /// Ends the warm-up: timeouts count from zero.
    pub fn restart(&mut self) {
        self.flows.iter_mut().flatten().for_each(|flow| flow.timeouts_before = flow.sender.timeouts());
    }

    /// Expirations of the nofeedback timer since the warm-up, by UDP flow; 0 without congestion control.
    pub fn timeouts(&self) -> impl Iterator<Item = u32> {
        let since = |flow: &TfrcFlow| flow.sender.timeouts() - flow.timeouts_before;
        self.flows.iter().map(move |flow| flow.as_deref().map_or(0, since))
    }
}

impl TfrcKind {
    fn new(group: &UdpGroup) -> TfrcKind {
        TfrcKind {
            config: Config { segment: group.packet - group.header },
            packet: group.packet,
            feedback: group.feedback,
            ecn: capable(group.ecn),
            gap: group.most().transmit(group.packet),
            jitter: group.jitter,
            stop: stops(group.stop),
            link: first(&group.route),
            back_link: first_back(&group.route),
            data_up: WireProperties::new(&group.sender, group.packet),
            data_down: WireProperties::new(&group.receiver, group.packet),
            report_up: WireProperties::new(&group.receiver, group.feedback),
            report_down: WireProperties::new(&group.sender, group.feedback),
        }
    }
}

impl TfrcFlow {
    fn new(group: u16, kind: &TfrcKind, rng: Rng) -> TfrcFlow {
        TfrcFlow {
            group,
            sender: Sender::new(&kind.config),
            receiver: Receiver::default(),
            up: Wire::default(),
            down: Wire::default(),
            report_up: Wire::default(),
            report_down: Wire::default(),
            wanted: Time::ZERO,
            stretch: 1.0,
            sender_timer: Time::NEVER,
            receiver_timer: Time::NEVER,
            reported: 0,
            timeouts_before: 0,
            rng,
        }
    }

    /// When the next datagram is sent.
    fn due(&self, kind: &TfrcKind) -> Time {
        let next = self.sender.ready(&kind.config).max(self.wanted);
        self.sender.last().map_or(next, |last| last + Span::from_secs_f64((next - last).as_secs_f64() * self.stretch))
    }
}

/// A flow that acts, with its context.
pub struct FlowAt<'a> {
    id: u32,
    flow: &'a mut TfrcFlow,
    kind: &'a TfrcKind,
    reports: &'a mut Reports,
    now: Time,
    queue: &'a mut Queue<Event>,
}

impl FlowAt<'_> {
    /// Sends the datagrams that are allowed now.
    pub fn send(&mut self) {
        let FlowAt { id, flow, kind, now, queue, .. } = self;
        if *now >= kind.stop {
            return;
        }
        while flow.due(kind) <= *now {
            // Only the allowed rate delayed this datagram: the sender is not data-limited.
            let all = flow.sender.ready(&kind.config) >= flow.wanted;
            let data = flow.sender.send(all, *now);
            flow.stretch = flow.rng.between(1.0 - kind.jitter, 1.0 + kind.jitter);
            flow.wanted = *now + kind.gap;
            let packet = packet(*id, kind.packet, kind.ecn, Segment::tfrc(data.seq).sent_at(*now));
            queue.push(flow.up.pass(*now, &kind.data_up), Event::packet(What::FromSender, kind.link, packet));
        }
        let due = flow.due(kind);
        let next = flow.sender.deadline().map_or(due, |deadline| due.min(deadline));
        // After the last datagram the rate no longer matters.
        if due < kind.stop && next < flow.sender_timer {
            flow.sender_timer = next;
            queue.push(next, Event::flow(What::SenderTimer, *id));
        }
    }

    /// Handles a sender timer event, which may precede the current deadline.
    pub fn on_sender_timer(&mut self) {
        if self.flow.sender_timer == self.now {
            self.flow.sender_timer = Time::NEVER;
            self.flow.sender.on_timer(&self.kind.config, self.now);
            self.send();
        }
    }

    pub fn on_report(&mut self, report: StoreId) {
        self.flow.sender.on_feedback(self.reports.take(report), &self.kind.config, self.now);
        self.send();
    }

    /// When a report that leaves the last router reaches its sender.
    pub fn report_arrives(&mut self) -> Time {
        self.flow.report_down.pass(self.now, &self.kind.report_down)
    }

    /// A datagram (number, marked) leaves the last router; returns its arrival time. As in TCP, the receiver acts at
    /// once with that later time, after a feedback timer that expires before it.
    pub fn on_data(&mut self, (seq, marked): (u32, bool)) -> Time {
        let arrives = self.flow.down.pass(self.now, &self.kind.data_down);
        if let Some(due) = self.flow.receiver.deadline()
            && due < arrives
        {
            let report = self.flow.receiver.on_timer(&self.kind.config, due);
            self.report(report, due);
        }
        let TfrcFlow { sender, receiver, .. } = &mut *self.flow;
        let report = receiver.on_data(sender.said(seq), marked, &self.kind.config, arrives);
        self.report(report, arrives);
        arrives
    }

    /// Handles a feedback timer event, which may precede the current deadline.
    pub fn on_receiver_timer(&mut self) {
        if self.flow.receiver_timer == self.now {
            self.flow.receiver_timer = Time::NEVER;
            let report = self.flow.receiver.on_timer(&self.kind.config, self.now);
            self.report(report, self.now);
        }
    }

    /// Sends `report`, if any, at `at`, and sets the feedback timer.
    fn report(&mut self, report: Option<Feedback>, at: Time) {
        let FlowAt { id, flow, kind, reports, queue, .. } = self;
        if let Some(report) = report {
            flow.reported += 1;
            let packet = packet(*id, kind.feedback, Ecn::NotEct, Segment::report(reports.keep(report)));
            let arrives = flow.report_up.pass(at, &kind.report_up);
            queue.push(arrives, Event::packet(What::FromReceiver, kind.back_link, packet));
        }
        if let Some(deadline) = flow.receiver.deadline()
            && deadline < flow.receiver_timer
        {
            flow.receiver_timer = deadline;
            queue.push(deadline, Event::flow(What::ReceiverTimer, *id));
        }
    }
}
