//! Step: mark packets that arrive above a queue length, or that leave after too long a delay.
//!
//! DCTCP and TCP Prague reduce their windows in proportion to the share of marked packets. Their switch needs no
//! average and no probability: every packet is marked while the queue is above a threshold, and none below it. The
//! marking probability is thus a step. The queue stays near the threshold if the senders respond.
//!
//! On arrival, a packet that does not fit is dropped. If the queue found holds more than `k`, the packet is marked. On
//! departure, a packet whose queueing delay exceeds `ce_threshold` is marked. Either threshold may be off. Packets that
//! are not ECN-capable pass unmarked, or are dropped at the step (`drop_not_ect`).
//!
//! Source: M. Alizadeh, A. Greenberg, D. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan, "Data
//! Center TCP (DCTCP)", ACM SIGCOMM 2010, section 3.1, item 1; S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert,
//! G. Judd, RFC 8257, 2017, section 3.1. The delay threshold is `ce_threshold` of Linux (`include/net/codel_impl.h`).
//!
//! | source | here |
//! | --- | --- |
//! | K (DCTCP) | `k` |
//! | `ce_threshold` (Linux), step threshold (L4S) | `ce_threshold` |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::Fifo;
use crate::reason::Why;
use crate::time::Span;
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Step`].
    pub struct StepConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Queue length above which an arriving packet is marked, without this packet. `auto`: off.
        k: Option<Level> = Some(Level::Packets(20.0)), also "K";
        /// Queueing delay above which a departing packet is marked. `auto`: off.
        ce_threshold: Option<Span> = None, also "step_thresh";
        /// Marks ECN-capable packets. Off: treats them as packets that are not ECN-capable.
        ecn: bool = true;
        /// Drops packets that are not ECN-capable where others are marked. Off: they are queued and sent.
        drop_not_ect: bool = false;
    }
    presets {
        "paper" "the DCTCP paper at 1 Gbit/s, section 4 (the defaults)" {}
        "paper_10gbit" "the DCTCP paper at 10 Gbit/s, section 4" { "k" = "65p" }
        "l4s" "the step of 1 ms that sch_dualpi2 of Linux 6.18 has for L4S packets" {
            "k" = "auto", "ce_threshold" = "1ms",
        }
    }
    reasons { Overflow, Forced, Sojourn }
}

/// A FIFO that marks at a threshold.
pub struct Step<T> {
    config: StepConfig,
    fifo: Fifo<T>,
}

impl<T> Step<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if both thresholds are off.
    pub fn new(config: StepConfig, _link: &LinkInfo) -> Result<Self, BuildError> {
        if config.k.is_none() && config.ce_threshold.is_none() {
            let why = "k and ce_threshold are both auto, so no packet is marked: set k=20p or ce_threshold=1ms";
            return Err(BuildError::Conflict(why.into()));
        }
        Ok(Step { fifo: Fifo::new(config.limit), config })
    }

    /// Marks the packet if it is `above` a threshold. Drops it if it cannot carry the mark and `drop_not_ect` is on.
    #[inline]
    fn mark_if(&self, above: bool, packet: Packet<T>, why: Why, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let StepConfig { ecn, drop_not_ect, .. } = self.config;
        let subject = drop_not_ect || (ecn && packet.ecn.is_capable());
        cx.signal_if(above && subject, packet, why, ecn)
    }
}

impl<T> Discipline<T> for Step<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if !self.fifo.admits(packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        let above = self.config.k.is_some_and(|k| k.is_exceeded(self.fifo.backlog(), self.config.limit));
        if let Some(packet) = self.mark_if(above, packet, Why::Forced, cx) {
            self.fifo.put(packet);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        while let Some(packet) = self.fifo.pop() {
            let late = self.config.ce_threshold.is_some_and(|most| cx.now - packet.arrived > most);
            if let Some(packet) = self.mark_if(late, packet, Why::Sojourn, cx) {
                return Some(packet);
            }
        }
        None
    }

    crate::discipline::backlog_of!(fifo);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.fifo.pop() {
            cx.drop(packet, Why::Overload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, FlowId, Port, Rate, Rng, Time};
    use alloc::vec::Vec;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn step(settings: &[(&str, &str)]) -> Port<(), Step<()>> {
        Port::new(Step::new(StepConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    /// Ten packets of 1000 bytes arrive at once and leave one per millisecond: the codepoints as they leave.
    fn ten(settings: &[(&str, &str)], ecn: Ecn) -> Vec<Ecn> {
        let mut port = step(settings);
        (0..10).for_each(|_| {
            port.enqueue(Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) }, Time::ZERO, &mut ());
        });
        let leaves = |ms| port.dequeue(Time::ZERO + Span::from_millis(ms), &mut ());
        (0..10).map_while(leaves).map(|packet| packet.ecn).collect()
    }

    #[test]
    fn a_packet_that_finds_more_than_k_is_marked() {
        // The n-th packet finds n - 1. The fifth finds 4, which is not more than 4; the sixth finds 5. Thresholds of
        // 4 kB and of 40 % of 10 packets are the same length.
        let expected = [[Ecn::Ect0; 5], [Ecn::Ce; 5]].concat();
        for settings in [&[("k", "4p")][..], &[("k", "4000B")], &[("k", "40%"), ("limit", "10p")]] {
            assert_eq!(ten(settings, Ecn::Ect0), expected, "{settings:?}");
        }
        assert_eq!(ten(&[("k", "40%"), ("limit", "10KB")], Ecn::Ect1), [[Ecn::Ect1; 5], [Ecn::Ce; 5]].concat());
    }

    #[test]
    fn a_packet_that_leaves_after_more_than_the_delay_is_marked() {
        // The n-th packet leaves after n - 1 ms: the fifth after exactly 4 ms.
        let settings = [("k", "auto"), ("ce_threshold", "4ms")];
        assert_eq!(ten(&settings, Ecn::Ect1), [[Ecn::Ect1; 5], [Ecn::Ce; 5]].concat());
    }

    #[test]
    fn packets_without_ecn_pass_the_step_unless_they_are_to_be_dropped() {
        for threshold in [&[("k", "4p")][..], &[("k", "auto"), ("ce_threshold", "4ms")]] {
            assert_eq!(ten(threshold, Ecn::NotEct), [Ecn::NotEct; 10]);
            let dropping = [threshold, &[("drop_not_ect", "on")]].concat();
            // At arrival the queue stays at 5 packets, so all five others are dropped.
            assert_eq!(ten(&dropping, Ecn::NotEct), [Ecn::NotEct; 5], "{threshold:?}");
            assert_eq!(ten(&dropping, Ecn::Ect0).len(), 10);
            let (unmarked, off) = ([Ecn::Ect0; 10], [("ecn", "off")]);
            assert_eq!(ten(&[threshold, &off].concat(), Ecn::Ect0), unmarked, "{threshold:?}");
            assert_eq!(ten(&[&dropping[..], &off].concat(), Ecn::Ect0), unmarked[..5], "{threshold:?}");
        }
    }

    #[test]
    fn one_threshold_at_least_is_on() {
        let config = StepConfig::from_settings(&[("k", "auto")]).unwrap();
        assert!(matches!(Step::<()>::new(config, &LINK), Err(BuildError::Conflict(why)) if why.contains("k=20p")));
    }
}
