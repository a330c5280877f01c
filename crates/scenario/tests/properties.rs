//! Whatever the text: never a panic, and an error that points into it. Whatever the scenario: written and read back, it
//! is the same.

use headgate_core::{Limit, Rate, Span};
use headgate_scenario::{
    Access, Cc, Changes, Events, Link, Qdisc, Record, Reverse, Scenario, Start, TcpGroup, UdpGroup,
};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

const VALID: &str = include_str!("../../../scenarios/ecn.toml");

/// Reads `text`; an error must point at a line and column that exist, and be printable.
fn check(text: &str, changes: &Changes) {
    let Err(error) = Scenario::read(text, "any.toml", changes) else { return };
    assert!(error.to_string().starts_with("error: "));
    match (error.line, error.column) {
        (Some(line), Some(column)) => {
            let lines: Vec<&str> = text.split('\n').collect();
            let line = lines.get(line as usize - 1).unwrap_or_else(|| panic!("line {line} of {}", lines.len()));
            assert!((1..=line.chars().count() + 1).contains(&(column as usize)), "column {column} of {line:?}");
        }
        place => assert!(error.change.is_some() && place == (None, None)),
    }
}

fn span(range: std::ops::Range<u64>) -> impl Strategy<Value = Span> {
    // Whole milliseconds, and any nanosecond.
    (range.clone(), range, any::<bool>()).prop_map(|(ms, ns, fine)| {
        if fine { Span::from_nanos(ns * 1_000_000 + ms % 1_000_000) } else { Span::from_millis(ms) }
    })
}

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![
        (1..=100_000_u64).prop_map(|m| Rate::from_bits(m * 1_000_000)),
        (1..=100_000_000_000_u64).prop_map(Rate::from_bits)
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..=10_000_000_u32).prop_map(Limit::Packets), (1..=10_000_000_000_u64).prop_map(Limit::Bytes)]
}

fn access() -> impl Strategy<Value = Access> {
    (rate(), span(0..3_600_000)).prop_map(|(rate, delay)| Access { rate, delay })
}

/// A start within the first five seconds and a stop after it.
fn times() -> impl Strategy<Value = (Start, Option<Span>)> {
    (span(0..2_000), span(0..2_000), option::of(span(5_000..50_000)))
        .prop_map(|(from, more, stop)| (Start { from, to: from + more }, stop))
}

fn sizes() -> impl Strategy<Value = (u32, u32)> {
    (1..=65_535_u32).prop_flat_map(|packet| (Just(packet), 0..packet))
}

fn tcp() -> impl Strategy<Value = TcpGroup> {
    let cc = prop_oneof![Just(Cc::Reno), Just(Cc::NewReno), Just(Cc::Sack)];
    let window = || 1..=1_000_000_u32;
    let windows = (window(), window(), option::of(window()));
    let ack = (1..=65_535_u32, option::of(span(1..3_600_000)));
    let timer = (span(1..1_000), span(1..1_000), span(1_001..3_600_000), span(1..1_000));
    let rest = (any::<[bool; 3]>(), span(0..3_600_000));
    (0..1000_u32, cc, sizes(), ack, (access(), access()), times(), windows, timer, rest).prop_map(
        |(flows, cc, (packet, header), (ack, delayed_ack), (sender, receiver), (start, stop), windows, timer, rest)| {
            let ([limited_transmit, ecn, ecn_timeout], overhead) = rest;
            let (window, initial_window, initial_ssthresh) = windows;
            let (initial_rto, min_rto, max_rto, rto_granularity) = timer;
            TcpGroup {
                name: String::new(),
                flows: flows + 1,
                cc,
                packet,
                header,
                ack,
                sender,
                receiver,
                start,
                stop,
                window,
                initial_window,
                initial_ssthresh,
                delayed_ack,
                initial_rto,
                min_rto,
                max_rto,
                rto_granularity,
                limited_transmit,
                ecn,
                ecn_timeout,
                overhead,
            }
        },
    )
}

fn udp() -> impl Strategy<Value = UdpGroup> {
    (1..1000_u32, rate(), sizes(), 0.0..=1.0, (access(), access()), times(), any::<bool>()).prop_map(
        |(flows, rate, (packet, header), jitter, (sender, receiver), (start, stop), ecn)| UdpGroup {
            name: String::new(),
            flows,
            rate,
            packet,
            header,
            jitter,
            sender,
            receiver,
            start,
            stop,
            ecn,
        },
    )
}

/// DropTail with each of `limits`, all different.
fn qdiscs() -> impl Strategy<Value = Vec<Qdisc>> {
    btree_set(1..10_000_u32, 1..5).prop_map(|limits| {
        let qdisc =
            |limit| Qdisc { name: "droptail".to_string(), settings: vec![("limit".to_string(), format!("{limit}p"))] };
        limits.into_iter().map(qdisc).collect()
    })
}

fn link() -> impl Strategy<Value = Link> {
    let reverse = (rate(), limit(), qdiscs());
    let reverse = reverse.prop_map(|(rate, limit, mut qdiscs)| Reverse { rate, limit, qdisc: qdiscs.remove(0) });
    (rate(), span(0..3_600_000), limit(), reverse).prop_map(|(rate, delay, limit, reverse)| Link {
        rate,
        delay,
        limit,
        reverse,
    })
}

prop_compose! {
    fn scenario()(
        name in "[A-Za-z0-9_-]{1,64}",
        about in "\\PC{0,80}|[\\n\"'\\\\\t ]{0,9}",
        (duration, warmup) in (span(6_000..80_000_000), span(0..6_000)),
        seeds in prop_oneof![(1..20_u64).prop_map(|n| (1..=n).collect()), btree_set(0..i64::MAX as u64, 1..9)],
        qdiscs in qdiscs(),
        link in link(),
        (mut tcp, mut udp) in (vec(tcp(), 1..4), vec(udp(), 0..3)),
        (interval, events) in (span(1..6_000), prop_oneof![Just(Events::Off), Just(Events::Drops), Just(Events::All)]),
    ) -> Scenario {
        tcp.iter_mut().enumerate().for_each(|(index, group)| group.name = format!("fast-{index}"));
        udp.iter_mut().enumerate().for_each(|(index, group)| group.name = format!("slow_{index}"));
        // No flow may send more packets than are counted: 2^32.
        let most = |packet: u32| Rate::from_bits((4e9 * 8.0 * f64::from(packet) / duration.as_secs_f64()) as u64);
        tcp.iter_mut().for_each(|group| group.sender.rate = group.sender.rate.min(most(group.packet)));
        udp.iter_mut().for_each(|group| group.sender.rate = group.sender.rate.min(most(group.packet)));
        let interval = interval.min(duration).max(Span::from_nanos(duration.as_nanos().div_ceil(1_000_000)));
        Scenario {
            name, about, duration, warmup, seeds: seeds.into_iter().collect(), qdiscs, link, tcp, udp,
            record: Record { interval, events },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_scenario_survives_a_round_trip_through_its_text(scenario in scenario()) {
        let text = scenario.to_toml();
        let read = Scenario::read(&text, "written.toml", &Changes::default());
        prop_assert_eq!(read.as_ref().map_err(ToString::to_string), Ok(&scenario), "{}", text);
        prop_assert_eq!(read.unwrap().to_toml(), text);
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(text in "\\PC*|[a-z\\[\\]{}=\",.0-9\\n\\t ]{0,200}") {
        check(&text, &Changes::default());
    }

    #[test]
    fn a_file_with_a_piece_changed_is_read_or_refused_at_a_place_in_it(
        (at, length) in (0..VALID.len(), 0..40_usize),
        piece in "\\PC{0,5}|[\\[\\]{}=\",.0-9\\n# -]{0,8}|name|tcp|\"off\"|1e99|inf|-1",
    ) {
        let end = (at + length).min(VALID.len());
        check(&format!("{}{piece}{}", &VALID[..at], &VALID[end..]), &Changes::default());
    }

    #[test]
    fn any_change_is_made_or_refused(
        set in vec("(link|tcp|udp|record|marks|seeds|name|\\PC{0,4})(\\.[a-z_]{0,8}){0,2}=?\\PC{0,8}", 0..3),
        qdiscs in vec("(droptail|red|\\PC{0,4})(:[a-z]{0,5}=\\PC{0,4})?", 0..3),
        seeds in option::of(any::<u32>()),
    ) {
        check(VALID, &Changes { set, qdiscs, seeds });
    }
}
