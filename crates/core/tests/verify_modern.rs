//! What their authors claim of CoDel, PIE, COBALT, DualPI2, FQ-CoDel and FQ-PIE, among senders that answer signals and
//! others that do not.

use headgate_core::{Rate, Span, Why};

#[path = "support/closed_loop.rs"]
mod closed_loop;

use closed_loop::{LoopMeasurements, LoopSender, run};

const MBIT: u64 = 1_000_000;

fn rate(mbit: f64) -> Rate {
    Rate::from_bits((mbit * MBIT as f64) as u64)
}

fn aimd(flows: usize, rtt_ms: u64, ect: bool) -> Vec<LoopSender> {
    vec![LoopSender::Aimd { rtt: Span::from_millis(rtt_ms), ect }; flows]
}

/// A sender that asks for `load` times the link of 10 Mbit/s, in packets of 1000 bytes, whatever happens to them.
fn flood(load: f64) -> LoopSender {
    LoopSender::Constant { rate: load * 10e6 / 8000.0, bytes: 1000 }
}

#[test]
fn codel_keeps_the_delay_at_its_target_and_the_link_busy_at_any_rate_and_round_trip() {
    // RFC 8289, section 1: insensitive to round-trip delays and link rates, without parameters to be set.
    for (mbit, rtt) in [(10.0, 20), (10.0, 100), (10.0, 200), (50.0, 100), (100.0, 20), (100.0, 100)] {
        let codel = run("codel", rate(mbit), &aimd(4, rtt, false), 30);
        let [least, median, used] = [codel.delay(0.05), codel.delay(0.5), codel.used()];
        let what = format!("{mbit} Mbit/s, {rtt} ms: {least} and {median} ms, {used} used");
        // What stands of the queue is what it falls to between bursts (section 3.2): the target, to within a packet. A window
        // that is halved when the pipe is full, and finds no queue to live on, would use three quarters of the link.
        let packet = 12.0 / mbit;
        assert!(least <= 5.0 + packet && median < 15.0 && used > 0.8, "{what}");
        let droptail = run("droptail", rate(mbit), &aimd(4, rtt, false), 30);
        assert!(droptail.delay(0.05) > 10.0 * least, "{what}; droptail {} ms", droptail.delay(0.05));
    }
    // Where a packet takes longer than the target, the second term keeps a few of them waiting, not fewer (section 5).
    let slow = run("codel", rate(1.0), &aimd(4, 100, false), 30);
    assert!(slow.used() > 0.99 && slow.delay(0.5) <= 4.0 * 12.0, "{} {}", slow.used(), slow.delay(0.5));
}

#[test]
fn codel_marks_instead_of_dropping_where_it_may_and_controls_as_well() {
    let seen = run("codel", rate(10.0), &aimd(4, 100, true), 30);
    let counts = seen.totals.counts();
    assert!(counts.dropped() == 0 && counts.marked() > 100, "{counts:?}");
    assert!(seen.delay(0.5) < 7.5 && seen.used() > 0.9, "{} {}", seen.delay(0.5), seen.used());
}

#[test]
fn codel_drops_the_faster_the_longer_nobody_answers() {
    // Section 4.2: the n-th drop comes interval/sqrt(n) before the next. N of them take interval (2 sqrt(N) - 1.46), so that
    // in the 39.9 s from the first drop on (7.5 ms until the delay is high, 100 ms more) N = ((399 + 1.46)/2)^2. Three times
    // the link is more than that can drop.
    let drops = run("codel", rate(10.0), &[flood(3.0)], 30).totals.counts().drops(Why::Sojourn) as f64;
    let expected = (400.4_f64 / 2.0) * (400.4 / 2.0);
    assert!((drops / expected - 1.0).abs() < 0.005, "{drops} drops, {expected} expected");
}

#[test]
fn pie_holds_the_mean_delay_at_its_target_for_few_flows_and_for_many() {
    // RFC 8033, abstract and section 4.2: average latency is controlled to the target; the steps tune themselves.
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
    // 2000 updates in 30 s. By their sum, alpha x the mean error x 2000 is what the probability moved from first to last:
    // less than 0.2 once it has settled, so that the error is at most 0.8 ms.
    for load in [1.2, 1.5, 2.0, 3.0] {
        let pie = run("pie", rate(10.0), &[flood(load)], 30);
        assert!(
            (pie.mean_delay() - 15.0).abs() < 0.8 && pie.used() > 0.999,
            "{load}: {} {}",
            pie.mean_delay(),
            pie.used()
        );
        // Nothing overflows, although PIE knows neither the load nor the link.
        let counts = pie.totals.counts();
        assert_eq!(counts.dropped(), counts.drops(Why::Early), "{load}");
        // The probability it needs is 1 - 1/load; it swings about it.
        assert!((pie.gauge("probability") - (1.0 - 1.0 / load)).abs() < 0.1, "{load}: {}", pie.gauge("probability"));
    }
}

#[test]
fn pie_drops_from_ecn_capable_packets_too_once_a_tenth_is_signaled() {
    // RFC 8033, section 5.1: a safeguard against those who ignore marks. Fifty flows with two packets or more in flight each
    // need more than a tenth.
    let few = run("pie", rate(10.0), &aimd(4, 100, true), 30).totals.counts().clone();
    let many = run("pie", rate(10.0), &aimd(50, 100, true), 30).totals.counts().clone();
    assert!(few.marked() > few.dropped() / 4 && many.dropped() > 10 * many.marked(), "{few:?} {many:?}");
    let all = run("pie:ecn_threshold=1", rate(10.0), &aimd(50, 100, true), 30).totals.counts().clone();
    // A probability of 1 drops them even then.
    assert!(all.marked() > 10 * all.dropped(), "{all:?}");
}

#[test]
fn cobalt_holds_to_its_target_against_senders_that_answer_and_against_a_flood() {
    // sch_cake.c: CoDel is excellent on flows that respond to signals, BLUE is more effective on those that do not.
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
        // As for CoDel.
        assert!(least <= 5.0 + 12.0 / mbit && used > 0.8, "{mbit} Mbit/s, {rtt} ms: {least} ms, {used} used");
    }
}

const DUAL_RTT: Span = Span::from_millis(10);
/// Packets of 1500 bytes, so 0.3 ms each.
const DUAL_LINK: Rate = Rate::from_bits(40_000_000);

/// So many Classic senders before so many Scalable ones, all with the same round trip, for a minute.
fn mixed(qdisc: &str, classic: usize, scalable: usize) -> LoopMeasurements {
    let mut senders = vec![LoopSender::Aimd { rtt: DUAL_RTT, ect: true }; classic];
    senders.extend(vec![LoopSender::Scalable { rtt: DUAL_RTT }; scalable]);
    run(qdisc, DUAL_LINK, &senders, 60)
}

#[test]
fn dualpi2_holds_classic_traffic_at_the_target_and_low_latency_traffic_at_the_threshold() {
    // Appendix A.1: 15 ms for Classic traffic, the ramp from 0.8 to 1.2 ms or Linux's step of 1 ms for the other. The
    // threshold says when marks begin, which act a round trip later: a packet in a hundred may wait a threshold more.
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
fn dualpi2_without_classic_traffic_swings_up_to_the_threshold() {
    // A step alone. Marks begin at 1 ms and act a round trip later, in which each sender puts out one packet more; one
    // packet of 0.3 ms more may be on the link.
    for senders in [2, 4, 8] {
        let seen = mixed("dualpi2:min_th=1ms,range=0s", 0, senders);
        let (peak, most) = (seen.delay_of(0, 0.99), 1.0 + 0.3 * (senders + 1) as f64);
        assert!((1.0..=most).contains(&peak), "{senders}: {peak} ms, not 1 to {most}");
    }
}

#[test]
fn dualpi2_lets_classic_and_scalable_flows_share_evenly() {
    // Sections 1.2 and 2.1. Per round trip R a Reno flow sends 1.22/sqrt(p_C) = 1.22/p', a Scalable one that loses half a
    // packet a mark and gains one a round trip of unmarked ones 2 (1 - p_CL)/p_CL = (1 - p_CL)/p'. With the queue, R is
    // 25 ms here for the one and 10 ms for the other: they are as 1 to 2.05 (1 - p_CL), p_CL being below 0.2. Uncoupled, the
    // Scalable flow takes what the scheduler leaves it, up to fifteen sixteenths.
    let ratio = |qdisc: &str| {
        let seen = mixed(qdisc, 1, 1);
        seen.shares[1] / seen.shares[0]
    };
    let (coupled, apart) = (ratio("dualpi2"), ratio("dualpi2:coupling_factor=0.001"));
    assert!((1.64..2.05).contains(&coupled) && apart > 5.0, "{coupled} {apart}");
}

/// Ten elastic flows, a call of 50 packets of 200 bytes a second, and a flood of twice the link.
fn household() -> Vec<LoopSender> {
    [aimd(10, 50, false), vec![LoopSender::Constant { rate: 50.0, bytes: 200 }, flood(2.0)]].concat()
}

#[test]
fn flow_queues_share_the_link_evenly_whatever_the_flows_ask_for() {
    // RFC 8290, section 1: isolation. So many queues that none is shared: of 1024, one of these flows has the flood's.
    for qdisc in ["fq_codel:flows=65536", "fq_pie:flows=65536"] {
        let seen = run(qdisc, rate(10.0), &household(), 30);
        // The call takes 0.8 %, the eleven others what is left: 9.0 % each, to within a sawtooth of the elastic ones.
        let call = 50.0 * 1600.0 / 10e6;
        assert!((seen.shares[10] / call - 1.0).abs() < 0.05, "{qdisc}: {}", seen.shares[10]);
        let fair = (1.0 - call) / 11.0;
        let shares = seen.shares[..10].iter().chain(&seen.shares[11..]);
        assert!(shares.clone().all(|share| (share / fair - 1.0).abs() < 0.05), "{qdisc}: {:?}", seen.shares);
    }
    let codel = run("codel", rate(10.0), &household(), 30);
    assert!(codel.shares[11] > 0.9, "without queues of their own: {:?}", codel.shares);
}

#[test]
fn a_flow_with_a_low_rate_has_a_short_delay_beside_any_other_flows() {
    // RFC 8290, section 1: low delay for sparse flows. At worst it waits for a turn of each of the eleven others, none of which
    // sends more than its quantum and the packet that overdraws it: 11 x (1514 + 1500) bytes, and the packet on the link.
    let worst = (11.0 * (1514.0 + 1500.0) + 1500.0) * 8.0 / 10e6 * 1000.0;
    for qdisc in ["fq_codel:flows=65536", "fq_pie:flows=65536"] {
        let seen = run(qdisc, rate(10.0), &household(), 30);
        assert!(seen.delay_of(10, 1.0) <= worst, "{qdisc}: {} ms, at most {worst}", seen.delay_of(10, 1.0));
    }
    let pie = run("pie", rate(10.0), &household(), 30);
    assert!(pie.delay_of(10, 0.99) > worst, "without queues of their own: {} ms", pie.delay_of(10, 0.99));
}

#[test]
fn a_flood_is_dropped_from_its_own_queue_and_other_delays_stay_short() {
    // Each queue is managed for itself: the elastic flows' delays stay where CoDel and PIE hold them, the call loses nothing.
    for qdisc in ["fq_codel:flows=65536,limit=1000p", "fq_pie:flows=65536,limit=1000p"] {
        let seen = run(qdisc, rate(10.0), &household(), 30);
        assert!((0..10).all(|flow| seen.delay_of(flow, 0.5) < 50.0), "{qdisc}: {} ms", seen.delay_of(0, 0.5));
        let counts = seen.totals.counts();
        // It asks for two links and gets a tenth of one: 1.9 of the 2 are dropped, over 40 s of 1250 packets a link.
        assert!(counts.dropped() as f64 > 1.85 * 1250.0 * 40.0, "{qdisc}: {counts:?}");
    }
}
