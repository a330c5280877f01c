//! CoDel's control loop for one queue, shared by CoDel and FQ-CoDel.
//!
//! CoDel drops or marks when the queueing delay stays above `target` for an `interval`. In this dropping state, the
//! next drop or mark follows interval/sqrt(n) after the n-th. The state ends when the delay falls below the target.
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289,
//! 2018. Names are those of its pseudocode (section 5), without the trailing underscore.

use core::ops::Bound;

use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::Bytes;
use crate::reason::Why;
use crate::time::{Span, Time};

crate::choice! {
    /// How the control law gets 1/sqrt(count).
    pub enum SquareRoot {
        /// The exact root, in floating point.
        Exact = "exact",
        /// One step of Newton's method from the last value, in 16 bits, as Linux's `codel_impl.h` does.
        Newton = "newton",
    }
}

crate::params! {
    /// Settings of one or more CoDel loops.
    pub struct CodelSettings {
        /// Queueing delay that is acceptable in the long run: 5 to 10 % of `interval`.
        target: Span = Span::from_millis(5), also "TARGET" "target_" "Target";
        /// Time that the delay may exceed the target before the first drop or mark. Set it to the largest expected
        /// round-trip time.
        interval: Span = Span::from_millis(100), in (Bound::Excluded(Span::ZERO), Bound::Unbounded),
            also "INTERVAL" "interval_" "Interval";
        /// Size of the largest packet. CoDel neither drops nor marks while the queue holds no more bytes than this.
        mtu: Bytes = Bytes(1514), also "maxpacket" "MinBytes";
        /// How the time between drops or marks, interval/sqrt(count), is computed: `exact`, or `newton` as in Linux.
        square_root: SquareRoot = SquareRoot::Exact;
        /// Marks ECN-capable packets instead of dropping them.
        ecn: bool = true, also "UseEcn";
        /// With `ecn`, also marks every ECN-capable packet whose queueing delay exceeds this. `auto`: off.
        ce_threshold: Option<Span> = None, also "CeThreshold";
    }
    presets {}
}

/// A dequeued packet, and the bytes left in its queue.
pub type PoppedPacket<T> = (Packet<T>, u64);

/// The state of a control loop.
#[derive(Clone, Debug, Default)]
pub struct CodelLoop {
    /// When the delay will have been above the target for an interval, if it does not fall. `None` while it is below.
    pub first_above: Option<Time>,
    /// Time of the next drop or mark. When the dropping state ends, it keeps its value.
    pub drop_next: Time,
    /// Drops and marks in the dropping state: the n of interval/sqrt(n). Starts above 1 if the state is entered again
    /// soon.
    pub count: u32,
    /// `count` when the state was last entered.
    pub last_count: u32,
    /// Whether the queue is in the dropping state.
    pub dropping: bool,
    reciprocal: u16,
}

impl CodelLoop {
    /// The next packet to send, after any drops (`deque`). `pop` dequeues the head.
    #[inline]
    pub fn dequeue<T>(
        &mut self,
        rules: &CodelSettings,
        cx: &mut Cx<'_, T>,
        mut pop: impl FnMut() -> Option<PoppedPacket<T>>,
    ) -> Option<Packet<T>> {
        let Some(head) = pop() else {
            self.record_empty();
            return None;
        };
        self.dequeue_head(rules, cx, head, pop)
    }

    /// As [`dequeue`](CodelLoop::dequeue), for a caller that has dequeued the head. `pop` then serves only drops, so the
    /// caller can keep it out of the common path.
    #[inline(always)]
    pub fn dequeue_head<T>(
        &mut self,
        rules: &CodelSettings,
        cx: &mut Cx<'_, T>,
        (packet, left): PoppedPacket<T>,
        pop: impl FnMut() -> Option<PoppedPacket<T>>,
    ) -> Option<Packet<T>> {
        let late = self.is_late(rules, &packet, left, cx.now);
        let packet = if self.dropping || late { self.control(rules, cx, pop, packet, late)? } else { packet };
        match rules.ce_threshold {
            Some(most) if rules.ecn && packet.ecn.is_capable() && cx.now - packet.arrived > most => {
                cx.signal(packet, Why::Sojourn, true)
            }
            _ => Some(packet),
        }
    }

    /// Records that the queue was empty at its turn, as [`dequeue`](CodelLoop::dequeue) does.
    #[inline]
    pub fn record_empty(&mut self) {
        (self.first_above, self.dropping) = (None, false);
    }

    #[inline(never)]
    fn control<T>(
        &mut self,
        rules: &CodelSettings,
        cx: &mut Cx<'_, T>,
        mut pop: impl FnMut() -> Option<PoppedPacket<T>>,
        packet: Packet<T>,
        mut late: bool,
    ) -> Option<Packet<T>> {
        let mut packet = Some(packet);
        if !self.dropping {
            packet = cx.signal(packet?, Why::Sojourn, rules.ecn);
            if packet.is_none() {
                packet = self.check_delay(rules, pop(), cx.now).0;
            }
            self.enter(rules, cx.now);
            return packet;
        }
        self.dropping = late;
        // A large backlog may need several drops per call.
        while self.dropping && cx.now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            self.newton_step(rules);
            // The RFC only drops. As in Linux, one mark suffices per call, and the next one is scheduled.
            if let Some(marked) = cx.signal(packet?, Why::Sojourn, rules.ecn) {
                self.drop_next += self.signal_interval(rules);
                return Some(marked);
            }
            (packet, late) = self.check_delay(rules, pop(), cx.now);
            self.dropping = late;
            if late {
                // Counting from the due time makes the drop rate independent of the rate of calls.
                self.drop_next += self.signal_interval(rules);
            }
        }
        packet
    }

    /// `dodequeue`: returns the packet, and whether it may be dropped.
    fn check_delay<T>(
        &mut self,
        rules: &CodelSettings,
        head: Option<PoppedPacket<T>>,
        now: Time,
    ) -> (Option<Packet<T>>, bool) {
        let Some((packet, left)) = head else {
            self.first_above = None;
            return (None, false);
        };
        let late = self.is_late(rules, &packet, left, now);
        (Some(packet), late)
    }

    /// Whether a packet that leaves `left` bytes in its queue may be dropped because the delay has been above the
    /// target for an interval.
    #[inline]
    fn is_late<T>(&mut self, rules: &CodelSettings, packet: &Packet<T>, left: u64, now: Time) -> bool {
        if now - packet.arrived < rules.target || left <= rules.mtu.0 {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + rules.interval)
    }

    /// Enters the dropping state, at the previous drop rate if the state ended recently.
    fn enter(&mut self, rules: &CodelSettings, now: Time) {
        self.dropping = true;
        let signals = self.count.saturating_sub(self.last_count);
        if signals > 1 && now - self.drop_next < rules.interval * 16 {
            self.count = signals;
            self.newton_step(rules);
        } else {
            (self.count, self.reciprocal) = (1, u16::MAX);
        }
        self.last_count = self.count;
        self.drop_next = now + self.signal_interval(rules);
    }

    fn signal_interval(&self, rules: &CodelSettings) -> Span {
        let interval = rules.interval.as_nanos();
        Span::from_nanos(match rules.square_root {
            SquareRoot::Exact => (interval as f64 / libm::sqrt(f64::from(self.count))) as u64,
            SquareRoot::Newton => ((u128::from(interval) * u128::from(self.reciprocal)) >> 16) as u64,
        })
    }

    /// x <- x (3 - count x^2) / 2 converges to 1/sqrt(count). It may wrap after a jump of `count`, as in Linux.
    fn newton_step(&mut self, rules: &CodelSettings) {
        if rules.square_root == SquareRoot::Newton {
            let root = u64::from(self.reciprocal) << 16;
            let square = (root * root) >> 32;
            let rest = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square)) >> 2;
            self.reciprocal = (rest.wrapping_mul(root) >> 31 >> 16) as u16;
        }
    }

    /// Adds drops made by the queue's owner to the count, so that drops and marks become more frequent.
    pub fn count_drops(&mut self, drops: u32) {
        self.count = self.count.saturating_add(drops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowId;
    use crate::rng::Rng;
    use alloc::vec::Vec;

    const RULES: CodelSettings = CodelSettings {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        mtu: Bytes(1514),
        square_root: SquareRoot::Exact,
        ecn: false,
        ce_threshold: None,
    };

    /// The milliseconds in `from..until` with a drop, if one packet departs per millisecond, each with a queueing delay
    /// of `waited` ms.
    fn drops(codel: &mut CodelLoop, from: u64, until: u64, waited: u64) -> Vec<u64> {
        let dropped_at = (from..until).filter(|ms| {
            let now = Time::ZERO + Span::from_millis(1000 + ms);
            let arrived = Time::ZERO + Span::from_millis(1000 + ms - waited);
            let mut popped = 0;
            let pop = || {
                popped += 1;
                Some((Packet { arrived, ..Packet::new(FlowId(1), 1000, ()) }, 10_000))
            };
            codel.dequeue(&RULES, &mut Cx::new(now, &mut Rng::new(1), &mut ()), pop);
            popped > 1
        });
        dropped_at.collect()
    }

    #[test]
    fn a_dropping_state_that_returns_soon_resumes_at_the_last_drop_rate() {
        let mut codel = CodelLoop::default();
        // The delay exceeds the target from 0 ms on. Drops follow at 100, + 100 = 200, + 100/sqrt(2) = 270.71 and +
        // 100/sqrt(3) = 328.45; the next is due at + 50 = 378.45.
        assert_eq!(drops(&mut codel, 0, 330, 10), [100, 200, 271, 329]);
        assert_eq!((codel.count, codel.last_count), (4, 1));
        assert!(drops(&mut codel, 330, 400, 1).is_empty() && !codel.dropping);
        // The delay exceeds the target again from 400 ms on, so the dropping state begins at 500 ms. That is less than
        // 1600 ms after 378.45, so count starts at 4 - 1 = 3. The next drops are due at 500 + 100/sqrt(3) = 557.74 and
        // + 50 = 607.74, then + 100/sqrt(5) = 652.46.
        assert_eq!(drops(&mut codel, 400, 610, 10), [500, 558, 608]);
        assert_eq!((codel.count, codel.last_count), (5, 3));
        assert!(drops(&mut codel, 610, 2300, 1).is_empty());
        // The state begins again at 2400 ms, more than 1600 ms after 652.46: count starts at 1.
        assert_eq!(drops(&mut codel, 2300, 2501, 10), [2400, 2500]);
        // With one drop since the state was entered, count starts at 1 too.
        assert!(drops(&mut codel, 2501, 2600, 1).is_empty());
        assert_eq!(drops(&mut codel, 2600, 2801, 10), [2700, 2800]);
    }

    #[test]
    fn newtons_steps_follow_the_square_root_to_a_thousandth_after_the_first_ten() {
        let rules = CodelSettings { square_root: SquareRoot::Newton, ..RULES };
        let mut codel = CodelLoop { count: 1, reciprocal: u16::MAX, ..CodelLoop::default() };
        let errors = (2..2000).map(|count| {
            codel.count = count;
            codel.newton_step(&rules);
            codel.signal_interval(&rules).as_nanos() as f64 / (1e8 / f64::from(count).sqrt()) - 1.0
        });
        let errors: Vec<f64> = errors.collect();
        // From 1, one step towards 1/sqrt(2) gives (3 - 2)/2 = 1/2: 29 % too little.
        assert!((errors[0] + 0.292).abs() < 0.002, "{}", errors[0]);
        // 16 bits hold 1/sqrt(2000) = 1465/65536 to 1/1465; a step's own error is 3/8 of 1/count^2.
        assert!(errors[10..].iter().all(|error| error.abs() < 0.0035), "{:?}", &errors[10..20]);
    }
}
