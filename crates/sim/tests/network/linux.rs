//! The profile `linux` on a simulated path.

use crate::network::{go, scenario};

/// Goodput in Mbit/s and retransmissions of one flow with `options`, over 20 s on a link that delays one packet in 50.
fn reordered(options: &str) -> (f64, u32) {
    let rest = format!("reorder = 0.02\nreorder_by = \"40ms\"\n[[tcp]]\nprofile = \"linux\"\n{options}");
    let outcome = go(&scenario("20s", "droptail", &rest));
    (outcome.flows[0].goodput_bps / 1e6, outcome.flows[0].retransmits as u32)
}

#[test]
fn undo_keeps_the_window_where_a_path_reorders() {
    // A packet that is 40 ms late is beyond RACK's window of a quarter round trip, which duplicates widen only slowly. Each
    // such packet costs a reduction, unless it is taken back (RFC 4015, section 1).
    let (with, without) = (reordered(""), reordered("undo = false"));
    assert!(without.1 > 5, "{} needless retransmissions", without.1);
    assert!(with.0 > 1.2 * without.0, "{with:?} with undo, {without:?} without");
    // Duplicates alone prove as much.
    let by_duplicates = reordered("timestamps = false\nheader = \"52B\"\nack = \"52B\"");
    assert!(by_duplicates.0 > 1.2 * without.0, "{by_duplicates:?} by duplicates");
}
