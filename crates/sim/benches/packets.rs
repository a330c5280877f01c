//! CPU time per packet that the forward bottleneck sends. It includes acknowledgements, drops, retransmissions and
//! timers.
//!
//! - (a) The demo scenario, for each of its disciplines.
//! - (b) 10 to 100 000 long-lived TCP flows, on a link of 1 Mbit/s per flow.
//! - (c) Each congestion controller.
//!
//! CPU time of this thread depends little on other work of the machine. The tables have the best of a few runs and
//! their median.

use std::fs;

use headgate_scenario::{Cc, Changes, Qdisc, Scenario};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/protect.toml");
const REPEATS: u64 = 5;

/// CPU seconds per packet of one scenario and discipline over a few runs, and the counts of one run.
struct Cost {
    best: f64,
    median: f64,
    packets: f64,
    acks: f64,
    events: f64,
}

fn main() {
    // cargo passes `--bench` and the user's arguments: names of parts.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 3] = [("demo", demo), ("flows", flows), ("controllers", controllers)];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|want| name.contains(want.as_str())) {
            part();
        }
    }
}

fn demo() {
    let text = fs::read_to_string(DEMO).expect("the demo scenario is in the repository");
    let scenario = Scenario::read(&text, DEMO, &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    println!("(a) {}: {}", scenario.name, scenario.about);
    println!("{:<40} {:>10} {:>8} {:>12} {:>10} {:>9}", "", "ns/packet", "median", "packets/s", "events", "ns/event");
    let (mut seconds, mut packets, mut acks) = (0.0, 0.0, 0.0);
    for qdisc in &scenario.qdiscs {
        let cost = measure(&scenario, qdisc, REPEATS, scenario.seeds.len() as u64);
        println!("{:<40} {}", qdisc.to_string(), cost.row());
        seconds += cost.best * cost.packets;
        packets += cost.packets;
        acks += cost.acks;
    }
    println!("{:<40} {:>10.1} {:>8} {:>12.0}", "all disciplines", seconds / packets * 1e9, "", packets / seconds);
    // The outcome has no acknowledgements of the warm-up: the rate after it is extrapolated.
    let both = packets + acks * scenario.duration.as_secs_f64() / (scenario.duration - scenario.warmup).as_secs_f64();
    let label = "all disciplines, ACKs counted too";
    println!("{label:<40} {:>10.1} {:>8} {:>12.0}\n", seconds / both * 1e9, "", both / seconds);
}

fn flows() {
    println!("(b) long-lived NewReno flows on 1 Mbit/s each, 1000 B packets, round trip 32 ms, droptail of 32 ms");
    println!(
        "{:<40} {:>10} {:>8} {:>12} {:>10} {:>9} {:>7}",
        "flows", "ns/packet", "median", "packets/s", "events", "ns/event", "ratio"
    );
    let mut first = None;
    // Long runs, so that slow start and its losses matter little. Each row has at least a million packets.
    for (flows, seconds, seeds) in [(10, 60, 16), (100, 60, 2), (1000, 60, 1), (10_000, 20, 1), (100_000, 5, 1)] {
        let repeats = if flows < 10_000 { REPEATS } else { 2 };
        let scenario = crowd(flows, seconds);
        let cost = measure(&scenario, &scenario.qdiscs[0], repeats, seeds);
        let ratio = cost.best / *first.get_or_insert(cost.best);
        println!("{:<40} {} {:>7.2}", flows, cost.row(), ratio);
    }
}

fn crowd(flows: u64, seconds: u64) -> Scenario {
    let text = format!(
        "name = 'crowd'\nduration = '{seconds}s'\nwarmup = '1s'\nqdiscs = ['droptail']\n\
         [link]\nrate = '{flows}Mbit/s'\ndelay = '14ms'\nlimit = '{}p'\n\
         [link.reverse]\nlimit = '10000000p'\n\
         [[tcp]]\nprofile = 'ns2'\nflows = {flows}\nrecovery = 'newreno'\nwindow = 1000\nstart = '0s..1s'\n\
         access = {{ rate = '100Mbit/s' }}\n\
         [record]\ninterval = '1s'\n",
        flows * 4
    );
    Scenario::read(&text, "crowd.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn controllers() {
    println!("\n(c) ten flows of each congestion controller on 100 Mbit/s, a round trip of 32 ms, droptail of 32 ms");
    println!(
        "{:<40} {:>10} {:>8} {:>12} {:>10} {:>9} {:>9}",
        "cc", "ns/packet", "median", "packets/s", "events", "ns/event", "to cubic"
    );
    let cost = |cc: Cc| {
        let text = format!(
            "name = 'cc'\nduration = '30s'\nwarmup = '1s'\nqdiscs = ['droptail']\n\
             [link]\nrate = '100Mbit/s'\ndelay = '14ms'\nlimit = '270p'\n\
             [[tcp]]\nflows = 10\ncc = '{cc}'\nstart = '0s..1s'\naccess = {{ rate = '100Mbit/s' }}\n[record]\ninterval = '1s'\n"
        );
        let scenario = Scenario::read(&text, "cc.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        measure(&scenario, &scenario.qdiscs[0], REPEATS, 1)
    };
    let cubic = cost(Cc::Cubic);
    for &cc in Cc::ALL {
        let cost = cost(cc);
        println!("{:<40} {} {:>9.2}", cc.to_string(), cost.row(), cost.best / cubic.best);
    }
}

/// Each repeat runs the first `seeds` seeds. The kernel counts CPU time in steps of some milliseconds, so a repeat should
/// take much longer.
fn measure(scenario: &Scenario, qdisc: &Qdisc, repeats: u64, seeds: u64) -> Cost {
    let mut costs = Vec::new();
    let (mut packets, mut acks, mut events) = (0, 0, 0);
    for _ in 0..repeats {
        let start = cpu_seconds();
        (packets, acks, events) = (0, 0, 0);
        for seed in 1..=seeds {
            let outcome = headgate_sim::run(scenario, qdisc, seed, &mut ()).unwrap_or_else(|error| panic!("{error}"));
            packets += outcome.packets;
            acks += outcome.links[1].counts.sent;
            events += outcome.events;
        }
        costs.push((cpu_seconds() - start) / packets as f64);
    }
    costs.sort_by(f64::total_cmp);
    let (packets, acks, events) = (packets as f64, acks as f64, events as f64);
    Cost { best: costs[0], median: costs[costs.len() / 2], packets, acks, events }
}

impl Cost {
    fn row(&self) -> String {
        let events = self.events / self.packets;
        let (best, median) = (self.best * 1e9, self.median * 1e9);
        format!("{best:>10.1} {median:>8.1} {:>12.0} {events:>10.2} {:>9.1}", 1.0 / self.best, best / events)
    }
}

/// CPU time of this thread from Linux, or else wall-clock time.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match stat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()) {
        Some(nanos) if nanos > 0.0 => nanos / 1e9,
        _ => wall_seconds(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn wall_seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
