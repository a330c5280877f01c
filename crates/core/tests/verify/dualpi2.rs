//! DualPI2's decisions according to RFC 9332, computed by hand (appendix A, section 2.4). `verify/modern.rs` tests its
//! effects on traffic.

use aqm::disciplines::{Dualpi2, Dualpi2Config};
use aqm::{Ecn, FlowId, LinkInfo, Packet, Params, Port, Rate, Rng, Span, Time, Why};

// Sends 1000 B per millisecond.
const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

fn port(settings: &[(&str, &str)]) -> Port<(), Dualpi2<()>> {
    let config = Dualpi2Config::from_settings(settings).unwrap();
    Port::new(Dualpi2::new(config, &LINK).unwrap(), Rng::new(3))
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn offer(port: &mut Port<(), Dualpi2<()>>, ecn: Ecn, packets: u32, us: u64) {
    (0..packets).for_each(|_| port.enqueue(Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) }, at(us), &mut ()));
}

/// The codepoints of packets dequeued at one time, as they arrived.
fn order(port: &mut Port<(), Dualpi2<()>>, packets: usize, us: u64) -> Vec<u8> {
    (0..packets).map_while(|_| port.dequeue(at(us), &mut ())).map(|packet| packet.ecn.bits()).collect()
}

#[test]
fn ect1_and_ce_take_the_low_latency_queue() {
    for (settings, low) in [(&[][..], 2), (&[("any_ect", "on")], 3), (&[("ecn", "off")], 0)] {
        let mut port = port(settings);
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            offer(&mut port, ecn, 1, 0);
        }
        assert_eq!(port.discipline().backlogs().map(|held| held.packets), [low, 4 - low], "{settings:?}");
    }
}

#[test]
fn weighted_round_robin_gives_classic_its_share_of_the_bytes() {
    let mut port = port(&[("classic_protection", "0.25"), ("min_th", "1h")]);
    offer(&mut port, Ecn::Ect1, 100, 0);
    offer(&mut port, Ecn::Ect0, 100, 0);
    let sent = order(&mut port, 100, 0);
    // The low latency queue sends first. The credit begins at -500 and grows by 250 per packet: it is above 0 after
    // three packets. Then the queues send three to one.
    assert_eq!(sent[..8], [1, 1, 1, 2, 1, 1, 1, 2]);
    assert_eq!(sent.iter().filter(|ecn| **ecn == 2).count(), 25);
}

#[test]
fn a_time_shifted_fifo_sends_the_packet_with_the_longest_delay_after_the_shift() {
    let mut port = port(&[("scheduler", "ts_fifo"), ("tshift", "10ms"), ("min_th", "1h")]);
    offer(&mut port, Ecn::Ect0, 1, 0);
    offer(&mut port, Ecn::Ect0, 1, 5_000);
    offer(&mut port, Ecn::Ect1, 1, 10_000);
    offer(&mut port, Ecn::Ect1, 1, 12_000);
    // Shifted, the Classic packets count as arrivals at 10 and 15 ms.
    assert_eq!(order(&mut port, 9, 12_000), [1, 2, 1, 2]);
    offer(&mut port, Ecn::Ect0, 1, 12_000);
    offer(&mut port, Ecn::Ect1, 1, 22_001);
    assert_eq!(order(&mut port, 9, 22_001), [2, 1]);
}

#[test]
fn the_low_latency_queue_marks_on_its_own_above_its_threshold_and_not_its_last_packets() {
    let mut step = port(&[("min_th", "1ms"), ("range", "0s"), ("signals", "random")]);
    offer(&mut step, Ecn::Ect1, 4, 0);
    assert_eq!(order(&mut step, 1, 999), [1]);
    // Two packets remain behind the first of these, one behind the second.
    assert_eq!(order(&mut step, 3, 1_000), [3, 1, 1]);
    assert_eq!(step.totals().counts().marks(Why::Forced), 1);
    // On the ramp at 900 us, the probability is a quarter. By recurrence every fourth packet is marked; the sums are
    // exact.
    let mut ramp = port(&[]);
    offer(&mut ramp, Ecn::Ect1, 100, 0);
    assert_eq!(order(&mut ramp, 9, 900), [1, 1, 1, 1, 3, 1, 1, 1, 3]);
}

#[test]
fn classic_packets_are_signaled_by_the_square_and_dropped_without_ecn() {
    // 54 updates while a packet stays queued. Without drops on overload, p' is at most 1/2.
    let mut port = port(&[("drop_on_overload", "off"), ("limit", "1000p")]);
    offer(&mut port, Ecn::NotEct, 1, 0);
    offer(&mut port, Ecn::Ect0, 400, 1_000_000);
    offer(&mut port, Ecn::NotEct, 400, 1_000_000);
    assert_eq!(port.discipline().controller.probability, 0.5);
    while port.dequeue(at(1_000_000), &mut ()).is_some() {}
    let counts = port.totals().counts();
    let why = Why::Sojourn;
    // A quarter of the packets of each; the first signal may come at any of them.
    assert!(counts.marks(why).abs_diff(100) <= 1 && counts.drops(why).abs_diff(100) <= 1, "{counts:?}");
}

#[test]
fn on_overload_both_queues_drop_by_the_square_and_the_rest_of_the_low_latency_queue_is_marked() {
    for (drops, low, classic) in [("on", [50, 50], [50, 0]), ("off", [0, 100], [0, 25])] {
        let mut port = port(&[("drop_on_overload", drops), ("alpha", "0"), ("beta", "1"), ("signals", "random")]);
        // p' is 0.7071 after as many seconds, or at its bound of 1/2. p_C is therefore 1/2 or 1/4.
        let settled = 707_107;
        offer(&mut port, Ecn::NotEct, 1, 0);
        let mut seen = [[0u64; 2]; 2];
        for (queue, ecn) in [Ecn::Ect1, Ecn::Ect0].into_iter().enumerate() {
            let before = port.totals().counts().clone();
            // All packets are judged at the same time, so p' is constant.
            (0..10_000).for_each(|_| {
                offer(&mut port, ecn, 1, settled);
                let _ = port.dequeue(at(settled), &mut ());
            });
            let counts = port.totals().counts();
            seen[queue] = [counts.dropped() - before.dropped(), counts.marked() - before.marked()];
        }
        for (seen, expected) in seen.iter().zip([low, classic]) {
            // In percent. The standard deviation is at most half a percent; the tolerance is five of them.
            let near = |i: usize| (seen[i] as f64 / 100.0 - f64::from(expected[i])).abs() < 2.5;
            assert!(near(0) && near(1), "{drops}: {seen:?} {expected:?}");
        }
    }
}

#[test]
fn a_packet_that_leaves_a_short_queue_behind_is_not_signaled() {
    let mut port = port(&[("min_backlog", "2KB"), ("drop_on_overload", "off"), ("coupling_factor", "1")]);
    offer(&mut port, Ecn::NotEct, 1, 0);
    offer(&mut port, Ecn::NotEct, 4, 2_000_000);
    // p' is 1: every packet that leaves 2000 bytes behind is dropped. Recurrence signals from the second packet on.
    assert_eq!(order(&mut port, 9, 2_000_000).len(), 3);
}

#[test]
fn p_cl_is_k_times_the_base_probability_and_p_c_its_square() {
    // Measures equation 1 and section 2.4: the share of packets that are dropped or marked at a constant p' of 0.3.
    for signals in ["recur", "random"] {
        // One update after an hour: the delay is 3600 s above the target and has grown by as much.
        let settings = [("tupdate", "1h"), ("target", "0s"), ("alpha", "0"), ("beta", "0.00008333333333333333")];
        let more = [("signals", signals), ("min_th", "100h"), ("limit", "100000p"), ("classic_protection", "0.5")];
        let mut port = port(&[settings, more].concat());
        offer(&mut port, Ecn::NotEct, 1, 0);
        let hour = 3_600_000_000;
        offer(&mut port, Ecn::Ect1, 40_000, hour);
        offer(&mut port, Ecn::Ect0, 40_000, hour);
        assert!((port.discipline().controller.probability - 0.3).abs() < 1e-9);
        let sent = order(&mut port, 100_000, hour);
        assert_eq!(sent.len() + port.totals().dropped() as usize, 80_001);
        let [coupled, classic] = [0.6, 0.09];
        let marked = port.totals().counts().marks(Why::Sojourn) as f64;
        // Standard deviations are 98 and 57 at random, and 0 by recurrence. The tolerance is five of them.
        let tolerance = if signals == "random" { 5.0 * f64::hypot(98.0, 57.0) } else { 2.0 };
        assert!((marked - 40_000.0 * (coupled + classic)).abs() < tolerance, "{signals}: {marked}");
    }
}

#[test]
fn a_flood_that_ignores_marks_is_dropped_like_classic_traffic_and_its_delay_stays_below_the_target() {
    // Section 4.2 and appendix A.2: on overload both queues drop with p_C. Arrivals are twice the link's rate in ECT(1)
    // and half of it in Not-ECT. They leave in the same ratio, 4 to 1, and p_C rises to the excess of 60 %.
    let mut port = port(&[]);
    let (mut sent, mut classic) = (0, 0);
    for ms in 0..60_000 {
        offer(&mut port, Ecn::Ect1, 2, 1000 * ms);
        offer(&mut port, Ecn::NotEct, (ms % 2) as u32, 1000 * ms);
        let packet = port.dequeue(at(1000 * ms), &mut ()).filter(|_| ms >= 10_000);
        sent += u32::from(packet.is_some());
        classic += u32::from(packet.is_some_and(|packet| packet.ecn == Ecn::NotEct));
    }
    let (share, delay) = (f64::from(classic) / f64::from(sent), port.discipline().controller.delay);
    let dropped = port.discipline().probabilities().classic;
    // The tolerance of a tenth allows for oscillations of the controller.
    assert!((share / 0.2 - 1.0).abs() < 0.1 && (dropped / 0.6 - 1.0).abs() < 0.1, "{share} {dropped}");
    assert!((delay - 0.015).abs() < 0.003, "{delay}");
}
