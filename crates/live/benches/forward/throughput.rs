//! CPU time of the forwarding thread per packet, through a pair of TUN devices and through packet sockets on virtual
//! Ethernet. It is compared with a bare loop over the same ends, without queue, parser and link.
//!
//! One core fills the first end with a slice of packets. Then another core runs one loop over the slice, and only that
//! is timed. As in use, packets arrive from another core, but no loop waits for their sender. The loops take turns,
//! slice by slice of a millisecond or two, so other work of the machine affects all alike. The ratio is the median over
//! all rounds.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::UdpSocket;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use aqm::{Ecn, Span, Time};
use headgate_live::clock::{Monotonic, thread_cpu};
use headgate_live::io::{BATCH, LinkEnd, PacketSocket, ReceiveResult, SendMethod, Tun};
use headgate_live::pacing::Clock;
use headgate_live::{Forwarder, FrameId, Layer, Pool};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::support::namespace::{in_namespace, ip, veth};
use crate::support::{TestDirection, packet};

const ROUNDS: usize = 150;
/// Packets per slice: half the room of an end.
const SLICE: u64 = 2048;
const FLOWS: u16 = 16;
const QDISCS: [&str; 3] = ["droptail", "sfb", "faba"];
const SIZES: [usize; 2] = [64, 1500];

/// Eighteen cells and their bare loops, then the cost of the loops alone. The last column is relative to the bare loop
/// over packet sockets.
pub fn table() {
    println!(
        "{:<16} {:>6} {:>10} {:>11} {:>11} {:>8} {:>8} {:>15} {:>10}",
        "ends", "bytes", "", "ns/packet", "packets/s", "Gbit/s", "of bare", "half of rounds", "of sockets"
    );
    SIZES.into_iter().for_each(tun);
    SIZES.into_iter().for_each(sockets);
    SIZES.into_iter().for_each(|bytes| alone("no kernel", bytes, FLOWS));
    // More flows than the lane's table has rows: each packet's flow is new or has lost its row.
    alone("no kernel, flood", 64, 8192);
}

/// The loop alone, between ends that copy frames in and discard them.
fn alone(name: &str, bytes: usize, flows: u16) {
    let frames: Vec<_> = (0..flows).map(|flow| packet(5000 + flow, bytes, Ecn::NotEct, 0)).collect();
    let left = Arc::new(AtomicU64::new(0));
    let end = |frames: &[Vec<u8>]| Copied { frames: frames.to_vec(), next: 0, left: Arc::clone(&left) };
    compare(bytes, vec![(name, end(&frames), end(&[]))], |_| left.store(SLICE, Ordering::Release));
}

/// An end without a kernel.
struct Copied {
    frames: Vec<Vec<u8>>,
    next: usize,
    left: Arc<AtomicU64>,
}

impl LinkEnd for Copied {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        if self.frames.is_empty() {
            return Ok(ReceiveResult::default());
        }
        let left = self.left.load(Ordering::Acquire);
        let taken = left.min((BATCH - batch.len()) as u64);
        for _ in 0..taken {
            let Some(frame) = pool.take() else { break };
            let bytes = &self.frames[self.next];
            self.next = (self.next + 1) % self.frames.len();
            pool.slot_mut(&frame)[..bytes.len()].copy_from_slice(bytes);
            pool.set_len(&frame, bytes.len());
            batch.push(frame);
        }
        self.left.store(left - taken, Ordering::Release);
        Ok(ReceiveResult { more: left > taken, ..ReceiveResult::default() })
    }
    fn send(&mut self, _: &Pool, _: &[FrameId]) -> io::Result<usize> {
        Ok(0)
    }
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    fn layer(&self) -> Layer {
        Layer::Ip
    }
    fn mtu(&self) -> usize {
        1500
    }
}

/// UDP from the kernel's host behind one device to the host behind the other.
fn tun(bytes: usize) {
    let end = |number: u8| {
        in_namespace(|| {
            let tun = Tun::create("hg0").expect("a TUN device can be made");
            ip("link set hg0 addrgenmode none");
            ip(&format!("address add 10.77.0.{number}/24 dev hg0"));
            ip(&format!("link set hg0 txqueuelen {} up", 2 * SLICE));
            let sockets = if number == 1 { FLOWS } else { 1 };
            let port = if number == 1 { 0 } else { 9 };
            let bind = |_| UdpSocket::bind(format!("10.77.0.{number}:{port}")).expect("the address is there");
            (tun, (0..sockets).map(bind).collect::<Vec<_>>())
        })
        .expect("a namespace can be made here")
    };
    // No process reads at the other host: its socket drops packets once it is full.
    let ((a, senders), (b, _receiver)) = (end(1), end(2));
    senders.iter().for_each(|sender| sender.connect("10.77.0.2:9").expect("there is a route to it"));
    let data = vec![0; bytes - 28];
    let fill = |_| {
        for sender in senders.iter().cycle().take(SLICE as usize) {
            sender.send(&data).expect("the device has room");
        }
    };
    compare(bytes, vec![("TUN", a, b)], fill);
}

/// Frames written by a packet socket, through packet sockets that send with or without AF_XDP.
fn sockets(bytes: usize) {
    in_namespace(|| {
        let (mut pairs, mut sources) = (Vec::new(), Vec::new());
        for (n, (name, sending)) in
            [("packet sockets", SendMethod::Packet), ("AF_XDP out", SendMethod::Xdp)].iter().enumerate()
        {
            let [left, near, far, right] = ["left", "in", "out", "right"].map(|end| format!("{end}{n}"));
            veth(&left, &near);
            veth(&far, &right);
            let open = |name: &str, frames| PacketSocket::open(name, frames, *sending).expect("it was just made");
            pairs.push((*name, open(&near, PacketSocket::RING), open(&far, PacketSocket::RING)));
            sources.push(open(&left, 64));
        }
        let mut pool = Pool::new(u32::from(FLOWS), Pool::DEFAULT_SLOT);
        let batch: Vec<_> = (0..FLOWS).filter_map(|_| pool.take()).collect();
        for (flow, slot) in batch.iter().enumerate() {
            let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
            frame.extend(packet(5000 + flow as u16, bytes - 14, Ecn::NotEct, 0));
            pool.slot_mut(slot)[..frame.len()].copy_from_slice(&frame);
            pool.set_len(slot, frame.len());
        }
        let fill = |pair: usize| {
            for _ in 0..SLICE / u64::from(FLOWS) {
                sources[pair].send(&pool, &batch).expect("the interface is there");
            }
        };
        compare(bytes, pairs, fill);
    })
    .expect("a namespace can be made here");
}

/// An end that several loops use in turn.
struct SharedEnd<T> {
    end: Rc<RefCell<T>>,
    sent: u64,
}

impl<T> SharedEnd<T> {
    fn new(end: &Rc<RefCell<T>>) -> SharedEnd<T> {
        SharedEnd { end: Rc::clone(end), sent: 0 }
    }
}

impl<T: LinkEnd> LinkEnd for SharedEnd<T> {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        self.end.borrow_mut().recv(pool, batch)
    }
    fn send(&mut self, pool: &Pool, batch: &[FrameId]) -> io::Result<usize> {
        self.sent += batch.len() as u64;
        self.end.borrow_mut().send(pool, batch)
    }
    /// The loops here never wait.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    fn layer(&self) -> Layer {
        self.end.borrow().layer()
    }
    fn mtu(&self) -> usize {
        self.end.borrow().mtu()
    }
}

/// The machine's clock, for loops that always have work. It pauses while other loops have their turn. Periodic work,
/// such as a view every 50 ms, is thus charged to the packets that the loop forwards in that time.
#[derive(Clone)]
struct Awake {
    clock: Monotonic,
    /// Total time of its pauses.
    paused: Rc<Cell<Span>>,
    /// Start of its last pause.
    since: Cell<Time>,
}

impl Awake {
    fn new() -> Awake {
        Awake { clock: Monotonic::new(), paused: Rc::default(), since: Cell::default() }
    }

    fn pause(&self) {
        self.since.set(self.clock.now());
    }

    fn resume(&self) {
        self.paused.set(self.paused.get() + (self.clock.now() - self.since.get()));
    }
}

impl Clock for Awake {
    fn now(&mut self) -> Time {
        Time::ZERO + (self.clock.now() - (Time::ZERO + self.paused.get()))
    }
    fn wait(&mut self, _: Time, _: [Option<BorrowedFd<'_>>; 3]) -> io::Result<[bool; 2]> {
        Ok([true; 2])
    }
    fn cpu(&self) -> Span {
        thread_cpu()
    }
}

/// A loop between two ends.
trait Turns {
    fn turn(&mut self);
    /// Packets that it has sent to the second end.
    fn sent(&self) -> u64;
}

impl<A: LinkEnd, B: LinkEnd> Turns for Forwarder<A, SharedEnd<B>, Awake> {
    fn turn(&mut self) {
        Forwarder::turn(self, Time::NEVER).expect("the ends are there");
    }
    fn sent(&self) -> u64 {
        self.b.sent
    }
}

/// Receives and sends, without any other work.
struct Bare<A, B> {
    a: A,
    b: SharedEnd<B>,
    pool: Pool,
    batch: Vec<FrameId>,
}

impl<A: LinkEnd, B: LinkEnd> Bare<A, B> {
    fn new(a: A, b: SharedEnd<B>) -> Self {
        Bare { a, b, pool: Pool::new(2 * BATCH as u32, Pool::DEFAULT_SLOT), batch: Vec::with_capacity(BATCH) }
    }

    fn pass(pool: &mut Pool, batch: &mut Vec<FrameId>, from: &mut dyn LinkEnd, to: &mut dyn LinkEnd) {
        from.recv(pool, batch).expect("the end is there");
        if !batch.is_empty() {
            to.send(pool, batch).expect("the end is there");
            batch.drain(..).for_each(|frame| pool.give(frame));
        }
    }
}

impl<A: LinkEnd, B: LinkEnd> Turns for Bare<A, B> {
    fn turn(&mut self) {
        Self::pass(&mut self.pool, &mut self.batch, &mut self.a, &mut self.b);
        Self::pass(&mut self.pool, &mut self.batch, &mut self.b, &mut self.a);
    }
    fn sent(&self) -> u64 {
        self.b.sent
    }
}

/// Measures the bare loop and the forwarder with each discipline in turn, over each pair of ends.
fn compare<A, B>(bytes: usize, pairs: Vec<(&str, A, B)>, fill: impl FnMut(usize) + Send)
where
    A: LinkEnd + 'static,
    B: LinkEnd + 'static,
{
    let names: Vec<_> = pairs.iter().map(|pair| pair.0.to_string()).collect();
    let mut loops: Vec<_> = pairs
        .into_iter()
        .enumerate()
        .flat_map(|(pair, (_, a, b))| each(a, b).map(move |turns| (pair, turns)))
        .collect();
    let costs = filled_elsewhere(fill, |fill| rounds(&mut loops, fill));
    let rows = 1 + QDISCS.len();
    let ratios = |n: usize, bare: usize| quartiles(costs[bare].iter().zip(&costs[n]).map(|(b, c)| b / c).collect());
    for n in 0..costs.len() {
        let (name, who) = (&names[n / rows], (n % rows).checked_sub(1).map_or("bare", |n| QDISCS[n]));
        let ([_, cost, _], [low, ratio, high]) = (quartiles(costs[n].clone()), ratios(n, n / rows * rows));
        let (rate, gbit) = (1e9 / cost, bytes as f64 * 8.0 / cost);
        let spread = format!("{low:.2} to {high:.2}");
        let first = if names.len() > 1 { format!("{:.3}", ratios(n, 0)[1]) } else { String::new() };
        println!(
            "{name:<16} {bytes:>6} {who:>10} {cost:>11.0} {rate:>11.0} {gbit:>8.2} {ratio:>8.3} {spread:>15} {first:>10}"
        );
    }
}

/// A loop, and its clock, which pauses between its turns.
type Turn = (Box<dyn Turns>, Awake);

/// The bare loop and the forwarder with each discipline between two ends.
fn each<A: LinkEnd + 'static, B: LinkEnd + 'static>(a: A, b: B) -> impl Iterator<Item = Turn> {
    let (a, b) = (Rc::new(RefCell::new(a)), Rc::new(RefCell::new(b)));
    let layer = a.borrow().layer();
    let bare: Turn = (Box::new(Bare::new(SharedEnd::new(&a), SharedEnd::new(&b))), Awake::new());
    let forwarders = QDISCS.into_iter().map(move |qdisc| -> Turn {
        // A terabit a second: faster than any loop, so that none waits for its link.
        let direction = TestDirection::new(1_000_000, 0, 1000, qdisc);
        let lanes = direction.lanes(layer);
        let clock = Awake::new();
        (Box::new(Forwarder::new(SharedEnd::new(&a), SharedEnd::new(&b), lanes, clock.clone())), clock)
    });
    std::iter::once(bare).chain(forwarders)
}

/// Runs `job` on one core. It calls `fill` for a pair of ends on another core and waits for it.
fn filled_elsewhere<T>(mut fill: impl FnMut(usize) + Send, job: impl FnOnce(&mut dyn FnMut(usize)) -> T) -> T {
    let ((request, requests), (finish, finished)) = (sync_channel(0), sync_channel(0));
    let allowed = sched_getaffinity(None).expect("a thread may read its affinity");
    let done = thread::scope(|scope| {
        scope.spawn(move || {
            stay_on(&allowed, 0);
            for pair in requests {
                fill(pair);
                finish.send(()).expect("the other thread waits");
            }
        });
        stay_on(&allowed, 1);
        let done = job(&mut |pair| {
            request.send(pair).expect("the thread runs");
            finished.recv().expect("the thread runs");
        });
        drop(request);
        done
    });
    sched_setaffinity(None, &allowed).expect("it was allowed before");
    done
}

/// Pins the calling thread to this one of its allowed processors, or to the only one.
fn stay_on(allowed: &CpuSet, number: usize) {
    let mut one = CpuSet::new();
    let numbers = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    numbers.take(number + 1).last().into_iter().for_each(|cpu| one.set(cpu));
    sched_setaffinity(None, &one).expect("a thread may stay on a processor of its own");
}

/// Cost of each loop in each round: nanoseconds of CPU time per packet.
fn rounds(loops: &mut [(usize, Turn)], fill: &mut dyn FnMut(usize)) -> Vec<Vec<f64>> {
    let mut costs = vec![Vec::with_capacity(ROUNDS); loops.len()];
    for round in 0..ROUNDS {
        for step in 0..loops.len() {
            // A different loop starts each round, so that their order gives no advantage.
            let n = (round + step) % loops.len();
            let (pair, (turns, clock)) = &mut loops[n];
            fill(*pair);
            clock.resume();
            costs[n].push(cost_of_slice(&mut **turns));
            clock.pause();
        }
    }
    costs
}

/// Nanoseconds of CPU time for each packet of a slice.
fn cost_of_slice(turns: &mut dyn Turns) -> f64 {
    let goal = turns.sent() + SLICE;
    let begin = thread_cpu();
    for _ in 0..SLICE {
        turns.turn();
        if turns.sent() >= goal {
            return (thread_cpu() - begin).as_nanos() as f64 / SLICE as f64;
        }
    }
    panic!("{} of {SLICE} packets are missing", goal - turns.sent());
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    [1, 2, 3].map(|n| values[(values.len() - 1) * n / 4])
}
