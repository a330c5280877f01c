//! Groups of packets sent together, and the change of the delay from one group to the next (draft-ietf-rmcat-gcc-02,
//! section 5.2; WebRTC's `InterArrivalDelta`).

use aqm::{Span, Time};

/// Packets sent within this time after a group's first belong to it (`burst_time` of the draft).
const BURST: Span = Span::from_millis(5);

/// Packets that arrive this close after each other, and closer than they were sent, left a queue together; such a burst
/// lasts at most [`LONGEST_BURST`].
const LONGEST_BURST: Span = Span::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    last_sent: Time,
    first_arrived: Time,
    last_arrived: Time,
}

/// The differences between two groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupDelta {
    /// Milliseconds from the last packet of the earlier group to that of the later one, sent and arrived.
    pub sent_ms: f64,
    pub arrived_ms: f64,
    /// When the later group's last packet arrived.
    pub at: Time,
}

#[derive(Clone, Debug, Default)]
pub struct Groups {
    earlier: Option<Group>,
    current: Option<Group>,
}

impl Groups {
    /// A packet arrived, in the order of sending. Returns the differences between the last two groups once a packet
    /// begins a new one.
    pub fn add(&mut self, sent: Time, arrived: Time) -> Option<GroupDelta> {
        let new = Group { first_sent: sent, last_sent: sent, first_arrived: arrived, last_arrived: arrived };
        let Some(current) = &mut self.current else {
            self.current = Some(new);
            return None;
        };
        if current.takes(sent, arrived) {
            current.last_sent = sent;
            current.last_arrived = current.last_arrived.max(arrived);
            return None;
        }
        let (whole, earlier) = (*current, self.earlier.replace(*current));
        self.current = Some(new);
        // Groups that arrive in another order are not compared.
        let earlier = earlier.filter(|earlier| earlier.last_arrived <= whole.last_arrived)?;
        Some(GroupDelta {
            sent_ms: millis(whole.last_sent - earlier.last_sent),
            arrived_ms: millis(whole.last_arrived - earlier.last_arrived),
            at: whole.last_arrived,
        })
    }
}

impl Group {
    fn takes(&self, sent: Time, arrived: Time) -> bool {
        let gap = arrived.max(self.last_arrived) - self.last_arrived;
        let leaves_together =
            gap < sent - self.last_sent && gap <= BURST && arrived < self.first_arrived + LONGEST_BURST;
        sent <= self.first_sent + BURST || leaves_together
    }
}

fn millis(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// The differences as (at, arrived - sent) in ms for packets (sent, arrived).
    fn deltas(packets: &[(u64, u64)]) -> Vec<(u64, i64)> {
        let mut groups = Groups::default();
        let found = packets.iter().filter_map(|(sent, arrived)| groups.add(at(*sent), at(*arrived)));
        found
            .map(|delta| (delta.at.as_nanos() / 1_000_000, (delta.arrived_ms - delta.sent_ms).round() as i64))
            .collect()
    }

    #[test]
    fn the_delay_changes_from_group_to_group() {
        // Two packets a frame, 40 ms apart. The delay of the second frame is 3 ms longer, that of the third 1 ms less.
        let packets = [(0, 20), (2, 22), (40, 63), (42, 65), (80, 102), (82, 104), (120, 142)];
        assert_eq!(deltas(&packets), [(65, 3), (104, -1)]);
    }

    #[test]
    fn packets_that_leave_a_queue_together_are_one_group() {
        // Sent 10 ms apart, the last three arrive together after a pause: the delay shrinks, but that is no trend.
        let packets = [(0, 20), (10, 30), (20, 70), (30, 71), (40, 72), (60, 92), (80, 112)];
        assert_eq!(deltas(&packets), [(30, 0), (72, 12), (92, 0)]);
    }
}
