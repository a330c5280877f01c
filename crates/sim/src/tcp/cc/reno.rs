//! Reno's window: slow start, congestion avoidance, half for a loss or a mark.
//!
//! M. Allman, V. Paxson, E. Blanton, *TCP Congestion Control*, RFC 5681, 2009; K. Ramakrishnan, S. Floyd, D. Black,
//! *The Addition of ECN to IP*, RFC 3168, 2001.

use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// The window after a mark with Alternative Backoff, as a fraction (RFC 8511, section 3.1).
const BETA_ECN: f64 = 0.8;

/// Slow start's growth for an acknowledgement: one segment (RFC 5681, equation 2). With a `limit`, the acknowledged
/// segments up to that limit (RFC 3465, sections 2.2 and 2.3). After a timeout their number is ignored: it may include
/// segments that arrived long ago.
#[inline]
pub(super) fn slow_start_growth(ack: &AckInfo, limit: Option<u32>) -> f64 {
    match limit {
        Some(limit) if !ack.after_timeout => f64::from(ack.acked.min(limit)),
        _ => 1.0,
    }
}

/// `ssthresh` after a reduction: at least two segments. With `halve_cwnd` the sender rounds it.
pub(super) fn threshold(less: f64, config: &TcpSettings) -> f64 {
    if config.halve_cwnd { less } else { less.max(2.0) }
}

/// Reno has no state of its own.
#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl CongestionControl for Reno {
    /// Section 3.1: one segment an ACK in slow start, 1/cwnd in congestion avoidance; or, with appropriate byte
    /// counting, by the acknowledged segments.
    #[inline]
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if ack.may_grow {
            let by = match (config.abc, window.in_slow_start()) {
                (limit, true) => slow_start_growth(ack, limit),
                (None, false) => 1.0 / window.cwnd(),
                // RFC 3465, section 2.1: one segment per acknowledged window. An acknowledgement of a part of the
                // window adds that fraction of a segment, at most one.
                (Some(_), false) => (f64::from(ack.acked) / f64::from(window.whole_segments())).min(1.0),
            };
            window.grow(by, config, ack.now);
        }
    }

    /// RFC 3168, section 6.1.2: as for a loss, without retransmission. RFC 8511 reduces less.
    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        let used = if config.halve_cwnd { window.cwnd().min(f64::from(config.window)) } else { window.cwnd() };
        let less = used * if config.abe { BETA_ECN } else { 0.5 };
        window.ssthresh = threshold(less, config);
        window.set_cwnd(less.max(1.0), ack.now);
    }

    /// Half of the flight, but at least two segments (equation 4).
    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        window.ssthresh = threshold(loss.window_to_reduce / 2.0, config);
    }
}
