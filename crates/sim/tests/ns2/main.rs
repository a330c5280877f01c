//! The profile `ns2` beside ns-2.35: the same segments at the same times, with the same windows.
//!
//! The files `*.txt` are traces of ns-2.35, one a case. `trace.tcl` made them from the cases in `cases.tcl`:
//!
//! ```sh
//! cd crates/sim/tests/ns2 && ns trace.tcl CASE | grep -v ^cmd > CASE.txt
//! ```
//!
//! Every transmission is compared: its segment, `ssthresh`, CWR with ECN, and outside of recoveries `cwnd` (ns-2 counts
//! the inflation by duplicate acknowledgements apart). Times may differ by [`TICKS`]: ns-2 measures in ticks of 10 ms from a
//! random phase and rounds down (`TcpAgent::rtt_update`), the simulator rounds up.

use std::path::Path;

use aqm::Time;
use headgate_measure::{EventBatch, EventRow, PacketEvent, RunObserver};
use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;
use headgate_sim::tcp::TcpSettings;

use crate::common::{Fate, Net, at, ms};

/// The largest difference of times: two ticks of 10 ms.
const TICKS: u64 = 20;

/// A trace of ns-2.
struct Trace {
    delay: u64,
    lose: Vec<u32>,
    mark: Vec<u32>,
    /// Writes: when, in milliseconds, and how many segments; empty for unlimited data.
    writes: Vec<(u64, u32)>,
    end: u64,
    ecn: bool,
    transmissions: Vec<Transmission>,
}

/// One transmission, as a line of a trace has it.
#[derive(Clone, Debug, PartialEq)]
struct Transmission {
    time: u64,
    segment: String,
    /// `None` in a recovery of our sender.
    cwnd: Option<f64>,
    ssthresh: f64,
}

fn trace(case: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/ns2/{case}.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let head = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key));
        line.unwrap_or_else(|| panic!("{case}: no `{key}`")).replace(['{', '}'], " ")
    };
    let numbers = |key: &str| -> Vec<u32> { head(key).split_whitespace().map(|n| n.parse().unwrap()).collect() };
    let transmissions = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let [time, segment, cwnd, ssthresh] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{case}: {line}") };
        Transmission {
            time: time.parse().unwrap(),
            segment: segment.to_string(),
            cwnd: Some(cwnd.parse().unwrap()),
            ssthresh: ssthresh.parse().unwrap(),
        }
    });
    let trace = Trace {
        delay: numbers("delay")[0].into(),
        lose: numbers("lose"),
        mark: numbers("mark"),
        writes: numbers("writes").chunks(2).map(|write| (write[0].into(), write[1])).collect(),
        end: numbers("end")[0].into(),
        ecn: head("set").contains("ecn_ 1"),
        transmissions: transmissions.collect(),
    };
    assert!(trace.transmissions.len() > 10, "{case}: a trace of {} transmissions", trace.transmissions.len());
    trace
}

/// One flow of the profile `ns2` with other values of some keys.
fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "name = 'ns2'\nduration = '700ms'\nwarmup = '0s'\nqdiscs = ['droptail']\nrecord = {{ events = 'all' }}\n\
         link = {{ rate = '10Gbit/s', delay = '50ms', limit = '100p' }}\n\
         [[tcp]]\nprofile = 'ns2'\naccess = {{ rate = '10Gbit/s', delay = '0s' }}\n{keys}"
    );
    Scenario::read(&text, "ns2", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn settings(keys: &str) -> TcpSettings {
    scenario(keys).tcp.remove(0).settings
}

/// Our sender's transmissions on the path of a trace.
fn ours(trace: &Trace, keys: &str) -> Vec<Transmission> {
    let keys = format!("ecn = {}\n{keys}", trace.ecn);
    let mut nth = 0;
    let fate = |_, _| {
        nth += 1;
        match nth {
            nth if trace.lose.contains(&nth) => Fate::Lost,
            nth if trace.mark.contains(&nth) => Fate::Marked,
            _ => Fate::Arrives,
        }
    };
    let mut net = Net::new(settings(&keys)).fate(fate).delay(ms(trace.delay));
    net = if trace.ecn { net.with_ecn() } else { net };
    net = if trace.writes.is_empty() { net } else { net.of(0) };
    for (time, segments) in &trace.writes {
        net.run(at(*time));
        net.offer(*segments);
    }
    net.run(at(trace.end));
    let name = |sent: &crate::common::Sent| crate::common::name(sent.data, trace.ecn);
    let transmission = |sent: &crate::common::Sent| Transmission {
        time: sent.time.as_nanos() / 1_000_000,
        segment: name(sent),
        cwnd: (!sent.recovering).then_some(sent.cwnd),
        ssthresh: sent.ssthresh,
    };
    net.sent.iter().map(transmission).collect()
}

/// The first difference between ns-2 and our sender.
fn difference(trace: &Trace, keys: &str) -> Option<String> {
    let ours = ours(trace, keys);
    let row = |row: &Transmission| format!("{} {} {:?} {}", row.time, row.segment, row.cwnd, row.ssthresh);
    for (i, (theirs, ours)) in trace.transmissions.iter().zip(&ours).enumerate() {
        let segment = if trace.ecn { theirs.segment.clone() } else { theirs.segment.replace('c', "") };
        let same_cwnd = ours.cwnd.zip(theirs.cwnd).is_none_or(|(ours, theirs)| (ours - theirs).abs() < 0.001);
        let same = segment == ours.segment && same_cwnd && theirs.ssthresh == ours.ssthresh;
        if !same || theirs.time.abs_diff(ours.time) > TICKS {
            return Some(format!("transmission {}: ns-2 {}, ours {}", i + 1, row(theirs), row(ours)));
        }
    }
    let (theirs, ours) = (trace.transmissions.len(), ours.len());
    (theirs.abs_diff(ours) > 20).then(|| format!("ns-2 sends {theirs}, ours {ours}"))
}

/// Asserts that our sender behaves as ns-2 does, and no longer does so with any of `rules`: keys with their values
/// outside the profile.
fn compare(case: &str, keys: &str, rules: &[&str]) {
    let trace = trace(case);
    assert_eq!(difference(&trace, keys), None, "{case}");
    for rule in rules {
        let (key, _) = rule.split_once(" = ").unwrap();
        let others = keys.lines().filter(|line| !line.starts_with(key)).collect::<Vec<_>>().join("\n");
        assert!(difference(&trace, &format!("{others}\n{rule}")).is_some(), "{case}: {rule} makes no difference");
    }
}

#[test]
fn echoes_at_a_window_of_one_silence_the_sender_and_back_its_timer_off() {
    // `TcpAgent::ecn` and `slowdown(CLOSE_CWND_HALF)`, tcp.cc 1427 and 1303.
    compare("ecn_timeout", "", &["ecn_timeout = false", "ecn_backoff = false"]);
}

#[test]
fn an_echo_after_a_timeout_is_answered_at_once_and_cwr_goes_with_a_retransmission() {
    compare("marked_again", "", &["ecn_timeout = false", "ecn_backoff = false", "ecn_retransmits = false"]);
}

#[test]
fn a_loss_in_the_window_of_a_mark_reduces_nothing_more() {
    // RFC 3168 (section 6.1.2) has the same rule, so no key turns it off.
    compare("mark_and_loss", "", &["exit_burst = false"]);
}

#[test]
fn a_pause_since_the_last_acknowledgement_leaves_a_window_of_one() {
    // `slow_start_restart_` and `restart_bugfix_`, tcp.cc 1858; `control_increase_`.
    let rules = ["idle_restart = false", "restart_from_one = false", "pause_from_ack = false", "grow_unused = false"];
    compare("pause", "window = 100", &rules);
}

#[test]
fn a_fast_retransmission_restarts_the_timer() {
    // `NewRenoTcpAgent::dupack_action`, tcp-newreno.cc 168.
    compare("timer", "", &["loss_restarts_timer = false"]);
}

#[test]
fn a_timeout_halves_the_window_that_the_loss_has_halved() {
    // `TcpAgent::timeout`, tcp.cc 1875.
    compare("timeout", "", &["halve_cwnd = false"]);
    compare("back_off", "", &["halve_cwnd = false"]);
}

#[test]
fn newreno_deflates_at_partial_acknowledgements_and_ends_with_the_halved_window() {
    compare("partial", "", &["exit_burst = false", "partial_deflation = false"]);
    compare("no_deflation", "partial_deflation = false", &["partial_deflation = true"]);
    compare("slow_but_steady", "slow_but_steady = true", &["slow_but_steady = false"]);
}

#[test]
fn the_receivers_window_bounds_the_flight_and_the_half_but_not_cwnd() {
    // `TcpAgent::window` and `windowd`, tcp.cc 892.
    compare("window", "window = 8", &["cwnd_beyond_window = false"]);
}

#[test]
fn duplicates_after_a_timeout_send_the_next_segment_again() {
    // `TcpAgent::send_one`, tcp.cc 1565.
    compare("go_back", "", &["limited_retransmit = false", "halve_cwnd = false"]);
}

#[test]
fn reno_repairs_one_loss_a_window_and_waits_for_its_timer() {
    // `bugFix_`: `RenoTcpAgent::dupack_action`, tcp-reno.cc 191.
    compare("reno", "recovery = 'reno'\nwindow = 100", &["once_a_window = false"]);
}

/// The first retransmission with the `ssthresh` it leaves, and the window when the recovery is over.
fn reduction(transmissions: &[Transmission], recovered: u64) -> (String, f64, f64) {
    let retransmission = transmissions.iter().find(|sent| sent.segment.contains('r')).expect("a loss is repaired");
    let after = transmissions.iter().find(|sent| sent.time >= recovered).and_then(|sent| sent.cwnd).expect("recovered");
    (retransmission.segment.replace('c', ""), retransmission.ssthresh, after)
}

#[test]
fn selective_acknowledgements_leave_the_exact_half() {
    // `slowdown(CLOSE_SSTHRESH_HALF | CLOSE_CWND_HALF)`, tcp-sack1.cc 345. ns-2 counts `pipe` in another way, so the segments
    // within the recovery differ.
    let trace = trace("sack");
    let theirs = reduction(&trace.transmissions, 500);
    assert_eq!(theirs, ("13r".to_string(), 7.0, 7.5));
    assert_eq!(reduction(&ours(&trace, "recovery = 'sack'"), 500), theirs);
    assert_ne!(reduction(&ours(&trace, "recovery = 'sack'\nhalve_cwnd = false"), 500), theirs);
}

#[test]
fn cubic_reduces_as_linux_did_in_ns2() {
    // `beta` in tcp/linux/src/tcp_cubic.c, line 31. Its growth counts in jiffies, so the reduction alone is compared.
    let trace = trace("cubic");
    let reduced = |transmissions: &[Transmission]| {
        let (segment, ssthresh, _) = reduction(transmissions, 0);
        (segment, ssthresh)
    };
    let theirs = reduced(&trace.transmissions);
    assert_eq!(theirs, ("119r".to_string(), 31.0));
    assert_eq!(reduced(&ours(&trace, "cc = 'cubic'\nwindow = 40")), theirs);
    assert_ne!(reduced(&ours(&trace, "cc = 'cubic'\nwindow = 40\ncubic_beta = 0.7")), theirs);
}

/// Packets that arrive at the link, by millisecond.
#[derive(Default)]
struct Bursts(Vec<(u64, usize)>);

impl RunObserver for Bursts {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, batch: &EventBatch) {
        for EventRow { time, .. } in batch.rows.iter().filter(|row| row.link == 0 && row.kind == PacketEvent::Arrived) {
            let time = time.as_nanos() / 1_000_000;
            match self.0.last_mut() {
                Some((last, packets)) if *last == time => *packets += 1,
                _ => self.0.push((time, 1)),
            }
        }
    }
}

#[test]
fn a_random_delay_postpones_a_whole_burst() {
    // `overhead_`: `TcpAgent::send_much`, tcp.cc 960. The random numbers differ, so sizes of bursts are compared, and their
    // distances: a round trip of 100 ms and at most 10 ms.
    let bursts = |keys: &str| {
        let (scenario, mut bursts) = (scenario(&format!("send_jitter = '10ms'\n{keys}")), Bursts::default());
        run(&scenario, &scenario.qdiscs[0], 1, &mut bursts).unwrap_or_else(|error| panic!("{error}"));
        bursts.0
    };
    let sizes = |bursts: &[(u64, usize)]| bursts.iter().map(|burst| burst.1).collect::<Vec<_>>();
    let trace = trace("overhead").transmissions;
    let theirs: Vec<_> = trace.chunk_by(|a, b| a.time == b.time).map(|burst| (burst[0].time, burst.len())).collect();
    let ours = bursts("");
    assert_eq!(sizes(&ours), sizes(&theirs));
    for bursts in [&ours, &theirs] {
        assert!(bursts.windows(2).all(|pair| (100..=111).contains(&(pair[1].0 - pair[0].0))), "{bursts:?}");
    }
    assert_ne!(sizes(&bursts("jitter_bursts = false")), sizes(&theirs));
}
