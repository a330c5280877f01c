//! Reno's window: slow start, congestion avoidance, half for a loss or a mark.
//!
//! M. Allman, V. Paxson, E. Blanton, *TCP Congestion Control*, RFC 5681, 2009; K. Ramakrishnan, S. Floyd, D. Black,
//! *The Addition of ECN to IP*, RFC 3168, 2001.

use super::{AckInfo, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// The window after a mark with Alternative Backoff, as a fraction (RFC 8511, section 3.1).
const BETA_ECN: f64 = 0.8;

/// Grows the window by slow start: by one segment (RFC 5681, equation 2). With `abc`, by the acknowledged segments up to
/// that limit (RFC 3465, sections 2.2 and 2.3). After a timeout their number is ignored: it may include segments that
/// arrived long ago.
///
/// With `count_delivered` all delivered segments count, and `cwnd` grows to `ssthresh` at most. Returns the segments left
/// for congestion avoidance (`tcp_slow_start` in Linux).
#[inline]
pub(super) fn slow_start(ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) -> u32 {
    let by = match config.abc {
        _ if config.count_delivered => ack.delivered,
        Some(limit) if !ack.after_timeout => ack.acked.min(limit),
        _ => 1,
    };
    let room = if config.count_delivered { window.ssthresh - window.cwnd() } else { f64::INFINITY };
    let grown = f64::from(by).min(room);
    window.grow(grown, config, ack.now);
    (f64::from(by) - grown) as u32
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
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if !ack.may_grow {
            return;
        }
        let mut counted = ack.counted(config);
        if window.in_slow_start() {
            counted = slow_start(ack, window, config);
            if counted == 0 {
                return;
            }
        }
        let by = match config.abc {
            None if !config.count_delivered => 1.0 / window.cwnd(),
            // RFC 3465, section 2.1: one segment per acknowledged window. An acknowledgement of a part of the window
            // adds that fraction of a segment, at most one.
            _ => (f64::from(counted) / f64::from(window.whole_segments())).min(1.0),
        };
        window.grow(by, config, ack.now);
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
