//! The sending side of a connection.
//!
//! The sender keeps the sequence numbers and the timers, and finds and repairs losses. The congestion control (`cc`)
//! only moves the window. Data in flight is limited by the smaller of the congestion window and the receive window.
//!
//! - An acknowledgement passes through [`on_ack`](TcpSender::on_ack): count marks, move the window, sample the
//!   round-trip time, react to ECN, then advance `una` or count a duplicate. SACK senders do this in `sacked.rs`.
//! - The timer passes through [`on_timer`](TcpSender::on_timer): back off, reduce to one segment, and restart slow
//!   start at `una`.
//! - [`poll`](TcpSender::poll) returns the next segment that windows and pacing allow.
//!
//! Sources: RFC 5681 (slow start, congestion avoidance, Reno), RFC 6582 (NewReno), RFC 6675 (SACK), RFC 3042 (limited
//! transmit), RFC 6298 (timer), RFC 3168 (ECN).
//!
//! | RFC | here |
//! | --- | --- |
//! | SND.UNA, SND.NXT | `una`, `next` |
//! | highest SND.NXT so far (HighData + 1) | `next_new`: the first segment that was never sent |
//! | recover + 1 (RFC 6582), RecoveryPoint + 1 (RFC 6675) | `recover` |
//! | FlightSize (RFC 5681) | `flight` |

mod limit;
mod marks;
mod options;
mod recovery;
mod sacked;
mod sacked_losses;
mod sacked_sending;
mod sending;
mod state;
mod supply;
mod undo;
mod window_use;

use aqm::{Rng, Span, Time};
use headgate_scenario::Recovery;

use super::TcpSettings;
use super::accecn::{Ace, EcnCounts};
use super::cc::{AckInfo, AnyControl, CongestionWindow, LossInfo};
use super::pacing::Pacer;
use super::rto::Rto;
use crate::prefetch::prefetch;
use crate::segment::{SackBlock, SackBlocks};
use crate::send_clock::Timestamp;
pub use limit::SendLimit;
use options::SenderOptions;
use sacked::SackState;
pub use state::{LossState, OutstandingCounts};

/// An acknowledgement as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The next segment the receiver expects.
    pub ack: u32,
    /// ECN echo.
    pub ece: bool,
    /// The ACE field of accurate ECN feedback.
    pub ace: Ace,
    /// Selective acknowledgements.
    pub blocks: Option<SackBlocks>,
    /// The one-way delay that the receiver has measured.
    pub delay: Option<Span>,
    /// With `timestamps`, when the segment that advanced the acknowledgement was sent (TSecr, RFC 7323).
    pub echo: Option<Timestamp>,
    /// With `accecn_option`, what the receiver has counted.
    pub counts: Option<EcnCounts>,
}

impl Ack {
    /// The segments reported as received twice: the first block, if it lies below the acknowledgement or within the
    /// second block (RFC 2883, section 4).
    pub fn duplicate(&self) -> Option<SackBlock> {
        let [first, second, _] = self.blocks?;
        let within = second.0 <= first.0 && first.1 <= second.1;
        (first.0 < first.1 && (first.1 <= self.ack || within)).then_some(first)
    }
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingSegment {
    /// Its sequence number.
    pub seq: u32,
    /// Congestion window reduced.
    pub cwr: bool,
    /// It is a retransmission.
    pub retransmitted: bool,
    /// Another segment may follow at once. If not, the window is full, and [`poll`](TcpSender::poll) need not be asked.
    pub more: bool,
}

/// The state of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecoveryPhase {
    /// Slow start or congestion avoidance.
    Open,
    /// Fast recovery, until `recover` is acknowledged (Reno: until any new data is).
    Recovery {
        /// A partial acknowledgement has arrived (RFC 6582: only the first restarts the timer).
        partial: bool,
    },
}

/// The sending side of one connection. Every call takes the group's [`TcpSettings`].
///
/// The fields fill three cache lines, and most acknowledgements need only the first two. With ten thousand flows each
/// line is a cache miss.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct TcpSender {
    una: u32,
    next: u32,
    next_new: u32,
    recover: u32,
    window: CongestionWindow,
    /// When the retransmission timer expires; [`Time::NEVER`] if it is off.
    rto_at: Time,
    /// The number after the last segment to send; [`ENDLESS`] for unlimited data.
    end: u32,
    /// Consecutive duplicate acknowledgements, saturating.
    dup_acks: u8,
    phase: RecoveryPhase,
    /// Retransmit the first unacknowledged segment, even if the window is full.
    retransmit_first: bool,
    /// New segments sent by limited transmit.
    limited_sent: u8,
    // The second line.
    rto: Rto,
    /// When the segment `timed_seq` was sent.
    timed_at: Time,
    /// The number of the segment whose round trip is being timed, sent once; [`NONE`] if there is none.
    timed_seq: u32,
    /// After an ECN echo at a window of one, sending waits for the timer.
    waiting_for_timer: bool,
    /// The window was reduced, for whatever reason: the next new segment carries CWR (RFC 3168, section 6.1.2).
    cwr: bool,
    /// The path clears the ECN field: segments are sent without ECT.
    ecn_cleared: bool,
    /// In slow start after a timeout.
    after_timeout: bool,
    /// The scoreboard, and send times if needed; `None` without SACK.
    sack: Option<SackState>,
    retransmits: u32,
    timeouts: u32,
    // The third line.
    cc: AnyControl,
    /// `una` at the last timeout. A second timeout of the same segment leaves `ssthresh` alone (RFC 5681, equation 4).
    timeout_una: u32,
    /// The end of the window of data in which the sender last reacted to an ECN echo.
    ecn_recover: u32,
    /// Marked segments that accurate feedback has reported (RFC 9768's s.cep less its initial value).
    marks: u32,
    /// The part of `cwnd` that duplicate acknowledgements of the current recovery have added.
    inflation: u32,
    /// When the current idle period began, if the sender is idle: at its last transmission. With `pause_from_ack` a
    /// later acknowledgement of new data counts instead. Not updated while `end` is [`ENDLESS`].
    active_at: Time,
    /// The largest flight since the last reduction; used only if data may run out or a send buffer may fill.
    max_flight: u32,
    /// The acknowledgement number of the last ECN echo, while echoes come in a row at a window of one. Otherwise
    /// [`NONE`]. Used with `ecn_backoff` only.
    echo_at_one: u32,
    pacer: Pacer,
    /// State of rare options. `None` if they are all off.
    options: Option<Box<SenderOptions>>,
}

/// No segment has this number.
const NONE: u32 = u32::MAX;

/// The `end` of unlimited data.
const ENDLESS: u32 = u32::MAX;

impl TcpSender {
    /// An established connection with unlimited data.
    pub fn new(config: &TcpSettings) -> TcpSender {
        TcpSender {
            una: 0,
            next: 0,
            next_new: 0,
            recover: 0,
            window: CongestionWindow::new(config),
            rto_at: Time::NEVER,
            end: ENDLESS,
            dup_acks: 0,
            phase: RecoveryPhase::Open,
            retransmit_first: false,
            limited_sent: 0,
            rto: Rto::new(config),
            timed_at: Time::ZERO,
            timed_seq: NONE,
            waiting_for_timer: false,
            cwr: false,
            ecn_cleared: false,
            after_timeout: false,
            sack: config.recovery.is_selective().then(|| SackState::new(config)),
            retransmits: 0,
            timeouts: 0,
            timeout_una: NONE,
            ecn_recover: 0,
            cc: AnyControl::new(config),
            marks: 0,
            inflation: 0,
            active_at: Time::ZERO,
            max_flight: config.initial_window,
            echo_at_one: NONE,
            pacer: Pacer::default(),
            options: SenderOptions::new(config),
        }
    }

    /// Seeds the congestion control's random stream, for a connection that is new or [`reset`](TcpSender::reset).
    pub fn seed(&mut self, rng: &mut Rng) {
        self.cc.seed(rng);
    }

    /// The congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    /// The slow start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// The retransmission timeout and the round-trip estimates behind it.
    pub fn rto(&self) -> &Rto {
        &self.rto
    }

    /// When to call [`on_timer`](TcpSender::on_timer), if at all.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let deadline = self.sack.as_ref().map_or(self.rto_at, |sack| sack.deadline().min(self.rto_at));
        (deadline != Time::NEVER).then_some(deadline)
    }

    /// Prefetches the cache lines that most acknowledgements need.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch((self.una, self.timed_seq));
    }

    /// Segments sent so far, including retransmissions.
    pub fn sent(&self) -> u64 {
        u64::from(self.next_new) + u64::from(self.retransmits)
    }

    /// Retransmissions so far.
    pub fn retransmits(&self) -> u32 {
        self.retransmits
    }

    /// Retransmission timeouts so far.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Marked segments that accurate feedback has reported so far.
    pub fn marks(&self) -> u32 {
        self.marks
    }

    /// Whether segments are sent without ECT, because the path clears it.
    #[inline]
    pub fn ecn_cleared(&self) -> bool {
        self.ecn_cleared
    }

    /// The integral of `cwnd` over time up to `now`, in segments x nanoseconds.
    pub fn cwnd_area(&self, now: Time) -> f64 {
        self.window.cwnd_area(now)
    }

    /// Processes an acknowledgement. Then call [`poll`](TcpSender::poll) until it returns `None`.
    ///
    /// What few acknowledgements need gets copies of `ack` and `info`. With their addresses it would keep them in memory
    /// for all.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: Ack, config: &TcpSettings, now: Time) {
        if ack.ack > self.next_new {
            return; // acknowledges unsent data
        }
        if ack.ack < self.una {
            return self.on_old_ack(ack, config, now);
        }
        if self.sack.is_some() {
            return self.on_ack_with_sack(ack, config, now);
        }
        let mut info = self.ack_info(&ack, config, now);
        if config.accecn {
            self.count_marks(&mut info, (ack.ace, ack.counts));
        }
        self.forbid_unused_growth(&mut info, config);
        let before = self.window.cwnd();
        self.cc.on_ack_copied(&info, &mut self.window, config);
        self.after_timeout &= self.window.in_slow_start();
        if self.may_lack_data(config) {
            self.limit_growth(info, before, config);
        }
        if info.ece {
            self.on_echoing_ack(info, config);
        } else {
            self.sample_rtt(info.rtt, ack.ack, config);
        }
        if ack.ack > self.una {
            self.on_new_ack(info, config);
        } else if self.una < self.next_new {
            self.on_dup_ack(config, now);
        }
    }

    /// Handles the retransmission timer if it has expired (RFC 6298, section 5; RFC 5681, section 3.1).
    pub fn on_timer(&mut self, config: &TcpSettings, now: Time) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        if let Some(mut sack) = self.sack.take() {
            self.on_timer_sacked(&mut sack, config, now);
            self.sack = Some(sack);
            return;
        }
        self.rto_at = Time::NEVER;
        if !self.end_wait_after_echo(config, now) {
            self.time_out(config, now);
        }
    }

    fn time_out(&mut self, config: &TcpSettings, now: Time) {
        self.timeouts += 1;
        // ns-2 keeps `ssthresh` only if the last reduction was for an echo (`TcpAgent::timeout`).
        let reduced = config.reduce_once && self.phase != RecoveryPhase::Open;
        let lowers = match config.halve_cwnd {
            true => self.ecn_recover <= self.recover,
            false => self.timeout_una != self.una && !reduced,
        };
        if lowers {
            self.remember_windows(None);
            let loss = LossInfo {
                now,
                window_to_reduce: self.window_to_reduce(self.flight(), config),
                next_new: self.next_new,
            };
            self.lower_ssthresh(config, |cc, window| cc.on_timeout(&loss, window, config));
        }
        if lowers || reduced {
            self.timeout_una = self.una;
        }
        self.rto.back_off(config);
        self.restart_slow_start(config, now);
        if config.backs_off_on_echo() {
            self.ecn_recover = 0; // ns-2 answers the first echo after a timeout
        }
    }

    /// Restarts slow start from the first outstanding segment.
    fn restart_slow_start(&mut self, config: &TcpSettings, now: Time) {
        self.window.set_cwnd(1.0, now);
        self.after_timeout = true;
        self.schedule_cwr(config);
        self.phase = RecoveryPhase::Open;
        self.recover = self.next_new;
        self.ecn_recover = self.next_new;
        (self.dup_acks, self.limited_sent, self.retransmit_first, self.timed_seq) = (0, 0, false, NONE);
        self.inflation = 0;
        self.next = self.una;
    }

    #[inline(always)]
    fn on_new_ack(&mut self, info: AckInfo, config: &TcpSettings) {
        self.una = info.ack;
        self.next = self.next.max(info.ack);
        if self.phase == RecoveryPhase::Open {
            (self.dup_acks, self.limited_sent) = (0, 0);
            self.restart_timer(info.now);
        } else {
            self.on_new_ack_in_recovery(info, config);
        }
    }

    #[inline(never)]
    fn on_new_ack_in_recovery(&mut self, info: AckInfo, config: &TcpSettings) {
        let AckInfo { ack, acked, now, .. } = info;
        match self.phase {
            RecoveryPhase::Recovery { partial } if config.recovery != Recovery::Reno && ack < self.recover => {
                self.on_partial_ack(acked, partial && !config.slow_but_steady, config, now);
            }
            _ => {
                self.leave_recovery(config, now);
                if config.exit_burst {
                    self.update_cwnd(&AckInfo { may_grow: !info.ece, recovering: false, ..info }, config);
                }
            }
        }
    }

    /// The round-trip time that an acknowledgement measures. With `timestamps` each acknowledgement of new data
    /// measures one (RFC 7323, section 4.1). Otherwise it must cover the timed segment, which was sent once (Karn's
    /// algorithm, RFC 6298, section 3).
    #[inline]
    fn measured_rtt(&self, ack: &Ack, now: Time) -> Option<Span> {
        match ack.echo {
            Some(echo) => (ack.ack > self.una).then(|| now - echo.time()),
            // `NONE` is the largest number: no acknowledgement covers it.
            None => (ack.ack > self.timed_seq).then(|| now - self.timed_at),
        }
    }

    /// Updates the timeout with the round-trip time `rtt`, if an acknowledgement of all segments before `una` has
    /// measured one. Returns whether it has.
    #[inline]
    fn sample_rtt(&mut self, rtt: Option<Span>, una: u32, config: &TcpSettings) -> bool {
        if let Some(rtt) = rtt {
            self.on_rtt(rtt, una, config);
            self.timed_seq = NONE;
        }
        rtt.is_some()
    }

    /// Updates the timeout with a round-trip time, sampled by an acknowledgement of all segments before `una`.
    #[inline]
    fn on_rtt(&mut self, rtt: Span, una: u32, config: &TcpSettings) {
        match &mut self.options {
            Some(options) if config.rttvar_by_round => {
                self.rto.on_rtt_by_round(rtt, &mut options.deviation, (una, self.next_new), config);
            }
            _ => self.rto.on_rtt(rtt, config),
        }
    }

    /// Passes an acknowledgement to the congestion control.
    #[inline]
    fn update_cwnd(&mut self, info: &AckInfo, config: &TcpSettings) {
        self.cc.on_ack(info, &mut self.window, config);
        self.after_timeout &= self.window.in_slow_start();
    }

    /// Describes an acknowledgement for the congestion control.
    #[inline(always)]
    fn ack_info(&self, acknowledgement: &Ack, config: &TcpSettings, now: Time) -> AckInfo {
        let Ack { ack, ece, delay, .. } = *acknowledgement;
        let acked = ack - self.una;
        let rtt = self.measured_rtt(acknowledgement, now);
        AckInfo {
            now,
            ack,
            next_new: self.next_new,
            acked,
            delivered: self.delivered_without_sack(acked, config),
            flight: self.flight(),
            ece,
            marked: if ece { acked } else { 0 },
            recovering: self.phase != RecoveryPhase::Open,
            may_grow: acked > 0 && self.phase == RecoveryPhase::Open && !ece,
            app_limited: self.is_app_limited(config),
            after_timeout: self.after_timeout,
            rtt,
            delay,
            srtt: self.rto.srtt(),
            rate_sample: None,
        }
    }

    /// The segments that a cumulative acknowledgement newly reports as arrived. With `count_delivered` each earlier
    /// duplicate acknowledgement has reported one of the `acked` segments (`tcp_remove_reno_sacks` in Linux).
    #[inline]
    fn delivered_without_sack(&self, acked: u32, config: &TcpSettings) -> u32 {
        let counted = config.count_delivered && acked > 0 && self.phase == RecoveryPhase::Open;
        if counted { acked.saturating_sub(self.dup_acks.into()).max(1) } else { acked }
    }

    /// RFC 6298, section 5, rules (5.2) and (5.3).
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        if !self.waiting_for_timer {
            // With a window below one segment, only the timer lets the sender send.
            let runs = self.una < self.next_new || self.window.cwnd() < 1.0;
            self.rto_at = if runs { now + self.rto.timeout() } else { Time::NEVER };
        }
    }

    /// Outstanding segments (RFC 5681, FlightSize).
    fn flight(&self) -> u32 {
        self.next_new - self.una
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_fills_three_cache_lines() {
        assert_eq!(size_of::<TcpSender>(), 192);
        assert_eq!((std::mem::offset_of!(TcpSender, rto), std::mem::offset_of!(TcpSender, cc)), (64, 128));
    }
}
