//! Finite data: segments offered by the application, and limits on the window of a sender that lacks data.

use aqm::Time;

use super::{AckInfo, ENDLESS, TcpSender, TcpSettings};

impl TcpSender {
    /// An established connection with nothing to send before [`offer`](TcpSender::offer).
    pub fn finite(config: &TcpSettings) -> TcpSender {
        TcpSender { end: 0, ..TcpSender::new(config) }
    }

    /// Adds `segments` to send; then call [`poll`](TcpSender::poll). No effect on unlimited data.
    pub fn offer(&mut self, segments: u32) {
        let most = if self.end == ENDLESS { ENDLESS } else { ENDLESS - 1 };
        self.end = self.end.saturating_add(segments).min(most);
    }

    /// Makes data unlimited, until [`end_supply`](TcpSender::end_supply).
    pub fn supply_endlessly(&mut self) {
        self.end = ENDLESS - 1;
    }

    /// Ends the data with the segments already sent.
    pub fn end_supply(&mut self) {
        self.end = self.next_new;
    }

    /// The number after the last segment to send.
    pub fn supply_end(&self) -> u32 {
        self.end
    }

    /// The first unacknowledged segment: all before it have arrived.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Whether all offered data is acknowledged.
    #[inline]
    pub fn acked_all(&self) -> bool {
        self.una == self.end
    }

    /// Restarts as a new connection: windows, controller, timer and path estimates are those of
    /// [`new`](TcpSender::new). Sequence numbers, counts and outstanding segments remain. The receiver only needs to
    /// [begin a connection](crate::tcp::TcpReceiver::begin_connection).
    pub fn reset(&mut self, config: &TcpSettings, now: Time) {
        *self = TcpSender {
            una: self.una,
            next: self.next_new,
            next_new: self.next_new,
            end: self.end,
            window: self.window.reset(config, now),
            sack: self.sack.take().map(|sack| sack.for_new_connection(config)),
            marks: self.marks,
            ecn_cleared: self.ecn_cleared,
            pacer: self.pacer,
            retransmits: self.retransmits,
            timeouts: self.timeouts,
            ..TcpSender::new(config)
        };
        self.restart_timer(now);
    }

    /// Whether the application has not yet written segment `next`: its data ends before it, or the send buffer is full.
    #[inline]
    pub(super) fn supply_used(&self, next: u32, config: &TcpSettings) -> bool {
        next == self.end || (config.send_buffer.is_some() && next - self.una >= config.buffered_segments())
    }

    /// Whether growth of the window is limited to what the application uses.
    #[inline]
    pub(super) fn may_lack_data(&self, config: &TcpSettings) -> bool {
        self.end != ENDLESS || config.send_buffer.is_some()
    }

    /// Whether the application supplies too little: all its data is sent, and the window has room. Always
    /// false with `grow_unused`, and with `recent_use`, which judges an unused window by itself.
    #[inline(always)]
    pub(super) fn is_app_limited(&self, config: &TcpSettings) -> bool {
        let judged = !config.grow_unused && !config.recent_use;
        judged && self.supply_used(self.next, config) && self.flight() < self.window.whole_segments()
    }

    /// With `recent_use`, forbids growth to a window that data has not filled within the last round trip.
    #[inline]
    pub(super) fn forbid_unused_growth(&self, info: &mut AckInfo, config: &TcpSettings) {
        if let Some(options) = &self.options
            && config.recent_use
        {
            let (cwnd, slow_start) = (self.window.whole_segments(), self.window.in_slow_start());
            info.may_grow &= options.window_use.permits_growth(cwnd, slow_start);
        }
    }

    /// With `recent_use`, records how far the segments outstanding fill the window. Of them, `in_flight` count against
    /// it.
    #[inline]
    pub(super) fn record_use(&mut self, in_flight: u32) {
        if self.options.is_some() {
            self.record_use_in_options(in_flight);
        }
    }

    #[inline(never)]
    fn record_use_in_options(&mut self, in_flight: u32) {
        if let Some(options) = &mut self.options {
            options.window_use.record(in_flight >= self.window.whole_segments(), self.una, self.next_new);
        }
    }

    /// Limits the congestion control's growth on an acknowledgement. The window stays within one round trip's growth of
    /// the largest flight since the last reduction (draft-ietf-ccwg-ratelimited-increase, maxFS). An unused window says
    /// nothing about the path.
    #[inline(never)]
    pub(super) fn limit_growth(&mut self, info: AckInfo, before: f64, config: &TcpSettings) {
        if config.pause_from_ack && info.acked > 0 {
            self.active_at = info.now;
        }
        if config.grow_unused || config.recent_use {
            return;
        }
        let cwnd = self.window.cwnd();
        if cwnd < before {
            self.max_flight = 0;
        }
        self.max_flight = self.max_flight.max(info.flight);
        let used = f64::from(self.max_flight);
        let most = if before < self.window.ssthresh { 2.0 * used } else { self.cc.cwnd_after_round_trip(used) };
        if cwnd > most.max(before) {
            self.window.set_cwnd(most.max(before), info.now);
        }
    }

    /// Sending resumes after a pause. After a pause longer than the timeout, the window is at most the restart window
    /// (RFC 5681, section 4.1: min(IW, cwnd)).
    #[inline(never)]
    pub(super) fn restart_after_idle(&mut self, config: &TcpSettings, now: Time) {
        let more = self.next < self.end && self.end != ENDLESS;
        if more && !config.grow_unused {
            self.cc.on_resume(now, &mut self.window);
        }
        if more && config.idle_restart && now - self.active_at > self.rto.timeout() {
            let most = if config.restart_from_one { 1 } else { config.initial_window };
            self.window.set_cwnd(self.window.cwnd().min(f64::from(most)), now);
            self.max_flight = 0;
        }
    }
}
