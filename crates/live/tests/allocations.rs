//! Forwarding a packet allocates nothing.
#![cfg(target_os = "linux")]

mod support;

use std::alloc::System;
use std::io;
use std::os::fd::BorrowedFd;

use aqm::{Ecn, Span, Time, registry};
use headgate_live::clock::Monotonic;
use headgate_live::io::recorded_end::{RecordedEnd, Recorder};
use headgate_live::io::{BATCH, LinkEnd, ReceiveResult};
use headgate_live::{Forwarder, FrameId, Layer, PUBLISH_INTERVAL, Pool};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use support::{SteppedClock, TestDirection, packet};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// An end that receives a frame of one of a few flows at each new time, and accepts every frame.
struct RepeatingEnd {
    clock: SteppedClock,
    last: Time,
    frames: Vec<Vec<u8>>,
    next: usize,
}

impl LinkEnd for RepeatingEnd {
    fn recv(&mut self, pool: &mut Pool, batch: &mut Vec<FrameId>) -> io::Result<ReceiveResult> {
        let now = self.clock.now();
        if now > self.last && batch.len() < BATCH && !self.frames.is_empty() {
            self.last = now;
            self.next = (self.next + 1) % self.frames.len();
            let bytes = &self.frames[self.next];
            let frame = pool.take().expect("the pool has more slots than the queue has room");
            pool.slot_mut(&frame)[..bytes.len()].copy_from_slice(bytes);
            pool.set_len(&frame, bytes.len());
            batch.push(frame);
        }
        Ok(ReceiveResult::default())
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

#[test]
fn forwarding_a_packet_allocates_nothing() {
    // Disciplines that allocate a queue per flow may allocate. These do not.
    for name in ["droptail", "red", "blue", "sfb", "faba", "red_pd", "codel", "pie"] {
        assert!(registry::find(name).is_ok());
        let clock = SteppedClock::of(Span::from_micros(300));
        let frames = (0..8).map(|n| packet(5000 + n, 600 + 50 * usize::from(n), Ecn::Ect0, 0)).collect();
        // Recorders are attached too. The test does not read their records, so the channels fill up.
        let (pens, _notes): (Vec<_>, Vec<_>) = (0..2).map(|_| Recorder::new()).unzip();
        let mut pens = pens.into_iter();
        let mut end = |frames| {
            let source = RepeatingEnd { clock: clock.clone(), last: Time::ZERO, frames, next: 0 };
            RecordedEnd::new(source, Monotonic::new(), pens.next())
        };
        let direction = TestDirection::new(8, 2, 50, name);
        let lanes = direction.lanes(Layer::Ip);
        let mut forwarder = Forwarder::new(end(frames), end(Vec::new()), lanes, clock.clone());
        let until = |forwarder: &mut Forwarder<_, _, _>, end: Time| {
            while clock.now() < end {
                forwarder.turn(end).unwrap();
            }
        };
        // Let tables and queues reach their size first. Views are published at multiples of `PUBLISH_INTERVAL`: measure
        // between two of them.
        let warm = Time::ZERO + Span::from_secs(5) + Span::from_millis(1);
        until(&mut forwarder, warm);
        let before = forwarder.view().lanes[0].counts.delivered;
        let region = Region::new(ALLOCATOR);
        until(&mut forwarder, warm + (PUBLISH_INTERVAL - Span::from_millis(2)));
        let stats = region.change();
        let packets = forwarder.view().lanes[0].counts.delivered - before;
        assert!(packets > 30, "{name}: {packets} packets");
        assert_eq!((stats.allocations, stats.reallocations), (0, 0), "{name}");
    }
}
