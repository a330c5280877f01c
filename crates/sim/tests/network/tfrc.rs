//! TFRC beside other flows on a link: its share, its smoothness, and its keys.

use aqm::{Rate, Span};
use headgate_measure::{EventBatch, Outcome, RunObserver, SenderState, TraceRow};
use headgate_scenario::{Changes, Scenario};
use headgate_sim::run;
use headgate_sim::tfrc::packets_a_round_trip;

use crate::network::{go, scenario, witness};

const RED: &str = "red:minth=10p,maxth=30p,maxp=0.1,gentle=true";

/// Jitter that keeps TCP from synchronizing with the queue.
const SEND_JITTER: &str = "send_jitter = '1ms'\n";

/// As many flows of SACK TCP as of TFRC, in packets of 1000 bytes. TCP acknowledges each segment, as the equation with
/// `b = 1` assumes, and has a timer near the `4R` that the equation assumes.
fn against_tcp(qdisc: &str, flows: u32, more: &str) -> Outcome {
    let text = format!(
        "[[tcp]]\nflows = {flows}\npacket = '1000B'\ndelayed_ack = 'off'\nmin_rto = '200ms'\nstart = '0s..1s'\n{more}\
         [[udp]]\ncc = 'tfrc'\nflows = {flows}\njitter = 0.1\nstart = '0s..1s'\n"
    );
    go(&scenario("120s", qdisc, &text))
}

/// Goodput of a group in each second after the first twenty, in bit/s.
fn seconds(outcome: &Outcome, group: u32) -> Vec<f64> {
    let rows = outcome.intervals.iter().filter(|row| row.metric.name() == "goodput_bps" && row.group == Some(group));
    rows.filter(|row| row.time_s > 20.5).map(|row| row.value).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The coefficient of variation: standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    mean.recip() * (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// TFRC's goodput over TCP's, from 20 to 120 s.
fn ratio(outcome: &Outcome) -> f64 {
    mean(&seconds(outcome, 1)) / mean(&seconds(outcome, 0))
}

#[test]
fn tfrc_gets_about_the_goodput_of_a_tcp_flow_beside_it() {
    // RFC 5348, section 1: generally within a factor of two of a TCP flow's rate under the same conditions.
    for (qdisc, flows) in [(RED, 1), (RED, 8), ("droptail", 1), ("droptail", 8)] {
        let outcome = against_tcp(qdisc, flows, SEND_JITTER);
        let ratio = ratio(&outcome);
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{flows} on {qdisc}: {ratio} of TCP's");
        assert!(outcome.links[0].utilization.unwrap() > 0.95);
    }
}

#[test]
fn on_droptail_a_tcp_synchronized_with_the_queue_takes_more() {
    // A synchronized TCP segment arrives just after a departure and finds room. TFRC's arrivals follow its rate instead.
    let (even, in_step) = (ratio(&against_tcp("droptail", 8, SEND_JITTER)), ratio(&against_tcp("droptail", 8, "")));
    assert!(in_step < 0.7 * even, "{in_step} of TCP's, with jitter {even}");
}

#[test]
fn against_tcp_with_delayed_acks_tfrc_gets_at_most_twice_as_much() {
    // The equation assumes b = 1 packet per ACK. TCP with b = 2 is slower by the root of two. Its minimum timeout of a
    // second, where the equation has 4R, slows it further.
    let rfc = "min_rto = '1s'\ndelayed_ack = '100ms'";
    let text = format!(
        "[[tcp]]\nflows = 4\npacket = '1000B'\n{rfc}\nstart = '0s..1s'\n\
         [[udp]]\ncc = 'tfrc'\nflows = 4\njitter = 0.1\nstart = '0s..1s'\n"
    );
    let ratio = ratio(&go(&scenario("120s", RED, &text)));
    assert!((1.0..2.0).contains(&ratio), "{ratio} of TCP's");
}

#[test]
fn tfrcs_rate_varies_less_than_that_of_a_tcp_flow_beside_it() {
    // One flow of each kind beside others, measured per second: a dozen round trips or more.
    for qdisc in [RED, "droptail"] {
        let text = "[[tcp]]\nname = 'one'\npacket = '1000B'\nstart = '0s..1s'\n\
                    [[tcp]]\nname = 'others'\nflows = 3\npacket = '1000B'\nstart = '0s..1s'\n\
                    [[udp]]\nname = 'smooth'\ncc = 'tfrc'\njitter = 0.1\nstart = '0s..1s'\n";
        let outcome = go(&scenario("120s", qdisc, text));
        let (tcp, tfrc) = (variation(&seconds(&outcome, 0)), variation(&seconds(&outcome, 2)));
        assert!(tfrc < 0.75 * tcp, "{qdisc}: {tfrc} beside {tcp}");
    }
}

#[test]
fn marks_reduce_tfrcs_rate_as_drops_do() {
    let text = "[[udp]]\ncc = 'tfrc'\nflows = 4\necn = true\n";
    let mut scenario = scenario("60s", &format!("{RED},ecn=true"), text);
    // Slow start fills the queue once.
    scenario.warmup = Span::from_secs(10);
    let outcome = go(&scenario);
    let counts = &outcome.links[0].counts;
    assert!(counts.marked() > 50 && counts.dropped() == 0, "{counts:?}");
    assert!(outcome.links[0].queue_packets_mean < 35.0, "RED keeps its queue below the point of certain drops");
}

#[test]
fn tfrc_sends_no_more_than_its_configured_rate() {
    let (outcome, events) = witness(&scenario("20s", "droptail", "[[udp]]\ncc = 'tfrc'\nrate = '1Mbit/s'\n"));
    // 1000 bytes each 8 ms; the first few round trips are slow start's.
    assert!(events.is_sorted_by_key(|event| event.time));
    assert!((2400..=2500).contains(&outcome.links[0].counts.arrived), "{:?}", outcome.links[0].counts);
    // 40 bytes of each are headers.
    assert!((outcome.flows[0].fair_share_bps.unwrap() - 0.96e6).abs() < 1.0);
}

#[test]
fn the_access_link_limits_a_flow_without_a_rate() {
    let slow = "[[udp]]\ncc = 'tfrc'\naccess = { rate = '2Mbit/s', delay = '1ms' }\n";
    let outcome = go(&scenario("20s", "droptail", slow));
    // No queue builds up on the access link. It carries 250 packets a second, fewer at the start.
    assert!((4700..=5000).contains(&outcome.links[0].counts.arrived), "{:?}", outcome.links[0].counts);
}

#[test]
fn lost_reports_do_not_stop_tfrc() {
    // The reverse link carries 45 reports a second. Queues raise the round trip from 24 ms to at most 90 ms, so eight
    // flows with a report per round trip send 90 and more.
    let text = "reverse = { rate = '16kbit/s', limit = '1p' }\n[[udp]]\ncc = 'tfrc'\nflows = 8\n";
    let outcome = go(&scenario("60s", RED, text));
    let counts = &outcome.links[1].counts;
    assert!(counts.dropped() * 3 > counts.arrived, "{counts:?}");
    assert!(outcome.links[0].utilization.unwrap() > 0.8, "{}", outcome.links[0].utilization.unwrap());
}

#[test]
fn tfrc_starts_and_stops_at_the_times_of_the_scenario() {
    let outcome = go(&scenario("20s", "droptail", "[[udp]]\ncc = 'tfrc'\nstart = '5s'\nstop = '10s'\n"));
    let rows = outcome.intervals.iter().filter(|row| row.metric.name() == "goodput_bps" && row.value > 0.0);
    let busy: Vec<f64> = rows.map(|row| row.time_s).collect();
    assert_eq!((busy[0], busy[busy.len() - 1]), (6.0, 11.0), "up to a queue's length after its stop");
}

#[test]
fn a_report_after_the_stop_causes_no_datagram() {
    // The first report arrives after more than 24 ms, later than the stop. It would otherwise release a second packet.
    let outcome = go(&scenario("10s", "droptail", "[[udp]]\ncc = 'tfrc'\nstop = '20ms'\n"));
    assert_eq!(outcome.links[0].counts.arrived, 1);
}

#[test]
fn reports_cross_several_links_in_reverse() {
    let link = |from, to, rate| {
        format!("[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '{rate}Mbit/s'\ndelay = '5ms'\nlimit = '50p'\n")
    };
    let text = format!(
        "name = 'chain'\nduration = '30s'\nqdiscs = ['{RED}']\n{}{}[[udp]]\ncc = 'tfrc'\nfrom = 'A'\nto = 'C'\n",
        link("A", "B", 10),
        link("B", "C", 5)
    );
    let scenario = Scenario::read(&text, "chain", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    let outcome = go(&scenario);
    // Two links, each forward and then in reverse: data crosses 0 and 2, reports 3 and 1.
    let [near, back, far, reports] = [0, 1, 2, 3].map(|number: usize| &outcome.links[number]);
    assert!(
        far.utilization.unwrap() > 0.9 && near.utilization.unwrap() > 0.45,
        "{} and {}",
        near.utilization.unwrap(),
        far.utilization.unwrap()
    );
    assert!(near.counts.sent >= far.counts.arrived && near.counts.sent - far.counts.arrived < 10);
    // A round trip is 24 to 124 ms with its queues, and each has a report.
    assert!((30 * 8..30 * 42 * 2).contains(&reports.counts.sent), "{:?}", reports.counts);
    assert!(reports.counts.sent - back.counts.arrived <= 2, "at most those in flight");
    assert_eq!(reports.counts.sent_bytes, 44 * reports.counts.sent);
}

/// The loss event rate if each packet is lost with probability `p`. Further losses within a round trip belong to the same
/// event, and the next event begins 1/p packets after that. The equation gives the packets per round trip.
fn event_rate(p: f64) -> f64 {
    (0..100).fold(p, |rate, _| 1.0 / (1.0 / p + packets_a_round_trip(rate)))
}

#[test]
fn over_a_link_with_random_losses_tfrc_sends_at_the_rate_of_the_equation() {
    for p in [0.001, 0.01, 0.05] {
        let flows = "[[udp]]\ncc = 'tfrc'\nflows = 8\nheader = '0B'\nstart = '0s..1s'\n";
        let mut scenario = scenario("200s", "droptail", &format!("loss = {p}\n{flows}"));
        // A link without a queue, so that loss alone sets the rate.
        (scenario.links[0].forward.rate, scenario.links[0].delay) =
            (Rate::from_bits(100_000_000), Span::from_millis(40));
        scenario.warmup = Span::from_secs(40);
        let outcome = go(&scenario);
        assert!(outcome.links[0].queue_packets_mean < 0.5, "{}", outcome.links[0].queue_packets_mean);
        // 8000 bits three times at 100 Mbit/s; 352 bits in reverse, once at 10 and twice at 100; 2 x 42 ms of propagation.
        let rtt = 0.084 + 3.0 * 80e-6 + 35.2e-6 + 2.0 * 3.52e-6;
        let sent = outcome.links[0].counts.arrived as f64 / 8.0 / 160.0;
        let ratio = sent / (packets_a_round_trip(event_rate(p)) / rtt);
        assert!((ratio - 1.0).abs() < 0.1, "p = {p}: {ratio} of the equation's rate");
    }
}

/// One flow over a link with additional `keys`, and its sender's trace.
fn traced(duration: &str, keys: &str) -> (Outcome, Vec<(f64, SenderState)>) {
    struct Keeper(Vec<(f64, SenderState)>);
    impl RunObserver for Keeper {
        fn should_continue(&mut self, _: aqm::Time) -> bool {
            true
        }
        fn events(&mut self, _: &EventBatch) {}
        fn traces(&mut self, batch: &[TraceRow]) {
            let row = |row: &TraceRow| (row.time.as_secs_f64(), row.state);
            self.0.extend(batch.iter().map(row));
        }
    }
    let text = format!(
        "name = 't'\nduration = '{duration}'\nqdiscs = ['droptail']\nrecord.flows = ['udp']\n\
         link = {{ rate = '10Mbit/s', delay = '10ms', limit = '50p', {keys} }}\n[[udp]]\ncc = 'tfrc'\n"
    );
    let scenario = Scenario::read(&text, "t", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut keeper = Keeper(Vec::new());
    let outcome = run(&scenario, &scenario.qdiscs[0], 1, &mut keeper).unwrap();
    (outcome, keeper.0)
}

#[test]
fn a_trace_shows_the_rate_that_the_equation_gives() {
    let (_, rows) = traced("30s", "loss = 0.01");
    // RFC 5348, section 4.2: a packet a second (960 bytes without headers) until there is a round-trip time.
    let known = SenderState { rate_bps: Some(8.0 * 960.0), loss_event_rate: Some(0.0), ..SenderState::default() };
    let first = SenderState { phase: "slow_start", ..known };
    assert_eq!(rows[0].1, first);
    let mut bounded = 0;
    let avoiding: Vec<&SenderState> =
        rows.iter().map(|(_, state)| state).filter(|state| state.loss_event_rate > Some(0.0)).collect();
    for state in &avoiding {
        // Section 4.3, step 4: X_Bps of the reported p and R, or what the reported receive rates allow.
        let (rate, loss) = (state.rate_bps.unwrap() / 8.0, state.loss_event_rate.unwrap());
        let equation = 960.0 / state.srtt.unwrap().as_secs_f64() * packets_a_round_trip(loss);
        assert!(state.phase == "avoidance" && rate <= equation * (1.0 + 1e-6), "{state:?} beyond {equation}");
        bounded += usize::from(rate < equation * (1.0 - 1e-6));
    }
    assert!(avoiding.len() > 100 && 10 * bounded < avoiding.len(), "{bounded} of {} below", avoiding.len());
}

#[test]
fn the_nofeedback_timers_expiries_are_counted() {
    // The link is down from 10 to 20 s.
    let (outcome, rows) =
        traced("40s", "loss = 0.01, schedule = [{ at = '10s', rate = '0bit/s' }, { at = '20s', rate = '10Mbit/s' }]");
    let last = rows[rows.len() - 1].1.timeouts;
    assert_eq!(outcome.flows[0].timeouts, u64::from(last));
    let expiries: Vec<(f64, f64)> = rows
        .windows(2)
        .filter(|pair| pair[1].1.timeouts > pair[0].1.timeouts)
        .map(|pair| (pair[1].0, pair[1].1.rate_bps.unwrap() / pair[0].1.rate_bps.unwrap()))
        .collect();
    assert_eq!(expiries.len() as u32, last);
    // Section 4.4: the first expiry cuts the receive rates to half of themselves or of the equation's rate. The others
    // halve them again.
    let within: Vec<&(f64, f64)> = expiries.iter().filter(|(time, _)| (10.0..20.5).contains(time)).collect();
    assert!(within.len() >= 5 && within.iter().skip(1).all(|(_, ratio)| (ratio - 0.5).abs() < 1e-6), "{within:?}");
}
