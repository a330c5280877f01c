//! Fast retransmit and fast recovery without SACK, and the steps common to all recoveries.
//!
//! Three duplicate acknowledgements mean that the segment `una` is lost. The sender retransmits it at once and lowers
//! `ssthresh`. Recovery lasts until all data sent before it (`recover`) is acknowledged.
//!
//! | event | action | source |
//! | --- | --- | --- |
//! | first and second duplicate | send one new segment each (limited transmit) | RFC 3042 |
//! | third duplicate | retransmit `una`; `cwnd` = `ssthresh` + 3 | RFC 5681, section 3.2 |
//! | further duplicates | `cwnd` + 1: a segment has left the network | RFC 5681, section 3.2, step 4 |
//! | partial acknowledgement (NewReno) | retransmit the new `una`; deflate `cwnd` | RFC 6582, section 3.2, step 3 |
//! | acknowledgement of `recover` (Reno: of any new data) | `cwnd` = `ssthresh`; recovery ends | RFC 5681, RFC 6582 |
//!
//! Tahoe has no recovery: on the third duplicate it restarts slow start from one segment.

use headgate_core::Time;
use headgate_scenario::Recovery;

use super::{AnyControl, CongestionWindow, LossInfo, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::scoreboard::DUP_THRESH;

impl TcpSender {
    /// Segments beyond the window that duplicate acknowledgements allow: one for each of the first two (RFC 3042).
    #[inline]
    pub(super) fn limited_transmit_segments(&self, config: &TcpSettings) -> u32 {
        let duplicates_before_recovery =
            self.dup_acks > 0 && self.next == self.next_new && self.phase == RecoveryPhase::Open;
        if duplicates_before_recovery && config.limited_transmit {
            u32::from(self.dup_acks).min(DUP_THRESH - 1)
        } else {
            0
        }
    }

    /// Retransmits the next hole and deflates the window (RFC 6582, section 3.2, step 3). Restarts the timer, unless an
    /// `earlier` partial acknowledgement has.
    pub(super) fn on_partial_ack(&mut self, acked: u32, earlier: bool, now: Time) {
        self.phase = RecoveryPhase::Recovery { partial: true };
        self.retransmit_first = true;
        // Deflate by the acknowledged segments, then add one back, since at least one was acknowledged.
        self.window.set_cwnd((self.window.cwnd() - f64::from(acked) + 1.0).max(1.0), now);
        if !earlier {
            self.restart_timer(now);
        }
    }

    pub(super) fn leave_recovery(&mut self, config: &TcpSettings, now: Time) {
        self.phase = RecoveryPhase::Open;
        (self.dup_acks, self.limited_sent) = (0, 0);
        let cwnd = match config.recovery {
            // RFC 6582, step 3, option 1: no burst when little is left in flight.
            Recovery::NewReno => self.window.ssthresh.min(f64::from(self.flight().max(1)) + 1.0),
            Recovery::Tahoe | Recovery::Reno | Recovery::Sack | Recovery::Rack => self.window.ssthresh,
        };
        self.window.set_cwnd(cwnd, now);
        self.restart_timer(now);
    }

    pub(super) fn on_dup_ack(&mut self, config: &TcpSettings, now: Time) {
        self.dup_acks = self.dup_acks.saturating_add(1);
        match self.phase {
            // RFC 5681, section 3.2, step 4: a segment has left the network.
            RecoveryPhase::Recovery { .. } => self.window.set_cwnd(self.window.cwnd() + 1.0, now),
            RecoveryPhase::Open if self.is_loss_certain(config) => self.enter_recovery(config, now),
            RecoveryPhase::Open => {}
        }
    }

    /// Whether three duplicates have arrived, for the first time in this window of data (RFC 6582, section 3.2, step
    /// 2).
    fn is_loss_certain(&self, config: &TcpSettings) -> bool {
        let anew = config.recovery == Recovery::Reno || self.recover == 0 || self.una > self.recover;
        anew && u32::from(self.dup_acks) >= DUP_THRESH
    }

    fn enter_recovery(&mut self, config: &TcpSettings, now: Time) {
        // RFC 5681, section 3.2, step 2: segments sent by limited transmit do not count.
        let flight = self.flight() - u32::from(self.limited_sent);
        if config.recovery == Recovery::Tahoe {
            self.lower_ssthresh_for_loss(flight, config, now);
            self.rto_at = Time::NEVER; // sending restarts it
            return self.restart_slow_start(config, now);
        }
        self.begin_recovery(flight, config, now);
        self.window.set_cwnd(self.window.ssthresh + f64::from(DUP_THRESH), now);
    }

    /// Lowers `ssthresh` for a loss with `flight` segments outstanding.
    fn lower_ssthresh_for_loss(&mut self, flight: u32, config: &TcpSettings, now: Time) {
        // RFC 3168, section 6.1.2: a loss after a mark in the same window of data causes no second reduction. Scalable
        // controls, whose marks reduce the window little, still react to losses (RFC 9331, section 4.3;
        // `dctcp_react_to_loss` in Linux). Model-based controls handle marks and losses separately.
        let once = !config.cc.needs().marks && !config.models();
        let reduced = once && self.ecn_recover > self.recover && self.una < self.ecn_recover;
        if !reduced {
            let loss = LossInfo { now, flight, next_new: self.next_new };
            self.lower_ssthresh(|cc, window| cc.on_loss(&loss, window, config));
            self.schedule_cwr(config);
        }
    }

    /// Begins a recovery for a loss with `flight` segments outstanding; retransmits at once.
    pub(super) fn begin_recovery(&mut self, flight: u32, config: &TcpSettings, now: Time) {
        self.lower_ssthresh_for_loss(flight, config, now);
        self.recover = self.next_new;
        self.ecn_recover = self.next_new;
        self.phase = RecoveryPhase::Recovery { partial: false };
        self.retransmit_first = true;
    }

    /// Lets the congestion control lower `ssthresh`; RFC 5681's equation 4 is the upper bound. While an earlier loss is
    /// being repaired, `ssthresh` does not rise. FlightSize then includes segments that arrived out of order, so half
    /// of it may exceed the path's capacity. Slow start to such a threshold would overflow the path again.
    pub(super) fn lower_ssthresh(&mut self, lower: impl FnOnce(&mut AnyControl, &mut CongestionWindow)) {
        let most = if self.una < self.recover { self.window.ssthresh } else { f64::INFINITY };
        lower(&mut self.cc, &mut self.window);
        self.window.ssthresh = self.window.ssthresh.min(most);
        self.max_flight = 0;
    }
}
