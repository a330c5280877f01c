//! What flows get depends on what they are, not on their order, on the unit of time, or on how long one looks.

use headgate_measure::Outcome;
use headgate_scenario::{Cc, Changes, Scenario};
use headgate_sim::run;

/// Runs flows behind RED, which treats equal flows alike, on `rate` Mbit/s.
fn go(rate: f64, rtt_ms: f64, seconds: [f64; 2], flows: &str, seed: u64) -> Outcome {
    let bdp = (rate * 1e6 * rtt_ms / 1e3 / 8.0 / 1500.0).ceil();
    let [warmup, duration] = seconds.map(|seconds| (seconds * 1e6).round());
    let text = format!(
        "name = 't'\nduration = '{duration}us'\nwarmup = '{warmup}us'\nqdiscs = ['red:minth={}p,maxth={}p,maxp=0.1']\n\
         [link]\nrate = '{rate}Mbit/s'\ndelay = '{}us'\nlimit = '{}p'\n{flows}",
        (bdp / 4.0).ceil().max(5.0),
        (bdp * 0.75).ceil().max(15.0),
        rtt_ms * 500.0,
        (2.0 * bdp).max(40.0),
    );
    let scenario = Scenario::read(&text, "t", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &scenario.qdiscs[0], seed, &mut ()).unwrap_or_else(|error| panic!("{error}"))
}

fn group(cc: Cc, name: &str, start_ms: u32, ecn: bool) -> String {
    format!(
        "[[tcp]]\nname = '{name}'\ncc = '{}'\nstart = '{start_ms}ms'\necn = {ecn}\n\
         access = {{ rate = '10Gbit/s', delay = '0s' }}\nwindow = 10000\n",
        cc.name()
    )
}

fn goodputs(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.goodput_bps).collect()
}

/// How far the shares of two equal flows may be apart after a long time. Delay-based controls keep what they measured
/// first: Vegas its minimum, LEDBAT the queue that it met (RFC 6817, section 4.4). BBR's flows know each other's queue only
/// once in ten seconds.
fn tolerance(cc: Cc) -> f64 {
    match cc {
        Cc::Vegas | Cc::Ledbat => 0.6,
        Cc::Bbr | Cc::Bbr3 => 0.35,
        _ => 0.15,
    }
}

#[test]
fn two_equal_flows_share_equally_over_a_long_time() {
    for cc in Cc::ALL {
        for ecn in [false, true] {
            let flows = group(*cc, "a", 0, ecn) + &group(*cc, "b", 37, ecn);
            let sums = (1..=3).map(|seed| goodputs(&go(20.0, 20.0, [10.0, 130.0], &flows, seed)));
            let [a, b] = sums.fold([0.0, 0.0], |[a, b], each| [a + each[0], b + each[1]]);
            let part = a / (a + b);
            assert!((part - 0.5).abs() < tolerance(*cc) / 2.0, "{} (ECN {ecn}): {part:.3}", cc.name());
        }
    }
}

#[test]
fn permuting_the_groups_permutes_the_results() {
    for cc in Cc::ALL {
        let (a, b) = (group(*cc, "a", 0, true), group(Cc::Reno, "b", 37, false));
        let one = goodputs(&go(20.0, 20.0, [1.0, 20.0], &(a.clone() + &b), 1));
        let other = goodputs(&go(20.0, 20.0, [1.0, 20.0], &(b + &a), 1));
        assert_eq!(one, [other[1], other[0]], "{}", cc.name());
    }
}

/// Ten times the rate with ten times the buffer, at a tenth of the round trip: packets meet the same queues, only faster.
#[test]
fn scaling_rate_and_buffer_scales_goodput() {
    for cc in Cc::ALL {
        let flow = group(*cc, "a", 0, false);
        let slow = goodputs(&go(5.0, 40.0, [20.0, 120.0], &flow, 1))[0];
        let fast = goodputs(&go(20.0, 40.0, [20.0, 120.0], &flow, 1))[0];
        assert!((fast / slow / 4.0 - 1.0).abs() < 0.12, "{}: {fast:.0} and {slow:.0}", cc.name());
    }
}

#[test]
fn a_steady_rate_does_not_depend_on_how_long_one_looks() {
    for cc in Cc::ALL {
        let flow = group(*cc, "a", 0, false);
        let once = goodputs(&go(10.0, 40.0, [20.0, 80.0], &flow, 1))[0];
        let twice = goodputs(&go(10.0, 40.0, [20.0, 140.0], &flow, 1))[0];
        assert!((twice / once - 1.0).abs() < 0.05, "{}: {once:.0} and {twice:.0}", cc.name());
    }
}
