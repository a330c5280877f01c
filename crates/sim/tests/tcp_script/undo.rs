//! Timestamps (RFC 7323), and reductions taken back because segments were late and not lost (RFC 3522, RFC 3708, RFC
//! 4015), as in Linux 6.1. The path of [`Net`] has a round trip of 100 ms.

use aqm::{Span, Time};
use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::{TcpReceiver, TcpSettings};

use crate::common::{CLOCK, Fate, Host, Net, at, avoiding, ms, plain};

/// The resolution of timestamps, which are rounded down: 2^10 ns.
const RESOLUTION: Span = Span::from_nanos(1024);

fn undoing(window: u32) -> TcpSettings {
    TcpSettings { undo: true, ..avoiding((Cc::Reno, Recovery::Rack), window) }
}

/// The path delays segment 0 by 60 ms: it is sent again at 100 ms, when nine later ones have arrived. Its ACK comes at 160
/// ms, and the ACK of the retransmission, a duplicate, at 200 ms.
fn late<'a>(config: TcpSettings) -> Net<'a> {
    Net::new(config).fate(|seq, nth| if (seq, nth) == (0, 1) { Fate::Late(ms(60)) } else { Fate::Arrives })
}

#[test]
fn a_timestamp_from_before_the_retransmission_takes_the_reduction_back() {
    // tcp_try_undo_recovery and tcp_try_undo_partial: TSecr is 0, retrans_stamp 100 ms. ssthresh 10 / 2, then again
    // max(10, 3/4 of 10). cwnd is at least prior_cwnd, 10.
    let mut net = late(TcpSettings { timestamps: true, ..undoing(10) });
    net.run(at(159));
    assert_eq!((net.times_of(0), net.host.tcp.ssthresh()), (vec![0, 100], 5.0));
    net.run(at(160));
    assert_eq!(net.host.tcp.ssthresh(), 10.0);
    assert!((10.0..11.0).contains(&net.host.tcp.cwnd()), "{}", net.host.tcp.cwnd());
}

#[test]
fn without_timestamps_the_report_of_a_duplicate_takes_it_back() {
    // tcp_try_undo_dsack: undo_retrans falls from 1 to 0 with the DSACK of 0, after the recovery has ended.
    let mut net = late(undoing(10));
    net.run(at(199));
    assert_eq!(net.host.tcp.ssthresh(), 5.0);
    net.run(at(200));
    assert_eq!(net.host.tcp.ssthresh(), 10.0);
    assert!(net.host.tcp.cwnd() >= 10.0);
}

#[test]
fn without_undo_the_reduction_stays() {
    for timestamps in [false, true] {
        let mut net = late(TcpSettings { timestamps, undo: false, ..undoing(10) });
        net.run(at(250));
        assert_eq!(net.host.tcp.ssthresh(), 5.0);
    }
}

#[test]
fn a_reduction_for_a_loss_stays() {
    for timestamps in [false, true] {
        let mut net = Net::new(TcpSettings { timestamps, ..undoing(10) }).losing(&[(0, 1)]);
        net.run(at(400));
        assert_eq!(net.host.tcp.ssthresh(), 5.0);
    }
}

#[test]
fn one_duplicate_of_two_retransmissions_is_not_enough() {
    // 0 is late and 1 is lost: undo_retrans is 2, and one DSACK leaves 1.
    let fate = |seq, nth| match (seq, nth) {
        (0, 1) => Fate::Late(ms(60)),
        (1, 1) => Fate::Lost,
        _ => Fate::Arrives,
    };
    let mut net = Net::new(undoing(10)).fate(fate);
    net.run(at(400));
    assert_eq!((net.times_of(0).len(), net.times_of(1).len(), net.host.tcp.ssthresh()), (2, 2, 5.0));
}

#[test]
fn a_retransmission_in_flight_forbids_to_take_the_reduction_back() {
    // tcp_try_undo_partial: `retrans_out` is 1. 0 is late, and 5 is lost: the ACK of 0 at 160 ms is partial, and 5 is on
    // its way again.
    let fate = |seq, nth| match (seq, nth) {
        (0, 1) => Fate::Late(ms(60)),
        (5, 1) => Fate::Lost,
        _ => Fate::Arrives,
    };
    let mut net = Net::new(TcpSettings { timestamps: true, ..undoing(10) }).fate(fate);
    net.run(at(160));
    assert_eq!((net.times_of(0).len(), net.times_of(5).len(), net.host.tcp.ssthresh()), (2, 2, 5.0));
}

#[test]
fn a_mark_forbids_to_take_the_reduction_back() {
    // tcp_fastretrans_alert, step A: prior_ssthresh = 0. Segment 5, sent before the loss was found, is marked.
    let fate = |seq, nth| match (seq, nth) {
        (0, 1) => Fate::Late(ms(60)),
        (5, 1) => Fate::Marked,
        _ => Fate::Arrives,
    };
    let mut net = Net::new(TcpSettings { timestamps: true, ecn: true, ..undoing(10) }).with_ecn().fate(fate);
    net.run(at(250));
    assert_eq!(net.host.tcp.ssthresh(), 5.0);
}

/// 0 to 7 are sent at 0, and their ACKs are late: the timer sends 0 again.
fn timed_out(timestamps: bool) -> Host {
    let mut host = Host::started(TcpSettings { timestamps, ..undoing(8) });
    assert_eq!((host.expire(), host.windows()), ("0r".into(), (1.0, 4.0)));
    host.wait(ms(10));
    host
}

#[test]
fn a_needless_timeout_is_taken_back_with_its_losses() {
    // tcp_try_undo_loss: the ACK of 0 echoes 0's first timestamp. cwnd and ssthresh are 8 again, cwnd grows by 1/8 for
    // the ACK, and 1 to 7 are no longer lost: 8 is sent, and no segment again.
    let mut host = timed_out(true);
    assert_eq!(host.ack_echoing(1, Time::ZERO), "8");
    assert_eq!(host.windows(), (8.125, 8.0));
    assert_eq!((host.ack_echoing(8, Time::ZERO), host.tcp.retransmits()), ("9 10 11 12 13 14 15".into(), 1));
}

#[test]
fn a_timeout_whose_retransmission_is_acknowledged_stays() {
    // The same ACK, but it echoes the retransmission's timestamp: slow start from 1 to 7, which are lost.
    let mut host = timed_out(true);
    assert_eq!(host.ack_echoing(1, at(1000)), "1r 2r");
    assert_eq!(host.windows(), (2.0, 4.0));
    let mut host = timed_out(false);
    assert_eq!(host.ack(1), "1r 2r");
}

#[test]
fn without_timestamps_an_acknowledged_retransmission_gives_no_sample() {
    // Karn, section 3. Neither transmission of 0 may be timed.
    let mut host = timed_out(false);
    host.ack(1);
    assert_eq!(host.tcp.rto().srtt(), None);
}

#[test]
fn an_acknowledged_retransmission_gives_a_sample_by_its_timestamp() {
    // As `a_retransmitted_segment_gives_no_sample_and_leaves_the_backoff`: the ACK at 1100 ms echoes 1000 ms. 100 + 4 x 50,
    // at least a second: the backoff ends.
    let config = TcpSettings { initial_window: 1, timestamps: true, ..plain(Recovery::NewReno) };
    let mut net = Net::new(config).losing(&[(0, 1)]);
    net.run(at(1100));
    let timeouts: Vec<_> = net.sent.iter().map(|sent| sent.rto).collect();
    assert_eq!(timeouts, [ms(1000), ms(2000), ms(1000), ms(1000)]);
    let srtt = net.host.tcp.rto().srtt().unwrap();
    assert!(ms(100) <= srtt && srtt <= ms(100) + RESOLUTION, "{srtt}");
}

#[test]
fn each_ack_gives_a_sample() {
    // tcp_ack_update_rtt. Ten segments, whose ACKs come at 100, 110, ... ms. RFC 6298 with one timed segment has only
    // the first: srtt 100 ms. With a sample per ACK srtt follows: (7 x 100 + 110) / 8, ...
    let srtt = |rtt_per_ack| {
        let mut host = Host::finite(TcpSettings { rtt_per_ack, ..undoing(10) });
        host.offer(10);
        host.wait(ms(100));
        host.ack(1);
        for ack in [2, 3] {
            host.wait(ms(10));
            host.ack(ack);
        }
        host.tcp.rto().srtt().unwrap().as_nanos()
    };
    assert_eq!(srtt(false), 100_000_000);
    assert_eq!(srtt(true), (7 * ((7 * 100_000_000 + 110_000_000) / 8) + 120_000_000) / 8);
}

#[test]
fn selective_acks_give_samples_too() {
    // tcp_clean_rtx_queue: sack_rtt_us, of the first newly reported segment. 0 is missing, 1 arrives after 100 ms.
    let mut host = Host::started(TcpSettings { rtt_per_ack: true, ..undoing(10) });
    host.wait(ms(100));
    host.sack(0, &[(1, 2)]);
    assert_eq!(host.tcp.rto().srtt(), Some(ms(100)));
}

#[test]
fn the_receiver_echoes_the_segment_that_the_last_ack_asked_for() {
    // RFC 7323, section 4.3: the segment is at or before Last.ACK.sent. A delayed ACK echoes the first of its two
    // segments, an ACK of a segment beyond a gap the last one before the gap, and that of the segment in the gap this one.
    let config = TcpSettings { timestamps: true, delayed_ack: Some(ms(40)), ..undoing(10) };
    let mut receiver = TcpReceiver::default();
    let mut echo = |seq, sent: u64| {
        receiver.on_delay(ms(50));
        receiver.on_timestamp(seq, CLOCK.timestamp(at(sent)));
        let ack = receiver.on_data(seq, false, false, &config, at(sent + 50))?;
        // The timestamp is at most 2^10 ns before the millisecond of a sending.
        ack.options?.echo.map(|echo| ((echo.time() + RESOLUTION) - Time::ZERO).as_nanos() / 1_000_000)
    };
    assert_eq!([echo(0, 10), echo(1, 20)], [None, Some(10)], "delayed");
    assert_eq!([echo(2, 30), echo(4, 40)], [None, Some(30)], "3 is missing");
    assert_eq!(echo(5, 50), Some(30));
    assert_eq!(echo(3, 60), Some(60), "the gap is filled");
    assert_eq!(echo(6, 70), None);
    assert_eq!(echo(3, 80), Some(80), "a later timestamp of an old segment (SEG.TSval >= TS.Recent)");
}
