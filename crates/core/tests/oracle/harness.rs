//! Drives a discipline and its oracle with the same arrivals, departures and random draws. After every call, decisions
//! and state must be the same.

use std::borrow::Cow;

use aqm::{AckHeader, Cx, Discipline, Ecn, FlowId, HostId, Packet, PacketHeaders, Rng, Sink, Span, Time, Why};

/// A decision. The number is the packet's index among the arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Dropped(usize, Why),
    Marked(usize, Why),
    Sent(usize),
}

/// A packet, as input of an oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Its index among the arrivals.
    pub number: usize,
    pub flow: u64,
    pub bytes: u32,
    pub class: u16,
    pub ecn: Ecn,
}

impl Arrival {
    /// Whether it can carry a mark.
    pub fn ect(&self) -> bool {
        self.ecn.is_capable()
    }
}

/// All state variables by name. The comparison includes the names.
pub type NamedState = Vec<(Cow<'static, str>, f64)>;

/// A named number of a state.
pub fn entry(name: impl Into<Cow<'static, str>>, value: impl Into<f64>) -> (Cow<'static, str>, f64) {
    (name.into(), value.into())
}

/// A discipline transcribed from its publication: plain, slow, and without the crate's own parts.
pub trait Oracle {
    /// A packet arrives at `now`, in seconds.
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision>;
    /// The link becomes free at `now`, in seconds. The last decision is the packet sent, if any.
    fn depart(&mut self, now: f64, rng: &mut Rng) -> Vec<Decision>;
    /// Every state variable.
    fn state(&self) -> NamedState;
}

/// A kind of traffic: flows that start and stop, at a load that changes.
#[derive(Clone, Copy, Debug)]
pub struct TrafficMix {
    pub seed: u64,
    /// Number of flows with a low rate.
    pub flows: u64,
    /// Share of the packets that one flow, the hog, sends.
    pub hog: f64,
    /// Packet sizes, drawn with equal probability.
    pub sizes: &'static [u32],
    /// Share of the flows that are ECN-capable.
    pub ect: f64,
    /// The link's rate in bit/s.
    pub rate: f64,
    /// Loads, as a share of the link's rate. Each lasts `spell` seconds on average; 0 is silence.
    pub loads: &'static [f64],
    /// Mean duration of a load, in seconds.
    pub spell: f64,
    /// Number of arrivals.
    pub packets: usize,
}

impl TrafficMix {
    /// Mixed traffic on a link of 10 Mbit/s: 20 flows and a hog, three sizes, loads from silence to a flood.
    pub const fn mixed(seed: u64) -> TrafficMix {
        TrafficMix {
            seed,
            flows: 20,
            hog: 0.3,
            sizes: &[1000, 1000, 1000, 500, 40],
            ect: 0.4,
            rate: 10e6,
            loads: &[0.0, 0.5, 0.9, 1.1, 1.5, 4.0],
            spell: 0.5,
            packets: 100_000,
        }
    }

    /// [`mixed`](TrafficMix::mixed) with packets of one size, for disciplines that count packets.
    pub const fn even(seed: u64) -> TrafficMix {
        TrafficMix { sizes: &[1000], ..TrafficMix::mixed(seed) }
    }
}

/// Small packets acknowledge.
pub fn ack(flow: FlowId, bytes: u32, number: usize) -> Option<AckHeader> {
    let ack = AckHeader { connection: flow.0, number: number as u32, pure: true, ..AckHeader::default() };
    (bytes < 100).then_some(ack)
}

/// The headers of a flow: four sources, seven destinations and three codepoints.
pub fn headers(flow: FlowId) -> PacketHeaders {
    PacketHeaders {
        source: HostId(flow.0 % 4),
        destination: HostId(flow.0 % 7),
        dscp: [0, 8, 46, 0, 0][(flow.0 % 5) as usize],
    }
}

/// Collects the decisions of the discipline under test.
#[derive(Default)]
struct Decided(Vec<Decision>);

impl Sink<usize> for Decided {
    fn dropped(&mut self, packet: Packet<usize>, why: Why, _: Time) {
        self.0.push(Decision::Dropped(packet.handle, why));
    }
    fn marked(&mut self, packet: &Packet<usize>, why: Why, _: Time) {
        self.0.push(Decision::Marked(packet.handle, why));
    }
    fn headers(&self, packet: &Packet<usize>) -> PacketHeaders {
        headers(packet.flow)
    }
    fn ack(&self, packet: &Packet<usize>) -> Option<AckHeader> {
        ack(packet.flow, packet.bytes, packet.handle)
    }
}

/// The arrivals, with their times.
struct ArrivalSource {
    traffic: TrafficMix,
    rng: Rng,
    now: f64,
    load: f64,
    until: f64,
    sent: usize,
}

impl ArrivalSource {
    fn new(traffic: TrafficMix) -> ArrivalSource {
        ArrivalSource { traffic, rng: Rng::named(traffic.seed, "traffic"), now: 0.0, load: 1.0, until: 0.0, sent: 0 }
    }

    fn next(&mut self) -> Option<(Time, Arrival)> {
        let TrafficMix { flows, hog, sizes, ect, rate, loads, spell, packets, .. } = self.traffic;
        if self.sent == packets {
            return None;
        }
        let rng = &mut self.rng;
        let flow = if rng.chance(hog) { 0 } else { 1 + u64::from(rng.below(flows as u32)) };
        let bytes = sizes[rng.below(sizes.len() as u32) as usize];
        if self.now >= self.until {
            self.load = loads[rng.below(loads.len() as u32) as usize];
            self.until = self.now + rng.between(0.5, 1.5) * spell;
            if self.load == 0.0 {
                self.now = self.until;
                self.load = 1.0;
            }
        }
        self.now += rng.between(0.0, 2.0) * f64::from(bytes) * 8.0 / rate / self.load;
        // The same flows are always ECN-capable; the hog never is.
        let capable = flow != 0 && (flow as f64) <= ect * flows as f64;
        let ecn = if !capable {
            Ecn::NotEct
        } else if flow % 4 == 0 {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        };
        let arrival = Arrival { number: self.sent, flow, bytes, class: (flow % 3) as u16, ecn };
        self.sent += 1;
        Some((Time::ZERO + Span::from_secs_f64(self.now), arrival))
    }
}

/// Runs `discipline`, whose state `look` reads, and `oracle` with the same traffic.
///
/// The link dequeues whenever it becomes free, once more if the queue was empty, and then waits for an arrival. Numbers
/// of the state may differ by one part in a billion, because sums may have another order.
pub fn agree<D: Discipline<usize>, O: Oracle>(
    discipline: D,
    oracle: O,
    look: impl Fn(&D, Time) -> NamedState,
    traffic: TrafficMix,
) {
    agree_within(discipline, oracle, look, traffic, |value, should| {
        (value - should).abs() <= 1e-9 * value.abs().max(should.abs()).max(1e-3)
    });
}

/// Like [`agree`], but compares the numbers of the state with `near`. Decisions must be the same.
pub fn agree_within<D: Discipline<usize>, O: Oracle>(
    mut discipline: D,
    mut oracle: O,
    look: impl Fn(&D, Time) -> NamedState,
    traffic: TrafficMix,
    near: fn(f64, f64) -> bool,
) {
    let (mut ours, mut theirs) = (Rng::named(traffic.seed, "port"), Rng::named(traffic.seed, "port"));
    let mut source = ArrivalSource::new(traffic);
    let (mut arrival, mut free, mut idle) = (source.next(), Time::ZERO, false);
    let mut calls = Calls { decisions: [0; 3], call: 0, near };
    loop {
        let arrives = match arrival {
            Some((at, _)) => at,
            None if idle => break,
            None => Time::NEVER,
        };
        let mut decided = Decided::default();
        let (now, expected);
        if !idle && free <= arrives {
            now = free;
            let sent = discipline.dequeue(&mut Cx::new(now, &mut ours, &mut decided));
            expected = oracle.depart(now.as_secs_f64(), &mut theirs);
            // A shaper may hold packets that may not leave yet. The link dequeues again at its `ready_at`.
            match sent {
                Some(packet) => {
                    decided.0.push(Decision::Sent(packet.handle));
                    free = now + Span::from_secs_f64(f64::from(packet.bytes) * 8.0 / traffic.rate);
                }
                None => match discipline.ready_at(now) {
                    Some(ready) => free = ready.max(now + Span::from_nanos(1)),
                    None => idle = true,
                },
            }
        } else {
            let (at, packet) = arrival.take().expect("an arrival is due");
            now = at;
            let Arrival { number, flow, bytes, class, ecn } = packet;
            let class = aqm::ClassId(class);
            let given = Packet { arrived: now, class, ecn, ..Packet::new(FlowId(flow), bytes, number) };
            discipline.enqueue(given, &mut Cx::new(now, &mut ours, &mut decided));
            expected = oracle.arrive(packet, now.as_secs_f64(), &mut theirs);
            if idle {
                (idle, free) = (false, now);
            }
            arrival = source.next();
        }
        calls.compare(now, &decided.0, &expected, &look(&discipline, now), &oracle.state());
        assert_eq!(ours, theirs, "after call {} at {now}: the random draws differ in number", calls.call);
    }
    assert_eq!(source.sent, traffic.packets);
    assert!(calls.decisions[0] > 0 && calls.decisions[2] > 0, "nothing was decided: {:?}", calls.decisions);
}

struct Calls {
    /// Drops, marks and departures so far. A trace without decisions would prove nothing.
    decisions: [usize; 3],
    call: usize,
    near: fn(f64, f64) -> bool,
}

impl Calls {
    fn compare(
        &mut self,
        now: Time,
        decided: &[Decision],
        expected: &[Decision],
        state: &NamedState,
        wanted: &NamedState,
    ) {
        self.call += 1;
        let call = self.call;
        assert_eq!(decided, expected, "decisions of call {call} at {now} (left: ours); {state:?} against {wanted:?}");
        let names = |state: &NamedState| state.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert!(state.len() == wanted.len(), "state at call {call}: {:?} against {:?}", names(state), names(wanted));
        for ((name, value), (known, should)) in state.iter().zip(wanted) {
            let close = value == should || (self.near)(*value, *should);
            assert!(name == known && close, "call {call} at {now}: {name} is {value}, {known} should be {should}");
        }
        for decision in decided {
            self.decisions[match decision {
                Decision::Dropped(..) => 0,
                Decision::Marked(..) => 1,
                Decision::Sent(_) => 2,
            }] += 1;
        }
    }
}
