//! AVQ's claim: it holds the utilization at gamma with a short queue, whatever the number of flows.

use aqm::{Rate, Span};

use crate::verify::closed_loop::{LoopMeasurements, LoopSender, run};

/// 2500 packets of 1500 bytes a second: 250 packets in a round trip, so 80 windows of at least two packets fit.
const LINK: Rate = Rate::from_bits(30_000_000);
const SECONDS: u64 = 200;

fn through(qdisc: &str, flows: usize, ect: bool) -> LoopMeasurements {
    run(qdisc, LINK, &vec![LoopSender::Aimd { rtt: Span::from_millis(100), ect }; flows], SECONDS)
}

#[test]
fn avq_holds_the_utilization_at_gamma_for_any_number_of_flows() {
    // Kunniyur, Srikant, SIGCOMM 2001: gamma is the desired utilization. The virtual capacity changes by alpha (gamma C
    // - arrival rate) per second and stays between 0 and C. Over 200 s the mean arrival rate is therefore within 1/(0.15
    // x 200) of gamma C, if the capacity moved by all of C; it moves by a quarter at most.
    for gamma in [0.9, 0.98] {
        for (flows, ect) in [(10, true), (20, true), (80, true), (40, false)] {
            let seen = through(&format!("avq:limit=250p,gamma={gamma}"), flows, ect);
            let error = (seen.used() - gamma).abs();
            assert!(error < 0.25 / (0.15 * SECONDS as f64), "{gamma}, {flows}, {ect}: {}", seen.used());
        }
    }
}

#[test]
fn avq_keeps_the_queue_of_many_flows_short_where_reds_grows() {
    // The abstract: its ability to maintain small queue lengths. At a utilization of u, packets of one size that arrive
    // at random form a queue of u^2 / (2 (1 - u)) packets (M/D/1): 24 at 0.98 and 4 at 0.9. Many flows come close to
    // this. Few flows send bursts, and need a lower utilization.
    for (gamma, flows) in [(0.98, 40), (0.98, 80), (0.9, 10), (0.9, 40), (0.9, 80)] {
        let qdiscs = [&format!("avq:limit=250p,gamma={gamma}"), "red:limit=250p", "droptail:limit=250p"];
        let [short, others @ ..] = qdiscs.map(|qdisc| through(qdisc, flows, true).mean_delay());
        assert!(others.iter().all(|other| 2.0 * short < *other), "{gamma}, {flows}: {short} ms, {others:?} ms");
    }
}
