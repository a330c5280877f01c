//! Laws of the congestion control of calls, over all of its controllers.
//!
//! | law | bound | why |
//! | --- | --- | --- |
//! | alone, a call fills its link | 65 % of the rate from 60 s on | GCC falls to 85 % of what arrives whenever delays grow; SCReAM leaves 1/1.1 of its window for large frames and reduces it by up to half |
//! | it keeps the queue short | mean below 40 ms, greatest below 250 ms, no drop | NADA's signal is 10 ms x RMAX / rate, 15 ms here; SCReAM's target is 60 ms; GCC detects growth within 20 frames' groups |
//! | it recovers | half of the above | from lost and reordered reports and packets, and from a second without delivery |
//! | its rate stays in its bounds | always | the bounds are the group's keys |

use aqm::Time;
use headgate_measure::{EventBatch, Outcome, RunObserver, TraceRow};
use headgate_scenario::{Changes, Scenario, UdpCc};
use headgate_sim::run;

use crate::network::go;

/// The controllers of calls.
fn controllers() -> impl Iterator<Item = UdpCc> {
    UdpCc::ALL.iter().copied().filter(|cc| cc.traits().media)
}

fn read(text: &str) -> Scenario {
    Scenario::read(text, "call", &Changes::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A call alone on a link of `mbit`, whose greatest rate is half more. `link` and `group` add keys.
fn alone(cc: UdpCc, path: (f64, u64), link: &str, group: &str) -> Scenario {
    read(&text(cc, path, link, group))
}

fn text(cc: UdpCc, (mbit, rtt): (f64, u64), link: &str, group: &str) -> String {
    let (most, delay) = (1.5 * mbit, rtt / 2 - 2);
    format!(
        "name = 'call'\nduration = '120s'\nwarmup = '60s'\nqdiscs = ['droptail']\n\
         record = {{ interval = '1s', flows = ['udp'] }}\n\
         [link]\nrate = '{mbit}Mbit/s'\ndelay = '{delay}ms'\n{link}\n\
         [[udp]]\ncc = '{cc}'\nrate = '{most}Mbit/s'\n{group}\n"
    )
}

/// The part of the link's rate that the call used after the warm-up.
fn share(outcome: &Outcome, mbit: f64) -> f64 {
    outcome.flows[0].throughput_bps / mbit / 1e6
}

#[test]
fn a_call_alone_fills_its_link_and_keeps_the_queue_short_without_losses() {
    for cc in controllers() {
        for mbit in [1.0, 5.0, 20.0] {
            for rtt in [20, 50, 200] {
                let outcome = go(&alone(cc, (mbit, rtt), "limit = '1000p'", ""));
                let (flow, case) = (&outcome.flows[0], format!("{cc} at {mbit} Mbit/s and {rtt} ms"));
                let share = share(&outcome, mbit);
                assert!((0.65..1.0).contains(&share), "{case}: {share}");
                assert_eq!(flow.counts.dropped(), 0, "{case}");
                assert!(flow.queue_delay_ms_mean.unwrap() < 40.0, "{case}: {:?}", flow.queue_delay_ms_mean);
                let most = outcome.one_way[0].excess.quantile(1.0).unwrap() / 1e6;
                assert!(most < 250.0, "{case}: {most} ms");
                assert_eq!(flow.call.freezes_per_minute, Some(0.0), "{case}");
            }
        }
    }
}

#[test]
fn a_call_on_an_idle_link_sends_at_its_greatest_rate_and_no_frame_is_late() {
    for cc in controllers() {
        let outcome = go(&alone(cc, (50.0, 40), "limit = '100p'", "traffic = 'call:preset=steady,rate=2Mbit/s'"));
        let flow = &outcome.flows[0];
        // The window of 60 s has 1800 frames, of which one may begin or end outside.
        assert!(flow.call.frames.unwrap().abs_diff(1800) <= 1, "{cc}: {:?}", flow.call);
        assert_eq!((flow.call.late_frames, flow.call.freezes_per_minute), (Some(0), Some(0.0)), "{cc}");
        assert!((flow.goodput_bps / 2e6 - 1.0).abs() < 0.005, "{cc}: {}", flow.goodput_bps);
    }
}

#[test]
fn lost_and_reordered_packets_and_reports_leave_half_of_the_share() {
    for cc in controllers() {
        for link in [
            "reverse = { loss = 0.2 }",
            "reverse = { reorder = 0.2, reorder_by = '150ms' }",
            "reorder = 0.01\nreorder_by = '5ms'",
            "loss = 0.001",
        ] {
            let outcome = go(&alone(cc, (5.0, 50), &format!("limit = '1000p'\n{link}"), ""));
            assert!(share(&outcome, 5.0) > 0.33, "{cc}, {link}: {}", share(&outcome, 5.0));
        }
    }
}

#[test]
fn a_call_recovers_from_a_second_without_delivery() {
    for cc in controllers() {
        // The queue of 20 packets drops all other packets of that second. From ten seconds later on, all is as before.
        let link = "limit = '20p'\nschedule = [{ at = '30s', rate = '0bit/s' }, { at = '31s', rate = '5Mbit/s' }]";
        let of = |warmup: &str| go(&read(&text(cc, (5.0, 50), link, "").replace("warmup = '60s'", warmup)));
        let (with, after) = (of("warmup = '29s'"), of("warmup = '41s'"));
        assert!(with.flows[0].counts.dropped() > 20, "{cc}: {:?}", with.flows[0].counts);
        assert!(with.flows[0].call.freezes_per_minute.unwrap() > 0.6, "{cc}: {:?}", with.flows[0].call);
        let share = share(&after, 5.0);
        let freezes = after.flows[0].call.freezes_per_minute.unwrap();
        assert!(share > 0.5 && freezes < 2.0, "{cc}: {share}, {freezes} freezes a minute");
    }
}

/// Records the rates of traced senders in bit/s.
#[derive(Default)]
struct Rates(Vec<f64>);

impl RunObserver for Rates {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, _: &EventBatch) {}
    fn traces(&mut self, batch: &[TraceRow]) {
        self.0.extend(batch.iter().filter_map(|row| row.state.rate_bps));
    }
}

#[test]
fn the_rate_stays_within_its_bounds_however_bad_the_link() {
    for cc in controllers() {
        for (mbit, link) in
            [(1.0, "limit = '1000p'\nloss = 0.3"), (1.0, "limit = '3p'\njitter = '200ms'"), (0.2, "limit = '10p'")]
        {
            let scenario = alone(cc, (mbit, 50), link, "min_rate = '250kbit/s'\ntraffic = 'call:fps=15'");
            let mut rates = Rates::default();
            run(&scenario, &scenario.qdiscs[0], 1, &mut rates).unwrap();
            let bounds = 250e3 - 1.0..=1.5e6 * mbit + 1.0;
            assert!(rates.0.len() > 50, "{cc}: {}", rates.0.len());
            assert_eq!(rates.0.iter().find(|rate| !bounds.contains(*rate)), None, "{cc}, {link}");
        }
    }
}

#[test]
fn marks_of_l4s_replace_drops_for_controllers_that_react_to_them() {
    for cc in controllers().filter(|cc| !cc.traits().ignores_marks) {
        let text =
            alone(cc, (5.0, 30), "limit = '1000p'", "ecn = true").to_toml().replace("\"droptail\"", "\"dualpi2\"");
        let flow = &go(&read(&text)).flows[0];
        assert!(flow.counts.marked() > 10 * flow.counts.dropped(), "{cc}: {:?}", flow.counts);
        assert!(flow.queue_delay_ms_mean.unwrap() < 20.0, "{cc}: {:?}", flow.queue_delay_ms_mean);
    }
}

#[test]
fn the_order_of_groups_permutes_results_and_runs_repeat() {
    let group = |cc: UdpCc| format!("[[udp]]\nname = '{cc}'\ncc = '{cc}'\nstart = '{}ms'\n", 137 * (cc as u32 + 1));
    let head = "name = 'calls'\nduration = '20s'\nwarmup = '5s'\nqdiscs = ['fq_codel']\n\
                [link]\nrate = '4Mbit/s'\ndelay = '20ms'\nlimit = '100p'\n";
    let forward: String = controllers().map(group).collect();
    let backward: String = controllers().collect::<Vec<_>>().into_iter().rev().map(group).collect();
    let [mut one, two, again] = [&forward, &backward, &forward].map(|groups| go(&read(&format!("{head}{groups}"))));
    assert_eq!(one, again);
    one.flows.reverse();
    for (one, two) in one.flows.iter().zip(&two.flows) {
        assert_eq!((one.goodput_bps, one.call), (two.goodput_bps, two.call));
    }
}
