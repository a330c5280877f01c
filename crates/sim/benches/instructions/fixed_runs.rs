//! The fixed runs, and what a run itself reports.

use std::alloc::System;
use std::fmt;

use aqm::Time;
use headgate_measure::{EventBatch, RunObserver};
use headgate_scenario::{Changes, Scenario};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/protect.toml");

/// The demo's seven disciplines, and one with queues by flow.
const DISCIPLINES: [&str; 8] = ["droptail", "red", "fred", "choke", "blue", "sfb", "faba", "fq_codel"];

/// The run that is counted from the start of its process.
const SWEEP: &str = "short run of a sweep";

/// A run with two durations, which differ by enough packets.
pub struct FixedRun {
    pub name: &'static str,
    /// Count the long run from the start of its process.
    pub from_start: bool,
    durations: [&'static str; 2],
    scenario: fn(&str, &str) -> Scenario,
}

/// What one run reports of itself.
#[derive(Default)]
pub struct Totals {
    /// Packets that the compared disciplines sent.
    pub packets: u64,
    pub events: u64,
    pub flows: u64,
    /// The largest number of bytes on the heap, sampled every few thousand events.
    pub heap: u64,
}

pub fn fixed_runs() -> Vec<FixedRun> {
    let run = |name, durations, scenario| FixedRun { name, from_start: false, durations, scenario };
    // The longest first: two runs are counted at a time.
    let mut runs: Vec<FixedRun> = vec![
        run("10000 flows", ["150ms", "200ms"], crowd),
        run("1000 flows", ["300ms", "500ms"], crowd),
        run("10 flows", ["10s", "40s"], crowd),
    ];
    runs.extend(DISCIPLINES.map(|name| run(name, ["10s", "20s"], demo)));
    runs.extend(["cubic", "bbr"].map(|name| run(name, ["3s", "6s"], controller)));
    runs.push(run("three links", ["3s", "6s"], chain));
    runs.push(FixedRun { from_start: true, ..run(SWEEP, ["2s"; 2], demo) });
    runs
}

/// Runs one of the fixed runs, in its long or its short form.
pub fn count(name: &str, long: bool) -> Totals {
    let runs = fixed_runs();
    let run = runs.iter().find(|run| run.name == name).unwrap_or_else(|| panic!("no run is called {name}"));
    let subject = if run.from_start { "droptail" } else { run.name };
    let scenario = (run.scenario)(subject, run.durations[usize::from(long)]);
    let mut peak = HeapPeak(0);
    let outcome =
        headgate_sim::run(&scenario, &scenario.qdiscs[0], 1, &mut peak).unwrap_or_else(|error| panic!("{error}"));
    peak.sample();
    Totals { packets: outcome.packets, events: outcome.events, flows: outcome.flows.len() as u64, heap: peak.0 }
}

/// Samples the heap as the run reports its progress.
struct HeapPeak(u64);

impl HeapPeak {
    fn sample(&mut self) {
        let stats = HEAP.stats();
        // A reallocation counts in these, too.
        self.0 = self.0.max((stats.bytes_allocated - stats.bytes_deallocated) as u64);
    }
}

impl RunObserver for HeapPeak {
    fn should_continue(&mut self, _: Time) -> bool {
        self.sample();
        true
    }
    fn events(&mut self, _: &EventBatch) {}
}

fn read(text: &str, file: &str, changes: &Changes) -> Scenario {
    Scenario::read(text, file, changes).unwrap_or_else(|error| panic!("{error}"))
}

/// The demo with one discipline, which has the demo's settings if it is one of the demo's.
fn demo(name: &str, duration: &str) -> Scenario {
    let text = std::fs::read_to_string(DEMO).expect("the demo scenario is in the repository");
    let settings = text.lines().find_map(|line| {
        let entry = line.trim().strip_prefix('"')?.strip_suffix("\",")?;
        (entry.split(':').next() == Some(name)).then(|| entry.to_string())
    });
    let set = vec![format!("duration={duration}"), "warmup=1s".to_string()];
    let qdiscs = vec![settings.unwrap_or_else(|| name.to_string())];
    read(&text, DEMO, &Changes { set, qdiscs, seeds: None })
}

/// Long-lived NewReno flows with 1 Mbit/s each, as in the bench `packets`.
fn crowd(name: &str, duration: &str) -> Scenario {
    let flows: u32 = name.split(' ').next().and_then(|word| word.parse().ok()).expect("the name begins with a number");
    let text = format!(
        "name = 'crowd'\nduration = '{duration}'\nwarmup = '100ms'\nqdiscs = ['droptail']\n\
         [link]\nrate = '{flows}Mbit/s'\ndelay = '14ms'\nlimit = '{}p'\n[link.reverse]\nlimit = '10000000p'\n\
         [[tcp]]\nprofile = 'ns2'\nflows = {flows}\nrecovery = 'newreno'\nwindow = 1000\nstart = '0s..50ms'\n\
         access = {{ rate = '100Mbit/s' }}\n\
         [record]\ninterval = '50ms'\n",
        flows * 4
    );
    read(&text, "crowd.toml", &Changes::default())
}

/// Ten flows of one congestion controller.
fn controller(cc: &str, duration: &str) -> Scenario {
    let text = format!(
        "name = 'cc'\nduration = '{duration}'\nwarmup = '1s'\nqdiscs = ['droptail']\n\
         [link]\nrate = '100Mbit/s'\ndelay = '14ms'\nlimit = '270p'\n\
         [[tcp]]\nflows = 10\ncc = '{cc}'\nstart = '0s..1s'\naccess = {{ rate = '100Mbit/s' }}\n[record]\ninterval = '1s'\n"
    );
    read(&text, "cc.toml", &Changes::default())
}

/// Ten flows over three links, the second of which is the bottleneck; two more cross each link alone.
fn chain(_: &str, duration: &str) -> Scenario {
    let link = |ends: [&str; 2], rate: u32, rest: &str| {
        let [from, to] = ends;
        format!("[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '{rate}Mbit/s'\ndelay = '5ms'\nlimit = '200p'\n{rest}")
    };
    let group = |name: &str, [from, to]: [&str; 2], flows: u32| {
        format!(
            "[[tcp]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nflows = {flows}\nstart = '0s..1s'\n\
             access = {{ rate = '100Mbit/s' }}\n"
        )
    };
    let (ab, bc, cd) = (["A", "B"], ["B", "C"], ["C", "D"]);
    let links = [link(ab, 60, "qdisc = 'droptail'\n"), link(bc, 50, ""), link(cd, 60, "qdisc = 'droptail'\n")].concat();
    let flows = [group("all", ["A", "D"], 10), group("first", ab, 2), group("second", bc, 2), group("third", cd, 2)];
    let head = format!("name = 'chain'\nduration = '{duration}'\nwarmup = '1s'\nqdiscs = ['droptail']\n");
    read(&format!("{head}{links}{}[record]\ninterval = '1s'\n", flows.concat()), "chain.toml", &Changes::default())
}

impl Totals {
    /// Reads what a run has printed.
    pub fn read(text: &str) -> Totals {
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[packets, events, flows, heap] = numbers.as_slice() else { panic!("not four totals: {text}") };
        Totals { packets, events, flows, heap }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.packets, self.events, self.flows, self.heap)
    }
}
