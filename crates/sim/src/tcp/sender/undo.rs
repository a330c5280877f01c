//! Takes back a reduction of the window whose retransmissions were needless: the segments were late, not lost.
//!
//! A retransmission is needless if the acknowledgement of its segment echoes a timestamp from before the retransmission
//! (Eifel detection, RFC 3522), or if the receiver reports each retransmitted segment as received twice (RFC 3708). The
//! sender then restores `cwnd` and `ssthresh`, and takes back the losses that it has not yet repaired.
//!
//! | state when the acknowledgement arrives | proof |
//! | --- | --- |
//! | fast recovery, all of it acknowledged | timestamp or duplicates |
//! | fast recovery, a part acknowledged | timestamp, if no retransmission is in flight; or duplicates |
//! | repair of a timeout, new data acknowledged | timestamp or duplicates |
//! | neither | duplicates |
//!
//! An ECN echo forbids it: the mark is a sign of congestion. The windows return to those before the reduction, as in
//! Linux; RFC 4015 also lets the sender adapt its timeout.
//!
//! | Linux 6.1 | here |
//! | --- | --- |
//! | undo_marker, undo_retrans, retrans_stamp | `marker`, `unproven`, `first_retransmission` |
//! | prior_cwnd, prior_ssthresh | `cwnd`, `ssthresh` |
//! | tcp_init_undo, tcp_may_undo and tcp_try_undo_* | [`remember_windows`](TcpSender::remember_windows), [`try_undo`](TcpSender::try_undo) |
//! | tcp_undo_cwnd_reduction | [`undo_reduction`](TcpSender::undo_reduction) |

use aqm::Time;

use super::sacked::SackState;
use super::{Ack, RecoveryPhase, TcpSender};
use crate::segment::SackBlock;

/// The last reduction of the window, as long as it may prove needless.
#[derive(Clone, Copy, Debug, Default)]
pub struct UndoState {
    /// The first segment of the window of data that was reduced; `None` if there is nothing to take back.
    marker: Option<u32>,
    /// Retransmissions since the reduction that no duplicate has proved needless; `None` before the first one.
    unproven: Option<u32>,
    /// When the first of these was sent.
    first_retransmission: Option<Time>,
    /// The windows before the reduction; no `ssthresh` if a mark has forbidden to restore them.
    cwnd: f64,
    ssthresh: Option<f64>,
}

impl UndoState {
    pub fn on_retransmission(&mut self, now: Time) {
        self.unproven = Some(self.unproven.unwrap_or(0) + 1);
        self.first_retransmission = self.first_retransmission.or(Some(now));
    }

    /// Segments were reported as received twice.
    fn on_duplicate(&mut self, (start, end): SackBlock) {
        if let (Some(unproven), true) = (&mut self.unproven, self.marker.is_some_and(|marker| end > marker)) {
            *unproven = unproven.saturating_sub(end - start);
        }
    }

    /// Whether the acknowledgement is for segments sent before the first retransmission.
    fn is_delayed(&self, ack: &Ack) -> bool {
        self.first_retransmission.is_none_or(|first| ack.echo.is_some_and(|echo| echo.is_before(first)))
    }
}

/// What an acknowledgement did to the repair of losses.
#[derive(Clone, Copy, Debug)]
pub struct RepairProgress {
    /// It acknowledges new data.
    pub advanced: bool,
    /// It acknowledges all data of the recovery or timeout.
    pub recovered: bool,
    /// Losses were being repaired before it.
    pub repairing: bool,
}

impl TcpSender {
    fn undo(&mut self) -> Option<&mut UndoState> {
        self.options.as_mut()?.undo.as_mut()
    }

    /// Remembers the windows before a reduction. Retransmissions in flight, if they are known, may be reported as
    /// duplicates later.
    pub(super) fn remember_windows(&mut self, sack: Option<&SackState>) {
        let (una, repairing) = (self.una, self.recovering());
        let (cwnd, ssthresh) = (self.window.cwnd(), self.window.ssthresh);
        let kept = if self.phase == RecoveryPhase::Open { ssthresh.max(0.75 * cwnd) } else { ssthresh };
        // A mark has already reduced the window in this window of data.
        let marked = self.ecn_recover > self.recover && una < self.ecn_recover;
        let Some(undo) = self.undo() else { return };
        let tracker = sack.and_then(|sack| sack.tracker.as_ref());
        let in_flight = tracker.map_or(0, |tracker| tracker.transmissions.retransmissions_in_flight());
        *undo = UndoState {
            marker: Some(una),
            unproven: Some(in_flight).filter(|segments| *segments > 0),
            first_retransmission: undo.first_retransmission.filter(|_| repairing),
            cwnd,
            ssthresh: (!marked).then_some(kept),
        };
    }

    pub(super) fn record_retransmission(&mut self, now: Time) {
        if let Some(undo) = self.undo() {
            undo.on_retransmission(now);
        }
    }

    /// Nothing can be taken back: the reduction was for a mark.
    pub(super) fn forget_windows(&mut self) {
        if let Some(undo) = self.undo() {
            (undo.marker, undo.ssthresh) = (None, None);
        }
    }

    /// An ECN echo arrived: the windows stay reduced.
    pub(super) fn forbid_undo(&mut self) {
        if let Some(undo) = self.undo() {
            undo.ssthresh = None;
        }
    }

    /// Takes the last reduction back if an acknowledgement proves it needless. Returns whether it does.
    pub(super) fn try_undo(&mut self, sack: &mut SackState, ack: &Ack, progress: RepairProgress, now: Time) -> bool {
        let RepairProgress { advanced, recovered, repairing } = progress;
        let in_recovery = self.phase != RecoveryPhase::Open;
        let Some(undo) = self.undo() else { return false };
        if let Some(duplicate) = ack.duplicate() {
            undo.on_duplicate(duplicate);
        }
        if undo.marker.is_none() {
            return false;
        }
        let duplicates = undo.unproven == Some(0);
        let delayed = advanced && repairing && undo.is_delayed(ack);
        let after_timeout = repairing && !in_recovery;
        let retransmits =
            || sack.tracker.as_ref().is_some_and(|tracker| tracker.transmissions.retransmissions_in_flight() > 0);
        let needless = match (after_timeout, in_recovery && !recovered) {
            (true, _) => advanced && (duplicates || delayed),
            (_, true) => duplicates || (delayed && !retransmits()),
            _ => duplicates || delayed,
        };
        if needless {
            self.undo_reduction(sack, delayed || after_timeout, repairing, now);
        }
        needless
    }

    /// Restores the windows and ends the recovery, if one is in progress (`repairing`). With `losses`, takes back the
    /// losses that wait for a retransmission.
    fn undo_reduction(&mut self, sack: &mut SackState, losses: bool, repairing: bool, now: Time) {
        let Some(undo) = self.undo() else { return };
        undo.marker = None;
        let (cwnd, ssthresh) = (undo.cwnd, undo.ssthresh);
        if let Some(ssthresh) = ssthresh {
            self.window.set_cwnd(self.window.cwnd().max(cwnd), now);
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.cwr = false;
            }
        }
        if losses {
            sack.scoreboard.forget_losses();
            sack.tracker.iter_mut().for_each(|tracker| tracker.forget_losses());
            self.retransmit_first = false;
        }
        if repairing {
            sack.tracker.iter_mut().for_each(|tracker| tracker.prr = None);
            self.phase = RecoveryPhase::Open;
            (self.recover, self.ecn_recover) = (self.una, self.una);
            (self.after_timeout, self.dup_acks, self.limited_sent) = (false, 0, 0);
        }
    }
}
