//! The table of flows: counts from queues, links, receivers and transports.

use aqm::{Counts, Time};
use headgate_scenario::{FairUnit, Hop, Scenario};

use crate::active_shares::{Activity, active_fair_shares, activities};
use crate::core_columns::CountColumns;
use crate::limits::{HeldTimes, LimitTimes, limit_times};
use crate::link_ledger::LinkLedger;
use crate::metrics::{CallQuality, Milestones, ReceiverMetrics};
use crate::table::{GROUP, RowColumns, Unit, rows};

rows! {
    /// One flow.
    pub struct FlowRow derives Clone Debug Default PartialEq {
        /// The flow's number, from 0.
        flow: u32 as Unit::None,
        /// The flow's group.
        group: u32 as GROUP,
        /// Counted for the flow's data at the first queue of its route. `sent` and `sent_bytes` count at the last
        /// queue, drops and marks at every queue.
        counts: Counts as CountColumns,
        /// Packets of the flow's data that an emulated medium lost. They are no drops.
        link_losses: u64 as Unit::Packets,
        /// Packets of the flow's data that reached the receiver after a packet that the sender had sent later. RFC 4737,
        /// section 3.3.
        reordered: u64 as Unit::Packets,
        /// Bits of the flow's data that the last queue sent, per second: headers and retransmissions count.
        throughput_bps: f64 as Unit::BitsPerSecond,
        /// Useful bits that reached the receiver per second: no headers, no padding, nothing twice, and in any order. RFC
        /// 7928, section 2.5.
        goodput_bps: f64 as Unit::BitsPerSecond,
        /// When the flow began to send, warm-up included; null if it did not.
        active_from: Option<Time> as Unit::Nanoseconds,
        /// When its last data was acknowledged, or its group stopped; null if the run ended first.
        active_until: Option<Time> as Unit::Nanoseconds,
        /// Max-min fair share of the links on the flow's route by the scenario's unit `fair`, by default among flows, as
        /// goodput: averaged over the time after the warm-up, 0 while the flow is not active. Only flows and units that
        /// are active at the same time share a link. Null if the flow never was active.
        fair_share_bps: Option<f64> as Unit::BitsPerSecond,
        /// Packets retransmitted.
        retransmits: u64 as Unit::Packets,
        /// Retransmission timeouts. For TFRC, expiries of the nofeedback timer; 0 for calls.
        timeouts: u64 as Unit::Count,
        /// Congestion window, averaged over time; null for UDP.
        cwnd_mean: Option<f64> as Unit::Packets,
        /// What limited the sender.
        limits: LimitTimes as RowColumns,
        /// Mean queueing delay of the flow's packets, summed over the queues of its route; null if none was sent.
        queue_delay_ms_mean: Option<f64> as Unit::Milliseconds,
        /// Start-up, identification and response times.
        milestones: Milestones as RowColumns,
        /// Late frames and freezes, of a call.
        call: CallQuality as RowColumns,
    } also {
        /// Goodput over fair share; 1 is fair. Null without a fair share, as of a flow that stopped before the warm-up
        /// ended.
        share_of_fair as Unit::Ratio, after "fair_share_bps": |row: &FlowRow| {
            row.fair_share_bps.filter(|fair| *fair > 0.0).map(|fair| row.goodput_bps / fair)
        };
    }
}

/// A transport's counts for a flow after the warm-up.
pub struct TransportCounts {
    /// The flow's group, TCP before UDP.
    pub group: u32,
    /// Packets retransmitted.
    pub retransmits: u64,
    /// Retransmission timeouts; of TFRC, expiries of the nofeedback timer.
    pub timeouts: u64,
    /// The integral of `cwnd` in packets x nanoseconds; `None` for UDP.
    pub cwnd_area: Option<f64>,
    /// What limited the sender; `None` where it is not measured.
    pub held: Option<HeldTimes>,
}

/// One row a flow, from the warm-up to the end; `ledger` returns the ledger of a link direction.
pub fn flow_rows<'a>(
    scenario: &Scenario,
    [warm, end]: [Time; 2],
    ends: &ReceiverMetrics,
    transports: impl Iterator<Item = TransportCounts>,
    ledger: impl Fn(&Hop) -> &'a LinkLedger + Copy,
) -> Vec<FlowRow> {
    let (span, activities) = (end - warm, activities(scenario, ends.lifetimes()));
    let unit = scenario.fair.unwrap_or(FairUnit::Flow);
    let fair_shares = active_fair_shares(scenario, unit, [warm, end], &activities);
    let routes: Vec<&[Hop]> = scenario.routes().collect();
    let row = |(flow, transport): (u32, TransportCounts)| {
        let route = routes[transport.group as usize].iter().map(ledger);
        let (counts, link_losses, queue_delay_ms_mean) = sum_over_route(route, flow);
        let [active_from, active_until] = activities[flow as usize].known_before(end);
        let Activity { from, until } = activities[flow as usize];
        let active = [from.max(warm), until.min(end)];
        FlowRow {
            flow,
            group: transport.group,
            throughput_bps: counts.sent_bytes as f64 * 8.0 / span.as_secs_f64(),
            counts,
            link_losses,
            reordered: ends.reordering.of_flow(flow as usize),
            goodput_bps: ends.measured_bytes(flow as usize) as f64 * 8.0 / span.as_secs_f64(),
            active_from,
            active_until,
            fair_share_bps: fair_shares[flow as usize],
            retransmits: transport.retransmits,
            timeouts: transport.timeouts,
            cwnd_mean: transport.cwnd_area.map(|area| area / span.as_nanos() as f64),
            limits: limit_times(transport.held, active),
            queue_delay_ms_mean,
            milestones: ends.milestones(flow as usize, end),
            call: ends.calls.of_flow(flow as usize),
        }
    };
    (0..).zip(transports).map(row).collect()
}

/// Combines the ledgers along a flow's route: counts, link losses, and the sum of mean queueing delays in milliseconds.
fn sum_over_route<'a>(route: impl Iterator<Item = &'a LinkLedger> + Clone, flow: u32) -> (Counts, u64, Option<f64>) {
    let mut all = Counts::default();
    let mut arrived = None;
    for counts in route.clone().map(|ledger| ledger.of_flow(flow)) {
        arrived.get_or_insert(counts.arrived);
        // Packets sent are counted at the last queue.
        (all.sent, all.sent_bytes) = (0, 0);
        all.add(&counts);
    }
    all.arrived = arrived.unwrap_or(0);
    let lost = route.clone().map(|ledger| ledger.lost_of_flow(flow)).sum();
    (all, lost, route.map(|ledger| ledger.delay_ms(flow)).sum())
}
