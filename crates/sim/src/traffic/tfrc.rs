//! Flows of datagrams whose rate TFRC governs: a sender, a receiver, and the wires between them and the routers.

use headgate_core::{Ecn, Rng, Span, Time};
use headgate_link::{Wire, WireKind};
use headgate_measure::SenderState;
use headgate_scenario::{UdpCc, UdpGroup};

use super::{capable, first, first_back, packet, stops};
use crate::queue::Queue;
use crate::segment::{Reports, Segment, StoreId};
use crate::tfrc::{Config, Feedback, Receiver, Sender};
use crate::world::Event;

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
    pub fn add(&mut self, cc: UdpCc, group: u16, rng: Rng) {
        let flow = || Box::new(TfrcFlow::new(group, &self.kinds[usize::from(group)], rng));
        self.flows.push((cc == UdpCc::Tfrc).then(flow));
    }

    /// A flow starts.
    pub fn start(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        let (flow, kind, _) = self.flow(id);
        flow.send(id, kind, now, queue);
    }

    /// A timer of a flow's sender.
    pub fn sender_timer(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        let (flow, kind, _) = self.flow(id);
        flow.on_sender_timer(id, kind, now, queue);
    }

    /// The feedback timer of a flow.
    pub fn receiver_timer(&mut self, id: u32, now: Time, queue: &mut Queue<Event>) {
        let (flow, kind, reports) = self.flow(id);
        flow.on_receiver_timer(id, kind, now, (reports, queue));
    }

    /// A datagram, its number and whether it is marked, leaves the last router for its receiver at `now`; when it
    /// arrives.
    pub fn on_data(&mut self, id: u32, data: (u32, bool), now: Time, queue: &mut Queue<Event>) -> Time {
        let (flow, kind, reports) = self.flow(id);
        flow.on_data(id, data, kind, now, (reports, queue))
    }

    /// When a report that leaves the last router at `now` reaches its sender.
    pub fn report_arrives(&mut self, id: u32, now: Time) -> Time {
        let (flow, kind, _) = self.flow(id);
        flow.report_down.pass(now, &kind.report_down)
    }

    /// A report reaches its sender.
    pub fn on_report(&mut self, id: u32, report: StoreId, now: Time, queue: &mut Queue<Event>) {
        let (flow, kind, reports) = self.flow(id);
        flow.on_report(id, reports.take(report), kind, now, queue);
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
    pub fn state(&mut self, id: u32) -> SenderState {
        self.flow(id).0.sender.state()
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

    fn flow(&mut self, id: u32) -> (&mut TfrcFlow, &TfrcKind, &mut Reports) {
        let flow =
            self.flows[(id - self.first) as usize].as_mut().expect("only TFRC's flows have its packets and timers");
        let kind = &self.kinds[usize::from(flow.group)];
        (flow, kind, &mut self.reports)
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

    /// Sends what may be sent.
    fn send(&mut self, id: u32, kind: &TfrcKind, now: Time, queue: &mut Queue<Event>) {
        if now >= kind.stop {
            return;
        }
        while self.due(kind) <= now {
            // It had to wait for nothing but the rate that is allowed: it sends all it may.
            let all = self.sender.ready(&kind.config) >= self.wanted;
            let data = self.sender.send(all, now);
            self.stretch = self.rng.between(1.0 - kind.jitter, 1.0 + kind.jitter);
            self.wanted = now + kind.gap;
            let packet = packet(id, kind.packet, kind.ecn, Segment::tfrc(data.seq).sent_at(now));
            queue.push(self.up.pass(now, &kind.data_up), Event::from_sender(kind.link, packet));
        }
        self.arm_sender(id, kind, queue);
    }

    /// A moment to send or the nofeedback timer, perhaps one that was set for something earlier than there is now.
    fn on_sender_timer(&mut self, id: u32, kind: &TfrcKind, now: Time, queue: &mut Queue<Event>) {
        if self.sender_timer != now {
            return;
        }
        self.sender_timer = Time::NEVER;
        self.sender.on_timer(&kind.config, now);
        self.send(id, kind, now, queue);
    }

    /// A report reaches the sender.
    fn on_report(&mut self, id: u32, report: Feedback, kind: &TfrcKind, now: Time, queue: &mut Queue<Event>) {
        self.sender.on_feedback(report, &kind.config, now);
        self.send(id, kind, now, queue);
    }

    /// A datagram leaves the last router for the receiver at `now`. As with TCP's segments, the receiver acts at once,
    /// with the time at which it will be there, and its feedback timer, if that expires before, is looked at first.
    fn on_data(
        &mut self,
        id: u32,
        (seq, marked): (u32, bool),
        kind: &TfrcKind,
        now: Time,
        (reports, queue): (&mut Reports, &mut Queue<Event>),
    ) -> Time {
        let arrives = self.down.pass(now, &kind.data_down);
        if let Some(due) = self.receiver.deadline()
            && due < arrives
        {
            let report = self.receiver.on_timer(&kind.config, due);
            self.report(id, report, kind, due, (reports, queue));
        }
        let report = self.receiver.on_data(self.sender.said(seq), marked, &kind.config, arrives);
        self.report(id, report, kind, arrives, (reports, queue));
        arrives
    }

    /// The feedback timer, perhaps one that was set for something earlier.
    fn on_receiver_timer(
        &mut self,
        id: u32,
        kind: &TfrcKind,
        now: Time,
        (reports, queue): (&mut Reports, &mut Queue<Event>),
    ) {
        if self.receiver_timer != now {
            return;
        }
        self.receiver_timer = Time::NEVER;
        let report = self.receiver.on_timer(&kind.config, now);
        self.report(id, report, kind, now, (reports, queue));
    }

    /// When the next datagram goes.
    fn due(&self, kind: &TfrcKind) -> Time {
        let next = self.sender.ready(&kind.config).max(self.wanted);
        self.sender.last().map_or(next, |last| last + Span::from_secs_f64((next - last).as_secs_f64() * self.stretch))
    }

    fn report(
        &mut self,
        id: u32,
        report: Option<Feedback>,
        kind: &TfrcKind,
        now: Time,
        (reports, queue): (&mut Reports, &mut Queue<Event>),
    ) {
        if let Some(report) = report {
            self.reported += 1;
            let packet = packet(id, kind.feedback, Ecn::NotEct, Segment::report(reports.keep(report)));
            queue.push(self.report_up.pass(now, &kind.report_up), Event::from_receiver(kind.back_link, packet));
        }
        if let Some(deadline) = self.receiver.deadline()
            && deadline < self.receiver_timer
        {
            self.receiver_timer = deadline;
            queue.push(deadline, Event::receiver_timer(id));
        }
    }

    fn arm_sender(&mut self, id: u32, kind: &TfrcKind, queue: &mut Queue<Event>) {
        let due = self.due(kind);
        let next = self.sender.deadline().map_or(due, |deadline| due.min(deadline));
        // After the last datagram no rate matters any more.
        if due < kind.stop && next < self.sender_timer {
            self.sender_timer = next;
            queue.push(next, Event::sender_timer(id));
        }
    }
}
