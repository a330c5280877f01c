//! Prague: DCTCP for the Internet, in the L queue of a dual queue (RFC 9330 to 9332).
//!
//! The flow sends ECT(1) and counts marks by accurate ECN feedback (RFC 9768). It keeps the average fraction of marked
//! segments, `alpha`. At most once a round trip, marks reduce the window by `alpha` / 2. The average begins at 0, so
//! the first mark halves the window instead.
//!
//! - Acknowledgement: each unmarked segment grows the window by 1/cwnd. At the end of a round trip `alpha` is updated.
//! - Mark: reduce by `alpha` / 2. Loss: halve, as Reno does.
//! - Round trips below 25 ms count as 25 ms ([`TARGET`]), from the fourth round trip after slow start on. Growth per
//!   round trip is then smaller by (RTT / 25 ms)^2, so that short flows do not starve long ones.
//!
//! Sources: K. De Schepper, O. Tilmans, B. Briscoe, *Prague Congestion Control*,
//! draft-briscoe-iccrg-prague-congestion-control; requirements in RFC 9331, section 4. Where the draft leaves room,
//! the values are those of `tcp_prague.c` 0.7 (L4STeam's Linux).
//!
//! | draft | here |
//! | --- | --- |
//! | alpha, g | [`MarkFraction`], [`GAIN`](super::mark_fraction::GAIN) |
//! | RTT_virt | [`TARGET`] |
//!
//! - Below one segment the window is a pace: a segment leaves less often than once in a round trip. Marks halve it there,
//!   and each unmarked segment doubles it.
//! - Marks of a classic queue reduce the window as with CUBIC ([`ClassicQueue`], with `classic_fallback`).
//!
//! Deviations: the window is reduced at once instead of by a segment per ACK. The pacing rate does not vary by 3 %. How a
//! window below one segment grows is ours: the draft asks for such windows and leaves it open.

use aqm::{Span, Time};

use super::classic_queue::ClassicQueue;
use super::mark_fraction::MarkFraction;
use super::reno::Reno;
use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// Flows with a shorter round-trip time act as if it were this long.
const TARGET: Span = Span::from_millis(25);
/// Round trips after slow start before [`TARGET`] applies.
const ROUNDS: u32 = 4;
/// The smallest window: a segment in 16 round trips.
const SMALLEST: f64 = 1.0 / 16.0;

#[derive(Clone, Debug)]
pub struct Prague {
    mark_fraction: MarkFraction,
    /// The flow has reacted to a mark.
    has_reacted: bool,
    /// Round trips since slow start.
    rounds: u32,
    /// When the average was last updated, and the window last reduced.
    updated_at: Time,
    reduced_at: Time,
    /// The window in segments while it is below one; else 1.
    below_one: f64,
    classic_queue: ClassicQueue,
    /// The pacing rate in segments per second, once a round trip is known.
    pacing_rate: Option<f64>,
}

impl Prague {
    pub fn new(_: &TcpSettings) -> Prague {
        Prague {
            mark_fraction: MarkFraction::new(0.0),
            has_reacted: false,
            rounds: 0,
            updated_at: Time::ZERO,
            reduced_at: Time::ZERO,
            below_one: 1.0,
            classic_queue: ClassicQueue::default(),
            pacing_rate: None,
        }
    }

    /// Whether the flow follows [`TARGET`] and less than that has passed since `then`.
    fn too_early(&self, then: Time, now: Time) -> bool {
        self.rounds >= ROUNDS && now - then < TARGET
    }

    /// Growth in segments per round trip. It is quadratic in the round-trip time: with a shorter one, growth happens
    /// more often and each segment adds more to the rate.
    fn increase(&self, srtt: Option<Span>) -> f64 {
        match srtt {
            Some(srtt) if self.rounds >= ROUNDS && srtt < TARGET => {
                let part = srtt.as_secs_f64() / TARGET.as_secs_f64();
                part * part
            }
            _ => 1.0,
        }
    }

    /// The pacing rate in segments per second.
    fn pace(&self, ack: &AckInfo, window: &CongestionWindow) -> Option<f64> {
        if self.below_one < 1.0 {
            // The acknowledgement of a lone segment waits for the receiver's timer, which is no part of the path.
            return self.classic_queue.least_rtt().map(|rtt| self.below_one / rtt.max(1e-9));
        }
        // Linux: twice the rate in the first half of slow start.
        let ratio = if window.cwnd() < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let srtt = ack.srtt.or(ack.rtt);
        srtt.map(|srtt| ratio * window.cwnd().max(f64::from(ack.flight)) / srtt.as_secs_f64())
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        // Unmarked segments grow the window, even in a round trip with a reduction for marks.
        let clean = f64::from(ack.acked.saturating_sub(ack.marked));
        if let Some(rtt) = ack.rtt {
            self.classic_queue.on_rtt(rtt, window.ssthresh);
        }
        if self.below_one < 1.0 {
            self.below_one = (self.below_one * (1.0 + clean)).min(1.0);
        } else if window.in_slow_start() {
            Reno.on_ack(ack, window, config);
        } else if !ack.recovering && clean > 0.0 {
            let by = clean * self.increase(ack.srtt) / window.cwnd();
            window.grow(by, config, ack.now);
        }
        if self.mark_fraction.on_ack(ack) && !self.too_early(self.updated_at, ack.now) {
            self.mark_fraction.end_window(ack);
            self.updated_at = ack.now;
            if self.has_reacted {
                self.classic_queue.end_round();
            }
            self.rounds = if window.in_slow_start() { 0 } else { self.rounds + 1 };
        }
        self.pacing_rate = self.pace(ack, window);
    }

    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if self.too_early(self.reduced_at, ack.now) {
            return;
        }
        let least = if config.classic_fallback { self.classic_queue.least_alpha() } else { 0.0 };
        let part = if self.has_reacted { self.mark_fraction.alpha().max(least) / 2.0 } else { 0.5 };
        let less = window.cwnd() * self.below_one * (1.0 - part);
        self.below_one = less.clamp(SMALLEST, 1.0);
        window.ssthresh = less.max(2.0);
        window.set_cwnd(less.max(1.0), ack.now);
        self.has_reacted = true;
        self.reduced_at = ack.now;
    }

    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        Reno.on_loss(loss, window, config);
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }
}
