//! Frames of an interface with offloads: without checksums, or super-packets with the data of several packets. Also interfaces
//! with large MTUs, and rings with too few frames. The tests need root and are skipped otherwise, with the reason
//! printed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crate::support::memory::Conserved;
use crate::support::namespace::{in_namespace, ip, veth};
use crate::support::{TestDirection, packet};
use aqm::Ecn;
use headgate_live::clock::Monotonic;
use headgate_live::io::interface_counters::CounterReader;
use headgate_live::io::{LinkEnd, PacketSocket, SendMethod};
use headgate_live::pacing::PacedClock;
use headgate_live::{Forwarder, FrameAnomaly, Layer, Pool, View};
use quinn_udp::{Transmit, UdpSocketState};
use rustix::thread::gettid;

/// Two kernel hosts, each behind a virtual interface with all offloads on, and the forwarder between the other ends of
/// both. `server` runs at 10.78.0.2 and fd78::2 and reports when it is ready; then `client` runs at 10.78.0.1.
fn between_hosts(mtu: usize, server: impl FnOnce(Sender<()>) + Send, client: impl FnOnce() + Send) -> Option<View> {
    in_namespace(|| {
        let middle = gettid();
        let host = |number: u8| {
            let (near, far) = (format!("host{number}"), format!("in{number}"));
            ip(&format!("link add {near} mtu {mtu} type veth peer name {far} mtu {mtu}"));
            ip(&format!("link set {far} netns {middle}"));
            ip(&format!("address add 10.78.0.{number}/24 dev {near}"));
            ip(&format!("address add fd78::{number}/64 dev {near} nodad"));
            ip(&format!("link set {near} addrgenmode none up"));
        };
        let (made, both_made) = channel::<()>();
        let (go, begin) = channel::<()>();
        let (ready, is_ready) = channel();
        thread::scope(|scope| {
            let made_too = made.clone();
            let serving = scope.spawn(move || {
                in_namespace(move || {
                    host(2);
                    made.send(()).unwrap();
                    server(ready);
                })
            });
            let asking = scope.spawn(move || {
                in_namespace(move || {
                    host(1);
                    made_too.send(()).unwrap();
                    begin.recv().unwrap();
                    is_ready.recv().unwrap();
                    client();
                })
            });
            both_made.iter().take(2).for_each(drop);
            forwarding(mtu, || {
                go.send(()).unwrap();
                for done in [asking.join(), serving.join()] {
                    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                }
            })
        })
    })
}

/// Forwards between `in1` and `in2` while `job` runs.
fn forwarding(mtu: usize, job: impl FnOnce() + Send) -> View {
    let [a, b] = ["in1", "in2"].map(|name| {
        ip(&format!("link set {name} addrgenmode none up"));
        PacketSocket::open(name, PacketSocket::RING, SendMethod::Auto).unwrap()
    });
    let direction = TestDirection { slot_bytes: Pool::slot_for(mtu), ..TestDirection::new(1000, 0, 400, "droptail") };
    let lanes = direction.lanes(Layer::Ethernet);
    let mut forwarder = Forwarder::new(a, b, lanes, PacedClock::new(Monotonic::new(), PacedClock::MARGIN));
    let stop = forwarder.stop_flag();
    thread::scope(|scope| {
        let job = scope.spawn(move || {
            struct StopGuard(std::sync::Arc<std::sync::atomic::AtomicBool>);
            impl Drop for StopGuard {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Relaxed);
                }
            }
            let _stop = StopGuard(stop);
            job();
        });
        let view = forwarder.run().unwrap();
        job.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        view
    })
}

/// Echoes a datagram of each address family, then the data of one connection of each.
fn echo(ready: Sender<()>) {
    let addresses: [SocketAddr; 2] = ["10.78.0.2:9".parse().unwrap(), "[fd78::2]:9".parse().unwrap()];
    let sockets = addresses.map(|at| (UdpSocket::bind(at).unwrap(), TcpListener::bind(at).unwrap()));
    ready.send(()).unwrap();
    let mut data = [0; 16_000];
    for (udp, tcp) in sockets {
        udp.set_read_timeout(PATIENCE).unwrap();
        let (length, from) = udp.recv_from(&mut data).unwrap();
        udp.send_to(&data[..length], from).unwrap();
        let (mut stream, _) = tcp.accept().unwrap();
        let mut all = Vec::new();
        stream.set_read_timeout(PATIENCE).unwrap();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    }
}

/// Time for which a test waits for packets that must not arrive.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

/// Sends `bytes` bytes to the echo server at `address` by UDP and TCP, and expects them back.
fn exchange(address: &str, local: &str, bytes: usize) {
    let data: Vec<u8> = (0..bytes).map(|n| (n % 251) as u8).collect();
    let udp = UdpSocket::bind(local).unwrap();
    udp.set_read_timeout(PATIENCE).unwrap();
    udp.send_to(&data, address).unwrap();
    let mut back = vec![0; bytes + 1];
    assert_eq!(udp.recv(&mut back).unwrap(), bytes);
    assert_eq!(back[..bytes], data);
    let mut tcp = TcpStream::connect(address).unwrap();
    tcp.set_read_timeout(PATIENCE).unwrap();
    tcp.write_all(&data).unwrap();
    tcp.shutdown(std::net::Shutdown::Write).unwrap();
    back.clear();
    tcp.read_to_end(&mut back).unwrap();
    assert_eq!(back, data);
}

#[test]
fn a_checksum_left_to_a_card_is_filled_in() {
    // A receiver discards packets with wrong checksums, and the exchange would time out.
    let Some(view) = between_hosts(1500, echo, || {
        exchange("10.78.0.2:9", "10.78.0.1:0", 1001);
        exchange("[fd78::2]:9", "[fd78::1]:0", 1001);
    }) else {
        return;
    };
    assert!(view.lanes.iter().all(|lane| lane.adds_up()), "{view:#?}");
    // For each address family a datagram, and at least SYN, data and FIN of a connection.
    assert!(view.kernel.iter().all(|kernel| kernel.no_checksum >= 8), "{:?}", view.kernel);
}

#[test]
fn frames_up_to_the_interfaces_mtu_pass() {
    let Some(view) = between_hosts(9000, echo, || {
        exchange("10.78.0.2:9", "10.78.0.1:0", 8900);
        exchange("[fd78::2]:9", "[fd78::1]:0", 8900);
    }) else {
        return;
    };
    assert!(view.lanes.iter().all(|lane| lane.adds_up()), "{view:#?}");
    assert!(view.lanes.iter().all(|lane| lane.totals.counts().sent_bytes > 4 * 8900), "{view:#?}");
    assert_eq!(view.lanes[0].anomalies.of(FrameAnomaly::Oversize), 0);
}

/// Bytes of a datagram that the kernel cuts from a longer one (`UDP_SEGMENT`).
const DATAGRAM: usize = 1000;

/// Data for ten datagrams, the last of which is shorter.
fn datagrams() -> Vec<u8> {
    (0..9 * DATAGRAM + 300).map(|n| (n / 7) as u8).collect()
}

/// Receives the datagrams, then echoes the data of a connection, for each address family. Returns the number of frames
/// that the interface has received.
fn receive_segments(ready: Sender<()>) -> u64 {
    let addresses: [SocketAddr; 2] = ["10.78.0.2:9".parse().unwrap(), "[fd78::2]:9".parse().unwrap()];
    let sockets = addresses.map(|at| (UdpSocket::bind(at).unwrap(), TcpListener::bind(at).unwrap()));
    ready.send(()).unwrap();
    for (udp, tcp) in sockets {
        udp.set_read_timeout(PATIENCE).unwrap();
        for expected in datagrams().chunks(DATAGRAM) {
            let mut data = [0; 16_000];
            let length = udp.recv(&mut data).unwrap();
            assert_eq!(&data[..length], expected);
        }
        let (mut stream, _) = tcp.accept().unwrap();
        let mut all = Vec::new();
        stream.set_read_timeout(PATIENCE).unwrap();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
        // Ends when the other end has everything.
        let _ = stream.read(&mut [0; 1]);
    }
    settled(|| CounterReader::open("host2").unwrap().read().unwrap().received)
}

/// The value of `count` once it does not change any more: the last acknowledgments may be on their way.
#[expect(clippy::disallowed_methods, reason = "the kernel's counters change in time, and no event says so")]
fn settled(count: impl Fn() -> u64) -> u64 {
    loop {
        let before = count();
        thread::sleep(Duration::from_millis(200));
        if count() == before {
            return before;
        }
    }
}

/// Sends the datagrams in one call, then `bytes` bytes over a connection, and expects them back.
fn send_segments(address: &str, local: &str, bytes: usize) {
    let udp = UdpSocket::bind(local).unwrap();
    let state = UdpSocketState::new((&udp).into()).unwrap();
    let (destination, contents) = (address.parse().unwrap(), datagrams());
    let transmit = Transmit { destination, ecn: None, contents: &contents, segment_size: Some(DATAGRAM), src_ip: None };
    state.try_send((&udp).into(), &transmit).unwrap();
    let data: Vec<u8> = (0..bytes).map(|n| (n % 251) as u8).collect();
    let mut tcp = TcpStream::connect(address).unwrap();
    tcp.set_read_timeout(PATIENCE).unwrap();
    tcp.write_all(&data).unwrap();
    tcp.shutdown(std::net::Shutdown::Write).unwrap();
    let mut back = Vec::new();
    tcp.read_to_end(&mut back).unwrap();
    assert!(back == data, "{} of {bytes} bytes came back, or others", back.len());
}

#[test]
fn super_packets_are_segmented_as_a_card_does() {
    let (count_sender, count) = channel();
    let (ended_sender, ended) = channel();
    let Some(view) = between_hosts(
        1500,
        move |ready| count_sender.send(receive_segments(ready)).unwrap(),
        move || {
            send_segments("10.78.0.2:9", "10.78.0.1:0", 300_000);
            send_segments("[fd78::2]:9", "[fd78::1]:0", 300_000);
            // The interface must stay until the other host has counted.
            ended_sender.send(count.recv().unwrap()).unwrap();
        },
    ) else {
        return;
    };
    assert!(view.lanes.iter().all(|lane| lane.adds_up()), "{view:#?}");
    for (lane, kernel) in view.lanes.iter().zip(&view.kernel) {
        assert_eq!(lane.anomalies.of(FrameAnomaly::Oversize), 0);
        assert_eq!((lane.counts.no_slot, lane.counts.refused, kernel.dropped), (0, 0, 0));
        // The 600 kB of data need at least 400 packets, and as super-packets at least ten frames.
        assert!(kernel.super_packets >= 10 && lane.counts.delivered >= 400, "{kernel:?} {:?}", lane.counts);
    }
    // The host received the packets one by one.
    assert_eq!(ended.recv().unwrap(), view.lanes[0].counts.delivered, "{:?}", view.lanes[0].counts);
}

#[test]
fn frames_that_find_no_room_in_the_ring_are_counted() {
    in_namespace(|| {
        veth("left", "in");
        let mut left = PacketSocket::open("left", 1, SendMethod::Auto).unwrap();
        let mut full = PacketSocket::open("in", 64, SendMethod::Auto).unwrap();
        let mut pool = Pool::new(600, Pool::DEFAULT_SLOT);
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
        bytes.extend(packet(5000, 100, Ecn::NotEct, 0));
        let sent: Vec<_> = (0..500).map(|_| pool.take().unwrap()).collect();
        for frame in &sent {
            pool.slot_mut(frame)[..bytes.len()].copy_from_slice(&bytes);
            pool.set_len(frame, bytes.len());
        }
        assert_eq!(left.send(&pool, &sent).unwrap(), 0);
        sent.into_iter().for_each(|frame| pool.give(frame));
        let mut received = Vec::with_capacity(64);
        let mut count = 0;
        while full.recv(&mut pool, &mut received).is_ok() && !received.is_empty() {
            count += received.len() as u64;
            received.drain(..).for_each(|frame| pool.give(frame));
        }
        assert!((64..500).contains(&count), "{count}");
        assert_eq!(full.kernel().dropped + count, 500);
    });
}
