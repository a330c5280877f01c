//! The forwarder from end to end, with frames from a list and a clock that the test advances.
#![cfg(target_os = "linux")]

mod support;

use aqm::{Ecn, Framing, Rate, Span, Time, registry};
use etherparse::Ipv4HeaderSlice;
use headgate_live::{CATCH_UP, Forwarder, FrameAnomaly, LaneSettings, Layer, View};
use headgate_scenario::{EcnTreatment, Impairments, RateVariation, Remarks};
use support::memory::{Conserved, FakeClock, MemoryEnd};
use support::{TestDirection, packet};

/// 8 Mbit/s: a byte a microsecond.
const MBIT: u64 = 8;

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Numbered packets of one flow, `bytes` bytes each, one every `gap_us`.
fn stream(count: u32, bytes: usize, gap_us: u64) -> Vec<(Time, Vec<u8>)> {
    (0..count).map(|n| (at_us(u64::from(n) * gap_us), packet(5000, bytes, Ecn::NotEct, n))).collect()
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

struct FinishedRun {
    view: View,
    /// The frames sent to the second end.
    out: Vec<(Time, Vec<u8>)>,
}

/// Sends `frames` through `direction` from the first end to the second, until `end`.
fn run(direction: &TestDirection, frames: Vec<(Time, Vec<u8>)>, mut clock: FakeClock, end: Time) -> FinishedRun {
    let (a, b) = (clock.end(Layer::Ip, frames), clock.end(Layer::Ip, []));
    run_between(direction, a, b, clock, end)
}

fn run_between(direction: &TestDirection, a: MemoryEnd, b: MemoryEnd, clock: FakeClock, end: Time) -> FinishedRun {
    let lanes = direction.lanes(Layer::Ip);
    let mut forwarder = Forwarder::new(a, b, lanes, clock);
    while forwarder.view().at < end {
        forwarder.turn(end).unwrap();
        let view = forwarder.view();
        assert!(view.lanes.iter().all(|lane| lane.adds_up()), "{:#?}", view.lanes);
        let lane = &view.lanes[0];
        let used = lane.backlog.packets as usize + lane.propagating;
        assert_eq!(lane.free_slots + used, direction.slots as usize, "the number of slots changed");
    }
    FinishedRun { view: forwarder.view(), out: forwarder.b.sent().to_vec() }
}

#[test]
fn rate_delay_and_order_are_exact() {
    let direction = TestDirection::new(MBIT, 5, 1000, "droptail");
    let run = run(&direction, stream(500, 1000, 100), FakeClock::new(), at_us(600_000));
    assert_eq!(run.out.len(), 500);
    for (n, (at, bytes)) in (0..).zip(&run.out) {
        // Packet n is transmitted from n ms to n + 1 ms and leaves the link 5 ms later.
        assert_eq!((*at, number(bytes)), (at_us((u64::from(n) + 1) * 1000 + 5000), n));
        assert_eq!(bytes, &packet(5000, 1000, Ecn::NotEct, n));
    }
    assert_eq!(run.view.lanes[0].lateness.quantile(1.0), Some(0.0));
}

#[test]
fn lateness_does_not_add_up() {
    let late = [0, 170, 30, 900, 0, 2500].map(Span::from_micros).to_vec();
    let direction = TestDirection::new(MBIT, 5, 1000, "droptail");
    let run = run(&direction, stream(500, 1000, 0), FakeClock::late(late), at_us(600_000));
    assert_eq!(run.out.len(), 500);
    let first = run.out[0].0;
    for (n, (at, _)) in (0..).zip(&run.out) {
        let nominal = at_us((n + 1) * 1000 + 5000);
        // The first arrival may be read late, which delays all packets; each departure may be late by itself.
        assert!(*at >= nominal && *at - nominal <= Span::from_micros(5000), "{n}: {at} for {nominal}");
    }
    let lane = &run.view.lanes[0];
    assert_eq!(lane.counts.stalls, 0);
    assert!(lane.lateness.quantile(1.0).unwrap() <= 2_500_000.0 * 1.008, "at most what the clock was late");
    assert!(run.out[499].0 - first >= Span::from_millis(499 - 3));
}

#[test]
fn a_frame_sent_while_the_loop_is_interrupted_arrives_no_earlier_than_it_was_sent() {
    let direction = TestDirection::new(MBIT, 5, 1000, "droptail");
    for interruption in [300, 3_000, 30_000].map(Span::from_micros) {
        // Most reads are in time: a packet that arrived too early then leaves too early.
        let clock = FakeClock::interrupted([vec![interruption], vec![Span::ZERO; 6]].concat());
        let run = run(&direction, stream(100, 1000, 1500), clock, at_us(3_000_000));
        assert_eq!(run.out.len(), 100);
        for (at, packet) in &run.out {
            let sent = at_us(u64::from(number(packet)) * 1500);
            assert!(*at >= sent + Span::from_micros(1000 + 5000), "{at} of {sent}, after {interruption}");
        }
    }
}

#[test]
fn the_overhead_costs_time_and_the_gaps_of_an_idle_link_stay() {
    let mut direction = TestDirection::new(MBIT, 0, 100, "droptail");
    direction.direction_settings.framing = Framing::parse("38B").unwrap();
    let run = run(&direction, stream(20, 462, 10_000), FakeClock::new(), at_us(300_000));
    for (n, (at, _)) in (0..).zip(&run.out) {
        assert_eq!(*at, at_us(n * 10_000 + 500));
    }
    assert_eq!(run.out.len(), 20);
}

#[test]
fn a_negative_overhead_shortens_the_transmission() {
    let mut direction = TestDirection::new(MBIT, 0, 100, "droptail");
    direction.direction_settings.framing = Framing::parse("-14B").unwrap();
    let run = run(&direction, stream(20, 514, 0), FakeClock::new(), at_us(300_000));
    let times: Vec<Time> = run.out.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, (1..=20).map(|n| at_us(n * 500)).collect::<Vec<_>>());
}

#[test]
fn a_trace_lets_1500_bytes_pass_at_each_of_its_times() {
    let mut direction = TestDirection::new(MBIT, 2, 100, "droptail");
    // Two opportunities at 3 ms, one at 10 ms; then the trace repeats.
    direction.direction_settings.rate_variation =
        RateVariation::Trace { name: "t".to_string(), opportunities: [3, 3, 10].into() };
    direction.slots = LaneSettings::slots(&direction.direction_settings, direction.delay);
    let run = run(&direction, stream(9, 1500, 0), FakeClock::new(), at_us(40_000));
    let times: Vec<Time> = run.out.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [3, 3, 10, 13, 13, 20, 23, 23, 30].map(|ms| at_us((ms + 2) * 1000)));
    assert_eq!(run.view.lanes[0].counts.no_slot, 0);
}

#[test]
fn slots_suffice_for_the_highest_rate_of_a_link() {
    let mut direction = TestDirection::new(1, 100, 1, "droptail");
    let slots = |rate_variation: RateVariation, direction: &mut TestDirection| {
        direction.direction_settings.rate_variation = rate_variation;
        LaneSettings::slots(&direction.direction_settings, direction.delay)
    };
    let step = |mbit: u64| (Span::from_secs(1), Rate::from_bits(mbit * 1_000_000));
    // 100 ms at 8 Mbit/s hold 100 kB; packets have at least 60 bytes.
    let steps = slots(RateVariation::Schedule { steps: vec![step(8), step(0)], period: None }, &mut direction);
    assert!(steps >= 100_000 / 60, "{steps}");
    // 50 opportunities at once, then none for a second: all 50 packets may be in propagation together.
    let burst = [vec![5; 50], vec![1000]].concat();
    let burst = slots(RateVariation::Trace { name: "t".to_string(), opportunities: burst.into() }, &mut direction);
    assert!(burst >= 50 * 1500 / 60, "{burst}");
}

#[test]
fn lateness_beyond_the_catch_up_bound_stalls_the_link() {
    // The loop is late once, by 30 ms, at the first packet's departure.
    let mut late = vec![Span::ZERO; 200];
    late[0] = Span::from_millis(30);
    let direction = TestDirection::new(MBIT, 0, 100, "droptail");
    let run = run(&direction, stream(40, 1000, 0), FakeClock::late(late), at_us(100_000));
    let lane = &run.view.lanes[0];
    let lost = Span::from_millis(30) - CATCH_UP;
    assert_eq!((lane.counts.stalls, lane.counts.stalled), (1, lost));
    // At 31 ms the loop catches up on 10 ms: it sends the packets due at 1 to 11 ms, postponed to 21 to 31 ms.
    let burst = run.out.iter().filter(|(at, _)| *at == at_us(31_000)).count();
    assert_eq!(burst, 11);
    assert_eq!(run.out.last().unwrap().0, at_us(40_000) + lost);
}

#[test]
fn every_discipline_accounts_for_every_frame() {
    for entry in registry::ENTRIES {
        let direction = TestDirection::new(MBIT, 2, 20, entry.name);
        // Ten flows offer twice the rate; four of ten packets are ECN-capable. In a pause the link goes idle.
        let frame = |n: u32| packet(5000 + (n * n % 10) as u16, 400 + (n * 37 % 600) as usize, ecn(n), n);
        let frames = (0..1200_u32).map(|n| {
            let pause = if n < 800 { 0 } else { 2_000_000 };
            (at_us(u64::from(n) * 350 + pause), frame(n))
        });
        let run = run(&direction, frames.collect(), FakeClock::new(), at_us(4_000_000));
        let lane = &run.view.lanes[0];
        let port = lane.totals.counts();
        assert_eq!(port.arrived, 1200, "{}", entry.name);
        assert_eq!(lane.counts.no_slot, 0, "{}", entry.name);
        assert_eq!(run.out.len() as u64, lane.counts.delivered, "{}", entry.name);
        assert_eq!(run.out.len() as u64 + port.dropped(), 1200, "{}: a packet never leaves the queue", entry.name);
        for (_, bytes) in &run.out {
            let n = number(bytes);
            assert_eq!(bytes.len(), frame(n).len(), "{}", entry.name);
            let header = Ipv4HeaderSlice::from_slice(bytes).unwrap();
            assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum(), "{}", entry.name);
            let marked = header.ecn().value() == 0b11;
            assert!(!marked || ecn(n).is_capable(), "{}: {n} could carry no mark", entry.name);
        }
        // Only disciplines that schedule may reorder a single flow.
        if !entry.abilities.schedules {
            assert!(run.out.is_sorted_by_key(|(_, bytes)| number(bytes)), "{} reorders", entry.name);
        }
        let named: u64 = lane.top.iter().map(|flow| flow.counts.arrived).sum();
        assert_eq!(named, 1200, "{}", entry.name);
    }
}

fn ecn(n: u32) -> Ecn {
    if n % 5 < 2 { Ecn::Ect0 } else { Ecn::NotEct }
}

#[test]
fn marks_are_in_the_headers_of_sent_packets() {
    let direction = TestDirection::new(MBIT, 2, 100, "red:minth=5p,maxth=50p,ecn=on");
    let frames = (0..2000).map(|n| (at_us(u64::from(n) * 900), packet(5000, 1000, Ecn::Ect0, n)));
    let run = run(&direction, frames.collect(), FakeClock::new(), at_us(2_200_000));
    let marked = run.out.iter().filter(|(_, bytes)| bytes[1] & 3 == 3).count() as u64;
    assert!(marked > 10, "{marked} marks are too few to tell");
    assert_eq!(marked, run.view.lanes[0].totals.counts().marked());
    assert_eq!(run.view.lanes[0].top[0].counts.marked, marked);
}

#[test]
fn packets_are_lost_at_random_on_the_link_and_counted() {
    let mut direction = TestDirection::new(MBIT, 2, 10, "droptail");
    direction.direction_settings.impairments.loss = 0.1;
    let run = run(&direction, stream(5000, 100, 200), FakeClock::new(), at_us(1_100_000));
    let lost = run.view.lanes[0].counts.lost;
    // Binomial: mean 500, sigma 21; five of them.
    assert!(lost.abs_diff(500) < 107, "{lost}");
    assert_eq!(run.out.len() as u64 + lost, 5000);
}

#[test]
fn listed_packets_are_lost_and_others_arrive_twice_with_the_fields_that_the_link_writes() {
    let mut direction = TestDirection::new(MBIT, 2, 10, "droptail");
    let remarks = Remarks { ecn: EcnTreatment::Remark, dscp: Some(46) };
    direction.direction_settings.impairments =
        Impairments { duplicate: 1.0, lost_packets: [1, 3].into(), remarks, ..Impairments::default() };
    let fields = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::NotEct];
    let frames = (0..5).map(|n| (at_us(u64::from(n) * 1000), packet(5000, 100, fields[n as usize], n)));
    let run = run(&direction, frames.collect(), FakeClock::new(), at_us(60_000));
    let arrived: Vec<(u32, u8)> = run.out.iter().map(|(_, bytes)| (number(bytes), bytes[1])).collect();
    // ECT(0) became ECT(1), 01; CE is 11. The DSCP, EF, is 46 << 2 = 184.
    assert_eq!(arrived, [(1, 185), (1, 185), (3, 187), (3, 187), (4, 184), (4, 184)]);
    for (at, bytes) in &run.out {
        assert_eq!(*at, at_us(u64::from(number(bytes)) * 1000 + 2100));
        let header = Ipv4HeaderSlice::from_slice(bytes).unwrap().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
    }
    let counts = run.view.lanes[0].counts;
    assert_eq!((counts.lost, counts.duplicates, counts.remarked, counts.delivered), (2, 3, 3, 6));
}

#[test]
fn a_copy_for_which_no_slot_is_free_is_not_made() {
    let mut direction = TestDirection::new(MBIT, 10, 10, "droptail");
    direction.direction_settings.impairments.duplicate = 1.0;
    direction.slots = 3;
    let run = run(&direction, stream(2, 100, 0), FakeClock::new(), at_us(60_000));
    let counts = run.view.lanes[0].counts;
    assert_eq!((counts.duplicates, counts.delivered, run.out.len()), (1, 3, 3));
}

#[test]
fn frames_leave_together_in_slots_and_aggregates() {
    // Slots of 2 ms carry 2000 bytes. Frames that arrive in the first are sent in the second, and arrive at its end.
    let (mut direction, gap) = (TestDirection::new(MBIT, 0, 10, "droptail"), Span::from_micros(300));
    direction.direction_settings.rate_variation = RateVariation::Slots { length: Span::from_millis(2) };
    let slotted = run(&direction, stream(3, 1000, 500), FakeClock::new(), at_us(60_000));
    assert_eq!(slotted.out.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [4000, 4000, 6000].map(at_us));
    direction.direction_settings.rate_variation = RateVariation::Aggregates { most: Span::from_millis(4), gap };
    let aggregates = run(&direction, stream(3, 1000, 500), FakeClock::new(), at_us(60_000));
    // The first is alone and takes 0.3 + 1 ms. The other two leave 0.3 + 2 ms later.
    assert_eq!(aggregates.out.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1300, 3600, 3600].map(at_us));
}

#[test]
fn delayed_packets_are_overtaken() {
    let mut direction = TestDirection::new(MBIT, 2, 10, "droptail");
    direction.direction_settings.impairments.reorder = 0.2;
    direction.direction_settings.impairments.reorder_by = Span::from_millis(3);
    let run = run(&direction, stream(500, 100, 1000), FakeClock::new(), at_us(600_000));
    assert_eq!(run.out.len(), 500);
    for (at, bytes) in &run.out {
        let late = *at - at_us(u64::from(number(bytes)) * 1000 + 2100);
        assert!([0, 3].map(Span::from_millis).contains(&late), "{late}");
    }
    assert!(!run.out.is_sorted_by_key(|(_, bytes)| number(bytes)));
}

#[test]
fn frames_without_a_slot_or_with_an_anomaly_are_dropped_on_arrival_and_counted() {
    let mut direction = TestDirection::new(MBIT, 10, 100, "droptail");
    direction.slots = 4;
    let mut frames = stream(10, 1000, 0);
    frames.push((at_us(100_000), Vec::new()));
    frames.push((at_us(100_000), vec![0x45; 3000]));
    frames.push((at_us(100_000), vec![0x45; 30]));
    let run = run(&direction, frames, FakeClock::new(), at_us(200_000));
    let lane = &run.view.lanes[0];
    assert_eq!((lane.counts.offered, lane.counts.no_slot, lane.counts.delivered), (13, 6, 4));
    let odd = [FrameAnomaly::Empty, FrameAnomaly::Oversize, FrameAnomaly::BadLength]
        .map(|anomaly| lane.anomalies.of(anomaly));
    assert_eq!(odd, [1, 1, 1]);
}

#[test]
fn packets_that_the_far_end_refuses_are_counted_and_are_not_delivered() {
    let direction = TestDirection::new(MBIT, 0, 100, "droptail");
    let mut clock = FakeClock::new();
    let (a, mut b) = (clock.end(Layer::Ip, stream(10, 1000, 0)), clock.end(Layer::Ip, []));
    b.refuse_after(7);
    let run = run_between(&direction, a, b, clock, at_us(50_000));
    let lane = &run.view.lanes[0];
    assert_eq!((run.out.len(), lane.counts.delivered, lane.counts.refused), (7, 7, 3));
    assert!(lane.adds_up(), "{:?}", lane.counts);
}

#[test]
fn queue_length_and_utilization_are_averaged_over_time() {
    let direction = TestDirection::new(MBIT, 0, 100, "droptail");
    let mut clock = FakeClock::new();
    let (a, b) = (clock.end(Layer::Ip, stream(10, 1000, 0)), clock.end(Layer::Ip, []));
    let lanes = direction.lanes(Layer::Ip);
    let mut forwarder = Forwarder::new(a, b, lanes, clock);
    let mut seen = Vec::new();
    for end in [2500, 20_000].map(at_us) {
        while forwarder.view().at < end {
            forwarder.turn(end).unwrap();
        }
        seen.push(forwarder.view().lanes[0].occupancy);
    }
    // Each packet takes 1 ms: 9 are queued in the first millisecond, 8 in the second, 7 from then to 2.5 ms.
    let near = |found: (f64, f64, Option<f64>), packets: f64, busy: f64| {
        let expected = (packets, packets * 1000.0, busy);
        let off = [found.0 - expected.0, (found.1 - expected.1) / 1000.0, found.2.unwrap() - expected.2];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{found:?} for {expected:?}");
    };
    near(seen[0].means(), (9.0 + 8.0 + 3.5) / 2.5, 1.0);
    near(seen[1].means_since(&seen[0]), (3.5 + 6.0 * 7.0 / 2.0) / 17.5, 7.5 / 17.5);
}

#[test]
fn utilization_weighs_time_with_capacity() {
    let mut direction = TestDirection::new(MBIT, 0, 100, "droptail");
    // A byte each microsecond, nothing from 2 to 6 ms: ten packets of a millisecond leave in 14 ms.
    let step = |ms, mbit: u64| (Span::from_millis(ms), Rate::from_bits(mbit * 1_000_000));
    direction.direction_settings.rate_variation =
        RateVariation::Schedule { steps: vec![step(2, 0), step(6, MBIT)], period: None };
    let mut clock = FakeClock::new();
    let (a, b) = (clock.end(Layer::Ip, stream(10, 1000, 0)), clock.end(Layer::Ip, []));
    let mut forwarder = Forwarder::new(a, b, direction.lanes(Layer::Ip), clock);
    let mut seen = Vec::new();
    for end in [2500, 5500, 7000, 20_000].map(at_us) {
        while forwarder.view().at < end {
            forwarder.turn(end).unwrap();
        }
        seen.push(forwarder.view().lanes[0].occupancy);
    }
    let between = |place: usize| seen[place].means_since(&seen[place - 1]).2;
    assert_eq!((seen[0].means().2, between(1), between(2)), (Some(1.0), None, Some(1.0)));
    let last = between(3).unwrap();
    assert!((last - 7.0 / 13.0).abs() < 1e-9, "{last}: seven packets in 13 ms");
}

#[test]
fn the_two_directions_do_not_delay_each_other() {
    let direction = TestDirection::new(MBIT, 5, 100, "droptail");
    let mut clock = FakeClock::new();
    let a = clock.end(Layer::Ip, stream(50, 1000, 0));
    let b = clock.end(Layer::Ip, (0..50).map(|n| (at_us(0), packet(6000, 500, Ecn::NotEct, n))));
    let lanes = direction.lanes(Layer::Ip);
    let mut forwarder = Forwarder::new(a, b, lanes, clock);
    while forwarder.view().at < at_us(100_000) {
        forwarder.turn(at_us(100_000)).unwrap();
    }
    let ends = [forwarder.a.sent(), forwarder.b.sent()];
    assert_eq!(ends.map(<[_]>::len), [50, 50]);
    for (n, (back, forth)) in (1..).zip(ends[0].iter().zip(ends[1])) {
        assert_eq!((back.0, forth.0), (at_us(n * 500 + 5000), at_us(n * 1000 + 5000)));
        assert_eq!((back.1.len(), forth.1.len()), (500, 1000));
    }
}

#[test]
fn ends_of_different_layers_are_refused() {
    let direction = TestDirection::new(MBIT, 0, 10, "droptail");
    let mut clock = FakeClock::new();
    let (a, b) = (clock.end(Layer::Ip, []), clock.end(Layer::Ethernet, []));
    let lanes = direction.lanes(Layer::Ip);
    let error = Forwarder::new(a, b, lanes, clock).run().map(drop).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn another_thread_reads_the_published_view() {
    let direction = TestDirection::new(MBIT, 0, 100, "droptail");
    let mut clock = FakeClock::new();
    let (a, b) = (clock.end(Layer::Ip, stream(100, 1000, 1000)), clock.end(Layer::Ip, []));
    let lanes = direction.lanes(Layer::Ip);
    let mut forwarder = Forwarder::new(a, b, lanes, clock);
    let shared = forwarder.shared_view();
    while forwarder.view().at < at_us(75_500) {
        forwarder.turn(at_us(75_500)).unwrap();
    }
    // The last view is of 50 ms: 50 packets have left, and the 51st has just arrived.
    let view = std::thread::spawn(move || shared.latest()).join().unwrap();
    assert_eq!((view.at, view.lanes[0].counts.delivered, view.lanes[0].propagating), (at_us(50_000), 50, 1));
    assert!(view.lanes[0].adds_up());
}
