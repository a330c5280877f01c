//! Selection of the next segment, and its release by pacing.

use aqm::Time;

use super::{ENDLESS, NONE, OutgoingSegment, TcpSender, TcpSettings};
use crate::tcp::pacing::window_rate;

impl TcpSender {
    /// The next segment to send now, if any.
    #[inline(never)]
    pub fn poll(&mut self, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        if config.pacing { self.poll_paced(config, now) } else { self.poll_unpaced(config, now) }
    }

    #[inline(never)]
    fn poll_paced(&mut self, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        if now < self.pacer.ready_at() {
            return None;
        }
        let data = self.poll_unpaced(config, now)?;
        let flight = self.flight();
        let rate = self.cc.pacing_rate().unwrap_or_else(|| window_rate(&self.window, flight, self.rto.srtt()));
        self.pacer.record_departure(now, rate);
        Some(data)
    }

    /// When to call [`on_departure`](TcpSender::on_departure), if pacing delays the next segment. `None` while an
    /// earlier departure is pending. Call after [`poll`](TcpSender::poll) returned `None`.
    #[inline]
    pub fn schedule_departure(&mut self, config: &TcpSettings, now: Time) -> Option<Time> {
        if config.pacing { self.pacer.arm(now) } else { None }
    }

    /// The departure time has come: `poll` may return a segment.
    pub fn on_departure(&mut self) {
        self.pacer.disarm();
    }

    /// The next segment that the windows allow.
    #[inline(always)]
    fn poll_unpaced(&mut self, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        if self.waiting_for_timer {
            return None;
        }
        if self.sack.is_some() {
            return self.poll_with_sack(config, now);
        }
        if self.retransmit_first {
            return Some(self.resend(config, now));
        }
        self.poll_window(config, now)
    }

    /// Sends while the window is open: new segments, or after a timeout the outstanding ones in order.
    #[inline(always)]
    fn poll_window(&mut self, config: &TcpSettings, now: Time) -> Option<OutgoingSegment> {
        if self.una == self.next_new {
            self.restart_after_idle(config, now);
        }
        let sent = self.next - self.una;
        // The receive window bounds sequence numbers, the congestion window the flight.
        let window = self.window.whole_segments() + self.limited_transmit_segments(config);
        let supply_used = self.supply_used(self.next, config);
        if sent >= window || sent >= config.window || supply_used {
            if sent >= window && !supply_used {
                self.record_use(sent);
            }
            return None;
        }
        self.limited_sent = self.limited_sent.saturating_add(u8::from(sent >= self.window.whole_segments()));
        let seq = self.next;
        let data = self.send(seq, config, now);
        self.record_use(sent + 1);
        // With duplicate acknowledgements, limited transmit may allow more.
        let more = sent + 1 < self.window.whole_segments() || self.dup_acks > 0;
        Some(OutgoingSegment { more, ..data })
    }

    /// Retransmits the first unacknowledged segment.
    #[inline(never)]
    fn resend(&mut self, config: &TcpSettings, now: Time) -> OutgoingSegment {
        self.retransmit_first = false;
        self.send(self.una, config, now)
    }

    #[inline(always)]
    pub(super) fn send(&mut self, seq: u32, config: &TcpSettings, now: Time) -> OutgoingSegment {
        let retransmitted = seq < self.next_new;
        if retransmitted {
            self.retransmits += 1;
            // Karn's algorithm: a retransmission cancels the running measurement. The next new segment is timed.
            self.timed_seq = NONE;
        } else {
            self.next_new = seq + 1;
            if self.timed_seq == NONE {
                (self.timed_seq, self.timed_at) = (seq, now);
            }
        }
        if seq >= self.next {
            self.next = seq + 1;
        }
        if self.end != ENDLESS {
            self.active_at = now;
        }
        if self.rto_at == Time::NEVER {
            self.rto_at = now + self.rto.timeout();
        }
        let cwr = (!retransmitted || config.ecn_retransmits) && std::mem::take(&mut self.cwr);
        OutgoingSegment { seq, cwr, retransmitted, more: true }
    }
}
