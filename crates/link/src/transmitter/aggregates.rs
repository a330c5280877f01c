//! Aggregates of packets.

use aqm::{Backlog, Framing, Rate, Span, Time};

/// Packets that are sent together, as in Wi-Fi. An aggregate begins when the link is free and a packet is queued, and has room
/// for the packets that are queued then. All leave at its end.
///
/// The discipline chooses the packets at the end of the aggregate, where they leave. A Wi-Fi driver takes them at the begin. The
/// times and sizes of aggregates are the same. A packet that arrives meanwhile may take the room of another, if the discipline
/// prefers it.
#[derive(Debug)]
pub(super) struct Aggregates {
    rate: u64,
    gap: Span,
    /// Most bytes of an aggregate, unless a single packet has more.
    most: u64,
    /// End of the latest aggregate, and its remaining room in bytes.
    end: Time,
    room: u64,
}

impl Aggregates {
    pub(super) fn new(rate: Rate, most: Span, gap: Span) -> Aggregates {
        let bytes = u128::from(rate.as_bits()) * u128::from(most.as_nanos()) / 8_000_000_000;
        let most = u64::try_from(bytes).unwrap_or(u64::MAX);
        Aggregates { rate: rate.as_bits(), gap, most, end: Time::NEVER, room: 0 }
    }

    /// End of the aggregate of a packet that is taken at `now`. Both `bytes` and `queued`, the packets behind it, are bytes on
    /// the link.
    pub(super) fn transmission_end(&mut self, now: Time, bytes: u32, queued: impl FnOnce() -> u64) -> Time {
        let bytes = u64::from(bytes);
        if self.end == now && bytes <= self.room {
            self.room -= bytes;
            return now;
        }
        let all = bytes.saturating_add(queued()).min(self.most.max(bytes));
        let nanos = (u128::from(all) * 8_000_000_000).div_ceil(u128::from(self.rate.max(1)));
        self.end = now + self.gap + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.room = all - bytes;
        self.end
    }
}

/// Bytes that a queue takes on a link, if all its packets have the mean size.
pub(super) fn queued_on_wire(queue: Backlog, framing: Framing) -> u64 {
    let Backlog { packets, bytes } = queue;
    // The mean of sizes of 32 bits has 32 bits.
    let mean = if packets == 0 { 0 } else { bytes.div_ceil(packets.into()) as u32 };
    u64::from(packets) * u64::from(framing.wire_bytes(mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn queued_packets_leave_together_after_gap_and_transmission() {
        // A byte a microsecond, at most 4000 bytes, 200 us before each aggregate.
        let mut link = Aggregates::new(Rate::from_bits(8_000_000), Span::from_millis(4), Span::from_micros(200));
        assert_eq!(link.transmission_end(us(0), 1000, || 0), us(1200), "alone");
        // Five packets are queued now: four are sent together, the fifth alone.
        assert_eq!(link.transmission_end(us(1200), 1000, || 4000), us(5400));
        for left in [3000, 2000, 1000] {
            assert_eq!(link.transmission_end(us(5400), 1000, || left), us(5400));
        }
        assert_eq!(link.transmission_end(us(5400), 1000, || 0), us(6600));
        // A packet beyond the limit is an aggregate of its own.
        assert_eq!(link.transmission_end(us(9000), 9000, || 100), us(18_200));
        assert_eq!(link.transmission_end(us(18_200), 100, || 0), us(18_500));
    }

    #[test]
    fn the_queue_is_measured_with_its_framing() {
        let queue = Backlog { packets: 3, bytes: 3000 };
        assert_eq!(queued_on_wire(queue, Framing::RAW), 3000);
        assert_eq!(queued_on_wire(queue, Framing::parse("ethernet").unwrap()), 3 * 1038);
        assert_eq!(queued_on_wire(Backlog::default(), Framing::parse("ethernet").unwrap()), 0);
    }
}
