//! Disciplines see the scenario's flows and classes, in both directions. Nothing else changes.

use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;

use crate::network::{go, scenario, witness};

/// Traffic of all kinds that drops and marks.
const MIXED: &str = r#"
[[tcp]]
flows = 3
ecn = true
start = "0s..1s"
[[tcp]]
name = "old"
profile = "ns2"
flows = 2
window = 60
[[udp]]
rate = "3Mbit/s"
flows = 2
jitter = 0.3
"#;

/// Classes that leave the flows unchanged.
const CLASSES: &str = r#"
[[class]]
name = "datagrams"
protocol = "udp"
weight = 3
[[class]]
name = "replies"
source_port = 5001
"#;

#[test]
fn a_discipline_without_classes_gives_the_same_results_with_classes() {
    for qdisc in ["red", "choke", "sfb", "fred", "blue"] {
        let plain = scenario("5s", qdisc, MIXED);
        let classified = scenario("5s", qdisc, &format!("{MIXED}{CLASSES}"));
        assert!(classified.classifies() && !plain.classifies());
        let (outcome, events) = witness(&plain);
        assert!(outcome.links[0].counts.dropped() > 0 && outcome.flows.iter().all(|flow| flow.counts.sent > 0));
        assert_eq!((outcome, events), witness(&classified), "{qdisc}");
    }
}

#[test]
fn a_discipline_in_reverse_gives_the_same_results_with_classes() {
    let narrow = "reverse = { rate = \"100kbit/s\", limit = \"20p\", qdisc = \"sfb\" }\n";
    let plain = scenario("5s", "red", &format!("{narrow}{MIXED}"));
    let classified = scenario("5s", "red", &format!("{narrow}{MIXED}{CLASSES}"));
    let outcome = go(&plain);
    assert!(outcome.links[1].counts.dropped() > 0, "{:?}", outcome.links[1].counts);
    assert_eq!(outcome, go(&classified));
}

#[test]
fn the_same_seed_gives_the_same_outcome_with_classes() {
    for key in ["source", "source/24", "class", "dscp"] {
        let rest = format!("{MIXED}{CLASSES}[classify]\nflow = \"{key}\"\n");
        let scenario = scenario("5s", "faba", &rest);
        assert_eq!(go(&scenario), go(&scenario), "{key}");
        let other = run(&scenario, &scenario.qdiscs[0], 2, &mut ()).unwrap();
        assert_ne!(go(&scenario), other, "{key}");
    }
}

/// Two flows from one host and one from another, each at nine tenths of the link's rate.
const TWO_HOSTS: &str = r#"
[[udp]]
name = "pair"
flows = 2
rate = "9Mbit/s"
jitter = 0.2
source = "10.1.0.1"
[[udp]]
name = "single"
rate = "9Mbit/s"
jitter = 0.2
source = "10.1.0.2"
"#;

/// The pair's share of the departures.
fn part_of_the_pair(qdisc: &str, flow: &str) -> f64 {
    let outcome = go(&scenario("60s", qdisc, &format!("{TWO_HOSTS}[classify]\nflow = \"{flow}\"\n")));
    let sent = |flow: usize| outcome.flows[flow].counts.sent as f64;
    (sent(0) + sent(1)) / (sent(0) + sent(1) + sent(2))
}

#[test]
fn disciplines_that_share_by_flow_use_the_scenarios_flows() {
    // The classifier makes the pair two of three equal flows, one of two, or two thirds of a single flow. A minute has
    // 75 000 packets: 1.1 % is six standard deviations if each packet is the pair's by chance.
    for qdisc in ["fred", "faba"] {
        for (flow, fair) in [
            ("5-tuple", 2.0 / 3.0),
            ("destination", 2.0 / 3.0),
            ("source", 0.5),
            ("source/31", 0.5),
            ("source/24", 2.0 / 3.0),
        ] {
            let part = part_of_the_pair(qdisc, flow);
            assert!((part - fair).abs() < 0.011, "{qdisc}, {flow}: {part} of {fair}");
        }
    }
}

/// A call of 200 kbit/s beside five TCP flows that fill the queue.
const CALL: &str = r#"
[[tcp]]
name = "web"
flows = 5
[[udp]]
name = "call"
rate = "200kbit/s"
packet = "200B"
dscp = "EF"
[[class]]
name = "voice"
dscp = "EF"
"#;

#[test]
fn strict_priority_serves_the_class_that_the_scenario_puts_first() {
    let delay = |rest: &str| go(&scenario("20s", "prio", rest)).flows[5].queue_delay_ms_mean.unwrap();
    // At most the packet that is being sent, 1500 bytes at 10 Mbit/s: 1.2 ms.
    assert!(delay(CALL) <= 1.2, "{}", delay(CALL));
    // After a loss, the queue of 50 packets is still at least half full.
    let unnamed = CALL.replace("dscp = \"EF\"\n[[class]]", "[[class]]");
    assert!(delay(&unnamed) > 25.0 * 1.2, "{}", delay(&unnamed));
}

#[test]
fn in_the_shipped_file_classes_divide_the_link_by_weight_and_calls_lose_nothing() {
    let text = include_str!("../../../../scenarios/classes.toml");
    let scenario = Scenario::read(text, "classes.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    let drr = scenario.qdiscs.iter().find(|qdisc| qdisc.to_string().starts_with("drr:classes")).expect("it is there");
    let outcome = run(&scenario, drr, 1, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    let bytes = |group: u32| {
        let flows = outcome.flows.iter().filter(|flow| flow.group == group);
        flows.map(|flow| flow.counts.sent_bytes).sum::<u64>() as f64
    };
    assert_eq!(outcome.flows.iter().filter(|flow| flow.group == 2).map(|flow| flow.counts.dropped()).sum::<u64>(), 0);
    // Weights 2, 5 and 3. The calls use less than half their share, and the others divide the rest 5 to 3. The tolerance
    // is one turn of all classes: 15 kB of the 20 MB that bulk sends in 50 s.
    let ratio = bytes(0) / bytes(1);
    assert!((ratio / (5.0 / 3.0) - 1.0).abs() < 0.001, "{ratio}");
}

#[test]
fn replies_are_classified_by_their_own_headers() {
    // ACKs of two groups share a reverse link that is too slow for either group. ACKs from port 80 have priority.
    let groups = "[[tcp]]\nname = \"first\"\nflows = 2\ndestination_port = 80\n[[tcp]]\nname = \"last\"\nflows = 2\n";
    let back = "reverse = { rate = \"50kbit/s\", limit = \"20p\", qdisc = \"prio\" }\n";
    let goodput = |class: &str| {
        let outcome = go(&scenario("20s", "droptail", &format!("{back}{groups}[[class]]\nname = \"web\"\n{class}\n")));
        let sum = |flows: std::ops::Range<usize>| outcome.flows[flows].iter().map(|flow| flow.goodput_bps).sum::<f64>();
        sum(0..2) / sum(2..4)
    };
    // Strict priority starves the other group. A class without ACKs changes nothing for four equal flows.
    assert!(goodput("source_port = 80") > 10.0, "{}", goodput("source_port = 80"));
    let alike = goodput("destination_port = 80");
    assert!(alike > 0.5 && alike < 2.0, "{alike}");
}
