//! The kernel's own qdisc in place of a discipline, beside ours. The tests need root and tc, and are skipped without them,
//! with the reason printed.

use std::io;

use aqm::Time;
use headgate_live::netns;
use headgate_live::run::{
    KernelQdisc, LiveRun, LiveRunError, check_kernel_qdisc, check_kernel_supported, run, run_kernel,
};
use headgate_measure::{EventBatch, RunObserver};
use headgate_scenario::{Changes, Scenario};

/// Whether the tests can run; prints the reason if not.
fn possible() -> bool {
    if !headgate_needs::has("tc", "iproute2") {
        return false;
    }
    let prepared = netns::prepare();
    if prepared.is_err() {
        headgate_needs::skip("namespaces");
    }
    prepared.is_ok()
}

fn kernel_qdisc(words: &str) -> KernelQdisc {
    KernelQdisc { words: words.split_whitespace().map(str::to_string).collect() }
}

struct Silent;

impl RunObserver for Silent {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, _: &EventBatch) {}
}

/// Two TCP flows, and a constant rate that alone fills 4 Mbit/s one and a half times.
fn scenario(limit: &str) -> Scenario {
    let text = format!(
        "name = 'fifo'\nqdiscs = ['droptail']\nduration = '3s'\nwarmup = '1s'\n\
         link = {{ rate = '4Mbit/s', delay = '5ms', limit = '{limit}' }}\n\
         [[tcp]]\nflows = 2\nrecovery = 'newreno'\n[[udp]]\nrate = '6Mbit/s'\npacket = '1000B'\n"
    );
    Scenario::read(&text, "fifo.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn in_both(limit: &str, words: &str) -> Option<[LiveRun; 2]> {
    if !possible() {
        return None;
    }
    let scenario = scenario(limit);
    let ours = run(&scenario, &scenario.qdiscs[0], 1, &mut Silent, &mut |_| {});
    let kernels = run_kernel(&scenario, &kernel_qdisc(words), 1, &mut Silent, &mut |_| {});
    Some([ours, kernels].map(|ran| ran.unwrap_or_else(|error| panic!("{error}"))))
}

/// Figures of the compared direction (utilization, drop rate, mean queueing delay in ms, mean queue in packets), and the
/// goodput of the datagrams in bit/s.
fn figures(ran: &LiveRun) -> [f64; 5] {
    let link = &ran.outcome.links[0];
    let drop_rate = link.counts.dropped() as f64 / link.counts.arrived as f64;
    let delay = link.port.queue_delay.mean().unwrap_or(f64::NAN) / 1e6;
    [link.utilization.unwrap(), drop_rate, delay, link.queue_packets_mean, ran.outcome.flows[2].goodput_bps]
}

/// `headgate compare` calls goodputs equal that differ by 15 % (`CLOSE` in compare/words.py). Here all figures must.
const CLOSE: f64 = 0.15;

fn assert_close(both: &[LiveRun; 2]) {
    let [ours, kernels] = [figures(&both[0]), figures(&both[1])];
    for (ours, kernels) in ours.into_iter().zip(kernels) {
        assert!((kernels / ours - 1.0).abs() < CLOSE, "{kernels} for {ours}: {both:?}");
    }
}

/// A number in the statistics of the qdisc `2:`.
fn statistic(ran: &LiveRun, name: &str) -> u64 {
    let statistics = &ran.kernel.as_ref().unwrap().statistics;
    let child = statistics.split_once("\"handle\":\"2:\"").unwrap().1;
    let value = child.split_once(&format!("\"{name}\":")).unwrap().1;
    value.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn a_fifo_of_the_kernel_does_what_ours_does_and_every_drop_is_found() {
    let Some(both) = in_both("40p", "pfifo limit 40") else { return };
    assert_close(&both);
    let [_, kernels] = &both;
    assert!(kernels.outcome.balance.holds(), "{:?} {:?}", kernels.outcome.balance, kernels.fidelity);
    assert!(kernels.outcome.links.iter().all(|link| link.conserves()));
    // The queue is full, so each arrival is dropped or finds 39 packets: 40 packets of 1000 bytes take 80 ms.
    let [utilization, _, delay, ..] = figures(kernels);
    assert!(utilization > 0.97 && (70.0..=81.0).contains(&delay), "{utilization}, {delay} ms");
    let report = kernels.kernel.as_ref().unwrap();
    // Senders stop at the end, but packets on their access links still arrive.
    assert!(report.drops.abs_diff(statistic(kernels, "drops")) <= 5, "{report:?}");
    assert_eq!(report.strays, 0);
}

#[test]
fn a_limit_in_bytes_is_bfifos() {
    let Some(both) = in_both("20kB", "bfifo limit 20000") else { return };
    assert_close(&both);
    assert_eq!(statistic(&both[1], "limit"), 20_000);
}

#[test]
fn a_qdisc_that_the_kernel_lacks_is_named_and_a_wrong_option_too() {
    if !possible() {
        return;
    }
    check_kernel_qdisc(&kernel_qdisc("pfifo limit 9")).unwrap();
    let wrong = check_kernel_qdisc(&kernel_qdisc("pfifo limit -3")).unwrap_err();
    assert!(wrong.to_string().contains("tc refuses `pfifo limit -3`"), "{wrong}");
    // A kernel has either the qdisc or the sentence.
    if let Err(error) = check_kernel_qdisc(&kernel_qdisc("sfb limit 100")) {
        let sentence =
            "this kernel has no sch_sfb: load it (modprobe sch_sfb), or use a kernel with CONFIG_NET_SCH_SFB";
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::Unsupported, sentence));
        let scenario = scenario("40p");
        let ran = run_kernel(&scenario, &kernel_qdisc("sfb limit 100"), 1, &mut Silent, &mut |_| {});
        assert!(ran.is_err_and(|error| error.to_string() == sentence));
    }
}

#[test]
fn a_scenario_that_the_kernel_cannot_run_is_refused_with_the_reason() {
    let refused = |keys: &str, reverse: &str| {
        let text = format!(
            "name = 'a'\nqdiscs = ['droptail']\nduration = '3s'\n{keys}\n[link]\nrate = '4Mbit/s'\ndelay = '5ms'\n\
             limit = '40p'\n{reverse}\n[[tcp]]\nrecovery = 'newreno'\n"
        );
        let scenario = Scenario::read(&text, "a.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        match check_kernel_supported(&scenario) {
            Err(LiveRunError::Refused(why)) => why,
            other => format!("{other:?}"),
        }
    };
    assert_eq!(refused("", ""), "Ok(())");
    assert!(refused("record.events = 'drops'", "").contains("`record.events`"));
    assert!(refused("record.capture = ['bottleneck']", "").contains("`record.capture`"));
    assert!(refused("", "reverse.qdisc = 'compared'").contains("both directions"));
    assert!(refused("", "schedule = [{ at = '1s', rate = '2Mbit/s' }]").contains("`schedule`"));
    assert!(refused("classify.flow = 'source'", "").contains("flow key"));
}
