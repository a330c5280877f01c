//! The tables over time: what one interval saw of a link and of a group of flows.

use headgate_core::{Backlog, Counts, Discipline, Span, Time};
use headgate_scenario::{Hop, Scenario};

use crate::meter::FlowLedger;
use crate::occupancy::Occupancy;
use crate::outcome::{IntervalRow, LinkRow};

/// Two counts as they stood at the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told(u64, u64);

impl Told {
    /// What came since the last sample, which is this one from now on.
    pub fn tell(&mut self, now: (u64, u64)) -> (u64, u64) {
        let Told(first, second) = std::mem::replace(self, Told(now.0, now.1));
        (now.0.wrapping_sub(first), now.1.wrapping_sub(second))
    }

    /// The counts begin anew, from where they stand now: what the interval has seen so far is owed to its end, and wraps.
    pub fn restart(&mut self, now: (u64, u64)) {
        *self = Told(self.0.wrapping_sub(now.0), self.1.wrapping_sub(now.1));
    }
}

/// One direction of a link over time.
#[derive(Clone, Debug)]
pub struct LinkMeter {
    hop: Hop,
    /// Disciplines are compared there: it has rows over time.
    compared: bool,
    /// In the interval under way.
    partial: Occupancy,
    /// Since the warm-up.
    total: Occupancy,
    /// What came to the queue and was dropped there.
    told: Told,
}

impl LinkMeter {
    /// Nothing seen yet, at `hop` of `scenario`.
    pub fn new(scenario: &Scenario, hop: Hop) -> LinkMeter {
        LinkMeter {
            hop,
            compared: scenario.simplex(hop).qdisc.is_none(),
            partial: Occupancy::default(),
            total: Occupancy::default(),
            told: Told::default(),
        }
    }

    /// Whether disciplines are compared there.
    pub fn compared(&self) -> bool {
        self.compared
    }

    /// How full the queue and how busy the link was since the last call.
    pub fn add(&mut self, seen: &Occupancy) {
        self.partial.add(seen);
        self.total.add(seen);
    }

    /// An interval ends: its rows. `held` waits, and `counts` were counted since the ledger last began anew.
    pub fn sample<T>(
        &mut self,
        now: Time,
        (held, counts): (Backlog, &Counts),
        discipline: &impl Discipline<T>,
        rows: &mut Vec<IntervalRow>,
    ) {
        let (came, dropped) = self.told.tell(counts.ambient());
        let (packets, bytes, busy) = self.partial.means();
        self.partial = Occupancy::starting(now, held, Span::ZERO);
        if !self.compared {
            return;
        }
        let (time_s, link) = (now.as_secs_f64(), Some(self.hop.number()));
        let mut write = |metric, is_gauge, value| {
            rows.push(IntervalRow { time_s, metric, is_gauge, link, group: None, value });
        };
        write("queue_packets", false, packets);
        write("queue_bytes", false, bytes);
        write("utilisation", false, busy);
        if came > 0 {
            write("ambient_drop_rate", false, dropped as f64 / came as f64);
        }
        discipline.observe(&mut |name, value| write(name, true, value));
    }

    /// The warm-up ends: the totals begin anew, and so does the ledger that has counted `counts`. The interval goes on.
    pub fn restart(&mut self, now: Time, held: Backlog, counts: &Counts) {
        self.total = Occupancy::starting(now, held, Span::ZERO);
        self.told.restart(counts.ambient());
    }

    /// The link's row. `lost` packets were lost on the way, and `queued` are those that waited when counting began and at
    /// the end.
    pub fn row(&self, scenario: &Scenario, ledger: &FlowLedger, lost: u64, queued: [u64; 2]) -> LinkRow {
        let (queue_packets_mean, queue_bytes_mean, utilisation) = self.total.means();
        LinkRow {
            link: scenario.links[usize::from(self.hop.link)].name.clone(),
            direction: self.hop.direction,
            compared: self.compared,
            counts: ledger.counts().clone(),
            lost,
            queued,
            utilisation,
            queue_packets_mean,
            queue_bytes_mean,
            port: ledger.port(),
            packets: None,
            events: None,
        }
    }
}

/// The rows of a group for an interval of `length` that ends at `now`: it was delivered `bytes` useful bytes, and of its
/// packets so many were dropped, and so many marked.
pub fn group_rows((now, length): (Time, Span), group: u32, bytes: u64, (drops, marks): (u64, u64)) -> [IntervalRow; 3] {
    let goodput = bytes as f64 * 8.0 / length.as_secs_f64();
    [("goodput_bps", goodput), ("drops", drops as f64), ("marks", marks as f64)].map(|(metric, value)| IntervalRow {
        time_s: now.as_secs_f64(),
        metric,
        is_gauge: false,
        link: None,
        group: Some(group),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_the_counters_began_anew_is_told_at_the_intervals_end() {
        let mut told = Told::default();
        assert_eq!(told.tell((10, 1)), (10, 1));
        told.restart((17, 3));
        assert_eq!(told.tell((5, 0)), (12, 2), "7 and 2 before, 5 and 0 after");
        assert_eq!(told.tell((6, 4)), (1, 4));
    }
}
