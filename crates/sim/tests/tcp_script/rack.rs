//! RACK-TLP (RFC 8985), packet by packet. The path of [`Net`] has a round trip of 100 ms.

use headgate_scenario::Recovery;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Host, Net, at, avoiding, ms};

fn rack(config: TcpSettings) -> TcpSettings {
    TcpSettings { recovery: Recovery::Rack, ..config }
}

/// Losses repaired by RACK, or by counting duplicates.
fn both(config: TcpSettings) -> [TcpSettings; 2] {
    [rack(config.clone()), config]
}

#[test]
fn a_loss_is_repaired_as_soon_as_three_later_segments_have_arrived() {
    // Section 6.2, step 4: with three selectively acknowledged and no reordering seen the window is zero. ACKs of 0 and
    // 1 send 8 and 9. 3 and 4 arrived: pipe is 8 and 7 (2, 5 to 9 and two new ones): RFC 6675's limited transmit. With
    // the third ssthresh and cwnd are 8 / 2.
    let mut net = Net::new(rack(avoiding(Recovery::Sack, 8))).losing(&[(2, 1)]);
    net.run(at(200));
    assert_eq!(net.rows()[..2], ["0: 0 1 2 3 4 5 6 7", "100: 8 9 10 11 2r"]);
    assert_eq!(net.host.tcp.ssthresh(), 4.0);
    assert_eq!(net.host.tcp.timeouts(), 0);
}

#[test]
fn one_later_segment_is_enough_after_a_quarter_of_the_round_trip() {
    // 1 of three segments is lost: 2 arrives 50 ms after it was sent and is acknowledged at 100 ms. Step 5: 1 is lost at
    // its sending + RACK.rtt + reo_wnd = 0 + 100 + 100 / 4. By counting it takes the retransmission timer, 1 s after the
    // ACK of 0.
    for (config, time) in both(avoiding(Recovery::Sack, 3)).into_iter().zip([125, 1100]) {
        let mut net = Net::new(config).losing(&[(1, 1)]).of(3);
        net.run(at(2000));
        assert_eq!(net.times_of(1), [0, time]);
        assert!(net.host.tcp.acked_all());
    }
}

#[test]
fn the_round_trip_time_of_an_overtaken_segment_counts() {
    // Section 6.2, step 2: each segment delivered sets RACK.rtt; only RACK.segment needs a later transmission. 0 makes
    // srtt and the minimum 100 ms. 1, 2 and 3 are sent at 200, 210 and 220 ms.
    let mut host = Host::finite(rack(avoiding(Recovery::Sack, 8)));
    host.offer(1);
    host.wait(ms(100));
    host.ack(1);
    host.wait(ms(100));
    for _ in 0..3 {
        host.offer(1);
        host.wait(ms(10));
    }
    host.wait(ms(90));
    // At 320 ms 3 arrives: 2 is overdue at 210 + 100 + 100 / 4.
    host.sack(1, &[(3, 4)]);
    assert_eq!(host.tcp.deadline(), Some(at(335)));
    // 1 arrives 124 ms after it was sent: 2 is overdue at 210 + 124 + 25.
    host.wait(ms(4));
    host.sack(2, &[(3, 4)]);
    assert_eq!((host.expire(), host.now), ("2r".into(), at(359)));
}

#[test]
fn the_segment_sent_last_among_those_an_ack_delivers_sets_the_round_trip_time() {
    // Section 6.2, step 2: in the order of transmission. 1, 2 and 3 are sent at 200 ms, 4 at 210 ms. 2 arrives: 1 is lost at
    // 200 + 100 + 25. At 425 ms an ACK delivers the retransmission, after 100 ms, and 3, after 225 ms: 4 should have come
    // within 100 ms.
    let mut host = Host::finite(rack(avoiding(Recovery::Sack, 8)));
    host.offer(1);
    host.wait(ms(100));
    host.ack(1);
    host.wait(ms(100));
    host.offer(3);
    host.wait(ms(10));
    host.offer(1);
    host.wait(ms(90));
    host.sack(1, &[(2, 3)]);
    assert_eq!((host.expire(), host.now), ("1r".into(), at(325)));
    host.wait(ms(100));
    assert_eq!(host.sack(2, &[(2, 4)]), "4r");
}

#[test]
fn an_old_ack_still_reports_arrivals() {
    // RFC 6675, section 5: any ACK with SACK information updates the scoreboard, also one below SND.UNA that was overtaken.
    // It reports 4. With 5 and 6 that makes three, and 3 is lost.
    for config in both(avoiding(Recovery::Sack, 8)) {
        let mut host = Host::started(config);
        host.wait(ms(100));
        host.ack(3);
        let before = host.windows();
        host.sack(1, &[(4, 5)]);
        assert_eq!(host.windows(), before, "an old ACK acknowledges no new data");
        host.sack(3, &[(5, 6)]);
        assert_eq!(host.tcp.retransmits(), 0);
        host.sack(3, &[(6, 7)]);
        assert_eq!((host.tcp.retransmits(), host.tcp.una()), (1, 3));
    }
}

#[test]
fn an_old_ack_starts_a_recovery_with_the_third_arrival() {
    for config in both(avoiding(Recovery::Sack, 8)) {
        let mut host = Host::started(config);
        host.wait(ms(100));
        host.ack(3);
        host.sack(2, &[(4, 7)]);
        assert_eq!((host.tcp.retransmits(), host.windows().1), (1, 4.0));
    }
}

#[test]
fn a_lost_retransmission_is_found_without_the_timer() {
    // 2 is lost at 0 and again at 100 ms. 100 ms: it goes again after 10 and 11. What is sent at 200 ms was sent after
    // it; the first ACK of that comes at 300 ms, and 2 is then 200 ms old, more than RACK.rtt: it goes a third time.
    let lost = [(2, 1), (2, 2)];
    let mut net = Net::new(rack(avoiding(Recovery::Sack, 8))).losing(&lost);
    net.run(at(1500));
    assert_eq!(net.times_of(2), [0, 100, 300]);
    assert_eq!(net.host.tcp.timeouts(), 0);
    // RFC 5681, section 4.3: the loss of a retransmission halves the window once more: 8, 4, 2.
    let third = net.sent.iter().filter(|sent| sent.data.seq == 2).nth(2).unwrap();
    assert_eq!(third.ssthresh, 2.0);
}

/// Segment 6 arrives 20 ms late, overtaken by one segment. Later, one segment in thirty arrives `by` ms late.
fn late(seq: u32, nth: u32, by: u64) -> Fate {
    match (seq, nth) {
        (6, 1) => Fate::Late(ms(20)),
        (seq, 1) if seq % 30 == 12 => Fate::Late(ms(by)),
        _ => Fate::Arrives,
    }
}

#[test]
fn reordering_within_a_quarter_of_the_round_trip_causes_no_retransmission() {
    // 6 takes 20 ms longer than 7, and RACK waits for 25 ms. It has then seen reordering and waits as long when three or
    // more segments have arrived (section 6.2, step 4). Detection by count declares such segments lost.
    let [by_time, by_count] = both(avoiding(Recovery::Sack, 8)).map(|config| {
        let mut net = Net::new(config).fate(|seq, nth| late(seq, nth, 20));
        net.run(at(3000));
        assert!(net.receiver.expected() > 100);
        net.host.tcp.retransmits()
    });
    assert_eq!(by_time, 0);
    assert!(by_count > 1, "{by_count}");
}

#[test]
fn reports_of_duplicates_widen_the_reordering_window() {
    // Late by 40 ms, more than 25: 12 is found lost and sent again, and its second copy is reported (RFC 2883). That adds
    // a quarter of the least round trip, and 50 ms are enough for all that follow.
    let mut net = Net::new(rack(avoiding(Recovery::Sack, 8))).fate(|seq, nth| late(seq, nth, 40));
    net.run(at(5000));
    assert!(net.receiver.expected() > 300);
    assert_eq!((net.times_of(12).len(), net.host.tcp.retransmits()), (2, 1));
}

#[test]
fn a_lost_tail_costs_a_probe_and_not_a_timeout() {
    // Section 7: the last of ten is lost. The ACK of the others comes at 100 ms and restarts the probe timer: one segment
    // is outstanding, 2 x SRTT, and the receiver acknowledges at once. The probe is the last segment itself.
    for (config, time) in both(avoiding(Recovery::Sack, 10)).into_iter().zip([300, 1100]) {
        let probed = config.rack();
        let mut net = Net::new(config).losing(&[(9, 1)]).of(10);
        net.run(at(2000));
        assert_eq!(net.times_of(9), [0, time]);
        assert_eq!(net.host.tcp.timeouts(), u32::from(!probed));
        assert!(net.host.tcp.acked_all());
    }
}

#[test]
fn the_probe_of_a_single_segment_waits_for_a_delayed_ack() {
    // Section 7.2: with one segment outstanding PTO = 2 SRTT + the receiver's delay. 0 and 1 are acknowledged together at
    // 100 ms, 2 is lost: 100 + 200 + 40.
    let config = TcpSettings { delayed_ack: Some(ms(40)), ..rack(avoiding(Recovery::Sack, 3)) };
    let mut net = Net::new(config).losing(&[(2, 1)]).of(3);
    net.run(at(2000));
    assert_eq!(net.times_of(2), [0, 340]);
}

#[test]
fn the_acknowledgement_of_a_probe_reveals_the_losses_before_it() {
    // The last three of ten are lost. 300 ms: 9 is the probe; its acknowledgement at 400 ms shows that 7 and 8, sent 400
    // ms ago, are lost: both go at once. One round trip after the probe instead of a timeout.
    let mut net = Net::new(rack(avoiding(Recovery::Sack, 10))).losing(&[(7, 1), (8, 1), (9, 1)]).of(10);
    net.run(at(2000));
    assert_eq!(net.rows(), ["0: 0 1 2 3 4 5 6 7 8 9", "300: 9r", "400: 7r 8r"]);
    assert_eq!(net.host.tcp.timeouts(), 0);
    assert!(net.host.tcp.acked_all());
}

#[test]
fn a_probe_sends_new_data_if_there_is_any() {
    // The window is full when all of a flight is lost: the probe goes beyond it (section 7.3).
    let mut host = Host::started(rack(avoiding(Recovery::Sack, 4)));
    host.wait(ms(100));
    assert_eq!(host.ack(4), "4 5 6 7");
    assert_eq!(host.expire(), "8");
    assert_eq!(host.now, at(300));
    // 8 arrives: 4 to 7 are 200 ms older and lost: 4 at once, then cwnd 2 lets 5 go.
    host.wait(ms(100));
    assert_eq!(host.sack(4, &[(8, 9)]), "4r 5r");
}

#[test]
fn without_a_measurement_there_is_no_probe() {
    // Section 7.3: none since the connection began, and none between two probes: 4 to 8 are lost, and the second time it
    // is the timer, 1 s after the probe.
    let mut host = Host::started(rack(avoiding(Recovery::Sack, 4)));
    assert_eq!(host.expire(), "0r");
    assert_eq!((host.now, host.tcp.timeouts()), (at(1000), 1));

    let mut host = Host::started(rack(avoiding(Recovery::Sack, 4)));
    host.wait(ms(100));
    assert_eq!(host.ack(4), "4 5 6 7");
    assert_eq!((host.expire(), host.now), ("8".into(), at(300)));
    assert_eq!((host.expire(), host.now), ("4r".into(), at(1300)));
}

#[test]
fn a_loss_that_the_probe_repaired_halves_the_window() {
    // Section 7.4: 9 was lost. It and a later segment are acknowledged after the probe, without a report of a duplicate.
    // The ACKs of 9 and 10 add 1/10 and 1/10.1. FlightSize is 1: RFC 5681, equation 4, gives 2.
    let mut host = Host::finite(rack(avoiding(Recovery::Sack, 10)));
    host.offer(10);
    host.wait(ms(100));
    assert_eq!(host.ack(9), "");
    assert_eq!(host.expire(), "9r");
    host.wait(ms(100));
    assert_eq!(host.ack(10), "");
    let before = host.windows();
    assert_eq!(host.offer(1), "10");
    host.wait(ms(100));
    assert_eq!(host.ack(11), "");
    assert_eq!((before, host.windows()), ((10.1 + 1.0 / 10.1, 10.0), (2.0, 2.0)));
}

#[test]
fn a_probe_without_a_loss_does_not_reduce_the_window() {
    // The same, but the receiver reports that 9 arrived twice: only the ACK was late.
    let mut host = Host::finite(rack(avoiding(Recovery::Sack, 10)));
    host.offer(10);
    host.wait(ms(100));
    host.ack(9);
    assert_eq!(host.expire(), "9r");
    host.ack(10);
    host.sack(10, &[(9, 10)]);
    assert_eq!(host.offer(1), "10");
    host.ack(11);
    assert_eq!(host.windows().1, 10.0);
}

#[test]
fn a_timeout_sends_the_first_segment_at_once_and_the_rest_in_slow_start() {
    // Section 6.3: 1 to 8 should all have been acknowledged. RFC 5681: cwnd 1, ssthresh half of the flight, which the
    // probe has made 9 (section 7.3).
    let mut host = Host::started(rack(avoiding(Recovery::Sack, 8)));
    host.wait(ms(100));
    assert_eq!(host.ack(1), "8");
    assert_eq!(host.expire(), "9", "the probe");
    assert_eq!(host.expire(), "1r");
    assert_eq!((host.windows(), host.tcp.timeouts()), ((1.0, 4.5), 1));
    host.wait(ms(100));
    assert_eq!(host.ack(2), "2r 3r");
    host.wait(ms(100));
    assert_eq!(host.ack(4), "4r 5r 6r");
}

#[test]
fn duplicates_are_reported_first() {
    // RFC 2883, section 4: a duplicate below the cumulative ACK, and one within a block.
    let mut net = Net::new(rack(avoiding(Recovery::Sack, 4)));
    let config = net.host.config.clone();
    let mut blocks = |seq| net.receiver.on_data(seq, false, false, &config, at(0)).unwrap().options?.blocks;
    assert_eq!(blocks(0), None);
    assert_eq!(blocks(0), Some([(0, 1), (0, 0), (0, 0)]));
    assert_eq!(blocks(3), Some([(3, 4), (0, 0), (0, 0)]));
    assert_eq!(blocks(5), Some([(5, 6), (3, 4), (0, 0)]));
    assert_eq!(blocks(3), Some([(3, 4), (3, 4), (5, 6)]));
    assert_eq!(blocks(0), Some([(0, 1), (3, 4), (5, 6)]));
}
