//! Both versions of BBR on a path that only the receive window limits: 20 segments in 100 ms, 200 a second, without a
//! queue. "v1" is draft-cardwell-iccrg-bbr-congestion-control-00, "v3" draft-ietf-ccwg-bbr.

use std::cell::Cell;

use aqm::Time;
use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Net, Sent, at, ms, plain};

const BOTH: [Cc; 2] = [Cc::Bbr, Cc::Bbr3];

fn config(cc: Cc) -> TcpSettings {
    TcpSettings { pacing: true, recovery: Recovery::Rack, initial_window: 10, window: 20, ..plain(cc) }
}

/// The sender's phases at the times `ends`; equal phases in a row count once.
fn phases(net: &mut Net, ends: impl Iterator<Item = Time>) -> Vec<&'static str> {
    let mut phases: Vec<&str> = Vec::new();
    for end in ends {
        net.run(end);
        let phase = net.host.tcp.state(1).phase;
        if phases.last() != Some(&phase) {
            phases.push(phase);
        }
    }
    phases
}

/// Milliseconds between one segment and the next.
fn gaps(sent: &[Sent]) -> Vec<f64> {
    sent.windows(2).map(|pair| (pair[1].time - pair[0].time).as_secs_f64() * 1e3).collect()
}

#[test]
fn the_initial_window_is_paced_as_though_a_round_trip_took_a_millisecond() {
    // v1, section 4.2.1: high_gain x InitialCwnd / 1 ms; v3, section 5.6.2, with its gain of Startup.
    for (cc, gain) in [(Cc::Bbr, 2.885), (Cc::Bbr3, 2.77)] {
        let mut net = Net::new(config(cc));
        net.run(at(99));
        assert_eq!(net.sent.len(), 10);
        for gap in gaps(&net.sent) {
            assert!((gap - 1.0 / (gain * 10.0)).abs() < 1e-5, "{gap} ms");
        }
        // Then the round trip is known: 10 in 100 ms, times the gain, less a hundredth.
        net.run(at(110));
        for gap in &gaps(&net.sent[11..]) {
            assert!((gap - 100.0 / (gain * 10.0 * 0.99)).abs() < 0.01, "{gap} ms");
        }
    }
}

#[test]
fn startup_ends_after_three_rounds_without_growth() {
    // The first full round trip delivers 10 segments, all later ones 20. Startup ends after three rounds that grow by less
    // than a quarter (v1, section 4.3.2.2; v3, section 5.3.1.2): the second, third and fourth round of 20.
    for cc in BOTH {
        let mut net = Net::new(config(cc));
        let mut ended = 0;
        for now in (0..2000).step_by(10) {
            net.run(at(now));
            if net.host.tcp.state(1).phase != "startup" {
                ended = now;
                break;
            }
        }
        // Acknowledgements of the first 10 at 100 ms, of the second flight at 200, of the first whole 20 at 300; pacing
        // spreads a flight over half of a round trip at most.
        assert!((500..=750).contains(&ended), "{cc:?}: {ended} ms");
    }
}

#[test]
fn version_1_enters_probe_rtt_every_ten_seconds_even_if_the_minimum_recurs() {
    // Linux, `bbr_update_min_rtt`: only a smaller round-trip time renews the minimum before it is ten seconds old. In the
    // draft (section 4.1.2.3) an equal one does. All take 100 ms: ProbeRTT begins at 10.1 s and ten seconds after its end.
    let mut net = Net::new(config(Cc::Bbr));
    let seen = phases(&mut net, (0..20_000).step_by(5).map(at));
    assert_eq!(seen, ["startup", "probe_bw", "probe_rtt", "probe_bw"]);
    let seen = phases(&mut net, (20_000..30_000).step_by(5).map(at));
    assert_eq!(seen, ["probe_bw", "probe_rtt", "probe_bw"]);
}

#[test]
fn version_3_cycles_through_down_cruise_refill_up_and_enters_probe_rtt_every_five_seconds() {
    let mut net = Net::new(config(Cc::Bbr3));
    let seen = phases(&mut net, (0..30_000).map(at));
    let order = |from: &str, to: &str| match from {
        "startup" => to == "drain" || to == "probe_cruise",
        "drain" | "probe_up" => ["probe_down", "probe_cruise", "probe_rtt"].contains(&to),
        "probe_down" => ["probe_cruise", "probe_refill", "probe_rtt"].contains(&to),
        "probe_cruise" => ["probe_refill", "probe_rtt"].contains(&to),
        "probe_refill" => ["probe_up", "probe_rtt"].contains(&to),
        _ => from == "probe_rtt" && to == "probe_cruise",
    };
    assert!(seen.windows(2).all(|pair| order(pair[0], pair[1])), "{seen:?}");
    // v3, section 5.3.4.3: a ProbeRTT begins a little more than five seconds after the end of the last, even if the
    // minimum recurs. UP follows within three seconds, or within as many round trips as the window has segments, 20.
    let count = |wanted| seen.iter().filter(|phase| **phase == wanted).count();
    assert_eq!(count("probe_rtt"), 5, "{seen:?}");
    assert!(count("probe_up") >= 9, "{seen:?}");
}

#[test]
fn after_a_loss_packets_are_conserved_for_a_round_trip_and_then_the_window_is_restored() {
    // v1, section 4.2.3.4: the window is the flight plus the acknowledged segments, at most 20. Then the old one returns.
    let mut net = Net::new(config(Cc::Bbr)).losing(&[(400, 1)]);
    net.run(at(6000));
    let lost = net.sent.iter().position(|sent| sent.data.retransmitted).expect("400 is sent again");
    assert_eq!(net.sent[lost].data.seq, 400);
    let (before, repair) = (net.sent[lost - 1].cwnd, &net.sent[lost]);
    assert!((15.0..=20.0).contains(&repair.cwnd), "{}", repair.cwnd);
    // The repair is acknowledged a round trip later, and later segments soon after. The window is then 2 x 20 and three
    // quanta, rounded up to even, plus aggregation.
    let later = net.sent.iter().find(|sent| sent.time > repair.time + ms(210)).unwrap();
    assert!(before >= 44.0 && later.cwnd >= 44.0, "{} after {before}", later.cwnd);
    assert_eq!((net.host.tcp.retransmits(), net.host.tcp.timeouts()), (1, 0));
}

#[test]
fn a_loss_lowers_version_3_to_seven_tenths_until_it_probes_again() {
    // v3, section 5.5.10.3, in Cruise: inflight_shortterm is the larger of 0.7 of the window and the 20 segments delivered
    // in the last round trip. The window is 2 x 20 plus aggregation.
    let lost = Cell::new(None);
    let mut net = Net::new(config(Cc::Bbr3))
        .fate(|seq, nth| if lost.get() == Some(seq) && nth == 1 { Fate::Lost } else { Fate::Arrives });
    while net.host.tcp.state(1).phase != "probe_cruise" {
        net.run(net.host.now + ms(1));
    }
    let (start, before) = (net.host.now, net.host.tcp.cwnd());
    lost.set(net.sent.last().map(|sent| sent.data.seq + 1));
    net.run(start + ms(350));
    let cwnd = net.host.tcp.cwnd();
    assert!((cwnd - (0.7 * before).max(20.0)).abs() <= 1.0, "{cwnd} after {before}");
    let mut lifted = false;
    while !lifted && net.host.now < start + ms(4000) {
        net.run(net.host.now + ms(1));
        lifted = net.host.tcp.state(1).phase == "probe_up";
    }
    assert!(lifted && net.host.tcp.cwnd() > 0.9 * before, "{}", net.host.tcp.cwnd());
}

#[test]
fn a_timeout_sends_one_segment_and_the_next_acknowledgement_allows_four() {
    for cc in BOTH {
        // The path fails for 1.5 s while no probe is in flight: version 3 would take a probe's losses for the path's limit.
        // The timer expires a second after the last acknowledgement of new data.
        let cut = Cell::new(false);
        let mut net = Net::new(config(cc)).fate(|_, _| if cut.get() { Fate::Lost } else { Fate::Arrives });
        while !["probe_bw", "probe_cruise"].contains(&net.host.tcp.state(1).phase) {
            net.run(net.host.now + ms(1));
        }
        net.run(net.host.now + ms(300));
        cut.set(true);
        net.run(net.host.now + ms(1500));
        cut.set(false);
        assert!(net.host.tcp.timeouts() >= 1);
        assert_eq!(net.host.tcp.cwnd(), 1.0, "{cc:?}");
        let sent = net.sent.len();
        let end = net.host.tcp.deadline().expect("the timer runs");
        net.run(end + ms(99));
        assert_eq!(net.sent.len(), sent + 1, "{cc:?}: one segment a timeout");
        net.run(end + ms(100));
        assert!((4.0..=5.0).contains(&net.host.tcp.cwnd()), "{cc:?}: {}", net.host.tcp.cwnd());
        // A few round trips repair all outstanding segments. The window returns to at least 2 x 20, in version 3 to 0.7 of
        // that (section 5.5.10.3; from the window before the timeout, as in Linux).
        net.run(end + ms(1500));
        let least = if cc == Cc::Bbr { 40.0 } else { 28.0 };
        assert!(net.host.tcp.cwnd() >= least, "{cc:?}: {}", net.host.tcp.cwnd());
    }
}

#[test]
fn after_a_pause_bbr_sends_at_the_known_bandwidth() {
    for cc in BOTH {
        let mut net = Net::new(config(cc)).of(300);
        net.run(at(4000));
        assert!(net.host.tcp.acked_all());
        let (sent, before) = (net.sent.len(), net.host.tcp.cwnd());
        assert!(before >= 40.0, "{before}");
        net.offer(40);
        net.run(at(4090));
        // v1, section 4.3.4.4; v3, section 5.4.1: 200 a second less 1 %, without a burst. The window stays.
        let gaps = gaps(&net.sent[sent..]);
        assert!(gaps.len() >= 15);
        assert!(gaps.iter().all(|gap| (gap - 1000.0 / (200.0 * 0.99)).abs() < 0.01), "{cc:?}: {gaps:?}");
        assert_eq!(net.host.tcp.cwnd(), before);
    }
}

#[test]
fn a_reset_connection_behaves_like_a_new_one() {
    for cc in BOTH {
        let mut net = Net::new(config(cc)).of(200);
        net.run(at(5000));
        assert!(net.host.tcp.acked_all());
        let first = net.sent.len();
        net.host.tcp.reset(&net.host.config, at(5000));
        net.offer(200);
        net.run(at(10_000));
        assert_eq!(net.sent.len(), 2 * first);
        let row = |sent: &Sent, began| (sent.time - began, sent.cwnd);
        let [old, new] = [(0..first, at(0)), (first..2 * first, at(5000))]
            .map(|(part, began)| net.sent[part].iter().map(|sent| row(sent, began)).collect::<Vec<_>>());
        assert_eq!(old, new, "{cc:?}");
    }
}
