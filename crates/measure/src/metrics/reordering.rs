//! Reordered packets, end to end (RFC 4737, section 3.3).

use aqm::Time;

/// The place of a packet in the order in which its flow sent them.
///
/// Sequence numbers do not have this order: a retransmission has an old number. Packets that were sent at the same time are
/// in the order of their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendingOrder(u64);

impl SendingOrder {
    /// Times count 2^10 ns in the upper 44 bits: enough for 200 days.
    const TIME_UNIT: u32 = 10;
    const NUMBER_BITS: u32 = 20;
    const NUMBERS: u64 = (1 << SendingOrder::NUMBER_BITS) - 1;

    /// The place of a packet that was sent at `sent` with this `number`. Among packets sent within 2^10 ns, numbers must
    /// rise, from 0 at time 0. They may wrap at any power of two from 2^20 on.
    #[inline]
    pub fn new(sent: Time, number: u32) -> SendingOrder {
        let time = sent.as_nanos() >> Self::TIME_UNIT << Self::NUMBER_BITS;
        SendingOrder(time | u64::from(number) & Self::NUMBERS)
    }

    /// Whether the packet was sent before the one with the place `other`.
    #[inline]
    fn is_before(self, other: SendingOrder) -> bool {
        let [time, other_time] = [self, other].map(|place| place.0 >> Self::NUMBER_BITS);
        // Of packets sent together, the lower number is first, by serial number arithmetic (RFC 1982).
        let number_is_lower = self.0.wrapping_sub(other.0) >> (Self::NUMBER_BITS - 1) & 1 == 1;
        time < other_time || time == other_time && number_is_lower
    }
}

/// Counts the reordered packets of each flow: those that arrive after a packet that was sent later.
#[derive(Clone, Debug, Default)]
pub struct ReorderingMeter {
    /// The latest-sent packet that has arrived, by flow.
    latest: Vec<SendingOrder>,
    /// Reordered packets by flow; empty before the first.
    reordered: Vec<u32>,
}

impl ReorderingMeter {
    /// No packets yet, of `flows` flows.
    pub fn new(flows: usize) -> ReorderingMeter {
        ReorderingMeter { latest: vec![SendingOrder::default(); flows], reordered: Vec::new() }
    }

    /// A packet of `flow` arrives; without `counts`, outside the measured window.
    #[inline]
    pub fn packet_arrives(&mut self, flow: usize, sent: SendingOrder, counts: bool) {
        let latest = &mut self.latest[flow];
        if !sent.is_before(*latest) {
            *latest = sent;
        } else if counts {
            self.count(flow);
        }
    }

    // Rare, and not inlined to keep the frequent code short.
    #[cold]
    fn count(&mut self, flow: usize) {
        self.reordered.resize(self.latest.len(), 0);
        self.reordered[flow] += 1;
    }

    /// Discards the counts. A packet can still be later than one that arrived before.
    pub fn restart(&mut self) {
        self.reordered.clear();
    }

    /// The reordered packets of a flow.
    pub fn of_flow(&self, flow: usize) -> u64 {
        self.reordered.get(flow).copied().unwrap_or(0).into()
    }
}

#[cfg(test)]
mod tests {
    use aqm::Span;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Packets are sent in bursts of any size, their numbers wrap, and they arrive in any order.
        #[test]
        fn a_packet_is_reordered_if_one_that_was_sent_later_has_arrived(
            bursts in prop::collection::vec(0u64..3, 1..60), first: u32, shuffle: u64,
        ) {
            let mut time = 1;
            let times: Vec<u64> = bursts.iter().map(|pause| { time += pause * 700; time }).collect();
            let place = |index: usize| {
                let sent = Time::ZERO + Span::from_nanos(times[index] << 10);
                SendingOrder::new(sent, first.wrapping_add(index as u32))
            };
            let mut arrivals: Vec<usize> = (0..times.len()).collect();
            let mut rng = aqm::Rng::named(shuffle, "arrivals");
            arrivals.sort_by_cached_key(|index| *index as u64 * 4 + rng.bits() % 40);
            let mut meter = ReorderingMeter::new(1);
            arrivals.iter().for_each(|index| meter.packet_arrives(0, place(*index), true));
            let reordered = (0..arrivals.len()).filter(|at| arrivals[..*at].iter().any(|sent| *sent > arrivals[*at]));
            prop_assert_eq!(meter.of_flow(0), reordered.count() as u64);
        }
    }

    #[test]
    fn after_a_restart_only_new_packets_count_and_old_ones_still_overtake() {
        let mut meter = ReorderingMeter::new(2);
        let place = |millis| SendingOrder::new(Time::ZERO + Span::from_millis(millis), 0);
        [5, 9, 7].into_iter().for_each(|millis| meter.packet_arrives(1, place(millis), true));
        assert_eq!([0, 1].map(|flow| meter.of_flow(flow)), [0, 1]);
        meter.restart();
        assert_eq!(meter.of_flow(1), 0);
        [8, 9, 10].into_iter().for_each(|millis| meter.packet_arrives(1, place(millis), true));
        assert_eq!(meter.of_flow(1), 1);
    }
}
