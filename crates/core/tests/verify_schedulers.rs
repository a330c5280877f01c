//! What is claimed of the disciplines that serve queues of flows in turn: SFQ.

#[path = "support/link.rs"]
mod link;

use headgate_core::disciplines::{Sfq, SfqConfig, misclassification};
use headgate_core::{FlowId, Params, Place};
use link::{PLACE, against, run};

/// The bucket of each flow.
fn buckets(settings: &[(&str, &str)], key: u64, flows: u64) -> Vec<usize> {
    let config = SfqConfig::from_settings(settings).unwrap();
    let sfq: Sfq<()> = Sfq::new(config, &Place { key, ..PLACE }).unwrap();
    (0..flows).map(|flow| sfq.buckets().bucket(FlowId(flow))).collect()
}

#[test]
fn sfq_puts_as_many_flows_with_unresponsive_ones_as_equation_1_says() {
    // BLUE paper, section IV-C: with 8 unresponsive flows in 46 bins 16.12 % of the others, 64 of 400, share a bucket
    // with one; BREATHe's 16 buckets by the same equation.
    for (buckets_set, bins) in [("46", 46), ("16", 16)] {
        let runs = 1000;
        let shared: usize = (0..runs)
            .map(|key| {
                let buckets = buckets(&[("buckets", buckets_set)], key, 408);
                buckets[8..].iter().filter(|bucket| buckets[..8].contains(bucket)).count()
            })
            .sum();
        let (seen, expected) = (shared as f64 / (400 * runs) as f64, misclassification(bins, 1, 8));
        // A run's share varies mostly with how many buckets the eight spoil: of 8 that is a variance below 8 (1/n), so
        // a standard deviation below sqrt(8)/n; five of them over the square root of the runs.
        let spread = 5.0 * 8f64.sqrt() / bins as f64 / (runs as f64).sqrt();
        assert!((seen - expected).abs() < spread, "{bins} bins: {seen}, equation (1): {expected}");
    }
}

#[test]
fn sfq_protects_flows_with_buckets_of_their_own_and_no_others() {
    // Nine flows that keep to their share of 100 packets a second and one that sends 20 times that. A flow alone in its
    // bucket loses nothing: 64 packets of room hold its chance variations.
    let settings = [("buckets", "16")];
    let seen = run("sfq:limit=1024p", &against(20.0, 9));
    let buckets = buckets(&settings, PLACE.key, 10);
    let (with, without): (Vec<usize>, Vec<usize>) = (0..9).partition(|flow| buckets[*flow] == buckets[9]);
    assert!(without.iter().all(|flow| seen.rate(*flow) > 97.0), "{:?} in {buckets:?}", seen.rates);
    assert!(!with.is_empty(), "some flow should share: {buckets:?}");
    assert!(with.iter().all(|flow| seen.rate(*flow) < 30.0), "{:?} in {buckets:?}", seen.rates);
}
