//! Reading any text never panics, and an error points into the text. Writing and reading any scenario gives the same
//! scenario.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Bound;

use aqm::params::{Bytes, ParameterValue as _};
use aqm::{ClassId, Framing, Limit, Rate, Span};
use headgate_scenario::{
    Access, AccessDelay, Cc, Changes, Conditions, Direction, DirectionSettings, EcnTreatment, Events, FairUnit,
    FlowKey, GroupSource, Headers, Hop, Impairments, Inputs, IpNet, Key, Link, Ports, Qdisc, RateVariation, Record,
    Remarks, Scenario, Start, TcpGroup, Traced, Traffic, TrafficClass, UdpCc, UdpGroup, UdpSettings, keys,
};
use headgate_traffic::SenderInfo;
use headgate_traffic::values::RandomTime;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const VALID: &str = include_str!("../../../scenarios/ecn.toml");

/// A scenario without flows.
const SMALL: &str = "name = 'small'\nduration = '10s'\nqdiscs = ['droptail']\n\
                     link = { rate = '10Mbit/s', delay = '10ms', limit = '100p' }\n";

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
    // Whole milliseconds or whole nanoseconds.
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
    let drawn = (1..1_000_000_000_u64, 1..1_000_000_u64, 1..100_u32).prop_map(|(nanos, more, shape)| {
        let (mean, most, shape) =
            (Span::from_nanos(nanos), Span::from_nanos(nanos + more), 1.0 + f64::from(shape) / 16.0);
        let spelling = [
            format!("uniform({mean},{most})"),
            format!("exp({mean})"),
            format!("pareto({mean},{shape})"),
            format!("lognormal({mean},{shape})"),
        ];
        AccessDelay::Drawn(RandomTime::read(&spelling[nanos as usize % 4]).unwrap())
    });
    let delay = prop_oneof![span(0..3_600_000).prop_map(AccessDelay::Fixed), drawn];
    (rate(), delay).prop_map(|(rate, delay)| Access { rate, delay })
}

/// A start within the first five seconds and a stop after it.
fn times() -> impl Strategy<Value = (Start, Option<Span>)> {
    let drawn = (span(0..2_000), span(0..2_000)).prop_map(|(from, more)| Start::Drawn { from, to: from + more });
    // At most two steps, since there are at most 1000 flows.
    let steps = (500..2_000_u32, span(1_000..2_000), span(0..1_000));
    let steps = steps.prop_map(|(flows, every, within)| Start::Steps { flows, every, within });
    let poisson = (1e-6..1e6_f64).prop_map(|rate| Start::Poisson { rate, load: None });
    (prop_oneof![drawn, steps, poisson], option::of(span(5_000..50_000)))
}

/// The source of these flows, ready to start.
fn built_source(traffic: &Traffic, sender: &SenderInfo) -> GroupSource {
    traffic.build(sender, &mut |name| Err(format!("there is no {name}"))).unwrap()
}

fn one_of(sources: &[&'static str]) -> impl Strategy<Value = Traffic> + use<> {
    proptest::sample::select(sources.to_vec()).prop_map(|text| text.parse().unwrap())
}

/// The source of a group, and a start by load if the source has a mean size.
fn tcp_demand(group: &mut TcpGroup, load: f64, link: Rate) {
    let rated = group.rate_of.bytes(group.packet, group.header);
    let sender = SenderInfo { rated, ..SenderInfo::tcp(group.packet, group.packet - group.header) };
    group.source = built_source(&group.traffic, &sender);
    if let Some(mean) = group.source.mean_bytes() {
        let rate = link.as_bits() as f64 / 8.0 / (mean * f64::from(sender.packet) / f64::from(sender.payload));
        let load = load.min(9.9e5 / rate);
        group.start = Start::Poisson { rate: load * rate, load: Some(load) };
    }
}

fn v4() -> impl Strategy<Value = IpNet> {
    (any::<u32>(), 0..=32_u8)
        .prop_map(|(bits, length)| IpNet::new(Ipv4Addr::from(bits).into(), length).unwrap().trunc())
}

fn v6() -> impl Strategy<Value = IpNet> {
    let lengths = prop_oneof![0..=128_u8, Just(128)];
    (any::<u128>(), lengths).prop_map(|(bits, length)| IpNet::new(Ipv6Addr::from(bits).into(), length).unwrap().trunc())
}

fn ports() -> impl Strategy<Value = Ports> {
    let range = any::<[u16; 2]>().prop_map(|[a, b]| Ports { first: a.min(b), last: a.max(b) });
    prop_oneof![range, any::<u16>().prop_map(|port| Ports { first: port, last: port })]
}

fn flow_key() -> impl Strategy<Value = FlowKey> {
    use FlowKey::{AddressSum, Class, Dscp, FiveTuple, Label, Pair, Protocol};
    let plain = [FiveTuple, Pair, AddressSum, Protocol, Dscp, Class, Label];
    let bits = || prop_oneof![0..=128_u8, Just(128)];
    prop_oneof![
        proptest::sample::select(plain.to_vec()),
        bits().prop_map(FlowKey::Source),
        bits().prop_map(FlowKey::Destination)
    ]
}

/// For a single group: fields shared by several groups are chosen by [`with_distinct_headers`].
fn headers() -> impl Strategy<Value = Headers> {
    let addresses = prop_oneof![
        option::of(v4()).prop_flat_map(|source| (Just(source), option::of(v4()))),
        option::of(v6()).prop_flat_map(|source| (Just(source), option::of(v6()))),
    ];
    (addresses, ports(), ports(), 0..64_u8, "[a-c]{1,2}").prop_map(
        |((source, destination), source_port, destination_port, dscp, label)| Headers {
            source,
            destination,
            source_port,
            destination_port,
            dscp,
            label,
        },
    )
}

/// Distinguishes flows by addresses and ports: one flow per given address, ports by group.
fn with_distinct_headers(index: usize, flows: &mut u32, headers: &mut Headers) {
    if headers.source.is_some() {
        *flows = 1;
    }
    headers.destination_port = Ports { first: index as u16, last: index as u16 };
}

fn conditions(labels: Vec<String>) -> impl Strategy<Value = Conditions> {
    let few = || 0..3_usize;
    let net = || prop_oneof![v4(), v6()];
    let ports = || vec(ports(), few());
    let label = vec(proptest::sample::select(labels), few());
    (vec(any::<u8>(), few()), [vec(net(), few()), vec(net(), few())], ports(), ports(), vec(0..64_u8, few()), label)
        .prop_map(|(protocol, [source, destination], source_port, destination_port, dscp, label)| Conditions {
            protocol,
            source,
            destination,
            source_port,
            destination_port,
            dscp,
            label,
        })
}

/// Classes with these labels; each may have an earlier class as its parent.
fn classes(labels: Vec<String>) -> impl Strategy<Value = Vec<TrafficClass>> {
    let class = (conditions(labels), 1e-3..1e6_f64, any::<u16>());
    vec(class, 0..6).prop_map(|classes| {
        let rule = |(index, (conditions, weight, parent)): (usize, (Conditions, f64, u16))| TrafficClass {
            name: format!("class-{index}"),
            parent: Some(ClassId(parent % (index as u16 + 1))).filter(|parent| parent.0 > 0),
            weight,
            conditions,
        };
        classes.into_iter().enumerate().map(rule).collect()
    })
}

/// A value of a setting, as a file writes it.
fn value(key: &Key) -> BoxedStrategy<String> {
    let edges = [&key.least, &key.most].map(|edge| match edge {
        Bound::Included(edge) | Bound::Excluded(edge) => Some(edge.clone()),
        Bound::Unbounded => None,
    });
    let above_zero = matches!(key.least, Bound::Excluded(_)) as u64;
    let number = |edge: usize| edges[edge].as_ref().map(|edge| edge.parse().unwrap());
    let nanos = |edge: usize| edges[edge].as_ref().map_or(0, |edge| Span::parse(edge).unwrap().as_nanos());
    let rate = |edge: usize| edges[edge].as_ref().map_or(0, |edge| Rate::parse(edge).unwrap().as_bits());
    let bytes = |edge: usize| number_of_bytes(edges[edge].as_ref().unwrap());
    match key.form.words.strip_suffix(", or off").unwrap_or(&key.form.words) {
        "whole number" => {
            let (least, most): (u32, u32) = (number(0).unwrap_or(0.0) as u32, number(1).unwrap() as u32);
            (least..=most).prop_map(|number| number.to_string()).boxed()
        }
        "number" => {
            let least: f64 = number(0).unwrap();
            (least.max(1e-3)..=number(1).unwrap()).prop_map(|number| format!("{number:?}")).boxed()
        }
        "true or false" => any::<bool>().prop_map(|on| on.to_string()).boxed(),
        // Whole milliseconds or whole nanoseconds.
        "time" => {
            let least = nanos(0).div_ceil(1_000_000).max(above_zero);
            let whole = (least..=nanos(1) / 1_000_000).prop_map(Span::from_millis);
            let any = (nanos(0) + above_zero..=nanos(1)).prop_map(Span::from_nanos);
            prop_oneof![whole, any].prop_map(|time| format!("\"{time}\"")).boxed()
        }
        "rate" => (rate(0) + above_zero..=rate(1)).prop_map(|bits| format!("\"{}\"", Rate::from_bits(bits))).boxed(),
        "size" => (bytes(0)..=bytes(1)).prop_map(|bytes| format!("\"{}\"", Bytes(bytes))).boxed(),
        // A packet at least, however large.
        "packets or bytes" => {
            let packets = (1..=10_000_000_u32).prop_map(|packets| format!("\"{packets}p\""));
            let bytes = (65_535..=10_000_000_000_u64).prop_map(|bytes| format!("\"{}\"", Bytes(bytes)));
            prop_oneof![packets, bytes].boxed()
        }
        words => {
            let words: Vec<String> = words.split(", ").map(str::to_string).collect();
            assert!(words.iter().all(|word| word.starts_with('"')), "{}: cannot draw from {words:?}", key.name);
            proptest::sample::select(words).boxed()
        }
    }
}

fn number_of_bytes(text: &str) -> u64 {
    Bytes::read(text).unwrap().0
}

/// A value for every setting of the table `[[kind]]`.
fn settings(kind: &'static str) -> impl Strategy<Value = Lines> {
    let table = keys().into_iter().find(|key| key.name == kind).unwrap();
    let keys = (table.form.keys.unwrap())().into_iter().filter(|key| key.is_setting);
    let values: Vec<_> = keys
        .map(|key| {
            let off = key.form.words.ends_with("or off");
            let value =
                if off { prop_oneof![3 => value(&key), 1 => Just("\"off\"".to_string())].boxed() } else { value(&key) };
            value.prop_map(move |value| (key.name, value))
        })
        .collect();
    values.prop_map(|values| values.into_iter().collect())
}

/// Keys of a section with their values as a file writes them.
type Lines = BTreeMap<&'static str, String>;

/// Conditions between settings: a packet has room for data, no timeout exceeds the longest, and only the right
/// controller has its options.
fn fitting(mut lines: Lines) -> Lines {
    let [packet, header] = ["packet", "header"].map(|key| number_of_bytes(lines[key].trim_matches('"')));
    lines.insert("packet", format!("\"{}\"", Bytes(packet.max(1))));
    lines.insert("header", format!("\"{}\"", Bytes(header % packet.max(1))));
    if lines.contains_key("min_rate") {
        return fitting_udp(lines);
    }
    let Some(cc) = Cc::ALL.iter().find(|cc| lines["cc"] == format!("\"{cc}\"")) else { return lines };
    let longest = Span::parse(lines["max_rto"].trim_matches('"')).unwrap();
    for key in ["initial_rto", "min_rto", "rto_granularity"] {
        let time = Span::parse(lines[key].trim_matches('"')).unwrap();
        lines.insert(key, format!("\"{}\"", time.min(longest)));
    }
    if cc.traits().rates {
        lines.insert("recovery", "\"sack\"".to_string());
    }
    if !matches!(lines["recovery"].as_str(), "\"sack\"" | "\"rack\"") {
        lines.extend(["prr", "hystart", "rtt_per_ack", "undo"].map(|key| (key, "false".to_string())));
    }
    if cc.traits().rates {
        lines.insert("pacing", "true".to_string());
    }
    if !cc.traits().delays {
        lines.retain(|key, _| !matches!(*key, "target" | "gain"));
    }
    if lines["hystart"] == "true" {
        lines.insert("cubic_hystart", "false".to_string());
    }
    if !cc.traits().beta {
        lines.retain(|key, _| !matches!(*key, "cubic_beta" | "cubic_full_alpha" | "cubic_hystart" | "cubic_whole"));
    }
    if !cc.traits().ect1 {
        lines.remove("classic_fallback");
    }
    if !cc.traits().round_trips {
        lines.retain(|key, _| !key.starts_with("vegas_"));
    } else {
        let [alpha, beta] = ["vegas_alpha", "vegas_beta"].map(|key| lines[key].parse::<f64>().unwrap());
        lines.insert("vegas_alpha", format!("{:?}", alpha.min(beta)));
        if !matches!(lines["recovery"].as_str(), "\"sack\"" | "\"rack\"") {
            lines.insert("vegas_linux", "false".to_string());
        }
    }
    lines
}

/// The same for UDP: only calls have their options, and their least rate is at most the greatest.
fn fitting_udp(mut lines: Lines) -> Lines {
    let cc = UdpCc::ALL.iter().find(|cc| lines["cc"] == format!("\"{cc}\"")).unwrap();
    if !cc.traits().media {
        lines.retain(|key, _| !matches!(*key, "min_rate" | "report_interval"));
    } else {
        let [least, most] = ["min_rate", "rate"].map(|key| Rate::parse(lines[key].trim_matches('"')).unwrap());
        lines.insert("min_rate", format!("\"{}\"", least.min(most)));
    }
    if cc.traits().ignores_marks {
        lines.insert("ecn", "false".to_string());
    }
    lines
}

/// The scenario with a single group of this kind and these lines.
fn small(kind: &str, lines: &Lines) -> Scenario {
    let lines: String = lines.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let text = format!("{SMALL}[[{kind}]]\n{lines}");
    Scenario::read(&text, "small.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn tcp() -> impl Strategy<Value = TcpGroup> {
    let sources =
        ["ftp", "ftp:size=pareto2(100KB,1.2),count=3", "web:pages=7", "pareto:preset=blue", "telnet:gap=exp(5ms)"];
    let flows = (0..1000_u32, one_of(&sources));
    let settings = settings("tcp").prop_map(|lines| small("tcp", &fitting(lines)).tcp.remove(0).settings);
    (flows, (access(), access()), times(), headers(), settings).prop_map(
        |((flows, traffic), (sender, receiver), (start, stop), headers, settings)| TcpGroup {
            name: String::new(),
            flows: flows + 1,
            route: Vec::new(),
            source: built_source(&traffic, &SenderInfo::tcp(settings.packet, settings.packet - settings.header)),
            traffic,
            sender,
            receiver,
            start,
            stop,
            headers,
            settings,
        },
    )
}

fn udp() -> impl Strategy<Value = UdpGroup> {
    let sources = one_of(&["cbr", "cbr:schedule=[0s 0bit/s; 1.5s 2Mbit/s]", "exp:preset=ns2", "voip:codec=g729"]);
    let settings = (settings("udp"), rate()).prop_map(|(mut lines, rate)| {
        lines.insert("rate", format!("\"{rate}\""));
        small("udp", &fitting(lines)).udp.remove(0).settings
    });
    (1..1000_u32, sources, (access(), access()), times(), headers(), settings).prop_map(
        |(flows, traffic, (sender, receiver), (start, stop), headers, mut settings)| {
            let traffic = match settings.cc.traits() {
                traits if traits.media => "call:fps=25,lag=50ms".parse().unwrap(),
                traits if traits.reports => Traffic::named("cbr"),
                _ => traffic,
            };
            let UdpSettings { packet, header, jitter, rate_of, .. } = settings;
            let rated = rate_of.bytes(packet, header);
            let rate = settings.rate.expect("drawn");
            // A source with its own rate may be given another, or none.
            settings.rate = settings.rate.filter(|_| traffic.name != "voip");
            UdpGroup {
                name: String::new(),
                flows,
                route: Vec::new(),
                source: built_source(
                    &traffic,
                    &SenderInfo { jitter, rated, ..SenderInfo::udp(packet, packet - header, rate) },
                ),
                traffic,
                sender,
                receiver,
                start,
                stop,
                headers,
                settings,
            }
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

/// Traces are files and have their own tests.
fn rate_variation() -> impl Strategy<Value = RateVariation> {
    let steps = btree_map(1..1_000_000_u64, 0..=100_000_000_000_u64, 1..4);
    // A slot of 1 s carries a byte at any rate of these tests.
    let slots = (1_000..9_000_u64).prop_map(|millis| RateVariation::Slots { length: Span::from_millis(millis) });
    let aggregates = (span(1..9_000), span(0..9_000)).prop_map(|(most, gap)| RateVariation::Aggregates { most, gap });
    let schedule = (steps, any::<bool>()).prop_map(|(steps, repeats)| {
        let period = repeats.then(|| Span::from_millis(1_000_000));
        let step = |(at, bits)| (Span::from_millis(at), Rate::from_bits(bits));
        RateVariation::Schedule { steps: steps.into_iter().map(step).collect(), period }
    });
    prop_oneof![Just(RateVariation::Constant), schedule, slots, aggregates]
}

fn impairments() -> impl Strategy<Value = Impairments> {
    // Runs of 2 or more packets can make up at most two thirds of all packets.
    (0.0..0.6_f64, option::of(2.0..1e6_f64), span(0..3_600_000), 0.0..=1.0_f64, span(1..3_600_000))
        .prop_flat_map(|(loss, burst, jitter, reorder, reorder_by)| {
            let plain = Impairments { loss, burst, jitter, reorder, reorder_by, ..Impairments::default() };
            let ecn = select(vec![EcnTreatment::Keep, EcnTreatment::Bleach, EcnTreatment::Remark]);
            let bound = option::of(1_000_000..=1_000_000_u32).prop_map(move |most| most.filter(|_| loss > 0.0));
            (Just(plain), ecn, option::of(0..64_u8), 0.0..=1.0_f64, btree_set(1..u64::from(u32::MAX), 0..9), bound)
        })
        .prop_map(|(plain, ecn, dscp, duplicate, lost, burst_max)| {
            let lost_packets = lost.into_iter().collect();
            Impairments { remarks: Remarks { ecn, dscp }, duplicate, lost_packets, burst_max, ..plain }
        })
}

fn framing() -> impl Strategy<Value = Framing> {
    let bytes = (-19..=1000_i32).prop_map(|overhead| Framing { overhead, ..Framing::RAW });
    prop_oneof![bytes, select(Framing::NAMED).prop_map(|(_, framing)| framing)]
}

fn direction_settings() -> impl Strategy<Value = DirectionSettings> {
    let qdisc = option::of(qdiscs().prop_map(|mut qdiscs| qdiscs.remove(0)));
    (rate(), rate_variation(), framing(), impairments(), limit(), qdisc).prop_map(
        |(rate, rate_variation, framing, impairments, limit, qdisc)| DirectionSettings {
            rate,
            rate_variation,
            framing,
            impairments,
            limit,
            qdisc,
        },
    )
}

/// A chain of one to four links, some written from right to left. Disciplines are compared on the first.
fn links() -> impl Strategy<Value = Vec<Link>> {
    vec((span(0..3_600_000), direction_settings(), direction_settings(), any::<bool>()), 1..5).prop_map(|links| {
        let link = |(index, (delay, forward, reverse, turned)): (
            usize,
            (Span, DirectionSettings, DirectionSettings, bool),
        )| {
            let (near, far) = (format!("node-{index}"), format!("node-{}", index + 1));
            let (from, to) = if turned { (far, near) } else { (near, far) };
            let qdisc = forward.qdisc.clone().filter(|_| index > 0);
            Link {
                name: format!("link-{index}"),
                from,
                to,
                delay,
                forward: DirectionSettings { qdisc, ..forward },
                reverse,
            }
        };
        links.into_iter().enumerate().map(link).collect()
    })
}

/// Part of the chain, in either direction.
fn stretch(links: &[Link], draw: u32) -> Vec<Hop> {
    let draw = draw as usize;
    let first = draw % links.len();
    let count = 1 + draw / 7 % (links.len() - first);
    let hop = |index: usize| {
        let turned = links[index].from > links[index].to;
        Hop { link: index as u16, direction: if turned { Direction::Reverse } else { Direction::Forward } }
    };
    let there: Vec<Hop> = (first..first + count).map(hop).collect();
    if (draw / 49).is_multiple_of(2) { there } else { there.into_iter().rev().map(Hop::back).collect() }
}

fn groups_and_classes() -> impl Strategy<Value = ((Vec<TcpGroup>, Vec<UdpGroup>), Vec<TrafficClass>, FlowKey)> {
    let groups = (vec(tcp(), 1..4), vec(udp(), 0..3));
    groups.prop_flat_map(|(tcp, udp)| {
        let labels = tcp.iter().map(|group| &group.headers).chain(udp.iter().map(|group| &group.headers));
        let labels: Vec<String> = labels.map(|headers| headers.label.clone()).collect();
        let keyed = (classes(labels), flow_key()).prop_map(|(classes, key)| {
            let key = if classes.is_empty() && key == FlowKey::Class { FlowKey::Label } else { key };
            (classes, key)
        });
        (Just((tcp, udp)), keyed).prop_map(|(groups, (classes, key))| (groups, classes, key))
    })
}

/// The units that need no classes.
const UNITS: [FairUnit; 3] = [FairUnit::Flow, FairUnit::Host, FairUnit::Group];
const EVENTS: [Events; 4] = [Events::Off, Events::Drops, Events::Decisions, Events::All];

prop_compose! {
    fn scenario()(
        name in "[A-Za-z0-9_-]{1,64}",
        about in "\\PC{0,80}|[\\n\"'\\\\\t ]{0,9}",
        (duration, warmup) in (span(6_000..80_000_000), span(0..6_000)),
        seeds in prop_oneof![(1..20_u64).prop_map(|n| (1..=n).collect()), btree_set(0..i64::MAX as u64, 1..9)],
        (qdiscs, fair) in (qdiscs(), option::of(proptest::sample::select(UNITS.to_vec()))),
        links in links(),
        ways in vec(any::<u32>(), 7),
        ((mut tcp, mut udp), classes, flow_key) in groups_and_classes(),
        load in 1e-3..100.0_f64,
        (interval, events) in (span(1..6_000), proptest::sample::select(EVENTS.to_vec())),
        (traced, flow_interval, captured) in
            (vec((any::<u16>(), option::of(any::<u32>())), 0..4), span(0..6_000), any::<bool>()),
    ) -> Scenario {
        tcp.iter_mut().enumerate().for_each(|(index, group)| group.name = format!("fast-{index}"));
        udp.iter_mut().enumerate().for_each(|(index, group)| group.name = format!("slow_{index}"));
        tcp.iter_mut().zip(&ways).for_each(|(group, way)| group.route = stretch(&links, *way));
        udp.iter_mut().zip(&ways).for_each(|(group, way)| group.route = stretch(&links, way / 3));
        // No flow may send more packets than the limit of 2^32.
        let most = |packet: u32| Rate::from_bits((4e9 * 8.0 * f64::from(packet) / duration.as_secs_f64()) as u64);
        tcp.iter_mut().for_each(|group| group.sender.rate = group.sender.rate.min(most(group.packet)));
        udp.iter_mut().for_each(|group| group.sender.rate = group.sender.rate.min(most(group.packet)));
        let tcps = tcp.iter_mut().map(|group| (&mut group.flows, &mut group.headers));
        let all = tcps.chain(udp.iter_mut().map(|group| (&mut group.flows, &mut group.headers)));
        all.enumerate().for_each(|(index, (flows, headers))| with_distinct_headers(index, flows, headers));
        let interval = interval.min(duration).max(Span::from_nanos(duration.as_nanos().div_ceil(1_000_000)));
        let flows = traced.into_iter().map(|(group, flow)| {
            let group = &tcp[usize::from(group) % tcp.len()];
            Traced { group: group.name.clone(), flow: flow.map(|flow| flow % group.flows) }
        });
        let record = Record { interval, events, flows: flows.collect(), flow_interval, capture: captured.then_some(0).into_iter().collect() };
        let mut scenario = Scenario {
            name, about, duration, warmup, seeds: seeds.into_iter().collect(), qdiscs, fair, links, tcp, udp, flow_key, classes,
            inputs: Inputs::default(),
            record,
        };
        let rates: Vec<Rate> = scenario.tcp.iter().map(|group| scenario.mean_rate(group.route[0])).collect();
        scenario.tcp.iter_mut().zip(rates).for_each(|(group, rate)| tcp_demand(group, load, rate));
        scenario
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
    fn every_setting_is_written_as_it_was_given(tcp in settings("tcp"), udp in settings("udp"), rate in rate()) {
        let udp = udp.into_iter().map(|(key, value)| if key == "rate" { (key, format!("\"{rate}\"")) } else { (key, value) });
        for (kind, lines) in [("tcp", fitting(tcp)), ("udp", fitting(udp.collect()))] {
            let text = small(kind, &lines).to_toml();
            for (key, value) in &lines {
                prop_assert!(text.contains(&format!("\n{key} = {value}\n")), "{} = {}:\n{}", key, value, text);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_position_in_it(text in "\\PC*|[a-z\\[\\]{}=\",.0-9\\n\\t ]{0,200}") {
        check(&text, &Changes::default());
    }

    #[test]
    fn a_file_with_a_changed_part_is_read_or_refused_at_a_position_in_it(
        (at, length) in (0..VALID.len(), 0..40_usize),
        piece in "\\PC{0,5}|[\\[\\]{}=\",.0-9\\n# -]{0,8}|name|tcp|\"off\"|1e99|inf|-1",
    ) {
        let end = (at + length).min(VALID.len());
        check(&format!("{}{piece}{}", &VALID[..at], &VALID[end..]), &Changes::default());
    }

    #[test]
    fn any_change_is_made_or_refused(
        set in vec("(link|tcp|udp|record|class|classify|marks|seeds|name|\\PC{0,4})(\\.[a-z_]{0,8}){0,2}=?\\PC{0,8}", 0..3),
        qdiscs in vec("(droptail|red|\\PC{0,4})(:[a-z]{0,5}=\\PC{0,4})?", 0..3),
        seeds in option::of(any::<u32>()),
    ) {
        check(VALID, &Changes { set, qdiscs, seeds });
    }
}
