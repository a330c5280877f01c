//! Scalable controls, whose window falls by the marked fraction: DCTCP (RFC 8257) and Prague; and receivers' ECN feedback.

use aqm::Span;
use headgate_scenario::{Cc, Recovery};
use headgate_sim::tcp::{TcpReceiver, TcpSettings};

use crate::common::{Fate, Host, Net, at, avoiding, ms, plain};

/// A receiver's acknowledgements of segments 0, 1, 2 ... some of them marked, all at one moment: `"2e"` acknowledges all
/// before 2 and echoes; with accurate feedback, `"2+3"` has 3 in the ACE field.
fn acks(config: &TcpSettings, marks: &[bool]) -> Vec<String> {
    let mut receiver = TcpReceiver::default();
    let mut acks = Vec::new();
    for (seq, &marked) in marks.iter().enumerate() {
        let first = receiver.on_data(seq as u32, marked, false, config, at(0));
        for reply in first.into_iter().chain(receiver.on_timer(config, at(0))) {
            let ace = if config.accecn { format!("+{}", reply.ace.bits()) } else { String::new() };
            acks.push(format!("{}{}{ace}", reply.ack, if reply.ece { "e" } else { "" }));
        }
    }
    acks
}

#[test]
fn a_dctcp_receiver_mirrors_marks_also_where_acks_are_delayed() {
    // RFC 8257, section 3.2: 1 is marked while 0 waits: 0 is acknowledged without echo, 1 at once with it. 2 and 3 are
    // marked: one ACK. 4 is not: nothing waits, it is acknowledged at once; 5 waits, 6 is its second.
    let config = TcpSettings { delayed_ack: Some(ms(100)), ..plain(Cc::Dctcp) };
    let marks = [false, true, true, true, false, false, false];
    assert_eq!(acks(&config, &marks), ["1", "2e", "4e", "5", "7"]);
    // CWR ends no echo, and without delay each ACK has its segment's mark.
    assert_eq!(acks(&plain(Cc::Dctcp), &marks), ["1", "2e", "3e", "4e", "5", "6", "7"]);
}

#[test]
fn accurate_feedback_counts_marks_modulo_8() {
    // RFC 9768, section 3.2.1: the count begins at 5. No controller gets an echo.
    for cc in [Cc::Prague, Cc::Reno, Cc::Cubic, Cc::Dctcp] {
        let config = TcpSettings { accecn: true, ..plain(cc) };
        assert_eq!(acks(&config, &[true, false, true, true]), ["1+6", "2+6", "3+7", "4+0"]);
        let delayed = TcpSettings { delayed_ack: Some(ms(100)), ..config };
        // Section 3.2.2.5.1: the first mark does not wait. The last one follows another, and waits.
        assert_eq!(acks(&delayed, &[true, false, true, true]), ["1+6", "3+7"]);
    }
}

#[test]
fn with_accurate_feedback_reno_reacts_once_a_window_and_announces_nothing() {
    let config = TcpSettings { accecn: true, ..avoiding(Recovery::Sack, 8) };
    let mut host = Host::started(config).with_ecn();
    assert_eq!(host.echo(1), "");
    assert_eq!(host.windows(), (4.0, 4.0));
    // Two more marks in the same window of data; then growth, since the count stands still; and no CWR.
    let sent: Vec<_> = [host.echo(2), host.echo(3), host.ack(4), host.ack(5)].into();
    assert_eq!(sent, ["", "", "", "8"]);
    assert_eq!(host.windows(), (4.25 + 1.0 / 4.25, 4.0));
}

#[test]
fn the_first_mark_halves_the_window_and_later_ones_lower_it_by_half_the_average() {
    // Section 3.3: alpha is 1 at first, and a window without marks multiplies it by 15/16. The window of data in which a
    // mark comes ends with the ACK after it.
    let mut host = Host::started(avoiding(Cc::Dctcp, 8)).with_ecn();
    // The first ACK ends the first window (of no data): 1/1 is marked, alpha stays 1.
    host.echo(1);
    assert_eq!(host.windows(), (4.0, 4.0));
    // The next ends when 9, the first segment after what was outstanding, is acknowledged: 2 to 9, none marked.
    (2..=9).for_each(|ack| drop(host.ack(ack)));
    let before = host.tcp.cwnd();
    // The third begins; its first mark finds alpha = 15/16.
    host.echo(10);
    let expected = before * (1.0 - 15.0 / 32.0);
    assert!((host.tcp.cwnd() - expected).abs() < 1e-12, "{before} {}", host.tcp.cwnd());
    assert!((host.tcp.ssthresh() - expected).abs() < 1e-12);
}

#[test]
fn a_loss_halves_the_window_without_marks() {
    // RFC 8257, section 3.5; RFC 9331, section 4.3.
    for cc in [Cc::Dctcp, Cc::Prague] {
        let mut host = Host::started(avoiding(cc, 10));
        assert_eq!(host.sack(0, &[(1, 4)]), "0r");
        assert_eq!(host.windows(), (5.0, 5.0), "{cc}");
    }
}

/// The mean window if one segment in `period` is marked, over twenty thousand segments at a round trip of `rtt`. As many
/// segments before are the warm-up: the window approaches W by 1/W of the distance per round trip.
fn mean_window(cc: Cc, period: u32, rtt: Span) -> f64 {
    let marks = |seq: u32, _| if seq.is_multiple_of(period) { Fate::Marked } else { Fate::Arrives };
    let mut net = Net::new(avoiding(cc, 20)).delay(Span::from_nanos(rtt.as_nanos() / 2)).fate(marks);
    let mut end = at(0);
    let run = |net: &mut Net, upto: usize, end: &mut aqm::Time| {
        while net.sent.len() < upto {
            *end += rtt;
            net.run(*end);
        }
    };
    run(&mut net, 20_000, &mut end);
    let (from, sent) = (end, net.sent.len());
    run(&mut net, 40_000, &mut end);
    (net.sent.len() - sent) as f64 * rtt.as_secs_f64() / (end - from).as_secs_f64()
}

#[test]
fn alpha_becomes_the_marked_fraction_and_the_window_settles_at_two_marks_a_round_trip() {
    // With a marked fraction p, each round trip takes alpha W / 2 and adds 1 - p segments: W = 2 (1 - p) / alpha, and
    // alpha = p (RFC 8257, section 3.3; the Prague draft's 2 / p). Windows oscillate by about a segment, and rounding to
    // whole segments costs half of one.
    for cc in [Cc::Dctcp, Cc::Prague] {
        for period in [10, 20, 50] {
            let p = 1.0 / f64::from(period);
            let expected = 2.0 * (1.0 - p) / p;
            let seen = mean_window(cc, period, ms(100));
            assert!((seen - expected).abs() < 1.0 + 0.05 * expected, "{cc} 1/{period}: {seen:.1} {expected:.1}");
        }
    }
}

#[test]
fn below_25_ms_prague_has_the_rate_it_would_have_at_25_ms() {
    // The window is in proportion to the round trip: a fifth at 5 ms. DCTCP's is the same, five times the rate.
    let ratio = |cc| mean_window(cc, 100, ms(5)) / mean_window(cc, 100, ms(25));
    let prague = ratio(Cc::Prague);
    assert!((0.18..0.22).contains(&prague), "{prague:.3}");
    let dctcp = ratio(Cc::Dctcp);
    assert!((0.9..1.1).contains(&dctcp), "{dctcp:.3}");
}

#[test]
fn prague_grows_for_unmarked_segments_even_when_marks_are_echoed() {
    let mut host = Host::started(avoiding(Cc::Prague, 10));
    host.echo(1);
    assert_eq!(host.windows(), (5.0, 5.0), "the first mark halves the window");
    // One ACK of three segments, one of them marked; it is in the same window of data, and there is no further reduction.
    host.echo(4);
    assert_eq!(host.windows(), (5.0 + 2.0 / 5.0, 5.0));
}
