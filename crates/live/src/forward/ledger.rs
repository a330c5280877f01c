//! Counts of a lane: totals by reason, and counts per flow in a bounded table.

use aqm::parts::FlowTable;
use aqm::{Backlog, FlowId, Ledger, Packet, Span, Time, Totals, Why};
use headgate_link::Meter;
use headgate_measure::{CapacityUse, Occupancy};
use headgate_scenario::Header;

use super::history::FlowHistories;
use super::verdict::{FlowCounts, ResponsivenessVerdict, judge};

/// One flow in a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowView {
    /// The discipline's identifier of the flow.
    pub flow: FlowId,
    /// Header of its first packet; `None` if that is not IP.
    pub header: Option<Header<'static>>,
    /// Counts since the flow got its row.
    pub counts: FlowCounts,
    /// Bytes sent since the previous view.
    pub recent_bytes: u64,
    /// Verdict on its responsiveness.
    pub verdict: ResponsivenessVerdict,
}

#[derive(Clone, Debug)]
struct LedgerRow {
    header: Option<Header<'static>>,
    counts: FlowCounts,
    /// Bytes sent up to the last view.
    viewed_bytes: u64,
    last_arrival: Time,
    /// Counts at the start of the previous and of the current period.
    periods: [FlowCounts; 2],
}

/// The ledger of a lane's port.
///
/// Its table holds a fixed number of flows. In a full table, a new flow replaces the flow that has been idle longest,
/// whose counts move to a common row. A flood of invented flows therefore evicts the rows of other flows, but needs no
/// memory and loses no counts.
#[derive(Clone, Debug)]
pub struct LaneLedger {
    /// Counts over all packets.
    pub totals: Totals,
    flows: FlowTable<LedgerRow>,
    /// Row numbers of recent flows, indexed by the lowest bits of the flow identifiers, which are hashes.
    row_cache: [u16; CACHED_ROWS],
    /// Counts of the flows that lost their row, summed.
    others: FlowCounts,
    occupancy: Occupancy,
    histories: FlowHistories,
    /// Start of the previous and of the current period.
    periods: [Time; 2],
}

/// Rows in the table.
const MOST_FLOWS: u32 = 1024;

/// Entries in the cache of recent rows.
const CACHED_ROWS: usize = 64;

/// The fair rate is measured over one to two periods.
const FAIR_PERIOD: Span = Span::from_secs(5);

impl LaneLedger {
    /// An empty ledger; `key` keys the hash of its flow table.
    pub fn new(key: u64) -> LaneLedger {
        LaneLedger {
            totals: Totals::default(),
            flows: FlowTable::new(MOST_FLOWS, key),
            row_cache: [0; CACHED_ROWS],
            others: FlowCounts::default(),
            occupancy: Occupancy::default(),
            histories: FlowHistories::new(key),
            periods: [Time::ZERO; 2],
        }
    }

    /// Counts an arrival of `bytes` bytes and gives `flow` a row if it has none; only then `header` is called.
    #[inline]
    pub fn record_arrival(
        &mut self,
        flow: FlowId,
        bytes: u32,
        now: Time,
        header: impl FnOnce() -> Option<Header<'static>>,
    ) {
        let at = self.find_row(flow).or_else(|| {
            if self.flows.is_full() {
                self.evict();
            }
            let none = FlowCounts::default();
            let row =
                LedgerRow { header: header(), counts: none, viewed_bytes: 0, last_arrival: now, periods: [none; 2] };
            self.flows.insert(flow, row)
        });
        if let Some(at) = at {
            let (_, row) = self.flows.at(at);
            row.counts.arrived += 1;
            row.counts.arrived_bytes += u64::from(bytes);
            row.last_arrival = now;
        }
    }

    #[inline]
    fn find_row(&mut self, flow: FlowId) -> Option<usize> {
        let cached = &mut self.row_cache[flow.0 as usize % CACHED_ROWS];
        if usize::from(*cached) < self.flows.len() && self.flows.at(usize::from(*cached)).0 == flow {
            return Some(usize::from(*cached));
        }
        let at = self.flows.position(flow)?;
        *cached = at as u16;
        Some(at)
    }

    fn evict(&mut self) {
        if let Some(at) = self.flows.eviction_candidate(|row| row.last_arrival) {
            let (_, row) = self.flows.remove_at(at);
            self.others = self.others + row.counts;
        }
    }

    /// The `count` flows with most bytes sent since the last call, in descending order; ties go to the flow with more
    /// bytes in total. `monitors` says whether the discipline monitors a flow.
    pub fn top(&mut self, count: usize, now: Time, monitors: impl Fn(FlowId) -> bool) -> Vec<FlowView> {
        let mut views: Vec<FlowView> = (0..self.flows.len())
            .map(|at| {
                let (flow, row) = self.flows.at(at);
                let recent_bytes = row.counts.sent_bytes - row.viewed_bytes;
                row.viewed_bytes = row.counts.sent_bytes;
                FlowView {
                    flow,
                    header: row.header,
                    counts: row.counts,
                    recent_bytes,
                    verdict: ResponsivenessVerdict::default(),
                }
            })
            .collect();
        views.sort_unstable_by_key(|view| std::cmp::Reverse((view.recent_bytes, view.counts.sent_bytes, view.flow)));
        views.truncate(count);
        self.histories
            .end_interval(now, views.iter().map(|view| view.flow), |flow| Some(self.flows.peek(flow)?.counts));
        let fair = self.fair_rate(now);
        for view in &mut views {
            view.verdict = judge(self.histories.intervals(view.flow), fair, monitors(view.flow));
        }
        views
    }

    /// Fair rate in bit/s: mean rate of the flows with recent drops or marks. All other flows get their whole demand
    /// (max-min fairness). `None` without such flows.
    fn fair_rate(&mut self, now: Time) -> Option<f64> {
        if now - self.periods[1] >= FAIR_PERIOD {
            self.periods = [self.periods[1], now];
            self.flows.values_mut().for_each(|row| row.periods = [row.periods[1], row.counts]);
        }
        let is_signaled = |row: &&LedgerRow| row.counts.signals() > row.periods[0].signals();
        let sent = self.flows.iter().map(|(_, row)| row).filter(is_signaled);
        let sent = sent.map(|row| row.counts.sent_bytes - row.periods[0].sent_bytes);
        let (flows, bytes) = sent.fold((0_u32, 0), |(flows, sum), bytes| (flows + 1, sum + bytes));
        let seconds = (now - self.periods[0]).as_secs_f64();
        (flows > 0 && seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / f64::from(flows))
    }

    /// Queue occupancy and link utilization up to `now`. `backlog` is the current backlog, `remaining` the remaining
    /// transmission time of the packet being sent, and `used` the use of a link of varying rate.
    pub fn occupancy(
        &mut self,
        backlog: Backlog,
        (remaining, used): (Span, Option<CapacityUse>),
        now: Time,
    ) -> Occupancy {
        self.occupancy.set_backlog(backlog, now);
        let mut occupancy = self.occupancy;
        (occupancy.busy, occupancy.used) = (occupancy.busy - remaining, used);
        occupancy
    }

    #[inline]
    fn counts_mut(&mut self, flow: FlowId) -> &mut FlowCounts {
        match self.find_row(flow) {
            Some(at) => &mut self.flows.at(at).1.counts,
            None => &mut self.others,
        }
    }
}

impl AsMut<LaneLedger> for LaneLedger {
    fn as_mut(&mut self) -> &mut LaneLedger {
        self
    }
}

impl<T> Meter<T> for LaneLedger {
    #[inline]
    fn set_backlog(&mut self, backlog: Backlog, now: Time) {
        self.occupancy.set_backlog(backlog, now);
    }

    #[inline]
    fn sending(&mut self, now: Time, sent: Time) {
        self.occupancy.add_busy(sent - now);
    }
}

/// Counts of a flow's arrivals are kept by [`LaneLedger::record_arrival`].
impl<T> Ledger<T> for LaneLedger {
    #[inline]
    fn arrived(&mut self, packet: &Packet<T>, now: Time) {
        self.totals.arrived(packet, now);
    }
    #[inline]
    fn sent(&mut self, packet: &Packet<T>, now: Time) {
        self.totals.sent(packet, now);
        let counts = self.counts_mut(packet.flow);
        counts.sent += 1;
        counts.sent_bytes += u64::from(packet.bytes);
    }
    fn dropped(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        Ledger::dropped(&mut self.totals, packet, why, now);
        let counts = self.counts_mut(packet.flow);
        counts.dropped += 1;
        counts.monitored += u64::from(why.targets_identified_flow());
    }
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.totals.marked(packet, why, now);
        let counts = self.counts_mut(packet.flow);
        counts.marked += 1;
        counts.monitored += u64::from(why.targets_identified_flow());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(ledger: &mut LaneLedger, flow: u64, bytes: u32, now: Time) {
        let flow = FlowId(flow);
        ledger.record_arrival(flow, bytes, now, || None);
        let packet = Packet::new(flow, bytes, ());
        Ledger::<()>::arrived(ledger, &packet, now);
        Ledger::<()>::sent(ledger, &packet, now);
    }

    #[test]
    fn the_counts_of_evicted_flows_move_to_the_common_row() {
        let mut ledger = LaneLedger::new(7);
        let flows = 5 * u64::from(MOST_FLOWS);
        for flow in 0..flows {
            pass(&mut ledger, flow, 100, Time::from_nanos(flow));
        }
        let rows = ledger.top(usize::MAX, Time::ZERO, |_| false);
        assert_eq!(rows.len(), MOST_FLOWS as usize);
        let named: u64 = rows.iter().map(|row| row.counts.sent).sum();
        assert_eq!(named + ledger.others.sent, flows);
        assert_eq!(ledger.totals.counts().sent, flows);
    }

    #[test]
    fn each_flow_has_its_own_counts_although_rows_move_and_row_numbers_are_cached() {
        let mut ledger = LaneLedger::new(7);
        // All these flows share one cache entry.
        for flow in 0..3 * u64::from(MOST_FLOWS) {
            pass(&mut ledger, flow * CACHED_ROWS as u64, 100, Time::from_nanos(flow));
        }
        for row in ledger.top(usize::MAX, Time::ZERO, |_| false) {
            assert_eq!((row.counts.arrived, row.counts.sent), (1, 1), "{row:?}");
        }
    }

    #[test]
    fn the_top_flows_sent_most_since_the_last_view() {
        let mut ledger = LaneLedger::new(7);
        for (flow, bytes) in [(1, 500), (2, 300), (3, 100)] {
            pass(&mut ledger, flow, bytes, Time::ZERO);
        }
        let order =
            |views: Vec<FlowView>| views.iter().map(|view| (view.flow.0, view.recent_bytes)).collect::<Vec<_>>();
        assert_eq!(order(ledger.top(2, Time::ZERO, |_| false)), [(1, 500), (2, 300)]);
        pass(&mut ledger, 3, 50, Time::ZERO);
        assert_eq!(order(ledger.top(2, Time::ZERO, |_| false)), [(3, 50), (1, 0)]);
    }
}
