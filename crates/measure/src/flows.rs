//! The table of flows: counts from queues, links, receivers and transports.

use headgate_core::{Counts, Time};
use headgate_scenario::{Hop, Scenario};

use crate::due::dues;
use crate::meter::LinkLedger;
use crate::metrics::{Ends, Milestones};
use crate::shown::PacketCounts;
use crate::table::{GROUP, Nested, Unit, rows};

rows! {
    /// One flow.
    pub struct FlowRow derives Clone Debug Default PartialEq {
        /// The flow's number, from 0.
        flow: u32 as Unit::None,
        /// The flow's group.
        group: u32 as GROUP,
        /// Of a flow's data: at the first queue on its way; `sent` and `sent_bytes` are at the last, drops and marks at all.
        counts: Counts as PacketCounts,
        /// Packets of the flow's data that links lost on the way. No discipline dropped them.
        link_losses: u64 as Unit::Packets,
        /// Bits per second of the flow's data that the last queue sent: with headers, and with packets sent again.
        throughput_bps: f64 as Unit::BitsPerSecond,
        /// Useful bits delivered per second: no headers, nothing twice.
        goodput_bps: f64 as Unit::BitsPerSecond,
        /// Max-min fair share of the links on the flow's way, as goodput.
        fair_share_bps: f64 as Unit::BitsPerSecond,
        /// Packets sent again.
        retransmits: u64 as Unit::Packets,
        /// Retransmission timeouts; of TFRC, expiries of the nofeedback timer.
        timeouts: u64 as Unit::Count,
        /// Congestion window averaged over time; null for UDP.
        cwnd_mean: Option<f64> as Unit::Packets,
        /// Mean queueing delay of the flow's packets, all queues together; null if none was sent.
        queue_delay_ms_mean: Option<f64> as Unit::Milliseconds,
        /// The flow's firsts.
        milestones: Milestones as Nested,
    } also {
        /// Goodput over fair share; null where the flow is due nothing, such as one that stopped before the warm-up ended.
        share_of_fair as Unit::Ratio, after "fair_share_bps":
            |row: &FlowRow| (row.fair_share_bps > 0.0).then(|| row.goodput_bps / row.fair_share_bps);
    }
}

/// A transport's counts for a flow after the warm-up.
pub struct Transported {
    /// The flow's group, TCP before UDP.
    pub group: u32,
    /// Useful bytes delivered.
    pub bytes: u64,
    /// Packets retransmitted.
    pub retransmits: u64,
    /// Retransmission timeouts; of TFRC, expiries of the nofeedback timer.
    pub timeouts: u64,
    /// The integral of `cwnd` in packets x nanoseconds; `None` for UDP.
    pub cwnd_area: Option<f64>,
}

/// One row a flow, from the warm-up to the end; `ledger` returns the ledger of a link direction.
pub fn flow_rows<'a>(
    scenario: &Scenario,
    [warm, end]: [Time; 2],
    ends: &Ends,
    transported: impl Iterator<Item = Transported>,
    ledger: impl Fn(&Hop) -> &'a LinkLedger + Copy,
) -> Vec<FlowRow> {
    let (span, dues) = (end - warm, dues(scenario));
    let routes: Vec<&[Hop]> = scenario.routes().collect();
    let row = |(flow, told): (usize, Transported)| {
        let (counts, link_losses, queue_delay_ms_mean) = along(routes[told.group as usize].iter().map(ledger), flow);
        FlowRow {
            flow: flow as u32,
            group: told.group,
            throughput_bps: counts.sent_bytes as f64 * 8.0 / span.as_secs_f64(),
            counts,
            link_losses,
            goodput_bps: told.bytes as f64 * 8.0 / span.as_secs_f64(),
            fair_share_bps: dues[told.group as usize].fair_bps,
            retransmits: told.retransmits,
            timeouts: told.timeouts,
            cwnd_mean: told.cwnd_area.map(|area| area / span.as_nanos() as f64),
            queue_delay_ms_mean,
            milestones: ends.milestones(flow, end),
        }
    };
    transported.enumerate().map(row).collect()
}

/// Combines the ledgers along a flow's route: counts, link losses, and the sum of mean queueing delays in milliseconds.
fn along<'a>(route: impl Iterator<Item = &'a LinkLedger> + Clone, flow: usize) -> (Counts, u64, Option<f64>) {
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
