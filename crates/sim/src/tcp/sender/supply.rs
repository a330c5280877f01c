//! Data that ends: what there is to send, and what becomes of the window when that is less than the window allows.

use headgate_core::Time;

use super::{Config, ENDLESS, Sender};

impl Sender {
    /// A connection that is established and has nothing to send before [`offer`](Sender::offer).
    pub fn finite(config: &Config) -> Sender {
        Sender { end: 0, ..Sender::new(config) }
    }

    /// Gives `segments` more to send; then [`poll`](Sender::poll). Where there is always more, it changes nothing.
    pub fn offer(&mut self, segments: u32) {
        let most = if self.end == ENDLESS { ENDLESS } else { ENDLESS - 1 };
        self.end = self.end.saturating_add(segments).min(most);
    }

    /// There is more to send than any window takes, until [`close`](Sender::close).
    pub fn open(&mut self) {
        self.end = ENDLESS - 1;
    }

    /// There is no more to send than was sent.
    pub fn close(&mut self) {
        self.end = self.max;
    }

    /// The number after the last segment there is to send.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The first unacknowledged segment: all before it have arrived.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// All that was offered is acknowledged.
    #[inline]
    pub fn acked_all(&self) -> bool {
        self.una == self.end
    }

    /// Goes on as a new connection would: windows, controller, timer and what was learnt of the path are those of
    /// [`new`](Sender::new). Sequence numbers and counts continue, what is still outstanding remains so, and the receiver
    /// needs only to [forget marks](crate::tcp::Receiver::renew).
    pub fn reset(&mut self, config: &Config, now: Time) {
        *self = Sender {
            una: self.una,
            next: self.max,
            max: self.max,
            end: self.end,
            window: self.window.reset(config, now),
            sacked: self.sacked.take().map(|known| known.renewed(config)),
            ace: self.ace,
            pacer: self.pacer,
            retransmits: self.retransmits,
            timeouts: self.timeouts,
            ..Sender::new(config)
        };
        self.restart_timer(now);
    }

    /// The controller has moved the window on an acknowledgement that found `flight` segments outstanding: it grows to no more than one round trip would make of
    /// the most that was outstanding since the last reduction (draft-ietf-ccwg-ratelimited-increase, maxFS). A window
    /// that was not used says nothing of the path.
    pub(super) fn hold_unused(&mut self, flight: u32, before: f64, now: Time) {
        let cwnd = self.window.cwnd();
        if cwnd < before {
            self.max_flight = 0;
        }
        self.max_flight = self.max_flight.max(flight);
        let used = f64::from(self.max_flight);
        let most = if before < self.window.ssthresh { 2.0 * used } else { self.cc.after_a_trip(used) };
        if cwnd > most.max(before) {
            self.window.set_cwnd(most.max(before), now);
        }
    }

    /// RFC 5681, section 4.1: nothing was sent for longer than the timeout, so the window is at most the restart window,
    /// min(IW, cwnd).
    pub(super) fn restart_after_idle(&mut self, config: &Config, now: Time) {
        let more = self.next < self.end && self.end != ENDLESS;
        if more && config.idle_restart && now - self.last_sent > self.rto.timeout() {
            self.window.set_cwnd(self.window.cwnd().min(f64::from(config.initial_window)), now);
            self.max_flight = 0;
        }
    }
}
