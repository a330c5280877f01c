//! The papers' claims about RED, CHOKe and BLUE at one queue, with AIMD and unresponsive senders.

use aqm::Why;

use crate::verify::one_queue::{CAPACITY, FLOOD, flood, responsive, run, steady};

#[test]
fn red_keeps_the_average_between_the_thresholds_while_droptail_stays_near_full() {
    // Floyd, Jacobson 1993, sections IV and V; ten flows and thresholds of the comparison paper.
    let red = run("red:limit=150p,minth=50p,maxth=100p,maxp=0.02", responsive(10));
    let inside = red.part("average", |average| (50.0..100.0).contains(&average));
    assert!(inside > 0.95 && red.utilization() > 0.99, "{inside} {}", red.utilization());
    assert_eq!(red.counts.drops(Why::Overflow), 0);
    let droptail = run("droptail:limit=150p", responsive(10));
    assert!(droptail.mean("queue") > 100.0, "{}", droptail.mean("queue"));
}

#[test]
fn red_under_constant_overload_settles_where_its_drops_are_the_excess() {
    // At 1.2 times the link's rate, 1/6 of the packets must be dropped. Spaced drops have gaps uniform in 1..1/pb with
    // mean 1/(2 pb), so pb = 1/12. With maxp 1/4 this is a third of the way from minth to maxth.
    let red = run("red:limit=400p,minth=100p,maxth=200p,maxp=0.25", vec![steady(1.2 * CAPACITY)]);
    assert!((red.mean("average") - 133.3).abs() < 5.0, "{}", red.mean("average"));
    assert!((red.mean("probability") - 1.0 / 12.0).abs() < 0.01, "{}", red.mean("probability"));
}

#[test]
fn red_does_not_limit_an_unresponsive_flow() {
    // Comparison paper, figure 4: above the link's rate, the CBR flow takes nearly the whole link.
    let red = run("red:limit=150p,minth=50p,maxth=100p", flood(2.0));
    assert!(red.share(FLOOD) > 0.8, "{}", red.share(FLOOD));
}

#[test]
fn blue_settles_at_the_probability_that_drops_the_excess() {
    // ToN 2002, section III-A: pm learns the right drop rate. At 1.2 times the link's rate it is 1/6.
    for preset in ["B1", "B2", "B3", "B4", "testbed"] {
        let blue = run(&format!("blue:limit=200p,preset={preset}"), vec![steady(1.2 * CAPACITY)]);
        let (mean, near) = (blue.mean("probability"), blue.part("probability", |pm| (pm - 1.0 / 6.0).abs() < 0.04));
        assert!((mean - 1.0 / 6.0).abs() < 0.02 && near > 0.9, "{preset}: {mean} {near}");
    }
}

#[test]
fn blue_with_a_threshold_leaves_room_for_bursts_and_has_a_shorter_queue() {
    // ToN 2002, figure 3, the variation.
    for preset in ["B1", "B3", "B4"] {
        let plain = run(&format!("blue:limit=200p,preset={preset}"), responsive(10));
        let early = run(&format!("blue:limit=200p,preset={preset},threshold=50p"), responsive(10));
        let (most, least) = (plain.mean("queue"), early.mean("queue"));
        assert!(least < most && early.utilization() > 0.99, "{preset}: {least} {most} {}", early.utilization());
        assert_eq!(early.counts.drops(Why::Overflow), 0, "{preset}");
    }
}

#[test]
fn choke_gives_a_flood_less_than_droptail_and_red_do_and_less_at_higher_rates() {
    // Comparison paper, figure 4, from 2 to 8 times the link's rate.
    let share = |qdisc: &str, times| run(&format!("{qdisc}:limit=150p"), flood(times)).share(FLOOD);
    let choke = [2.0, 4.0, 8.0].map(|times| share("choke", times));
    assert!(choke[0] > choke[1] && choke[1] > choke[2], "{choke:?}");
    assert!(choke[1] < 0.5 * share("droptail", 4.0) && choke[1] < 0.5 * share("red", 4.0), "{choke:?}");
}

#[test]
fn choke_bounds_a_flood_near_27_percent_of_the_link() {
    // Tang, Wang, Low, "Understanding CHOKe: throughput and spatial characteristics", IEEE/ACM ToN 12(4), 2004: with
    // many TCP flows and drops by matches only, a flood gets at most 1/(1 + e) of the link, at 1.19 times the link's
    // rate.
    let mut senders = responsive(50);
    senders.push(steady(1.19 * CAPACITY));
    let choke = run("choke:limit=1000p,minth=50p,maxth=900p,maxp=0", senders);
    let most = 1.0 / (1.0 + core::f64::consts::E);
    assert!((choke.share(50) - most).abs() < 0.05, "{} {most}", choke.share(50));
}

/// The share of the link that `floods` senders at the link's rate take from ten responsive senders.
fn taken(qdisc: &str, floods: usize) -> f64 {
    let mut senders = responsive(10);
    senders.extend((0..floods).map(|_| steady(CAPACITY)));
    let seen = run(&format!("{qdisc},limit=150p,minth=50p,maxth=100p"), senders);
    (10..10 + floods).map(|flow| seen.share(flow)).sum()
}

#[test]
fn against_several_floods_the_first_additional_candidates_help_most() {
    // Pan, Prabhakar, Psounis 2000 on M-CHOKe. Once the average is near minth, further candidates gain little.
    let part = [1, 2, 4, 8].map(|m| taken(&format!("choke:candidates={m}"), 5));
    assert!(part.is_sorted_by(|few, many| few > many), "{part:?}");
    assert!(part[0] - part[2] > 5.0 * (part[2] - part[3]), "{part:?}");
}

#[test]
fn adaptive_choke_gives_floods_less_than_basic_choke_without_knowing_their_number() {
    for floods in [2, 5, 10] {
        let [basic, one, five, ten] = [0, 1, 5, 10].map(|k| taken(&format!("choke:adaptive={k}"), floods));
        assert!(five < 0.85 * basic, "{floods} floods: {five} {basic}");
        // Comparison paper, figure 14: the step from 1 to 5 regions gains more than the step from 5 to 10.
        assert!(one - five >= five - ten - 0.01, "{floods} floods: {one} {five} {ten}");
    }
}
