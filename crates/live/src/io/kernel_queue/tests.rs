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

/// A queue of `pfifo limit 40`, and its count of drops. `None`, with the reason printed, without the rights for it.
fn fifo_of_forty() -> Option<(KernelQueue, QdiscDrops)> {
    let tc = |words: &str| std::process::Command::new("tc").args(words.split_whitespace()).status();
    if tc("-V").is_err() {
        eprintln!("skipped: the test needs tc (iproute2)");
        return None;
    }
    let tun = Tun::create("hg%d").unwrap();
    let name = tun.name().to_string();
    crate::io::interface::bring_up(&name).unwrap();
    for words in ["root handle 1: htb default 1", "parent 1:1 handle 2: pfifo limit 40"] {
        assert!(tc(&format!("qdisc add dev {name} {words}")).unwrap().success());
        if words.starts_with("root") {
            let class = format!("class add dev {name} parent 1: classid 1:1 htb rate 1Mbit burst 1600 quantum 1500");
            assert!(tc(&class).unwrap().success());
        }
    }
    let drops = QdiscDrops::open(&name, 2 << 16).unwrap();
    Some((KernelQueue::open(tun, None).unwrap(), drops))
}

#[test]
fn the_kernel_counts_each_packet_that_it_refuses_and_releases_the_others_in_order() {
    let namespace = match crate::hosts::netns::Namespace::new() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return eprintln!("skipped: a network namespace needs CAP_SYS_ADMIN");
        }
        made => made.unwrap(),
    };
    let checked = namespace.run(|| {
        let Some((mut queue, mut drops)) = fifo_of_forty() else { return };
        let kept: Vec<u16> = (0..60).filter(|number| queue.offer(&packet(980), *number).unwrap()).collect();
        assert_eq!(drops.take().unwrap(), 60 - kept.len() as u32);
        assert_eq!(drops.take().unwrap(), 0, "none since");
        // 1000 bytes take 8 ms at 1 Mbit/s: few can leave while 60 arrive. Two may leave at once, by the burst.
        assert!((40..50).contains(&kept.len()), "{kept:?}");
        let clock = crate::io::clock::Monotonic::new();
        let mut released = Vec::new();
        while released.len() < 10 && clock.now() < headgate_core::Time::ZERO + headgate_core::Span::from_secs(5) {
            released.extend(queue.next_release().unwrap());
        }
        assert_eq!(released.iter().map(|packet| packet.number).collect::<Vec<_>>(), kept[..10]);
        assert!(released.iter().all(|packet| !packet.marked));
    });
    checked.unwrap();
}
