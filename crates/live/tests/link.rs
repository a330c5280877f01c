//! A link between two kernel hosts. The tests need root or `CAP_SYS_ADMIN` for namespaces and are skipped otherwise,
//! with the reason printed.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::support::memory::Conserved;
use aqm::Span;
use headgate_live::clock::Monotonic;
use headgate_live::io::interface_counters::CounterReader;
use headgate_live::io::{LinkEnd, Tun, interface};
use headgate_live::netns::{self, Namespace};
use headgate_live::pacing::{Clock, PacedClock};
use headgate_live::shell::{self, StandardStreams};
use headgate_live::{EmulatedLink, LaneSettings, LinkSettings, LiveResult};
use headgate_scenario::{Changes, Scenario};

const TEXT: &str = "name = \"link\"\nduration = \"1h\"\nqdiscs = [\"droptail\"]\n[link]\n[[tcp]]\n";

fn settings(set: &[&str]) -> LinkSettings {
    let changes = Changes { set: set.iter().map(|change| format!("link.{change}")).collect(), ..Changes::default() };
    let lane = LaneSettings::of_bottleneck(&Scenario::read(TEXT, "link", &changes).unwrap());
    LinkSettings { lanes: [lane.clone(), lane], seed: 1, sysctls: Vec::new(), outside: false, log: None }
}

/// `None`, with the reason printed, if no namespace can be created.
fn allowed<T>(made: LiveResult<T>) -> Option<T> {
    if netns::prepare().is_err() {
        headgate_needs::skip("namespaces");
        return None;
    }
    Some(made.unwrap())
}

#[test]
fn every_packet_is_counted_alike_by_the_kernel_and_by_us() {
    let settings = settings(&["rate=8Mbit/s", "delay=2ms", "limit=20p"]);
    let Some(mut link) = allowed(EmulatedLink::open(settings)) else { return };
    let receiver = link.far().run(|| UdpSocket::bind(SocketAddr::from((EmulatedLink::FAR, 9)))).unwrap().unwrap();
    let sender = link.near().run(|| UdpSocket::bind(SocketAddr::from((EmulatedLink::NEAR, 0)))).unwrap().unwrap();
    receiver.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    // 972 bytes of data are 1000 bytes of IP: 1 ms each to send, and two arrive per millisecond. The receiver's socket
    // has room for all that cross the link.
    let mut clock = PacedClock::new(Monotonic::new(), Span::ZERO);
    let begin = clock.now();
    for n in 0..150 {
        clock.wait(begin + Span::from_micros(500 * n), [None; 3]).unwrap();
        sender.send_to(&[7; 972], (EmulatedLink::FAR, 9)).unwrap();
    }
    let mut data = [0; 2000];
    let mut received = 0;
    while let Ok(length) = receiver.recv(&mut data) {
        assert_eq!(length, 972);
        received += 1;
    }
    let [near, far] = link.counters().unwrap();
    let view = link.stop().unwrap();
    let up = &view.lanes[0];
    assert!(up.adds_up(), "{up:#?}");
    assert_eq!((near.sent, near.send_drops), (150, 0), "all left the near host");
    assert_eq!(up.counts.offered, near.sent);
    assert!(up.totals.dropped() > 20, "twice the rate must overflow: {}", up.totals.dropped());
    assert_eq!(up.counts.delivered, far.received);
    assert_eq!(received, far.received);
    assert_eq!(far.sent + view.lanes[1].counts.offered, 0, "hosts send no packets of their own");
}

#[test]
fn a_device_exists_only_in_its_namespace() {
    let Some(one) = allowed(Namespace::new()) else { return };
    let other = Namespace::new().unwrap();
    let tun = one.run(|| headgate_live::io::Tun::create("only")).unwrap().unwrap();
    assert!(one.run(|| CounterReader::open("only")).unwrap().is_ok());
    assert!(other.run(|| CounterReader::open("only")).unwrap().is_err());
    drop(tun);
    assert!(one.run(|| CounterReader::open("only")).unwrap().is_err());
}

#[test]
fn packets_that_the_kernel_drops_before_the_link_reads_them_are_counted() {
    let Some(host) = allowed(Namespace::new()) else { return };
    let (mut tun, reader) = host
        .run(|| {
            let tun = Tun::create("full").unwrap();
            interface::set_address("full", Ipv4Addr::new(10, 0, 0, 1).into(), 30).unwrap();
            interface::bring_up("full").unwrap();
            (tun, CounterReader::open("full").unwrap())
        })
        .unwrap();
    assert_eq!(tun.kernel().dropped, 0);
    // Nobody reads the device, which has room for 500 packets. The host may send a few of IPv6 on its own.
    let sent = host.run(|| {
        let socket = UdpSocket::bind("10.0.0.1:0").unwrap();
        (0..700).filter(|_| socket.send_to(&[0; 100], "10.0.0.2:9").is_ok()).count()
    });
    assert_eq!(sent.unwrap(), 700);
    let counters = reader.read().unwrap();
    assert!((200..210).contains(&counters.send_drops), "{counters:?}");
    assert_eq!(tun.kernel().dropped, counters.send_drops);
}

#[test]
fn a_job_that_panics_ends_its_namespace_and_no_other() {
    let Some(one) = allowed(Namespace::new()) else { return };
    let other = Namespace::new().unwrap();
    assert_eq!(one.run(|| panic!("as asked")).map(|(): ()| ()).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert!(one.run(|| ()).is_err());
    assert_eq!(other.run(|| 7).unwrap(), 7);
}

#[test]
fn a_namespaces_processes_end_with_it() {
    let Some(one) = allowed(Namespace::new()) else { return };
    let words = ["sleep", "100"].map(OsString::from).to_vec();
    let mut child = shell::spawn(&one, words, Vec::new(), None, StandardStreams::OnlyErrors).unwrap();
    drop(one);
    assert_eq!(shell::exit_code(child.wait().unwrap()), 128 + 9);
}

#[test]
fn a_sysctl_that_the_kernel_refuses_is_named() {
    let sysctls = vec![("ipv4/tcp_congestion_control".to_string(), "nonesuch".to_string())];
    let made = EmulatedLink::open(LinkSettings { sysctls, ..settings(&["rate=1Mbit/s", "delay=0ms", "limit=9p"]) });
    let Err(error) = made else { panic!("the kernel took it") };
    if error.kind() == io::ErrorKind::PermissionDenied {
        return headgate_needs::skip("namespaces");
    }
    assert!(
        error.to_string().starts_with("cannot set net/ipv4/tcp_congestion_control to \"nonesuch\": the kernel has "),
        "{error}"
    );
}
