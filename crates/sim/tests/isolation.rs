//! The isolation table: goodput that one unresponsive flow takes from ten TCP flows, under every discipline. A commit
//! that changes the golden table gives the reason.

use std::alloc::System;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use aqm::registry::{self, DisciplineEntry, ENTRIES};
use aqm::{Cx, Discipline, FlowId, LinkInfo, Packet, Rate, Rng, Span, Time};
use headgate_measure::{FlowRow, Outcome};
use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[path = "../../core/tests/support/mod.rs"]
mod support;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The CBR flow's rate as a multiple of the link's rate.
const LOADS: [f64; 5] = [0.5, 1.0, 2.0, 5.0, 50.0];
const RATE: Rate = Rate::from_bits(10_000_000);
const BYTES: u32 = 1000;

/// A link of 10 Mbit/s, a round trip of 40 ms (50 packets) and a buffer of two BDPs. Jitter and send jitter keep flows
/// from synchronizing with the queue.
fn scenario(qdisc: &str, load: f64) -> Scenario {
    let rate = load * RATE.as_bits() as f64;
    let text = format!(
        "name = 'isolation'\nduration = '30s'\nwarmup = '10s'\nqdiscs = ['{qdisc}']\nrecord = {{ interval = '30s' }}\n\
         [link]\nrate = '{RATE}'\ndelay = '18ms'\nlimit = '100p'\n\
         [[tcp]]\nflows = 10\npacket = '{BYTES}B'\nstart = '0s..1s'\nsend_jitter = '400us'\nmin_rto = '200ms'\n\
         [[udp]]\nrate = '{rate}bit/s'\npacket = '{BYTES}B'\njitter = 0.5\naccess = {{ rate = '10Gbit/s', delay = '1ms' }}\n"
    );
    Scenario::read(&text, "isolation", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The CBR flow's share of the goodput, a TCP flow's goodput over its fair share, Jain's index over all flows, and the
/// 95th percentile of the queueing delay.
fn figures(outcome: &Outcome) -> String {
    let (tcp, udp) = outcome.flows.split_at(10);
    let goodput = |flows: &[FlowRow]| flows.iter().map(|flow| flow.goodput_bps).sum::<f64>();
    let share = |flow: &FlowRow| flow.goodput_bps / flow.fair_share_bps.unwrap();
    let shares: Vec<f64> = outcome.flows.iter().map(share).collect();
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|x| x * x).sum::<f64>());
    format!(
        " |{:5.1}%{:5.2}{:5.2}{:5.0}",
        100.0 * goodput(udp) / (goodput(tcp) + goodput(udp)),
        tcp.iter().map(share).sum::<f64>() / 10.0,
        sum * sum / (shares.len() as f64 * squares),
        outcome.links[0].port.queue_delay.quantile(0.95).unwrap_or(0.0) / 1e6,
    )
}

/// Bytes the discipline holds on the heap after a second of the same load, its queue's storage included.
fn state(entry: &DisciplineEntry) -> usize {
    let link_info = LinkInfo::new(RATE, BYTES, 7);
    let before = Region::new(ALLOCATOR);
    let mut discipline = registry::boxed::<()>(entry.name, &[("limit", "100p")], &link_info).unwrap();
    let (mut rng, mut sink) = (Rng::new(1), ());
    for turn in 0..10_000_u64 {
        let now = Time::ZERO + Span::from_micros(100 * turn);
        let flow = if turn % 2 == 0 { 0 } else { 1 + turn / 2 % 10 };
        let cx = &mut Cx::new(now, &mut rng, &mut sink);
        discipline.enqueue(Packet { arrived: now, ..Packet::new(FlowId(flow), BYTES, ()) }, cx);
        if turn % 8 == 0 {
            discipline.dequeue(cx);
        }
    }
    let change = before.change();
    // Both sums already include reallocations.
    change.bytes_allocated - change.bytes_deallocated
}

/// The figures of every discipline at every load, computed on all processors.
fn table() -> Vec<String> {
    let jobs: Vec<(&DisciplineEntry, f64)> = ENTRIES.iter().flat_map(|entry| LOADS.map(|load| (entry, load))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || jobs.get(next.fetch_add(1, Ordering::Relaxed));
        let mut done = Vec::new();
        while let Some((entry, load)) = take() {
            let scenario = scenario(entry.name, *load);
            let outcome = run(&scenario, &scenario.qdiscs[0], 1, &mut ()).unwrap_or_else(|error| panic!("{error}"));
            done.push(((entry.name, load.to_bits()), figures(&outcome)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    done.sort_by_key(|((name, load), _)| (*name, *load));
    done.into_iter().map(|(_, figures)| figures).collect()
}

#[test]
fn the_share_of_one_unresponsive_flow_among_ten_responsive_ones_is_as_recorded() {
    // Measured before threads start, because the allocator counts all threads. The test harness's own thread may still be
    // starting: the median of three excludes its allocations.
    let median = |entry: &DisciplineEntry| {
        let mut states = [(); 3].map(|()| state(entry));
        states.sort_unstable();
        states[1]
    };
    let states: Vec<usize> = ENTRIES.iter().map(median).collect();
    let mut page = String::from(
        "# One CBR flow among 10 SACK TCPs on 10 Mbit/s, round trip 40 ms, limit 100p, defaults, 20 s after 10 s, seed 1.\n\
         # cbr: its part of what was delivered (fair: 9.1%); tcp: a TCP flow's goodput over its fair share; jain: over\n\
         # all 11 flows; p95: queueing delay in ms; state: KB held, the queue's storage included.\n",
    );
    let heads: String = LOADS.iter().map(|load| format!(" | {:<19}", format!("CBR at {load} x link"))).collect();
    writeln!(page, "{:11}{heads} |", "").unwrap();
    writeln!(page, "{:11}{} |  state", "qdisc", " |   cbr  tcp jain  p95".repeat(LOADS.len())).unwrap();
    let figures = table();
    for ((entry, state), figures) in ENTRIES.iter().zip(states).zip(figures.chunks(LOADS.len())) {
        writeln!(page, "{:11}{} |{:7.1}", entry.name, figures.concat(), state as f64 / 1e3).unwrap();
    }
    support::golden("tests/golden/isolation.txt", &page, "bless");
}
