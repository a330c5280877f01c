//! The retransmission timeout (RFC 6298), in integer nanoseconds.

use headgate_core::Span;

use super::TcpSettings;

/// Smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rto {
    /// Zero before the first sample, since a real round trip takes time.
    srtt: Span,
    rttvar: Span,
    timeout: Span,
}

impl Rto {
    /// The initial state (section 2.1).
    pub fn new(config: &TcpSettings) -> Rto {
        Rto { srtt: Span::ZERO, rttvar: Span::ZERO, timeout: config.initial_rto }
    }

    /// The smoothed round-trip time, once there was a sample.
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt != Span::ZERO).then_some(self.srtt)
    }

    /// The variation of the round-trip time, zero before the first sample.
    pub fn rttvar(&self) -> Span {
        self.rttvar
    }

    /// The timeout, backoff included.
    #[inline]
    pub fn timeout(&self) -> Span {
        self.timeout
    }

    /// Updates the timeout with the round-trip time of a segment sent once (Karn's algorithm, section 3). Ends any
    /// backoff.
    pub fn on_rtt(&mut self, rtt: Span, config: &TcpSettings) {
        let rtt = round_up(rtt, config.rto_granularity).as_nanos();
        let (srtt, rttvar) = match self.srtt() {
            None => (rtt, rtt / 2),
            Some(srtt) => {
                // Section 2.3: RTTVAR first, with the SRTT before this sample; alpha = 1/8, beta = 1/4.
                let srtt = srtt.as_nanos();
                let rttvar = self.rttvar.as_nanos();
                ((7 * srtt + rtt) / 8, (3 * rttvar + srtt.abs_diff(rtt)) / 4)
            }
        };
        (self.srtt, self.rttvar) = (Span::from_nanos(srtt.max(1)), Span::from_nanos(rttvar));
        self.timeout = self.estimate(config);
    }

    /// The timeout that follows from the estimates, without backoff (rules 2.2 to 2.5).
    #[inline]
    fn estimate(&self, config: &TcpSettings) -> Span {
        let least = config.min_rto_variance.unwrap_or(Span::ZERO).max(config.rto_granularity);
        let timeout = self.srtt + (self.rttvar * 4).max(least);
        round_up(timeout, config.rto_granularity).max(config.min_rto).min(config.max_rto)
    }

    /// By how much the timeout is longer than its estimate: 1 without backoff.
    pub fn backoff(&self, config: &TcpSettings) -> u64 {
        let estimate = self.srtt().map_or(config.initial_rto, |_| self.estimate(config));
        self.timeout.as_nanos() / estimate.as_nanos().max(1)
    }

    /// Multiplies the timeout by a backoff.
    pub fn multiply(&mut self, backoff: u64, config: &TcpSettings) {
        self.timeout = (self.timeout * backoff.max(1)).min(config.max_rto);
    }

    /// Doubles the timeout after it expired (section 5.5).
    pub fn back_off(&mut self, config: &TcpSettings) {
        self.timeout = (self.timeout * 2).min(config.max_rto);
    }
}

fn round_up(span: Span, granularity: Span) -> Span {
    match granularity.as_nanos() {
        0 | 1 => span,
        g => Span::from_nanos(span.as_nanos().div_ceil(g) * g),
    }
}
