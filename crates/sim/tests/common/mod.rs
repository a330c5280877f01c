//! Two ways to drive TCP without the simulator: [`Host`], a sender whose acknowledgements the test writes, and [`Net`],
//! a sender and a receiver over a path with scripted losses and marks.
pub mod covering;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use aqm::{Ecn, Span, Time};
use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::{Ace, Ack, OutgoingSegment, TcpReceiver, TcpSender, TcpSettings};
use headgate_sim::{AckOptions, SackBlock, SendClock};

/// The clock of timestamps.
pub static CLOCK: LazyLock<SendClock> = LazyLock::new(|| SendClock::of_run(Span::from_secs(1)));

pub fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

pub fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// A congestion control and a loss recovery. A recovery alone has Reno's window; a control alone repairs losses by SACK.
pub trait Law: Copy {
    fn law(self) -> (Cc, Recovery);
}

impl Law for Cc {
    fn law(self) -> (Cc, Recovery) {
        (self, Recovery::Sack)
    }
}

impl Law for Recovery {
    fn law(self) -> (Cc, Recovery) {
        (Cc::Reno, self)
    }
}

impl Law for (Cc, Recovery) {
    fn law(self) -> (Cc, Recovery) {
        self
    }
}

/// The RFCs' settings with short scripts: an initial window of two, an ACK per segment, no limited transmit, a fine
/// clock.
pub fn plain(of: impl Law) -> TcpSettings {
    let (cc, recovery) = of.law();
    TcpSettings {
        cc,
        window: 1000,
        initial_window: 2,
        initial_ssthresh: None,
        delayed_ack: None,
        initial_rto: ms(1000),
        min_rto: ms(1000),
        max_rto: ms(60_000),
        rto_granularity: Span::from_micros(1),
        limited_transmit: false,
        recovery,
        accecn: cc.traits().accurate_ecn,
        ..TcpSettings::default()
    }
}

/// [`plain`] with an initial window of `n` segments, in congestion avoidance.
pub fn avoiding(of: impl Law, n: u32) -> TcpSettings {
    TcpSettings { initial_window: n, initial_ssthresh: Some(n), ..plain(of) }
}

/// A segment as scripts write it: its number, `r` for a retransmission, `c` with CWR. Without ECN the flag means nothing,
/// and scripts omit it.
pub fn name(data: OutgoingSegment, ecn: bool) -> String {
    format!("{}{}{}", data.seq, if data.retransmitted { "r" } else { "" }, if data.cwr && ecn { "c" } else { "" })
}

/// A sender and its clock. Every call returns the segments that it made the sender send, as in `"8 1r 9c"`.
pub struct Host {
    pub config: TcpSettings,
    pub tcp: TcpSender,
    pub now: Time,
    ecn: bool,
    /// Marks that the receiver has counted.
    marks: u8,
}

impl Host {
    /// A sender that has sent nothing.
    pub fn new(config: TcpSettings) -> Host {
        Host { tcp: TcpSender::new(&config), config, now: Time::ZERO, ecn: false, marks: 0 }
    }

    /// A sender that has sent its initial window.
    pub fn started(config: TcpSettings) -> Host {
        let mut host = Host::new(config);
        host.poll();
        host
    }

    /// A sender with nothing to send yet.
    pub fn finite(config: TcpSettings) -> Host {
        Host { tcp: TcpSender::finite(&config), ..Host::new(config) }
    }

    /// Offers `segments` more.
    pub fn offer(&mut self, segments: u32) -> String {
        self.tcp.offer(segments);
        self.poll()
    }

    /// Enables ECN: scripts show CWR.
    pub fn with_ecn(self) -> Host {
        Host { ecn: true, ..self }
    }

    fn poll(&mut self) -> String {
        let sent: Vec<_> = std::iter::from_fn(|| self.tcp.poll(&self.config, self.now)).collect();
        sent.into_iter().map(|data| name(data, self.ecn)).collect::<Vec<_>>().join(" ")
    }

    fn take(&mut self, ack: Ack) -> String {
        // RFC 9768: the count begins at 5. Senders without accurate feedback ignore it.
        let ack = Ack { ace: Ace::from_bits(5 + self.marks % 8), ..ack };
        self.tcp.on_ack(ack, &self.config, self.now);
        self.poll()
    }

    /// An ACK of all segments before `ack`.
    pub fn ack(&mut self, ack: u32) -> String {
        self.take(Ack { ack, ..Ack::default() })
    }

    /// An ACK of all before `ack` that echoes the timestamp of a segment sent at `echo`.
    pub fn ack_echoing(&mut self, ack: u32, echo: Time) -> String {
        self.take(Ack { ack, echo: Some(CLOCK.timestamp(echo)), ..Ack::default() })
    }

    /// An ACK with ECN echo, or with one more mark in its count.
    pub fn echo(&mut self, ack: u32) -> String {
        self.marks += 1;
        self.take(Ack { ack, ece: true, ..Ack::default() })
    }

    /// An ACK with selective acknowledgements, newest first.
    pub fn sack(&mut self, ack: u32, reported: &[SackBlock]) -> String {
        let mut blocks = [(0, 0); 3];
        blocks[..reported.len()].copy_from_slice(reported);
        self.take(Ack { ack, blocks: Some(blocks), ..Ack::default() })
    }

    pub fn wait(&mut self, span: Span) {
        self.now += span;
    }

    /// Lets the retransmission timer expire.
    pub fn expire(&mut self) -> String {
        self.now = self.tcp.deadline().expect("the timer runs");
        self.tcp.on_timer(&self.config, self.now);
        self.poll()
    }

    /// `cwnd` and `ssthresh`.
    pub fn windows(&self) -> (f64, f64) {
        (self.tcp.cwnd(), self.tcp.ssthresh())
    }
}

/// What the path does to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    Marked,
    Lost,
    /// Arrives later by this time; later segments may overtake it.
    Late(Span),
    /// Arrives, and once more this much later.
    Twice(Span),
}

/// One transmission, and the sender's state after it.
#[derive(Clone, Debug)]
pub struct Sent {
    pub time: Time,
    pub data: OutgoingSegment,
    pub cwnd: f64,
    pub ssthresh: f64,
    pub rto: Span,
    pub recovering: bool,
}

enum Event {
    /// A segment, its fate, and when it was sent.
    Segment(OutgoingSegment, Fate, Time),
    Ack(Ack),
}

/// A sender and a receiver with a one-way delay of `delay`. At equal times, packets arrive in the order of sending and
/// before timers expire.
pub struct Net<'a> {
    pub host: Host,
    pub receiver: TcpReceiver,
    pub sent: Vec<Sent>,
    delay: Span,
    /// The path's action, by the segment's number and the number of its transmission (from 1).
    fate: Box<dyn FnMut(u32, u32) -> Fate + 'a>,
    /// Whether the `n`th ACK (from 1) is lost.
    loses_ack: Box<dyn FnMut(u32) -> bool + 'a>,
    acks: u32,
    /// When pacing releases the next segment.
    departure: Option<Time>,
    transmissions: Vec<u32>,
    events: BTreeMap<(Time, u64), Event>,
    order: u64,
}

impl<'a> Net<'a> {
    /// A path with a round trip of 100 ms and no losses.
    pub fn new(config: TcpSettings) -> Net<'a> {
        Net {
            host: Host::new(config),
            receiver: TcpReceiver::default(),
            sent: Vec::new(),
            delay: ms(50),
            fate: Box::new(|_, _| Fate::Arrives),
            loses_ack: Box::new(|_| false),
            acks: 0,
            departure: None,
            transmissions: Vec::new(),
            events: BTreeMap::new(),
            order: 0,
        }
    }

    /// Limits the data to `segments`.
    pub fn of(self, segments: u32) -> Net<'a> {
        let mut host = Host::finite(self.host.config.clone());
        host.tcp.offer(segments);
        Net { host, ..self }
    }

    /// Offers `segments` more at the current time.
    pub fn offer(&mut self, segments: u32) {
        self.host.tcp.offer(segments);
        self.send();
    }

    /// Enables ECN: scripts show CWR.
    pub fn with_ecn(self) -> Net<'a> {
        Net { host: self.host.with_ecn(), ..self }
    }

    /// Sets the one-way delay.
    pub fn delay(self, delay: Span) -> Net<'a> {
        Net { delay, ..self }
    }

    /// Sets the path's action on each transmission.
    pub fn fate(self, fate: impl FnMut(u32, u32) -> Fate + 'a) -> Net<'a> {
        Net { fate: Box::new(fate), ..self }
    }

    /// Loses the listed transmissions: segment, and number of its transmission (from 1).
    pub fn losing(self, lost: &'a [(u32, u32)]) -> Net<'a> {
        self.fate(|seq, nth| if lost.contains(&(seq, nth)) { Fate::Lost } else { Fate::Arrives })
    }

    /// Loses the listed ACKs, counted from 1.
    pub fn losing_acks(self, lost: &'a [u32]) -> Net<'a> {
        Net { loses_ack: Box::new(|nth| lost.contains(&nth)), ..self }
    }

    /// Processes all events up to and including `end`.
    pub fn run(&mut self, end: Time) {
        if self.sent.is_empty() {
            self.send();
        }
        while let Some(now) = self.next().filter(|now| *now <= end) {
            self.host.now = now;
            match self.events.first_entry().filter(|event| event.key().0 == now) {
                Some(event) => match event.remove() {
                    Event::Segment(data, fate, sent) => self.deliver(data, fate, sent),
                    Event::Ack(ack) => self.host.tcp.on_ack(ack, &self.host.config, now),
                },
                None => self.timers(),
            }
            self.send();
        }
        self.host.now = end;
    }

    fn next(&self) -> Option<Time> {
        let event = self.events.first_key_value().map(|((time, _), _)| *time);
        [event, self.host.tcp.deadline(), self.receiver.deadline(), self.departure].into_iter().flatten().min()
    }

    fn timers(&mut self) {
        let Host { config, tcp, now, .. } = &mut self.host;
        let reply = self.receiver.on_timer(config, *now);
        tcp.on_timer(config, *now);
        if self.departure.take_if(|departure| *departure <= *now).is_some() {
            tcp.on_departure();
        }
        self.reply(reply);
    }

    fn deliver(&mut self, data: OutgoingSegment, fate: Fate, sent: Time) {
        let Host { config, now, .. } = &self.host;
        self.receiver.on_delay(*now - sent);
        if config.timestamps {
            self.receiver.on_timestamp(data.seq, CLOCK.timestamp(sent));
        }
        if config.counts_ecn() {
            self.receiver.on_ecn(match fate {
                Fate::Marked => Ecn::Ce,
                // RFC 3168, section 6.1.5: a retransmission is not ECN-capable.
                _ if data.retransmitted => Ecn::NotEct,
                _ => Ecn::Ect1,
            });
        }
        let reply = self.receiver.on_data(data.seq, fate == Fate::Marked, data.cwr, config, *now);
        self.reply(reply);
    }

    fn reply(&mut self, reply: Option<headgate_sim::tcp::OutgoingAck>) {
        let Some(reply) = reply else { return };
        self.acks += 1;
        if !(self.loses_ack)(self.acks) {
            let AckOptions { blocks, delay, echo, counts } = reply.options.unwrap_or_default();
            self.push(Event::Ack(Ack { ack: reply.ack, ece: reply.ece, ace: reply.ace, blocks, delay, echo, counts }));
        }
    }

    fn push(&mut self, event: Event) {
        self.push_later(Span::ZERO, event);
    }

    fn push_later(&mut self, by: Span, event: Event) {
        self.events.insert((self.host.now + self.delay + by, self.order), event);
        self.order += 1;
    }

    fn send(&mut self) {
        let now = self.host.now;
        while let Some(data) = self.host.tcp.poll(&self.host.config, now) {
            let tcp = &self.host.tcp;
            let (cwnd, ssthresh, rto) = (tcp.cwnd(), tcp.ssthresh(), tcp.rto().timeout());
            let recovering = tcp.state(1).phase == "recovery";
            self.sent.push(Sent { time: now, data, cwnd, ssthresh, rto, recovering });
            let nth = self.nth(data.seq);
            let fate = (self.fate)(data.seq, nth);
            match fate {
                Fate::Lost => {}
                Fate::Late(by) => self.push_later(by, Event::Segment(data, fate, now)),
                Fate::Twice(by) => {
                    self.push(Event::Segment(data, fate, now));
                    self.push_later(by, Event::Segment(data, fate, now));
                }
                Fate::Arrives | Fate::Marked => self.push(Event::Segment(data, fate, now)),
            }
        }
        let Host { config, tcp, .. } = &mut self.host;
        self.departure = self.departure.or(tcp.schedule_departure(config, now));
    }

    /// Counts a transmission of `seq`; returns its number, from 1.
    fn nth(&mut self, seq: u32) -> u32 {
        let seq = seq as usize;
        if self.transmissions.len() <= seq {
            self.transmissions.resize(seq + 1, 0);
        }
        self.transmissions[seq] += 1;
        self.transmissions[seq]
    }

    /// The segments sent at each time, as in `"100: 4 5 2r"`: milliseconds, then segments.
    pub fn rows(&self) -> Vec<String> {
        let instants = self.sent.chunk_by(|a, b| a.time == b.time);
        instants
            .map(|sent| {
                let mut row = format!("{}:", sent[0].time.as_nanos() / 1_000_000);
                sent.iter().for_each(|s| write!(row, " {}", name(s.data, self.host.ecn)).expect("a string grows"));
                row
            })
            .collect()
    }

    /// When `seq` was sent, in milliseconds.
    pub fn times_of(&self, seq: u32) -> Vec<u64> {
        let sent = self.sent.iter().filter(|sent| sent.data.seq == seq);
        sent.map(|sent| sent.time.as_nanos() / 1_000_000).collect()
    }

    /// The number of segments sent at each time.
    pub fn bursts(&self) -> Vec<usize> {
        self.sent.chunk_by(|a, b| a.time == b.time).map(<[Sent]>::len).collect()
    }
}
