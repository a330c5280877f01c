//! REM's claim: the queue clears to b* and the arrival rate matches the link, whatever the number of users. Only the
//! price tells the loads apart.

use aqm::{Rate, Span};

use crate::verify::closed_loop::{LoopMeasurements, LoopSender, run};

/// The paper's 64 Mbit/s: 5333 packets of 1500 bytes a second.
const LINK: Rate = Rate::from_bits(64_000_000);
const PACKETS_PER_UPDATE: f64 = 64e6 / 12_000.0 * 0.002;
const RTT: Span = Span::from_millis(100);
const SECONDS: u64 = 100;
const UPDATES: f64 = SECONDS as f64 / 0.002;

fn through(qdisc: &str, flows: usize) -> LoopMeasurements {
    run(qdisc, LINK, &vec![LoopSender::Aimd { rtt: RTT, ect: true }; flows], SECONDS)
}

#[test]
fn rem_clears_the_queue_to_its_target_for_any_number_of_users() {
    // Athuraliya et al., IEEE Network 2001: "match rate clear buffer". Measures of performance are stabilized around
    // their targets independently of the number of users, and the price alone changes.
    let seen = [20, 40, 80].map(|flows| through("rem:preset=athuraliya2001", flows));
    for each in &seen {
        // The sum of all mismatches is the change of the price over gamma. Packets are marked, so arrivals per update
        // are the link's packets times its use. What remains is the queue's distance from b*, times alpha.
        // Two packets are left for the difference between the times of updates and of departures.
        let idle = (1.0 - each.used()) * PACKETS_PER_UPDATE;
        let price = each.gauge("price") / (0.001 * UPDATES);
        let queue = each.mean_delay() / 1000.0 * 64e6 / 12_000.0;
        let (least, most) = (20.0 - price / 0.1, 20.0 + (price + idle) / 0.1);
        assert!((least - 2.0..most + 2.0).contains(&queue), "{queue} packets, not {least} to {most}");
        // One flow without a queue would use three quarters.
        assert!(each.used() > 0.9, "{}", each.used());
    }
    // Half the window needs up to four times the probability.
    let probabilities = seen.each_ref().map(|each| each.gauge("probability"));
    assert!(probabilities.is_sorted_by(|few, many| 2.0 * few < *many), "{probabilities:?}");
}

#[test]
fn rem_probabilities_of_two_links_multiply_to_that_of_the_sum_of_prices() {
    // Section "Sum prices": the probability of a mark on a path is 1 - phi^-(p1 + p2).
    let mark = |price: f64| 1.0 - 1.001_f64.powf(-price);
    let [first, second] = [mark(40.0), mark(300.0)];
    assert!((1.0 - (1.0 - first) * (1.0 - second) - mark(340.0)).abs() < 1e-12);
}
