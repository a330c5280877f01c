//! Networks of several links: routes, counts along a route, and traffic in both directions.

use aqm::Counts;
use headgate_measure::{LinkRow, Outcome};
use headgate_scenario::{Changes, Scenario};

use crate::network::go;

/// A - B - C - D: 10, 5 and 2 Mbit/s, 1, 2 and 3 ms. `flows` ends the file.
fn chain(duration: &str, flows: &str) -> Scenario {
    let link = |ends: &str, rate: u32, delay: u32| {
        format!("[[link]]\n{ends}\nrate = '{rate}Mbit/s'\ndelay = '{delay}ms'\nlimit = '50p'\nreverse.limit = '50p'\n")
    };
    let links =
        [link("from = 'A'\nto = 'B'", 10, 1), link("from = 'C'\nto = 'B'", 5, 2), link("from = 'C'\nto = 'D'", 2, 3)];
    let text = format!(
        "name = 'chain'\nduration = '{duration}'\nqdiscs = ['droptail']\n{}{flows}",
        links.concat().replace("to = 'B'\nrate = '5", "to = 'B'\nqdisc = 'droptail'\nrate = '5")
    );
    Scenario::read(&text, "chain", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn link<'a>(outcome: &'a Outcome, name: &str, direction: &str) -> &'a LinkRow {
    let found = outcome.links.iter().find(|link| link.link == name && link.direction.name() == direction);
    found.unwrap_or_else(|| panic!("{name} {direction}"))
}

#[test]
fn a_round_trip_over_three_links_is_the_sum_of_all_of_them() {
    let flows = "[[tcp]]\nfrom = 'A'\nto = 'D'\nwindow = 1\npacket = '1000B'\nheader = '0B'\ndelayed_ack = 'off'\n";
    let outcome = go(&chain("30s", flows));
    // 8000 bits at 100, 10, 5, 2 and 100 Mbit/s take 80 + 800 + 1600 + 4000 + 80 us; 320 bits back 3.2 + 160 + 64 + 32 +
    // 3.2 us; propagation takes 2 x (1 + 1 + 2 + 3 + 1) ms: 22.8224 ms.
    let expected = (30.0f64 / 0.022_822_4).floor();
    let packets = outcome.flows[0].goodput_bps * 30.0 / 8000.0;
    assert!((packets - expected).abs() <= 1.0, "{packets} of {expected}");
    assert_eq!(outcome.flows[0].queue_delay_ms_mean, Some(0.0), "no queue anywhere");
    let names: Vec<_> = outcome.links.iter().map(|link| (link.link.as_str(), link.direction.name())).collect();
    let both = ["forward", "reverse"];
    assert_eq!(names, ["A-B", "C-B", "C-D"].iter().flat_map(|name| both.map(|way| (*name, way))).collect::<Vec<_>>());
    assert_eq!(outcome.compared().map(|(number, _)| number).collect::<Vec<_>>(), [0, 4]);
    let acks = link(&outcome, "A-B", "reverse");
    assert_eq!(acks.counts.sent_bytes, 40 * acks.counts.sent);
    assert!((packets - acks.counts.sent as f64).abs() <= 1.0, "{packets} packets, {} ACKs", acks.counts.sent);
}

#[test]
fn arrivals_count_at_the_first_queue_departures_at_the_last_and_drops_at_all() {
    // 8 Mbit/s for 20 s: B - C carries 5 of them, C - D carries 2.
    let flows = "[[udp]]\nfrom = 'A'\nto = 'D'\nrate = '8Mbit/s'\nheader = '0B'\nstop = '20s'\n";
    let outcome = go(&chain("21s", flows));
    let rows = [link(&outcome, "A-B", "forward"), link(&outcome, "C-B", "reverse"), link(&outcome, "C-D", "forward")];
    let [first, second, third] = rows.map(|row| &row.counts);
    // 8 Mbit/s of 1000 bytes are 1000 packets a second. A second after the last packet the network is empty.
    assert_eq!((first.arrived, first.sent, first.dropped()), (20_000, 20_000, 0));
    assert_eq!((second.arrived, third.arrived), (first.sent, second.sent));
    assert_eq!((second.arrived, third.arrived), (second.sent + second.dropped(), third.sent + third.dropped()));
    // The link carries packets for 20 s, then the queue of 50, and one packet may be in transmission.
    assert!((second.sent as f64 - (20.0 * 5e6 / 8000.0 + 50.0)).abs() <= 2.0, "{second:?}");
    assert!((third.sent as f64 - (20.0 * 2e6 / 8000.0 + 50.0)).abs() <= 30.0, "{third:?}");
    let flow = &outcome.flows[0].counts;
    assert_eq!((flow.arrived, flow.sent, flow.sent_bytes), (first.arrived, third.sent, 1000 * third.sent));
    assert_eq!(flow.dropped(), second.dropped() + third.dropped());
    // Full queues of 50 packets: 80 ms before 5 Mbit/s, 200 ms before 2 Mbit/s.
    let delay = outcome.flows[0].queue_delay_ms_mean.unwrap();
    assert!((delay - 280.0).abs() < 0.02 * 280.0, "{delay}");
}

#[test]
fn data_one_way_and_acknowledgements_of_the_other_share_a_queue() {
    let flows = "[[tcp]]\nname = 'there'\nfrom = 'A'\nto = 'B'\nstart = '0s..100ms'\n\
                 [[tcp]]\nname = 'back'\nfrom = 'B'\nto = 'A'\nstart = '0s..100ms'\n";
    let outcome = go(&chain("20s", flows));
    let (forward, reverse) = (link(&outcome, "A-B", "forward"), link(&outcome, "A-B", "reverse"));
    let [there, back] = [0, 1].map(|flow: usize| &outcome.flows[flow].counts);
    for (row, data) in [(forward, there), (reverse, back)] {
        // All other packets are replies of 40 bytes.
        let replies = row.counts.sent - data.sent;
        assert_eq!(row.counts.sent_bytes, 1500 * data.sent + 40 * replies);
        assert!(replies > 500 && data.sent > 1000, "{replies} {data:?}");
    }
    assert!(outcome.flows.iter().all(|flow| flow.goodput_bps > 2e6), "{:?}", outcome.flows);
    assert_eq!(link(&outcome, "C-D", "forward").counts, Counts::default(), "a link that no route uses carries nothing");
}

#[test]
fn the_shipped_chain_is_congested_at_every_link_and_worst_for_flows_across_all_links() {
    let text = include_str!("../../../../scenarios/chain.toml");
    let changes = Changes { set: vec!["duration=20s".to_string(), "warmup=5s".to_string()], ..Changes::default() };
    let outcome = go(&Scenario::read(text, "chain.toml", &changes).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(outcome.compared().count(), 3);
    assert!(outcome.compared().all(|(_, link)| link.utilization.unwrap() > 0.9 && link.counts.dropped() > 0));
    let mean = |group| {
        let rates: Vec<f64> =
            outcome.flows.iter().filter(|flow| flow.group == group).map(|flow| flow.goodput_bps).collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    // TCP's rate falls with its round-trip time and with every queue that drops its packets (RFC 5348, section 3.1).
    assert!((1..=3).all(|cross| mean(0) < mean(cross)), "{:?}", [0, 1, 2, 3].map(mean));
}
