//! Laws of the medium for every combination of its features: faults are where two of them meet.
//!
//! Most laws compare two media that differ in one feature. They share the random numbers, so a packet meets the same fate
//! in both, and each packet's difference is known exactly.

use std::collections::BTreeSet;

use aqm::{Limit, Rate, Rng, Span, Time};
use headgate_link::{Carrier, Medium, Transit};
use headgate_measure::CapacityUse;
use headgate_scenario::{DirectionSettings, Impairments, RateVariation};
use proptest::prelude::*;

const PACKETS: usize = 400;
const RATE: Rate = Rate::from_bits(8_000_000);
const REORDER_BY: Span = Span::from_millis(20);

/// A choice for each feature of a medium, and for the packets that it carries.
#[derive(Clone, Debug)]
struct Case {
    variation: RateVariation,
    impairments: Impairments,
    delay: Span,
    /// Whether sizes differ, and whether the transmitter is idle now and then.
    mixed: bool,
    idle: bool,
}

fn variations() -> Vec<RateVariation> {
    let step = |at, mbit: u64| (Span::from_millis(at), Rate::from_bits(mbit * 1_000_000));
    vec![
        RateVariation::Constant,
        RateVariation::Schedule { steps: vec![step(50, 1), step(90, 0), step(120, 16)], period: None },
        RateVariation::Schedule { steps: vec![step(5, 2), step(12, 0)], period: Some(Span::from_millis(19)) },
        RateVariation::Trace { name: "made up".into(), opportunities: [1, 1, 2, 5, 5, 9].into() },
    ]
}

/// Every combination: 384.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for variation in variations() {
        for (loss, burst) in [(0.0, None), (0.1, None), (0.1, Some(4.0))] {
            for (jitter, reorder) in [(0, 0.0), (0, 0.2), (5, 0.0), (5, 0.2)] {
                for (delay, mixed, idle) in (0..8).map(|n| (n & 4, n & 2 > 0, n & 1 > 0)) {
                    let jitter = Span::from_millis(jitter);
                    let impairments = Impairments { loss, burst, jitter, reorder, reorder_by: REORDER_BY };
                    let delay = Span::from_millis(delay);
                    all.push(Case { variation: variation.clone(), impairments, delay, mixed, idle });
                }
            }
        }
    }
    all
}

/// Whatever a user can set.
fn any_case() -> impl Strategy<Value = Case> {
    let impairments = (0.0..0.9, prop::option::of(1.0..9.0), 0..30_u64, 0.0..0.9, 0..90_u64).prop_filter_map(
        "bursts too rare for the loss",
        |(loss, burst, jitter, reorder, by): (f64, Option<f64>, u64, f64, u64)| {
            let begins = burst.map_or(0.0, |burst| loss / (burst * (1.0 - loss)));
            let (jitter, reorder_by) = (Span::from_millis(jitter), Span::from_millis(by));
            (begins <= 1.0).then_some(Impairments { loss, burst, jitter, reorder, reorder_by })
        },
    );
    let choice = proptest::sample::select(variations());
    (choice, impairments, 0..90_u64, any::<[bool; 2]>()).prop_map(|(variation, impairments, delay, [mixed, idle])| {
        Case { variation, impairments, delay: Span::from_millis(delay), mixed, idle }
    })
}

impl Case {
    fn medium(&self) -> Medium {
        let settings = DirectionSettings {
            rate: RATE,
            rate_variation: self.variation.clone(),
            impairments: self.impairments,
            limit: Limit::Packets(1),
            qdisc: None,
        };
        Medium::new(&settings, self.delay, Rng::named(11, "medium"))
    }

    fn with(&self, change: impl FnOnce(&mut Case)) -> Case {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    fn reordering_later_by(&self, more: Span) -> Case {
        self.with(|case| case.impairments.reorder_by = case.impairments.reorder_by + more)
    }

    /// The transits of all packets, each with the time at which its transmission begins.
    fn carried(&self) -> Vec<(Time, Transit)> {
        let (mut medium, mut now) = (self.medium(), Time::ZERO);
        let carried = (0..PACKETS).map(|n| {
            if self.idle && n % 7 == 6 {
                now += Span::from_millis(n as u64 % 40);
            }
            let bytes = if self.mixed { 40 + n as u32 * 373 % 1461 } else { 1000 };
            let transit = medium.carry(bytes, now);
            let begun = std::mem::replace(&mut now, transit.sent);
            (begun, transit)
        });
        carried.collect()
    }

    fn arrivals(&self) -> Vec<Option<Time>> {
        self.carried().into_iter().map(|(_, transit)| transit.arrival).collect()
    }
}

/// Each packet by its number with its arrival in two media; fails unless both lose the same packets.
fn pairs(one: &Case, other: &Case) -> Vec<(usize, Time, Time)> {
    let both = one.arrivals().into_iter().zip(other.arrivals()).enumerate();
    let arrived = both.filter_map(|(n, (one, other))| {
        assert_eq!(one.is_some(), other.is_some(), "packet {n}");
        Some((n, one?, other?))
    });
    arrived.collect()
}

fn transmissions_follow_each_other_and_packets_arrive_after_them(case: &Case) {
    let carried = case.carried();
    let most = case.impairments.jitter + case.impairments.reorder_by;
    // Jitter keeps the order, so a packet may wait for those before it.
    let mut latest = Time::ZERO;
    for (begun, transit) in &carried {
        assert!(transit.sent >= *begun);
        assert_eq!(transit.due, transit.sent + case.delay);
        latest = latest.max(transit.due + case.impairments.jitter);
        assert!(transit.arrival.is_none_or(|at| transit.due <= at && at <= latest + most));
    }
    if case.impairments == Impairments::default() {
        assert!(carried.iter().all(|(_, transit)| transit.arrival == Some(transit.due)));
    }
}

fn impairments_change_no_transmission(case: &Case) {
    let plain = case.with(|case| case.impairments = Impairments::default()).carried();
    let sent = |carried: Vec<(Time, Transit)>| carried.into_iter().map(|(_, transit)| transit.sent).collect::<Vec<_>>();
    assert_eq!(sent(case.carried()), sent(plain));
}

fn a_longer_delay_shifts_every_arrival(case: &Case) {
    let more = Span::from_millis(7);
    for (n, one, other) in pairs(case, &case.with(|case| case.delay = case.delay + more)) {
        assert_eq!(one + more, other, "packet {n}");
    }
}

/// A reordered packet comes later by as much as it is said, and no other packet waits for it.
fn how_late_reordered_packets_come_concerns_only_them(case: &Case) {
    let more = Span::from_millis(300);
    let found = pairs(case, &case.reordering_later_by(more));
    for (n, one, other) in &found {
        assert!(other == one || *other == *one + more, "packet {n}");
    }
    let reordered = found.iter().filter(|(_, one, other)| one != other).count();
    assert_eq!(reordered > 0, case.impairments.reorder > 0.0 && !found.is_empty(), "{reordered}");
}

/// Without the packets that were reordered, arrivals are in order, jitter or not.
fn the_others_arrive_in_order(case: &Case) {
    let found = pairs(case, &case.reordering_later_by(Span::from_millis(300)));
    let others: Vec<Time> = found.iter().filter(|(_, one, other)| one == other).map(|(_, one, _)| *one).collect();
    assert!(others.is_sorted());
}

/// A packet that waits, because jitter keeps the order, waits for one that is in order: it never arrives at the very time
/// at which a reordered one would have come in order.
fn no_packet_waits_for_a_reordered_one(case: &Case) {
    let more = Span::from_millis(300);
    let (mut in_order, mut instead) = (BTreeSet::new(), BTreeSet::new());
    for (n, one, other) in pairs(case, &case.reordering_later_by(more)) {
        if one == other {
            assert!(
                in_order.contains(&one) || !instead.contains(&one) || case.impairments.jitter == Span::ZERO,
                "packet {n}"
            );
            in_order.insert(one);
        } else {
            instead.insert(Time::ZERO + (one - (Time::ZERO + case.impairments.reorder_by)));
        }
    }
}

fn only_a_rate_that_changes_or_reordering_makes_packets_late(case: &Case) {
    let expected = case.variation != RateVariation::Constant || case.impairments.reorder > 0.0;
    assert!(case.carried().iter().all(|(_, transit)| transit.late_or_reordered == expected));
}

fn only_a_constant_rate_can_be_set(case: &Case) {
    let constant = case.variation == RateVariation::Constant;
    let mut medium = case.medium();
    let first = medium.carry(1000, Time::ZERO);
    assert_eq!(medium.set_rate(Rate::from_bits(80_000)), constant);
    let second = medium.carry(1000, first.sent);
    if constant {
        assert_eq!((first.sent, second.sent - first.sent), (Time::from_nanos(1_000_000), Span::from_millis(100)));
    } else {
        let mut other = case.medium();
        assert_eq!(other.carry(1000, Time::ZERO).sent, first.sent);
        assert_eq!(other.carry(1000, first.sent).sent, second.sent);
    }
}

/// A link of varying rate never sends more than it could, in no part of the time. In the end it has sent all bytes, and a
/// packet counts once its transmission has ended.
fn no_more_is_sent_than_the_capacity(case: &Case) {
    let mut medium = case.medium();
    let (mut now, mut before, mut ended, mut all) = (Time::ZERO, CapacityUse::default(), 0, 0);
    for n in 0..PACKETS {
        if case.idle && n % 7 == 6 {
            (now, ended) = (now + Span::from_millis(1 + n as u64 % 40), all);
        }
        let bytes = if case.mixed { 40 + n as u32 * 373 % 1461 } else { 1000 };
        let begun = now;
        now = medium.carry(bytes, begun).sent;
        for at in [begun, begun + Span::from_nanos((now - begun).as_nanos() / 3)] {
            let used = medium.used(at);
            assert_eq!(used.is_none(), case.variation == RateVariation::Constant);
            let Some(used) = used else { return };
            assert!(before.sent <= used.sent && before.capacity <= used.capacity, "packet {n}");
            assert!(used.sent - before.sent <= used.capacity - before.capacity, "packet {n}");
            assert!((ended..=all + u128::from(bytes) * 8_000_000_000).contains(&used.sent), "packet {n}");
            before = used;
        }
        all += u128::from(bytes) * 8_000_000_000;
    }
    assert_eq!(medium.used(now + Span::from_nanos(1)).map(|used| used.sent), Some(all));
}

const LAWS: [fn(&Case); 9] = [
    no_more_is_sent_than_the_capacity,
    transmissions_follow_each_other_and_packets_arrive_after_them,
    impairments_change_no_transmission,
    a_longer_delay_shifts_every_arrival,
    how_late_reordered_packets_come_concerns_only_them,
    the_others_arrive_in_order,
    no_packet_waits_for_a_reordered_one,
    only_a_rate_that_changes_or_reordering_makes_packets_late,
    only_a_constant_rate_can_be_set,
];

#[test]
fn every_combination_of_features_obeys_the_laws() {
    for case in cases() {
        for law in LAWS {
            if std::panic::catch_unwind(|| law(&case)).is_err() {
                panic!("a law is broken by {case:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_values_obey_the_laws(case in any_case()) {
        for law in &LAWS[..4] {
            law(&case);
        }
        the_others_arrive_in_order(&case);
        no_packet_waits_for_a_reordered_one(&case);
    }
}

#[test]
fn a_schedule_of_one_rate_is_that_rate_and_a_repeated_one_repeats() {
    let step = |at| (Span::from_millis(at), RATE);
    for case in cases().iter().filter(|case| case.variation == RateVariation::Constant) {
        for period in [None, Some(Span::from_millis(10))] {
            let same = RateVariation::Schedule { steps: vec![step(3), step(7)], period };
            assert_eq!(case.with(|case| case.variation = same).arrivals(), case.arrivals());
        }
    }
}
