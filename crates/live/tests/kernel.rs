//! The forwarder between kernel devices, in namespaces that the tests create. The tests need root and are skipped
//! otherwise, with the reason printed.

use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::support::memory::Conserved;
use crate::support::namespace::{in_namespace, ip, veth};
use crate::support::{TestDirection, packet};
use aqm::{Ecn, Rate, Span};
use etherparse::Ipv4HeaderSlice;
use headgate_live::clock::Monotonic;
use headgate_live::io::{LinkEnd, PacketSocket, SendMethod, Tun, offloads};
use headgate_live::pacing::{Clock, PacedClock};
use headgate_live::{Forwarder, FrameAnomaly, FrameId, LaneView, Layer, Pool, View};

/// Forwards between `a` and `b`, with `direction` both ways, while `job` runs in another thread of the same namespace.
fn forward<A, B, T>(a: A, b: B, direction: &TestDirection, job: impl FnOnce() -> T + Send) -> (View, T)
where
    A: LinkEnd + Send,
    B: LinkEnd + Send,
    T: Send,
{
    let layer = a.layer();
    let lanes = direction.lanes(layer);
    let mut forwarder = Forwarder::new(a, b, lanes, PacedClock::new(Monotonic::new(), PacedClock::MARGIN));
    let stop = forwarder.stop_flag();
    thread::scope(|scope| {
        // Also stops the forwarder if the job panics.
        struct StopOnDrop(std::sync::Arc<std::sync::atomic::AtomicBool>);
        impl Drop for StopOnDrop {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let job = scope.spawn(move || {
            let _stop = StopOnDrop(stop);
            job()
        });
        let view = forwarder.run().unwrap();
        (view, job.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn adds_up(lane: &LaneView) {
    assert!(lane.adds_up(), "{lane:#?}");
    assert_eq!(lane.counts.no_slot + lane.counts.refused, 0, "{:?}", lane.counts);
}

/// A host that writes its own frames: a packet socket with a pool.
struct ForwardedHost {
    socket: PacketSocket,
    pool: Pool,
}

impl ForwardedHost {
    fn new(interface: &str) -> ForwardedHost {
        ForwardedHost {
            socket: PacketSocket::open(interface, 4096, SendMethod::Auto).unwrap(),
            pool: Pool::new(64, Pool::DEFAULT_SLOT),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        let frame = self.pool.take().unwrap();
        self.pool.slot_mut(&frame)[..bytes.len()].copy_from_slice(bytes);
        self.pool.set_len(&frame, bytes.len());
        assert_eq!(self.socket.send(&self.pool, std::slice::from_ref(&frame)).unwrap(), 0, "refused");
        self.pool.give(frame);
    }

    /// Receives until `count` frames have arrived, for at most two seconds.
    fn receive(&mut self, count: usize) -> Vec<Vec<u8>> {
        let mut clock = PacedClock::new(Monotonic::new(), Span::ZERO);
        let end = clock.now() + Span::from_secs(2);
        let (mut frames, mut batch) = (Vec::new(), Vec::with_capacity(64));
        while frames.len() < count && clock.now() < end {
            clock.wait(end, [self.socket.fd(), None, None]).unwrap();
            self.socket.recv(&mut self.pool, &mut batch).unwrap();
            for frame in batch.drain(..) {
                frames.push(self.pool.frame(&frame).to_vec());
                self.pool.give(frame);
            }
        }
        frames
    }
}

fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend_from_slice(&kind.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

#[test]
fn frames_cross_packet_sockets_unchanged_and_anomalies_are_counted() {
    in_namespace(|| {
        veth("left", "in");
        veth("out", "right");
        assert_eq!(offloads("in").unwrap(), Vec::<&str>::new(), "they were switched off");
        let (mut left, mut right) = (ForwardedHost::new("left"), ForwardedHost::new("right"));
        let ends = ["in", "out"].map(|name| PacketSocket::open(name, PacketSocket::RING, SendMethod::Auto).unwrap());
        let [a, b] = ends;
        assert_eq!((a.layer(), a.mtu()), (Layer::Ethernet, 1500));
        let mut tagged = 7_u16.to_be_bytes().to_vec();
        tagged.extend_from_slice(&0x800_u16.to_be_bytes());
        tagged.extend_from_slice(&packet(5000, 900, Ecn::NotEct, 3));
        let mut frames: Vec<Vec<u8>> = (0..40)
            .map(|n| ethernet(0x800, &packet(5000, 100 + 35 * n, Ecn::NotEct, n as u32)))
            .chain([ethernet(0x806, &[1; 28]), ethernet(0x8100, &tagged), ethernet(0x86dd, &[0x60; 60])])
            .collect();
        let direction = TestDirection::new(100, 1, 200, "droptail");
        let (view, received) = forward(a, b, &direction, || {
            frames.iter().for_each(|frame| left.send(frame));
            right.receive(42)
        });
        let lane = &view.lanes[0];
        adds_up(lane);
        // The last packet's header states more bytes than the packet has.
        frames.pop();
        assert_eq!(received, frames);
        assert_eq!((lane.counts.offered, lane.counts.delivered), (43, 42));
        assert_eq!([FrameAnomaly::NonIp, FrameAnomaly::BadLength].map(|anomaly| lane.anomalies.of(anomaly)), [1, 1]);
        assert_eq!(view.kernel[0].dropped, 0);
    });
}

#[test]
fn marks_reach_the_receiver_with_a_true_checksum() {
    in_namespace(|| {
        veth("left", "in");
        veth("out", "right");
        let (mut left, mut right) = (ForwardedHost::new("left"), ForwardedHost::new("right"));
        let [a, b] = ["in", "out"].map(|name| PacketSocket::open(name, PacketSocket::RING, SendMethod::Auto).unwrap());
        let direction = TestDirection::new(10, 0, 500, "red:minth=5p,maxth=50p,ecn=on");
        let (view, received) = forward(a, b, &direction, || {
            (0..300).for_each(|n| left.send(&ethernet(0x800, &packet(5000, 1000, Ecn::Ect0, n))));
            right.receive(300)
        });
        let lane = &view.lanes[0];
        adds_up(lane);
        let marked = received.iter().filter(|frame| {
            let header = Ipv4HeaderSlice::from_slice(&frame[14..]).unwrap();
            assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
            header.ecn().value() == 3
        });
        let marked = marked.count() as u64;
        assert_eq!(marked, lane.totals.counts().marked());
        assert!(marked > 0, "300 packets at once leave no mark");
    });
}

#[test]
fn two_kernel_hosts_exchange_packets_over_a_pair_of_tun_devices() {
    // A namespace for each end: within one, the kernel would deliver the packets without the link.
    let near = in_namespace(|| end(1));
    let far = in_namespace(|| end(2));
    let (Some((a, sender)), Some((b, receiver))) = (near, far) else { return };
    assert_eq!((a.name(), a.layer(), a.mtu()), ("hg0", Layer::Ip, 1500));
    // 972 bytes of data are 1000 bytes of IP. The link sends 8 Mbit/s, one packet a millisecond; twice as many are
    // offered.
    let (count, delay) = (600, Duration::from_millis(20));
    let direction = TestDirection::new(8, delay.as_millis() as u64, 50, "droptail");
    receiver.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let (view, received) = forward(a, b, &direction, || {
        thread::scope(|scope| {
            // Read while sending: the socket's buffer holds fewer packets.
            let received = scope.spawn(|| {
                let (mut numbers, mut data) = (Vec::new(), [0; 2000]);
                while let Ok(length) = receiver.recv(&mut data) {
                    assert_eq!(length, 972);
                    numbers.push(u32::from_be_bytes(data[..4].try_into().unwrap()));
                }
                numbers
            });
            let mut clock = PacedClock::new(Monotonic::new(), Span::ZERO);
            let begin = clock.now();
            for n in 0..count {
                clock.wait(begin + Span::from_micros(500 * u64::from(n)), [None; 3]).unwrap();
                let mut data = [0; 972];
                data[..4].copy_from_slice(&u32::to_be_bytes(n));
                sender.send_to(&data, "10.77.0.2:9").unwrap();
            }
            received.join().unwrap()
        })
    });
    let lane = &view.lanes[0];
    adds_up(lane);
    assert_eq!((lane.counts.offered, lane.anomalies.dropped()), (u64::from(count), 0));
    assert_eq!(received.len() as u64, lane.counts.delivered, "the host receives every packet that the link sent");
    assert!(received.is_sorted());
    assert!(lane.totals.dropped() > 100, "twice the rate must overflow: {}", lane.totals.dropped());
    assert_eq!(lane.totals.dropped() + lane.counts.delivered, u64::from(count));
}

/// A TUN device with an address, and a socket of the kernel's host behind it.
fn end(number: u8) -> (Tun, UdpSocket) {
    let tun = Tun::create("hg%d").unwrap();
    ip(&format!("link set {} addrgenmode none", tun.name()));
    ip(&format!("address add 10.77.0.{number}/24 dev {}", tun.name()));
    ip(&format!("link set {} up", tun.name()));
    let port = if number == 2 { 9 } else { 0 };
    (tun, UdpSocket::bind(format!("10.77.0.{number}:{port}")).unwrap())
}

#[test]
fn packets_leave_at_their_rate_and_after_their_delay() {
    in_namespace(|| {
        veth("left", "in");
        veth("out", "right");
        let (mut left, mut right) = (ForwardedHost::new("left"), ForwardedHost::new("right"));
        let [a, b] = ["in", "out"].map(|name| PacketSocket::open(name, PacketSocket::RING, SendMethod::Auto).unwrap());
        let mut direction = TestDirection::new(10, 10, 2000, "droptail");
        direction.direction_settings.rate = Rate::from_bits(10_000_000);
        // 500 frames of 1250 bytes take 500 ms.
        let (view, (begin, end)) = forward(a, b, &direction, || {
            let clock = Monotonic::new();
            let begin = clock.now();
            (0..500).for_each(|n| left.send(&ethernet(0x800, &packet(5000, 1236, Ecn::NotEct, n))));
            assert_eq!(right.receive(500).len(), 500);
            (begin, clock.now())
        });
        let lane = &view.lanes[0];
        adds_up(lane);
        // Packets never arrive before the link's time. How late they arrive depends on the machine and is only printed.
        assert!(end - begin >= Span::from_millis(510), "{}", end - begin);
        let lateness = |share| lane.lateness.quantile(share).unwrap() / 1e3;
        println!("late by {:.1} us at the median, {:.1} at p99", lateness(0.5), lateness(0.99));
        assert_eq!(lane.lateness.count(), 500);
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "no event says that another process closed its copy of a descriptor")]
fn an_interface_that_cannot_be_opened_is_an_error() {
    in_namespace(|| {
        assert!(PacketSocket::open("no-such-link", 64, SendMethod::Auto).is_err());
        assert!(Tun::create("a-name-that-is-too-long").is_err());
        let first = Tun::create("mine").unwrap();
        assert!(Tun::create("mine").is_err(), "a device of this name exists");
        drop(first);
        // A program that another test starts has a copy of every descriptor until it replaces its image, and the name is
        // taken as long.
        let freed = (0..100).any(|_| {
            Tun::create("mine").is_ok() || {
                thread::sleep(Duration::from_millis(20));
                false
            }
        });
        assert!(freed, "the name is free again once its device is closed");
    });
}

#[test]
fn an_interface_that_is_down_refuses_and_comes_back() {
    in_namespace(|| {
        veth("left", "in");
        let mut host = ForwardedHost::new("left");
        let mut socket = PacketSocket::open("in", 64, SendMethod::Auto).unwrap();
        let mut pool = Pool::new(4, Pool::DEFAULT_SLOT);
        let frame: FrameId = pool.take().unwrap();
        let bytes = ethernet(0x800, &packet(5000, 100, Ecn::NotEct, 0));
        pool.slot_mut(&frame)[..bytes.len()].copy_from_slice(&bytes);
        pool.set_len(&frame, bytes.len());
        ip("link set in down");
        assert_eq!(socket.send(&pool, std::slice::from_ref(&frame)).unwrap(), 1);
        let mut batch = Vec::with_capacity(64);
        for _ in 0..130 {
            socket.recv(&mut pool, &mut batch).unwrap();
        }
        ip("link set in up");
        assert_eq!(socket.send(&pool, std::slice::from_ref(&frame)).unwrap(), 0);
        assert_eq!(host.receive(1), [bytes]);
    });
}
