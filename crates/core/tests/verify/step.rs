//! Claims about marking at a step: the queue's peak, and the difference that the threshold makes to senders without ECN.

use aqm::{Rate, Span, Why};

use crate::verify::closed_loop::{LoopSender, run};

/// A packet of 1500 bytes takes 0.3 ms.
const LINK: Rate = Rate::from_bits(40_000_000);
const PACKET_MS: f64 = 0.3;
const RTT: Span = Span::from_millis(10);

#[test]
fn step_lets_the_queue_grow_to_k_and_a_packet_of_each_sender() {
    // Alizadeh et al., SIGCOMM 2010, section 3.3: Q_max = K + N. Marks begin above K and take effect a round trip later;
    // until then each sender adds one packet. The packet on the link is in the paper's queue but not in Headgate's;
    // its remaining time is at most one packet more of delay.
    for (k, senders) in [(20, 1), (20, 4), (65, 2), (65, 8)] {
        let seen = run(&format!("step:k={k}p"), LINK, &vec![LoopSender::Scalable { rtt: RTT }; senders], 30);
        let (peak, least) = (seen.delay(1.0), PACKET_MS * f64::from(k));
        let most = least + PACKET_MS * (senders + 1) as f64;
        assert!((least..=most).contains(&peak), "k = {k}, {senders}: {peak} ms, not {least} to {most}");
        assert_eq!(seen.totals.counts().marked(), seen.totals.counts().marks(Why::Forced));
    }
}

#[test]
fn step_by_delay_equals_step_by_length_at_a_constant_rate() {
    // Packets of one size wait 0.3 ms for each packet ahead, so 20 packets are 6 ms.
    let senders = vec![LoopSender::Scalable { rtt: RTT }; 4];
    let peaks = ["step:k=20p", "step:k=auto,ce_threshold=6ms"].map(|qdisc| run(qdisc, LINK, &senders, 30).delay(1.0));
    // A departing packet is marked up to 6 ms after its arrival, not at it. Each sender adds another packet in 6 ms of
    // a round trip of 16 ms.
    assert!((peaks[0] - peaks[1]).abs() <= 4.0 * PACKET_MS, "{peaks:?}");
}

#[test]
fn step_leaves_senders_without_ecn_alone_and_drops_their_packets_only_if_told() {
    // Without marks and early drops the queue grows to the limit, as DropTail's; with drops it stays at K.
    let senders = vec![LoopSender::Aimd { rtt: RTT, ect: false }; 4];
    let [plain, dropping] = ["off", "on"].map(|drop| {
        let seen = run(&format!("step:limit=100p,drop_not_ect={drop}"), LINK, &senders, 30);
        (seen.delay(1.0), seen.totals.counts().clone())
    });
    assert_eq!(plain.1.dropped(), plain.1.drops(Why::Overflow));
    assert!(plain.0 >= 99.0 * PACKET_MS, "{} ms", plain.0);
    assert_eq!(dropping.1.dropped(), dropping.1.drops(Why::Forced));
    // 21 packets fit: the last finds 20. One packet is on the link.
    assert!(dropping.0 <= 21.0 * PACKET_MS, "{} ms", dropping.0);
}
