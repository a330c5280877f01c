//! The claims of the RED-PD paper at one queue: Mahajan, Floyd, Wetherall, ICNP 2001, section 5. The setting is the
//! paper's: 10 Mbit/s, packets of 1000 bytes, R = 40 ms, RED with thresholds of 10 and 33 of 50 packets. TCP flows are
//! plain AIMD senders. One test measures the gain of a sender whose bursts avoid the lists.

use aqm::disciplines::{Red, RedConfig, RedPd, RedPdConfig};
use aqm::parts::{MonitoredFlow, congestion_epoch, tcp_rate};
use aqm::{FlowId, LinkInfo, Params, Rate, Span, Time, Why};

use crate::verify::watched::{FlowTotals, SendPattern, WatchedRun, constant};

const LINK: Rate = Rate::from_bits(10_000_000);
/// Packets of 1000 bytes a second in one Mbit/s.
const MBIT: f64 = 125.0;
const R: Span = Span::from_millis(40);

/// RED-PD with the rule of the authors' engine, which produced the figures: unresponsive flows are dropped below minth
/// too.
fn red_pd(settings: &[(&str, &str)]) -> RedPd<()> {
    let settings = [&[("limit", "50p"), ("spare_unresponsive", "off")], settings].concat();
    RedPd::new(RedPdConfig::from_settings(&settings).unwrap(), &LinkInfo::new(LINK, 1000, 7)).unwrap()
}

/// The output queue alone.
fn red() -> Red<()> {
    let settings = [("limit", "50p"), ("minth", "10p"), ("maxth", "33p"), ("maxp", "0.1"), ("gentle", "on")];
    Red::new(RedConfig::from_settings(&settings).unwrap(), &LinkInfo::new(LINK, 1000, 7)).unwrap()
}

/// Counts from 20 s on, as in the paper, for 100 s.
fn paper(senders: &[SendPattern]) -> WatchedRun<'_> {
    WatchedRun { rate: LINK, senders, seed: 1, warmup: 20.0, end: 120.0 }
}

/// Each flow's rate in Mbit/s.
fn rates(run: &WatchedRun, flows: &FlowTotals) -> Vec<f64> {
    (0..run.senders.len()).map(|flow| run.rate_of(flows, flow) / MBIT).collect()
}

/// The drop rate at the output queue.
fn ambient(flows: &FlowTotals) -> f64 {
    let before = flows.dropped(&[Why::Prefilter, Why::Unresponsive]);
    flows.dropped(&[Why::Early, Why::Forced, Why::Overflow]) as f64 / (flows.arrived() - before) as f64
}

fn flow_of(queue: &RedPd<()>, flow: usize) -> Option<&MonitoredFlow> {
    queue.identification().monitored().iter().find(|(name, _)| *name == FlowId(flow as u64)).map(|(_, flow)| flow)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// One flow on a link so fast that RED drops nothing. All drops come from the fixed drop rate (section 5.1).
fn controlled(
    sender: SendPattern,
    drop_rate: &str,
    seed: u64,
    end: f64,
    mut watch: impl FnMut(Time, Option<&MonitoredFlow>),
) {
    let fast = Rate::from_bits(1_000_000_000);
    let settings = [("limit", "1000p"), ("minth", "900p"), ("maxth", "1000p"), ("P_testFRp_", drop_rate)];
    let queue = RedPd::new(RedPdConfig::from_settings(&settings).unwrap(), &LinkInfo::new(fast, 1000, 7)).unwrap();
    let run = WatchedRun { rate: fast, senders: &[sender], seed, warmup: 0.0, end };
    run.through(queue, |now, queue: &RedPd<()>| watch(now, flow_of(queue, 0)));
}

#[test]
fn the_probability_of_identification_rises_with_the_rate_as_computed_from_the_lists() {
    // Figure 9, for constant senders. A flow of g f(R, p) sends n = g f B packets per list, and is in a list with
    // probability q = 1 - (1 - p)^n. It is identified within five lists if it is in at least three of them.
    const SEEDS: u64 = 1000;
    let (f, list) = (tcp_rate(R, 0.01), 0.6 * congestion_epoch(R, 0.01));
    let identified = |sender: SendPattern| {
        let found = |seed: &u64| {
            let mut found = false;
            controlled(sender, "0.01", *seed, 5.0 * list + 0.05, |_, flow| found |= flow.is_some());
            found
        };
        (0..SEEDS).filter(found).count() as f64 / SEEDS as f64
    };
    for times in [0.5, 1.0, 2.0, 4.0] {
        let q: f64 = 1.0 - 0.99f64.powf(times * f * list);
        let expected = 10.0 * q.powi(3) * (1.0 - q).powi(2) + 5.0 * q.powi(4) * (1.0 - q) + q.powi(5);
        let seen = identified(constant(times * f));
        // Five standard deviations, and 0.01 for the varying number of packets in a list.
        let tolerance = 5.0 * (expected * (1.0 - expected) / SEEDS as f64).sqrt() + 0.01;
        assert!((seen - expected).abs() < tolerance, "{times} f(R, p): {seen} of {expected}");
    }
    // A TCP flow at the target rate reduces its rate after losses, so it is identified less often.
    let (tcp, constant) = (identified(SendPattern::Aimd { rtt: 0.04 }), identified(constant(f)));
    assert!(tcp < constant / 2.0, "{tcp} {constant}");
}

#[test]
fn constant_flows_of_many_rates_get_their_max_min_shares() {
    // Figure 10: 0.1 Mbit/s, 0.5, and so on in steps of 0.5 to 5.
    let demands: Vec<f64> = std::iter::once(0.1).chain((1..=10).map(|n| 0.5 * f64::from(n))).collect();
    let senders: Vec<SendPattern> = demands.iter().map(|demand| constant(demand * MBIT)).collect();
    let run = paper(&senders);
    let mut monitored = [0u32; 11];
    let mut packets = 0;
    let held = run.through(red_pd(&[]), |_, queue| {
        packets += 1;
        queue.identification().monitored().iter().for_each(|(flow, _)| monitored[flow.0 as usize] += 1);
    });
    // With RED all flows lose 1 - 10/27.6 of their packets ("63%").
    let plain = run.through(red(), |_, _| {});
    let [red_drops, drops] = [ambient(&plain), ambient(&held)];
    assert!((red_drops - (1.0 - 10.0 / 27.6)).abs() < 0.01, "{red_drops}");
    assert!(drops < 0.05, "the paper: about 4 %; {drops}");
    let (rates, share) = (rates(&run, &held), 9.4 / 9.0);
    assert!(rates[0] > 0.094 && rates[1] > 0.94 * 0.5, "below the share: {rates:?}");
    assert!(rates[2..].iter().all(|rate| (rate / share - 1.0).abs() < 0.25), "roughly their fair share: {rates:?}");
    // Section 5.1: a flow below the target is monitored only for a short time, a flow above it always.
    let part = |flow: usize| f64::from(monitored[flow]) / f64::from(packets);
    assert!(part(0) < 0.15 && (3..11).all(|flow| part(flow) > 0.95), "{monitored:?} of {packets}");
}

#[test]
fn a_flow_above_the_target_rate_is_reduced_to_about_that_rate() {
    // Figure 11: nine TCP flows with round-trip times around 30, 50 and 70 ms, and constant flows of 5, 3 and 1 Mbit/s.
    let rtts = [0.030, 0.031, 0.032, 0.050, 0.051, 0.052, 0.070, 0.071, 0.072];
    let mut senders: Vec<SendPattern> = rtts.iter().map(|rtt| SendPattern::Aimd { rtt: *rtt }).collect();
    senders.extend([5.0, 3.0, 1.0].map(|rate| constant(rate * MBIT)));
    let run = paper(&senders);
    let (held, plain) = (run.through(red_pd(&[]), |_, _| {}), run.through(red(), |_, _| {}));
    let (seen, before) = (rates(&run, &held), rates(&run, &plain));
    let target = tcp_rate(R, ambient(&held)) / MBIT;
    // "Nearby the target bandwidth": not above, because a flow's probability decreases only after five lists without
    // it, and at least half of it.
    assert!(seen[9..].iter().all(|rate| (0.5..1.1).contains(&(rate / target))), "{target}: {seen:?}");
    assert!(before[9] > 3.0 && mean(&seen[..9]) > 2.0 * mean(&before[..9]), "{before:?} {seen:?}");
    // "Roughly the same throughput" for all three flows; RED gives 5:3:1.
    assert!(seen[9] / seen[11] < 1.5 && before[9] / before[11] > 4.0, "{before:?} {seen:?}");
}

#[test]
fn a_flow_is_identified_when_its_rate_rises_and_released_when_it_falls() {
    // Figure 12: nine TCP flows of 30 to 70 ms, and a flow of 0.25 Mbit/s that sends 4 Mbit/s from 50 s to 100 s.
    let mut senders: Vec<SendPattern> =
        (0..9).map(|n| SendPattern::Aimd { rtt: 0.030 + 0.005 * f64::from(n) }).collect();
    senders.push(constant(0.25 * MBIT));
    senders.push(SendPattern::Constant { rate: 4.0 * MBIT, from: 50.0, to: 100.0 });
    let run = WatchedRun { warmup: 65.0, end: 100.0, ..paper(&senders) };
    let (mut found, mut last) = (None, 0.0);
    let held = run.through(red_pd(&[]), |now, queue| {
        if flow_of(queue, 10).is_some() {
            found.get_or_insert(now.as_secs_f64());
        }
    });
    let found = found.expect("it is monitored");
    assert!((50.0..50.5).contains(&found), "the paper: in less than 0.5 s; at {found}");
    let (rate, target) = (run.rate_of(&held, 10) / MBIT, tcp_rate(R, ambient(&held)) / MBIT);
    assert!(rate < 1.2 * target, "{rate} {target}");
    WatchedRun { end: 160.0, ..run }.through(red_pd(&[]), |now, queue| {
        if flow_of(queue, 10).is_some() {
            last = now.as_secs_f64();
        }
    });
    // Its probability was below 0.9. For an unresponsive flow it falls in 17 steps of 0.05 to 0.075, then in 9 steps by
    // the factor 1.5 to 0.0025. A step takes five lists; a list lasts at most 10 R.
    assert!((100.0..100.0 + 27.0 * 5.0 * 0.4).contains(&last), "{last}");
}

/// Figure 13: two TCP flows each of 40, 80 and 120 ms, and eight of 160 ms.
fn figure_13() -> Vec<SendPattern> {
    let rtts = [0.040, 0.040, 0.080, 0.080, 0.120, 0.120].into_iter().chain([0.160; 8]);
    rtts.map(|rtt| SendPattern::Aimd { rtt }).collect()
}

#[test]
fn the_longer_the_target_rtt_the_fewer_the_drops_at_the_queue_and_the_fairer_the_shares() {
    let senders = figure_13();
    let run = paper(&senders);
    let plain = run.through(red(), |_, _| {});
    let seen = ["10ms", "40ms", "80ms", "170ms"].map(|r| run.through(red_pd(&[("R", r)]), |_, _| {}));
    let drops = seen.each_ref().map(ambient);
    assert!(drops.is_sorted_by(|a, b| a > b) && drops[3] < ambient(&plain) / 5.0, "{drops:?}");
    let fast = |flows: &FlowTotals| mean(&rates(&run, flows)[..2]);
    let slow = |flows: &FlowTotals| mean(&rates(&run, flows)[6..]);
    // Below 40 ms the shares are "essentially the same as" those with RED.
    assert!((fast(&seen[0]) / fast(&plain) - 1.0).abs() < 0.1, "{} {}", fast(&seen[0]), fast(&plain));
    assert!(fast(&seen[1]) < 0.75 * fast(&plain) && fast(&seen[3]) < fast(&seen[1]));
    assert!(seen.each_ref().map(slow).is_sorted() && slow(&seen[3]) > 1.4 * slow(&plain));
}

#[test]
fn dynamic_r_holds_the_target_drop_rate_or_the_target_number_of_monitored_flows() {
    let senders = figure_13();
    let run = WatchedRun { warmup: 40.0, end: 240.0, ..paper(&senders) };
    let averages = |settings: &[(&str, &str)]| {
        let (mut packets, mut drops, mut flows) = (0.0, 0.0, 0.0);
        run.through(red_pd(settings), |now, queue| {
            if now.as_secs_f64() >= run.warmup {
                packets += 1.0;
                drops += queue.identification().drop_rate();
                flows += queue.identification().monitored().len() as f64;
            }
        });
        (drops / packets, flows / packets)
    };
    for (target, text) in [(0.01, "0.01"), (0.02, "0.02"), (0.03, "0.03")] {
        let (drops, _) = averages(&[("dynamic_r", "drop_rate"), ("drop_rate_target", text)]);
        // The drop rate settles between half the target and the target.
        assert!((target / 2.0..=target).contains(&drops), "{target}: {drops}");
    }
    for (target, text) in [(6.0, "6"), (10.0, "10")] {
        let (_, flows) = averages(&[("dynamic_r", "monitored"), ("monitored_target", text)]);
        assert!((flows - target).abs() < 1.5, "{target}: {flows}");
    }
}

#[test]
fn constant_flows_are_found_unresponsive_soon_and_tcp_flows_later_or_never() {
    // Section 7. At three times the target rate and drop rates of 0.3, 1 and 5 %, for a minute.
    const SEEDS: u64 = 20;
    let found = |sender: SendPattern, drop_rate: &str| -> (f64, f64) {
        let (mut all, mut flagged) = (0.0, 0.0);
        let after = (0..SEEDS).map(|seed| {
            let mut first = 60.0f64;
            controlled(sender, drop_rate, seed, 60.0, |now, flow| {
                let unresponsive = flow.is_some_and(|flow| flow.unresponsive);
                (all, flagged) = (all + 1.0, flagged + f64::from(u8::from(unresponsive)));
                if unresponsive {
                    first = first.min(now.as_secs_f64());
                }
            });
            first
        });
        (after.sum::<f64>() / SEEDS as f64, flagged / all)
    };
    for drop_rate in ["0.003", "0.01", "0.05"] {
        let f = tcp_rate(R, drop_rate.parse().unwrap());
        let (soon, nearly_all) = found(constant(3.0 * f), drop_rate);
        let (later, part) = found(SendPattern::Aimd { rtt: 0.040 / 3.0 }, drop_rate);
        assert!(soon < 12.0 && nearly_all > 0.8, "{drop_rate}: {soon} {nearly_all}");
        // "Can have false positives": lists are short, and the few drops in a list vary more than a TCP flow's rate.
        assert!(later > 2.0 * soon && part < 0.6, "{drop_rate}: {later} {part}");
    }
}

#[test]
fn bursts_that_avoid_the_lists_gain_at_most_three_times_the_fair_share() {
    // Footnote 1. Nine TCP flows of 50 to 90 ms and one more sender; the fair share is 1 Mbit/s.
    let tcps: Vec<SendPattern> = (0..9).map(|n| SendPattern::Aimd { rtt: 0.050 + 0.005 * f64::from(n) }).collect();
    // The sender's rate, the share of packets during which it was monitored, and the drop rate at the queue.
    let gain = |sender: SendPattern| {
        let senders = [&tcps[..], &[sender]].concat();
        let run = paper(&senders);
        let (mut packets, mut monitored) = (0.0, 0.0);
        let flows = run.through(red_pd(&[]), |_, queue| {
            packets += 1.0;
            monitored += f64::from(u8::from(flow_of(queue, 9).is_some()));
        });
        (rates(&run, &flows)[9], monitored / packets, ambient(&flows))
    };
    let steady = [1.0, 2.0, 10.0].map(|rate| gain(constant(rate * MBIT)));
    let (mut any, mut unseen): (f64, (f64, f64)) = (0.0, (0.0, 0.0));
    for on in [0.02, 0.04, 0.08, 0.12, 0.2] {
        for period in [0.4, 0.7, 1.0, 2.0] {
            for rate in [10.0, 40.0] {
                let (got, monitored, drops) = gain(SendPattern::Bursts { rate: rate * MBIT, on, period });
                any = any.max(got);
                if monitored < 0.1 && got > unseen.0 {
                    unseen = (got, drops);
                }
            }
        }
    }
    assert!(steady.iter().all(|(got, ..)| *got < 2.1), "at a constant rate: {steady:?}");
    assert!((1.5..2.1).contains(&unseen.0), "without being monitored: {unseen:?}");
    assert!((2.5..3.6).contains(&any), "at best: {any}");
    // The attack costs the other flows packets too.
    assert!(unseen.1 > 8.0 * steady[0].2, "{unseen:?} {steady:?}");
    let senders = [&tcps[..], &[constant(10.0 * MBIT)]].concat();
    let run = paper(&senders);
    let plain = rates(&run, &run.through(red(), |_, _| {}))[9];
    assert!(plain > 7.0, "with RED alone: {plain}");
}
