//! Every two of TCP's mechanisms together: their settings in a covering array, over several paths, obey laws that need
//! no oracle. A fault hides where two mechanisms meet that no test has thought of together.

use std::cell::Cell;
use std::collections::BTreeSet;

use aqm::{Rng, Span, Time};
use headgate_scenario::{Cc, Changes, Key, Recovery, Scenario, TcpSettings};

use crate::common::covering::{Choice, all_pairs, pairs};
use crate::common::{Fate, Net, Sent, at, ms};

/// Keys that are no mechanism of sender or receiver: what a source sends, headers, names, and what only a host or the
/// simulator does.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "packet", "header", "rate_of", "ack", "ecn", "send_buffer", "timestamps", "send_jitter", "jitter_bursts", "target",
    "gain", "vegas_alpha", "vegas_beta", "vegas_gamma", "cubic_beta",
];

/// Levels of the keys that are not `true` or `false`, as a file writes them.
const LEVELS: &[(&str, &[&str])] = &[
    ("window", &["10000", "12"]),
    ("initial_window", &["10", "2"]),
    ("initial_ssthresh", &["\"off\"", "8"]),
    ("delayed_ack", &["\"100ms\"", "\"40ms\"", "\"off\""]),
    ("quick_acks", &["\"off\"", "16"]),
    ("probe_ack_delay", &["\"off\"", "\"200ms\""]),
    ("initial_rto", &["\"1s\"", "\"3s\""]),
    ("min_rto", &["\"1s\"", "\"300ms\""]),
    ("max_rto", &["\"60s\"", "\"5s\""]),
    ("rto_granularity", &["\"1ms\"", "\"10ms\""]),
    ("min_rto_variance", &["\"off\"", "\"200ms\""]),
    ("min_marked_window", &["1", "2"]),
    ("abc", &["\"off\"", "1", "2"]),
];

/// A key with its levels.
type Feature = (&'static str, Vec<String>);

fn keys_of_tcp() -> Vec<Key> {
    let tcp = headgate_scenario::keys().into_iter().find(|key| key.name == "tcp").expect("a scenario has flows of TCP");
    tcp.form.keys.expect("they are a table")()
}

fn features() -> Vec<Feature> {
    let quoted = |name: &str| format!("\"{name}\"");
    let mut features: Vec<Feature> = vec![
        ("cc", Cc::ALL.iter().map(|cc| quoted(cc.name())).collect()),
        ("recovery", Recovery::ALL.iter().map(|recovery| quoted(recovery.name())).collect()),
    ];
    features
        .extend(LEVELS.iter().map(|(key, levels)| (*key, levels.iter().map(|level| (*level).to_string()).collect())));
    let switches = keys_of_tcp().into_iter().filter(|key| key.form.python == "bool" && !OTHERS.contains(&key.name));
    features.extend(switches.map(|key| {
        // Keys of one controller are absent with the others.
        let absent = settings(&[(key.name, "false")]).is_err().then_some("");
        (key.name, absent.into_iter().chain(["false", "true"]).map(str::to_string).collect())
    }));
    features
}

/// The settings with these keys.
fn settings(keys: &[(&str, &str)]) -> Result<TcpSettings, String> {
    let keys = keys.iter().filter(|(_, value)| !value.is_empty());
    let keys: String = keys.map(|(key, value)| format!("{key} = {value}\n")).collect();
    let text = format!(
        "name = 't'\nduration = '1s'\nqdiscs = ['droptail']\n[link]\nrate = '1Mbit/s'\ndelay = '1ms'\nlimit = '9p'\n\
         [[tcp]]\n{keys}"
    );
    let scenario = Scenario::read(&text, "t", &Changes::default()).map_err(|error| error.to_string())?;
    Ok(scenario.tcp[0].settings.clone())
}

/// Whether some controller and some recovery allow both of these keys.
fn may_meet(one: (&str, &str), other: (&str, &str)) -> bool {
    let fixed = |name: &str| [one, other].iter().any(|(key, _)| *key == name);
    let choices = |name: &str, all: Vec<String>| if fixed(name) { vec![String::new()] } else { all };
    let ccs = choices("cc", Cc::ALL.iter().map(|cc| format!("\"{}\"", cc.name())).collect());
    let recoveries = choices("recovery", Recovery::ALL.iter().rev().map(|r| format!("\"{}\"", r.name())).collect());
    ccs.iter()
        .any(|cc| recoveries.iter().any(|recovery| settings(&[("cc", cc), ("recovery", recovery), one, other]).is_ok()))
}

/// The rows of the covering array as settings.
fn combinations() -> Vec<(String, TcpSettings)> {
    let features = features();
    let written = |(feature, level): Choice| (features[feature].0, features[feature].1[level].as_str());
    let levels: Vec<usize> = features.iter().map(|(_, levels)| levels.len()).collect();
    let refused = all_pairs(&levels).into_iter().filter(|(one, other)| !may_meet(written(*one), written(*other)));
    let forbidden: BTreeSet<(Choice, Choice)> = refused.collect();
    let rows = pairs(&levels, |one, other| !forbidden.contains(&(one, other)));
    let named = rows.iter().map(|row| {
        let keys: Vec<(&str, &str)> = row.iter().copied().enumerate().map(written).collect();
        let name: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        (name.join(", "), settings(&keys).unwrap_or_else(|error| panic!("{error}: {keys:?}")))
    });
    named.collect()
}

/// A path that loses, marks, delays and repeats by chance.
fn rough(config: &TcpSettings, seed: u64, segments: u32) -> Net<'static> {
    let mut draws = Rng::named(seed, "path");
    let lost_acks: Vec<u32> = (1..200).filter(|_| draws.chance(0.05)).collect();
    let lost_acks: &'static [u32] = lost_acks.leak();
    let fate = move |_, _| match draws.span_below(Span::from_nanos(100)).as_nanos() {
        0..6 => Fate::Lost,
        6..10 => Fate::Marked,
        10..14 => Fate::Late(ms(60)),
        14..16 => Fate::Twice(ms(20)),
        _ => Fate::Arrives,
    };
    Net::new(config.clone()).fate(fate).losing_acks(lost_acks).with_ecn().of(segments)
}

fn everything_arrives_and_timeouts_keep_their_bounds(config: &TcpSettings, seed: u64) {
    let segments = 300;
    let mut net = rough(config, seed, segments);
    net.run(at(5_000_000));
    assert_eq!(net.receiver.expected(), segments);
    assert!(net.host.tcp.acked_all() && net.host.tcp.deadline().is_none());
    let again = net.sent.iter().filter(|sent| sent.data.retransmitted).count();
    assert_eq!((net.host.tcp.retransmits() as usize, net.sent.len()), (again, segments as usize + again));
    bounds(config, &net.sent);
}

fn bounds(config: &TcpSettings, sent: &[Sent]) {
    for each in sent {
        assert!(each.rto <= config.max_rto, "an RTO of {}", each.rto);
        assert!(each.rto >= config.min_rto.min(config.initial_rto), "an RTO of {}", each.rto);
        assert!(each.cwnd.is_finite() && each.cwnd > 0.0 && each.ssthresh >= 0.0, "cwnd {}", each.cwnd);
    }
}

fn nothing_is_sent_twice_over_a_path_that_loses_nothing(config: &TcpSettings, _: u64) {
    let mut net = Net::new(config.clone()).fate(|seq, _| if seq % 31 == 30 { Fate::Marked } else { Fate::Arrives });
    net = net.with_ecn().of(300);
    net.run(at(5_000_000));
    assert_eq!((net.receiver.expected(), net.host.tcp.retransmits()), (300, 0));
    bounds(config, &net.sent);
}

/// RFC 6298, sections 5.5 and 2.5: each timeout doubles the next one, up to the greatest.
fn during_an_outage_the_timeout_doubles_up_to_the_greatest(config: &TcpSettings, _: u64) {
    let sent = Cell::new(0);
    let fate = |_, _| {
        sent.set(sent.get() + 1);
        if sent.get() > 40 { Fate::Lost } else { Fate::Arrives }
    };
    let mut net = Net::new(config.clone()).fate(fate).of(300);
    net.run(at(1_000_000));
    bounds(config, &net.sent);
    let first = net.receiver.expected();
    let times: Vec<Time> = net.sent.iter().filter(|sent| sent.data.seq == first).map(|sent| sent.time).collect();
    let gaps: Vec<Span> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A fast retransmission or a probe can come before the first timeout.
    let gaps = &gaps[2.min(gaps.len())..];
    assert!(gaps.len() > 8, "{gaps:?}");
    for pair in gaps.windows(2) {
        let expected = (pair[0] * 2).min(config.max_rto);
        let difference = pair[1].as_nanos().abs_diff(expected.as_nanos());
        assert!(difference <= config.rto_granularity.as_nanos(), "{gaps:?}");
    }
    assert_eq!(gaps.last().copied(), Some(config.max_rto));
}

/// These settings where growth beyond slow start depends on what the application uses, and on nothing else.
fn judged_by_use(config: &TcpSettings) -> TcpSettings {
    TcpSettings { grow_unused: false, recent_use: false, initial_ssthresh: Some(8), window: 10_000, ..config.clone() }
}

/// The time in which the application sends nothing, or too little, is no reason for a larger window (RFC 7661, section 4;
/// RFC 9438, section 4.2).
fn what_the_application_leaves_unused_does_not_widen_the_window(config: &TcpSettings, _: u64) {
    if config.cc.traits().rates {
        return;
    }
    let config = &judged_by_use(config);
    // One segment in all, or always one outstanding.
    for gap in [30_000, 60] {
        let (first, last) = (60, 400);
        let trickle = 30_000 / gap as u32;
        let mut steady = Net::new(config.clone()).of(first + trickle + last);
        steady.run(at(5_000_000));
        let mut pausing = Net::new(config.clone()).of(first);
        let acked = (1..30_000).map(at).find(|now| {
            pausing.run(*now);
            pausing.host.tcp.acked_all()
        });
        let acked = acked.expect("nothing was lost");
        pausing.run(at(30_000));
        let mut resumed = at(30_000);
        for _ in 0..trickle {
            pausing.offer(1);
            resumed += ms(gap);
            pausing.run(resumed);
        }
        pausing.offer(last);
        pausing.run(at(5_000_000));
        assert_eq!(pausing.receiver.expected(), first + trickle + last);
        for sent in pausing.sent.iter().filter(|sent| sent.time >= resumed) {
            // As much time as both had to send, and a round trip more, since their round trips begin at other times.
            let active = acked + ms(200) + (sent.time - resumed);
            let by_then = steady.sent.iter().take_while(|other| other.time <= active);
            let most = by_then.map(|other| other.cwnd).fold(0.0, f64::max);
            assert!(sent.cwnd <= most + 1.0, "cwnd {} after the pause, {most} without it", sent.cwnd);
        }
    }
}

type Law = fn(&TcpSettings, u64);

const LAWS: [(&str, Law); 4] = [
    ("everything arrives", everything_arrives_and_timeouts_keep_their_bounds),
    ("nothing is sent twice", nothing_is_sent_twice_over_a_path_that_loses_nothing),
    ("an outage", during_an_outage_the_timeout_doubles_up_to_the_greatest),
    ("a pause", what_the_application_leaves_unused_does_not_widen_the_window),
];

#[test]
fn every_two_mechanisms_obey_the_laws_of_tcp_together() {
    let mut broken = Vec::new();
    let combinations = combinations();
    for (seed, (name, config)) in (1..).zip(&combinations) {
        for (law, obeys) in LAWS {
            if std::panic::catch_unwind(|| obeys(config, seed)).is_err() {
                broken.push(format!("{law}: {name}"));
            }
        }
    }
    assert!(broken.is_empty(), "{} of {}:\n{}", broken.len(), combinations.len(), broken.join("\n"));
}

#[test]
fn every_key_of_tcp_is_a_mechanism_or_said_to_be_none() {
    let features = features();
    let shared: Vec<&str> = {
        let udp = headgate_scenario::keys().into_iter().find(|key| key.name == "udp").expect("there is UDP");
        udp.form.keys.expect("a table")().iter().map(|key| key.name).collect()
    };
    for key in keys_of_tcp() {
        let is_feature = features.iter().any(|(name, _)| *name == key.name);
        let is_other = OTHERS.contains(&key.name) || (shared.contains(&key.name) && !is_feature);
        assert!(is_feature ^ is_other, "{}: give it levels, or say in OTHERS that it is no mechanism", key.name);
    }
}
