//! The sending side: slow start and congestion avoidance (RFC 5681), loss recovery by Reno (RFC 5681), NewReno
//! (RFC 6582) or SACK (RFC 6675), limited transmit (RFC 3042), the retransmission timer (RFC 6298), ECN (RFC 3168).
//!
//! Symbols: `una` is SND.UNA, `next` SND.NXT, `max` the highest SND.NXT so far (HighData + 1), `recover` the end of
//! the window in which the last loss or mark was acted upon (RFC 6582's recover + 1, RFC 6675's RecoveryPoint + 1).

mod recovery;

use headgate_core::Time;
use headgate_scenario::Cc;

use super::Config;
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use crate::segment::Blocks;

/// An acknowledgement as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The next segment the receiver expects.
    pub ack: u32,
    /// ECN echo.
    pub ece: bool,
    /// Selective acknowledgements.
    pub blocks: Option<Blocks>,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its number.
    pub seq: u32,
    /// Congestion window reduced.
    pub cwr: bool,
    /// It was sent before.
    pub again: bool,
}

/// Where the sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Slow start or congestion avoidance.
    Open,
    /// Fast recovery, until `recover` is acknowledged (Reno: until anything is).
    Recovery {
        /// A partial acknowledgement has come (RFC 6582: only the first restarts the timer).
        partial: bool,
    },
}

/// The sending side of one connection. Every call takes the group's [`Config`].
///
/// Two cache lines, the first with all that most acknowledgements need: with ten thousand flows each is far away.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    una: u32,
    next: u32,
    max: u32,
    recover: u32,
    cwnd: f64,
    ssthresh: f64,
    /// [`Time::NEVER`] if the timer is off.
    deadline: Time,
    /// When the segment `timed` was sent.
    timed_at: Time,
    /// A segment sent once whose acknowledgement gives a round-trip time; [`NONE`] if there is none.
    timed: u32,
    dup_acks: u32,
    phase: Phase,
    /// The first unacknowledged segment is to be sent again, whatever the window says.
    resend: bool,
    /// New segments sent beyond the window on the first duplicate ACKs.
    limited: u8,
    /// The window was reduced, and the next new segment says so: it carries CWR, whatever the reason (RFC 3168,
    /// section 6.1.2).
    cwr: bool,
    /// After an ECN echo at a window of one, nothing is sent until the timer expires.
    held: bool,
    // The second line.
    rto: Rto,
    /// The integral of `cwnd` over time in segments x nanoseconds, up to `cwnd_since`.
    cwnd_area: f64,
    cwnd_since: Time,
    board: Option<Box<Scoreboard>>,
    retransmits: u32,
    timeouts: u32,
    /// The last timeout was of this segment (RFC 5681, equation 4: a second one leaves ssthresh alone).
    timed_out: u32,
    /// The end of the window in which an ECN echo was last acted upon.
    ecn_recover: u32,
}

/// No segment has this number.
const NONE: u32 = u32::MAX;

impl Sender {
    /// A connection that is established and has sent nothing.
    pub fn new(config: &Config) -> Sender {
        Sender {
            una: 0,
            next: 0,
            max: 0,
            recover: 0,
            cwnd: f64::from(config.initial_window),
            ssthresh: config.initial_ssthresh.map_or(f64::INFINITY, f64::from),
            deadline: Time::NEVER,
            timed_at: Time::ZERO,
            timed: NONE,
            dup_acks: 0,
            phase: Phase::Open,
            resend: false,
            limited: 0,
            cwr: false,
            held: false,
            rto: Rto::new(config),
            cwnd_area: 0.0,
            cwnd_since: Time::ZERO,
            board: (config.cc == Cc::Sack).then(Box::default),
            retransmits: 0,
            timeouts: 0,
            timed_out: NONE,
            ecn_recover: 0,
        }
    }

    /// The congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The slow start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// The retransmission timer's estimate.
    pub fn rto(&self) -> &Rto {
        &self.rto
    }

    /// When [`on_timer`](Sender::on_timer) is to be called, if at all.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        (self.deadline != Time::NEVER).then_some(self.deadline)
    }

    /// Reads a word of each of the sender's cache lines.
    #[inline]
    pub(crate) fn approach(&self) {
        std::hint::black_box((self.una, self.cwnd_since));
    }

    /// Segments sent again so far.
    pub fn retransmits(&self) -> u32 {
        self.retransmits
    }

    /// Retransmission timeouts so far.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// The integral of `cwnd` over time up to `now`, in segments x nanoseconds.
    pub fn cwnd_area(&self, now: Time) -> f64 {
        self.cwnd_area + self.cwnd * (now - self.cwnd_since).as_nanos() as f64
    }

    /// Takes an acknowledgement; then [`poll`](Sender::poll) until it gives nothing.
    #[inline]
    pub fn on_ack(&mut self, ack: Ack, config: &Config, now: Time) {
        if ack.ack > self.max || ack.ack < self.una {
            return; // of something never sent, or older than what is known
        }
        let news = self.board.is_some() && self.file(&ack);
        if ack.ece {
            self.on_echo(ack.ack, config, now);
        }
        // With SACK an acknowledgement that tells something new is a duplicate, whether or not it acknowledges new data
        // too, and no other is (RFC 6675, section 2); it counts unless it comes in a recovery (section 5).
        let mut duplicate = if self.board.is_some() { news } else { ack.ack == self.una };
        if ack.ack > self.una {
            duplicate &= self.phase == Phase::Open;
            self.on_new_ack(&ack, config, now);
        }
        if duplicate && self.una < self.max {
            self.on_dup_ack(config, now);
        }
    }

    /// The retransmission timer: acts if it has expired (RFC 6298, section 5; RFC 5681, section 3.1).
    pub fn on_timer(&mut self, config: &Config, now: Time) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::NEVER;
        if std::mem::take(&mut self.held) && self.una == self.max {
            return; // RFC 3168, section 6.1.2: the timer only says that a new packet may go
        }
        self.timeouts += 1;
        if self.timed_out != self.una {
            self.lower_ssthresh(self.flight());
            self.timed_out = self.una;
        }
        self.set_cwnd(1.0, now);
        self.cwr = true;
        self.rto.back_off(config);
        self.phase = Phase::Open;
        self.recover = self.max;
        self.ecn_recover = self.max;
        (self.dup_acks, self.limited, self.resend, self.timed) = (0, 0, false, NONE);
        self.next = self.una;
        if let Some(board) = &mut self.board {
            board.clear();
        }
    }

    /// The next segment to send now, if any.
    #[inline]
    pub fn poll(&mut self, config: &Config, now: Time) -> Option<Data> {
        if self.held {
            return None;
        }
        if std::mem::take(&mut self.resend) {
            let seq = self.una;
            return Some(self.send(seq, now));
        }
        match (self.phase, &self.board) {
            (Phase::Recovery { .. }, Some(_)) => self.poll_recovery(config, now),
            _ => self.poll_window(config, now),
        }
    }

    /// Sends while the window is open: new segments, or after a timeout what was outstanding, from the left.
    #[inline]
    fn poll_window(&mut self, config: &Config, now: Time) -> Option<Data> {
        if self.next < self.max {
            self.skip_arrived();
        }
        let sent = self.next - self.una;
        // The receiver's window bounds the numbers themselves, the congestion window what is in flight.
        if sent >= whole(self.cwnd) + self.known_gone(config) || sent >= config.window {
            return None;
        }
        self.limited = self.limited.saturating_add(u8::from(sent >= whole(self.cwnd)));
        let seq = self.next;
        Some(self.send(seq, now))
    }

    fn send(&mut self, seq: u32, now: Time) -> Data {
        let again = seq < self.max;
        if again {
            self.retransmits += 1;
            // Karn: nothing at or beyond a segment sent again gives a sample until new data is sent.
            self.timed = NONE;
        } else {
            self.max = seq + 1;
            if self.timed == NONE {
                (self.timed, self.timed_at) = (seq, now);
            }
        }
        if seq >= self.next {
            self.next = seq + 1;
        }
        if self.deadline == Time::NEVER {
            self.deadline = now + self.rto.timeout();
        }
        Data { seq, cwr: !again && std::mem::take(&mut self.cwr), again }
    }

    #[inline]
    fn on_new_ack(&mut self, &Ack { ack, ece, .. }: &Ack, config: &Config, now: Time) {
        let acked = ack - self.una;
        // No acknowledgement is beyond NONE.
        if ack > self.timed {
            self.rto.sample(now - self.timed_at, config);
            self.timed = NONE;
        }
        self.una = ack;
        self.next = self.next.max(ack);
        if let Some(board) = &mut self.board {
            board.advance(ack);
        }
        match self.phase {
            Phase::Open => {
                (self.dup_acks, self.limited) = (0, 0);
                if !ece {
                    self.grow(config, now); // RFC 3168, section 6.1.2: an echo does not let the window grow
                }
                self.restart_timer(now);
            }
            Phase::Recovery { partial } if config.cc != Cc::Reno && ack < self.recover => {
                self.on_partial_ack(acked, partial, now);
            }
            Phase::Recovery { .. } => self.leave_recovery(config, now),
        }
    }

    /// RFC 5681, section 3.1: one segment per ACK in slow start, 1/cwnd in congestion avoidance.
    #[inline]
    fn grow(&mut self, config: &Config, now: Time) {
        let by = if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
        // What the receiver's window forbids to use is not earned.
        self.set_cwnd((self.cwnd + by).min(f64::from(config.window).max(self.cwnd)), now);
    }

    /// RFC 6298, sections 5.2 and 5.3.
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        if !self.held {
            let outstanding = self.una < self.max;
            self.deadline = if outstanding { now + self.rto.timeout() } else { Time::NEVER };
        }
    }

    /// Outstanding segments (RFC 5681, FlightSize).
    fn flight(&self) -> u32 {
        self.max - self.una
    }

    #[inline]
    fn set_cwnd(&mut self, cwnd: f64, now: Time) {
        // Through i64: processors convert signed numbers in one step, and a run is shorter than 292 years.
        self.cwnd_area += self.cwnd * (now - self.cwnd_since).as_nanos() as i64 as f64;
        self.cwnd_since = now;
        self.cwnd = cwnd;
    }
}

#[inline]
fn whole(cwnd: f64) -> u32 {
    cwnd as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_fills_two_cache_lines() {
        assert_eq!(size_of::<Sender>(), 128);
        assert_eq!(std::mem::offset_of!(Sender, rto), 64);
    }
}
