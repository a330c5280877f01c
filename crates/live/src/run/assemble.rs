//! Assembles a run's tables from the loop's records at the links and the reports of the flows' ends.

use aqm::{Time, Why};
use headgate_measure::{
    Balance, IntervalRow, LinkRow, OneWayDelays, Outcome, ReceiverMetrics, SampledCounters, TransportCounts, flow_rows,
    group_rows, one_way_delays, record_run_totals,
};
use headgate_scenario::{Hop, Scenario};

use super::records::RunRecords;
use crate::load::LoadReport;

pub(super) fn outcome(scenario: &Scenario, records: &RunRecords, report: &LoadReport, balance: Balance) -> Outcome {
    let [warm, end] = [scenario.warmup, scenario.duration].map(|span| Time::ZERO + span);
    let ledger = |hop: &Hop| &records.totals[usize::from(hop.number())].ledger;
    let mut receiver_metrics = replay_end_events(scenario, records, report);
    let packets = records.totals.iter().filter(|total| total.row.compared).map(|total| total.sent).sum();
    let mut links: Vec<LinkRow> = records.totals.iter().map(|total| total.row.clone()).collect();
    record_run_totals(&mut links, packets, 0);
    Outcome {
        flows: flow_rows(scenario, [warm, end], &receiver_metrics, transport_counts(report), ledger),
        intervals: interval_rows(scenario, records, report),
        transfers: report.transfers.clone(),
        links,
        one_way: one_way_rows(scenario, records),
        fairness: receiver_metrics.fairness(end),
        packets,
        events: 0,
        balance,
    }
}

/// An event at the flows' ends. Of events at the same time, the end of the warm-up is first.
#[derive(Clone, Copy)]
enum EndEvent {
    Warm,
    Monitored { flow: usize, why: Why },
    Delivered { flow: usize, bytes: u64 },
    Ended { flow: usize },
}

/// Passes the events at the flows' ends, in order of time, to the simulator's measurements.
fn replay_end_events(scenario: &Scenario, records: &RunRecords, report: &LoadReport) -> ReceiverMetrics {
    let mut receiver_metrics = ReceiverMetrics::new(scenario);
    for (flow, row) in report.flows.iter().enumerate() {
        receiver_metrics.flow_begins(flow, row.group as usize, row.start);
    }
    let mut all = vec![(Time::ZERO + scenario.warmup, EndEvent::Warm)];
    let monitored = records.samples.values().flatten().flat_map(|sample| &sample.monitored_drops);
    all.extend(monitored.map(|&(at, flow, why)| (at, EndEvent::Monitored { flow: flow as usize, why })));
    let delivered = report.deliveries.iter();
    all.extend(delivered.map(|row| (row.at, EndEvent::Delivered { flow: row.flow as usize, bytes: row.bytes })));
    let ended = report.flows.iter().enumerate();
    let ended = ended.filter_map(|(flow, row)| Some((row.ended?, EndEvent::Ended { flow })));
    all.extend(ended);
    all.sort_by_key(|(at, _)| *at);
    let group_of = |flow: usize| report.flows[flow].group as usize;
    for (at, what) in all.into_iter().filter(|(at, _)| *at < Time::ZERO + scenario.duration) {
        match what {
            EndEvent::Warm => receiver_metrics.restart(at),
            EndEvent::Monitored { flow, why } => receiver_metrics.packet_dropped(flow, why, at),
            EndEvent::Delivered { flow, bytes } => receiver_metrics.bytes_delivered((flow, group_of(flow)), bytes, at),
            EndEvent::Ended { flow } => receiver_metrics.flow_ends(flow, group_of(flow), at),
        }
    }
    receiver_metrics.reordering = records.reordering.clone();
    receiver_metrics
}

fn transport_counts(report: &LoadReport) -> impl Iterator<Item = TransportCounts> {
    report.flows.iter().map(|flow| TransportCounts {
        group: flow.group,
        retransmits: flow.counts.retransmits,
        timeouts: flow.counts.timeouts,
        cwnd_area: flow.cwnd_area,
        // The kernel's times include its own queues and are not those of the scenario's links.
        held: None,
    })
}

fn one_way_rows(scenario: &Scenario, records: &RunRecords) -> Vec<OneWayDelays> {
    let rows = one_way_delays(scenario).into_iter().zip(&records.excess);
    rows.map(|(way, excess)| OneWayDelays { excess: excess.clone(), ..way }).collect()
}

/// Intervals of all directions and all groups.
fn interval_rows(scenario: &Scenario, records: &RunRecords, report: &LoadReport) -> Vec<IntervalRow> {
    let groups = scenario.groups().count();
    let (mut rows, mut counters) = (Vec::new(), vec![SampledCounters::default(); groups]);
    let mut deliveries = report.deliveries.iter().peekable();
    let (mut since, mut warm) = (Time::ZERO, Some(Time::ZERO + scenario.warmup));
    for (&at, samples) in &records.samples {
        rows.extend(samples.iter().flat_map(|sample| sample.rows.iter().cloned()));
        if warm.take_if(|warm| *warm <= at).is_some() {
            let before = sum_by_group(groups, records.totals.iter().map(|total| &total.before_warm));
            counters.iter_mut().zip(before).for_each(|(counters, before)| counters.restart(before));
        }
        let mut bytes = vec![0; groups];
        while let Some(row) = deliveries.next_if(|row| row.at < at) {
            bytes[report.flows[row.flow as usize].group as usize] += row.bytes;
        }
        let totals_now = sum_by_group(groups, samples.iter().map(|sample| &sample.groups));
        for (group, ((counters, totals_now), bytes)) in (0..).zip(counters.iter_mut().zip(totals_now).zip(bytes)) {
            rows.extend(group_rows((at, at - since), group, bytes, counters.increments(totals_now)));
        }
        since = at;
    }
    rows
}

/// Drops and marks by group, summed over all directions.
fn sum_by_group<'a>(groups: usize, directions: impl Iterator<Item = &'a Vec<(u64, u64)>>) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); groups];
    for counts in directions {
        sums.iter_mut().zip(counts).for_each(|(sum, totals_now)| *sum = (sum.0 + totals_now.0, sum.1 + totals_now.1));
    }
    sums
}
