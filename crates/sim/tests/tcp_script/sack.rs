//! Loss recovery with selective acknowledgements (RFC 6675; rules and steps are those of its sections 4 and 5).

use headgate_scenario::Recovery;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, Net, at, avoiding};

#[test]
fn all_losses_of_a_window_are_repaired_in_one_round_trip() {
    // 2, 4 and 6 of the first ten are lost. 100 ms: ACKs of 0 and 1 send 10, 11. 3, 5, 7 arrive: three duplicates:
    // cwnd = 10 / 2, 2 goes again. Pipe: 2 (again), 4, 6 (two above have arrived), 8 to 11: 7. 8: 4 is lost, pipe 5.
    // 9: 6 is lost: 2, 10, 11, pipe 3: 4 and 6 go again.
    // 200 ms: 10 arrived: 2, 4, 6 (again), 11: pipe 4, room for new data: 12. Then one for each of 11, 2, 4; the ACK
    // of 6 covers 2 to 11 and ends recovery: cwnd 5, 12 to 15 outstanding, 16.
    let mut net = Net::new(avoiding(Recovery::Sack, 10)).losing(&[(2, 1), (4, 1), (6, 1)]);
    net.run(at(200));
    assert_eq!(net.rows(), ["0: 0 1 2 3 4 5 6 7 8 9", "100: 10 11 2r 4r 6r", "200: 12 13 14 15 16"]);
    assert_eq!(net.host.windows(), (5.0, 5.0));
}

#[test]
fn the_third_duplicate_begins_recovery_and_not_the_second() {
    let mut host = Host::started(avoiding(Recovery::Sack, 8));
    assert_eq!(host.sack(0, &[(1, 2)]), "");
    assert_eq!(host.sack(0, &[(1, 3)]), "");
    assert_eq!(host.windows(), (8.0, 8.0));
    // cwnd = ssthresh = 8 / 2 (step 4.2): no inflation. Pipe: 0 (again), 4 to 7: full.
    assert_eq!(host.sack(0, &[(1, 4)]), "0r");
    assert_eq!(host.windows(), (4.0, 4.0));
}

#[test]
fn one_acknowledgement_that_reports_three_segments_is_enough() {
    // Step 2: fewer than three duplicates, but IsLost(HighACK + 1). Two ACKs were lost on the way.
    let mut host = Host::started(avoiding(Recovery::Sack, 8));
    assert_eq!(host.sack(0, &[(1, 4)]), "0r");
    assert_eq!(host.windows(), (4.0, 4.0));
}

#[test]
fn an_advancing_acknowledgement_with_new_blocks_is_a_duplicate_too() {
    // Section 2: an ACK with new SACK data counts as a duplicate even if it moves the cumulative point. The ACKs of
    // 0, 2 and 3 were lost: this one acknowledges 0 and reports 2, 3 and 4, so 1 is lost.
    let mut host = Host::started(avoiding(Recovery::Sack, 8));
    assert_eq!(host.sack(1, &[(2, 5)]), "1r");
    // FlightSize is 7, 1 to 7.
    assert_eq!(host.windows(), (3.5, 3.5));
}

#[test]
fn duplicates_count_from_one_after_an_advancing_acknowledgement() {
    // Section 5: a cumulative acknowledgement resets DupAcks, then counts itself if it reports new arrivals.
    let mut host = Host::started(avoiding(Recovery::Sack, 8));
    assert_eq!(host.sack(0, &[(2, 3)]), "");
    assert_eq!(host.sack(1, &[(4, 5), (2, 3)]), "8", "one, and an ordinary ACK of one segment");
    assert_eq!(host.sack(1, &[(6, 7), (4, 5), (2, 3)]), "1r", "IsLost(1): three above it have arrived");
}

#[test]
fn an_acknowledgement_without_new_blocks_is_no_duplicate() {
    let mut host = Host::started(TcpSettings { limited_transmit: true, ..avoiding(Recovery::Sack, 8) });
    assert_eq!(host.sack(0, &[(1, 2)]), "8");
    // RFC 5681, section 3.2, step 1: no new data on a duplicate without new SACK information.
    for _ in 0..5 {
        assert_eq!(host.sack(0, &[(1, 2)]), "");
        assert_eq!(host.ack(0), "");
    }
    assert_eq!(host.windows(), (8.0, 8.0));
}

#[test]
fn limited_transmit_goes_by_the_pipe_and_its_segments_do_not_count() {
    let mut host = Host::started(TcpSettings { limited_transmit: true, ..avoiding(Recovery::Sack, 8) });
    // Step 3.3: pipe is 7 and 6, cwnd 8.
    assert_eq!(host.sack(0, &[(1, 2)]), "8");
    assert_eq!(host.sack(0, &[(1, 3)]), "9");
    // Step 4.2: FlightSize without the two: 8 / 2. Step 4.1: RecoveryPoint is 9 all the same.
    assert_eq!(host.sack(0, &[(1, 4)]), "0r");
    assert_eq!(host.windows(), (4.0, 4.0));
    // Pipe: 0 (again), 4 to 9: 7. It falls below 4 with the fourth of the next ones.
    assert_eq!(host.sack(0, &[(1, 7)]), "");
    assert_eq!(host.sack(0, &[(1, 8)]), "10");
    // 9 is not covered: still in recovery, and cwnd stays. Pipe: 9, 10 and room for two.
    assert_eq!(host.ack(9), "11 12");
    assert_eq!(host.windows(), (4.0, 4.0));
    // Step A: 10 is beyond RecoveryPoint. 10, 11, 12 outstanding, cwnd 4.
    assert_eq!(host.ack(10), "13");
    assert_eq!(host.ack(11), "14");
    assert_eq!(host.windows(), (4.25, 4.0));
}

#[test]
fn lost_segments_go_before_new_data_and_new_data_before_holes() {
    // Window 6: 0, 1 and 5 are lost. At the third duplicate cwnd = 3, 0 goes again; pipe: 0, 5: rule 1 names 1.
    let mut host = Host::started(TcpSettings { window: 6, ..avoiding(Recovery::Sack, 6) });
    assert_eq!(host.sack(0, &[(2, 3)]), "");
    assert_eq!(host.sack(0, &[(2, 4)]), "");
    assert_eq!(host.sack(0, &[(2, 5)]), "0r 1r");
    // The ACK of 0 opens the receiver's window by one. Pipe: 1 (again), 5: rule 2, new data.
    assert_eq!(host.sack(1, &[(2, 5)]), "6");
    // 6 arrived. Pipe: 1, 5, and the receiver's window is closed: rule 3, the hole at 5 that is not lost yet. It then
    // counts twice (SetPipe, a and b): full.
    assert_eq!(host.sack(1, &[(6, 7), (2, 5)]), "5r");
    // 1 arrived: 5 stays; it counts twice, room for one new segment.
    assert_eq!(host.sack(5, &[(6, 7)]), "7");
}

#[test]
fn the_rescue_retransmission_waits_until_the_first_retransmission_was_acknowledged() {
    // Window 12; 0, 2, 10 and 11 are lost.
    let mut host = Host::started(TcpSettings { window: 12, ..avoiding(Recovery::Sack, 12) });
    assert_eq!(host.sack(0, &[(1, 2)]), "");
    assert_eq!(host.sack(0, &[(3, 4), (1, 2)]), "");
    // Third: cwnd = 6. Pipe: 0 (again), 2 (two above), 5 to 11: 9.
    assert_eq!(host.sack(0, &[(3, 5), (1, 2)]), "0r");
    // 5: 2 is lost; pipe 7. 6: pipe 6. 7: 0 and 8 to 11: 5, rule 1.
    assert_eq!(host.sack(0, &[(3, 6), (1, 2)]), "");
    assert_eq!(host.sack(0, &[(3, 7), (1, 2)]), "");
    assert_eq!(host.sack(0, &[(3, 8), (1, 2)]), "2r");
    // 8 and 9: pipe 5 and 4, the receiver's window is closed, no hole is left below 9. Rule 4 wants HighACK beyond
    // RescueRxt, which step 4.3 set to 0: too early.
    assert_eq!(host.sack(0, &[(3, 9), (1, 2)]), "");
    assert_eq!(host.sack(0, &[(3, 10), (1, 2)]), "");
    // 0 arrived: HighACK is 1. Pipe: 2 (again), 10, 11; rule 2 fills the receiver's window with 12 and 13; there is
    // room for one more: rule 4, the highest outstanding. It leaves HighRxt alone, so pipe stays 5.
    assert_eq!(host.sack(2, &[(3, 10)]), "12 13 13r");
    // Once a recovery: 12 arrived, pipe 4, nothing more; 10 and 11 wait for rule 3, since 12 is above them.
    assert_eq!(host.sack(2, &[(12, 13), (3, 10)]), "10r 11r");
}

#[test]
fn arrivals_beyond_the_recovery_point_are_kept_for_the_next_recovery() {
    // Step A: the scoreboard above HighACK stays. 1 is lost, then 9 of the new segments.
    let mut host = Host::started(avoiding(Recovery::Sack, 8));
    assert_eq!(host.ack(1), "8");
    let sent: Vec<_> = [3, 4, 5, 6, 7, 8, 9].iter().map(|&end| host.sack(1, &[(2, end)])).collect();
    // cwnd 4; pipe after the third: 1, 5 to 8; from the fifth on each lets one new segment go.
    assert_eq!(sent, ["", "", "1r", "", "9", "10", "11"]);
    // 10 and 11 arrive, 9 does not; then 1 does: full ACK with two segments known above.
    assert_eq!(host.sack(1, &[(10, 11), (2, 9)]), "12");
    assert_eq!(host.sack(1, &[(10, 12), (2, 9)]), "13");
    // 9 to 13 outstanding, cwnd 4.
    assert_eq!(host.sack(9, &[(10, 12)]), "");
    assert_eq!(host.windows(), (4.0, 4.0));
    // 12 is the third above 9: one duplicate is enough. FlightSize is 5.
    assert_eq!(host.sack(9, &[(10, 13)]), "9r");
    assert_eq!(host.windows(), (2.5, 2.5));
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    // The timer last restarted at the ACK of 1, at 100 ms (RFC 6298, rule 5.3).
    let mut net = Net::new(avoiding(Recovery::Sack, 10)).losing(&[(2, 1), (2, 2)]);
    net.run(at(1500));
    assert_eq!(net.times_of(2), [0, 100, 1100]);
    assert_eq!(net.host.tcp.timeouts(), 1);
}

#[test]
fn each_recovery_repairs_renos_window_in_its_own_way() {
    let lost = [(2, 1), (4, 1), (6, 1), (30, 1), (30, 2), (50, 1)];
    let rows = |config: TcpSettings| {
        let mut net = Net::new(config).losing(&lost);
        net.run(at(5000));
        net.rows()
    };
    let all = Recovery::ALL.iter().map(|recovery| rows(avoiding(*recovery, 10))).collect::<Vec<_>>();
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
}
