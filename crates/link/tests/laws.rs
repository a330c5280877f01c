//! Laws of the medium for every combination of its features: faults are where two of them meet.
//!
//! Most laws compare two media that differ in one feature. They share the random numbers, so a packet meets the same fate
//! in both, and each packet's difference is known exactly.

use std::collections::BTreeSet;

use aqm::{
    Backlog, Ecn, FlowId, Framing, Limit, LinkInfo, Packet, Port, Rate, Rng, Sink, Span, Time, Totals, Why, registry,
};
use headgate_link::{Alteration, AlteredPackets, Arrival, Carrier, LinkQueue, Medium, Meter, NextHop, Transit};
use headgate_measure::CapacityUse;
use headgate_scenario::{DirectionSettings, EcnTreatment, Impairments, RateVariation, Remarks};
use proptest::prelude::*;

const PACKETS: usize = 300;
const RATE: Rate = Rate::from_bits(8_000_000);
const REORDER_BY: Span = Span::from_millis(20);

/// A choice for each feature of a medium, and for the packets that it carries.
#[derive(Clone, Debug)]
struct Case {
    variation: RateVariation,
    framing: Framing,
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
        RateVariation::Slots { length: Span::from_micros(700) },
        RateVariation::Aggregates { most: Span::from_millis(4), gap: Span::from_micros(150) },
    ]
}

/// Framings, and what is done to packets besides loss, jitter and reordering.
fn alterations() -> Vec<(Framing, Impairments)> {
    let remarks = Remarks { ecn: EcnTreatment::Bleach, dscp: Some(8) };
    let lost_packets = [1, 2, 17, 18, 19, 200].into();
    vec![
        (Framing::RAW, Impairments::default()),
        (Framing::RAW, Impairments { duplicate: 0.2, lost_packets, ..Impairments::default() }),
        (Framing::parse("pppoe-llcsnap").unwrap(), Impairments { remarks, ..Impairments::default() }),
    ]
}

/// Every combination: 2304.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for variation in variations() {
        for (framing, altered) in alterations() {
            for (loss, burst, burst_max) in
                [(0.0, None, None), (0.1, None, None), (0.1, Some(4.0), None), (0.1, Some(2.0), Some(3))]
            {
                for (jitter, reorder) in [(0, 0.0), (0, 0.2), (5, 0.0), (5, 0.2)] {
                    for (delay, mixed, idle) in (0..8).map(|n| (n & 4, n & 2 > 0, n & 1 > 0)) {
                        let (jitter, delay) = (Span::from_millis(jitter), Span::from_millis(delay));
                        let reordered = Impairments { jitter, reorder, reorder_by: REORDER_BY, ..altered.clone() };
                        let impairments = Impairments { loss, burst, burst_max, ..reordered };
                        all.push(Case { variation: variation.clone(), framing, impairments, delay, mixed, idle });
                    }
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
            (begins <= 1.0).then(|| Impairments { loss, burst, jitter, reorder, reorder_by, ..Impairments::default() })
        },
    );
    let ecn = proptest::sample::select(vec![EcnTreatment::Keep, EcnTreatment::Bleach, EcnTreatment::Remark]);
    let altered = (0.0..1.0, prop::option::of(0..64_u8), ecn, prop::collection::btree_set(1..500_u64, 0..9));
    let framing = proptest::sample::select(Framing::NAMED).prop_map(|(_, framing)| framing);
    let choice = (proptest::sample::select(variations()), framing);
    let packets = (0..90_u64, any::<[bool; 2]>());
    (choice, impairments, altered, packets).prop_map(
        |((variation, framing), plain, altered, (delay, [mixed, idle]))| {
            let (duplicate, dscp, ecn, lost) = altered;
            let lost_packets = lost.into_iter().collect();
            let impairments = Impairments { duplicate, remarks: Remarks { ecn, dscp }, lost_packets, ..plain };
            Case { variation, framing, impairments, delay: Span::from_millis(delay), mixed, idle }
        },
    )
}

impl Case {
    fn medium(&self) -> Medium {
        let settings = DirectionSettings {
            rate: RATE,
            rate_variation: self.variation.clone(),
            framing: self.framing,
            impairments: self.impairments.clone(),
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

    fn bytes(&self, n: usize) -> u32 {
        if self.mixed { 40 + n as u32 * 373 % 1461 } else { 1000 }
    }

    /// The delay from the end of a transmission to an arrival without impairments.
    fn propagation(&self) -> Span {
        match self.variation {
            RateVariation::Slots { length } => self.delay + length,
            _ => self.delay,
        }
    }

    /// The transits of all packets, each with the time at which its transmission begins.
    fn carried(&self) -> Vec<(Time, Transit)> {
        self.carried_as(|bytes| bytes)
    }

    /// The same with other sizes.
    fn carried_as(&self, sized: impl Fn(u32) -> u32) -> Vec<(Time, Transit)> {
        let (mut medium, mut now) = (self.medium(), Time::ZERO);
        let carried = (0..PACKETS).map(|n| {
            if self.idle && n % 7 == 6 {
                now += Span::from_millis(n as u64 % 40);
            }
            let bytes = sized(self.bytes(n));
            let transit = medium.carry(bytes, || three_queued(bytes), now);
            let begun = std::mem::replace(&mut now, transit.sent);
            (begun, transit)
        });
        carried.collect()
    }

    fn arrivals(&self) -> Vec<Option<Time>> {
        self.carried().into_iter().map(|(_, transit)| transit.arrival.time()).collect()
    }
}

fn three_queued(bytes: u32) -> Backlog {
    Backlog { packets: 3, bytes: 3 * u64::from(bytes) }
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
        assert_eq!(transit.due, transit.sent + case.propagation());
        latest = latest.max(transit.due + case.impairments.jitter);
        assert!(transit.arrival.time().is_none_or(|at| transit.due <= at && at <= latest + most));
    }
    if case.impairments == Impairments::default() {
        assert!(carried.iter().all(|(_, transit)| transit.arrival == Arrival::At(transit.due)));
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
    // Packets may wait for a listed one too, whose time is not known here.
    let case = &case.with(|case| case.impairments.lost_packets = [].into());
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
    let carry = |medium: &mut Medium, now| medium.carry(1000, Backlog::default, now).sent;
    let first = carry(&mut medium, Time::ZERO);
    assert_eq!(medium.set_rate(Rate::from_bits(80_000)), constant);
    let second = carry(&mut medium, first);
    if constant {
        let micros = u64::from(case.framing.wire_bytes(1000));
        assert_eq!((first - Time::ZERO, second - first), (Span::from_micros(micros), Span::from_micros(100 * micros)));
    } else {
        let mut other = case.medium();
        assert_eq!([carry(&mut other, Time::ZERO), carry(&mut other, first)], [first, second]);
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
        let (bytes, begun) = (case.bytes(n), now);
        now = medium.carry(bytes, || three_queued(bytes), begun).sent;
        let bytes = case.framing.wire_bytes(bytes);
        for at in [begun, begun + Span::from_nanos((now - begun).as_nanos() / 3)] {
            let used = medium.used(at);
            // Of these two, the time spent sending says as much.
            let by_time = matches!(case.variation, RateVariation::Constant | RateVariation::Aggregates { .. });
            assert_eq!(used.is_none(), by_time);
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

/// With framing, a link sends a packet as a link without it sends one of the packet's bytes on the wire.
fn framing_lengthens_packets(case: &Case) {
    let raw = case.with(|case| case.framing = Framing::RAW).carried_as(|bytes| case.framing.wire_bytes(bytes));
    let sent = |carried: Vec<(Time, Transit)>| carried.into_iter().map(|(_, transit)| transit.sent).collect::<Vec<_>>();
    assert_eq!(sent(case.carried()), sent(raw));
}

/// Packets of a slot leave as it begins. Packets of an aggregate leave at its end, and it lasts no longer than it may.
fn packets_leave_together(case: &Case) {
    let carried = case.carried();
    match case.variation {
        RateVariation::Slots { length } => {
            assert!(carried.iter().all(|(_, transit)| transit.sent.as_nanos() % length.as_nanos() == 0));
        }
        RateVariation::Aggregates { most, gap } => {
            // Four packets of 1000 bytes take 4 ms, and are one aggregate if they follow each other.
            let joined = carried.iter().filter(|(begun, transit)| transit.sent == *begun).count();
            assert!(case.framing != Framing::RAW || case.mixed || case.idle || joined == PACKETS * 3 / 4, "{joined}");
            assert!(carried.iter().all(|(begun, transit)| transit.sent - *begun <= gap + most));
        }
        _ => {}
    }
}

/// Listed packets are lost, and all others have the fate that they have without the list.
fn a_list_concerns_the_listed_packets_alone(case: &Case) {
    let plain = case.with(|case| case.impairments.lost_packets = [].into());
    for (n, (listed, plain)) in case.arrivals().into_iter().zip(plain.arrivals()).enumerate() {
        let is_listed = case.impairments.lost_packets.contains(&(n as u64 + 1));
        assert_eq!(listed, plain.filter(|_| !is_listed), "packet {n}");
    }
}

/// Duplicates and remarks change no time and no loss; each packet that arrives has the remarks.
fn alterations_change_no_arrival(case: &Case) {
    let plain = case.with(|case| (case.impairments.duplicate, case.impairments.remarks) = (0.0, Remarks::default()));
    assert_eq!(case.arrivals(), plain.arrivals());
    let mut copies = 0;
    for (_, transit) in case.carried() {
        match transit.arrival {
            Arrival::Altered(_, Alteration { remarks, duplicate }) => {
                assert!(remarks == case.impairments.remarks);
                copies += usize::from(duplicate);
            }
            Arrival::At(_) => assert!(case.impairments.remarks == Remarks::default()),
            Arrival::Lost => {}
        }
    }
    assert!(copies == 0 || case.impairments.duplicate > 0.0);
}

/// A link's host that counts what it receives, and has no room for a copy of every third packet.
#[derive(Default)]
struct CountingHost {
    received: u64,
    lost: u64,
    asked: u64,
    made: u64,
    bleached: u64,
}

impl NextHop<()> for CountingHost {
    fn sending(&mut self, _: &Packet<()>, _: Time) {}
    fn receive(&mut self, packet: Packet<()>, _: [Time; 2], _: bool) {
        self.received += 1;
        self.bleached += u64::from(packet.ecn == Ecn::NotEct);
    }
    fn lost(&mut self, _: Packet<()>, _: Time, _: Time) {
        self.lost += 1;
    }
    fn remark(&mut self, _: &Packet<()>, _: Option<u8>) -> bool {
        false
    }
    fn duplicate(&mut self, packet: &Packet<()>) -> Option<Packet<()>> {
        self.asked += 1;
        let copy = (!self.asked.is_multiple_of(3)).then_some(*packet);
        self.made += u64::from(copy.is_some());
        copy
    }
}

impl Sink<()> for CountingHost {
    fn dropped(&mut self, _: Packet<()>, _: Why, _: Time) {}
    fn marked(&mut self, _: &Packet<()>, _: Why, _: Time) {}
}

/// Counts what the medium did, as a run's tables do.
#[derive(Default)]
struct CountingMeter(Totals, AlteredPackets);

impl aqm::Ledger<()> for CountingMeter {
    fn arrived(&mut self, packet: &Packet<()>, now: Time) {
        aqm::Ledger::<()>::arrived(&mut self.0, packet, now);
    }
    fn sent(&mut self, packet: &Packet<()>, now: Time) {
        aqm::Ledger::<()>::sent(&mut self.0, packet, now);
    }
    fn dropped(&mut self, packet: &Packet<()>, why: Why, now: Time) {
        aqm::Ledger::<()>::dropped(&mut self.0, packet, why, now);
    }
    fn marked(&mut self, packet: &Packet<()>, why: Why, now: Time) {
        aqm::Ledger::<()>::marked(&mut self.0, packet, why, now);
    }
}

impl Meter<()> for CountingMeter {
    fn set_backlog(&mut self, _: Backlog, _: Time) {}
    fn sending(&mut self, _: Time, _: Time) {}
    fn lost(&mut self, _: &Packet<()>, _: Time) {
        self.1.lost += 1;
    }
    fn remarked(&mut self, _: &Packet<()>) {
        self.1.remarked += 1;
    }
    fn duplicated(&mut self, _: &Packet<()>) {
        self.1.duplicates += 1;
    }
}

/// Every packet that the queue sends is lost or received, copies are received too, and each is counted once.
fn packets_are_conserved(case: &Case) {
    let info = LinkInfo::new(RATE, 1000, 1);
    let discipline = registry::boxed("droptail", &[("limit", "20p")], &info).unwrap();
    let port = Port::with_ledger(discipline, Rng::named(1, "port"), CountingMeter::default());
    let (mut queue, mut host) = (LinkQueue::new(port, case.medium()), CountingHost::default());
    for n in 0..PACKETS {
        let now = Time::ZERO + Span::from_micros(900) * n as u64;
        while queue.wake_at() <= now {
            queue.on_wake(queue.wake_at(), &mut host);
        }
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(1), case.bytes(n), ()) };
        queue.arrive(packet, now, &mut host);
    }
    let (CountingMeter(totals, counted), altered) = (queue.port_mut().ledger_mut(), AlteredPackets::default());
    let (counts, counted) = (totals.counts().clone(), *counted);
    assert_eq!(counted, queue.altered());
    assert_eq!(counts.sent + counted.duplicates, host.received + host.lost);
    assert_eq!((counted.lost, counted.duplicates), (host.lost, host.made));
    assert_eq!(counts.arrived, counts.sent + counts.dropped() + u64::from(queue.port().backlog().packets));
    let bleaches = case.impairments.remarks.ecn == EcnTreatment::Bleach;
    assert_eq!(host.bleached, if bleaches { host.received } else { 0 });
    let remarks = if case.impairments.remarks.ecn == EcnTreatment::Keep { 0 } else { host.received - host.made };
    assert_eq!(counted.remarked, remarks);
    assert!(case.impairments != Impairments::default() || counted == altered);
}

const LAWS: [fn(&Case); 14] = [
    no_more_is_sent_than_the_capacity,
    transmissions_follow_each_other_and_packets_arrive_after_them,
    impairments_change_no_transmission,
    a_longer_delay_shifts_every_arrival,
    how_late_reordered_packets_come_concerns_only_them,
    the_others_arrive_in_order,
    no_packet_waits_for_a_reordered_one,
    only_a_rate_that_changes_or_reordering_makes_packets_late,
    only_a_constant_rate_can_be_set,
    framing_lengthens_packets,
    packets_leave_together,
    a_list_concerns_the_listed_packets_alone,
    alterations_change_no_arrival,
    packets_are_conserved,
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
        for law in &LAWS[9..] {
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
