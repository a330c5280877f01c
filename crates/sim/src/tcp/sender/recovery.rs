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

use aqm::Time;
use headgate_scenario::Recovery;

use super::{AnyControl, CongestionWindow, LossInfo, RecoveryPhase, TcpSender, TcpSettings};
use crate::tcp::scoreboard::DUP_THRESH;

impl TcpSender {
    /// Segments beyond the window that duplicate acknowledgements allow: one for each of the first two (RFC 3042).
    #[inline]
    pub(super) fn limited_transmit_segments(&self, config: &TcpSettings) -> u32 {
        let duplicates_before_recovery =
            self.dup_acks > 0 && self.phase == RecoveryPhase::Open && config.limited_transmit;
        if duplicates_before_recovery && (self.next == self.next_new || config.limited_retransmit) {
            u32::from(self.dup_acks).min(DUP_THRESH - 1)
        } else {
            0
        }
    }

    /// Retransmits the next hole and deflates the window (RFC 6582, section 3.2, step 3). Restarts the timer, unless an
    /// `earlier` partial acknowledgement of this recovery has done so.
    pub(super) fn on_partial_ack(&mut self, acked: u32, earlier: bool, config: &TcpSettings, now: Time) {
        self.phase = RecoveryPhase::Recovery { partial: true };
        self.retransmit_first = true;
        let cwnd = self.window.cwnd();
        if config.partial_deflation {
            // Deflate by the acknowledged segments, then add one back, since at least one was acknowledged. The
            // inflation goes first; the halved window below it stays at least one.
            let least = if config.exit_burst { 2.0 } else { 1.0 };
            self.inflation = if self.inflation > acked { self.inflation + 1 - acked } else { 1 };
            self.window.set_cwnd((cwnd - f64::from(acked) + 1.0).max(least), now);
        } else {
            self.window.set_cwnd(cwnd - f64::from(std::mem::take(&mut self.inflation)), now);
        }
        if !earlier {
            self.restart_timer(now);
        }
    }

    pub(super) fn leave_recovery(&mut self, config: &TcpSettings, now: Time) {
        self.phase = RecoveryPhase::Open;
        (self.dup_acks, self.limited_sent) = (0, 0);
        let inflation = std::mem::take(&mut self.inflation);
        let cwnd = match config.recovery {
            Recovery::Reno | Recovery::NewReno if config.exit_burst => self.window.cwnd() - f64::from(inflation),
            Recovery::Sack if config.halve_cwnd && !config.prr => self.window.cwnd(),
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
            RecoveryPhase::Recovery { .. } => {
                self.inflation += 1;
                self.window.set_cwnd(self.window.cwnd() + 1.0, now);
            }
            RecoveryPhase::Open if self.is_loss_certain(config) => self.enter_recovery(config, now),
            RecoveryPhase::Open => {}
        }
    }

    /// Whether three duplicates have arrived, for the first time in this window of data (RFC 6582, section 3.2, step
    /// 2). Reno without `once_a_window` reacts to three duplicates each time.
    fn is_loss_certain(&self, config: &TcpSettings) -> bool {
        let each = config.recovery == Recovery::Reno && !config.once_a_window;
        let anew = each || self.recover == 0 || self.una > self.recover;
        anew && u32::from(self.dup_acks) >= DUP_THRESH
    }

    fn enter_recovery(&mut self, config: &TcpSettings, now: Time) {
        // RFC 5681, section 3.2, step 2: segments sent by limited transmit do not count.
        let flight = self.flight().saturating_sub(u32::from(self.limited_sent));
        if config.recovery == Recovery::Tahoe {
            self.lower_ssthresh_for_loss(flight, config, now);
            self.rto_at = Time::NEVER; // sending restarts it
            return self.restart_slow_start(config, now);
        }
        let cwnd = self.begin_recovery(flight, config, now);
        self.inflation = DUP_THRESH;
        self.window.set_cwnd(cwnd + f64::from(DUP_THRESH), now);
    }

    /// The number of segments that a loss halves: the outstanding ones (`flight`). With `halve_cwnd`, as in ns-2, it is
    /// the smaller of `cwnd` without inflation and the receive window. With `reduce_cwnd`, as in Linux, it is `cwnd`.
    pub(super) fn window_to_reduce(&self, flight: u32, config: &TcpSettings) -> f64 {
        let cwnd = self.window.cwnd() - f64::from(self.inflation);
        match config.halve_cwnd {
            true => cwnd.min(f64::from(config.window)),
            false if config.reduce_cwnd => cwnd.floor(),
            false => f64::from(flight),
        }
    }

    /// Lowers `ssthresh` for a loss with `flight` segments outstanding. Returns the window for the recovery.
    fn lower_ssthresh_for_loss(&mut self, flight: u32, config: &TcpSettings, now: Time) -> f64 {
        // RFC 3168, section 6.1.2: a loss after a mark in the same window of data causes no second reduction. Scalable
        // controls, whose marks reduce the window little, still react to losses (RFC 9331, section 4.3;
        // `dctcp_react_to_loss` in Linux). Model-based controls handle marks and losses separately.
        let once = !config.cc.traits().marks && !config.models();
        let reduced = once && self.ecn_recover > self.recover && self.una < self.ecn_recover;
        if reduced {
            return if config.halve_cwnd { self.window.cwnd() } else { self.window.ssthresh };
        }
        self.schedule_cwr(config);
        let loss = LossInfo { now, window_to_reduce: self.window_to_reduce(flight, config), next_new: self.next_new };
        self.lower_ssthresh(config, |cc, window| cc.on_loss(&loss, window, config))
    }

    /// Begins a recovery for a loss with `flight` segments outstanding: retransmits at once, and returns the recovery's
    /// window.
    pub(super) fn begin_recovery(&mut self, flight: u32, config: &TcpSettings, now: Time) -> f64 {
        let cwnd = self.lower_ssthresh_for_loss(flight, config, now);
        self.recover = self.next_new;
        self.ecn_recover = self.next_new;
        self.phase = RecoveryPhase::Recovery { partial: false };
        self.retransmit_first = true;
        if config.loss_restarts_timer {
            self.rto_at = now + self.rto.timeout();
        }
        cwnd
    }

    /// Lets the congestion control lower `ssthresh`; RFC 5681's equation 4 is the upper bound. While an earlier loss is
    /// being repaired, `ssthresh` does not rise. FlightSize then includes segments that arrived out of order, so half
    /// of it may exceed the path's capacity. Slow start to such a threshold would overflow the path again.
    ///
    /// Returns the window for the recovery.
    pub(super) fn lower_ssthresh(
        &mut self,
        config: &TcpSettings,
        lower: impl FnOnce(&mut AnyControl, &mut CongestionWindow),
    ) -> f64 {
        let most = if self.una < self.recover && !config.halve_cwnd { self.window.ssthresh } else { f64::INFINITY };
        lower(&mut self.cc, &mut self.window);
        self.window.ssthresh = self.window.ssthresh.min(most);
        let cwnd = self.window.ssthresh;
        self.round_ssthresh(config);
        self.max_flight = 0;
        if config.reduce_cwnd && !config.halve_cwnd { self.window.ssthresh } else { cwnd }
    }

    /// With `halve_cwnd` and `reduce_cwnd`, rounds `ssthresh` down, to at least two segments. With `halve_cwnd`, `cwnd`
    /// keeps its fraction (`TcpAgent::slowdown` in ns-2).
    pub(super) fn round_ssthresh(&mut self, config: &TcpSettings) {
        if config.halve_cwnd || config.reduce_cwnd {
            self.window.ssthresh = self.window.ssthresh.floor().max(2.0);
        }
    }
}
