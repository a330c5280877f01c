//! Delays of access links that each flow draws.

use aqm::{Span, Time};
use headgate_measure::{EventRow, FlowRow, PacketEvent, fair_shares};
use headgate_scenario::Scenario;

use crate::network::{go, scenario, witness};

const DRAWN: &str = "sender = { delay = 'uniform(1ms,60ms)' }\nreceiver = { delay = 'exp(30ms)' }\n";

/// The draws of a group's flow in the run of seed 1, as a file writes them.
fn as_fixed([sender, receiver]: [Span; 2]) -> String {
    format!("sender = {{ delay = '{sender}' }}\nreceiver = {{ delay = '{receiver}' }}\n")
}

fn first_arrival(events: &[EventRow], flow: u32) -> Time {
    events.iter().find(|e| e.kind == PacketEvent::Arrived && e.flow == flow).expect("it sent").time
}

#[test]
fn a_flow_with_drawn_delays_runs_as_one_with_the_same_fixed_delays() {
    // One TCP, one UDP and one TFRC flow: their data and replies cross each kind of wire.
    let text = |ends: [&str; 3]| {
        format!(
            "[[tcp]]\n{}[[udp]]\nrate = '3Mbit/s'\njitter = 0.5\n{}[[udp]]\nname = 'tfrc'\ncc = 'tfrc'\n{}",
            ends[0], ends[1], ends[2]
        )
    };
    let drawn = scenario("10s", "droptail", &text([DRAWN; 3]));
    let draws = |scenario: &Scenario| {
        let [udp, tfrc] = [0, 1].map(|group| scenario.udp[group].access_delays(1).next().unwrap());
        [scenario.tcp[0].access_delays(1).next().unwrap(), udp, tfrc]
    };
    let ends = draws(&drawn).map(as_fixed);
    let fixed = scenario("10s", "droptail", &text([&ends[0], &ends[1], &ends[2]]));
    let [(one, one_events), (other, other_events)] = [&drawn, &fixed].map(witness);
    assert!(one_events.len() > 1000 && one_events == other_events);
    // The fair share of a flow comes from the mean delay of its group.
    let counts = |flow: &FlowRow| (flow.counts.clone(), flow.goodput_bps, flow.retransmits, flow.milestones);
    assert_eq!(one.flows.iter().map(counts).collect::<Vec<_>>(), other.flows.iter().map(counts).collect::<Vec<_>>());
}

#[test]
fn each_flow_has_the_delay_that_it_drew() {
    let groups = format!(
        "[[udp]]\nflows = 20\nrate = '10kbit/s'\n{DRAWN}[[udp]]\nname = 'late'\nflows = 20\nrate = '10kbit/s'\n\
         start = '1s'\nsender = {{ delay = 'lognormal(20ms,1)' }}\n"
    );
    let scenario = scenario("2s", "droptail", &groups);
    let (outcome, events) = witness(&scenario);
    for (group, start) in scenario.udp.iter().zip([0, 1]) {
        for (index, [sender, receiver]) in group.access_delays(1).enumerate() {
            let flow = index + 20 * start as usize;
            // A datagram of 1000 bytes takes 80 us on an access link and 800 us on the link, which others may share.
            let entered = Time::ZERO + Span::from_secs(start) + Span::from_micros(80) + sender;
            assert_eq!(first_arrival(&events, flow as u32), entered, "flow {flow}");
            let alone_ms = (sender + receiver).as_secs_f64() * 1e3 + 10.0 + 0.96;
            let startup_ms = outcome.flows[flow].milestones.startup.unwrap().as_secs_f64() * 1e3;
            assert!((alone_ms - 1e-6..alone_ms + 0.8 * 20.0).contains(&startup_ms), "{startup_ms} of {alone_ms}");
        }
    }
}

#[test]
fn another_group_and_more_flows_leave_the_delays_of_the_others() {
    let group = |name: &str, flows: u32| {
        format!("[[udp]]\nname = '{name}'\nflows = {flows}\nrate = '10kbit/s'\naccess = {{ delay = 'exp(20ms)' }}\n")
    };
    let first = |rest: &str| {
        let (_, events) = witness(&scenario("1s", "droptail", rest));
        (0..5).map(|flow| first_arrival(&events, flow)).collect::<Vec<_>>()
    };
    let alone = first(&group("a", 5));
    assert_eq!(alone, first(&group("a", 5)));
    assert_eq!(alone, first(&group("a", 9)));
    assert_eq!(alone, first(&(group("a", 5) + &group("b", 5))));
}

#[test]
fn one_way_delays_begin_at_the_least_and_demands_follow_the_mean() {
    let group = "[[tcp]]\nflows = 30\nwindow = 1\npacket = '1000B'\nheader = '0B'\ndelayed_ack = 'off'\n\
                 sender = { delay = 'uniform(1ms,41ms)' }\n";
    let scenario = scenario("5s", "droptail", group);
    let outcome = go(&scenario);
    // 80 us on each access link, 800 us on the link, 10 and 1 ms of fixed delay, and 1 ms at least.
    assert_eq!(outcome.one_way[0].base, Span::from_micros(12_960));
    // 40 bytes back take 3.2, 32 and 3.2 us; the mean round trip is 2 x (21 + 10 + 1) ms.
    let rtt = 0.064 + 0.000_96 + 0.000_038_4;
    assert!((fair_shares(&scenario)[0].demand_bps * rtt / 8000.0 - 1.0).abs() < 1e-6);
    let delays: Vec<Span> = scenario.tcp[0].access_delays(1).map(|[sender, _]| sender).collect();
    let least = *delays.iter().min().unwrap() - Span::from_millis(1);
    let excess = outcome.one_way[0].excess.quantile(0.0).unwrap();
    // The histogram is off by 2^10 ns and 0.8 %; other packets may be queued.
    assert!((excess - least.as_nanos() as f64).abs() < 4e6, "{excess} ns above the least, not {least}");
    assert!(excess >= least.as_nanos() as f64 * 0.99 - 1024.0, "{excess} ns above the least, not {least}");
}

#[test]
fn a_random_delay_before_transmission_reorders_nothing() {
    for jitter in ["100us", "5ms", "50ms"] {
        let flows = format!("[[tcp]]\nflows = 4\nsend_jitter = '{jitter}'\n");
        let outcome = go(&scenario("5s", "droptail", &flows));
        assert!(
            outcome.flows.iter().all(|flow| flow.counts.sent > 50 && flow.reordered == 0),
            "{jitter}: {:?}",
            outcome.flows
        );
    }
}
