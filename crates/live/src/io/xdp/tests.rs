//! Sent frames arrive in order; refused frames are reported and never arrive. The tests need root and are skipped
//! otherwise, with the reason printed.

use std::fs;
use std::ops::Range;
use std::process::Command;

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::*;
use crate::hosts::netns::Namespace;
use crate::io::pool::{FrameId, Pool};
use crate::io::{BATCH, LinkEnd, PacketSocket, SendMethod, sys};

const BOTH: [SendMethod; 2] = [SendMethod::Packet, SendMethod::Xdp];

/// Runs `job` in its own network namespace, if one can be created.
fn in_namespace(job: impl FnOnce() + Send + 'static) {
    match Namespace::new() {
        Ok(namespace) => namespace.run(job).unwrap(),
        Err(_) => headgate_needs::skip("namespaces"),
    }
}

fn sh(line: &str) -> Result<(), String> {
    let done = Command::new("sh").args(["-c", line]).output().map_err(|error| error.to_string())?;
    if done.status.success() { Ok(()) } else { Err(format!("{line}: {}", String::from_utf8_lossy(&done.stderr))) }
}

/// A veth pair, up, without offloads.
fn pair(one: &str, other: &str) {
    sh(&format!("ip link add {one} type veth peer name {other}")).unwrap();
    for end in [one, other] {
        sys::switch_offloads_off(end).unwrap();
        sh(&format!("ip link set {end} addrgenmode none up")).unwrap();
    }
}

/// Sends numbered frames of `bytes` bytes, of an experimental type (IEEE 802, 0x88b5) or tagged with VLAN 7.
struct FrameSender {
    socket: PacketSocket,
    pool: Pool,
    batch: Vec<FrameId>,
}

impl FrameSender {
    fn new(interface: &str, sending: SendMethod) -> FrameSender {
        let socket = PacketSocket::open(interface, 64, sending).unwrap();
        assert_eq!(sent_by(&socket), sending);
        FrameSender { socket, pool: Pool::new(BATCH as u32, Pool::slot_for(9000)), batch: Vec::new() }
    }

    fn send(&mut self, numbers: Range<u32>, bytes: impl Fn(u32) -> usize) -> io::Result<usize> {
        for number in numbers {
            let (slot, bytes) = (self.pool.take().unwrap(), bytes(number));
            let room = &mut self.pool.slot_mut(&slot)[..bytes];
            room.fill(0);
            room[..6].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
            room[12..14].copy_from_slice(&if bytes > 1514 { [0x81, 0] } else { [0x88, 0xb5] });
            room[14..16].copy_from_slice(&[0, 7]);
            room[16..20].copy_from_slice(&number.to_be_bytes());
            self.pool.set_len(&slot, bytes);
            self.batch.push(slot);
        }
        let refused = self.socket.send(&self.pool, &self.batch);
        self.batch.drain(..).for_each(|slot| self.pool.give(slot));
        refused
    }

    /// Sends batches of 100-byte frames; returns the number refused.
    fn flood(&mut self, numbers: Range<u32>) -> usize {
        let each = BATCH as u32;
        numbers.step_by(BATCH).map(|first| self.send(first..first + each, |_| 100).unwrap()).sum()
    }
}

fn sent_by(socket: &PacketSocket) -> SendMethod {
    if socket.sender.xdp.is_ok() { SendMethod::Xdp } else { SendMethod::Packet }
}

/// Numbers of the frames that arrive, until none does for 50 ms.
fn received(socket: &mut PacketSocket) -> Vec<u32> {
    let mut pool = Pool::new(BATCH as u32, Pool::slot_for(9000));
    let (mut batch, mut numbers) = (Vec::with_capacity(BATCH), Vec::new());
    let more = |socket: &PacketSocket| {
        let mut ready = [PollFd::from_borrowed_fd(socket.fd().unwrap(), PollFlags::IN)];
        poll(&mut ready, Some(&timespec(Span::from_millis(50)))).unwrap() > 0
    };
    while more(socket) {
        socket.recv(&mut pool, &mut batch).unwrap();
        for slot in batch.drain(..) {
            numbers.push(u32::from_be_bytes(pool.frame(&slot)[16..20].try_into().unwrap()));
            pool.give(slot);
        }
    }
    numbers
}

#[test]
fn frames_arrive_in_order_whichever_socket_sends_each() {
    in_namespace(|| {
        pair("out", "right");
        let mut right = PacketSocket::open("right", 4096, SendMethod::Packet).unwrap();
        for sending in BOTH {
            let mut out = FrameSender::new("out", sending);
            // The longest frame of the MTU; a longer one with a tag, for the packet socket only; one that is too long.
            let bytes = |number| match number % 8 {
                3 => 1514,
                5 => 1518,
                7 => 1519,
                number => 60 + 100 * number as usize,
            };
            assert_eq!(out.send(0..64, bytes).unwrap(), 8, "{sending:?}");
            assert_eq!(
                received(&mut right),
                (0..64).filter(|number| number % 8 != 7).collect::<Vec<_>>(),
                "{sending:?}"
            );
            for first in (0..6400).step_by(3200) {
                assert_eq!(out.flood(first..first + 3200), 0, "{sending:?}");
                assert_eq!(received(&mut right), (first..first + 3200).collect::<Vec<_>>(), "{sending:?}");
            }
        }
    });
}

#[test]
fn frames_that_find_no_room_in_the_driver_are_refused_and_never_sent() {
    in_namespace(|| {
        pair("out", "xdproom");
        if only_we_run("xdproom").is_err() {
            return headgate_needs::skip("threaded-napi");
        }
        let mut right = PacketSocket::open("xdproom", 8192, SendMethod::Packet).unwrap();
        for sending in BOTH {
            let mut out = FrameSender::new("out", sending);
            // Refuse more frames than there are chunks, repeatedly: no chunk may be lost or used twice.
            for first in [0, 10_000, 20_000, 30_000] {
                let refused = out.flood(first..first + 3840);
                let arrived = received(&mut right);
                assert!(refused > 2 * CHUNKS, "{sending:?}: {refused}");
                assert_eq!(arrived.len() + refused, 3840, "{sending:?}");
                assert!(arrived.is_sorted() && arrived.iter().all(|number| (first..first + 3840).contains(number)));
                // Refused frames are gone: only new ones arrive.
                assert_eq!(out.send(7..9, |_| 100).unwrap(), 0, "{sending:?}");
                assert_eq!(received(&mut right), [7, 8], "{sending:?}");
            }
            let Ok(xdp) = &mut out.socket.sender.xdp else { continue };
            assert_eq!(xdp.send(1514, std::iter::empty()).unwrap(), XdpSendResult::default());
            xdp.free.sort_unstable();
            xdp.free.dedup();
            assert_eq!(xdp.free.len(), CHUNKS, "every chunk is free once");
        }
    });
}

/// Keeps the peer from reading until this thread sleeps. The kernel reads in a thread of its own, on the one CPU where
/// this thread has priority. With a qdisc, the sending end reports a full queue instead of dropping.
fn only_we_run(peer: &str) -> Result<(), String> {
    const GRO_ON: u32 = 0x2c;
    sh("tc qdisc add dev out root pfifo limit 100")?;
    // The peer reads by NAPI only with generic-receive-offload (drivers/net/veth.c).
    sys::ethtool(peer, GRO_ON, 1).map_err(|error| error.to_string())?;
    sh(&format!("unshare --mount sh -c 'mount -t sysfs none /sys && echo 1 > /sys/class/net/{peer}/threaded'"))?;
    let names = fs::read_dir("/proc").map_err(|error| error.to_string())?.flatten().filter_map(|entry| {
        let name = fs::read_to_string(entry.path().join("comm")).ok()?;
        name.starts_with(&format!("napi/{peer}-")).then(|| entry.file_name().to_str()?.parse().ok())?
    });
    let mut one = CpuSet::new();
    let allowed = sched_getaffinity(None).map_err(|error| error.to_string())?;
    (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).into_iter().for_each(|cpu| one.set(cpu));
    let threads: Vec<Option<Pid>> = names.map(Pid::from_raw).chain([None]).collect();
    if threads.len() < 2 {
        return Err("the kernel has no thread for an interface".to_string());
    }
    threads.into_iter().try_for_each(|thread| sched_setaffinity(thread, &one)).map_err(|error| error.to_string())?;
    sys::set_realtime_priority(1).map_err(|error| error.to_string())
}

#[test]
fn frames_for_an_interface_that_is_down_are_refused_and_never_sent() {
    in_namespace(|| {
        pair("out", "right");
        let mut right = PacketSocket::open("right", 4096, SendMethod::Packet).unwrap();
        for sending in BOTH {
            let mut out = FrameSender::new("out", sending);
            // Without a carrier, frames are dropped one by one; an interface that is down accepts none.
            for (down, up) in [("right down", "right up"), ("out down", "out up")] {
                sh(&format!("ip link set {down}")).unwrap();
                for first in [0, 64, 128] {
                    assert_eq!(out.send(first..first + 64, |_| 100).unwrap(), 64, "{sending:?}, {down}");
                }
                sh(&format!("ip link set {up}")).unwrap();
                assert_eq!(out.send(500..564, |_| 100).unwrap(), 0, "{sending:?}, {up}");
                assert_eq!(received(&mut right), (500..564).collect::<Vec<_>>(), "{sending:?}, {up}");
            }
            sh("ip link set out name renamed; ip link set renamed name out").unwrap();
            assert_eq!(out.send(0..1, |_| 100).unwrap(), 0, "{sending:?}");
            assert_eq!(received(&mut right), [0]);
        }
        let mut out = FrameSender::new("out", SendMethod::Xdp);
        sh("ip link del out").unwrap();
        let error = out.send(0..64, |_| 100).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENXIO), "{error}");
    });
}

#[test]
fn without_af_xdp_the_packet_socket_sends_and_a_note_says_why() {
    in_namespace(|| {
        pair("out", "right");
        let open = |sending| PacketSocket::open("out", 64, sending);
        let (first, second) = (open(SendMethod::Auto).unwrap(), open(SendMethod::Auto).unwrap());
        assert_eq!((sent_by(&first), sent_by(&second)), (SendMethod::Xdp, SendMethod::Packet));
        let refused = |error: &LiveError| match error {
            LiveError::System(error) => (error.request, error.source.raw_os_error()),
            other => panic!("{other}"),
        };
        let reason = (Request::XdpBind, Some(libc::EBUSY));
        assert!(first.why_not_xdp().is_none());
        assert_eq!(refused(second.why_not_xdp().unwrap()), reason);
        assert_eq!(refused(&open(SendMethod::Xdp).unwrap_err()), reason);
        assert!(open(SendMethod::Packet).unwrap().why_not_xdp().is_none());
        drop(first);
        open(SendMethod::Xdp).unwrap();
        sh("ip link set out mtu 4083; ip link set right mtu 4083").unwrap();
        assert!(open(SendMethod::Xdp).unwrap_err().to_string().contains("4097 bytes do not fit the 4096 of a page"));
        let giant = open(SendMethod::Auto).unwrap();
        assert_eq!(
            (sent_by(&giant), giant.why_not_xdp().map(LiveError::kind)),
            (SendMethod::Packet, Some(io::ErrorKind::Unsupported))
        );
        // AF_XDP was measured on veth only, so the loopback does not use it.
        let other = PacketSocket::open("lo", 64, SendMethod::Auto).unwrap();
        assert!(sent_by(&other) == SendMethod::Packet && other.why_not_xdp().is_none());
    });
}
