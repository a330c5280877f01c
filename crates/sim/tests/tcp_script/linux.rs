//! Rules of Linux 6.1 (`net/ipv4`), each beside what the RFCs say. Every figure follows from the function named beside it.

use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::{TcpReceiver, TcpSettings};

use crate::common::{Host, Net, at, avoiding, ms};

/// Selective ACKs with losses found by time and a proportional reduction, as in Linux.
fn selective(cc: Cc, window: u32) -> TcpSettings {
    TcpSettings { prr: true, ..avoiding((cc, Recovery::Rack), window) }
}

#[test]
fn a_loss_reduces_cwnd_and_not_the_outstanding_data() {
    // An application offers 12 segments to a window of 20, and the first is lost. cubictcp_recalc_ssthresh: 20 x 717 /
    // 1024 = 14.003, in whole packets 14. RFC 9438, 4.6: 0.7 of the 12 outstanding, 8.4. tcp_reno_ssthresh: 20 / 2.
    for (cc, reduce_cwnd, ssthresh) in [
        (Cc::Cubic, true, 14.0),
        (Cc::Cubic, false, 12.0 * 717.0 / 1024.0),
        (Cc::Reno, true, 10.0),
        (Cc::Reno, false, 6.0),
    ] {
        let config = TcpSettings { reduce_cwnd, cubic_beta: 717.0 / 1024.0, ..selective(cc, 20) };
        let mut host = Host::finite(config);
        host.offer(12);
        host.wait(ms(100));
        host.sack(0, &[(1, 4)]);
        assert_eq!(host.windows().1, ssthresh, "{cc:?}");
    }
}

#[test]
fn the_reduction_is_spread_over_cwnd_and_not_over_the_flight() {
    // tcp_cwnd_reduction: sndcnt = ceil(ssthresh x prr_delivered / prior_cwnd) - prr_out. 16 of a window of 20 are
    // outstanding: ssthresh 10. Three arrive: ceil(10 x 3 / 20) = 2: 0 at once, 16 when there is data. Four: 2. Five: 3. So
    // each second arrival sends a segment. With the 16 in flight below the line, four arrivals would already send a third.
    let mut host = Host::finite(TcpSettings { reduce_cwnd: true, ..selective(Cc::Reno, 20) });
    host.offer(16);
    host.wait(ms(100));
    assert_eq!((host.sack(0, &[(1, 4)]), host.offer(20)), ("0r".into(), "16".into()));
    let sent = [5, 6, 7, 8].map(|end| host.sack(0, &[(1, end)]));
    assert_eq!(sent, ["", "17", "", "18"]);
}

#[test]
fn a_timeout_reduces_cwnd_and_not_the_outstanding_data() {
    // tcp_enter_loss: ssthresh from snd_cwnd. Two segments of a window of 16 are lost.
    for (reduce_cwnd, ssthresh) in [(true, 8.0), (false, 2.0)] {
        let mut host = Host::finite(TcpSettings { reduce_cwnd, ..avoiding(Recovery::Sack, 16) });
        host.offer(2);
        host.expire();
        assert_eq!(host.windows(), (1.0, ssthresh));
    }
}

#[test]
fn a_recovery_reduces_once_even_if_a_retransmission_is_lost() {
    // RFC 5681, 4.3, halves 8 again (`rack.rs`): Linux is in TCP_CA_Recovery and only sends 2 once more.
    for (reduce_once, ssthresh) in [(true, 4.0), (false, 2.0)] {
        let config = TcpSettings { reduce_once, prr: false, ..selective(Cc::Reno, 8) };
        let mut net = Net::new(config).losing(&[(2, 1), (2, 2)]);
        net.run(at(1500));
        assert_eq!(net.times_of(2), [0, 100, 300]);
        let third = net.sent.iter().filter(|sent| sent.data.seq == 2).nth(2).unwrap();
        assert_eq!(third.ssthresh, ssthresh);
    }
}

#[test]
fn a_timeout_in_a_recovery_does_not_reduce_again() {
    // tcp_enter_loss reduces below TCP_CA_Recovery, or if the recovery's data is acknowledged. The loss halves 16; cwnd in
    // the recovery is smaller, and half of that is what a timeout would leave. The second timeout of the segment is one
    // of TCP_CA_Loss with icsk_retransmits.
    for (reduce_once, least) in [(true, 8.0), (false, 2.0)] {
        let config = TcpSettings { reduce_once, reduce_cwnd: true, ..selective(Cc::Reno, 16) };
        let mut host = Host::started(config);
        host.wait(ms(100));
        host.sack(0, &[(1, 4)]);
        assert_eq!(host.windows().1, 8.0);
        host.sack(0, &[(1, 12)]);
        for _ in 0..4 {
            host.expire();
        }
        assert!(host.tcp.timeouts() >= 2);
        assert!((host.windows().1 < 8.0) != reduce_once && host.windows().1 >= least);
    }
}

#[test]
fn rttvar_falls_once_a_round_trip() {
    // Round trips of 100 ms, then of 300 ms, then of 100 ms again. tcp_rtt_estimator keeps rttvar, a quarter of the term,
    // within a round trip; RFC 6298 takes a quarter away with each sample.
    let timeouts = |rttvar_by_round| {
        let config =
            TcpSettings { rttvar_by_round, min_rto: ms(1), min_rto_variance: Some(ms(1)), ..selective(Cc::Reno, 4) };
        let mut host = Host::started(config);
        let mut next = 0;
        [100, 300, 100].map(|rtt| {
            host.wait(ms(rtt));
            next += 4;
            host.ack(next);
            host.tcp.rto().timeout()
        })
    };
    // 100: 100 + 200. 300: mdev 200 + (200 - 50) = 350, srtt 125. Both are the same in RFC 6298. 100: srtt 121.875, mdev =
    // 350 - (87.5 - 25) = 287.5, the largest of its round trip: rttvar = 350 - (350 - 287.5) / 4 = 334.375.
    let linux = timeouts(true);
    assert_eq!(linux, [ms(300), ms(475), aqm::Span::from_micros(121_875 + 334_375)]);
    let rfc = timeouts(false);
    assert_eq!(rfc[..2], linux[..2]);
    assert_eq!(rfc[2], aqm::Span::from_micros(121_875 + 287_500));
}

/// CUBIC with Linux's HyStart, and a flight of `window` segments.
fn hystart(window: u32) -> Host {
    let config = TcpSettings { cubic_hystart: true, initial_window: window, ..selective(Cc::Cubic, window) };
    Host::started(TcpSettings { initial_ssthresh: None, ..config })
}

/// ACKs of the segments from `first` on, each `gap` ms after the one before. Returns the ACK that ended slow start, and
/// the `cwnd` before it.
fn acks(host: &mut Host, first: u32, count: u32, gap: u64) -> Option<(u32, f64)> {
    (first..first + count).find_map(|ack| {
        let before = host.windows().0;
        host.ack(ack);
        host.wait(ms(gap));
        host.windows().1.is_finite().then_some((ack, before))
    })
}

#[test]
fn hystart_ends_slow_start_when_nine_round_trips_are_an_eighth_longer() {
    // hystart_update: delay_min 100 ms, threshold clamp(12.5, 4, 16) ms. ACKs 3 ms apart make no train. The first round is
    // of segments 0 to 15, whose least round trip is 100 ms. In the second all take 120 ms and more: after 8 samples the
    // ninth, ACK 25, finds it. cwnd is 16 + 16 + 8.
    let mut host = hystart(16);
    host.wait(ms(100));
    assert_eq!(acks(&mut host, 1, 16, 3), None);
    host.wait(ms(220 - 148));
    assert_eq!(acks(&mut host, 17, 16, 3), Some((25, 40.0)));
    assert_eq!(host.windows().1, 40.0);
}

#[test]
fn hystart_tolerates_a_rise_below_its_threshold() {
    // The same with 111 ms at first: 112 ms would still be tolerated.
    let mut host = hystart(16);
    host.wait(ms(100));
    assert_eq!(acks(&mut host, 1, 16, 3), None);
    host.wait(ms(211 - 148));
    assert_eq!(acks(&mut host, 17, 16, 3), None);
}

#[test]
fn hystart_ends_slow_start_when_a_train_of_acks_spans_half_the_round_trip() {
    // 60 ACKs, 1 ms apart, of a flight with a least round trip of 100 ms. hystart_ack_delay is 1 ms: 256 KiB take longer
    // at the pacing rate of 2 x 60 segments in 100 ms. Threshold (100 + 1) / 2 ms: the ACK 51 ms after the first, with
    // cwnd 60 + 51. With pacing the threshold is 101 ms.
    let mut host = hystart(60);
    host.wait(ms(100));
    assert_eq!(acks(&mut host, 1, 60, 1), Some((52, 111.0)));
    let mut paced = hystart(60);
    paced.config.pacing = true;
    paced.wait(ms(100));
    assert_eq!(acks(&mut paced, 1, 60, 1), None);
}

#[test]
fn a_gap_of_more_than_2_ms_breaks_the_train() {
    let mut host = hystart(60);
    host.wait(ms(100));
    assert_eq!(acks(&mut host, 1, 20, 1), None);
    host.wait(ms(2));
    assert_eq!(acks(&mut host, 21, 40, 1), None);
}

#[test]
fn hystart_does_not_judge_windows_below_16() {
    // hystart_low_window: 14 ACKs of the second round at 13, 14 and 15, all 50 ms too late, and slow start goes on.
    let mut host = hystart(4);
    host.wait(ms(100));
    assert_eq!(acks(&mut host, 1, 4, 3), None);
    host.wait(ms(50 + 100 - 12));
    assert_eq!(acks(&mut host, 5, 7, 3), None);
    assert_eq!(host.windows().0, 15.0);
}

#[test]
fn a_timeout_lets_hystart_look_again() {
    // cubictcp_state: TCP_CA_Loss resets found and delay_min. The timeout sets ssthresh to 0.7 of cwnd. One ACK a
    // millisecond then lets a window of w take w ms: more than 4 ms above the least round trip, and slow start ends below.
    let mut host = hystart(60);
    host.wait(ms(100));
    assert!(acks(&mut host, 1, 60, 1).is_some());
    while host.tcp.timeouts() == 0 {
        host.expire();
    }
    let ssthresh = host.windows().1;
    let sent = (host.tcp.sent() - u64::from(host.tcp.retransmits())) as u32;
    host.wait(ms(100));
    host.ack(sent);
    for ack in sent + 1..sent + 40 {
        host.wait(ms(1));
        host.ack(ack);
    }
    assert!(host.windows().1 < ssthresh && ssthresh > 60.0, "{ssthresh}, {:?}", host.windows());
}

/// A receiver with delayed and quick ACKs.
struct QuickReceiver {
    receiver: TcpReceiver,
    config: TcpSettings,
    next: u32,
    now: u64,
}

impl QuickReceiver {
    fn new(window: u32) -> QuickReceiver {
        let config = TcpSettings {
            window,
            quick_acks: Some(16),
            delayed_ack: Some(ms(40)),
            min_rto: ms(200),
            ecn: true,
            ..selective(Cc::Reno, 10)
        };
        QuickReceiver { receiver: TcpReceiver::default(), config, next: 0, now: 0 }
    }

    fn arrives(&mut self, seq: u32, marked: bool, cwr: bool) -> bool {
        self.receiver.on_data(seq, marked, cwr, &self.config, at(self.now)).is_some()
    }

    /// How many segments in order are acknowledged each, before the first whose ACK waits.
    fn quick_acks(&mut self) -> u32 {
        let mut count = 0;
        loop {
            self.next += 1;
            self.now += 1;
            if !self.arrives(self.next - 1, false, false) {
                return count;
            }
            count += 1;
        }
    }
}

#[test]
fn the_first_acks_of_a_connection_leave_at_once() {
    // tcp_incr_quickack: rcv_wnd / (2 rcv_mss), at most TCP_MAX_QUICKACKS, 16.
    assert_eq!(QuickReceiver::new(1000).quick_acks(), 16);
    assert_eq!(QuickReceiver::new(20).quick_acks(), 10);
    let mut delayed = QuickReceiver::new(1000);
    delayed.config.quick_acks = None;
    assert_eq!(delayed.quick_acks(), 0);
    let mut later = QuickReceiver::new(1000);
    later.quick_acks();
    // The ACK that waits leaves with the next segment, and the one after that waits again.
    assert_eq!(later.quick_acks(), 1);
    later.receiver.begin_connection();
    later.receiver.on_timer(&later.config.clone(), at(1000));
    assert_eq!(later.quick_acks(), 16);
}

#[test]
fn a_pause_and_an_old_segment_grant_quick_acks_again() {
    // tcp_event_data_recv: a pause longer than icsk_rto, here 200 ms; the ACK that waited leaves after 40 ms.
    for (pause, count) in [(200, 0), (201, 16)] {
        let mut host = QuickReceiver::new(1000);
        host.quick_acks();
        host.receiver.on_timer(&host.config.clone(), at(host.now + 40));
        host.now += pause - 1;
        assert_eq!(host.quick_acks(), count);
    }
    // tcp_data_queue: the ACK of the old segment is the first of the 16, and carries the one that waited.
    let mut host = QuickReceiver::new(1000);
    host.quick_acks();
    assert!(host.arrives(0, false, false));
    assert_eq!(host.quick_acks(), 15);
}

#[test]
fn a_mark_that_begins_an_echo_grants_two_quick_acks() {
    // __tcp_ecn_check_ce: the marked segment and the next one. A second mark, before CWR, grants none.
    let mut host = QuickReceiver::new(1000);
    host.quick_acks();
    host.receiver.on_timer(&host.config.clone(), at(host.now + 40));
    let mut acknowledged = |marked, cwr| {
        host.next += 1;
        host.arrives(host.next - 1, marked, cwr)
    };
    let first = [acknowledged(true, false), acknowledged(false, false), acknowledged(true, false)];
    assert_eq!(first, [true, true, false]);
    // The next segment is the second in order. Then CWR: its ACK does not wait (tcp_ecn_accept_cwr).
    assert_eq!([acknowledged(false, false), acknowledged(false, true)], [true, true]);
}
