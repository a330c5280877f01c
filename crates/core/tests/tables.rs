//! The memory that settings ask for is known before it is taken: the registry tells the bytes of a discipline's tables,
//! and allocates as many. The test has a binary of its own, because the allocator counts every thread.

use std::alloc::System;

use aqm::registry::{self, ENTRIES};
use aqm::settings::{Settings, pairs};
use aqm::{BuildError, Class, ClassId, LinkInfo, ParameterInfo, Qdisc, Rate};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const LINK: LinkInfo<'static> = LinkInfo::new(Rate::from_bits(1_000_000_000), 1000, 7);

/// Settings that make tables large.
const LARGE: &[&str] = &[
    "breathe:r_limit=20kbit/s",
    "cake:diffserv=diffserv8",
    "fq_cobalt:flows=65536",
    "fq_codel:flows=65536",
    "fq_pie:flows=65536",
    "red_pd:counted_flows=65536",
    "sfb:bins=4096,levels=8,penalty=fair_share",
    "sfq:buckets=65536",
    "sfq_red:buckets=65536",
    "sfred:bins=4096,levels=8",
];

/// Disciplines that hold others, with the parameter that takes them.
const CONTAINERS: &[(&str, &str)] = &[("drr", "classes"), ("prio", "children"), ("tbf", "child")];

/// Bytes that may be told otherwise than allocated, for each discipline: small tables are told as a constant.
const SMALL: usize = 2048;

/// Every discipline with its defaults, then with large tables.
fn alone() -> Vec<Qdisc> {
    let defaults = ENTRIES.iter().map(|entry| entry.name);
    defaults.chain(LARGE.iter().copied()).map(|text| text.parse().unwrap()).collect()
}

/// Every discipline with each of its whole numbers as large as it may be, or nearly.
fn with_large_numbers() -> Vec<Qdisc> {
    let parameters = ENTRIES.iter().flat_map(|entry| entry.fields().into_iter().map(move |field| (entry.name, field)));
    let numbers = parameters.filter(|(_, field)| field.kind.starts_with("whole number"));
    let largest = |(name, field): (&str, ParameterInfo)| {
        let values = ["1000000", "65536", "4096", "1000", "8"];
        let mut qdiscs = values.iter().map(|value| format!("{name}:{}={value}", field.name).parse().unwrap());
        qdiscs.find(|qdisc| told(qdisc).is_ok())
    };
    numbers.filter_map(largest).collect()
}

/// Each of `inside` in each container: once in a shaper, three times in a scheduler.
fn nested(inside: &[Qdisc]) -> Vec<Qdisc> {
    let in_container = |(container, parameter): &(&str, &str)| -> Vec<Qdisc> {
        let copies = if *parameter == "child" { 1 } else { 3 };
        let text = |inner: &Qdisc| format!("{container}:{parameter}=[{}]", vec![inner.to_string(); copies].join("; "));
        inside.iter().map(|inner| text(inner).parse().unwrap()).collect()
    };
    CONTAINERS.iter().flat_map(in_container).collect()
}

/// The number of disciplines in `qdisc`, itself included.
fn disciplines_in(name: &str, settings: &Settings) -> usize {
    let nested = registry::find(name).unwrap().nested(&pairs(settings)).unwrap();
    1 + nested.iter().map(|(name, settings)| disciplines_in(name, settings)).sum::<usize>()
}

fn told(qdisc: &Qdisc) -> Result<usize, BuildError> {
    registry::table_bytes::<()>(&qdisc.name, &pairs(&qdisc.settings), &LINK)
}

/// The result of `call`, and the bytes that it leaves allocated.
fn allocated<R>(call: impl FnOnce() -> R) -> (R, usize) {
    let region = Region::new(ALLOCATOR);
    let result = call();
    let change = region.change();
    (result, change.bytes_allocated - change.bytes_deallocated)
}

#[test]
fn the_bytes_of_tables_are_known_before_they_are_taken_alone_and_nested() {
    let alone = alone();
    let once = nested(&alone);
    let mut wrong = Vec::new();
    for qdisc in alone.iter().chain(&with_large_numbers()).chain(&once).chain(&nested(&once)) {
        let (told, settings) = (told(qdisc).unwrap(), pairs(&qdisc.settings));
        let (_built, held) = allocated(|| registry::boxed::<()>(&qdisc.name, &settings, &LINK).unwrap());
        if told.abs_diff(held) > SMALL * disciplines_in(&qdisc.name, &qdisc.settings) {
            wrong.push(format!("{qdisc}: told {told} bytes, holds {held}"));
        }
    }
    assert!(wrong.is_empty(), "{} disciplines tell other bytes than they take: {wrong:#?}", wrong.len());
    counts_a_tree_of_classes();
    takes_no_memory_to_tell_the_bytes_of_absurd_settings();
}

/// FABA has a bucket for each class, or a table of buckets.
fn counts_a_tree_of_classes() {
    let tree: Vec<Class> =
        (0..1000_u16).map(|n| Class { parent: n.checked_sub(300).map(ClassId), weight: 1.0 }).collect();
    let link = LinkInfo { classes: &tree, ..LINK };
    for per in ["class", "flow_in_class"] {
        let told = registry::table_bytes::<()>("faba", &[("per", per)], &link).unwrap();
        let (_built, held) = allocated(|| registry::boxed::<()>("faba", &[("per", per)], &link).unwrap());
        assert!(told.abs_diff(held) <= SMALL, "{per}: told {told} bytes, holds {held}");
    }
}

/// The tables of 6000 disciplines have 37 GB. The estimate takes as much memory as their texts, again and again.
fn takes_no_memory_to_tell_the_bytes_of_absurd_settings() {
    let many = vec!["fq_codel:flows=65536"; 2000].join("; ");
    let deep = vec![format!("drr:classes=[{many}]"); 3].join("; ");
    let qdisc: Qdisc = format!("prio:children=[{deep}]").parse().unwrap();
    let region = Region::new(ALLOCATOR);
    let told = told(&qdisc).unwrap();
    assert!(told > 36_000_000_000, "{told} bytes");
    assert!(region.change().bytes_allocated < told / 100, "{:?}", region.change());
}
