//! Deliveries to receivers, over time.

use aqm::{Span, Time};

/// Useful bytes delivered to a flow's receiver within a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Arrival of the first bytes, since the start of the run.
    pub at: Time,
    /// Number of the flow.
    pub flow: u32,
    /// Number of useful bytes.
    pub bytes: u64,
}

/// Deliveries in order of time: one row per flow and slot with data, so memory is bounded by the duration and not by
/// the packets. The end of the warm-up splits its slot in two.
#[derive(Clone, Debug)]
pub struct Deliveries {
    rows: Vec<Delivery>,
    /// Index of each flow's last row.
    last: Vec<Option<usize>>,
    slot: Span,
    warm: Time,
}

impl Deliveries {
    pub fn new(slot: Span, warm: Time) -> Deliveries {
        Deliveries { rows: Vec::new(), last: Vec::new(), slot, warm }
    }

    /// Adds bytes delivered to `flow`; calls must be in order of time.
    pub fn add(&mut self, at: Time, flow: u32, bytes: u64) {
        let flow_at = flow as usize;
        if self.last.len() <= flow_at {
            self.last.resize(flow_at + 1, None);
        }
        let slot = self.slot_of(at);
        match self.last[flow_at] {
            Some(row) if self.slot_of(self.rows[row].at) == slot => self.rows[row].bytes += bytes,
            _ if bytes == 0 => {}
            _ => {
                self.last[flow_at] = Some(self.rows.len());
                self.rows.push(Delivery { at, flow, bytes });
            }
        }
    }

    fn slot_of(&self, at: Time) -> (u64, bool) {
        (at.as_nanos() / self.slot.as_nanos().max(1), at >= self.warm)
    }

    pub fn into_rows(self) -> Vec<Delivery> {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_to_a_flow_within_a_slot_are_one_row_split_at_the_warm_up() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut deliveries = Deliveries::new(Span::from_millis(10), at(25));
        for (millis, flow, bytes) in [(1, 0, 5), (2, 1, 7), (9, 0, 1), (10, 0, 2), (24, 0, 3), (25, 0, 0), (26, 0, 4)] {
            deliveries.add(at(millis), flow, bytes);
        }
        let rows = deliveries.into_rows();
        let rows: Vec<_> = rows.into_iter().map(|row| (row.at, row.flow, row.bytes)).collect();
        assert_eq!(rows, [(at(1), 0, 6), (at(2), 1, 7), (at(10), 0, 2), (at(24), 0, 3), (at(26), 0, 4)]);
    }
}
