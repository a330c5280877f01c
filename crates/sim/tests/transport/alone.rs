//! Alone on a link that loses and marks nothing, a flow fills it.

use headgate_scenario::Cc;
use headgate_sim::run;

use super::combinations::{Combination, for_each};

/// Round trips until the window is `window`. Slow start grows by half or more in each (RFC 5681, section 3.1, with
/// delayed acknowledgements), BBR's startup by more. Delay-based controllers then add at most a segment in each.
pub fn rounds(cc: Cc, window: f64) -> f64 {
    let slow_start = window.ln() / 1.5_f64.ln() + 10.0;
    match cc {
        Cc::Vegas | Cc::Ledbat => 2.0 * slow_start + window,
        Cc::Bbr | Cc::Bbr3 => 2.0 * slow_start,
        Cc::Reno | Cc::Cubic | Cc::Dctcp | Cc::Prague | Cc::Westwood => slow_start,
    }
}

/// The least part of the link that a flow uses from then on. BBR lowers its window in one of ten seconds to measure the
/// round trip, version 3 in one of five.
fn least_share(cc: Cc) -> f64 {
    match cc {
        Cc::Bbr => 0.9,
        Cc::Bbr3 => 0.85,
        _ => 0.98,
    }
}

fn fills(row: &Combination) -> Result<(), String> {
    // A receive window of two round trips of data and a queue for all of it: nothing is lost.
    let window = (2.0 * row.path.bdp()).ceil() + 20.0;
    let round = row.path.round(window);
    let warmup = rounds(row.cc, window) * round;
    let flow = format!("[[tcp]]\n{}window = {window}\n", row.flow());
    let measured = (20.0 * round).max(1.0);
    let scenario = row.scenario([warmup, warmup + measured], "limit = '100000p'", &flow)?;
    let outcome = run(&scenario, &scenario.qdiscs[0], 1, &mut ()).map_err(|error| error.to_string())?;
    let group = &scenario.tcp[0];
    let payload = f64::from(group.packet - group.header) / f64::from(group.packet);
    let share = outcome.flows[0].goodput_bps / (row.path.mbit_per_s * 1e6 * payload);
    if outcome.flows[0].retransmits > 0 {
        return Err(format!("{} retransmissions", outcome.flows[0].retransmits));
    }
    // At most a packet more than the link can send in the time can arrive: one whose transmission began before.
    let one_packet = 1.0 / (row.path.mbit_per_s * 1e6 * measured / 8.0 / f64::from(group.packet));
    if share < least_share(row.cc) || share > 1.0 + one_packet {
        Err(format!("{share:.3} of the link"))
    } else {
        Ok(())
    }
}

#[test]
fn a_flow_alone_fills_its_link() {
    for_each(fills);
}
