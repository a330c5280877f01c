//! Proportional Integral controller Enhanced (PIE): adjust a drop probability so that the estimated queueing delay
//! meets a target.
//!
//! Like RED, PIE drops or marks arrivals at random. Unlike RED, it controls the queueing delay instead of the queue
//! length, so its target does not depend on the link's rate.
//!
//! Every `tupdate`, the probability changes by `alpha` times the delay's distance from `target`, plus `beta` times the
//! delay's growth since the last update. On arrival, the packet is dropped or marked with that probability. A burst of
//! up to `max_burst` after a calm period is spared. On departure, PIE takes the packet's queueing delay, or estimates
//! it from the departure rate.
//!
//! The controller itself is `parts/pie.rs`, which FQ-PIE shares.
//!
//! Source: R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE): A Lightweight
//! Control Scheme to Address the Bufferbloat Problem", RFC 8033, 2017. Deviations are listed in
//! docs/disciplines/pie.md.
//!
//! | RFC 8033 | here |
//! | --- | --- |
//! | drop_prob_, accu_prob_, burst_allowance_ | `probability`, `accumulated`, `burst_allowance` |
//! | current_qdelay, qdelay_old_ | `delay`, `delay_old` |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::{BuildError, Bytes};
use crate::parts::{Fifo, PieController, PieDetails, PieSettings};
use crate::time::Span;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Pie`].
    pub struct PieConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000), also "MaxSize";
        /// Target queueing delay.
        target: Span = Span::from_millis(15), also "QDELAY_REF" "qdelay_ref_" "QueueDelayReference";
        /// Time between two updates of the probability.
        tupdate: Span = Span::from_millis(15), in Span::from_micros(1).., also "T_UPDATE" "tUpdate_" "Tupdate";
        /// Increase of the probability per update for each second of delay above the target. tc counts in 1/16: 2 is
        /// 0.125.
        alpha: f64 = 0.125, in 0.0.., also "a_" "A";
        /// Increase of the probability per update for each second of delay growth. tc counts in 1/16: 20 is 1.25.
        beta: f64 = 1.25, in 0.0.., also "b_" "B";
        /// Time that a formerly calm queue may grow before any drop or mark.
        max_burst: Span = Span::from_millis(150), also "MAX_BURST" "burst_allowance_" "MaxBurstAllowance";
        /// Size of a typical packet. Nothing is dropped or marked while at most two of them are queued. `auto`: the
        /// host's mean packet size.
        packet: Option<Bytes> = None, in Bytes(1).., also "MEAN_PKTSIZE" "mean_pktsize_" "MeanPktSize";
        /// Marks ECN-capable packets instead of dropping them, while the probability is below `ecn_threshold`.
        ecn: bool = true, also "setbit_" "UseEcn";
        /// Probability from which ECN-capable packets are dropped too.
        ecn_threshold: f64 = 0.1, in 0.0..=1.0, also "MAX_ECNTH" "mark_p_" "MarkEcnThreshold";
        /// Spaces drops and marks: none before the probabilities since the last one sum to 0.85, and one for certain at
        /// 8.5.
        derandomize: bool = false, also "UseDerandomization";
        /// Limits an update to 0.02 once the probability has reached 0.1.
        cap_increase: bool = false, also "capdrop" "UseCapDropAdjustment";
        /// Queueing delay above which each update adds 0.02 to the probability. `auto`: never.
        high_delay: Option<Span> = None;
        /// Scales the probability by the packet's size over `packet`, for smaller packets.
        byte_mode: bool = false, also "bytemode" "bytes_";
        /// Estimates the delay from the departure rate by Little's law, instead of from timestamps.
        dq_rate_estimator: bool = false, also "UseDequeueRateEstimator";
        /// Upper bound of the probability. A probability that would exceed it becomes 1. With a bound above 1 the
        /// probability winds up: every packet is dropped, and recovery takes longer. Linux's bound is 256.
        max_probability: f64 = 1.0, in 1.0..=1e6;
        /// Rules to follow where RFC 8033 and Linux differ: `rfc` or `linux`.
        details: PieDetails = PieDetails::Rfc;
    }
    presets {
        "rfc" "RFC 8033: its basic algorithm, with marks (the defaults)" {}
        "linux" "sch_pie of Linux 6.1, with tc's defaults on Ethernet" {
            "packet" = "1514B", "ecn" = "off", "derandomize" = "on", "cap_increase" = "on", "high_delay" = "250ms",
            "max_probability" = "256", "details" = "linux",
        }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("probability", "probability", "Drop or mark probability.");
        Gauge::new("delay_ms", "ms", "Estimated queueing delay, input of the next update.");
        Gauge::new("burst_allowance_ms", "ms", "Remaining burst allowance.");
    }
}

/// A FIFO with PIE at its entrance.
pub struct Pie<T> {
    fifo: Fifo<T>,
    rules: PieSettings,
    state: PieController,
}

impl PieConfig {
    /// The controller's settings on `link`.
    pub fn rules(&self, link: &LinkInfo) -> PieSettings {
        let linux = self.details == PieDetails::Linux;
        // Linux marks at the threshold itself, too.
        let threshold = if linux { self.ecn_threshold.next_up() } else { self.ecn_threshold };
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
            marks_below: if self.ecn { threshold } else { 0.0 },
            max_probability: self.max_probability,
            linux,
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
