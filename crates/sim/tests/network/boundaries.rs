//! What happens at the boundaries of a run: the end of the warm-up, the end, and arrivals that lie ahead.

use aqm::Span;
use headgate_measure::{IntervalQuantity, Outcome, OverTimeMetric};
use headgate_scenario::{Changes, Scenario};

use crate::network::go;

/// A scenario on a link of `link` with `top` keys before it.
fn read(top: &str, link: &str, groups: &str) -> Scenario {
    let text = format!("name = \"ends\"\nqdiscs = [\"droptail\"]\n{top}\n[link]\n{link}\n{groups}");
    Scenario::read(&text, "ends.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Goodput of all groups together in each interval, in bit/s.
fn over_time(outcome: &Outcome, groups: usize) -> Vec<f64> {
    let goodput = |row: &&_| matches!(row, headgate_measure::IntervalRow { metric: IntervalQuantity::Metric(metric), .. } if *metric == OverTimeMetric::GOODPUT_BPS);
    let values: Vec<f64> = outcome.intervals.iter().filter(goodput).map(|row| row.value).collect();
    values.chunks(groups).map(|one| one.iter().sum()).collect()
}

/// Short and long paths, losses and reordering, short and long transfers, sources that write partial packets.
const CASES: [(&str, &str); 8] = [
    ("rate = '5Mbit/s'\ndelay = '20ms'\nlimit = '20p'", "[[tcp]]\nflows = 3\nstart = '0s..1s'\n"),
    ("rate = '10Mbit/s'\ndelay = '300ms'\nlimit = '200p'", "[[tcp]]\nflows = 2\n[[udp]]\nrate = '2Mbit/s'\n"),
    (
        "rate = '10Mbit/s'\ndelay = '5ms'\nlimit = '30p'\nloss = 0.05\nreorder = 0.1\nreorder_by = '8ms'",
        "[[tcp]]\nflows = 4\n",
    ),
    ("rate = '10Mbit/s'\ndelay = '5ms'\nlimit = '30p'\njitter = '30ms'", "[[tcp]]\nflows = 4\n[[udp]]\ncc = 'tfrc'\n"),
    (
        "rate = '2Mbit/s'\ndelay = '5ms'\nlimit = '30p'\nschedule = [{ at = '2s', rate = '0bit/s' }, { at = '3s', rate = '9Mbit/s' }]",
        "[[tcp]]\nflows = 2\n[[udp]]\nrate = '1Mbit/s'\nstop = '4s'\n",
    ),
    (
        "rate = '10Mbit/s'\ndelay = '5ms'\nlimit = '30p'",
        "[[tcp]]\nflows = 40\nstart = '0s..5s'\ntraffic = 'ftp:size=exp(20KB),count=3'\n[[tcp]]\nname = 'web'\nflows = 3\ntraffic = 'web'\n",
    ),
    ("rate = '1Mbit/s'\ndelay = '5ms'\nlimit = '90p'", "[[udp]]\nflows = 12\ntraffic = 'voip'\npacket = '120B'\n"),
    (
        "rate = '50Mbit/s'\ndelay = '5ms'\nlimit = '90p'",
        "[[udp]]\nrate = '40Mbit/s'\nreceiver = { rate = '5Mbit/s', delay = '2ms' }\n[[tcp]]\n",
    ),
];

fn run(warmup: &str, case: (&str, &str)) -> (Scenario, Outcome) {
    let top = format!("duration = '6s'\nwarmup = '{warmup}'\nrecord = {{ interval = '250ms' }}");
    let scenario = read(&top, case.0, case.1);
    let outcome = go(&scenario);
    (scenario, outcome)
}

#[test]
fn goodput_over_any_partition_of_the_window_adds_up_to_that_of_the_whole() {
    for case in CASES {
        let (scenario, whole) = run("2s", case);
        let over_time = over_time(&whole, scenario.groups().count());
        let window: f64 = whole.flows.iter().map(|flow| flow.goodput_bps).sum();
        let parts = over_time[8..].iter().sum::<f64>() / 16.0;
        assert!((parts - window).abs() <= 1e-9 * window, "{case:?}: {parts}, {window} bit/s");
        // Where the warm-up ends changes nothing else.
        let all: f64 = run("0s", case).1.flows.iter().map(|flow| flow.goodput_bps).sum();
        let parts = over_time.iter().sum::<f64>() / 24.0;
        assert!((parts - all).abs() <= 1e-9 * all, "{case:?}: {parts}, {all} bit/s");
    }
}

#[test]
fn no_interval_has_more_goodput_than_the_link_carries() {
    for case in CASES {
        let (scenario, outcome) = run("0s", case);
        let link = &scenario.links[0];
        let most = link.forward.rate_variation.most(link.forward.rate, Span::from_millis(250)) as f64 * 32.0;
        // Jitter and reordering can bring packets of a longer time together.
        let together = if case.0.contains("jitter") || case.0.contains("reorder") { 1.2 } else { 1.0 };
        for goodput in over_time(&outcome, scenario.groups().count()) {
            assert!(goodput <= most * together, "{case:?}: {goodput} of {most} bit/s");
        }
    }
}

#[test]
fn nothing_that_arrives_after_the_end_counts() {
    // The link takes four seconds, the run three.
    let groups = "[[tcp]]\ntraffic = 'ftp:size=1000B'\n[[udp]]\nrate = '1Mbit/s'\n";
    let long = |duration| {
        go(&read(&format!("duration = '{duration}'"), "rate = '10Mbit/s'\ndelay = '4s'\nlimit = '100p'", groups))
    };
    let outcome = long("3s");
    for flow in &outcome.flows {
        assert!(flow.counts.sent > 0);
        assert_eq!((flow.goodput_bps, flow.milestones.startup), (0.0, None));
    }
    assert_eq!((outcome.transfers[0].end, outcome.one_way[1].excess.count()), (None, 0));
    assert!(over_time(&outcome, 2).iter().all(|goodput| *goodput == 0.0));
    let outcome = long("5s");
    assert!(outcome.transfers[0].end.is_some());
    assert_eq!(outcome.flows[0].goodput_bps * 5.0 / 8.0, 1000.0, "no padding");
    assert!(outcome.flows.iter().all(|flow| flow.milestones.startup.is_some_and(|at| at > Span::from_secs(4))));
}

#[test]
fn no_packet_is_faster_than_the_least_delay_of_its_path() {
    // The measurement asserts it for each packet.
    for case in CASES {
        let (_, outcome) = run("0s", case);
        assert!(outcome.one_way.iter().all(|way| way.excess.count() > 0), "{case:?}");
    }
    // Of 5 to 10 s: 40 us on each access link, 120 us at 100 Mbit/s; 1000 bytes at 10 Mbit/s in place of 1 take 0.8 ms.
    let top = "duration = '10s'\nwarmup = '5s'";
    let link = "rate = '1Mbit/s'\ndelay = '2ms'\nlimit = '9p'\nschedule = [{ at = '4s', rate = '10Mbit/s' }]";
    let outcome =
        go(&read(top, link, "[[udp]]\nrate = '500kbit/s'\naccess = { rate = '100Mbit/s', delay = '500us' }\n"));
    let way = &outcome.one_way[0];
    let median = way.base.as_secs_f64() + way.excess.quantile(0.5).unwrap() / 1e9;
    assert!((median - 0.00396).abs() < 2e-6, "{median}");
}

#[test]
fn jains_index_lies_between_its_bounds_and_is_1_for_perfect_fairness() {
    let flows = "[[udp]]\nflows = 10\nrate = '500kbit/s'\nstart = { flows = 1, every = '1600us' }\n";
    let outcome = go(&read("duration = '12s'", "rate = '10Mbit/s'\ndelay = '5ms'\nlimit = '90p'", flows));
    let index = &outcome.fairness[1].indices;
    assert!(index.len() == 12 && index[1..].iter().all(|index| *index > 0.9999), "{index:?}");
    for case in CASES {
        let (scenario, outcome) = run("1s", case);
        let least = 1.0 / f64::from(scenario.total_flows());
        for row in &outcome.fairness {
            let slots = (5.0 / row.scale_s).floor() as usize;
            assert!(row.indices.len() <= slots, "{case:?}: {} of {slots}", row.indices.len());
            let bounds = least * (1.0 - 1e-12)..=1.0;
            assert!(row.indices.iter().all(|index| bounds.contains(index)), "{case:?}: {:?}", row.indices);
        }
    }
}

#[test]
fn a_flow_that_shares_the_link_for_a_part_of_the_window_gets_its_fair_share_of_that_part() {
    let link = "rate = '10Mbit/s'\ndelay = '5ms'\nlimit = '50p'";
    let groups = "[[udp]]\nname = 'always'\nrate = '20Mbit/s'\n[[udp]]\nname = 'gone'\nrate = '20Mbit/s'\nstop = '1s'\n\
                  [[udp]]\nname = 'half'\nrate = '20Mbit/s'\nstart = '6s'\n";
    let outcome =
        go(&read("duration = '10s'\nwarmup = '2s'", link, &groups.replace("rate = '20", "jitter = 1.0\nrate = '20")));
    let [always, gone, half] = &outcome.flows[..] else { panic!("three flows") };
    assert_eq!((gone.fair_share_bps, gone.goodput_bps < 1e4), (None, true), "{gone:?}");
    for flow in [always, half] {
        let share = flow.goodput_bps / flow.fair_share_bps.unwrap();
        assert!((share - 1.0).abs() < 0.15, "{share} of {:?}", flow.fair_share_bps);
    }
}
