//! What the forwarder costs: CPU time of its thread for a packet, through a pair of TUN devices and through packet sockets
//! on virtual Ethernet, beside a bare loop over the same ends that has no queue, no parser and no link.
//!
//! CPU time, so that what else the machine does counts as little as it can, and the median of a few rounds in which all take
//! turns; the ratio is that of neighbours in time. Packets a second are those of a thread that has a core to itself. It needs
//! root, for namespaces of its own.
//!
//! Then how true the link's rate is, and how late packets leave, for an ordinary thread and one that comes first.

#[path = "../tests/support/mod.rs"]
mod support;

use std::io;
use std::net::UdpSocket;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use headgate_core::{Ecn, Span, Time};
use headgate_live::clock::{Monotonic, thread_cpu};
use headgate_live::io::{BATCH, Io, PacketSocket, Received, Tun};
use headgate_live::pacing::{Clock, Paced};
use headgate_live::{Forwarder, FrameId, Layer, Pool};
use support::namespace::{in_namespace, ip, veth};
use support::{Direction, packet};

const ROUNDS: usize = 11;
const EACH: Span = Span::from_millis(200);
const QDISCS: [&str; 3] = ["droptail", "sfb", "faba"];
const SIZES: [usize; 2] = [64, 1500];

fn main() {
    let done = in_namespace(|| {
        println!(
            "{:<16} {:>6} {:>10} {:>11} {:>11} {:>8} {:>8}",
            "ends", "bytes", "", "ns/packet", "packets/s", "Gbit/s", "of bare"
        );
        SIZES.into_iter().for_each(tun);
        SIZES.into_iter().for_each(sockets);
        println!(
            "\n{:<12} {:>10} {:>15} {:>9} {:>12} {:>9} {:>7}",
            "rate", "thread", "measured", "error", "late, median", "p99", "stalls"
        );
        for urgent in [false, true] {
            [1, 10, 100].into_iter().for_each(|mbit| pacing(mbit, urgent));
        }
    });
    if done.is_none() {
        println!("nothing was measured");
    }
}

/// UDP from the kernel's own host behind one device to the host behind the other.
fn tun(bytes: usize) {
    let end = |number: u8| {
        in_namespace(|| {
            let tun = Tun::create("hg0").expect("a TUN device can be made");
            ip("link set hg0 addrgenmode none");
            ip(&format!("address add 10.77.0.{number}/24 dev hg0"));
            ip("link set hg0 up");
            (tun, UdpSocket::bind(format!("10.77.0.{number}:9")).expect("the address is there"))
        })
        .expect("a namespace can be made here")
    };
    // Nobody reads there: what finds no room in the socket is gone.
    let ((a, sender), (b, _receiver)) = (end(1), end(2));
    sender.connect("10.77.0.2:9").expect("there is a way to it");
    let data = vec![0; bytes - 28];
    // What the device has no room for is gone.
    let load = || {
        let _ = sender.send(&data);
    };
    compare("TUN", bytes, (a, b), load);
}

/// Frames that a packet socket writes.
fn sockets(bytes: usize) {
    in_namespace(|| {
        veth("left", "in");
        veth("out", "right");
        let [a, b] = ["in", "out"].map(|name| PacketSocket::open(name, PacketSocket::RING).expect("it was just made"));
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
        frame.extend(packet(5000, bytes - 14, Ecn::NotEct, 0));
        let mut socket = PacketSocket::open("left", 64).expect("it was just made");
        let mut pool = Pool::new(32, Pool::SLOT);
        let batch: Vec<_> = (0..32).filter_map(|_| pool.take()).collect();
        for slot in &batch {
            pool.room(slot)[..frame.len()].copy_from_slice(&frame);
            pool.set_len(slot, frame.len());
        }
        let load = || {
            socket.send(&pool, &batch).expect("the interface is there");
        };
        compare("packet sockets", bytes, (a, b), load);
    })
    .expect("a namespace can be made here");
}

/// Half a second of frames of 1250 bytes at a fifth more than the rate, through droptail: how fast they are sent, and how
/// late.
fn pacing(mbit: u64, urgent: bool) {
    in_namespace(|| {
        veth("left", "in");
        veth("out", "right");
        let [a, b, mut left] =
            ["in", "out", "left"].map(|name| PacketSocket::open(name, PacketSocket::RING).expect("it was just made"));
        let direction = Direction::new(mbit, 1, 2000, "droptail");
        let time = direction.simplex.rate.transmit(1250);
        let lanes = ["forward", "reverse"].map(|label| direction.lane(Layer::Ethernet, label));
        let clock = Monotonic::new();
        let b = Stamped { socket: b, clock, first: None, last: Time::ZERO, frames: 0 };
        let paced = Paced::new(clock, Paced::MARGIN);
        let mut forwarder = Forwarder::new(a, b, lanes, if urgent { paced.urgent() } else { paced });
        let stop = forwarder.stopper();
        let view = thread::scope(|scope| {
            scope.spawn(move || {
                overload(&mut left, Span::from_nanos(time.as_nanos() * 5 / 6));
                stop.store(true, Ordering::Relaxed);
            });
            forwarder.run().unwrap_or_else(|error| panic!("{error}"))
        });
        let sent = &forwarder.b;
        let (taken, nominal) = (sent.last - sent.first.unwrap_or_default(), time.as_secs_f64() * sent.frames as f64);
        let ratio = nominal / taken.as_secs_f64();
        let lateness = |share| view.wires[0].lateness.quantile(share).unwrap_or(f64::NAN) / 1e3;
        let (thread, stalls) = (if urgent { "first" } else { "ordinary" }, view.wires[0].counts.stalls);
        println!(
            "{:<12} {thread:>10} {:>8.3} Mbit/s {:>7.3} % {:>9.1} us {:>6.1} us {stalls:>7}",
            direction.simplex.rate.to_string(),
            mbit as f64 * ratio,
            (ratio - 1.0) * 100.0,
            lateness(0.5),
            lateness(0.99),
        );
    })
    .expect("a namespace can be made here");
}

/// Half a second of frames, one every `gap`.
fn overload(socket: &mut PacketSocket, gap: Span) {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    bytes.extend(packet(5000, 1236, Ecn::NotEct, 0));
    let mut pool = Pool::new(1, Pool::SLOT);
    let Some(frame) = pool.take() else { return };
    pool.room(&frame)[..bytes.len()].copy_from_slice(&bytes);
    pool.set_len(&frame, bytes.len());
    let mut clock = Paced::new(Monotonic::new(), Span::ZERO);
    let mut next = Time::ZERO;
    while next < Time::ZERO + Span::from_millis(500) {
        clock.wait(next, [None; 2]).expect("a clock can be waited for");
        socket.send(&pool, std::slice::from_ref(&frame)).expect("the interface is there");
        next += gap;
    }
}

/// A socket, and when it sent what.
struct Stamped {
    socket: PacketSocket,
    clock: Monotonic,
    first: Option<Time>,
    last: Time,
    /// Since the first.
    frames: usize,
}

impl Io for Stamped {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<Received> {
        self.socket.recv(pool, batch)
    }
    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        let refused = self.socket.send(pool, batch);
        self.last = self.clock.now();
        match self.first {
            Some(_) => self.frames += batch.len(),
            None => self.first = Some(self.last),
        }
        refused
    }
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket.fd()
    }
    fn layer(&self) -> Layer {
        self.socket.layer()
    }
    fn mtu(&self) -> usize {
        self.socket.mtu()
    }
}

/// The bare loop and the forwarder with each discipline, in turns.
fn compare<A: Io + Send, B: Io + Send>(name: &str, bytes: usize, mut ends: (A, B), mut load: impl FnMut() + Send) {
    // Of each round: nanoseconds a packet, and the bare loop's over them.
    let mut costs = vec![Vec::with_capacity(ROUNDS); QDISCS.len() + 1];
    let mut ratios = costs.clone();
    for _ in 0..ROUNDS {
        let mut first = None;
        for n in 0..=QDISCS.len() {
            let cost;
            (cost, ends) = under(&mut load, ends, |ends, stop| match n.checked_sub(1) {
                None => bare(ends, &stop),
                Some(n) => forwarder(QDISCS[n], ends, stop),
            });
            costs[n].push(cost);
            ratios[n].push(*first.get_or_insert(cost) / cost);
        }
    }
    for (n, (costs, ratios)) in costs.into_iter().zip(ratios).enumerate() {
        let who = n.checked_sub(1).map_or("bare", |n| QDISCS[n]);
        let (cost, ratio) = (median(costs), median(ratios));
        let (rate, gbit) = (1e9 / cost, bytes as f64 * 8.0 / cost);
        println!("{name:<16} {bytes:>6} {who:>10} {cost:>11.0} {rate:>11.0} {gbit:>8.2} {ratio:>8.2}");
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Packets that crossed, and the CPU time they took.
type Work = (u64, Span);

/// Does `work` while `load` is done again and again in another thread; says how many nanoseconds a packet took.
fn under<E>(load: &mut (impl FnMut() + Send), ends: E, work: impl FnOnce(E, Arc<AtomicBool>) -> (Work, E)) -> (f64, E) {
    let stop = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let over = Arc::clone(&stop);
        scope.spawn(move || {
            let clock = Monotonic::new();
            while clock.now() < Time::ZERO + EACH {
                load();
            }
            over.store(true, Ordering::Relaxed);
        });
        let ((packets, cpu), ends) = work(ends, stop);
        (cpu.as_nanos() as f64 / packets as f64, ends)
    })
}

fn forwarder<A: Io, B: Io>(qdisc: &str, (a, b): (A, B), stop: Arc<AtomicBool>) -> (Work, (A, B)) {
    let direction = Direction::new(100_000, 0, 1000, qdisc);
    let lanes = ["forward", "reverse"].map(|label| direction.lane(a.layer(), label));
    let clock = Paced::new(Monotonic::new(), Paced::MARGIN);
    let mut forwarder = Forwarder::new(a, b, lanes, clock).stopped_by(stop);
    let begin = thread_cpu();
    let view = forwarder.run().expect("the ends are there");
    ((view.wires[0].counts.out, thread_cpu() - begin), (forwarder.a, forwarder.b))
}

/// Takes and gives, and nothing between.
fn bare<A: Io, B: Io>((mut a, mut b): (A, B), stop: &AtomicBool) -> (Work, (A, B)) {
    let mut clock = Paced::new(Monotonic::new(), Span::ZERO);
    clock.begin().expect("it asks for nothing");
    let (mut pool, mut batch) = (Pool::new(2 * BATCH as u32, Pool::SLOT), Vec::with_capacity(BATCH));
    let mut pass = |from: &mut dyn Io, to: &mut dyn Io| {
        let more = from.recv(&mut pool, &mut batch).expect("the end is there").more;
        let refused = to.send(&pool, &batch).expect("the end is there");
        let passed = batch.len() - refused;
        batch.drain(..).for_each(|frame| pool.give(frame));
        (passed as u64, more)
    };
    let (begin, mut packets, mut ready) = (thread_cpu(), 0, [true; 2]);
    while !stop.load(Ordering::Relaxed) {
        let (forth, more) = if ready[0] { pass(&mut a, &mut b) } else { (0, false) };
        let (_, back) = if ready[1] { pass(&mut b, &mut a) } else { (0, false) };
        packets += forth;
        ready = [true; 2];
        if !more && !back {
            let until = clock.now() + Span::from_millis(50);
            ready = clock.wait(until, [a.fd(), b.fd()]).expect("the ends are there");
        }
    }
    ((packets, thread_cpu() - begin), (a, b))
}
