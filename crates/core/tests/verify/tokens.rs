//! The claims of Kamra, Saran, Sen and Shorey (Computer Networks 44(2), 2004) about SFED and FABA, at one queue with
//! senders of constant demand.

use aqm::{Class, ClassId, Why};

use crate::verify::link::{CAPACITY, LinkFlow, against, flow, run, run_classed};

/// The mean rate of all flows but the last, relative to their fair share.
fn others(qdisc: &str, flows: &[LinkFlow]) -> f64 {
    let (seen, others) = (run(qdisc, flows), flows.len() - 1);
    (0..others).map(|flow| seen.rate(flow)).sum::<f64>() / others as f64 / (CAPACITY / flows.len() as f64)
}

#[test]
fn sfed_holds_a_flow_to_its_fair_share_however_much_it_sends() {
    // Sections 5.3 and 5.4: 9 flows that send their share and one that sends more, 780 packets of buffer.
    for times in [2.0, 5.0, 20.0] {
        let sfed = run("sfed:limit=780p", &against(times, 9));
        assert!((sfed.rate(9) - 100.0).abs() < 5.0, "x{times}: {}", sfed.rate(9));
        assert!((0..9).all(|flow| sfed.rate(flow) > 97.0), "x{times}: {:?}", sfed.rates);
        assert_eq!(sfed.counts.dropped(), sfed.counts.drops(Why::Bucket));
    }
}

#[test]
fn sfed_and_faba_are_fairer_with_larger_buffers_and_sfed_leads_most_with_small_ones() {
    // Table 1: with buffers of 1/10, 1/5, 1/2, 1 and 2 times 780 packets, nine TCP flows get 0.923, 0.975, 0.982,
    // 0.990, 0.994 of their fair share with SFED, and 0.888, 0.953, 0.975, 0.987, 0.993 with FABA. Senders of constant
    // demand lose less; the order and the trend are the same. The share of a flow of 8000 packets has a standard
    // deviation of 0.001.
    let shares =
        |name: &str| [78, 156, 390, 780, 1560].map(|p| others(&format!("{name}:limit={p}p"), &against(5.0, 9)));
    let (sfed, faba) = (shares("sfed"), shares("faba"));
    let ahead: Vec<f64> = sfed.iter().zip(faba).map(|(sfed, faba)| sfed - faba).collect();
    assert!(
        sfed.is_sorted_by(|a, b| a < &(b + 0.001)) && faba.is_sorted_by(|a, b| a < &(b + 0.001)),
        "{sfed:?} {faba:?}"
    );
    assert!(ahead.iter().all(|by| *by > -0.001) && ahead[0] > 3.0 * ahead[3], "{ahead:?}");
    // At least the paper's values, which TCP's reactions reduce.
    let paper = [0.923, 0.975, 0.982, 0.990, 0.994].into_iter().zip([0.888, 0.953, 0.975, 0.987, 0.993]);
    assert!(sfed.iter().zip(faba).zip(paper).all(|((s, f), (ps, pf))| *s > ps && f > pf), "{sfed:?} {faba:?}");
}

#[test]
fn sfed_uses_the_whole_link_when_flows_outnumber_tokens() {
    // Only departures return tokens. With more flows than tokens, every bucket could be empty while the queue is empty.
    let sfed = run("sfed:limit=20p", &vec![flow(12.0); 100]);
    assert!(sfed.rates.iter().sum::<f64>() > 0.97e6, "{}", sfed.rates.iter().sum::<f64>());
}

fn class(parent: Option<u16>, weight: f64) -> Class {
    Class { parent: parent.map(ClassId), weight }
}

/// Rate of each class in packets a second, with `senders` given as (class, number, rate).
fn by_class(qdisc: &str, classes: &[Class], senders: &[(u16, usize, f64)]) -> Vec<f64> {
    let each = |(class, senders, rate): &(u16, usize, f64)| vec![(*class, flow(*rate)); *senders];
    let (of, flows): (Vec<u16>, Vec<LinkFlow>) = senders.iter().flat_map(each).unzip();
    let seen = run_classed(qdisc, &flows, &of, classes);
    let mut rates = vec![0.0; classes.len()];
    of.iter().enumerate().for_each(|(flow, class)| rates[usize::from(*class)] += seen.rate(flow));
    rates
}

/// Whether all rates are within 2 % of the link's rate.
fn near(rates: &[f64], wanted: &[f64]) -> bool {
    rates.iter().zip(wanted).all(|(rate, wanted)| (rate - wanted).abs() < 0.02 * CAPACITY)
}

#[test]
fn faba_shares_the_link_by_weight_at_any_demands() {
    // Section 6.1: bandwidth in proportion to w_i = c_i / sum c. Each class demands more than its share, the first
    // class most.
    let classes = [1.0, 2.0, 3.0, 4.0].map(|weight| class(None, weight));
    for per in ["class", "flow_in_class"] {
        for limit in [100, 780] {
            let senders = [(0, 1, 2000.0), (1, 1, 500.0), (2, 1, 500.0), (3, 1, 500.0)];
            let rates = by_class(&format!("faba:limit={limit}p,per={per}"), &classes, &senders);
            assert!(near(&rates, &[100.0, 200.0, 300.0, 400.0]), "{per} {limit}p: {rates:?}");
        }
    }
}

#[test]
fn faba_limits_an_aggregate_to_its_share_for_any_number_of_senders() {
    // Section 6.2, figure 17: 100 flows in one class, and n CBR flows of a twentieth of the link each in another. The
    // CBR flows get their demand, up to half of the link.
    let classes = [class(None, 1.0), class(None, 1.0)];
    for (n, wanted) in [(4, 200.0), (8, 400.0), (12, 500.0), (20, 500.0)] {
        for per in ["class", "flow_in_class"] {
            let senders = [(0, 100, 12.0), (1, n, 50.0)];
            let rates = by_class(&format!("faba:limit=780p,per={per}"), &classes, &senders);
            assert!(near(&rates, &[CAPACITY - wanted, wanted]), "{n} {per}: {rates:?}");
        }
        // Without classes, more CBR flows get a larger share.
        let alike = by_class("faba:limit=780p", &classes, &[(0, 100, 12.0), (1, n, 50.0)]);
        assert!(n < 8 || alike[1] < wanted - 50.0, "{n}: {alike:?}");
    }
}

#[test]
fn faba_gives_the_unused_share_of_a_class_to_its_siblings_first() {
    // Section 6.3, figures 18 and 19: CBR has 25 %; of the rest, Telnet has a third and FTP two thirds. 40 CBR flows
    // demand the whole link, 40 Telnet flows 30 % of it, and 20 FTP flows more than the link.
    let classes = [class(None, 1.0), class(None, 3.0), class(Some(1), 1.0), class(Some(1), 2.0)];
    for per in ["class", "flow_in_class"] {
        let faba = format!("faba:limit=780p,per={per}");
        let busy = by_class(&faba, &classes, &[(0, 40, 25.0), (2, 40, 7.5), (3, 20, 60.0)]);
        assert!(near(&busy, &[250.0, 0.0, 250.0, 500.0]), "{per}: {busy:?}");
        // Telnet demands only 10 %. FTP gets the remaining 15 %, CBR none of it. With sibling weights of 1, 1 and 2,
        // CBR would get 300.
        let quiet = by_class(&faba, &classes, &[(0, 40, 25.0), (2, 40, 2.5), (3, 20, 60.0)]);
        assert!(near(&quiet, &[250.0, 0.0, 100.0, 650.0]), "{per}: {quiet:?}");
        // Neither Telnet nor FTP uses its share, which therefore goes a level up, to CBR.
        let idle = by_class(&faba, &classes, &[(0, 40, 25.0), (2, 40, 2.5), (3, 20, 10.0)]);
        assert!(near(&idle, &[700.0, 0.0, 100.0, 200.0]), "{per}: {idle:?}");
    }
}

#[test]
fn with_flow_in_class_the_flows_of_a_class_share_its_part_equally() {
    // Section 6.3: classes by kind of traffic, then flows by address. The first class has nine flows that demand their
    // share of half the link, and one that demands the whole link.
    let classes = [class(None, 1.0), class(None, 1.0)];
    let mut flows = vec![flow(50.0); 9];
    flows.extend([flow(1000.0); 2]);
    let of = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let hog = |per: &str| run_classed(&format!("faba:limit=780p,per={per}"), &flows, &of, &classes).rate(9);
    let (told_apart, together) = (hog("flow_in_class"), hog("class"));
    assert!((told_apart - 50.0).abs() < 10.0 && together > 200.0, "{told_apart} {together}");
}
