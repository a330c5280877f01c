//! Claims about schedulers of per-flow queues: SFQ, SFQ-RED, DRR and FQ.

use crate::verify::closed_loop::{self, LoopSender};
use crate::verify::link::{CAPACITY, LINK, LinkFlow, against, flow, run};
use aqm::disciplines::{Sfq, SfqConfig, misclassification};
use aqm::{FlowId, LinkInfo, Params, Rate, Span};

/// The bucket of each flow.
fn buckets(settings: &[(&str, &str)], key: u64, flows: u64) -> Vec<usize> {
    let config = SfqConfig::from_settings(settings).unwrap();
    let sfq: Sfq<()> = Sfq::new(config, &LinkInfo { key, ..LINK }).unwrap();
    (0..flows).map(|flow| sfq.buckets().bucket(FlowId(flow))).collect()
}

#[test]
fn sfq_puts_as_many_flows_into_buckets_of_unresponsive_flows_as_equation_1_says() {
    // BLUE paper, section IV-C: with 8 unresponsive flows in 46 bins, 16.12 % of the other flows, 64 of 400, share a
    // bucket with one of them. The same equation applies to BREATHe's 16 buckets.
    for (buckets_set, bins) in [("46", 46), ("16", 16)] {
        let runs = 1000;
        let shared: usize = (0..runs)
            .map(|key| {
                let buckets = buckets(&[("buckets", buckets_set)], key, 408);
                buckets[8..].iter().filter(|bucket| buckets[..8].contains(bucket)).count()
            })
            .sum();
        let (seen, expected) = (shared as f64 / (400 * runs) as f64, misclassification(bins, 1, 8));
        // A run's share depends mostly on the number of buckets with unresponsive flows. For 8 flows its variance is
        // below 8 (1/n), so the share's standard deviation is below sqrt(8)/n. The tolerance is five of them over the
        // square root of the runs.
        let spread = 5.0 * 8f64.sqrt() / bins as f64 / (runs as f64).sqrt();
        assert!((seen - expected).abs() < spread, "{bins} bins: {seen}, equation (1): {expected}");
    }
}

#[test]
fn sfq_protects_only_flows_with_buckets_of_their_own() {
    // Nine flows send their share of 100 packets a second, and one sends 20 times as much. A flow alone in its bucket
    // has no drops: 64 packets of room hold its random bursts.
    let settings = [("buckets", "16")];
    let seen = run("sfq:limit=1024p", &against(20.0, 9));
    let buckets = buckets(&settings, LINK.key, 10);
    let (with, without): (Vec<usize>, Vec<usize>) = (0..9).partition(|flow| buckets[*flow] == buckets[9]);
    assert!(without.iter().all(|flow| seen.rate(*flow) > 97.0), "{:?} in {buckets:?}", seen.rates);
    assert!(!with.is_empty(), "some flow should share: {buckets:?}");
    assert!(with.iter().all(|flow| seen.rate(*flow) < 30.0), "{:?} in {buckets:?}", seen.rates);
}

/// The seconds that [`run`] counts.
const SECONDS: f64 = 80.0;

/// Flows with small demands and flows with excessive demands, with packets of different sizes.
fn demands() -> Vec<LinkFlow> {
    let bytes = |rate: f64, bytes: u32| LinkFlow { rate: rate / f64::from(bytes), bytes };
    vec![bytes(20e3, 40), bytes(50e3, 1000), bytes(2e6, 1500), bytes(4e5, 250), bytes(4e5, 1000)]
}

/// Max-min fair shares of `capacity` for `demands`.
fn max_min(demands: &[f64], capacity: f64) -> Vec<f64> {
    let mut shares = vec![0.0; demands.len()];
    let mut sorted: Vec<usize> = (0..demands.len()).collect();
    sorted.sort_by(|a, b| demands[*a].total_cmp(&demands[*b]));
    let mut left = capacity;
    for (served, flow) in sorted.into_iter().enumerate() {
        shares[flow] = demands[flow].min(left / (demands.len() - served) as f64);
        left -= shares[flow];
    }
    shares
}

#[test]
fn drr_and_fq_give_max_min_shares_to_within_packets() {
    // The maximum difference in bytes sent between two backlogged flows, over any time. Shreedhar and Varghese, theorem
    // on fairness: 2 Max + Quantum. Golestani, theorem 1: one packet of each flow. Max is 1500.
    for (qdisc, bound) in [
        ("drr:limit=300p", 4500.0),
        ("drr:limit=300KB", 4500.0),
        ("drr:limit=300p,quantum=100B", 3100.0),
        ("fq:limit=300p", 2500.0),
        ("fq:limit=300KB", 2500.0),
    ] {
        let flows = demands();
        let asked: Vec<f64> = flows.iter().map(|flow| flow.rate * f64::from(flow.bytes)).collect();
        let (seen, fair) = (run(qdisc, &flows), max_min(&asked, 1000.0 * CAPACITY));
        assert_eq!(fair[2..], [310e3; 3]);
        for (a, b) in [(2, 3), (2, 4), (3, 4)] {
            let apart = (seen.rates[a] - seen.rates[b]).abs() * SECONDS;
            assert!(apart <= bound, "{qdisc}: flows {a} and {b} differ by {apart} B");
        }
        for (flow, (demand, share)) in flows.iter().zip(fair).enumerate() {
            // Gaps are uniform in 0 to 2 means. A flow's packets in 80 s have a standard deviation of their square root
            // / sqrt(3). The flows that share the remainder vary with the packets of all others. The tolerance is five
            // standard deviations.
            let varies = |demand: &LinkFlow| (demand.rate * SECONDS / 3.0).sqrt() * f64::from(demand.bytes) / SECONDS;
            let tolerance = if flow < 2 { varies(demand) } else { varies(&flows[0]) + varies(&flows[1]) };
            let rate = seen.rates[flow];
            assert!((rate - share).abs() < 5.0 * tolerance, "{qdisc}: flow {flow} gets {rate} of {share} B/s");
        }
    }
}

#[test]
fn drr_and_fq_limit_a_flow_to_its_share_without_drops_for_the_others() {
    for times in [2.0, 5.0, 50.0] {
        for qdisc in ["drr:limit=100p", "fq:limit=100p"] {
            let seen = run(qdisc, &against(times, 9));
            // Nine flows demand their share of 100 packets a second: 8000 in 80 s, with a standard deviation of 52.
            assert!((0..9).all(|flow| seen.rate(flow) > 100.0 - 5.0 * 52.0 / SECONDS), "{qdisc}: {:?}", seen.rates);
            let left = CAPACITY - (0..9).map(|flow| seen.rate(flow)).sum::<f64>();
            assert!((seen.rate(9) - left).abs() < 1.0, "{qdisc}: {} of {left}", seen.rate(9));
        }
    }
}

#[test]
fn turns_by_the_packet_favor_large_packets_and_turns_by_the_byte_do_not() {
    // Shreedhar and Varghese, section 2: round robin by packets can give a flow Max/Min times another flow's share.
    let flows = [LinkFlow { rate: 1000.0, bytes: 1500 }, LinkFlow { rate: 4000.0, bytes: 250 }];
    let ratio = |qdisc: &str| {
        let seen = run(qdisc, &flows);
        seen.rates[0] / seen.rates[1]
    };
    let by_packet = ratio("sfq:limit=300p,sharing=shared,buckets=1024");
    let by_byte = ratio("sfq:limit=300p,sharing=shared,buckets=1024,quantum=1500B");
    let drr = ratio("drr:limit=300p");
    // 80 MB are sent, so one turn more or less does not matter.
    assert!((by_packet - 6.0).abs() < 0.01, "{by_packet}");
    assert!((by_byte - 1.0).abs() < 0.001 && (drr - 1.0).abs() < 0.001, "{by_byte} {drr}");
    let alone = run("fq:limit=100p", &[flow(3000.0)]);
    assert!((alone.rate(0) - CAPACITY).abs() < 1.0, "a flow alone has the link: {}", alone.rate(0));
}

#[test]
fn sfq_red_holds_an_unresponsive_flow_to_its_buckets_turns() {
    // BLUE paper, section IV-B and table III: 400 flows and one that sends at the link's rate. Nearly all 46 buckets
    // have more demand than turns, so buckets get max-min fair shares of the link.
    let mut flows = vec![flow(2.0 * CAPACITY / 400.0); 400];
    flows.push(flow(CAPACITY));
    let buckets = buckets(&[("buckets", "46")], LINK.key, 401);
    let mut asked = vec![0.0; 46];
    buckets.iter().zip(&flows).for_each(|(bucket, flow)| asked[*bucket] += flow.rate);
    let fair = max_min(&asked, CAPACITY);
    for qdisc in ["sfq_red", "sfq_red:preset=blue"] {
        let seen = run(qdisc, &flows);
        let bucket: f64 = (0..401).filter(|flow| buckets[*flow] == buckets[400]).map(|flow| seen.rate(flow)).sum();
        // The tolerance is a packet less in 80 s, or 5 % more: buckets that RED keeps short are empty at some of their
        // turns.
        let share = fair[buckets[400]];
        assert!(bucket > share - 1.0 / SECONDS && bucket < 1.05 * share, "{qdisc}: {bucket} of {share}");
        assert!(seen.rate(400) < 1.05 * share, "{qdisc}: {}", seen.rate(400));
    }
}

#[test]
fn a_buffer_divided_by_46_makes_red_drop_while_a_whole_buffer_marks() {
    // BLUE paper, section IV-B: parts of 9 KB cause loss "due to RED's inability to operate properly with small
    // buffers", although all senders respond to marks. The comparison is the paper's RED in one buffer of half the
    // size. The paper gives no factor.
    let red = "red:limit=200KB,minth=20%,maxth=80%,maxp=1,mark_above_maxth=on";
    for (rate, senders) in [(10_000_000, 40), (45_000_000, 100)] {
        let senders: Vec<LoopSender> =
            (0..senders).map(|i| LoopSender::Aimd { rtt: Span::from_millis(40 + i), ect: true }).collect();
        let dropped = |qdisc| closed_loop::run(qdisc, Rate::from_bits(rate), &senders, 40).totals.dropped();
        let (parts, whole) = (dropped("sfq_red:preset=blue"), dropped(red));
        assert!(parts > 2 * whole && parts > 1000, "{parts} dropped in parts, {whole} in one buffer");
    }
}
