//! Linux's HyStart: ends CUBIC's slow start before the queue overflows.
//!
//! It looks at each round trip for two signs that the path is full:
//!
//! - **ACK train**: acknowledgements that follow one another within 2 ms, for longer than half of the minimum round-trip
//!   time. The data in flight then spans the path. With pacing it is the whole minimum, since pacing spreads the ACKs.
//! - **Delay**: the least round-trip time of nine samples exceeds the minimum by an eighth, 4 to 16 ms.
//!
//! Either sets `ssthresh` to `cwnd`. Unlike HyStart++ (RFC 9406, `hystart.rs`), it ends slow start at once, has the sign of
//! the ACK train, compares with the minimum of the connection instead of the round before, and runs in each slow start
//! until it has found an end, also after a timeout.
//!
//! Sources: S. Ha, I. Rhee, *Taming the Elephants: New TCP Slow Start*, Computer Networks 55, 2011; `tcp_cubic.c` of Linux
//! 6.1, whose constants these are.
//!
//! | Linux 6.1 | here |
//! | --- | --- |
//! | delay_min, curr_rtt, sample_cnt | `least_rtt`, `round_rtt`, `samples` |
//! | round_start, end_seq, last_ack | `round_start`, `round_end`, `train_end` |
//! | hystart_update, hystart_ack_delay | [`CubicHyStart::find_end`], [`offload_delay`] |

use aqm::{Span, Time};

use super::{AckInfo, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;
use crate::tcp::pacing::window_rate;

/// hystart_low_window: slow start goes on below it.
const LOW_WINDOW: u32 = 16;
/// hystart_ack_delta_us: the longest gap in an ACK train.
const TRAIN_GAP: Span = Span::from_millis(2);
/// HYSTART_MIN_SAMPLES: the delay is judged from the next sample on.
const MIN_SAMPLES: u32 = 8;
/// HYSTART_DELAY_MIN and HYSTART_DELAY_MAX.
const LEAST_RISE: Span = Span::from_millis(4);
const MOST_RISE: Span = Span::from_millis(16);
/// Samples do not count so soon after a recovery.
const QUIET: Span = Span::from_secs(1);

#[derive(Clone, Debug, Default)]
pub struct CubicHyStart {
    /// The end of slow start is found.
    found: bool,
    /// The minimum round-trip time; zero before the first sample.
    least_rtt: Span,
    round_start: Time,
    /// The round ends when a segment beyond this one is acknowledged.
    round_end: u32,
    /// The last acknowledgement of the round's ACK train.
    train_end: Time,
    round_rtt: Option<Span>,
    samples: u32,
}

impl CubicHyStart {
    /// The minimum round-trip time, zero before the first sample.
    pub fn least_rtt(&self) -> Span {
        self.least_rtt
    }

    /// An acknowledgement with a round-trip sample; `epoch` is when the current stage of congestion avoidance began.
    pub fn on_ack(
        &mut self,
        ack: &AckInfo,
        rtt: Span,
        epoch: Option<Time>,
        window: &mut CongestionWindow,
        config: &TcpSettings,
    ) {
        if epoch.is_some_and(|began| ack.now - began < QUIET) {
            return;
        }
        if self.least_rtt == Span::ZERO || rtt < self.least_rtt {
            self.least_rtt = rtt.max(Span::from_micros(1));
        }
        if !self.found && window.in_slow_start() && self.find_end(ack, rtt, window, config) {
            self.found = true;
            window.ssthresh = f64::from(window.whole_segments());
        }
    }

    /// A timeout begins a new slow start (`bictcp_reset`, `bictcp_hystart_reset`).
    pub fn on_timeout(&mut self, loss: &LossInfo) {
        *self = CubicHyStart::default();
        self.begin_round(loss.now, loss.next_new);
    }

    fn begin_round(&mut self, now: Time, round_end: u32) {
        (self.round_start, self.train_end, self.round_end) = (now, now, round_end);
        (self.round_rtt, self.samples) = (None, 0);
    }

    /// Whether slow start should end.
    fn find_end(&mut self, ack: &AckInfo, rtt: Span, window: &CongestionWindow, config: &TcpSettings) -> bool {
        // Before the bound on the window: Linux had them in the other order until 6.1.129, and rounds began too late.
        if ack.ack > self.round_end {
            self.begin_round(ack.now, ack.next_new);
        }
        if window.whole_segments() < LOW_WINDOW {
            return false;
        }
        // Both signs are looked at: each keeps its own count.
        let train = self.train_is_long(ack, window, config);
        self.delay_has_risen(rtt) || train
    }

    fn train_is_long(&mut self, ack: &AckInfo, window: &CongestionWindow, config: &TcpSettings) -> bool {
        if ack.now - self.train_end > TRAIN_GAP {
            return false;
        }
        self.train_end = ack.now;
        let whole = self.least_rtt + offload_delay(ack, window, config);
        let longest = if config.pacing { whole } else { Span::from_nanos(whole.as_nanos() / 2) };
        ack.now - self.round_start > longest
    }

    fn delay_has_risen(&mut self, rtt: Span) -> bool {
        let least = self.round_rtt.map_or(rtt, |least| least.min(rtt));
        self.round_rtt = Some(least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = Span::from_nanos(self.least_rtt.as_nanos() / 8).max(LEAST_RISE).min(MOST_RISE);
        least > self.least_rtt + rise
    }
}

/// A cushion for segmentation offload: the time of four times 64 KiB at the pacing rate, at most 1 ms. Linux computes the
/// rate even if it does not pace.
fn offload_delay(ack: &AckInfo, window: &CongestionWindow, config: &TcpSettings) -> Span {
    let payload = f64::from(config.packet - config.header);
    let rate = window_rate(window, ack.flight, ack.srtt) * payload;
    Span::from_secs_f64((4.0 * 65536.0 / rate).min(1e-3))
}
