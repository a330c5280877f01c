//! Cost of a packet in each discipline, relative to a bare ring buffer of the same packets.
//!
//! One offered packet is one measurement: it is enqueued, and a packet is dequeued if the queue is longer than wanted.
//! The queue length is therefore constant unless the discipline drops packets. The cost includes drops, and the table
//! states their share. Criterion measures. The table shows its estimates, each as a ratio to the ring buffer measured
//! in the same group just before.

use std::alloc::System;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aqm::Discipline;
use aqm::registry::{self, DisciplineVisitor, ENTRIES};
use criterion::Criterion;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

mod load;
use load::{BareRing, LIMIT, LINK, SteadyLoad};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Queued packets when the next is offered. "full": each packet takes the last room and is dequeued at once.
const LENGTHS: [(&str, u32); 3] = [("empty", 0), ("half", LIMIT / 2), ("full", LIMIT - 1)];
const FLOWS: [u64; 3] = [10, 1000, 100_000];
const RING: &str = "ring buffer";

impl<D: Discipline<()>> SteadyLoad<D> {
    /// Offers packets until every table has every flow and averages have settled. Returns the mean length and the share
    /// of dropped packets.
    fn settle(&mut self) -> QueueState {
        for _ in 0..1_000_000 {
            self.offer();
        }
        let (before, mut waited, rounds) = (self.drops.0, 0, 100_000);
        for _ in 0..rounds {
            self.offer();
            waited += u64::from(self.discipline.backlog().packets);
        }
        QueueState { length: waited as f64 / rounds as f64, refused: (self.drops.0 - before) as f64 / rounds as f64 }
    }
}

struct QueueState {
    length: f64,
    refused: f64,
}

/// One row of the table.
struct CostRow {
    group: String,
    name: &'static str,
    held: QueueState,
    /// Bytes on the heap once every flow was seen, the queue's storage included.
    bytes: usize,
}

/// Measures one discipline, compiled for it.
struct Measure<'a> {
    criterion: &'a mut Criterion,
    name: &'static str,
    flows: u64,
    length: (&'static str, u32),
    /// Begun before the discipline was built.
    region: Region<'static, System>,
}

impl DisciplineVisitor<()> for Measure<'_> {
    type Output = CostRow;
    fn visit<D: Discipline<()> + 'static>(self, discipline: D) -> CostRow {
        let mut load = SteadyLoad::new(discipline, self.flows, self.length.1);
        let held = load.settle();
        let bytes = in_use(&self.region);
        let group = format!("{} queue {} flows", self.length.0, self.flows);
        self.criterion.benchmark_group(&group).bench_function(self.name, |b| b.iter(|| load.offer()));
        CostRow { group, name: self.name, held, bytes }
    }
}

/// Bytes allocated since `region` began and not freed.
fn in_use(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated.saturating_add_signed(change.bytes_reallocated) - change.bytes_deallocated
}

fn main() {
    let estimates = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disciplines");
    // Removes the estimates of earlier runs.
    std::fs::remove_dir_all(&estimates).ok();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500))
        .sample_size(30)
        .nresamples(2000)
        .without_plots()
        .output_directory(&estimates)
        .configure_from_args();
    let mut rows = Vec::new();
    for flows in FLOWS {
        for length in LENGTHS {
            let region = Region::new(ALLOCATOR);
            rows.push(
                Measure { criterion: &mut criterion, name: RING, flows, length, region }.visit(BareRing::default()),
            );
            for entry in ENTRIES {
                let limit = LIMIT.to_string();
                let region = Region::new(ALLOCATOR);
                let job = Measure { criterion: &mut criterion, name: entry.name, flows, length, region };
                rows.push(registry::with(entry.name, &[("limit", &limit)], &LINK, job).unwrap());
            }
        }
    }
    criterion.final_summary();
    print(&rows, &estimates);
}

fn print(rows: &[CostRow], estimates: &Path) {
    println!("\nOne offered packet: enqueue, and dequeue while the queue is longer than wanted; limit {LIMIT} packets");
    let mut ring = None;
    for CostRow { group, name, held, bytes } in rows {
        // Nothing was measured if a filter on the command line left it out.
        let Some(median) = median(&estimates.join(group).join(name)) else { continue };
        if *name == RING {
            ring = Some(median);
            println!("\n{group}\n{:<14}{:>9}{:>8}{:>10}{:>9}{:>12}", "", "ns", "ratio", "waiting", "refused", "bytes");
        }
        let ratio = ring.map_or("-".into(), |ring| format!("{:.1}", median / ring));
        println!("{name:<14}{median:>9.1}{ratio:>8}{:>10.1}{:>8.1}%{bytes:>12}", held.length, 100.0 * held.refused);
    }
}

/// Criterion's median estimate in nanoseconds.
fn median(folder: &Path) -> Option<f64> {
    let file: PathBuf = folder.join("new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}
