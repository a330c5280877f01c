//! CAKE on an access link: what needs the headers of simulated packets.

use headgate_measure::Outcome;
use headgate_scenario::{Changes, Scenario};

use crate::network::go;

fn run(qdisc: &str, link: &str, groups: &str) -> Outcome {
    let text = format!(
        "name = 'home'\nduration = '30s'\nwarmup = '10s'\nqdiscs = ['{qdisc}']\n[link]\ndelay = '10ms'\n{link}\n{groups}"
    );
    go(&Scenario::read(&text, "test", &Changes::default()).unwrap_or_else(|error| panic!("{error}")))
}

/// Goodput of each group in Mbit/s.
fn goodputs(outcome: &Outcome) -> Vec<f64> {
    let groups = outcome.flows.iter().map(|flow| flow.group).max().unwrap() + 1;
    let of =
        |group| outcome.flows.iter().filter(move |flow| flow.group == group).map(|flow| flow.goodput_bps).sum::<f64>();
    (0..groups).map(|group| of(group) / 1e6).collect()
}

/// Two hosts that send as much as they can, one with a flow and one with twenty. `key` is the end they are at.
fn hosts(key: &str) -> String {
    format!(
        "[[udp]]\nname = 'one'\nrate = '30Mbit/s'\npacket = '1000B'\n{key} = '192.168.1.2/32'\n\
         [[udp]]\nname = 'twenty'\nflows = 20\nrate = '3Mbit/s'\npacket = '1000B'\n{key} = '192.168.1.3/32'\n"
    )
}

#[test]
fn a_host_with_one_flow_gets_as_much_as_one_with_twenty() {
    let share = |qdisc: &str, key| {
        let link = "rate = '20Mbit/s'\nlimit = '1000p'";
        let [one, twenty] = goodputs(&run(qdisc, link, &hosts(key)))[..] else { panic!("two groups") };
        one / (one + twenty)
    };
    for (isolation, key) in [
        ("triple-isolate", "destination"),
        ("triple-isolate", "source"),
        ("dual-dsthost", "destination"),
        ("dual-srchost", "source"),
        ("dsthost", "destination"),
        ("srchost", "source"),
        ("hosts", "source"),
    ] {
        let fair = share(&format!("cake:bandwidth=19Mbit/s,isolation={isolation}"), key);
        // The other end's hosts are one for each flow, so pairs of hosts are flows.
        let expected = if isolation == "hosts" { 1.0 / 21.0 } else { 0.5 };
        assert!((fair / expected - 1.0).abs() < 0.02, "{isolation} by {key}: {fair}");
    }
    // Without isolation of the hosts' end, each of 21 flows has the same share.
    for qdisc in [
        "cake:bandwidth=19Mbit/s,isolation=flows",
        "cake:bandwidth=19Mbit/s,isolation=dual-srchost",
        "fq_codel:flows=65536",
    ] {
        let fair = share(qdisc, "destination");
        assert!((fair * 21.0 - 1.0).abs() < 0.02, "{qdisc}: {fair}");
    }
}

#[test]
fn the_shaper_keeps_its_rate_with_the_overhead_of_each_packet() {
    // Whole cells for packets of 1000 bytes and 40 bytes more: 22 cells of 53 bytes.
    for (framing, bytes) in [("overhead=0", 1000.0), ("overhead=40", 1040.0), ("overhead=40,framing=atm", 22.0 * 53.0)]
    {
        let qdisc = format!("cake:bandwidth=10Mbit/s,{framing}");
        let flood = "[[udp]]\nname = 'flood'\nrate = '30Mbit/s'\npacket = '1000B'\n";
        let outcome = run(&qdisc, "rate = '100Mbit/s'\nlimit = '1000p'", flood);
        let sent = 100.0 * outcome.compared().next().unwrap().1.utilization.unwrap();
        assert!((sent / (10.0 * 1000.0 / bytes) - 1.0).abs() < 0.001, "{framing}: {sent} Mbit/s");
    }
}

#[test]
fn a_call_has_no_delay_in_its_own_tin_and_may_not_take_more_than_its_share() {
    let groups = |rate: &str| {
        format!("[[tcp]]\nflows = 4\n[[udp]]\nname = 'call'\nrate = '{rate}'\npacket = '250B'\ndscp = 'EF'\n")
    };
    let (qdisc, link) = ("cake:bandwidth=9Mbit/s", "rate = '10Mbit/s'\nlimit = '1000p'");
    // 222 of 250 bytes are data.
    let call = run(qdisc, link, &groups("100kbit/s"));
    assert!(goodputs(&call)[1] > 0.0887, "{:?}", goodputs(&call));
    // A quarter of the bandwidth has priority; above that the tin waits, but best effort keeps the rest.
    let flood = goodputs(&run(qdisc, link, &groups("20Mbit/s")));
    assert!(flood[0] > 6.0 && flood[1] > 2.0, "{flood:?}");
}

#[test]
fn the_filter_of_acknowledgements_lets_downloads_pass_a_narrow_way_out() {
    // 20 Mbit/s of data need 0.33 Mbit/s of acknowledgements, one for two packets; 0.1 Mbit/s is there.
    let download = |filter: &str| {
        let link = format!(
            "rate = '20Mbit/s'\nlimit = '400p'\n\
             reverse = {{ rate = '100kbit/s', limit = '100p', qdisc = 'cake:bandwidth=95kbit/s,ack_filter={filter}' }}"
        );
        let groups = "[[tcp]]\nflows = 2\npacket = '1000B'\n";
        goodputs(&run("fq_codel", &link, groups))[0]
    };
    let [off, on, aggressive] = ["no-ack-filter", "ack-filter", "ack-filter-aggressive"].map(download);
    assert!(on > 1.3 * off && aggressive > 0.95 * on, "{off}, {on}, {aggressive} Mbit/s");
}
