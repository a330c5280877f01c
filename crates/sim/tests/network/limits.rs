//! What limits a flow: the link, the window, the access link or the source, each where only it can.

use headgate_measure::LimitTimes;
use headgate_scenario::{Changes, Scenario};

use crate::network::{go, scenario};

/// Seconds in which the link, the window, the access links and the source limited a flow.
fn seconds(limits: LimitTimes) -> [f64; 4] {
    let LimitTimes { limited_by_link, limited_by_window, limited_by_access, limited_by_source } = limits;
    [limited_by_link, limited_by_window, limited_by_access, limited_by_source]
        .map(|time| time.expect("a TCP flow that was active").as_secs_f64())
}

/// The limits of the first flow of a scenario of 10 s.
fn limits(rest: &str) -> [f64; 4] {
    seconds(go(&scenario("10s", "droptail", rest)).flows[0].limits)
}

/// Which of the four limits holds for at least 95 % of 10 s.
fn main_limit(rest: &str) -> &'static str {
    let found = limits(rest);
    let names = ["link", "window", "access", "source"];
    names.into_iter().zip(found).find(|(_, time)| *time > 9.5).unwrap_or_else(|| panic!("{rest}: {found:?}")).0
}

#[test]
fn each_limit_is_found_where_only_it_can_hold() {
    // The link has 10 Mbit/s and a round trip of 24 ms, which is 20 packets of 1500 bytes.
    assert_eq!(main_limit("[[tcp]]\n"), "link");
    assert_eq!(main_limit("[[tcp]]\nflows = 5\necn = true\n"), "link");
    assert_eq!(main_limit("[[tcp]]\nwindow = 8\n"), "window");
    assert_eq!(main_limit("[[tcp]]\nprofile = 'ns2'\nwindow = 8\n"), "window");
    assert_eq!(main_limit("[[tcp]]\nsend_buffer = '8p'\n"), "window");
    assert_eq!(main_limit("[[tcp]]\naccess = { rate = '5Mbit/s' }\n"), "access");
    assert_eq!(main_limit("[[tcp]]\nsender = { rate = '5Mbit/s' }\n"), "access");
    assert_eq!(main_limit("[[tcp]]\nreceiver = { rate = '5Mbit/s' }\n"), "access");
    // Ten packets a second, which the initial window sends at once.
    assert_eq!(main_limit("[[tcp]]\ntraffic = 'ftp:size=14600B,count=100,wait=1s'\n"), "source");
}

#[test]
fn the_default_access_links_do_not_limit_a_fast_link_and_slow_ones_do() {
    let of = |access: &str| {
        let text = format!(
            "name = 'fast'\nduration = '5s'\nwarmup = '1s'\nqdiscs = ['droptail']\n\
             link = {{ rate = '1Gbit/s', delay = '10ms', limit = '2000p' }}\n[[tcp]]\n{access}"
        );
        go(&Scenario::read(&text, "fast.toml", &Changes::default()).unwrap()).flows.remove(0)
    };
    let plain = of("");
    assert!(plain.goodput_bps > 0.9e9, "{}", plain.goodput_bps);
    assert!(seconds(plain.limits)[0] > 3.9, "{:?}", plain.limits);
    let slow = of("access = { rate = '100Mbit/s' }");
    assert!(slow.goodput_bps < 0.1e9 && seconds(slow.limits)[2] > 3.9, "{:?}", slow.limits);
}

#[test]
fn the_four_times_add_up_to_the_time_in_which_a_flow_is_active() {
    let flows = "[[tcp]]\nflows = 3\nstart = '0s..2s'\nstop = '6s'\nwindow = 30\n\
                 [[tcp]]\nflows = 2\nstart = '1s'\ntraffic = 'ftp:size=500KB'\n\
                 [[tcp]]\nflows = 20\ntraffic = 'web'\naccess = { rate = '8Mbit/s' }\n\
                 [[tcp]]\ncc = 'bbr'\nstart = '3s'\nprofile = 'linux'\n[[udp]]\nrate = '1Mbit/s'\n";
    let scenario = Scenario::read(
        &format!(
            "name = 'mix'\nduration = '10s'\nwarmup = '2s'\nqdiscs = ['red']\n\
             link = {{ rate = '10Mbit/s', delay = '10ms', limit = '50p' }}\n{flows}"
        ),
        "mix.toml",
        &Changes::default(),
    );
    let outcome = go(&scenario.unwrap());
    let (udp, tcp) = outcome.flows.split_last().unwrap();
    assert_eq!(udp.limits, LimitTimes::default(), "UDP has no limits");
    let sums: Vec<f64> = tcp.iter().map(|flow| seconds(flow.limits).iter().sum()).collect();
    // Until `stop`, or the end; the files end before it.
    assert!(sums[..3].iter().all(|sum| (*sum - 4.0).abs() < 1e-6), "{sums:?}");
    assert!(sums[3..5].iter().all(|sum| *sum < 7.99), "{sums:?}");
    assert!(sums[5..25].iter().all(|sum| (*sum - 8.0).abs() < 1e-6), "{sums:?}");
    assert!((sums[25] - 7.0).abs() < 1e-6, "{sums:?}");
}

#[test]
fn a_flow_alternates_between_its_limits() {
    // A second of data fills the link, then the source pauses for a second: 1.2 MB take 0.96 s at 10 Mbit/s.
    let [link, _, access, source] = limits("[[tcp]]\ntraffic = 'ftp:size=1.2MB,count=100,wait=1s'\n");
    assert!(link > 3.0 && source > 4.0 && access < 0.5, "{link} {access} {source}");
}
