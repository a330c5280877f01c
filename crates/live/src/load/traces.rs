//! The sampling interval of traced senders, and the collection of their rows.

use std::sync::{Mutex, PoisonError};

use aqm::{Span, Time};
use headgate_measure::TraceRow;
use headgate_scenario::Scenario;

/// Default interval: several samples in most round trips.
const DEFAULT_INTERVAL: Span = Span::from_millis(10);

/// Least interval, and least interval per traced flow: several times the cost of a sample, because sampling delays the
/// thread's senders.
const LEAST_INTERVAL: Span = Span::from_millis(1);
const LEAST_INTERVAL_PER_FLOW: Span = Span::from_micros(20);

/// Sampling interval of `scenario`'s traced flows; `None` if there are none.
pub fn interval(scenario: &Scenario) -> Option<Span> {
    let record = &scenario.record;
    let is_traced = |group: &str, flow| record.flows.iter().any(|traced| traced.includes(group, flow));
    let traced =
        scenario.groups().map(|group| (0..group.flows).filter(|flow| is_traced(group.name, *flow)).count() as u64);
    let requested = if record.flow_interval == Span::ZERO { DEFAULT_INTERVAL } else { record.flow_interval };
    let least = LEAST_INTERVAL.max(LEAST_INTERVAL_PER_FLOW * traced.sum());
    (!record.flows.is_empty()).then(|| requested.max(least))
}

/// Collects rows of both hosts' threads in order of time.
#[derive(Default)]
pub struct TraceCollector(Mutex<PendingRows>);

#[derive(Default)]
struct PendingRows {
    rows: Vec<TraceRow>,
    /// Time up to which each host has delivered its rows.
    complete_until: [Option<Time>; 2],
}

impl TraceCollector {
    /// Registers the host at `index`. From then on, `take` holds back rows after the time that this host has reached.
    pub fn expect(&self, index: usize) {
        self.update(|pending| pending.complete_until[index] = Some(Time::ZERO));
    }

    pub fn put(&self, index: usize, now: Time, rows: &mut Vec<TraceRow>) {
        self.update(|pending| {
            pending.rows.append(rows);
            pending.complete_until[index] = Some(now);
        });
    }

    /// Takes the rows before the time that every host has reached; no earlier row can follow.
    pub fn take(&self) -> Vec<TraceRow> {
        self.update(|pending| {
            let complete_until = pending.complete_until.into_iter().flatten().min().unwrap_or(Time::ZERO);
            pending.rows.sort_by_key(|row| row.time);
            let later = pending.rows.partition_point(|row| row.time < complete_until);
            pending.rows.drain(..later).collect()
        })
    }

    fn update<T>(&self, job: impl FnOnce(&mut PendingRows) -> T) -> T {
        // Each row stays complete even if a thread panics.
        job(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use headgate_measure::SenderState;
    use headgate_scenario::Changes;

    use super::*;

    fn scenario(record: &str) -> Scenario {
        let text = format!(
            "name = 't'\nduration = '1s'\nqdiscs = ['droptail']\nrecord = {{ {record} }}\n\
             link = {{ rate = '10Mbit/s', delay = '1ms', limit = '9p' }}\n\
             [[tcp]]\nname = 'web'\nflows = 3\n[[tcp]]\nname = 'many'\nflows = 900\n"
        );
        Scenario::read(&text, "t.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_kernel_is_sampled_at_the_scenarios_interval_within_a_bound() {
        let of = |record| interval(&scenario(record));
        assert_eq!(of(""), None);
        assert_eq!(of("flows = ['web/1']"), Some(DEFAULT_INTERVAL));
        assert_eq!(of("flows = ['web'], flow_interval = '70ms'"), Some(Span::from_millis(70)));
        assert_eq!(of("flows = ['web'], flow_interval = '1us'"), Some(LEAST_INTERVAL));
        // 903 flows at 20 us each.
        assert_eq!(of("flows = ['web', 'many'], flow_interval = '1ms'"), Some(Span::from_micros(18_060)));
    }

    #[test]
    fn rows_of_two_hosts_come_out_in_order_of_time() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let row = |millis| TraceRow { time: at(millis), flow: 0, state: SenderState::default() };
        let rows = TraceCollector::default();
        let taken = || rows.take().iter().map(|row| row.time).collect::<Vec<_>>();
        rows.expect(0);
        rows.expect(1);
        rows.put(0, at(30), &mut vec![row(10), row(20), row(30)]);
        assert_eq!(taken(), [], "the other host may have earlier rows");
        rows.put(1, at(25), &mut vec![row(15), row(25)]);
        assert_eq!(taken(), [at(10), at(15), at(20)]);
        rows.put(0, Time::NEVER, &mut vec![]);
        rows.put(1, Time::NEVER, &mut vec![row(26)]);
        assert_eq!(taken(), [at(25), at(26), at(30)]);
    }
}
