//! Accuracy of the link's rate and lateness of packets, for an ordinary thread and a real-time thread.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::thread;

use aqm::{Ecn, Span, Time};
use headgate_live::clock::Monotonic;
use headgate_live::io::{LinkEnd, PacketSocket, ReceiveResult, SendMethod};
use headgate_live::pacing::{Clock, PacedClock};
use headgate_live::{Forwarder, FrameId, Layer, Pool};

use crate::support::namespace::{in_namespace, veth};
use crate::support::{TestDirection, packet};

/// Six rows: rates of three magnitudes, both kinds of thread.
pub fn table() {
    println!(
        "\n{:<12} {:>10} {:>15} {:>9} {:>12} {:>9} {:>7}",
        "rate", "thread", "measured", "error", "late, median", "p99", "stalls"
    );
    for urgent in [false, true] {
        [1, 10, 100].into_iter().for_each(|mbit| pacing(mbit, urgent));
    }
}

/// Half a second of frames of 1250 bytes at 1.2 times the rate, through droptail: the rate sent, and the lateness.
fn pacing(mbit: u64, urgent: bool) {
    in_namespace(|| {
        veth("left", "in");
        veth("out", "right");
        let [a, b, mut left] = ["in", "out", "left"]
            .map(|name| PacketSocket::open(name, PacketSocket::RING, SendMethod::Auto).expect("it was just made"));
        let direction = TestDirection::new(mbit, 1, 2000, "droptail");
        let time = direction.direction_settings.rate.transmit(1250);
        let lanes = direction.lanes(Layer::Ethernet);
        let clock = Monotonic::new();
        let b = Stamped { socket: b, clock, first: None, last: Time::ZERO, frames: 0 };
        let paced = PacedClock::new(clock, PacedClock::MARGIN);
        let mut forwarder = Forwarder::new(a, b, lanes, if urgent { paced.realtime() } else { paced });
        let stop = forwarder.stop_flag();
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
        let lateness = |share| view.lanes[0].lateness.quantile(share).unwrap_or(f64::NAN) / 1e3;
        let (thread, stalls) = (if urgent { "first" } else { "ordinary" }, view.lanes[0].counts.stalls);
        println!(
            "{:<12} {thread:>10} {:>8.3} Mbit/s {:>7.3} % {:>9.1} us {:>6.1} us {stalls:>7}",
            direction.direction_settings.rate.to_string(),
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
    let mut pool = Pool::new(1, Pool::DEFAULT_SLOT);
    let Some(frame) = pool.take() else { return };
    pool.slot_mut(&frame)[..bytes.len()].copy_from_slice(&bytes);
    pool.set_len(&frame, bytes.len());
    let mut clock = PacedClock::new(Monotonic::new(), Span::ZERO);
    let mut next = Time::ZERO;
    while next < Time::ZERO + Span::from_millis(500) {
        clock.wait(next, [None; 3]).expect("a clock can be waited for");
        socket.send(&pool, std::slice::from_ref(&frame)).expect("the interface is there");
        next += gap;
    }
}

/// A socket, and the times at which it sent.
struct Stamped {
    socket: PacketSocket,
    clock: Monotonic,
    first: Option<Time>,
    last: Time,
    /// Times since the first frame.
    frames: usize,
}

impl LinkEnd for Stamped {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
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
