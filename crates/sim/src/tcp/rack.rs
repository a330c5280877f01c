//! RACK (RFC 8985, section 6): a segment is lost if one sent after it has arrived, and a reordering window has passed.

use headgate_core::{Span, Time};

use super::outstanding::DUP_THRESH;
use super::transmissions::{Record, Transmissions, Verdict};

/// After how many recoveries without a duplicate report the reordering window shrinks again (section 6.2, step 4).
const PERSIST: u8 = 16;

/// How long a least round-trip time is trusted (Linux's tcp_min_rtt_wlen): a path may become longer (section 6.2, step 1).
const MIN_RTT_WINDOW: Span = Span::from_secs(300);

/// The state of section 5.3.
#[derive(Clone, Debug)]
pub struct Rack {
    /// Of all segments delivered, the transmission that was made last (RACK.segment), and its round-trip time.
    order: u32,
    rtt: Span,
    /// The least round-trip time, and when it was measured.
    min_rtt: Option<(Span, Time)>,
    /// The number after the highest segment delivered (RACK.fack).
    fack: u32,
    reordering_seen: bool,
    /// Until `una` reaches it, further reports of duplicates count for nothing (RACK.dsack_round).
    dsack_round: Option<u32>,
    multiplier: u32,
    persist: u8,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            order: 0,
            rtt: Span::ZERO,
            min_rtt: None,
            fack: 0,
            reordering_seen: false,
            dsack_round: None,
            multiplier: 1,
            persist: PERSIST,
        }
    }
}

impl Rack {
    /// The least round-trip time, zero before the first.
    pub fn min_rtt(&self) -> Span {
        self.min_rtt.map_or(Span::ZERO, |(rtt, _)| rtt)
    }

    /// A segment was delivered (steps 1 to 3).
    pub fn on_delivered(&mut self, seq: u32, record: &Record, now: Time) {
        let rtt = now - record.sent;
        if !record.again {
            self.measure(rtt, now);
            self.reordering_seen |= seq + 1 < self.fack;
        }
        self.fack = self.fack.max(seq + 1);
        // An acknowledgement of a retransmission that comes too soon is of the first transmission. A segment that was sent
        // before the latest and arrives after it does not set the round-trip time, as in Linux (`tcp_rack_advance`); step
        // 2 is not plain there.
        if record.order > self.order && !(record.again && rtt < self.min_rtt()) {
            (self.order, self.rtt) = (record.order, rtt);
        }
    }

    /// An acknowledgement of all before `una` was taken, of what was sent up to `max` (step 4): `duplicate` if it reports
    /// that a segment arrived twice.
    pub fn on_ack(&mut self, duplicate: bool, una: u32, max: u32) {
        self.dsack_round = self.dsack_round.filter(|round| una < *round);
        if duplicate && self.dsack_round.is_none() {
            self.dsack_round = Some(max);
            self.multiplier += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery has ended.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// How late a segment may be (RACK_update_reo_wnd): not at all where no reordering was seen and a loss is plain.
    pub fn window(&self, recovering: bool, arrived: u32, srtt: Option<Span>) -> Span {
        if !self.reordering_seen && (recovering || arrived >= DUP_THRESH) {
            return Span::ZERO;
        }
        let quarters = u64::from(self.multiplier).saturating_mul(self.min_rtt().as_nanos());
        Span::from_nanos(quarters / 4).min(srtt.unwrap_or(Span::ZERO))
    }

    /// Marks what is lost, calling `lost` with each (RACK_detect_loss); gives when to look again, or
    /// [`Time::NEVER`].
    pub fn detect(
        &self,
        sent: &mut Transmissions,
        window: Span,
        now: Time,
        mut lost: impl FnMut(&Transmissions, u32),
    ) -> Time {
        let mut again = Time::NEVER;
        sent.lose_while(|sent, seq| {
            let record = sent.record(seq);
            if record.order >= self.order {
                return Verdict::Stop;
            }
            let due = self.due(&record, window);
            if due <= now {
                lost(sent, seq);
                return Verdict::Lost;
            }
            // The latest of them: then all are known at once.
            again = due;
            Verdict::Wait
        });
        again
    }

    /// The retransmission timer has expired: `una` is lost, and what should have been acknowledged (section 6.3).
    pub fn on_timeout(
        &self,
        sent: &mut Transmissions,
        una: u32,
        window: Span,
        now: Time,
        mut lost: impl FnMut(&Transmissions, u32),
    ) {
        sent.lose_while(|sent, seq| {
            if seq != una && self.due(&sent.record(seq), window) > now {
                return Verdict::Wait;
            }
            lost(sent, seq);
            Verdict::Lost
        });
    }

    /// When a segment should have been acknowledged.
    fn due(&self, record: &Record, window: Span) -> Time {
        record.sent + self.rtt + window
    }

    fn measure(&mut self, rtt: Span, now: Time) {
        let stale = |(least, at): (Span, Time)| rtt <= least || now - at > MIN_RTT_WINDOW;
        if self.min_rtt.is_none_or(stale) {
            self.min_rtt = Some((rtt, now));
        }
    }
}
