//! A minimal path for tests of path models: paced segments, a FIFO before a bottleneck, one acknowledgement per
//! segment. It uses the sender's scoreboard and delivery counts. A segment is lost when one sent at least three
//! transmissions later arrives.

use std::collections::BTreeSet;

use aqm::{Rng, Span, Time};

use crate::tcp::cc::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::rate_sample::DeliveryCounts;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::transmissions::{LossDecision, Transmissions};
use crate::tcp::{Ack, TcpSettings};

pub struct TestPath<M> {
    pub model: M,
    pub now: Time,
    pub window: CongestionWindow,
    config: TcpSettings,
    /// The link's rate in segments per second, the round-trip time without queue, and the buffer in segments, without
    /// the one being sent.
    pub rate: f64,
    pub rtt: Span,
    pub room: u32,
    pub lost: u32,
    pub sent: u32,
    scoreboard: Scoreboard,
    transmissions: Transmissions,
    delivery: DeliveryCounts,
    delivered: u32,
    /// Acknowledgements in flight: arrival time, segment, and number of its transmission.
    acks: BTreeSet<(Time, u32, u32)>,
    link_free: Time,
    next_send: Time,
    next_seq: u32,
    una: u32,
    arrived: BTreeSet<u32>,
    recover: u32,
}

impl<M: CongestionControl> TestPath<M> {
    pub fn new(new: impl FnOnce(&TcpSettings) -> M, seed: u64, rate: f64, rtt: Span, room: u32) -> TestPath<M> {
        let config = TcpSettings::default();
        let mut model = new(&config);
        model.seed(&mut Rng::new(seed));
        TestPath {
            model,
            now: Time::ZERO,
            window: CongestionWindow::new(&config),
            config,
            rate,
            rtt,
            room,
            lost: 0,
            sent: 0,
            scoreboard: Scoreboard::default(),
            transmissions: Transmissions::default(),
            delivery: DeliveryCounts::default(),
            delivered: 0,
            acks: BTreeSet::new(),
            link_free: Time::ZERO,
            next_send: Time::ZERO,
            next_seq: 0,
            una: 0,
            arrived: BTreeSet::new(),
            recover: 0,
        }
    }

    pub fn in_flight(&self) -> u32 {
        self.scoreboard.pipe(self.next_seq)
    }

    pub fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Segments in the queue, the one on the link included.
    pub fn queued(&self) -> f64 {
        (self.link_free - self.now).as_secs_f64() * self.rate
    }

    /// Runs until `end`; calls `look` after each acknowledgement.
    pub fn run(&mut self, end: Time, mut look: impl FnMut(&TestPath<M>)) {
        while self.now < end {
            let acked = self.acks.first().map_or(Time::NEVER, |ack| ack.0);
            let open = self.in_flight() < self.window.whole_segments();
            if open && self.next_send < acked {
                self.now = self.now.max(self.next_send);
                self.send();
            } else {
                if !open {
                    self.delivery.set_window_full(self.in_flight());
                }
                self.now = acked;
                self.acknowledge();
                look(self);
            }
        }
    }

    fn send(&mut self) {
        let seq = self.scoreboard.first_lost().unwrap_or(self.next_seq);
        let at_send = self.delivery.on_send(self.in_flight(), self.now);
        self.next_seq = self.next_seq.max(seq + 1);
        self.scoreboard.record_retransmission(seq);
        self.transmissions.record_send(seq, self.now, Some(at_send));
        self.sent += 1;
        if self.queued() <= f64::from(self.room) {
            self.link_free = self.link_free.max(self.now) + Span::from_secs_f64(1.0 / self.rate);
            self.acks.insert((self.link_free + self.rtt, seq, self.transmissions.count()));
        }
        self.next_send =
            self.now.max(self.next_send) + Span::from_secs_f64(1.0 / self.model.pacing_rate().expect("models pace"));
    }

    fn acknowledge(&mut self) {
        let (_, seq, order) = self.acks.pop_first().expect("an acknowledgement is due");
        let (before, now) = (self.in_flight(), self.now);
        self.delivery.begin_ack();
        self.arrived.insert(seq);
        while self.arrived.remove(&self.una) {
            self.una += 1;
        }
        let TestPath { scoreboard, transmissions, delivery, delivered, una, next_seq, .. } = self;
        let ack = Ack { ack: *una, blocks: Some([(seq, seq + 1), (0, 0), (0, 0)]), ..Ack::default() };
        let mut newest = None;
        scoreboard.on_ack(&ack, *next_seq, |seq| {
            newest = transmissions.record_arrival(seq).map(|record| (record, transmissions.delivery_state(seq)));
            *delivered += 1;
            delivery.on_delivered(now);
        });
        transmissions.advance(ack.ack);
        let losing = self.detect_losses(order);
        let flights = (before, self.in_flight());
        let rate_sample = newest.map(|newest| self.delivery.sample(newest, flights, self.rtt, now));
        let info = AckInfo {
            now,
            ack: self.una,
            next_new: self.next_seq,
            delivered: 1,
            flight: self.next_seq - self.una,
            rate_sample,
            ..AckInfo::default()
        };
        self.model.on_ack(&info, &mut self.window, &self.config);
        if losing && self.una >= self.recover {
            self.recover = self.next_seq;
            let loss = LossInfo { now, window_to_reduce: f64::from(info.flight), next_new: info.next_new };
            self.model.on_loss(&loss, &mut self.window, &self.config);
        }
    }

    /// Segments sent three or more transmissions before the arrived one are lost.
    fn detect_losses(&mut self, arrived: u32) -> bool {
        let before = self.lost;
        let TestPath { scoreboard, transmissions, delivery, model, lost, now, window, .. } = self;
        transmissions.scan_in_flight(|sent, seq| {
            if sent.transmission(seq).order + 3 > arrived {
                return LossDecision::Stop;
            }
            *lost += 1;
            scoreboard.record_loss(seq);
            model.on_segment_lost(&delivery.record_loss(sent, seq, *now), window);
            LossDecision::Lost
        });
        self.lost > before
    }
}
