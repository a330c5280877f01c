//! Flows of datagrams whose rate TFRC governs: a sender, a receiver, and the wires between them and the routers.

use headgate_core::{Ecn, Rng, Span, Time};
use headgate_link::{Wire, WireKind};
use headgate_measure::SenderState;
use headgate_scenario::UdpGroup;

use super::{capable, first, first_back, packet, stops};
use crate::event::{Event, What};
use crate::queue::Queue;
use crate::segment::{Reports, Segment, StoreId};
use crate::tfrc::{Config, Feedback, Receiver, Sender};

/// Every TFRC flow, among the UDP flows.
pub struct Tfrc {
    /// By UDP group and by UDP flow; what has no congestion control has no flow here.
    kinds: Vec<TfrcKind>,
    flows: Vec<Option<Box<TfrcFlow>>>,
    /// The number of the first UDP flow.
    first: u32,
    reports: Reports,
}

/// What the TFRC flows of a group have in common.
struct TfrcKind {
    config: Config,
    packet: u32,
    feedback: u32,
    ecn: Ecn,
    /// Between two datagrams at the most the group sends at, and how much less or more chance may make any interval.
    gap: Span,
    jitter: f64,
    stop: Time,
    /// The first links on the way of data and of reports.
    link: u16,
    back_link: u16,
    data_up: WireKind,
    data_down: WireKind,
    report_up: WireKind,
    report_down: WireKind,
}

/// One flow.
struct TfrcFlow {
    /// Its group among those of UDP.
    group: u16,
    sender: Sender,
    receiver: Receiver,
    /// Sender to router, router to receiver, and the way back.
    up: Wire,
    down: Wire,
    report_up: Wire,
    report_down: Wire,
    /// When the application has the next datagram.
    wanted: Time,
    /// What chance makes of the interval under way.
    stretch: f64,
    /// The earliest timer events in the queue; later ones are set when they fire.
    sender_timer: Time,
    receiver_timer: Time,
    /// Reports sent.
    reported: u64,
    /// How often the nofeedback timer had expired when the warm-up ended.
    timeouts_before: u32,
    rng: Rng,
}

impl Tfrc {
    /// The UDP groups `groups`, whose flows are numbered from `first`.
    pub fn new(groups: &[UdpGroup], first: u32) -> Tfrc {
        let kinds = groups.iter().map(TfrcKind::new).collect();
        Tfrc { kinds, flows: Vec::new(), first, reports: Reports::default() }
    }

    /// The next UDP flow, of group number `group`, which is TFRC's or not.
    pub fn add(&mut self, is_controlled: bool, group: u16, rng: Rng) {
        let flow = || Box::new(TfrcFlow::new(group, &self.kinds[usize::from(group)], rng));
        self.flows.push(is_controlled.then(flow));
    }

    /// A flow, which acts at `now`.
    pub fn flow<'a>(&'a mut self, id: u32, now: Time, queue: &'a mut Queue<Event>) -> FlowAt<'a> {
        let flow =
            self.flows[(id - self.first) as usize].as_mut().expect("only TFRC's flows have its packets and timers");
        FlowAt { id, kind: &self.kinds[usize::from(flow.group)], flow, reports: &mut self.reports, now, queue }
    }

    /// A report is lost.
    pub fn forget(&mut self, report: StoreId) {
        self.reports.take(report);
    }

    /// Packets sent so far, data and reports.
    pub fn sent_packets(&self) -> u64 {
        self.flows.iter().flatten().map(|flow| u64::from(flow.sender.sent()) + flow.reported).sum()
    }

    /// What a flow's sender shows of itself.
    pub fn state(&self, id: u32) -> SenderState {
        let flow = self.flows[(id - self.first) as usize].as_ref();
        flow.map_or_else(SenderState::default, |flow| flow.sender.state())
    }

    /// The warm-up ends: timeouts count anew.
    pub fn restart(&mut self) {
        self.flows.iter_mut().flatten().for_each(|flow| flow.timeouts_before = flow.sender.timeouts());
    }

    /// By UDP flow, how often its nofeedback timer expired since the warm-up; 0 for those without congestion control.
    pub fn timeouts(&self) -> impl Iterator<Item = u32> {
        let since = |flow: &TfrcFlow| flow.sender.timeouts() - flow.timeouts_before;
        self.flows.iter().map(move |flow| flow.as_deref().map_or(0, since))
    }
}

impl TfrcKind {
    /// What the scenario says of `group`.
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
            data_up: WireKind::new(&group.sender, group.packet),
            data_down: WireKind::new(&group.receiver, group.packet),
            report_up: WireKind::new(&group.receiver, group.feedback),
            report_down: WireKind::new(&group.sender, group.feedback),
        }
    }
}

impl TfrcFlow {
    /// A flow that has sent nothing.
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

    /// When the next datagram goes.
    fn due(&self, kind: &TfrcKind) -> Time {
        let next = self.sender.ready(&kind.config).max(self.wanted);
        self.sender.last().map_or(next, |last| last + Span::from_secs_f64((next - last).as_secs_f64() * self.stretch))
    }
}

/// A flow that acts, and what it acts upon.
pub struct FlowAt<'a> {
    id: u32,
    flow: &'a mut TfrcFlow,
    kind: &'a TfrcKind,
    reports: &'a mut Reports,
    now: Time,
    queue: &'a mut Queue<Event>,
}

impl FlowAt<'_> {
    /// Sends what may be sent.
    pub fn send(&mut self) {
        let FlowAt { id, flow, kind, now, queue, .. } = self;
        if *now >= kind.stop {
            return;
        }
        while flow.due(kind) <= *now {
            // It had to wait for nothing but the rate that is allowed: it sends all it may.
            let all = flow.sender.ready(&kind.config) >= flow.wanted;
            let data = flow.sender.send(all, *now);
            flow.stretch = flow.rng.between(1.0 - kind.jitter, 1.0 + kind.jitter);
            flow.wanted = *now + kind.gap;
            let packet = packet(*id, kind.packet, kind.ecn, Segment::tfrc(data.seq).sent_at(*now));
            queue.push(flow.up.pass(*now, &kind.data_up), Event::packet(What::FromSender, kind.link, packet));
        }
        let due = flow.due(kind);
        let next = flow.sender.deadline().map_or(due, |deadline| due.min(deadline));
        // After the last datagram no rate matters any more.
        if due < kind.stop && next < flow.sender_timer {
            flow.sender_timer = next;
            queue.push(next, Event::flow(What::SenderTimer, *id));
        }
    }

    /// A moment to send or the nofeedback timer, perhaps one that was set for something earlier than there is now.
    pub fn on_sender_timer(&mut self) {
        if self.flow.sender_timer == self.now {
            self.flow.sender_timer = Time::NEVER;
            self.flow.sender.on_timer(&self.kind.config, self.now);
            self.send();
        }
    }

    /// A report reaches the sender.
    pub fn on_report(&mut self, report: StoreId) {
        self.flow.sender.on_feedback(self.reports.take(report), &self.kind.config, self.now);
        self.send();
    }

    /// When a report that leaves the last router reaches its sender.
    pub fn report_arrives(&mut self) -> Time {
        self.flow.report_down.pass(self.now, &self.kind.report_down)
    }

    /// A datagram, its number and whether it is marked, leaves the last router for the receiver; when it arrives. As with
    /// TCP's segments, the receiver acts at once, with the time at which it will be there, and its feedback timer, if that
    /// expires before, is looked at first.
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

    /// The feedback timer, perhaps one that was set for something earlier.
    pub fn on_receiver_timer(&mut self) {
        if self.flow.receiver_timer == self.now {
            self.flow.receiver_timer = Time::NEVER;
            let report = self.flow.receiver.on_timer(&self.kind.config, self.now);
            self.report(report, self.now);
        }
    }

    /// The receiver sends its `report` at `at`, if it has one, and sets its timer.
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
