//! Claims about disciplines that detect heavy hitters.

use aqm::disciplines::{Hhf, HhfConfig};
use aqm::parts::{AveragingTime, RateAverage};
use aqm::{FlowId, LinkInfo, Packet, Port, Rate, Rng, Span, Time, Why};

use crate::verify::link::{CAPACITY, LinkFlow, LinkTotals, against, flow, run};

/// A hundred light flows that together demand `share` of the link's rate, and one flow for each of `others`, a multiple
/// of the link's rate.
fn light(share: f64, others: &[f64]) -> Vec<LinkFlow> {
    let mut all = vec![flow(share * CAPACITY / 100.0); 100];
    all.extend(others.iter().map(|times| flow(times * CAPACITY)));
    all
}

/// The rate of the hundred light flows together, in packets a second.
fn of_light(seen: &LinkTotals) -> f64 {
    (0..100).map(|flow| seen.rate(flow)).sum()
}

#[test]
fn breathe_under_congestion_limits_a_heavy_flow_to_just_below_r_limit() {
    // Chang and Lin, section 3.1, with k = C/r_limit counters, none of which stays free. Each time all counters are
    // lowered, k counted packets and the arriving one cancel, so this happens C/(k + 1) times a second. A flow that is
    // always in the set is admitted once each time, at any rate. Over 80 s one packet is a third of a percent.
    for (r_limit, counters) in [("800kbit/s", 10.0), ("400kbit/s", 20.0), ("200kbit/s", 40.0)] {
        for times in [1.0, 5.0, 20.0] {
            let seen = run(&format!("breathe:limit=200p,r_limit={r_limit}"), &light(1.2, &[times]));
            let expected = CAPACITY / (counters + 1.0);
            assert!((seen.rate(100) / expected - 1.0).abs() < 0.01, "{r_limit} x{times}: {}", seen.rate(100));
        }
    }
}

#[test]
fn breathe_limits_heavy_flows_to_the_same_rate_whatever_they_send() {
    // Section 4: BREATHe bounds every flow's throughput, as scheduling does.
    let seen = run("breathe:limit=200p,r_limit=400kbit/s", &light(1.0, &[0.2, 0.5, 1.0, 2.0, 5.0]));
    let expected = CAPACITY / 21.0;
    assert!((100..105).all(|flow| (seen.rate(flow) / expected - 1.0).abs() < 0.01), "{:?}", &seen.rates[100..]);
}

#[test]
fn breathe_protects_other_flows_and_gives_a_heavy_flow_the_remaining_rate() {
    // Section 4, where RED gives the heavy flows nearly the whole link. The light flows demand 90 % of the link, the
    // heavy flow five times the link.
    let [breathe, red] =
        ["breathe:limit=200p,r_limit=800kbit/s", "red:limit=200p"].map(|qdisc| run(qdisc, &light(0.9, &[5.0])));
    assert!(
        of_light(&breathe) > 0.95 * 900.0 && of_light(&red) < 0.2 * 900.0,
        "{} {}",
        of_light(&breathe),
        of_light(&red)
    );
    assert!((of_light(&breathe) + breathe.rate(100) - CAPACITY).abs() < 1.0, "the link is never idle");
    assert!(breathe.counts.drops(Why::HeavyHitter) > breathe.counts.dropped() * 99 / 100);
}

#[test]
fn breathe_with_as_many_counters_as_flows_keeps_all_of_them_in_the_set() {
    // Every flow has a counter, so no counter is ever lowered. From minth on all packets are dropped, and no flow is
    // protected.
    let seen = run("breathe:limit=200p,r_limit=800kbit/s", &against(5.0, 9));
    assert_eq!((seen.gauge("heavy_hitters"), seen.counts.drops(Why::HeavyHitter)), (10.0, seen.counts.dropped()));
    assert!(seen.rate(9) > 300.0, "{}", seen.rate(9));
}

/// Max-min fair shares of `capacity` for `demands`.
fn max_min(demands: &[f64], capacity: f64) -> Vec<f64> {
    let mut sorted = demands.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut left, mut flows) = (capacity, demands.len() as f64);
    for demand in sorted {
        if demand * flows >= left {
            break;
        }
        (left, flows) = (left - demand, flows - 1.0);
    }
    demands.iter().map(|demand| demand.min(left / flows)).collect()
}

/// The largest relative deviation of a flow's rate from its fair share, from flow `first` on.
fn worst(seen: &LinkTotals, fair: &[f64], first: usize) -> f64 {
    fair.iter().enumerate().skip(first).map(|(flow, fair)| (seen.rate(flow) / fair - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn csfq_divides_a_link_equally_among_flows_that_demand_more() {
    // Stoica, Shenker and Zhang, section 3.1 and figure 5: flow i of 32 demands i + 1 times the fair share. A fair
    // share over 80 s is 2500 packets, each admitted at random: five standard deviations are 10 %. The estimated rate
    // of the first flow fluctuates around the fair share. Its drops above the share are not made up for below it.
    let demands: Vec<f64> = (1..=32).map(|times| f64::from(times) * CAPACITY / 32.0).collect();
    for qdisc in ["csfq:limit=64KB", "csfq:limit=200p", "csfq:preset=ns2"] {
        let seen = run(qdisc, &demands.iter().map(|demand| flow(*demand)).collect::<Vec<_>>());
        let fair = vec![CAPACITY / 32.0; 32];
        assert!(worst(&seen, &fair, 1) < 0.10 && worst(&seen, &fair, 0) < 0.15, "{qdisc}: {:?}", seen.rates);
    }
}

#[test]
fn csfq_shares_max_min_fairly() {
    // Section 2: a flow that demands less than the fair share gets its demand, and the others divide the rest.
    let demands = [20.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0];
    let fair = max_min(&demands, CAPACITY);
    assert_eq!(fair, [20.0, 50.0, 100.0, 200.0, 210.0, 210.0, 210.0]);
    for qdisc in ["csfq:limit=64KB", "csfq:preset=ns2"] {
        // The slowest flow has 1600 packets, a fast flow 16 800: five standard deviations are 12.5 % and 3.9 %.
        let seen = run(qdisc, &demands.map(flow));
        assert!(worst(&seen, &fair, 3) < 0.04 && worst(&seen, &fair, 0) < 0.125, "{qdisc}: {:?}", seen.rates);
    }
}

#[test]
fn csfq_lets_a_burst_exceed_its_share_by_no_more_than_theorem_1_says() {
    // With alpha constant and rates up to R, the excess over alpha t is at most alpha K (1 + ln(R/alpha)) + l.
    let (k, alpha, bytes) = (Span::from_millis(100), 1e5, 1000);
    for times in [1.5, 3.0, 10.0, 100.0, 1000.0] {
        let (mut rate, mut let_in, mut most) = (RateAverage::default(), 0.0, 0.0_f64);
        let gap = f64::from(bytes) / (times * alpha);
        for n in 0..(2.0 / gap) as u32 {
            let t = f64::from(n) * gap;
            let label = rate.update(bytes, Time::ZERO + Span::from_secs_f64(t), AveragingTime::new(k));
            let_in += f64::from(bytes) * (alpha / label).min(1.0);
            most = most.max(let_in - alpha * t);
        }
        let bound = alpha * k.as_secs_f64() * (1.0 + f64::ln(times)) + f64::from(bytes);
        assert!(most < bound && most > 0.5 * (bound - f64::from(bytes)), "x{times}: {most} of {bound}");
    }
}

#[test]
fn afd_shares_max_min_fairly_by_dropping_in_proportion_to_the_excess() {
    // Pan and others, section 2: each flow above m_fair loses 1 - m_fair/m_i. Ten flows demand one to ten fair shares;
    // the second case has the seven flows of the CSFQ test. Five standard deviations of the admitted packets are below
    // 6 % for all limited flows. A flow that demands exactly the fair share loses its random excess: the standard
    // deviation of its m_i, 1/sqrt(180) of it, times sqrt(2/pi)/2, in addition to the 6 %.
    let even: Vec<f64> = (1..=10).map(|times| f64::from(times) * 100.0).collect();
    let mixed = [20.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0];
    for demands in [&even[..], &mixed] {
        let seen = run(
            "afd:limit=200p,shadow=10000,sample=1",
            &demands.iter().map(|demand| flow(*demand)).collect::<Vec<_>>(),
        );
        let fair = max_min(demands, CAPACITY);
        assert!(worst(&seen, &fair, 1) < 0.06 && worst(&seen, &fair, 0) < 0.09, "{:?} {:?}", seen.rates, fair);
        assert_eq!(seen.counts.dropped(), seen.counts.drops(Why::Early), "the queue stays below its limit");
    }
}

#[test]
fn afds_m_fair_converges_to_the_value_that_fills_the_link() {
    // A flow with the fair share of 210 among 3170 packets a second has 10 000 x 210/3170 entries in the shadow buffer.
    // The tolerance is 20 %: the queue fluctuates by 40 packets, each worth almost two of m_fair.
    let demands = [20.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0];
    let seen = run("afd:limit=200p,shadow=10000,sample=1", &demands.map(flow));
    let expected = 10_000.0 * 210.0 / 3170.0;
    assert!((seen.gauge("m_fair") / expected - 1.0).abs() < 0.2, "{} {expected}", seen.gauge("m_fair"));
}

#[test]
fn afd_with_a_shadow_buffer_too_small_to_find_a_fair_flow_is_less_fair() {
    // This is why BREATHe's authors gave AFD 30 000 packets. In a shadow buffer of a hundred, a fair flow has about two
    // entries, with an equally large deviation.
    let demands: Vec<LinkFlow> = (1..=10).map(|times| flow(f64::from(times) * 100.0)).collect();
    let fair = [100.0; 10];
    let [small, large] =
        ["100", "10000"].map(|b| worst(&run(&format!("afd:limit=200p,shadow={b}"), &demands), &fair, 0));
    assert!(small > 4.0 * large, "{small} {large}");
}

#[test]
fn hhf_finds_flows_above_25_mbits_and_no_others() {
    // sch_hhf.c: 128 KiB in 40 ms are about 26 Mbit/s. Twenty flows send packets of 1000 bytes at a constant rate on a
    // link of 1 Gbit/s, for a second. The last flow has the rate under test.
    let found = |megabits: f64| {
        let link = LinkInfo::new(Rate::from_bits(1_000_000_000), 1000, 7);
        let mut port = Port::new(Hhf::new(HhfConfig::default(), &link).unwrap(), Rng::new(1));
        let mut arrivals: Vec<(Time, u64)> = (0..20)
            .flat_map(|flow| {
                let gap = 8000.0 / (if flow == 19 { megabits } else { 20.0 } * 1e6);
                (1..=(1.0 / gap) as u32).map(move |n| (Time::ZERO + Span::from_secs_f64(f64::from(n) * gap), flow))
            })
            .collect();
        arrivals.sort();
        for (now, flow) in arrivals {
            port.enqueue(Packet::new(FlowId(flow), 1000, ()), now, &mut ());
            port.dequeue(now, &mut ());
        }
        let now = Time::ZERO + Span::from_secs(1);
        (0..20).filter(|flow| port.discipline().is_heavy(FlowId(*flow), now)).collect::<Vec<u64>>()
    };
    assert_eq!([found(20.0), found(26.0), found(26.5), found(100.0)], [vec![], vec![], vec![19], vec![19]]);
}

/// Here a flow is heavy above 20 packets in 40 ms, half the link's rate. Each of the hundred other flows sends at most
/// 12 packets a second.
fn hhf(limit: &str, share: f64, times: f64) -> LinkTotals {
    run(&format!("hhf:limit={limit},admit_bytes=20KB"), &light(share, &[times]))
}

#[test]
fn hhf_gives_heavy_flows_a_third_of_the_link_while_the_buffer_is_not_full() {
    // Weights are 1 and 2. Both classes demand more, and the buffer holds all arrivals of 100 s.
    for times in [1.0, 2.0, 5.0] {
        let seen = hhf("1000000p", 1.2, times);
        assert!((seen.rate(100) - CAPACITY / 3.0).abs() < 1.0, "x{times}: {}", seen.rate(100));
    }
}

#[test]
fn hhf_gives_light_flows_their_demand_up_to_their_weight_and_at_least_their_weight_above() {
    // The tolerance is five standard deviations of the light flows' packets in 80 s.
    for (share, times) in [(0.5, 2.0), (0.5, 20.0), (0.6, 5.0)] {
        let (seen, all) = (hhf("200p", share, times), share * CAPACITY);
        assert!((of_light(&seen) - all).abs() < 5.0 * (all / 80.0).sqrt(), "{share} x{times}: {}", of_light(&seen));
        assert!((of_light(&seen) + seen.rate(100) - CAPACITY).abs() < 1.0, "{share} x{times}: {:?}", seen.rates);
    }
    // A full buffer drops packets of heavy flows first, so heavy flows get less than their weight.
    for (share, times) in [(0.9, 5.0), (1.2, 2.0)] {
        let seen = hhf("200p", share, times);
        assert!(seen.rate(100) < 0.9 * CAPACITY / 3.0, "{share} x{times}: {}", seen.rate(100));
        assert!((of_light(&seen) + seen.rate(100) - CAPACITY).abs() < 1.0, "{share} x{times}: {:?}", seen.rates);
    }
}
