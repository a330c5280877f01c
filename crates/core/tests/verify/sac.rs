//! The claim of self-adjustable CHOKe: protection against any number of floods, without a setting for their number.

use crate::verify::one_queue::{CAPACITY, responsive, run, steady};

/// Ten responsive senders, and `floods` senders at the link's rate.
fn against(qdisc: &str, floods: usize) -> crate::verify::one_queue::QueueTotals {
    let mut senders = responsive(10);
    senders.extend((0..floods).map(|_| steady(CAPACITY)));
    run(&format!("{qdisc}:limit=150p,minth=50p,maxth=100p"), senders)
}

#[test]
fn floods_get_less_than_with_basic_choke() {
    for floods in [1, 2, 5] {
        let taken = |qdisc: &str| -> f64 {
            let seen = against(qdisc, floods);
            (10..10 + floods).map(|flow| seen.share(flow)).sum()
        };
        let (sac, choke) = (taken("sac"), taken("choke"));
        // With one flood, basic CHOKe already holds the average at minth, and SAC cannot improve on it.
        let least = if floods == 1 { 1.02 } else { 0.9 };
        assert!(sac < least * choke, "{floods} floods: {sac} {choke}");
    }
}

#[test]
fn the_number_of_candidates_follows_the_share_of_the_flood() {
    // 25 equal flows have four packets each in the queue. An arrival matches once in 25 times, and the square root of
    // 1/25 is 0.2.
    let equal = |share: f64, flows: u32| (0..flows).map(move |_| steady(share * CAPACITY / f64::from(flows)));
    let seen = |senders: Vec<_>| run("sac:limit=300p,minth=100p,maxth=200p", senders);
    let calm = seen(equal(1.1, 25).collect());
    assert!((calm.mean("share") - 0.2).abs() < 0.03, "{}", calm.mean("share"));
    // One flow has half of the arrivals, but less than half of the queue because it loses more. The share is therefore
    // below 0.5, but far above 0.2.
    let flooded = seen(equal(0.6, 25).chain([steady(0.6 * CAPACITY)]).collect());
    assert!((0.35..0.5).contains(&flooded.mean("share")), "{}", flooded.mean("share"));
    assert!(flooded.mean("candidates") > calm.mean("candidates") + 1.0, "{}", flooded.mean("candidates"));
}
