//! A bottleneck with an AQM in the simulated network with which a QUIC stack tests itself.
//!
//! Stacks such as quinn and neqo read neither clock nor socket. Their tests pass datagrams and the time from node to node,
//! and each node returns a datagram or the time at which it wants to be called again. [`Bottleneck`] is such a node. It
//! needs nothing but a [`Port`] and the datagram that is being sent.

use std::collections::BTreeMap;

use aqm::{Ecn, FlowId, LinkInfo, Packet, Port, Rate, Rng, Sink, Span, Time, Why, registry};

const RATE: Rate = Rate::from_bits(10_000_000);
const ROUND_TRIP: Span = Span::from_millis(40);
const BYTES: u32 = 1200;

/// A datagram of the stack. A real one has its bytes, and the flow is a hash of its addresses and ports.
struct Datagram {
    number: u64,
    ecn: Ecn,
}

/// What a node wants after a call.
enum Output {
    Deliver(Datagram),
    CallAt(Time),
    Idle,
}

/// A queue and the transmitter behind it.
struct Bottleneck {
    port: Port<u64>,
    sending: Option<(Time, Packet<u64>)>,
}

/// Numbers of dropped datagrams. The stack learns of them by its loss detection.
#[derive(Default)]
struct Lost(Vec<u64>);

impl Sink<u64> for Lost {
    fn dropped(&mut self, packet: Packet<u64>, _: Why, _: Time) {
        self.0.push(packet.handle);
    }
    fn marked(&mut self, _: &Packet<u64>, _: Why, _: Time) {}
}

impl Bottleneck {
    fn new(discipline: &str) -> Bottleneck {
        let link = LinkInfo::new(RATE, BYTES, 7);
        let queue = registry::boxed(discipline, &[("limit", "1000p")], &link).expect("every discipline has a limit");
        Bottleneck { port: Port::new(queue, Rng::new(1)), sending: None }
    }

    fn process(&mut self, arrival: Option<Datagram>, now: Time, lost: &mut Lost) -> Output {
        if let Some(Datagram { number, ecn }) = arrival {
            let mut packet = Packet::new(FlowId(1), BYTES, number);
            packet.ecn = ecn;
            self.port.enqueue(packet, now, lost);
        }
        let sent = self.sending.take_if(|(end, _)| *end <= now);
        if self.sending.is_none() {
            let next = self.port.dequeue(now, lost);
            self.sending = next.map(|packet| (now + RATE.transmit(packet.bytes), packet));
        }
        match (sent, &self.sending) {
            (Some((_, packet)), _) => Output::Deliver(Datagram { number: packet.handle, ecn: packet.ecn }),
            (None, Some((end, _))) => Output::CallAt(*end),
            (None, None) => Output::Idle,
        }
    }
}

/// A sender that stands for the stack: its window grows by a datagram per round trip, and halves after a mark or a loss.
struct Sender {
    window: f64,
    sent: u64,
    in_flight: u32,
    /// Acknowledgments and detected losses that are under way: when they arrive, and whether they tell of congestion.
    news: BTreeMap<(Time, u64), bool>,
    recovered_at: Time,
}

impl Sender {
    fn send(&mut self) -> Option<Datagram> {
        (f64::from(self.in_flight) < self.window).then(|| {
            self.in_flight += 1;
            self.sent += 1;
            Datagram { number: self.sent, ecn: Ecn::Ect0 }
        })
    }

    fn learn(&mut self, now: Time) {
        while let Some(entry) = self.news.first_entry().filter(|entry| entry.key().0 <= now) {
            let congested = entry.remove();
            self.in_flight -= 1;
            if !congested {
                self.window += 1.0 / self.window;
            } else if now >= self.recovered_at {
                self.window = (self.window / 2.0).max(2.0);
                self.recovered_at = now + ROUND_TRIP;
            }
        }
    }
}

fn main() {
    for discipline in ["droptail", "codel", "pie"] {
        let mut sender =
            Sender { window: 10.0, sent: 0, in_flight: 0, news: BTreeMap::new(), recovered_at: Time::ZERO };
        let mut bottleneck = Bottleneck::new(discipline);
        let mut now = Time::ZERO;
        while now < Time::ZERO + Span::from_secs(60) {
            sender.learn(now);
            let mut lost = Lost::default();
            let datagram = sender.send();
            let is_sending = datagram.is_some();
            let output = bottleneck.process(datagram, now, &mut lost);
            for number in lost.0.drain(..) {
                sender.news.insert((now + ROUND_TRIP, number), true);
            }
            let mut next = sender.news.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            match output {
                Output::Deliver(Datagram { number, ecn }) => {
                    sender.news.insert((now + ROUND_TRIP, number), ecn == Ecn::Ce);
                    next = now;
                }
                Output::CallAt(at) => next = next.min(at),
                Output::Idle => {}
            }
            now = if is_sending { now } else { next.max(now) };
        }
        let totals = port_totals(&bottleneck);
        println!("{discipline:>8}: {totals}");
    }
}

fn port_totals(bottleneck: &Bottleneck) -> String {
    let totals = bottleneck.port.totals();
    let counts = totals.counts();
    let megabits = counts.sent_bytes as f64 * 8.0 / 60.0 / 1e6;
    let delay = totals.queue_delay().quantile(0.5).unwrap_or(0.0) / 1e6;
    format!("{megabits:.2} Mbit/s, median queueing delay {delay:.1} ms, {} drops", totals.dropped())
}

#[test]
fn it_runs() {
    main();
}
