//! A sender and a receiver with a path between them: a one-way delay and scripted losses and marks.

use std::collections::VecDeque;

use aqm::{Span, Time};
use headgate_sim::tfrc::{TfrcData, TfrcReceiver, TfrcReport, TfrcSender, TfrcSettings};

pub const CONFIG: TfrcSettings = TfrcSettings { segment: 1000 };

pub fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// What the path does to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    Marked,
    Lost,
}

/// The path and records of its packets.
pub struct Path<F> {
    pub sender: TfrcSender,
    pub receiver: TfrcReceiver,
    pub now: Time,
    /// When each packet was sent.
    pub sent: Vec<Time>,
    /// `X` after each report that reached the sender, and the reports.
    pub rates: Vec<(Time, f64)>,
    pub reports: Vec<TfrcReport>,
    /// Reports sent from the first time to the second are lost.
    pub outage: (Time, Time),
    /// The interval between the application's packets; `None` for unlimited data.
    pub application: Option<Span>,
    fate: F,
    one_way: Span,
    data: VecDeque<(Time, TfrcData, Fate)>,
    feedback: VecDeque<(Time, TfrcReport)>,
}

impl<F: FnMut(u32) -> Fate> Path<F> {
    /// A path with a round-trip time of `rtt`, on which `fate` decides by packet number.
    pub fn new(rtt: Span, fate: F) -> Self {
        Path {
            sender: TfrcSender::new(&CONFIG),
            receiver: TfrcReceiver::default(),
            now: Time::ZERO,
            sent: Vec::new(),
            rates: Vec::new(),
            reports: Vec::new(),
            outage: (Time::NEVER, Time::NEVER),
            application: None,
            fate,
            one_way: Span::from_nanos(rtt.as_nanos() / 2),
            data: VecDeque::new(),
            feedback: VecDeque::new(),
        }
    }

    /// Processes all events before `end`.
    pub fn run(&mut self, end: Time) {
        while self.step(end) {}
    }

    fn step(&mut self, end: Time) -> bool {
        let data = self.data.front().map_or(Time::NEVER, |(at, ..)| *at);
        let feedback = self.feedback.front().map_or(Time::NEVER, |(at, _)| *at);
        let report = self.receiver.deadline().unwrap_or(Time::NEVER);
        let timer = self.sender.deadline().unwrap_or(Time::NEVER);
        let send = self.next_send();
        let next = data.min(feedback).min(report).min(timer).min(send);
        if next >= end {
            return false;
        }
        self.now = next;
        match next {
            _ if next == data => self.arrive(),
            _ if next == feedback => self.deliver_report(),
            _ if next == report => {
                let due = self.receiver.on_timer(&CONFIG, next);
                self.send_report(due);
            }
            _ if next == timer => self.sender.on_timer(&CONFIG, next),
            _ => self.send(),
        }
        true
    }

    /// When the sender may send and has something to send.
    fn next_send(&self) -> Time {
        let allowed = self.sender.next_send_time(&CONFIG).max(self.now);
        match (self.application, self.sent.last()) {
            (Some(gap), Some(&last)) => allowed.max(last + gap),
            _ => allowed,
        }
    }

    fn send(&mut self) {
        let ready = self.sender.next_send_time(&CONFIG);
        let allowance_used =
            self.application.is_none_or(|gap| self.sent.last().is_none_or(|&last| ready >= last + gap));
        let data = self.sender.send(allowance_used, self.now);
        self.sent.push(self.now);
        self.data.push_back((self.now + self.one_way, data, (self.fate)(data.seq)));
    }

    fn arrive(&mut self) {
        let (now, data, fate) = self.data.pop_front().expect("the step saw it");
        if fate != Fate::Lost {
            let report = self.receiver.on_data(data, fate == Fate::Marked, &CONFIG, now);
            self.send_report(report);
        }
    }

    fn send_report(&mut self, report: Option<TfrcReport>) {
        let Some(report) = report else { return };
        if self.now < self.outage.0 || self.now >= self.outage.1 {
            self.feedback.push_back((self.now + self.one_way, report));
        }
    }

    fn deliver_report(&mut self) {
        let (now, report) = self.feedback.pop_front().expect("the step saw it");
        self.sender.on_feedback(report, &CONFIG, now);
        self.rates.push((now, self.sender.rate()));
        self.reports.push(report);
    }

    /// Packets sent per second since `from`.
    pub fn packets_a_second(&self, from: Time) -> f64 {
        let sent = self.sent.iter().filter(|at| **at >= from).count();
        sent as f64 / (self.now - from).as_secs_f64()
    }
}
