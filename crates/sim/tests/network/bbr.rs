//! Both versions of BBR over whole paths: 10 Mbit/s and a round trip of 41 ms, of which 1.3 ms are transmission. The BDP
//! is 34 packets of 1500 bytes. "v1" is draft-cardwell-iccrg-bbr-congestion-control-00, "v3" draft-ietf-ccwg-bbr-06.

use aqm::Time;
use headgate_measure::{EventBatch, LinkRow, Outcome, RunObserver, TraceRow};
use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;

const BOTH: [&str; 2] = ["bbr", "bbr3"];

/// The BDP in packets, and a packet's transmission time on the link in milliseconds.
const BDP: f64 = 34.5;
const PACKET: f64 = 1.2;

/// Keeps the traces.
#[derive(Default)]
struct Keeper(Vec<TraceRow>);

impl RunObserver for Keeper {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }

    fn events(&mut self, _: &EventBatch) {}

    fn traces(&mut self, rows: &[TraceRow]) {
        self.0.extend_from_slice(rows);
    }
}

/// Runs the flows of `rest` over the path with a buffer of `limit` packets; returns the traces that it requests.
fn traced(seconds: (u32, u32), seed: u64, limit: u32, rest: &str) -> (Outcome, Vec<TraceRow>) {
    let (duration, warmup) = seconds;
    let text = format!(
        "name = 'bbr'\nduration = '{duration}s'\nwarmup = '{warmup}s'\nqdiscs = ['droptail']\n\
         [link]\nrate = '10Mbit/s'\ndelay = '18ms'\nlimit = '{limit}p'\n{rest}"
    );
    let scenario = Scenario::read(&text, "test", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut keeper = Keeper::default();
    let outcome = run(&scenario, &scenario.qdiscs[0], seed, &mut keeper).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.conserves(), "{:?}", outcome.balance);
    (outcome, keeper.0)
}

fn path(seconds: (u32, u32), limit: u32, rest: &str) -> Outcome {
    traced(seconds, 1, limit, rest).0
}

/// One flow without delayed ACKs: the phases that it entered, each with its time and flight.
fn phases(cc: &str, limit: u32) -> (Outcome, Vec<(&'static str, f64, u32)>) {
    let flow = format!("[[tcp]]\nname = 'a'\ncc = '{cc}'\ndelayed_ack = 'off'\n[record]\nflows = ['a/0']\n");
    let (outcome, rows) = traced((45, 5), 1, limit, &flow);
    let entered = rows.chunk_by(|a, b| a.state.phase == b.state.phase);
    let first = |rows: &[TraceRow]| (rows[0].state.phase, rows[0].time.as_secs_f64(), rows[0].state.flight.unwrap());
    (outcome, entered.map(first).collect())
}

fn bottleneck(outcome: &Outcome) -> &LinkRow {
    outcome.compared().next().expect("one link is compared").1
}

fn drop_rate(outcome: &Outcome) -> f64 {
    let counts = &bottleneck(outcome).counts;
    counts.dropped() as f64 / (counts.dropped() + counts.sent) as f64
}

/// The first flow's share of the goodput.
fn share(outcome: &Outcome) -> f64 {
    let goodputs: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps).collect();
    goodputs[0] / goodputs.iter().sum::<f64>()
}

#[test]
fn startup_ends_soon_and_drain_leaves_no_queue() {
    // The first round trip delivers one segment, the next ones 10, 20 and 34: four round trips find the bandwidth. Three
    // more show that it no longer grows. Each lasts as long as the window, 2.885 or 2 BDPs and some quanta, takes on the
    // link. Version 1 leaves Drain with up to four packets more than the BDP.
    for (cc, most, room) in [("bbr", 2.885, 4.0), ("bbr3", 2.0, 0.0)] {
        let (_, seen) = phases(cc, 200);
        let [(first, ..), (second, drain, in_flight), (third, drained, left), ..] = seen[..] else {
            panic!("{seen:?}")
        };
        assert!((first, second) == ("startup", "drain") && third.starts_with("probe_"), "{seen:?}");
        let most = most * BDP + 8.0;
        assert!(f64::from(in_flight) <= most, "{cc}: {in_flight}");
        assert!(drain < 4.0 * 0.042 + 3.0 * most * PACKET / 1e3, "{cc}: {drain} s");
        assert!(f64::from(left) <= BDP + room, "{cc}: {left}");
        // The excess leaves at the link's rate less the sending rate: 0.34 of it in version 1, half in version 3.
        let lasts =
            (f64::from(in_flight) - f64::from(left)) * PACKET / 1e3 / (1.0 - if cc == "bbr" { 0.34 } else { 0.5 });
        assert!(drained - drain < lasts + 0.042, "{cc}: {} s", drained - drain);
    }
}

#[test]
fn probe_rtt_begins_on_time_with_the_small_flight_of_the_draft() {
    // v1, section 4.3.5: ten seconds after the last ProbeRTT or the last new minimum, which is possible once in a cycle of
    // eight round trips; four packets. v3, section 5.3.4: five seconds; half the BDP.
    for (cc, apart, chance, least) in [("bbr", 10.0, 0.4, 4), ("bbr3", 5.0, 0.06, 17)] {
        let (_, seen) = phases(cc, 100);
        let probes: Vec<usize> = (0..seen.len() - 1).filter(|n| seen[*n].0 == "probe_rtt").collect();
        assert!(probes.len() >= 4, "{cc}: {seen:?}");
        for pair in probes.windows(2) {
            let (_, left, in_flight) = seen[pair[0] + 1];
            let wait = seen[pair[1]].1 - left;
            assert!((apart..apart + chance).contains(&wait), "{cc}: {wait} s");
            // 200 ms from the moment that the flight is small enough, and until the current round trip ends.
            let lasts = left - seen[pair[0]].1;
            assert!((0.2..0.2 + 2.0 * 0.042).contains(&lasts), "{cc}: {lasts} s");
            assert!(in_flight <= least, "{cc}: {in_flight}");
        }
    }
}

#[test]
fn a_lone_flow_keeps_the_link_busy_and_its_queue_below_one_bdp() {
    // Pacing stays 1 % below the bandwidth. ProbeRTT costs both versions 2.3 %: version 1 sends almost nothing for 0.25 s
    // in 10.5 s, version 3 at half the rate for 0.25 s in 5.25 s. The rest of the tolerance is for a low estimate.
    for (cc, probe) in [("bbr", 1.25 * BDP + 7.0), ("bbr3", 2.25 * BDP + 2.0)] {
        let (outcome, _) = phases(cc, 100);
        let row = bottleneck(&outcome);
        assert!((0.96..=1.0).contains(&row.utilization.unwrap()), "{cc}: {}", row.utilization.unwrap());
        assert_eq!(row.counts.dropped(), 0);
        // Version 1 probes until 1.25 BDP are in flight, with three quanta rounded up to even, and two segments. Version 3
        // probes for three rounds, with at most 2.25 BDP.
        let most = row.port.queue_delay.quantile(1.0).unwrap() / 1e6;
        assert!(most < (probe - BDP + 1.0) * PACKET, "{cc}: {most} ms");
        assert!(row.queue_packets_mean < BDP / 4.0, "{cc}: {}", row.queue_packets_mean);
    }
}

#[test]
fn in_a_shallow_buffer_version_3_loses_less_than_a_hundredth_and_version_1_more_than_that() {
    // v3, section 3.1: losses of a probe bound the next one. v1 ignores losses: a probe puts a quarter of the BDP and
    // seven packets into a buffer of ten.
    let [first, third] = BOTH.map(|cc| path((60, 10), 10, &format!("[[tcp]]\ncc = '{cc}'\n")));
    let rates = (drop_rate(&first), drop_rate(&third));
    assert!(rates.1 < 0.01 && rates.0 > 2.0 * rates.1, "{} and {}", rates.0, rates.1);
    for outcome in [first, third] {
        assert!(bottleneck(&outcome).utilization.unwrap() > 0.95, "{}", bottleneck(&outcome).utilization.unwrap());
    }
}

#[test]
fn bbr_tolerates_random_losses_that_slow_cubic_down() {
    // On so short a path CUBIC follows Reno (RFC 9438, section 4.3). At 1 % loss it has sqrt(1.5 / 0.01) = 12 packets in
    // flight on average, a third of the BDP. Both versions of BBR tolerate 1 % (v3's threshold is 2 %). Version 3 is
    // slower: its short-term bounds fall to 0.7 of themselves or to the last delivery.
    let busy = |cc: &str| {
        let outcome = path((40, 5), 100, &format!("loss = 0.01\n[[tcp]]\ncc = '{cc}'\n"));
        bottleneck(&outcome).utilization.unwrap()
    };
    assert!(busy("cubic") < 0.6, "{}", busy("cubic"));
    assert!(busy("bbr") > 0.93, "{}", busy("bbr"));
    assert!(busy("bbr3") > 0.8, "{}", busy("bbr3"));
}

#[test]
fn two_flows_share_alike() {
    // v1, section 4.3.4.2; v3, section 5.3.3. One begins up to a second after the other.
    for (cc, limit, seed) in BOTH.iter().flat_map(|cc| [(cc, 34, 1), (cc, 34, 2), (cc, 100, 1), (cc, 100, 2)]) {
        let flows = format!("[[tcp]]\ncc = '{cc}'\nflows = 2\nstart = '0s..1s'\n");
        let (outcome, _) = traced((60, 20), seed, limit, &flows);
        assert!((0.4..=0.6).contains(&share(&outcome)), "{cc}, {limit} packets, seed {seed}: {}", share(&outcome));
        assert!(bottleneck(&outcome).utilization.unwrap() > 0.96, "{}", bottleneck(&outcome).utilization.unwrap());
    }
}

#[test]
fn version_3_leaves_cubic_more_goodput_than_version_1_with_small_buffers() {
    // The reason for v3's bounds (section 3.3): with a buffer below one BDP, v1 takes nearly all goodput. In a deep buffer
    // v1 has 2 x 34 packets in flight, as its draft allows, and CUBIC has the rest.
    let beside = |cc: &str, limit| {
        let groups = format!("[[tcp]]\nname = 'a'\ncc = '{cc}'\n[[tcp]]\nname = 'b'\ncc = 'cubic'\nstart = '1s'\n");
        share(&path((60, 10), limit, &groups))
    };
    for limit in [10, 34] {
        let (first, third) = (beside("bbr", limit), beside("bbr3", limit));
        assert!(first > 0.8 && third < first - 0.1, "{limit} packets: {first:.2} and {third:.2}");
    }
    assert!(beside("bbr", 400) < 0.5, "{:.2}", beside("bbr", 400));
}

#[test]
fn bbr_and_cubic_share_equally_with_per_flow_queues_and_not_in_one_queue() {
    // RFC 8290, section 1: backlogged flows get equal shares, whatever their congestion control.
    let text = include_str!("../../../../scenarios/bbr.toml");
    for cc in BOTH {
        let changes = Changes { set: vec![format!("bbr.cc={cc}")], ..Changes::default() };
        let scenario = Scenario::read(text, "bbr.toml", &changes).unwrap_or_else(|error| panic!("{error}"));
        let of = |name: &str| {
            let qdisc = scenario.qdiscs.iter().find(|qdisc| qdisc.name == name).expect("the scenario has it");
            share(&run(&scenario, qdisc, 1, &mut ()).unwrap_or_else(|error| panic!("{error}")))
        };
        assert!((0.45..0.55).contains(&of("fq_codel")), "{cc}: {}", of("fq_codel"));
        assert!(of("droptail") > 0.6 && of("codel") > 0.6, "{cc}: {} and {}", of("droptail"), of("codel"));
    }
}
