use std::io;

use etherparse::{IpNumber, Ipv4Header};

use super::*;

fn packet(payload: usize) -> Vec<u8> {
    let mut header = Ipv4Header::new(payload as u16, 64, IpNumber::UDP, [100, 64, 0, 1], [100, 64, 0, 2]).unwrap();
    header.header_checksum = header.calc_header_checksum();
    let mut packet = header.to_bytes().to_vec();
    packet.resize(20 + payload, 7);
    packet
}

#[test]
fn a_numbered_packet_has_a_valid_checksum_and_nothing_else_changes() {
    let original = packet(30);
    let mut numbered = original.clone();
    assert!(set_number(&mut numbered, 0xabcd));
    let header = Ipv4HeaderSlice::from_slice(&numbered).unwrap();
    assert_eq!(header.identification(), 0xabcd);
    assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
    assert_eq!(
        (&numbered[..4], &numbered[6..10], &numbered[12..]),
        (&original[..4], &original[6..10], &original[12..])
    );
}

#[test]
fn a_packet_that_is_not_ipv4_gets_no_number() {
    for mut other in [vec![0x60; 40], vec![0x45; 19], Vec::new()] {
        assert!(!set_number(&mut other, 1));
    }
}

fn tc(words: &str) -> io::Result<bool> {
    Ok(std::process::Command::new("tc").args(words.split_whitespace()).status()?.success())
}

/// A TUN device with `htb` at 1 Mbit/s and `pfifo limit 40`, in the calling thread's network namespace.
fn fifo_of_forty() -> Tun {
    let tun = Tun::create("hg%d").unwrap();
    let name = tun.name();
    crate::io::interface::bring_up(name).unwrap();
    for words in [
        format!("qdisc add dev {name} root handle 1: htb default 1"),
        format!("class add dev {name} parent 1: classid 1:1 htb rate 1Mbit burst 1600 quantum 1500"),
        format!("qdisc add dev {name} parent 1:1 handle 2: pfifo limit 40"),
    ] {
        assert!(tc(&words).unwrap(), "{words}");
    }
    tun
}

/// Runs `check` in a network namespace; prints why if that is not possible.
fn in_namespace(check: impl FnOnce() + Send + 'static) {
    if tc("-V").is_err() {
        return headgate_needs::skip("iproute2");
    }
    match crate::hosts::netns::Namespace::new() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            headgate_needs::skip("namespaces");
        }
        made => made.unwrap().run(check).unwrap(),
    }
}

#[test]
fn the_kernel_counts_each_packet_that_it_refuses_and_releases_the_others_in_order() {
    in_namespace(|| {
        let tun = fifo_of_forty();
        let mut drops = QdiscDrops::open(tun.name(), 2 << 16).unwrap();
        let mut queue = KernelQueue::open(tun, None).unwrap();
        let kept: Vec<u16> = (0..60).filter(|number| queue.offer(&packet(980), *number).unwrap()).collect();
        assert_eq!(drops.take().unwrap(), 60 - kept.len() as u32);
        assert_eq!(drops.take().unwrap(), 0, "none since");
        // 1000 bytes take 8 ms at 1 Mbit/s: few can leave while 60 arrive. Two may leave at once, by the burst.
        assert!((40..50).contains(&kept.len()), "{kept:?}");
        let clock = crate::io::clock::Monotonic::new();
        let mut released = Vec::new();
        while released.len() < 10 && clock.now() < aqm::Time::ZERO + aqm::Span::from_secs(5) {
            released.extend(queue.next_release().unwrap());
        }
        assert_eq!(released.iter().map(|packet| packet.number).collect::<Vec<_>>(), kept[..10]);
        assert!(released.iter().all(|packet| !packet.marked));
    });
}

#[test]
fn a_packet_that_the_kernel_drops_without_an_error_is_found_by_the_count() {
    in_namespace(|| {
        // A filter of htb sends packets with an even number to a device that is down. The kernel drops and counts them,
        // and answers as if it had sent them, as RED does.
        let (tun, down) = (fifo_of_forty(), Tun::create("hg%d").unwrap());
        let even = "u32 match u16 0x0000 0x0001 at 4 action mirred egress redirect dev";
        if !tc(&format!("filter add dev {} parent 1: protocol ip {even} {}", tun.name(), down.name())).unwrap() {
            return headgate_needs::skip("mirred");
        }
        let mut queue = KernelQueue::open(tun, Some(1 << 16)).unwrap();
        let kept: Vec<u16> = (0..10).filter(|number| queue.offer(&packet(100), *number).unwrap()).collect();
        assert_eq!(kept, [1, 3, 5, 7, 9]);
    });
}
