//! Marks slow a flow down, once in a round trip, and never stop it.

use aqm::Time;
use headgate_measure::{EventBatch, RunObserver, TraceRow};
use headgate_scenario::{Cc, TcpSettings};

use super::alone::rounds;
use super::combinations::{Combination, Feedback, for_each};
use super::script::{Fate, run};

/// The part of the window that remains after the first mark, where the control's definition says one: RFC 5681 and RFC
/// 6817 (half), RFC 9438 (`beta`), RFC 8257 (half while `alpha` is 1).
fn remains(settings: &TcpSettings) -> Option<f64> {
    match settings.cc {
        Cc::Reno | Cc::Ledbat | Cc::Prague => Some(0.5),
        Cc::Cubic => Some(settings.cubic_beta),
        // The share of marks, the path's rate and round-trip times decide.
        Cc::Dctcp | Cc::Westwood | Cc::Vegas | Cc::Bbr | Cc::Bbr3 => None,
    }
}

#[derive(Default)]
struct Windows(Vec<(f64, f64)>);

impl RunObserver for Windows {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }

    fn events(&mut self, _: &EventBatch) {}

    fn traces(&mut self, rows: &[TraceRow]) {
        let window = |row: &TraceRow| row.state.cwnd.map(|cwnd| (row.time.as_secs_f64(), cwnd));
        self.0.extend(rows.iter().filter_map(window));
    }
}

/// A flow whose window is the receive window, so that nothing else moves its `cwnd`, gets one mark.
fn one_mark_reduces_once(row: &Combination) -> Result<(), String> {
    if row.feedback == Feedback::None {
        return Ok(());
    }
    let window = (2.0 * row.path.bdp()).ceil() + 20.0;
    let round = row.path.round(window);
    let begin = rounds(row.cc, window) * round;
    let flow = format!("[[tcp]]\nname = 'a'\n{}window = {window}\n", row.flow());
    let record = "[record]\nflows = ['a/0']\nflow_interval = '0s'\n";
    let scenario = row.scenario([0.0, begin + 8.0 * round], "limit = '100000p'", &format!("{flow}{record}"))?;
    let mut windows = Windows::default();
    let first = std::cell::Cell::new(true);
    let fate = move |_, now: Time| match now.as_secs_f64() > begin && first.replace(false) {
        true => Fate::Marked,
        false => Fate::Arrives,
    };
    let (outcome, marked) = run(&scenario, fate, &mut windows)?;
    if marked != 1 || outcome.flows[0].retransmits > 0 {
        return Err(format!("{marked} marks, {} retransmissions", outcome.flows[0].retransmits));
    }
    let Some(expected) = remains(&scenario.tcp[0].settings) else { return Ok(()) };
    let falls: Vec<(f64, f64)> = windows
        .0
        .windows(2)
        .filter(|pair| pair[0].0 > begin && pair[1].1 < pair[0].1)
        .map(|p| (p[0].1, p[1].1))
        .collect();
    match falls[..] {
        // Of the window, or of what the receive window leaves of it.
        [(from, to)] if [from, from.min(window)].iter().any(|from| (to / from / expected - 1.0).abs() < 0.05) => Ok(()),
        _ => Err(format!("the window fell {} times, {falls:?}", falls.len())),
    }
}

/// With every packet marked, a window of one segment leaves at least once in a timeout.
fn marks_never_stop_a_flow(row: &Combination) -> Result<(), String> {
    if row.feedback == Feedback::None {
        return Ok(());
    }
    let flow = format!("[[tcp]]\n{}window = 1000\n", row.flow());
    let scenario = row.scenario([0.0, 60.0], "limit = '100000p'", &flow)?;
    let settings = &scenario.tcp[0].settings;
    let timeout = settings.initial_rto.max(settings.min_rto).as_secs_f64().max(3.0 * row.path.round(1.0));
    let (outcome, _) = run(&scenario, |_, _| Fate::Marked, &mut ())?;
    // ns-2 doubles the timeout with each echo in a row.
    let timeouts = if settings.ecn_backoff { (60.0 / timeout).log2() } else { 60.0 / (timeout + row.path.round(1.0)) };
    let (arrived, least) = (outcome.flows[0].counts.sent, timeouts as u64 - 1);
    if arrived < least { Err(format!("{arrived} packets, at least {least}")) } else { Ok(()) }
}

#[test]
fn one_mark_reduces_the_window_once_by_the_controls_factor() {
    for_each(one_mark_reduces_once);
}

#[test]
fn marks_on_all_packets_never_stop_a_flow() {
    for_each(marks_never_stop_a_flow);
}
