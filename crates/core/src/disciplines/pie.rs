//! PIE: adjust a drop probability so that the estimated queueing delay meets a target.
//!
//! Every `tupdate`, the probability changes by `alpha` times the delay's distance from `target` plus `beta` times its
//! growth since the last update. Arrivals are signalled with it, except in a burst of up to `max_burst` after a calm.
//!
//! R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE): A Lightweight Control
//! Scheme to Address the Bufferbloat Problem", RFC 8033, 2017. The controller itself is `parts/pie.rs`.
//!
//! | RFC 8033 | here |
//! | --- | --- |
//! | drop_prob_, accu_prob_, burst_allowance_ | `probability`, `accumulated`, `burst_allowance` |
//! | current_qdelay, qdelay_old_ | `delay`, `delay_old` |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::{BuildError, Bytes};
use crate::parts::{Fifo, PieController, PieSettings};
use crate::time::Span;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Pie`].
    pub struct PieConfig {
        /// Room for waiting packets; an arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// The delay to keep to.
        target: Span = Span::from_millis(15), also "QDELAY_REF" "qdelay_ref_";
        /// Time between updates of the probability.
        tupdate: Span = Span::from_millis(15), in Span::from_micros(1).., also "T_UPDATE" "tUpdate_";
        /// What an update adds for each second of delay above the target. tc counts it in 1/16: 2 is 0.125.
        alpha: f64 = 0.125, in 0.0.., also "a_";
        /// What an update adds for each second by which the delay has grown since the last. tc counts it in 1/16: 20 is 1.25.
        beta: f64 = 1.25, in 0.0.., also "b_";
        /// How long a queue that was calm may grow before any signal.
        max_burst: Span = Span::from_millis(150), also "MAX_BURST" "burst_allowance_";
        /// A typical packet: while no more than two of them wait, nothing is signalled. `auto`: the host's mean packet.
        packet: Option<Bytes> = None, in Bytes(1).., also "MEAN_PKTSIZE" "mean_pktsize_";
        /// Mark ECN-capable packets instead of dropping them, while the probability is below `ecn_threshold`.
        ecn: bool = true, also "setbit_";
        /// The probability from which ECN-capable packets are dropped too.
        ecn_threshold: f64 = 0.1, in 0.0..=1.0, also "MAX_ECNTH" "mark_p_";
        /// Space the signals: none before the probabilities since the last add up to 0.85, one for certain at 8.5.
        derandomize: bool = false;
        /// From a probability of 0.1 on, add 0.02 at most in an update.
        cap_increase: bool = false, also "capdrop";
        /// Add 0.02 at each update with a delay above this. `auto`: never.
        high_delay: Option<Span> = None;
        /// Scale the probability by the packet's size over `packet`, for packets smaller than that.
        byte_mode: bool = false, also "bytemode" "bytes_";
        /// Estimate the delay by Little's law, from the rate of departures, instead of timestamps.
        dq_rate_estimator: bool = false;
    }
    presets {
        "rfc" "RFC 8033: its basic algorithm, with marks (the defaults)" {}
        "linux" "sch_pie of Linux 5.6, with tc's defaults" {
            "packet" = "1514B", "ecn" = "off", "derandomize" = "on", "cap_increase" = "on", "high_delay" = "250ms",
        }
    }
    reasons { Overflow, Sojourn }
    gauges {
        Gauge::new("probability", "probability", "The drop probability.");
        Gauge::new("delay_ms", "ms", "The estimate that the next update goes by.");
        Gauge::new("burst_allowance_ms", "ms", "What is left of the burst allowance.");
    }
}

/// A FIFO with PIE at its entrance.
pub struct Pie<T> {
    fifo: Fifo<T>,
    rules: PieSettings,
    state: PieController,
}

impl PieConfig {
    /// The controller's settings at `place`.
    pub fn rules(&self, link: &LinkInfo) -> PieSettings {
        PieSettings {
            target: self.target.as_secs_f64(),
            tupdate: self.tupdate,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            derandomize: self.derandomize,
            cap_increase: self.cap_increase,
            high_delay: self.high_delay.map_or(f64::INFINITY, Span::as_secs_f64),
            byte_mode: self.byte_mode,
            packet: self.packet.map_or(f64::from(link.mean_packet.max(1)), |packet| packet.0 as f64),
            dq_rate_estimator: self.dq_rate_estimator,
            marks_below: if self.ecn { self.ecn_threshold } else { 0.0 },
        }
    }
}

impl<T> Pie<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: PieConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let rules = config.rules(link);
        let state = PieController::new(&rules);
        Ok(Pie { fifo: Fifo::new(config.limit), rules, state })
    }

    /// The state of the controller.
    pub fn state(&self) -> &PieController {
        &self.state
    }
}

impl<T> Discipline<T> for Pie<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let (held, fits) = (self.fifo.backlog().bytes, self.fifo.admits(packet.bytes));
        if let Some(packet) = self.state.admit(&self.rules, held, fits, packet, cx) {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.state.catch_up(&self.rules, self.fifo.backlog().bytes, cx.now);
        let packet = self.fifo.pop()?;
        let left = self.fifo.backlog().bytes;
        self.state.departed(&self.rules, packet.bytes, cx.now - packet.arrived, left, cx.now);
        Some(packet)
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("probability", self.state.probability);
        gauge("delay_ms", 1000.0 * self.state.delay);
        gauge("burst_allowance_ms", 1000.0 * self.state.burst_allowance.as_secs_f64());
    }
}
