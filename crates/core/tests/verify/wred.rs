//! Claims about WRED: where Scalable senders hold the queue, and that marks on departure come sooner.

use aqm::{Rate, Span};

use crate::verify::closed_loop::{LoopSender, run};

/// A packet of 1500 bytes takes 0.3 ms.
const LINK: Rate = Rate::from_bits(40_000_000);
const PACKET_MS: f64 = 0.3;
const RTT_MS: f64 = 10.0;

#[test]
fn wred_holds_the_queue_where_its_probability_is_what_scalable_senders_ask_for() {
    // A Scalable sender grows by a packet each round trip and shrinks by half a packet for each mark, so its window is
    // 2/p (RFC 9332, section 2.1). N windows fill the path and the queue: N 2/p = (RTT + q) C. On the ramp from 0
    // to 200 packets and maxp, p = maxp q/200 for q packets, and one packet is in transmission.
    let senders = |count| vec![LoopSender::Scalable { rtt: Span::from_millis(RTT_MS as u64) }; count];
    for (count, maxp) in [(1, 0.5), (4, 1.0), (8, 1.0)] {
        let balance = |q: f64| 2.0 * count as f64 / (maxp * q / 200.0) - (RTT_MS / PACKET_MS + q + 1.0);
        let (mut low, mut high) = (1e-3, 200.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if balance(middle) > 0.0 { low = middle } else { high = middle }
        }
        for at in ["arrival", "departure"] {
            let qdisc = format!("wred:minth=0p,maxth=200p,maxp={maxp},at={at}");
            let seen = run(&qdisc, LINK, &senders(count), 60);
            let queue = seen.mean_delay() / PACKET_MS;
            // Windows fluctuate by sqrt(W) or so around a convex law; 15 % covers eight of them.
            assert!((queue / low - 1.0).abs() < 0.15, "{count} senders, {at}: {queue} packets, expected {low}");
            assert_eq!(seen.totals.counts().dropped(), 0);
        }
    }
}
