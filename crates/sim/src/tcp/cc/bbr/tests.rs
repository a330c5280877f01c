//! One flow on a link of 1000 segments per second. The round trip takes 50 ms and the transmission of a segment 1 ms,
//! so the BDP is 51 segments.

use aqm::{Rng, Span, Time};

use super::controls::QUANTA;
use super::*;
use crate::tcp::cc::path::test_path::TestPath;
use crate::tcp::rate_sample::DeliveryState;

const BDP: f64 = 51.0;

/// A flow on the path with `room` segments of buffer; `seed` chooses the first phase of ProbeBW.
fn flow(room: u32, seed: u64) -> TestPath<Bbr> {
    TestPath::new(Bbr::new, seed, 1000.0, Span::from_millis(50), room)
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

#[test]
fn startup_doubles_the_bandwidth_each_round_and_ends_three_rounds_after_it_stops_growing() {
    let mut flow = flow(1000, 1);
    let mut by_round = Vec::new();
    flow.run(at(2.0), |flow| {
        if flow.model.state == BbrState::Startup && flow.model.rounds.started() {
            by_round.push(flow.model.bandwidth());
        }
    });
    // The first round measures a single segment. The second measures the initial window: 10 segments in 51 ms. From
    // there to 1000 a second, doubling takes three rounds (2 x 2 x 2 > 5.1), and no round grows by more than the gain.
    let grown = by_round.iter().position(|bw| *bw > 990.0).expect("the link's rate is found");
    assert!((by_round[1] - 10.0 / 0.051).abs() < 0.1 && grown == 4, "{by_round:?}");
    assert!(by_round[1..].windows(2).all(|pair| pair[1] / pair[0] <= HIGH_GAIN), "{by_round:?}");
    assert_eq!(by_round.len() - 1 - grown, 2, "the third round without growth is Drain's first: {by_round:?}");
}

#[test]
fn drain_empties_the_queue() {
    let mut flow = flow(1000, 1);
    let (mut began, mut queue) = (None, 0.0);
    let mut ended = None;
    flow.run(at(2.0), |flow| match flow.model.state {
        BbrState::Drain if began.is_none() => (began, queue) = (Some(flow.now), flow.queued()),
        BbrState::ProbeBw if ended.is_none() => ended = Some((flow.now, flow.queued())),
        _ => {}
    });
    let (began, (ended, left)) = (began.unwrap(), ended.unwrap());
    // Startup's window is 2.885 times the BDP.
    assert!(queue > 0.9 * BDP, "{queue}");
    // `inflight(1.0)` adds three quanta to the BDP, and a fourth to reach an even number.
    assert!(left <= QUANTA + 1.0, "{left}");
    // Drain sends at 0.99/2.885 of the link's rate, so the queue shrinks by the rest of that rate. The tolerance covers
    // segments that were already on the way.
    let lasted = (ended - began).as_secs_f64();
    let expected = (queue - left) / 1000.0 / (1.0 - 0.99 / HIGH_GAIN);
    assert!((lasted - expected).abs() < 0.01, "{lasted} s rather than {expected}");
}

#[test]
fn the_cycle_of_gains_goes_round_in_eight_phases_of_a_round_trip() {
    let mut flow = flow(1000, 1);
    let mut phases: Vec<(Time, f64, u32)> = Vec::new();
    flow.run(at(9.0), |flow| {
        let gain = flow.model.pacing_gain();
        if flow.model.state == BbrState::ProbeBw && flow.now == flow.model.phase_at {
            phases.push((flow.now, gain, flow.in_flight()));
        }
    });
    let first = phases.iter().position(|(_, gain, _)| *gain == 1.25).unwrap();
    let cycles: Vec<Vec<f64>> = phases[first..].chunks_exact(8).map(|c| c.iter().map(|p| p.1).collect()).collect();
    assert!(cycles.len() > 15);
    assert!(cycles.iter().all(|cycle| cycle[..] == CYCLE), "{cycles:?}");
    for pair in phases[first..].windows(2) {
        let ((began, gain, _), (ended, _, inflight)) = (pair[0], pair[1]);
        let lasted = (ended - began).as_secs_f64();
        // A phase lasts more than a minimum round-trip time. It ends with the next acknowledgement, about a millisecond
        // later.
        let long = (0.051..0.053).contains(&lasted);
        match gain {
            1.0 => assert!(long, "{lasted}"),
            1.25 => assert!(lasted > 0.051 && f64::from(inflight) >= 1.25 * BDP, "{lasted} {inflight}"),
            _ => assert!(long || f64::from(inflight) <= BDP + QUANTA + 1.0, "{lasted} {inflight}"),
        }
    }
}

#[test]
fn flows_enter_the_cycle_at_any_phase_but_the_draining_one() {
    let mut seen = [0; 8];
    for seed in 0..700 {
        let mut bbr = Bbr::new(&TcpSettings::default());
        bbr.seed(&mut Rng::new(seed));
        bbr.enter_probe_bw(Time::ZERO);
        seen[bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0, "the phase of 0.75 would find no queue to drain");
    // Each of seven phases is expected 100 times, with a standard deviation of sqrt(700 x 1/7 x 6/7) = 9.3. The
    // tolerance is five of these.
    assert!(seen.iter().enumerate().all(|(phase, n)| phase == 1 || (54..=146).contains(n)), "{seen:?}");
}

#[test]
fn a_lone_flow_finds_the_bandwidth_keeps_the_link_busy_and_queues_less_than_one_bdp() {
    let mut flow = flow(1000, 2);
    let (mut most, mut before) = (0.0_f64, 0);
    flow.run(at(3.0), |flow| before = flow.delivered());
    flow.run(at(9.0), |flow| {
        assert!((flow.model.bandwidth() - 1000.0).abs() <= 10.0, "{}", flow.model.bandwidth());
        most = most.max(flow.queued());
    });
    // Pacing at 0.99 leaves 1 % of the link's time idle. Draining at 0.75 after a probe may add a little.
    assert!(f64::from(flow.delivered() - before) > 0.98 * 6000.0, "{}", flow.delivered() - before);
    // A probe adds a quarter of the BDP to the queue before it.
    assert!(most <= 0.5 * BDP, "{most}");
}

#[test]
fn probe_rtt_comes_every_ten_seconds_for_200_ms_with_four_segments() {
    let mut flow = flow(1000, 1);
    let mut entered: Vec<Time> = Vec::new();
    let (mut left, mut small) = (Vec::new(), Vec::new());
    let mut last = BbrState::Startup;
    flow.run(at(45.0), |flow| {
        let state = flow.model.state;
        match (last, state) {
            (BbrState::ProbeRtt, BbrState::ProbeRtt) if flow.in_flight() <= 4 && small.len() < entered.len() => {
                small.push(flow.now);
            }
            (BbrState::ProbeRtt, BbrState::ProbeRtt) => assert!(flow.window.cwnd() <= 4.0),
            (_, BbrState::ProbeRtt) => entered.push(flow.now),
            (BbrState::ProbeRtt, _) => left.push(flow.now),
            _ => {}
        }
        last = state;
    });
    assert_eq!(entered.len(), 4);
    for n in 0..left.len() {
        let held = (left[n] - small[n]).as_secs_f64();
        assert!((0.2..0.2 + 2.0 * 0.051).contains(&held), "{held} s with four segments");
    }
    // The ten seconds count from the end of a ProbeRTT, and the next one begins with the acknowledgement after them. If
    // draining in ProbeBW measures the minimum (0.051) again, the ten seconds restart: at most once a cycle of 8 x 51
    // ms.
    for (left, entered) in left.iter().zip(&entered[1..]) {
        assert!((*entered - *left).as_secs_f64() >= 10.0);
    }
    assert_eq!(flow.model.min_rtt, Some(Span::from_millis(51)));
    assert!((flow.model.bandwidth() - 1000.0).abs() <= 10.0, "deliveries during ProbeRTT do not count");
}

#[test]
fn a_slower_link_is_noticed_within_ten_rounds_and_a_faster_one_in_as_many_probes_as_it_takes() {
    let mut flow = flow(1000, 1);
    flow.run(at(5.0), |_| {});
    flow.rate = 500.0;
    let round = flow.model.rounds.count();
    flow.run(at(8.0), |flow| {
        // One more round for the segments in flight, and one for the edge of the filter's window.
        if flow.model.rounds.count() > round + BANDWIDTH_ROUNDS + 2 {
            assert!(flow.model.bandwidth() <= 505.0, "{}", flow.model.bandwidth());
        }
    });
    flow.rate = 1000.0;
    // A probe finds at most a quarter more, so four probes double the rate. A cycle is eight round trips of 52 ms or
    // longer.
    flow.run(at(8.0 + 5.0 * 8.0 * 0.06), |_| {});
    assert!(flow.model.bandwidth() >= 990.0, "{}", flow.model.bandwidth());
}

#[test]
fn application_limited_samples_do_not_lower_the_bandwidth() {
    let mut flow = flow(1000, 1);
    flow.run(at(5.0), |_| {});
    let mut then = DeliveryState::default();
    (then.delivered, then.in_flight, then.app_limited) = (flow.delivered(), 1, true);
    let mut sample = RateSample {
        delivered: 1,
        interval: Some(Span::from_millis(50)),
        rtt: Span::from_millis(51),
        retransmitted: false,
        at_send: then,
        total_delivered: flow.delivered(),
        newly_delivered: 1,
        lost: 0,
        newly_lost: 0,
        in_flight_before: 2,
        in_flight: 1,
        at: flow.now,
        window_full: false,
    };
    for _ in 0..50 {
        (sample.total_delivered, sample.at_send.delivered) = (sample.total_delivered + 1, sample.total_delivered + 1);
        sample.at += Span::from_millis(51);
        flow.model.on_sample(&sample, &mut 100.0);
    }
    assert_eq!(flow.model.bandwidth(), 1000.0);
    sample.at_send.app_limited = false;
    for _ in 0..=BANDWIDTH_ROUNDS + 1 {
        (sample.total_delivered, sample.at_send.delivered) = (sample.total_delivered + 1, sample.total_delivered + 1);
        flow.model.on_sample(&sample, &mut 100.0);
    }
    assert_eq!(flow.model.bandwidth(), 20.0, "the same samples count if the path limits them");
}

#[test]
fn recovery_sends_what_arrives_for_a_round_and_then_restores_the_window() {
    let config = TcpSettings::default();
    let (mut bbr, mut window) = (Bbr::new(&config), CongestionWindow::new(&config));
    let loss = LossInfo { now: Time::ZERO, window_to_reduce: 40.0, next_new: 100 };
    let acked = |ack| AckInfo { ack, next_new: 100, acked: 1, delivered: 1, flight: 40, ..AckInfo::default() };
    window.set_cwnd(40.0, Time::ZERO);
    bbr.last_ack = (100, 20, 1);
    bbr.on_loss(&loss, &mut window, &config);
    assert_eq!(window.cwnd(), 21.0, "20 in flight, and one for the segment delivered");
    bbr.on_ack(&acked(99), &mut window, &config);
    assert_eq!(window.cwnd(), 21.0);
    bbr.on_ack(&acked(100), &mut window, &config);
    assert_eq!(window.cwnd(), 40.0);
    bbr.on_timeout(&loss, &mut window, &config);
    assert_eq!(window.cwnd(), 1.0);
    bbr.on_ack(&acked(100), &mut window, &config);
    assert_eq!(window.cwnd(), 40.0);
}
