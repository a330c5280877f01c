//! Our sender as the host under test: one connection, its clock, and the segments that it has sent.

use std::collections::VecDeque;

use aqm::{Span, Time};
use headgate_sim::tcp::{Ace, Ack, OutgoingSegment, TcpSender, TcpSettings};

use crate::packetdrill::bytes::ByteMap;
use crate::packetdrill::packet::Packet;

/// Timers that may expire without a segment before the sender counts as stuck.
const MOST_EXPIRIES: u32 = 10_000;

/// A segment that left, not yet matched with a line of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentSegment {
    pub at: Time,
    pub start: u64,
    pub end: u64,
    pub cwr: bool,
}

/// An established connection.
pub struct Connection {
    sender: TcpSender,
    pub settings: TcpSettings,
    pub bytes: ByteMap,
    window_scale: u32,
    /// When pacing lets the next segment leave.
    departure: Option<Time>,
    pub sent: VecDeque<SentSegment>,
}

impl Connection {
    /// The connection after a handshake: its SYN or SYN-ACK left at `syn_at` and was acknowledged at `now`. The sender
    /// handles the SYN as segment 0, which gives it the first round-trip time. The window does not grow by it.
    pub fn new(settings: TcpSettings, mss: u32, window_scale: u32, (syn_at, now): (Time, Time)) -> Connection {
        let initial = settings.initial_window;
        let handshake = TcpSettings { window: initial, cwnd_beyond_window: false, pacing: false, ..settings.clone() };
        let mut sender = TcpSender::finite(&handshake);
        sender.offer(1);
        assert!(sender.poll(&handshake, syn_at).is_some(), "an initial window has room for a segment");
        sender.on_ack(Ack { ack: 1, ace: Ace::INITIAL, ..Ack::default() }, &handshake, now);
        Connection { sender, settings, bytes: ByteMap::new(mss), window_scale, departure: None, sent: VecDeque::new() }
    }

    /// Writes `bytes` of data; `false` if our sender cannot, because the last segment is not full.
    pub fn write(&mut self, bytes: u64, now: Time) -> bool {
        let Some(segments) = self.bytes.write(bytes) else { return false };
        self.sender.offer(segments);
        self.poll(now);
        true
    }

    /// Processes an inbound packet.
    pub fn receive(&mut self, packet: &Packet, mss: u32, now: Time) {
        let Some(ack) = packet.ack else { return };
        if let Some(window) = packet.window {
            self.settings.window = ((window << self.window_scale) / u64::from(mss)) as u32;
        }
        let mut blocks = [(0, 0); 3];
        let reported = packet.options.sack.iter().filter_map(|block| self.bytes.block(*block));
        blocks.iter_mut().zip(reported).for_each(|(block, reported)| *block = reported);
        let blocks = (!packet.options.sack.is_empty()).then_some(blocks);
        let ece = packet.has('E') && self.settings.ecn;
        self.sender.on_ack(
            Ack { ack: self.bytes.ack(ack), ece, ace: Ace::INITIAL, blocks, ..Ack::default() },
            &self.settings,
            now,
        );
        self.poll(now);
    }

    /// Lets all timers before `end` expire.
    pub fn advance(&mut self, end: Time) {
        for _ in 0..MOST_EXPIRIES {
            let Some(next) = self.next_timer().filter(|next| *next < end) else { return };
            self.expire(next);
        }
        panic!("the sender's timers expire without end before {end:?}");
    }

    /// Lets timers up to `end` expire until a segment has left.
    pub fn wait_for_segment(&mut self, end: Time) {
        while self.sent.is_empty() {
            match self.next_timer().filter(|next| *next <= end) {
                Some(next) => self.expire(next),
                None => return,
            }
        }
    }

    fn next_timer(&self) -> Option<Time> {
        [self.sender.deadline(), self.departure].into_iter().flatten().min()
    }

    fn expire(&mut self, now: Time) {
        if self.departure.take_if(|departure| *departure <= now).is_some() {
            self.sender.on_departure();
        }
        self.sender.on_timer(&self.settings, now);
        self.poll(now);
    }

    fn poll(&mut self, now: Time) {
        while let Some(OutgoingSegment { seq, cwr, .. }) = self.sender.poll(&self.settings, now) {
            let (start, end) = self.bytes.range(seq);
            self.sent.push_back(SentSegment { at: now, start, end, cwr });
        }
        self.departure = self.departure.or(self.sender.schedule_departure(&self.settings, now));
    }

    /// A field of the kernel's `tcp_info`; `None` where our sender has no counterpart.
    pub fn tcp_info(&self, name: &str) -> Option<i64> {
        let counts = self.sender.outstanding();
        match name {
            "tcpi_snd_cwnd" => Some(self.sender.cwnd() as i64),
            "tcpi_snd_ssthresh" if self.sender.ssthresh().is_infinite() => Some(0x7fff_ffff),
            "tcpi_snd_ssthresh" => Some(self.sender.ssthresh() as i64),
            "tcpi_ca_state" => Some(self.sender.loss_state() as i64),
            "tcpi_unacked" => Some(counts.segments.into()),
            "tcpi_sacked" => Some(counts.arrived.into()),
            "tcpi_lost" => Some(counts.lost.into()),
            "tcpi_retrans" => Some(counts.retransmitted.into()),
            _ => None,
        }
    }
}

/// A time as reports show it.
pub fn seconds(time: Time) -> String {
    let micros = (time - Time::ZERO).as_nanos() / 1000;
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A span in microseconds from an option's text.
pub fn micros(text: &str) -> Option<Span> {
    text.parse().ok().map(Span::from_micros)
}
