//! RACK: loss detection by time (RFC 8985, section 6).
//!
//! A segment is lost if a segment sent later has been delivered and its own acknowledgement is overdue. It is overdue
//! when the latest round-trip time and a reordering window have passed since its transmission. The window lets reordered
//! segments arrive. It starts at a quarter of the minimum round-trip time and grows when duplicates (DSACK) show that it was too short.
//!
//! - Delivery of a segment: update the minimum round-trip time, the latest round-trip time, the latest delivered
//!   transmission and the signs of reordering.
//! - Each acknowledgement: [`detect`](Rack::detect) checks the segments sent before the latest delivered one, oldest
//!   first. If some are not overdue yet, the reordering timer repeats the check at the latest of their deadlines.
//! - Retransmission timeout: the first segment and all overdue ones are lost (section 6.3).
//!
//! | RFC 8985 | here |
//! | --- | --- |
//! | RACK.segment, RACK.rtt | `latest_order`, `latest_rtt` |
//! | RACK.min_RTT, RACK.fack | `min_rtt`, `fack` |
//! | RACK.reordering_seen, RACK.dsack_round | `reordering_seen`, `dsack_round` |
//! | RACK.reo_wnd_mult, RACK.reo_wnd_persist | `multiplier`, `persist` |
//! | RACK_update_reo_wnd, RACK_detect_loss | [`reordering_window`](Rack::reordering_window), [`detect`](Rack::detect) |

use aqm::{Span, Time};

use super::scoreboard::DUP_THRESH;
use super::transmissions::{LossDecision, Transmission, Transmissions};
use crate::send_clock::Timestamp;

/// Recoveries without a duplicate report before the reordering window shrinks again (section 6.2, step 4).
const PERSIST: u8 = 16;

/// Lifetime of a minimum round-trip time (Linux's tcp_min_rtt_wlen): a path may become longer (section 6.2, step 1).
const MIN_RTT_WINDOW: Span = Span::from_secs(300);

/// The state of section 5.3.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The latest transmission delivered (RACK.segment).
    latest_order: u32,
    /// The round-trip time of the latest transmission that the last acknowledgement delivered. It can be older than
    /// RACK.segment.
    latest_rtt: Span,
    /// The minimum round-trip time, and when it was measured. Zero before the first sample, since a real round trip
    /// takes time.
    min_rtt: Span,
    min_rtt_at: Time,
    /// The number after the highest segment delivered (RACK.fack).
    fack: u32,
    reordering_seen: bool,
    /// Duplicate reports are ignored until `una` reaches it (RACK.dsack_round).
    dsack_round: u32,
    multiplier: u32,
    persist: u8,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            latest_order: 0,
            latest_rtt: Span::ZERO,
            min_rtt: Span::ZERO,
            min_rtt_at: Time::ZERO,
            fack: 0,
            reordering_seen: false,
            dsack_round: 0,
            multiplier: 1,
            persist: PERSIST,
        }
    }
}

impl Rack {
    /// The minimum round-trip time, zero before the first.
    pub fn min_rtt(&self) -> Span {
        self.min_rtt
    }

    /// Records the delivery of a segment (steps 1 to 3), reported by an acknowledgement that echoes the timestamp `echo`.
    /// Returns its round-trip time, unless the acknowledgement may be for an earlier transmission.
    pub fn on_delivered(
        &mut self,
        seq: u32,
        transmission: &Transmission,
        echo: Option<Timestamp>,
        now: Time,
    ) -> Option<Span> {
        let rtt = now - transmission.sent;
        if !transmission.retransmitted {
            self.update_min_rtt(rtt, now);
            self.reordering_seen |= seq + 1 < self.fack;
        }
        self.fack = self.fack.max(seq + 1);
        // An acknowledgement within `min_rtt` after a retransmission is for the first transmission. So is one that echoes
        // an earlier timestamp.
        let earlier = echo.is_some_and(|echo| echo.is_before(transmission.sent));
        if transmission.retransmitted && (earlier || rtt < self.min_rtt()) {
            return None;
        }
        self.latest_order = self.latest_order.max(transmission.order);
        Some(rtt)
    }

    /// Sets RACK.rtt after an acknowledgement. `rtt` is the least round-trip time of the segments that it delivered.
    /// Step 2 takes these segments in the order of transmission. The segment sent last therefore counts, even if it was
    /// sent before RACK.segment. Linux takes them in the order of sequence numbers (`tcp_rack_advance`).
    pub fn update_rtt(&mut self, rtt: Option<Span>) {
        self.latest_rtt = rtt.unwrap_or(self.latest_rtt);
    }

    /// Widens the reordering window if an acknowledgement reports a `duplicate`, at most once per round trip (step 4).
    /// `una` and `next_new` are the first unacknowledged and the first unsent segment.
    pub fn on_ack(&mut self, duplicate: bool, una: u32, next_new: u32) {
        if duplicate && una >= self.dsack_round {
            self.dsack_round = next_new;
            self.multiplier += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery has ended. After 16 of them without a duplicate the window shrinks again (step 4).
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// The reordering window (RACK_update_reo_wnd): zero if no reordering was seen and a loss is evident, either by a
    /// recovery or by three later arrivals.
    pub fn reordering_window(&self, recovering: bool, arrived: u32, srtt: Option<Span>) -> Span {
        if !self.reordering_seen && (recovering || arrived >= DUP_THRESH) {
            return Span::ZERO;
        }
        let quarters = u64::from(self.multiplier).saturating_mul(self.min_rtt().as_nanos());
        Span::from_nanos(quarters / 4).min(srtt.unwrap_or(Span::ZERO))
    }

    /// Finds losses (RACK_detect_loss) and calls `lost` with each. Returns the time for the reordering timer, or
    /// [`Time::NEVER`].
    pub fn detect(
        &self,
        sent: &mut Transmissions,
        window: Span,
        now: Time,
        mut lost: impl FnMut(&Transmissions, u32),
    ) -> Time {
        let mut check_at = Time::NEVER;
        sent.scan_in_flight(|sent, seq| {
            let transmission = sent.transmission(seq);
            if transmission.order >= self.latest_order {
                return LossDecision::Stop;
            }
            let deadline = self.deadline(&transmission, window);
            if deadline <= now {
                lost(sent, seq);
                return LossDecision::Lost;
            }
            // The latest deadline: one check then finds all losses.
            check_at = deadline;
            LossDecision::Wait
        });
        check_at
    }

    /// Retransmission timeout: `una` and all overdue segments are lost (section 6.3).
    pub fn on_timeout(
        &self,
        sent: &mut Transmissions,
        una: u32,
        window: Span,
        now: Time,
        mut lost: impl FnMut(&Transmissions, u32),
    ) {
        sent.scan_in_flight(|sent, seq| {
            if seq != una && self.deadline(&sent.transmission(seq), window) > now {
                return LossDecision::Wait;
            }
            lost(sent, seq);
            LossDecision::Lost
        });
    }

    /// When the acknowledgement of a segment becomes overdue.
    fn deadline(&self, transmission: &Transmission, window: Span) -> Time {
        transmission.sent + self.latest_rtt + window
    }

    fn update_min_rtt(&mut self, rtt: Span, now: Time) {
        let first = self.min_rtt == Span::ZERO;
        if first || rtt <= self.min_rtt || now - self.min_rtt_at > MIN_RTT_WINDOW {
            (self.min_rtt, self.min_rtt_at) = (rtt, now);
        }
    }
}
