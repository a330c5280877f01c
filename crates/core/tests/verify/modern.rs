//! The authors' claims about CoDel, PIE, COBALT, DualPI2, FQ-CoDel and FQ-PIE, with responsive and unresponsive
//! senders.

use aqm::{Rate, Span, Why};

use crate::verify::closed_loop::{LoopMeasurements, LoopSender, run};

const MBIT: u64 = 1_000_000;

fn rate(mbit: f64) -> Rate {
    Rate::from_bits((mbit * MBIT as f64) as u64)
}

fn aimd(flows: usize, rtt_ms: u64, ect: bool) -> Vec<LoopSender> {
    vec![LoopSender::Aimd { rtt: Span::from_millis(rtt_ms), ect }; flows]
}

/// An unresponsive sender of packets of 1000 bytes, at `load` times the link's 10 Mbit/s.
fn flood(load: f64) -> LoopSender {
    LoopSender::Constant { rate: load * 10e6 / 8000.0, bytes: 1000 }
}

#[test]
fn codel_keeps_the_delay_at_its_target_and_the_link_busy_at_any_rate_and_round_trip() {
    // RFC 8289, section 1: insensitive to round-trip delays and link rates, without parameters to set.
    for (mbit, rtt) in [(10.0, 20), (10.0, 100), (10.0, 200), (50.0, 100), (100.0, 20), (100.0, 100)] {
        let codel = run("codel", rate(mbit), &aimd(4, rtt, false), 30);
        let [least, median, used] = [codel.delay(0.05), codel.delay(0.5), codel.used()];
        let what = format!("{mbit} Mbit/s, {rtt} ms: {least} and {median} ms, {used} used");
        // The standing queue is its minimum between bursts (section 3.2): the target, to within a packet. A window that
        // is halved at a full pipe without a queue would use three quarters of the link.
        let packet = 12.0 / mbit;
        assert!(least <= 5.0 + packet && median < 15.0 && used > 0.8, "{what}");
        let droptail = run("droptail", rate(mbit), &aimd(4, rtt, false), 30);
        assert!(droptail.delay(0.05) > 10.0 * least, "{what}; droptail {} ms", droptail.delay(0.05));
    }
    // If a packet takes longer than the target, the second condition keeps a few packets queued (section 5).
    let slow = run("codel", rate(1.0), &aimd(4, 100, false), 30);
    assert!(slow.used() > 0.99 && slow.delay(0.5) <= 4.0 * 12.0, "{} {}", slow.used(), slow.delay(0.5));
}

#[test]
fn codel_marks_ecn_capable_packets_instead_of_dropping_and_controls_as_well() {
    let seen = run("codel", rate(10.0), &aimd(4, 100, true), 30);
    let counts = seen.totals.counts();
    assert!(counts.dropped() == 0 && counts.marked() > 100, "{counts:?}");
    assert!(seen.delay(0.5) < 7.5 && seen.used() > 0.9, "{} {}", seen.delay(0.5), seen.used());
}

#[test]
fn codel_drops_increasingly_often_while_no_sender_responds() {
    // Section 4.2: the n-th drop comes interval/sqrt(n) before the next. N drops take interval (2 sqrt(N) - 1.46). The
    // first drop comes after 7.5 ms until the delay is high and 100 ms more. In the remaining 39.9 s, N = ((399 +
    // 1.46)/2)^2. At three times the link's rate, this number of drops does not suffice.
    let drops = run("codel", rate(10.0), &[flood(3.0)], 30).totals.counts().drops(Why::Sojourn) as f64;
    let expected = (400.4_f64 / 2.0) * (400.4 / 2.0);
    assert!((drops / expected - 1.0).abs() < 0.005, "{drops} drops, {expected} expected");
}

#[test]
fn pie_holds_the_mean_delay_at_its_target_for_few_flows_and_for_many() {
    // RFC 8033, abstract and section 4.2: PIE controls the average latency to the target, and its steps are
    // self-tuning.
    for (mbit, flows) in [(10.0, 10), (10.0, 20), (10.0, 50), (100.0, 20), (100.0, 100)] {
        for target in [15.0, 30.0] {
            let pie = run(&format!("pie:target={target}ms"), rate(mbit), &aimd(flows, 100, false), 30);
            let (mean, used) = (pie.mean_delay(), pie.used());
            assert!((mean / target - 1.0).abs() < 0.1 && used > 0.98, "{mbit}, {flows}: {mean} ms of {target}, {used}");
        }
    }
}

#[test]
fn pie_converges_to_the_drop_rate_of_the_overload_and_holds_its_target() {
    // There are 2000 updates in 30 s. Summed over them, alpha x mean error x 2000 is the total change of the
    // probability. Once settled it changes by less than 0.2, so the mean error is at most 0.8 ms.
    for load in [1.2, 1.5, 2.0, 3.0] {
        let pie = run("pie", rate(10.0), &[flood(load)], 30);
        assert!(
            (pie.mean_delay() - 15.0).abs() < 0.8 && pie.used() > 0.999,
            "{load}: {} {}",
            pie.mean_delay(),
            pie.used()
        );
        // The buffer does not overflow, although PIE knows neither the load nor the link's rate.
        let counts = pie.totals.counts();
        assert_eq!(counts.dropped(), counts.drops(Why::Early), "{load}");
        // The necessary probability is 1 - 1/load, around which PIE oscillates.
        assert!((pie.gauge("probability") - (1.0 - 1.0 / load)).abs() < 0.1, "{load}: {}", pie.gauge("probability"));
    }
}

#[test]
fn pie_drops_from_ecn_capable_packets_too_once_a_tenth_is_signaled() {
    // RFC 8033, section 5.1: a safeguard against flows that ignore marks. Fifty flows with at least two packets in
    // flight each need a probability above a tenth.
    let few = run("pie", rate(10.0), &aimd(4, 100, true), 30).totals.counts().clone();
    let many = run("pie", rate(10.0), &aimd(50, 100, true), 30).totals.counts().clone();
    assert!(few.marked() > few.dropped() / 4 && many.dropped() > 10 * many.marked(), "{few:?} {many:?}");
    let all = run("pie:ecn_threshold=1", rate(10.0), &aimd(50, 100, true), 30).totals.counts().clone();
    // With this setting too, a probability of 1 drops ECN-capable packets.
    assert!(all.marked() > 10 * all.dropped(), "{all:?}");
}

#[test]
fn cobalt_holds_its_target_with_responsive_senders_and_with_a_flood() {
    // sch_cake.c: CoDel is excellent on responsive flows, BLUE is more effective on unresponsive ones.
    for load in [1.2, 1.5, 2.0, 3.0] {
        let seen = |qdisc: &str| {
            let seen = run(&format!("{qdisc}:limit=100p"), rate(10.0), &[flood(load)], 30);
            let counts = seen.totals.counts();
            (seen.mean_delay(), counts.drops(Why::Overflow) as f64 / counts.dropped() as f64)
        };
        let ((codel_delay, codel_overflow), (delay, overflow)) = (seen("codel"), seen("cobalt"));
        assert!(delay < 10.0 && codel_delay > 4.0 * delay, "{load}: {delay} ms; codel {codel_delay} ms");
        assert!(overflow < 0.02 && codel_overflow > 5.0 * overflow, "{load}: {overflow}; codel {codel_overflow}");
    }
    for (mbit, rtt) in [(10.0, 20), (10.0, 100), (10.0, 200), (100.0, 20), (100.0, 100)] {
        let cobalt = run("cobalt", rate(mbit), &aimd(4, rtt, false), 30);
        let (least, used) = (cobalt.delay(0.05), cobalt.used());
        // The same bounds as in the CoDel test.
        assert!(least <= 5.0 + 12.0 / mbit && used > 0.8, "{mbit} Mbit/s, {rtt} ms: {least} ms, {used} used");
    }
}

const DUAL_RTT: Span = Span::from_millis(10);
/// A packet of 1500 bytes takes 0.3 ms.
const DUAL_LINK: Rate = Rate::from_bits(40_000_000);

/// `classic` Classic senders followed by `scalable` Scalable ones, with the same round trip, for a minute.
fn mixed(qdisc: &str, classic: usize, scalable: usize) -> LoopMeasurements {
    let mut senders = vec![LoopSender::Aimd { rtt: DUAL_RTT, ect: true }; classic];
    senders.extend(vec![LoopSender::Scalable { rtt: DUAL_RTT }; scalable]);
    run(qdisc, DUAL_LINK, &senders, 60)
}

#[test]
fn dualpi2_holds_classic_traffic_at_the_target_and_low_latency_traffic_at_the_threshold() {
    // Appendix A.1: 15 ms for Classic traffic; for low latency traffic the ramp from 0.8 to 1.2 ms, or Linux's step at
    // 1 ms. Marks begin at the threshold and take effect a round trip later. One packet in a hundred may therefore have
    // a further threshold of delay.
    for qdisc in ["dualpi2", "dualpi2:preset=linux", "dualpi2:scheduler=ts_fifo", "dualpi2:min_th=1ms,range=0s"] {
        for (classic, scalable) in [(1, 1), (5, 5), (8, 2), (2, 8)] {
            let seen = mixed(qdisc, classic, scalable);
            let (high, low) = (seen.delay_of(0, 0.5), seen.delay_of(classic, 0.99));
            let what = format!("{qdisc}, {classic} + {scalable}: {high} and {low} ms, {}", seen.used());
            assert!((high / 15.0 - 1.0).abs() < 0.15 && low < 2.0 && seen.used() > 0.99, "{what}");
        }
    }
}

#[test]
fn dualpi2_without_classic_traffic_oscillates_up_to_the_threshold() {
    // A step threshold only. Marks begin at 1 ms and take effect a round trip later. Until then each sender sends one
    // packet more, and one packet of 0.3 ms may be on the link.
    for senders in [2, 4, 8] {
        let seen = mixed("dualpi2:min_th=1ms,range=0s", 0, senders);
        let (peak, most) = (seen.delay_of(0, 0.99), 1.0 + 0.3 * (senders + 1) as f64);
        assert!((1.0..=most).contains(&peak), "{senders}: {peak} ms, not 1 to {most}");
    }
}

#[test]
fn dualpi2_lets_classic_and_scalable_flows_share_evenly() {
    // Sections 1.2 and 2.1. Per round trip R, a Reno flow sends 1.22/sqrt(p_C) = 1.22/p' packets. A Scalable flow loses
    // half a packet per mark and gains one per round trip, so it sends 2 (1 - p_CL)/p_CL = (1 - p_CL)/p'. With
    // queueing, R is 25 ms for the Reno flow and 10 ms for the Scalable flow. Their rates are as 1 to 2.05 (1 - p_CL),
    // with p_CL below 0.2. Uncoupled, the Scalable flow takes up to fifteen sixteenths, the scheduler's bound.
    let ratio = |qdisc: &str| {
        let seen = mixed(qdisc, 1, 1);
        seen.shares[1] / seen.shares[0]
    };
    let (coupled, apart) = (ratio("dualpi2"), ratio("dualpi2:coupling_factor=0.001"));
    assert!((1.64..2.05).contains(&coupled) && apart > 5.0, "{coupled} {apart}");
}

/// Ten elastic flows, a call of 50 packets of 200 bytes a second, and a flood of twice the link's rate.
fn household() -> Vec<LoopSender> {
    [aimd(10, 50, false), vec![LoopSender::Constant { rate: 50.0, bytes: 200 }, flood(2.0)]].concat()
}

#[test]
fn flow_queues_share_the_link_evenly_at_any_demands() {
    // RFC 8290, section 1: isolation. There are enough queues for every flow to have its own; with 1024, one of these
    // flows would share the flood's. CAKE has 1024 in sets of eight.
    for qdisc in ["fq_codel:flows=65536", "fq_cobalt:flows=65536", "fq_pie:flows=65536", "cake"] {
        let seen = run(qdisc, rate(10.0), &household(), 30);
        // The call takes 0.8 %. The eleven other flows share the rest: 9.0 % each, to within a sawtooth of the elastic
        // flows.
        let call = 50.0 * 1600.0 / 10e6;
        assert!((seen.shares[10] / call - 1.0).abs() < 0.05, "{qdisc}: {}", seen.shares[10]);
        let fair = (1.0 - call) / 11.0;
        let elastic = &seen.shares[..10];
        assert!(elastic.iter().all(|share| (share / fair - 1.0).abs() < 0.05), "{qdisc}: {:?}", seen.shares);
        // CAKE's BLUE, which raises its probability at each drop from a full buffer, sometimes empties the flood's queue.
        let least = if qdisc == "cake" { 0.9 } else { 0.95 };
        assert!((least..1.05).contains(&(seen.shares[11] / fair)), "{qdisc}: {:?}", seen.shares);
    }
    let codel = run("codel", rate(10.0), &household(), 30);
    assert!(codel.shares[11] > 0.9, "without queues of their own: {:?}", codel.shares);
}

#[test]
fn a_flow_with_a_low_rate_has_a_short_delay_beside_any_other_flows() {
    // RFC 8290, section 1: low delay for sparse flows. At worst a packet waits for a turn of each of the eleven other
    // flows. A turn sends at most the quantum and one packet more: 11 x (1514 + 1500) bytes, besides the packet on the
    // link.
    let worst = (11.0 * (1514.0 + 1500.0) + 1500.0) * 8.0 / 10e6 * 1000.0;
    for qdisc in ["fq_codel:flows=65536", "fq_cobalt:flows=65536", "fq_pie:flows=65536", "cake"] {
        let seen = run(qdisc, rate(10.0), &household(), 30);
        assert!(seen.delay_of(10, 1.0) <= worst, "{qdisc}: {} ms, at most {worst}", seen.delay_of(10, 1.0));
    }
    let pie = run("pie", rate(10.0), &household(), 30);
    assert!(pie.delay_of(10, 0.99) > worst, "without queues of their own: {} ms", pie.delay_of(10, 0.99));
}

#[test]
fn a_flood_is_dropped_from_its_own_queue_and_other_delays_stay_short() {
    // Each queue has its own AQM. The elastic flows' delays stay at the level of CoDel and PIE, and the call has no
    // losses.
    let hashed = ["fq_codel", "fq_cobalt", "fq_pie"].map(|name| format!("{name}:flows=65536,limit=1000p"));
    for qdisc in hashed.into_iter().chain(["cake:limit=1000p".to_string()]) {
        let seen = run(&qdisc, rate(10.0), &household(), 30);
        assert!((0..10).all(|flow| seen.delay_of(flow, 0.5) < 50.0), "{qdisc}: {} ms", seen.delay_of(0, 0.5));
        let counts = seen.totals.counts();
        // The flood demands twice the link's rate and gets a tenth of it. Drops are 1.9 times the link's 1250 packets a
        // second, over 40 s.
        assert!(counts.dropped() as f64 > 1.85 * 1250.0 * 40.0, "{qdisc}: {counts:?}");
    }
}

#[test]
fn fq_cobalt_keeps_a_floods_queue_short_where_fq_codels_fills_the_buffer() {
    // sch_cake.c: BLUE is more effective on unresponsive flows, and keeps queues short on overflow. The flood is the
    // last flow.
    let flood_of = |qdisc: &str| {
        let seen = run(&format!("{qdisc}:flows=65536,limit=1000p"), rate(10.0), &household(), 60);
        (
            seen.delay_of(11, 0.5),
            seen.totals.counts().drops(Why::FlowLimit) as f64 / seen.totals.counts().dropped() as f64,
        )
    };
    let ((codel, codel_overflow), (cobalt, overflow)) = (flood_of("fq_codel"), flood_of("fq_cobalt"));
    assert!(cobalt < codel / 4.0, "{cobalt} ms; with CoDel {codel} ms");
    assert!(overflow < codel_overflow, "{overflow} of drops are at the limit; with CoDel {codel_overflow}");
}
