//! Memory is bounded under invented flows: a discipline holds as much after three million flows as after one million.
//! The test has a binary of its own, because the allocator counts every thread.

use std::alloc::System;

use aqm::registry::{self, DisciplineEntry, ENTRIES};
use aqm::{Cx, Discipline, FlowId, LinkInfo, Packet, Rate, Rng, Span, Time};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A queue in which every packet may be of another flow.
const LIMIT: &str = "5000p";

/// Bytes held after each million packets, each of another flow, at twice the link's rate.
fn held(entry: &DisciplineEntry, millions: u64) -> Vec<usize> {
    let link = LinkInfo::new(Rate::from_bits(1_000_000_000), 1000, 7);
    let region = Region::new(ALLOCATOR);
    let mut discipline = registry::boxed::<()>(entry.name, &[("limit", LIMIT)], &link).unwrap();
    let (mut rng, mut names, mut sink) = (Rng::new(1), Rng::new(2), ());
    let mut million = |million: u64| {
        for n in 0..1_000_000_u64 {
            let now = Time::ZERO + Span::from_micros(4) * (million * 1_000_000 + n);
            let cx = &mut Cx::new(now, &mut rng, &mut sink);
            discipline.enqueue(Packet { arrived: now, ..Packet::new(FlowId(names.bits()), 1000, ()) }, cx);
            if n % 2 == 0 {
                discipline.dequeue(cx);
            }
        }
        let change = region.change();
        change.bytes_allocated - change.bytes_deallocated
    };
    (0..millions).map(&mut million).collect()
}

#[test]
fn a_disciplines_memory_does_not_grow_with_invented_flows() {
    for entry in ENTRIES {
        let held = held(entry, 3);
        // An array that doubles may double once more after the first million, for a slightly longer queue.
        assert!(held[2] <= 2 * held[0] && held[2] <= held[1] + held[1] / 8, "{}: {held:?} bytes", entry.name);
        // 64 B per queued packet, and tables of a few million bytes.
        assert!(held[2] < 16_000_000, "{}: {held:?} bytes", entry.name);
    }
}
