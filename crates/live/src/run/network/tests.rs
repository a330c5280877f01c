//! Networks without a machine: frames from a list, and a clock that the test sets.

use std::sync::mpsc::{Receiver, channel};

use etherparse::{IpNumber, Ipv4Header};
use headgate_measure::{LinkRow, Outcome};
use headgate_scenario::Changes;
use headgate_traffic::{WriteAmount, WriteStart};

use super::*;
use crate::forward::forwarder::{CATCH_UP, Forwarder};
use crate::forward::view::View;
use crate::link::EmulatedLink;
use crate::load::flows::{FlowTraffic, LiveFlow, flows};
use crate::load::ports;
use crate::memory::{Conserved, FakeClock, MemoryEnd};

type Frames = Vec<(Time, Vec<u8>)>;

fn scenario(text: &str) -> Arc<Scenario> {
    Arc::new(Scenario::read(text, "net.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}")))
}

/// A datagram of `flow` in `direction`; `bytes` includes all headers.
fn datagram(flow: u32, direction: Direction, bytes: u32, tos: u32) -> Vec<u8> {
    let ends = [EmulatedLink::NEAR.octets(), EmulatedLink::FAR.octets()];
    let [from, to] = if direction == Direction::Forward { ends } else { [ends[1], ends[0]] };
    let mut header = Ipv4Header::new(bytes as u16 - 20, 64, IpNumber::UDP, from, to).unwrap();
    header.ecn = (tos as u8 & 3).try_into().unwrap();
    header.header_checksum = header.calc_header_checksum();
    let mut packet = header.to_bytes().to_vec();
    packet.extend_from_slice(&40_000_u16.to_be_bytes());
    packet.extend_from_slice(&ports::port(flow).to_be_bytes());
    packet.resize(bytes as usize, 0);
    packet
}

/// Times and datagrams of a UDP flow's source.
fn written(flow: LiveFlow) -> Frames {
    let FlowTraffic::Udp(settings, mut source, mut rng) = flow.traffic else {
        panic!("flow {} is not of UDP", flow.number)
    };
    let (mut at, mut frames) = (flow.lifetime[0], Vec::new());
    while let Some(write) = source.next(&mut rng) {
        let (WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap)) = write.after;
        let WriteAmount::Bytes(bytes) = write.data else { break };
        at += gap;
        if at >= flow.lifetime[1] {
            break;
        }
        let length = settings.payload(bytes as u32) + 28;
        frames.push((at, datagram(flow.number, flow.direction, length, settings.tos)));
    }
    frames
}

struct NetworkRun {
    forwarder: Forwarder<MemoryEnd, MemoryEnd, FakeClock, LinkNetwork>,
    inbox: Receiver<LoopRecord>,
}

impl NetworkRun {
    /// Runs a network with the given frames from the near and the far host.
    fn new(scenario: &Arc<Scenario>, [near, far]: [Frames; 2], mut clock: FakeClock) -> NetworkRun {
        let (records, inbox) = channel();
        let begin = StartTime::unset();
        begin.set(Time::ZERO);
        let network = LinkNetwork::new(scenario, &scenario.qdiscs[0], None, 1, begin, records).unwrap();
        let ends = (clock.end(Layer::Ip, near), clock.end(Layer::Ip, far));
        NetworkRun { forwarder: Forwarder::new(ends.0, ends.1, network, clock), inbox }
    }

    /// Runs up to `end` and checks that no frame and no slot is lost.
    fn until(&mut self, end: Time) -> View {
        let slots = self.forwarder.view().lanes[0].free_slots;
        loop {
            let view = self.forwarder.view();
            assert!(view.lanes.iter().all(|lane| lane.adds_up()), "{:#?}", view.lanes);
            let held = |lane: &LaneView| lane.backlog.packets as usize + lane.on_access + lane.propagating;
            let held: usize = view.lanes.iter().map(held).sum();
            assert_eq!(view.lanes[0].free_slots + held, slots, "the number of slots changed");
            if view.at >= end {
                return view;
            }
            self.forwarder.turn(end).unwrap();
        }
    }

    fn rows(&self) -> Vec<LinkRow> {
        let totals = self.inbox.try_iter().filter_map(|post| match post {
            LoopRecord::DirectionTotals(total) => Some((total.link, total.row)),
            _ => None,
        });
        let mut totals: Vec<_> = totals.collect();
        totals.sort_by_key(|(link, _)| *link);
        totals.into_iter().map(|(_, row)| row).collect()
    }
}

/// A parking lot: a stream crosses three links, each shared with another one; a stream crosses two in reverse.
const LOT: &str = "name = 'lot'\nduration = '2s'\nwarmup = '500ms'\nqdiscs = ['red:minth=5p,maxth=15p,ecn=true']\n\
    [[link]]\nfrom = 'A'\nto = 'B'\nrate = '10Mbit/s'\ndelay = '5ms'\nlimit = '40p'\nloss = 0.01\njitter = '300us'\n\
    [[link]]\nfrom = 'B'\nto = 'C'\nrate = '6Mbit/s'\ndelay = '3ms'\nlimit = '40p'\n\
    [[link]]\nfrom = 'C'\nto = 'D'\nrate = '8Mbit/s'\ndelay = '7ms'\nlimit = '30p'\nqdisc = 'droptail'\n\
    reverse = { rate = '2Mbit/s', limit = '10p' }\n\
    [[udp]]\nname = 'long'\nfrom = 'A'\nto = 'D'\nflows = 2\nrate = '2Mbit/s'\njitter = 0.5\necn = true\n\
    access = { rate = '20Mbit/s', delay = '2ms' }\n\
    [[udp]]\nname = 'first'\nfrom = 'A'\nto = 'B'\nrate = '6.5Mbit/s'\njitter = 0.5\n\
    [[udp]]\nname = 'second'\nfrom = 'B'\nto = 'C'\nrate = '4Mbit/s'\njitter = 0.5\npacket = '500B'\n\
    [[udp]]\nname = 'third'\nfrom = 'C'\nto = 'D'\nrate = '6.5Mbit/s'\njitter = 0.5\n\
    [[udp]]\nname = 'back'\nfrom = 'D'\nto = 'B'\nrate = '2.5Mbit/s'\njitter = 0.5\naccess = { delay = '11ms' }\n";

#[test]
fn every_link_of_a_network_treats_each_packet_as_the_simulators_link_does() {
    let scenario = scenario(LOT);
    let mut ends = [Frames::new(), Frames::new()];
    flows(&scenario, 1).into_iter().for_each(|flow| ends[flow.direction as usize].extend(written(flow)));
    ends.iter_mut().for_each(|frames| frames.sort_by_key(|(at, _)| *at));
    let mut run = NetworkRun::new(&scenario, ends, FakeClock::new());
    let view = run.until(Time::ZERO + scenario.duration);
    let (rows, expected) = (run.rows(), headgate_sim::run(&scenario, &scenario.qdiscs[0], 1, &mut ()).unwrap());
    let Outcome { links, .. } = expected;
    assert_eq!(rows.len(), links.len());
    for (row, expected) in rows.iter().zip(&links) {
        // Summaries of the whole run belong to no link.
        let expected = LinkRow { packets: None, events: None, ..expected.clone() };
        assert_eq!(*row, expected, "at {} {}", expected.link, expected.direction);
    }
    // Every feature was exercised: drops on each of the three links and in reverse, marks, losses.
    let dropped: Vec<u64> = rows.iter().map(|row| row.counts.dropped()).collect();
    assert!([0, 2, 4, 5].iter().all(|link| dropped[*link] > 10), "{dropped:?}");
    assert!(rows[0].counts.marked() > 0 && rows[2].counts.marked() > 0 && rows[0].link_losses > 0);
    // Flows have names at the first link that compares disciplines only.
    let named = |lane: &LaneView| lane.top.iter().filter(|flow| flow.header.is_some()).count();
    assert_eq!(view.lanes.iter().map(named).collect::<Vec<_>>(), [3, 0, 0, 0, 0, 0]);
}

/// Three links; the second is the slowest: 1 ms, 2 ms and 1 ms for 1000 bytes.
const CHAIN: &str = "name = 'chain'\nduration = '1s'\nqdiscs = ['droptail']\n\
    [[link]]\nfrom = 'A'\nto = 'B'\nrate = '8Mbit/s'\ndelay = '5ms'\nlimit = '100p'\n\
    [[link]]\nfrom = 'B'\nto = 'C'\nrate = '4Mbit/s'\ndelay = '7ms'\nlimit = '100p'\n\
    [[link]]\nfrom = 'C'\nto = 'D'\nrate = '8Mbit/s'\ndelay = '3ms'\nlimit = '100p'\n\
    [[udp]]\nfrom = 'A'\nto = 'D'\nrate = '1Mbit/s'\naccess = { rate = '1Gbit/s', delay = '0ms' }\n\
    [[udp]]\nfrom = 'B'\nto = 'C'\nrate = '8kbit/s'\naccess = { rate = '8kbit/s', delay = '0ms' }\n";

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Arrival of packet `n` of a burst of forty. It enters the second link's transmitter from 6 + 2 n ms on, behind the
/// earlier packets. No other queue delays it. Each of its flow's own links takes 8 us per packet.
fn nominal(n: u64) -> Time {
    at_us(8 + 1000 + 5000 + 2000 * (n + 1) + 7000 + 1000 + 3000 + 8)
}

fn burst(late: Vec<Span>) -> (View, Vec<Time>) {
    let frames = vec![(Time::ZERO, datagram(0, Direction::Forward, 1000, 0)); 40];
    let mut run = NetworkRun::new(&scenario(CHAIN), [frames, Frames::new()], FakeClock::late(late));
    let view = run.until(at_us(500_000));
    (view, run.forwarder.b.sent().iter().map(|(at, _)| *at).collect())
}

#[test]
fn delays_of_links_add_up_and_the_slowest_sets_the_pace() {
    let (_, out) = burst(vec![Span::ZERO]);
    assert_eq!(out, (0..40).map(nominal).collect::<Vec<_>>());
}

#[test]
fn lateness_does_not_add_up_from_link_to_link() {
    // The first wake-up belongs to the burst itself and is on time.
    let late = [0, 170, 30, 900, 20, 2500].map(Span::from_micros).to_vec();
    let (view, out) = burst(late);
    assert_eq!(out.len(), 40);
    for (n, at) in (0..).zip(out) {
        assert!(at >= nominal(n) && at - nominal(n) <= Span::from_micros(2500), "{n}: {at} for {}", nominal(n));
    }
    assert!(view.lanes.iter().all(|lane| lane.counts.stalls == 0));
}

#[test]
fn a_frame_sent_while_the_loop_is_interrupted_arrives_no_earlier_than_it_was_sent() {
    for interruption in [300, 3_000, 30_000].map(Span::from_micros) {
        // Farther apart than the slowest link takes.
        let frames = (0..40).map(|n| (at_us(2500 * n), datagram(0, Direction::Forward, 1000, 0))).collect();
        let clock = FakeClock::interrupted([vec![interruption], vec![Span::ZERO; 6]].concat());
        let mut run = NetworkRun::new(&scenario(CHAIN), [frames, Frames::new()], clock);
        run.until(at_us(5_000_000));
        let out = run.forwarder.b.sent();
        assert_eq!(out.len(), 40);
        for (n, (at, _)) in (0..).zip(out) {
            assert!(*at - nominal(0) >= Span::from_micros(2500 * n), "{at} of {n}, after {interruption}");
        }
    }
}

#[test]
fn lateness_beyond_the_catch_up_bound_stalls_all_links() {
    let pause = Span::from_millis(60);
    let late = [vec![Span::ZERO; 30], vec![pause], vec![Span::ZERO; 10_000]].concat();
    let (view, out) = burst(late);
    let shift = pause - CATCH_UP;
    assert!(view.lanes.iter().all(|lane| (lane.counts.stalls, lane.counts.stalled) == (1, shift)));
    assert_eq!(out.len(), 40);
    assert_eq!(*out.last().unwrap(), nominal(39) + shift);
    assert!((0..).zip(&out).all(|(n, at)| *at >= nominal(n)));
}

#[test]
fn a_flow_that_floods_its_own_link_takes_no_room_from_others() {
    let room = SlotBudget::of(&scenario(CHAIN)).group_limits[1] as usize;
    // A packet of this flow takes a second on its own link.
    let flood = vec![(Time::ZERO, datagram(1, Direction::Forward, 1000, 0)); room + 100];
    let mine = (1..=5).map(|n| (at_us(1000 * n), datagram(0, Direction::Forward, 1000, 0)));
    let mut run =
        NetworkRun::new(&scenario(CHAIN), [flood.into_iter().chain(mine).collect(), Frames::new()], FakeClock::new());
    let view = run.until(at_us(100_000));
    assert_eq!((view.lanes[0].counts.no_slot, view.lanes[2].on_access), (100, room));
    assert_eq!(run.forwarder.b.sent().len(), 5);
}

#[test]
fn packets_that_the_host_refuses_are_counted_at_their_last_link() {
    let forward = (0..10).map(|n| (at_us(1000 * n), datagram(0, Direction::Forward, 1000, 0)));
    let mut run = NetworkRun::new(&scenario(CHAIN), [forward.collect(), Frames::new()], FakeClock::new());
    run.forwarder.b.refuse_after(7);
    let view = run.until(at_us(100_000));
    let counts = view.lanes.iter().map(|lane| (lane.counts.delivered, lane.counts.refused));
    assert_eq!(counts.collect::<Vec<_>>(), [(10, 0), (0, 0), (10, 0), (0, 0), (7, 3), (0, 0)]);
}

#[test]
fn packets_of_no_flow_cross_the_first_link_to_the_other_host() {
    let mut ping =
        Ipv4Header::new(8, 64, IpNumber::ICMP, EmulatedLink::FAR.octets(), EmulatedLink::NEAR.octets()).unwrap();
    ping.header_checksum = ping.calc_header_checksum();
    let ping = [&ping.to_bytes()[..], &[8, 0, 0, 0, 0, 0, 0, 0]].concat();
    // A frame with a flow's port from the wrong host belongs to no flow either.
    let astray = datagram(0, Direction::Reverse, 1000, 0);
    let frames = vec![(Time::ZERO, ping), (at_us(10_000), astray)];
    let mut run = NetworkRun::new(&scenario(CHAIN), [Frames::new(), frames], FakeClock::new());
    let view = run.until(at_us(100_000));
    assert_eq!(view.lanes.iter().map(|lane| lane.counts.delivered).collect::<Vec<_>>(), [0, 2, 0, 0, 0, 0]);
    let out: Vec<Time> = run.forwarder.a.sent().iter().map(|(at, _)| *at).collect();
    assert_eq!(out, [at_us(28 + 5000), at_us(10_000 + 1000 + 5000)]);
}
