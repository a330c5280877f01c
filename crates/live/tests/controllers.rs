//! Verdicts on simulated flows at one link: standard TCP, BBR and unresponsive sources.

use aqm::{Span, Time};
use headgate_live::verdict::{FlowInterval, Responsiveness, judge};
use headgate_measure::{EventBatch, PacketEvent, RunObserver};
use headgate_scenario::{Changes, Scenario};

const INTERVAL: Span = Span::from_millis(100);

/// The number of intervals that a link keeps.
const REMEMBERED: usize = 100;

/// The intervals of each flow, from the events at the link.
struct RecordedIntervals(Vec<Vec<FlowInterval>>);

impl RunObserver for RecordedIntervals {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, batch: &EventBatch) {
        for row in &batch.rows {
            let interval = &mut self.0[row.flow as usize][(row.time.as_nanos() / INTERVAL.as_nanos()) as usize];
            match row.kind {
                PacketEvent::Arrived => {
                    interval.counts.arrived += 1;
                    interval.counts.arrived_bytes += u64::from(row.bytes);
                }
                PacketEvent::Sent => interval.counts.sent_bytes += u64::from(row.bytes),
                PacketEvent::Dropped(_) => interval.counts.dropped += 1,
                PacketEvent::Marked(_) => interval.counts.marked += 1,
                PacketEvent::Lost => {}
            }
        }
    }
}

/// The verdicts on the flows of `groups`, in their order, after 12 s on 10 Mbit/s.
fn judged(qdisc: &str, delay: u32, groups: &str) -> Vec<Responsiveness> {
    let text = format!(
        "name = 'v'\nduration = '12s'\nqdiscs = ['{qdisc}']\nrecord.events = 'all'\n\
         link = {{ rate = '10Mbit/s', delay = '{delay}ms', limit = '100p' }}\n{groups}"
    );
    let scenario = Scenario::read(&text, "v.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut seen = RecordedIntervals(vec![
        vec![FlowInterval { duration: INTERVAL, ..FlowInterval::default() }; 120];
        scenario.total_flows() as usize
    ]);
    headgate_sim::run(&scenario, &scenario.qdiscs[0], 1, &mut seen).unwrap();
    let lately: Vec<&[FlowInterval]> =
        seen.0.iter().map(|intervals| &intervals[intervals.len() - REMEMBERED..]).collect();
    // The fair rate as a link estimates it: mean rate of the flows with drops.
    let lossy = lately.iter().filter(|intervals| intervals.iter().any(|interval| interval.counts.signals() > 0));
    let sent: Vec<u64> =
        lossy.map(|intervals| intervals.iter().map(|interval| interval.counts.sent_bytes).sum()).collect();
    let seconds = (INTERVAL * REMEMBERED as u64).as_secs_f64();
    let fair = (!sent.is_empty()).then(|| sent.iter().sum::<u64>() as f64 * 8.0 / seconds / sent.len() as f64);
    lately.iter().map(|intervals| judge(intervals, fair, false).responsiveness).collect()
}

/// Verdicts on one kind of flow.
#[derive(Debug, Default)]
struct VerdictCounts {
    all: usize,
    responsive: usize,
    unresponsive: usize,
}

impl VerdictCounts {
    fn add(&mut self, verdict: Responsiveness) {
        self.all += 1;
        self.responsive += usize::from(verdict == Responsiveness::Responsive);
        self.unresponsive += usize::from(verdict == Responsiveness::Unresponsive);
    }
}

const CONSTANT: &str = "rate = '3Mbit/s'";
const BURSTS: [&str; 2] =
    ["traffic = 'exp:rate=6Mbit/s,on=500ms,off=500ms'", "traffic = 'exp:rate=8Mbit/s,on=150ms,off=150ms'"];

/// docs/guide/gateway.md has the figures. BBR is judged only beside a constant rate, since bursts of other flows make
/// it reduce its rate.
#[test]
fn tcp_is_rarely_judged_unresponsive_and_unresponsive_sources_are_rarely_judged_responsive() {
    let [mut tcp, mut bbr, mut constant, mut on_off] = <[VerdictCounts; 4]>::default();
    let cases = ["droptail", "red", "codel"].into_iter().flat_map(|qdisc| [4, 18, 50, 100].map(|delay| (qdisc, delay)));
    let crowds = [1, 2, 4, 9].into_iter().flat_map(|flows| ["cubic", "newreno"].map(|cc| (flows, cc)));
    for ((qdisc, delay), (flows, cc)) in cases.flat_map(|case| crowds.clone().map(move |crowd| (case, crowd))) {
        for source in [CONSTANT, BURSTS[0], BURSTS[1]] {
            let groups = format!(
                "[[tcp]]\nflows = {flows}\ncc = '{cc}'\n[[tcp]]\nname = 'bbr'\ncc = 'bbr'\n\
                 [[udp]]\n{source}\npacket = '1000B'\n"
            );
            let found = judged(qdisc, delay, &groups);
            found[..flows].iter().for_each(|verdict| tcp.add(*verdict));
            if source == CONSTANT {
                bbr.add(found[flows]);
                constant.add(found[flows + 1]);
            } else {
                on_off.add(found[flows + 1]);
            }
        }
    }
    println!("TCP {tcp:?}\nBBR {bbr:?}\nconstant {constant:?}\non and off {on_off:?}");
    assert!(100 * tcp.unresponsive <= tcp.all, "{tcp:?}");
    assert_eq!(constant.responsive, 0, "{constant:?}");
    // A burst that ends soon after drops looks like a reaction to them.
    assert!(8 * on_off.responsive <= on_off.all, "{on_off:?}");
    // BBR exceeds its fair share and does not react to drops (draft-cardwell-iccrg-bbr-congestion-control-00, section
    // 1).
    assert!(20 * bbr.responsive <= bbr.all && 2 * bbr.unresponsive > bbr.all, "{bbr:?}");
}
