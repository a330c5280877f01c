//! FQ-PIE: one queue per flow, new flows first, PIE in each.
//!
//! The scheduler is that of FQ-CoDel: queues of new flows are served before old ones ([`FlowScheduler`], RFC 8290).
//! Each queue has its own PIE, which keeps the queue's delay near `target` ([`PieController`], RFC 8033).
//!
//! On arrival, the PIE of the flow's queue drops, marks or admits the packet. On departure, the scheduler chooses a
//! queue, and its PIE learns the packet's queueing delay.
//!
//! Source: G. Ramakrishnan, M. Bhasi, V. Saicharan, L. Monis, S. Patil, M. Tahiliani, "FQ-PIE queue discipline in the
//! Linux kernel: design, implementation and challenges", IEEE LCN Symposium 2019, and Linux's `sch_fq_pie.c` (6.1).
//! Deviations are listed in docs/disciplines/fq_pie.md.

use alloc::vec::Vec;

use super::PieConfig;
use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{FlowScheduler, PieController, PieSettings};
use crate::time::Time;
use crate::units::Limit;

crate::params! {
    /// Settings of [`FqPie`].
    pub struct FqPieConfig with pie: PieConfig {
        pie {
            /// Buffer size of all queues together. An arriving packet that does not fit is dropped.
            limit = Limit::Packets(10_240)
        }
        /// Number of queues that flows are hashed to.
        flows: u32 = 1024, in 1..=65_536, also "Flows";
        /// Bytes that a queue may send per turn.
        quantum: Bytes = Bytes(1514), in Bytes(1)..;
        pie { target, tupdate, alpha, beta, max_burst, packet }
        /// Maximum bytes in all queues together, besides `limit`. `auto`: unlimited.
        memory_limit: Option<Bytes> = None;
        pie {
            ecn,
            /// Probability from which ECN-capable packets are dropped too; tc's `ecn_prob` divided by 100.
            ecn_threshold,
            derandomize, cap_increase, high_delay, byte_mode, dq_rate_estimator, max_probability, details
        }
    }
    presets {
        "rfc" "RFC 8033's basic algorithm, with marks, in each of RFC 8290's queues (the defaults)" {}
        "linux" "sch_fq_pie of Linux 6.1, with tc's defaults on Ethernet; its memory limit drops nothing" {
            "packet" = "1514B", "ecn" = "off", "derandomize" = "on", "cap_increase" = "on", "high_delay" = "250ms",
            "max_probability" = "256", "details" = "linux",
        }
    }
    reasons { Overflow, Early }
    gauges {
        Gauge::new("new_queues", "queues", "Queues in the list of new queues.");
        Gauge::new("old_queues", "queues", "Queues in the list of old queues.");
        Gauge::new("fattest_bytes", "bytes", "Bytes in the longest queue.");
        Gauge::new("fattest_probability", "probability", "Drop or mark probability of the longest queue, as of its last arrival or departure.");
        Gauge::of_flow("queued", "packets", "Packets in the flow's queue.");
        Gauge::of_flow("probability", "probability", "Drop or mark probability of the flow's queue.");
    }
}

/// Queues of flows, each with its PIE.
pub struct FqPie<T> {
    config: FqPieConfig,
    rules: PieSettings,
    flows: FlowScheduler<T>,
    controllers: Vec<PieController>,
}

impl<T> FqPie<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(config: FqPieConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let rules = config.pie.rules(link);
        let flows = FlowScheduler::new(config.flows, config.quantum.0, link.key, link.tables)?;
        let controllers = link.tables.filled(config.flows as usize, PieController::new(&rules))?;
        Ok(FqPie { config, rules, flows, controllers })
    }

    /// The flow queues and their scheduler.
    pub fn flows(&self) -> &FlowScheduler<T> {
        &self.flows
    }

    /// The state of a queue's controller at `now`, no earlier than the last call.
    pub fn state(&self, queue: usize, now: Time) -> PieController {
        let mut pie = self.controllers[queue].clone();
        pie.catch_up(&self.rules, self.flows.backlog_of(queue).bytes, now);
        pie
    }

    #[inline]
    fn admits(&self, bytes: u32) -> bool {
        let held = self.flows.backlog();
        let after = held.bytes + u64::from(bytes);
        self.config.pie.limit.admits(held, bytes) && self.config.memory_limit.is_none_or(|most| after <= most.0)
    }
}

impl<T> Discipline<T> for FqPie<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let queue = self.flows.queue_of(packet.flow);
        let (held, fits) = (self.flows.backlog_of(queue).bytes, self.admits(packet.bytes));
        if let Some(packet) = self.controllers[queue].admit(&self.rules, held, fits, packet, cx) {
            self.flows.push(queue, packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        loop {
            let queue = self.flows.turn()?;
            let pie = &mut self.controllers[queue];
            let Some((packet, left)) = self.flows.pop_and_measure(queue) else {
                pie.catch_up(&self.rules, 0, cx.now);
                self.flows.turns.pass_turn(queue);
                continue;
            };
            pie.catch_up(&self.rules, left.bytes + u64::from(packet.bytes), cx.now);
            pie.departed(&self.rules, packet.bytes, cx.now - packet.arrived, left.bytes, cx.now);
            self.flows.turns.charge(queue, packet.bytes);
            return Some(packet);
        }
    }

    crate::discipline::backlog_of!(flows);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        self.flows.shed(cx);
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.flows.observe(gauge);
        let longest = self.flows.find_longest();
        gauge("fattest_probability", longest.map_or(0.0, |queue| self.controllers[queue].probability));
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let queue = self.flows.queue_of(flow);
        gauge("queued", self.flows.backlog_of(queue).packets.into());
        gauge("probability", self.controllers[queue].probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::reason::Why;
    use crate::time::Span;
    use crate::{Port, Rate, Rng};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn fq_pie(settings: &[(&str, &str)]) -> Port<(), FqPie<()>> {
        Port::new(FqPie::new(FqPieConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    #[test]
    fn each_queue_has_its_own_probability() {
        let mut port = fq_pie(&[]);
        for ms in 0..10_000 {
            let now = Time::ZERO + Span::from_millis(ms);
            (0..2).for_each(|_| port.enqueue(Packet::new(FlowId(1), 1000, ()), now, &mut ()));
            if ms % 10 == 0 {
                port.enqueue(Packet::new(FlowId(2), 1000, ()), now, &mut ());
            }
            port.dequeue(now, &mut ());
        }
        let pie = port.discipline();
        let end = Time::ZERO + Span::from_secs(10);
        let probability = |flow| pie.state(pie.flows().queue_of(FlowId(flow)), end).probability;
        // Flow 1 gets 9 of 20 of what it sends.
        assert!((probability(1) - 0.55).abs() < 0.1 && probability(2) == 0.0, "{} {}", probability(1), probability(2));
    }

    #[test]
    fn packets_that_do_not_fit_either_limit_are_dropped() {
        for (settings, held) in [(("limit", "7p"), 7), (("memory_limit", "4500B"), 4)] {
            let mut port = fq_pie(&[settings]);
            (0..10).for_each(|flow| port.enqueue(Packet::new(FlowId(flow), 1000, ()), Time::ZERO, &mut ()));
            let overflows = port.totals().counts().drops(Why::Overflow);
            assert_eq!((port.backlog().packets, overflows), (held, 10 - u64::from(held)), "{settings:?}");
        }
    }

    /// Mean queue of a flow of 10 Mbit/s that may send 1 Mbit/s, beside nine others, after 10 s.
    fn held(settings: &[(&str, &str)]) -> f64 {
        let mut port = fq_pie(&[&[("preset", "linux")], settings].concat());
        let (mut sum, mut count) = (0.0, 0.0);
        for slot in 0..60_000u64 {
            // A slot is 1514 bytes at 10 Mbit/s.
            let now = Time::ZERO + Span::from_nanos(slot * 1_211_200);
            port.enqueue(Packet::new(FlowId(1), 1514, ()), now, &mut ());
            for other in 2..11 {
                if (slot + other) % 10 == 0 {
                    port.enqueue(Packet::new(FlowId(other), 1514, ()), now, &mut ());
                }
            }
            port.dequeue(now, &mut ());
            if now > Time::ZERO + Span::from_secs(10) {
                let pie = port.discipline();
                sum += f64::from(pie.flows().backlog_of(pie.flows().queue_of(FlowId(1))).packets);
                count += 1.0;
            }
        }
        sum / count
    }

    #[test]
    fn linux_winds_up_and_holds_an_unresponsive_flow_to_a_few_packets() {
        let (linux, clamped) = (held(&[]), held(&[("max_probability", "1")]));
        assert!(linux < 3.0 && clamped > 100.0, "{linux} {clamped}");
    }
}
