//! The papers' claims about FABA, SFB and FRED against an unresponsive flow, at one queue. The link sends 1000 packets
//! a second; senders have constant demand and random gaps.

use aqm::disciplines::misclassification;
use aqm::{FlowId, LinkInfo, Packet, Port, Rng, Time, Why, registry};

use crate::verify::link::{CAPACITY, END, LINK, LinkFlow, LinkTotals, WARMUP, against, crowd, flow, run, run_observed};

#[test]
fn faba_holds_a_flow_to_its_fair_share_however_much_it_sends() {
    // Section 5.3: 9 flows that send their share and one that sends more, 780 packets of buffer.
    for times in [2.0, 5.0, 20.0] {
        let faba = run("faba:limit=780p", &against(times, 9));
        assert!((faba.rate(9) - 100.0).abs() < 10.0, "x{times}: {}", faba.rate(9));
        assert!((0..9).all(|flow| faba.rate(flow) > 97.0), "x{times}: {:?}", faba.rates);
        assert_eq!(faba.counts.dropped(), faba.counts.drops(Why::Bucket));
    }
    let droptail = run("droptail:limit=780p", &against(5.0, 9));
    assert!(droptail.rate(9) > 300.0, "{}", droptail.rate(9));
}

#[test]
fn faba_is_fair_with_a_small_buffer_and_with_fewer_buckets_than_flows() {
    // Section 5: fair over a wide range of buffers. A table for half of the flows only costs accuracy.
    for qdisc in ["faba:limit=100p", "faba:limit=100p,max_flows=5"] {
        let faba = run(qdisc, &against(5.0, 9));
        assert!((faba.rate(9) - 100.0).abs() < 33.0, "{qdisc}: {}", faba.rate(9));
        assert!((0..9).all(|flow| faba.rate(flow) > 95.0), "{qdisc}: {:?}", faba.rates);
    }
}

#[test]
fn faba_draws_little_more_than_one_bucket_a_departure() {
    // Section 4.2: b is always close to 1.
    let draws = run("faba:limit=780p", &against(5.0, 9)).gauge("draws_per_departure");
    assert!((draws - 1.0).abs() < 0.1, "{draws}");
}

#[test]
fn faba_in_byte_mode_shares_bytes_where_packets_differ_in_size() {
    // Nine flows of 100 KB/s, five of them in packets of 250 bytes and four in packets of 2500, and one of 500 KB/s.
    let mut flows = vec![LinkFlow { rate: 400.0, bytes: 250 }; 5];
    flows.extend([LinkFlow { rate: 40.0, bytes: 2500 }; 4]);
    flows.push(flow(500.0));
    let least = |seen: &LinkTotals| (0..9).map(|flow| seen.rate(flow)).fold(f64::INFINITY, f64::min);
    let bytes = run("faba:limit=780KB", &flows);
    assert!(least(&bytes) > 95.0 && bytes.rate(9) < 110.0, "{:?}", bytes.rates);
    let packets = run("faba:limit=780KB,byte_mode=off", &flows);
    assert!(least(&packets) < 80.0 && packets.rate(9) > 200.0, "{:?}", packets.rates);
}

#[test]
fn sfb_limits_an_unresponsive_flow_to_the_rate_of_the_penalty() {
    // ToN 2002, section IV-B: 400 flows and one that sends twice the link's rate; comparison paper, section 4.3. With
    // figure 14 as printed, bins of the flow stay overfull and at 1. The next test bounds `overfull=all`.
    for (penalty, allowed) in [
        ("penalty=rate,penalty_rate=160kbit/s", 20.0),
        ("penalty=rate,penalty_rate=320kbit/s", 40.0),
        ("boxtime=50ms", 20.0),
        ("boxtime=20ms", 50.0),
        ("boxtime=50ms,randomize_boxtime=on", 20.0),
    ] {
        let sfb = run(&format!("sfb:limit=200p,rehash=0s,overfull=any,{penalty}"), &crowd(400, 2000.0));
        assert!((sfb.rate(400) / allowed - 1.0).abs() < 0.1, "{penalty}: {}", sfb.rate(400));
        let penalized = sfb.counts.drops(Why::Unresponsive);
        assert!(penalized > sfb.counts.dropped() / 2, "{penalty}: {:?}", sfb.counts.signals);
    }
}

#[test]
fn sfb_lets_an_unresponsive_flow_exceed_its_penalty_only_as_far_as_empty_bins_lower_its_probability() {
    // Figure 14 and section IV-A: an empty bin lowers its probability. Below 1 the flow is not rate-limited, and each of
    // its packets passes with probability 1 - p. With `overfull=all` the other flows' packets enter an overfull bin, so
    // its length varies and reaches 0 now and then. N packets that pass by chance with a sum S of probabilities exceed S
    // by at most four standard deviations, each at most sqrt(S).
    let penalty = 1.0 / 0.05;
    let excess = |settings: &str| {
        let flows = crowd(400, 2000.0);
        let mut expected = 0.0;
        let sfb = run_observed(&format!("sfb:limit=200p,{settings}"), &flows, &[0; 401], &[], |queue, sender, now| {
            if sender == 400 && now >= WARMUP {
                queue.observe_flow(FlowId(400), &mut |name, value| {
                    expected += if name == "probability" { 1.0 - value } else { 0.0 };
                });
            }
        });
        let seconds = (END - WARMUP).as_secs_f64();
        let most = penalty + (expected + 4.0 * f64::sqrt(expected)) / seconds;
        assert!(sfb.rate(400) <= most, "{settings}: {} > {most}", sfb.rate(400));
        sfb.rate(400) - penalty
    };
    // Bins that nothing lowers stay at 1. So do bins whose hash functions change: each set is trained for 5 s, in which
    // each packet of the flow raises its probabilities.
    assert!(excess("rehash=0s,d2=0").abs() < 0.1 * penalty);
    assert!(excess("rehash=5s").abs() < 0.1 * penalty);
    assert!(excess("rehash=0s") > 0.1 * penalty);
}

#[test]
fn sfb_gives_an_unresponsive_flow_the_rate_that_other_flows_leave() {
    // A bin that becomes empty lowers its probability. The penalty therefore applies only while packets of other flows
    // keep the bins nonempty.
    let mut flows = vec![flow(0.9 * CAPACITY / 400.0); 400];
    flows.push(flow(2000.0));
    let sfb = run("sfb:limit=200p,rehash=0s", &flows);
    let others: f64 = (0..400).map(|flow| sfb.rate(flow)).sum();
    assert!((sfb.rate(400) - 100.0).abs() < 10.0 && others > 880.0, "{} {others}", sfb.rate(400));
}

#[test]
fn sfb_gives_each_unresponsive_flow_a_fair_share_however_much_it_sends() {
    // Named in section IV and in the comparison paper's section 4.3 (2). 40 flows, and four that send 1, 2, 3 and 4
    // times the link's rate, have bins of their own, so a share is 1/44 of the link. The standard error of linear
    // counting is 0.5 flows, or 1.1 %. The tolerance is four of them.
    let mut flows = crowd(40, 1000.0);
    flows.extend([2000.0, 3000.0, 4000.0].map(flow));
    let share = CAPACITY / 44.0;
    let run = |penalty: &str| run(&format!("sfb:limit=200p,bins=512,bin_size=12,rehash=0s,{penalty}"), &flows);
    let fair = run("penalty=fair_share");
    assert!((40..44).all(|hog| (fair.rate(hog) / share - 1.0).abs() < 0.044), "{:?}", &fair.rates[40..]);
    // The other flows demand 15 % more than a share. Each flow's 1800 packets have a standard deviation of 30; the
    // tolerance is four of them.
    assert!((0..40).all(|flow| fair.rate(flow) > 0.93 * share), "{:?}", fair.rates);
    assert!((fair.gauge("flows") - 44.0).abs() < 2.0 && (fair.gauge("unresponsive_flows") - 4.0).abs() < 0.1);
    // One bucket of four shares: the flow that sends most gets most, up to the size of its bins.
    let together = run("penalty=rate,penalty_rate=727273bit/s");
    assert!(together.rate(43) > 1.5 * together.rate(40), "{:?}", &together.rates[40..]);
}

/// The share of 100 flows of one packet each that SFB treats as unresponsive, after `bad` other flows drove their bins
/// to 1. No probability falls, and unresponsive flows may send one packet an hour.
fn share_misclassified(levels: u32, bins: u32, bad: u64, key: u64) -> f64 {
    let (levels, bins) = (levels.to_string(), bins.to_string());
    let settings = [("levels", &*levels), ("bins", &bins), ("limit", "1000p"), ("bin_size", "3"), ("rehash", "0s")];
    let settings = [&settings[..], &[("d1", "1"), ("d2", "0"), ("freeze_time", "0s"), ("boxtime", "1h")]].concat();
    let link = LinkInfo::new(LINK.rate, LINK.mean_packet, key);
    let mut port = Port::new(registry::boxed::<()>("sfb", &settings, &link).unwrap(), Rng::new(key));
    let mut send = |flow: u64, packets: u32| {
        (0..packets).for_each(|_| port.enqueue(Packet::new(FlowId(flow), 1000, ()), Time::ZERO, &mut ()));
        while port.dequeue(Time::ZERO, &mut ()).is_some() {}
        port.totals().counts().drops(Why::Unresponsive)
    };
    // The flows send one after the other, each alone in the queue. Five packets of a flow make its bins overfull. The
    // next packet is dropped or uses up the hour.
    for flow in 0..bad {
        send(flow, 5);
    }
    let before = send(0, 1);
    let after = (1000..1100).map(|flow| send(flow, 1)).last().unwrap();
    (after - before) as f64 / 100.0
}

#[test]
fn sfb_misclassifies_as_many_flows_as_equation_1_says() {
    // ToN 2002, section IV-C: 8.96 % with 2 levels of 23 bins and 16.12 % with 1 of 46, for eight unresponsive flows.
    for (levels, bins, bad) in [(2, 23, 8), (1, 46, 8), (2, 23, 1), (8, 16, 30), (3, 10, 5)] {
        let shares: Vec<f64> = (0..200).map(|key| share_misclassified(levels, bins, bad, key)).collect();
        let mean = shares.iter().sum::<f64>() / 200.0;
        let variance = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>() / 199.0;
        let expected = misclassification(bins, levels, bad as u32);
        assert!(
            (mean - expected).abs() < 4.0 * (variance / 200.0).sqrt(),
            "{levels} x {bins}, {bad}: {mean} {expected}"
        );
    }
}

#[test]
fn sfred_limits_an_unresponsive_flow_that_takes_most_of_the_link_from_red() {
    // ToN 2002, section IV-B, figure 16 b and c: one flow of twice the link's rate, limited to 0.16 Mbit/s.
    let flows = crowd(400, 2000.0);
    let sfred = run("sfred:limit=200p,bin_size=13p", &flows);
    assert!((sfred.rate(400) / 20.0 - 1.0).abs() < 0.1, "{}", sfred.rate(400));
    let red = run("red:limit=200p", &flows);
    assert!(red.rate(400) > 500.0, "{}", red.rate(400));
}

#[test]
fn sfred_treats_flows_as_unresponsive_at_moderate_congestion_and_sfb_does_not() {
    // Section IV-A: even a moderate amount of congestion requires a maxp of 1. All flows send at the same rate here.
    // The load of 1.2 requires the drop of one packet in six.
    let flows = vec![flow(1.2 * CAPACITY / 400.0); 400];
    let penalized = |qdisc: &str| {
        let counts = run(&format!("{qdisc}:limit=200p,bin_size=13p"), &flows).counts;
        counts.drops(Why::Unresponsive) as f64 / counts.dropped() as f64
    };
    let (sfb, sfred) = (penalized("sfb"), penalized("sfred"));
    assert!(sfb == 0.0 && sfred > 0.1, "{sfb} {sfred}");
}

#[test]
fn sfb_lets_fewer_unlimited_packets_pass_after_a_rehash_if_the_next_bins_are_trained() {
    // ToN 2002, section IV-D: hash functions change every two seconds.
    let seen = |double_buffer: &str| {
        let sfb = format!("sfb:limit=200p,rehash=2s,double_buffer={double_buffer},penalty=rate,penalty_rate=160kbit/s");
        run(&sfb, &crowd(100, 2000.0)).rate(100)
    };
    let (warm, cold) = (seen("on"), seen("off"));
    assert!(warm < cold - 3.0, "{warm} {cold}");
}

#[test]
fn fred_limits_a_flow_to_minth_queued_packets() {
    // Lin and Morris 1997: an unresponsive flow may queue minth packets, a quarter of the buffer.
    for times in [2.0, 5.0, 20.0] {
        let fred = run("fred:limit=100p", &against(times, 9));
        assert!(fred.queued[9] <= 25, "x{times}: {}", fred.queued[9]);
        assert!((0..9).all(|flow| fred.rate(flow) > 90.0), "x{times}: {:?}", fred.rates);
    }
    assert!(run("droptail:limit=100p", &against(5.0, 9)).queued[9] > 40);
}

#[test]
fn fred_strikes_hold_a_flow_near_its_fair_share() {
    let fred = run("fred:limit=100p", &against(5.0, 9));
    assert!((fred.rate(9) - 100.0).abs() < 20.0, "{}", fred.rate(9));
    assert!(fred.counts.drops(Why::Unresponsive) > fred.counts.dropped() * 9 / 10, "{:?}", fred.counts.signals);
}

#[test]
fn fred_with_two_packets_a_flow_stays_fair_when_flows_outnumber_the_buffer() {
    // Lin and Morris 1997 on many flows: here 400 flows and 100 packets of buffer.
    let two_each = run("fred:limit=100p", &crowd(400, 300.0));
    let none = run("fred:limit=100p,many_flows=off", &crowd(400, 300.0));
    assert!(two_each.rate(400) < none.rate(400) / 4.0, "{} {}", two_each.rate(400), none.rate(400));
    assert!(two_each.queued[400] <= 2, "{}", two_each.queued[400]);
}
