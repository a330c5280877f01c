//! What passed a lane: all packets together by reason, and each flow by itself, as far as the table goes.

use headgate_core::parts::FlowTable;
use headgate_core::{Backlog, FlowId, Ledger, Packet, Span, Time, Totals, Why};
use headgate_link::Meter;
use headgate_measure::Occupancy;
use headgate_scenario::Header;

use super::verdict::{FlowCounts, Judgement, judge};
use super::watch::Watch;

/// One flow, as a view shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowView {
    /// Its name to the discipline.
    pub flow: FlowId,
    /// What the first packet of it said; `None` if it is no IP.
    pub header: Option<Header<'static>>,
    /// Since it was met.
    pub counts: FlowCounts,
    /// Bytes sent since the view before.
    pub recent_bytes: u64,
    /// Whether it slows down.
    pub judgement: Judgement,
}

#[derive(Clone, Debug)]
struct Row {
    header: Option<Header<'static>>,
    counts: FlowCounts,
    /// The bytes sent when a view last looked.
    viewed: u64,
    seen: Time,
    /// The counts at the beginning of the stretch of time before this one, and of this one.
    stretches: [FlowCounts; 2],
}

/// The ledger of a lane's port.
///
/// It knows a fixed number of flows. When a further one comes, one that was not seen for long gives up its row, and its
/// counts go to those of all others: an attacker who invents flows costs names, not memory, and no count.
#[derive(Clone, Debug)]
pub struct LaneLedger {
    /// The counts over all packets.
    pub totals: Totals,
    flows: FlowTable<Row>,
    /// Where the rows of flows were that were met lately, by the lowest bits of their names, which are hashes.
    lately: [u16; LATELY],
    /// What the flows did together that have no row any more.
    others: FlowCounts,
    occupancy: Occupancy,
    watch: Watch,
    /// When the stretch of time before this one began, and this one.
    stretches: [Time; 2],
}

/// Flows that have a row of their own.
const MOST_FLOWS: u32 = 1024;

/// Places of rows that are remembered.
const LATELY: usize = 64;

/// What is fair follows from what happened since this ago, or up to twice as long.
const STRETCH: Span = Span::from_secs(5);

impl LaneLedger {
    /// An empty ledger, whose table of flows is hashed under `key`.
    pub fn new(key: u64) -> LaneLedger {
        LaneLedger {
            totals: Totals::default(),
            flows: FlowTable::new(MOST_FLOWS, key),
            lately: [0; LATELY],
            others: FlowCounts::default(),
            occupancy: Occupancy::default(),
            watch: Watch::new(key),
            stretches: [Time::ZERO; 2],
        }
    }

    /// A packet of `flow` came, of `bytes` bytes: the flow has a row from now on. `header` says what is in the packet's, of a
    /// flow that has none yet.
    #[inline]
    pub fn meet(&mut self, flow: FlowId, bytes: u32, now: Time, header: impl FnOnce() -> Option<Header<'static>>) {
        let at = self.place(flow).or_else(|| {
            if self.flows.is_full() {
                self.evict();
            }
            let nothing = FlowCounts::default();
            let row = Row { header: header(), counts: nothing, viewed: 0, seen: now, stretches: [nothing; 2] };
            self.flows.insert(flow, row)
        });
        if let Some(at) = at {
            let (_, row) = self.flows.at(at);
            row.counts.arrived += 1;
            row.counts.arrived_bytes += u64::from(bytes);
            row.seen = now;
        }
    }

    /// Where a flow has its row.
    #[inline]
    fn place(&mut self, flow: FlowId) -> Option<usize> {
        let lately = &mut self.lately[flow.0 as usize % LATELY];
        if usize::from(*lately) < self.flows.len() && self.flows.at(usize::from(*lately)).0 == flow {
            return Some(usize::from(*lately));
        }
        let at = self.flows.position(flow)?;
        *lately = at as u16;
        Some(at)
    }

    fn evict(&mut self) {
        if let Some(at) = self.flows.stalest(|row| row.seen) {
            let (_, row) = self.flows.remove_at(at);
            self.others = self.others + row.counts;
        }
    }

    /// The `most` flows that sent most since the last call, the first of them first; of equals, those that sent more ever.
    /// `monitors` says whether the discipline keeps an eye on a flow.
    pub fn top(&mut self, most: usize, now: Time, monitors: impl Fn(FlowId) -> bool) -> Vec<FlowView> {
        let mut views: Vec<FlowView> = (0..self.flows.len())
            .map(|at| {
                let (flow, row) = self.flows.at(at);
                let recent_bytes = row.counts.sent_bytes - row.viewed;
                row.viewed = row.counts.sent_bytes;
                FlowView { flow, header: row.header, counts: row.counts, recent_bytes, judgement: Judgement::default() }
            })
            .collect();
        views.sort_unstable_by_key(|view| std::cmp::Reverse((view.recent_bytes, view.counts.sent_bytes, view.flow)));
        views.truncate(most);
        self.watch.look(now, views.iter().map(|view| view.flow), |flow| Some(self.flows.peek(flow)?.counts));
        let fair = self.fair(now);
        for view in &mut views {
            view.judgement = judge(self.watch.slots(view.flow), fair, monitors(view.flow));
        }
        views
    }

    /// What would be fair, in bit/s: what those got on average that lost packets lately, or had some marked. The others have
    /// all that they ask for (max-min fairness). `None` if there are none.
    fn fair(&mut self, now: Time) -> Option<f64> {
        if now - self.stretches[1] >= STRETCH {
            self.stretches = [self.stretches[1], now];
            self.flows.values_mut().for_each(|row| row.stretches = [row.stretches[1], row.counts]);
        }
        let held = |row: &&Row| row.counts.signals() > row.stretches[0].signals();
        let sent = self.flows.iter().map(|(_, row)| row).filter(held);
        let sent = sent.map(|row| row.counts.sent_bytes - row.stretches[0].sent_bytes);
        let (flows, bytes) = sent.fold((0_u32, 0), |(flows, sum), bytes| (flows + 1, sum + bytes));
        let seconds = (now - self.stretches[0]).as_secs_f64();
        (flows > 0 && seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / f64::from(flows))
    }

    /// How full the queue and how busy the link was until `now`, when `held` waits and what is being sent needs `ahead` more.
    pub fn occupancy(&mut self, held: Backlog, now: Time, ahead: Span) -> Occupancy {
        self.occupancy.set(held, now);
        let mut seen = self.occupancy;
        seen.busy = seen.busy - ahead;
        seen
    }

    #[inline]
    fn of(&mut self, flow: FlowId) -> &mut FlowCounts {
        match self.place(flow) {
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
    fn holds(&mut self, held: Backlog, now: Time) {
        self.occupancy.set(held, now);
    }

    #[inline]
    fn sending(&mut self, now: Time, sent: Time) {
        self.occupancy.busy(sent - now);
    }
}

/// Arrivals of a flow are counted where it is met.
impl<T> Ledger<T> for LaneLedger {
    #[inline]
    fn arrived(&mut self, packet: &Packet<T>, now: Time) {
        self.totals.arrived(packet, now);
    }
    #[inline]
    fn sent(&mut self, packet: &Packet<T>, now: Time) {
        self.totals.sent(packet, now);
        let counts = self.of(packet.flow);
        counts.sent += 1;
        counts.sent_bytes += u64::from(packet.bytes);
    }
    fn dropped(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        Ledger::dropped(&mut self.totals, packet, why, now);
        let counts = self.of(packet.flow);
        counts.dropped += 1;
        counts.singled += u64::from(why.singles_out());
    }
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.totals.marked(packet, why, now);
        let counts = self.of(packet.flow);
        counts.marked += 1;
        counts.singled += u64::from(why.singles_out());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(ledger: &mut LaneLedger, flow: u64, bytes: u32, now: Time) {
        let flow = FlowId(flow);
        ledger.meet(flow, bytes, now, || None);
        let packet = Packet::new(flow, bytes, ());
        Ledger::<()>::arrived(ledger, &packet, now);
        Ledger::<()>::sent(ledger, &packet, now);
    }

    #[test]
    fn flows_that_lose_their_row_keep_their_counts_among_the_others() {
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
    fn counts_are_a_flows_own_though_rows_move_and_their_places_are_remembered() {
        let mut ledger = LaneLedger::new(7);
        // All of them are remembered at one place.
        for flow in 0..3 * u64::from(MOST_FLOWS) {
            pass(&mut ledger, flow * LATELY as u64, 100, Time::from_nanos(flow));
        }
        for row in ledger.top(usize::MAX, Time::ZERO, |_| false) {
            assert_eq!((row.counts.arrived, row.counts.sent), (1, 1), "{row:?}");
        }
    }

    #[test]
    fn the_top_is_who_sent_most_since_the_last_look() {
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
