//! Reno's window: slow start, congestion avoidance, half for a loss or a mark.
//!
//! M. Allman, V. Paxson, E. Blanton, *TCP Congestion Control*, RFC 5681, 2009; K. Ramakrishnan, S. Floyd, D. Black,
//! *The Addition of ECN to IP*, RFC 3168, 2001.

use super::{Acked, Controller, Loss, Window};
use crate::tcp::Config;

/// What remains of the window after a mark with Alternative Backoff (RFC 8511, section 3.1).
const BETA_ECN: f64 = 0.8;

/// It has no state of its own.
#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl Controller for Reno {
    /// Section 3.1: one segment an ACK in slow start, 1/cwnd in congestion avoidance.
    #[inline]
    fn on_ack(&mut self, ack: &Acked, window: &mut Window, config: &Config) {
        if ack.grows {
            let by = if window.in_slow_start() { 1.0 } else { 1.0 / window.cwnd() };
            window.grow(by, config, ack.now);
        }
    }

    /// RFC 3168, section 6.1.2: as for a loss, but nothing is sent again. RFC 8511 has less of it.
    fn on_echo(&mut self, ack: &Acked, window: &mut Window, config: &Config) {
        let less = window.cwnd() * if config.abe { BETA_ECN } else { 0.5 };
        window.ssthresh = less.max(2.0);
        window.set_cwnd(less.max(1.0), ack.now);
    }

    /// Half of the flight, but at least two segments (equation 4).
    fn on_loss(&mut self, loss: &Loss, window: &mut Window, _: &Config) {
        window.ssthresh = (f64::from(loss.flight) / 2.0).max(2.0);
    }
}
