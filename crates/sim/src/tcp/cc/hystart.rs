//! HyStart++: ends the first slow start when round-trip times rise, before the queue overflows.
//!
//! The sender compares the smallest round-trip time of each round with that of the round before. A rise by an eighth
//! (4 to 16 ms) begins conservative slow start: growth at a quarter of the rate, for five rounds. If the round-trip
//! time falls again, slow start resumes. Otherwise `ssthresh` becomes `cwnd`, and the wrapped congestion control takes
//! over.
//!
//! Source: P. Balasubramanian, Y. Huang, M. Olson, *HyStart++: Modified Slow Start for TCP*, RFC 9406, 2023. Numbers
//! such as 4.2 are its sections.

use aqm::{Span, Time};

use super::{AckInfo, AnyControl, CongestionControl, CongestionWindow, LossInfo};
use crate::tcp::TcpSettings;

/// The constants of 4.3: a rise by an eighth of the round-trip time, within bounds, ends slow start.
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
/// Samples needed to judge a round.
const N_RTT_SAMPLE: u32 = 8;
/// The growth divisor of conservative slow start, and its length in rounds.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// The most segments of an acknowledgement that count for growth without pacing (L).
const MAX_SEGMENTS: u32 = 8;

/// A congestion control preceded by HyStart++.
#[derive(Debug)]
pub struct HyStart {
    inner: AnyControl,
    in_first_slow_start: bool,
    /// The round ends when this segment is acknowledged (windowEnd).
    window_end: u32,
    /// The minimum round-trip times of the last and the current round, and the number of samples in the current one.
    last_rtt: Option<Span>,
    current_rtt: Option<Span>,
    samples: u32,
    conservative: Option<ConservativeSlowStart>,
}

/// Conservative slow start (CSS).
#[derive(Clone, Copy, Debug)]
struct ConservativeSlowStart {
    /// The round-trip time that ended slow start (cssBaselineMinRtt): a lower one resumes it.
    baseline: Span,
    rounds: u32,
}

impl HyStart {
    pub fn new(inner: AnyControl) -> HyStart {
        HyStart {
            inner,
            in_first_slow_start: true,
            window_end: 0,
            last_rtt: None,
            current_rtt: None,
            samples: 0,
            conservative: None,
        }
    }

    /// Processes a round-trip sample and decides whether slow start ends or resumes (4.2).
    fn on_rtt(&mut self, rtt: Span) {
        self.current_rtt = Some(self.current_rtt.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        let (Some(current), true) = (self.current_rtt, self.samples >= N_RTT_SAMPLE) else { return };
        match (self.conservative, self.last_rtt) {
            (Some(css), _) if current < css.baseline => self.conservative = None,
            (None, Some(last)) if current >= last + threshold(last) => {
                self.conservative = Some(ConservativeSlowStart { baseline: current, rounds: 0 });
            }
            _ => {}
        }
    }

    /// Begins a round; returns whether conservative slow start is over.
    fn begin_round(&mut self, window_end: u32) -> bool {
        (self.last_rtt, self.current_rtt, self.samples, self.window_end) = (self.current_rtt, None, 0, window_end);
        self.conservative.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds >= CSS_ROUNDS
        })
    }

    fn slow_start(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        if ack.ack > self.window_end && self.begin_round(ack.next_new) {
            self.in_first_slow_start = false;
            window.ssthresh = window.cwnd();
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.on_rtt(rtt);
        }
        if ack.may_grow {
            let segments = if config.pacing { ack.acked } else { ack.acked.min(MAX_SEGMENTS) };
            let divisor = if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 };
            window.grow(f64::from(segments) / divisor, config, ack.now);
        }
    }
}

/// RttThresh.
fn threshold(last: Span) -> Span {
    Span::from_nanos(last.as_nanos() / MIN_RTT_DIVISOR).max(MIN_RTT_THRESH).min(MAX_RTT_THRESH)
}

impl CongestionControl for HyStart {
    fn on_ack(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        // 4.2: only the first slow start, while ssthresh is unset.
        self.in_first_slow_start &= window.in_slow_start();
        let first = self.in_first_slow_start;
        if first {
            self.slow_start(ack, window, config);
        }
        self.inner.on_ack(&AckInfo { may_grow: ack.may_grow && !first, ..*ack }, window, config);
    }

    fn on_echo(&mut self, ack: &AckInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.in_first_slow_start = false;
        self.inner.on_echo(ack, window, config);
    }

    fn on_loss(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.in_first_slow_start = false;
        self.inner.on_loss(loss, window, config);
    }

    fn on_timeout(&mut self, loss: &LossInfo, window: &mut CongestionWindow, config: &TcpSettings) {
        self.in_first_slow_start = false;
        self.inner.on_timeout(loss, window, config);
    }

    fn on_resume(&mut self, now: Time, window: &mut CongestionWindow) {
        self.inner.on_resume(now, window);
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.inner.pacing_rate()
    }

    fn cwnd_after_round_trip(&self, cwnd: f64) -> f64 {
        self.inner.cwnd_after_round_trip(cwnd)
    }
}
