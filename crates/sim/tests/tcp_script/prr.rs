//! Proportional rate reduction (RFC 9937), packet by packet, with losses found by counting.

use headgate_scenario::Recovery;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Host, Net, at, avoiding};

fn prr(config: TcpSettings) -> TcpSettings {
    TcpSettings { prr: true, limited_transmit: true, ..config }
}

#[test]
fn one_segment_leaves_for_every_two_that_arrive() {
    // The RFC's example of a single loss: 0 of 20 is lost, limited transmit sends 20 and 21 on the first two duplicates.
    // Third: ssthresh 20 / 2, RecoverFS 22 - 2 = 20 (two were known to have arrived). In flight: 18 of 22 (less 0 and 3);
    // one delivered: ceil(1 x 10 / 20) = 1: 0 goes again. Then ceil(n / 2) may have been sent after n: one on each odd
    // one.
    let mut host = Host::started(prr(avoiding(Recovery::Sack, 20)));
    let sent: Vec<_> = (2..21).map(|end| host.sack(0, &[(1, end)])).collect();
    let expected = ["20", "21", "0r", "", "22", "", "23", "", "24", "", "25", "", "26", "", "27", "", "28", "", ""];
    assert_eq!(sent, expected);
    // At the last, 0 and 20 to 28 are in flight: ssthresh, and nothing is sent until it falls below.
    assert_eq!(host.tcp.ssthresh(), 10.0);
    assert_eq!([host.sack(0, &[(1, 21)]), host.sack(0, &[(1, 22)])], ["29", "30"]);
    // The ACK of 0 ends recovery: 22 to 30 are in flight, nine, and cwnd is ssthresh.
    assert_eq!(host.ack(22), "31");
    assert_eq!(host.windows(), (10.0, 10.0));
}

#[test]
fn after_heavy_losses_the_flight_grows_back_to_ssthresh() {
    // 0 to 14 of 20 are lost, 15 to 19 arrive: the RFC's second example. Limited transmit: 20, 21. Third duplicate: 17 is
    // known, all below 15 are lost: in flight 18 to 21, four, less than ssthresh 10. Nothing sent: forced, and
    // max(1 - 0, 1) = 1 (no safe ACK). Each further duplicate lets one go, in flight stays.
    let mut host = Host::started(prr(avoiding(Recovery::Sack, 20)));
    let sent: Vec<_> = (16..21).map(|end| host.sack(0, &[(15, end)])).collect();
    assert_eq!(sent, ["20", "21", "0r", "1r", "2r"]);
    let sent = [host.sack(0, &[(15, 21)]), host.sack(0, &[(15, 22)])];
    assert_eq!(sent, ["3r", "4r"]);
    // The ACKs of 0 to 4 advance una and show no loss: each releases two segments (slow start), up to ssthresh.
    let sent: Vec<_> = (1..6).map(|ack| host.sack(ack, &[(15, 22)])).collect();
    assert_eq!(sent, ["5r 6r", "7r 8r", "9r 10r", "11r 12r", "13r 14r"]);
}

#[test]
fn without_prr_sending_stops_for_half_a_round_trip() {
    // RFC 6675 waits until the pipe has fallen from 18 to ssthresh. PRR avoids this pause.
    let mut host = Host::started(TcpSettings { limited_transmit: true, ..avoiding(Recovery::Sack, 20) });
    let sent: Vec<_> = (2..21).map(|end| host.sack(0, &[(1, end)])).collect();
    assert_eq!(sent[..3], ["20", "21", "0r"]);
    assert!(sent[3..11].iter().all(String::is_empty));
}

#[test]
fn a_recovery_with_prr_ends_at_ssthresh() {
    for losses in [vec![2], vec![2, 4, 6], vec![2, 3, 4, 5, 6, 7, 8]] {
        let lost: Vec<_> = losses.iter().map(|&seq| (seq, 1)).collect();
        for recovery in [Recovery::Sack, Recovery::Rack] {
            let mut net = Net::new(TcpSettings { recovery, ..prr(avoiding(Recovery::Sack, 20)) }).losing(&lost);
            net.run(at(400));
            // Recovery begins at 100 ms and takes a round trip; then congestion avoidance from 10, less than one a round
            // trip.
            let cwnd = net.host.tcp.cwnd();
            assert!((10.0..13.0).contains(&cwnd), "{losses:?}: {cwnd}");
            assert_eq!((net.host.tcp.ssthresh(), net.host.tcp.timeouts()), (10.0, 0), "{losses:?}");
            assert_eq!(net.host.tcp.retransmits() as usize, losses.len());
        }
    }
}
