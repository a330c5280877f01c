//! What the papers claim of RED, CHOKe and BLUE, at the level of one queue: a link, senders that add and halve as TCP
//! does and senders that do not, and nothing else.

use std::collections::{BTreeMap, VecDeque};

use headgate_core::{Counts, FlowId, Packet, Place, Port, Rate, Rng, Sink, Span, Time, Why, registry};

const PACKET: u32 = 1000;
/// Packets the link sends in a second: one each millisecond.
const CAPACITY: f64 = 1000.0;
const PLACE: Place = Place::new(Rate::from_bits(8_000_000), PACKET, 7);
/// Between a packet's end of queueing, or its drop, and the moment its sender knows.
const RTT: Span = Span::from_millis(50);
const WARMUP: Time = Time::from_nanos(20_000_000_000);
const END: Time = Time::from_nanos(100_000_000_000);
const TICK: Span = Span::from_millis(10);

/// Who sends: what TCP's congestion avoidance comes to, or a steady stream.
enum Sender {
    /// Keeps `window` packets in flight; adds one a round trip, halves at a loss, at most once a round trip.
    Responsive { window: f64, in_flight: u32, deaf_until: Time },
    /// Sends at `rate` packets a second, with gaps uniform in 0.5 to 1.5 times the mean.
    Steady { rate: f64, next: Time },
}

fn responsive(flows: usize) -> Vec<Sender> {
    (0..flows).map(|_| Sender::Responsive { window: 2.0, in_flight: 0, deaf_until: Time::ZERO }).collect()
}

fn steady(rate: f64) -> Sender {
    Sender::Steady { rate, next: Time::ZERO }
}

impl Sender {
    /// When it sends next of its own accord.
    fn next(&self, now: Time) -> Time {
        match *self {
            Sender::Responsive { window, in_flight, .. } if f64::from(in_flight) + 1.0 <= window => now,
            Sender::Responsive { .. } => Time::NEVER,
            Sender::Steady { next, .. } => next,
        }
    }

    fn sent(&mut self, rng: &mut Rng) {
        match self {
            Sender::Responsive { in_flight, .. } => *in_flight += 1,
            Sender::Steady { rate, next } => *next += Span::from_secs_f64(rng.between(0.5, 1.5) / *rate),
        }
    }

    fn learnt(&mut self, lost: bool, now: Time) {
        let Sender::Responsive { window, in_flight, deaf_until } = self else { return };
        *in_flight -= 1;
        if !lost {
            *window += 1.0 / *window;
        } else if now >= *deaf_until {
            *window = (*window / 2.0).max(1.0);
            *deaf_until = now + RTT;
        }
    }
}

/// Acknowledgements and losses on their way back to the senders.
#[derive(Default)]
struct Back(VecDeque<(Time, FlowId, bool)>);

impl Sink<()> for Back {
    fn dropped(&mut self, packet: Packet<()>, _: Why, now: Time) {
        self.0.push_back((now + RTT, packet.flow, true));
    }
    fn marked(&mut self, _: &Packet<()>, _: Why, _: Time) {}
}

/// What was seen after the warm-up.
#[derive(Default)]
struct Seen {
    /// Packets sent, by flow.
    sent: Vec<u64>,
    counts: Counts,
    /// Every gauge and the queue in packets, each tick.
    gauges: BTreeMap<&'static str, Vec<f64>>,
}

impl Seen {
    fn share(&self, flow: usize) -> f64 {
        self.sent[flow] as f64 / self.sent.iter().sum::<u64>() as f64
    }
    fn utilisation(&self) -> f64 {
        self.sent.iter().sum::<u64>() as f64 / (CAPACITY * (END - WARMUP).as_secs_f64())
    }
    fn mean(&self, gauge: &str) -> f64 {
        self.gauges[gauge].iter().sum::<f64>() / self.gauges[gauge].len() as f64
    }
    fn part(&self, gauge: &str, holds: impl Fn(f64) -> bool) -> f64 {
        self.gauges[gauge].iter().filter(|value| holds(**value)).count() as f64 / self.gauges[gauge].len() as f64
    }
}

/// `qdisc` as in `red:maxp=0.1,wq=0.002`.
fn run(qdisc: &str, mut senders: Vec<Sender>) -> Seen {
    let (name, settings) = qdisc.split_once(':').unwrap_or((qdisc, ""));
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let mut port = Port::new(registry::boxed::<()>(name, &settings, &PLACE).unwrap(), Rng::named(1, "port"));
    let (mut back, mut rng) = (Back::default(), Rng::named(1, "senders"));
    let mut seen = Seen { sent: vec![0; senders.len()], ..Seen::default() };
    let (mut now, mut free, mut tick, mut idle) = (Time::ZERO, Time::ZERO, WARMUP, false);
    loop {
        let flow = (0..senders.len()).min_by_key(|flow| senders[*flow].next(now)).unwrap();
        let arrival = senders[flow].next(now);
        let news = back.0.front().map_or(Time::NEVER, |(due, ..)| *due);
        let departure = if idle { Time::NEVER } else { free };
        now = arrival.min(news).min(departure);
        if now >= END {
            break;
        }
        while tick <= now {
            seen.gauges.entry("queue").or_default().push(f64::from(port.backlog().packets));
            port.gauges().into_iter().for_each(|(name, value)| seen.gauges.entry(name).or_default().push(value));
            tick += TICK;
        }
        if now == news {
            let (_, flow, lost) = back.0.pop_front().unwrap();
            senders[flow.0 as usize].learnt(lost, now);
            continue;
        }
        if now == arrival {
            port.enqueue(Packet::new(FlowId(flow as u64), PACKET, ()), now, &mut back);
            senders[flow].sent(&mut rng);
            // An idle link asks with each arrival, a busy one when it falls free.
            if !idle {
                continue;
            }
        }
        let packet = port.dequeue(now, &mut back);
        idle = packet.is_none();
        if let Some(packet) = packet {
            free = now + PLACE.rate.transmit(packet.bytes);
            seen.sent[packet.flow.0 as usize] += u64::from(now >= WARMUP);
            back.0.push_back((now + RTT, packet.flow, false));
        }
    }
    seen.counts = port.totals().counts().clone();
    seen
}

/// Ten senders that slow down, and an eleventh that sends `times` what the link can.
fn flood(times: f64) -> Vec<Sender> {
    let mut senders = responsive(10);
    senders.push(steady(times * CAPACITY));
    senders
}

const FLOOD: usize = 10;

#[test]
fn red_keeps_the_average_between_the_thresholds_while_droptail_stays_near_full() {
    // Floyd, Jacobson 1993, sections IV and V, with the comparison paper's ten flows and thresholds.
    let red = run("red:limit=150p,minth=50p,maxth=100p,maxp=0.02", responsive(10));
    let inside = red.part("average", |average| (50.0..100.0).contains(&average));
    assert!(inside > 0.95 && red.utilisation() > 0.99, "{inside} {}", red.utilisation());
    assert_eq!(red.counts.drops[Why::Overflow as usize], 0);
    let droptail = run("droptail:limit=150p", responsive(10));
    assert!(droptail.mean("queue") > 100.0, "{}", droptail.mean("queue"));
}

#[test]
fn red_under_constant_overload_settles_where_its_drops_are_the_excess() {
    // 1.2 times what the link sends: 1/6 must go. Spaced signals have gaps uniform in 1..1/pb, in the mean 1/(2 pb):
    // pb = 1/12, which with maxp 1/4 is a third of the way from minth to maxth.
    let red = run("red:limit=400p,minth=100p,maxth=200p,maxp=0.25", vec![steady(1.2 * CAPACITY)]);
    assert!((red.mean("average") - 133.3).abs() < 5.0, "{}", red.mean("average"));
    assert!((red.mean("probability") - 1.0 / 12.0).abs() < 0.01, "{}", red.mean("probability"));
}

#[test]
fn red_does_not_hold_back_a_flow_that_does_not_slow_down() {
    // Comparison paper, figure 4: above the link's rate the CBR takes nearly all of it.
    let red = run("red:limit=150p,minth=50p,maxth=100p", flood(2.0));
    assert!(red.share(FLOOD) > 0.8, "{}", red.share(FLOOD));
}

#[test]
fn blue_settles_at_the_probability_that_takes_the_excess_away() {
    // ToN 2002, section III-A: pm learns the right rate. At 1.2 times the link's rate that is 1/6.
    for preset in ["B1", "B2", "B3", "B4", "testbed"] {
        let blue = run(&format!("blue:limit=200p,preset={preset}"), vec![steady(1.2 * CAPACITY)]);
        let (mean, near) = (blue.mean("probability"), blue.part("probability", |pm| (pm - 1.0 / 6.0).abs() < 0.04));
        assert!((mean - 1.0 / 6.0).abs() < 0.02 && near > 0.9, "{preset}: {mean} {near}");
    }
}

#[test]
fn blue_with_a_threshold_leaves_room_for_bursts_and_waits_less() {
    // ToN 2002, figure 3, the variation.
    for preset in ["B1", "B3", "B4"] {
        let plain = run(&format!("blue:limit=200p,preset={preset}"), responsive(10));
        let early = run(&format!("blue:limit=200p,preset={preset},threshold=50p"), responsive(10));
        let (most, least) = (plain.mean("queue"), early.mean("queue"));
        assert!(least < most && early.utilisation() > 0.99, "{preset}: {least} {most} {}", early.utilisation());
        assert_eq!(early.counts.drops[Why::Overflow as usize], 0, "{preset}");
    }
}

#[test]
fn choke_gives_a_flood_less_than_droptail_and_red_and_the_less_the_more_it_sends() {
    // Comparison paper, figure 4, from 2 to 8 times the link's rate.
    let share = |qdisc: &str, times| run(&format!("{qdisc}:limit=150p"), flood(times)).share(FLOOD);
    let choke = [2.0, 4.0, 8.0].map(|times| share("choke", times));
    assert!(choke[0] > choke[1] && choke[1] > choke[2], "{choke:?}");
    assert!(choke[1] < 0.5 * share("droptail", 4.0) && choke[1] < 0.5 * share("red", 4.0), "{choke:?}");
}

#[test]
fn choke_bounds_a_flood_near_27_percent_of_the_link() {
    // Tang, Wang, Low, "Understanding CHOKe: throughput and spatial characteristics", IEEE/ACM ToN 12(4), 2004: with
    // many TCP flows and no drop but matches, the most a flood can get is 1/(1 + e) of the link, at 1.19 times its
    // rate.
    let mut senders = responsive(50);
    senders.push(steady(1.19 * CAPACITY));
    let choke = run("choke:limit=1000p,minth=50p,maxth=900p,maxp=0", senders);
    let most = 1.0 / (1.0 + core::f64::consts::E);
    assert!((choke.share(50) - most).abs() < 0.05, "{} {most}", choke.share(50));
}

/// The part of the link that `floods` senders at the link's rate take from ten that slow down.
fn taken(qdisc: &str, floods: usize) -> f64 {
    let mut senders = responsive(10);
    senders.extend((0..floods).map(|_| steady(CAPACITY)));
    let seen = run(&format!("{qdisc},limit=150p,minth=50p,maxth=100p"), senders);
    (10..10 + floods).map(|flow| seen.share(flow)).sum()
}

#[test]
fn against_several_floods_more_candidates_help_most_where_they_are_few() {
    // Pan, Prabhakar, Psounis 2000 on M-CHOKe. Once the average is held at minth, further candidates gain little.
    let part = [1, 2, 4, 8].map(|m| taken(&format!("choke:candidates={m}"), 5));
    assert!(part.is_sorted_by(|few, many| few > many), "{part:?}");
    assert!(part[0] - part[2] > 5.0 * (part[2] - part[3]), "{part:?}");
}

#[test]
fn adaptive_choke_gives_floods_less_than_basic_without_being_told_how_many() {
    for floods in [2, 5, 10] {
        let [basic, one, five, ten] = [0, 1, 5, 10].map(|k| taken(&format!("choke:adaptive={k}"), floods));
        assert!(five < 0.85 * basic, "{floods} floods: {five} {basic}");
        // Comparison paper, figure 14: the step from 1 to 5 regions gains more than that from 5 to 10.
        assert!(one - five >= five - ten - 0.01, "{floods} floods: {one} {five} {ten}");
    }
}
