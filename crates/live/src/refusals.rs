//! Every request to the system is refused once. The tests need root, and are skipped without, with the reason printed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use aqm::{Rate, Span, Time};
use headgate_measure::{EventBatch, RunObserver};
use headgate_scenario::{Changes, Scenario};
use rustix::process::Rlimit;

use crate::hosts::netns::{self, Namespace};
use crate::io::request::faults::{self, RequestFault};
use crate::io::{KernelQueue, SendMethod, Tun, interface};
use crate::link::datagram_load::{DatagramLoad, measure};
use crate::run::LiveRunError;
use crate::shell::{self, CommandStartError, StandardStreams};
use crate::{
    Cause, Confinement, EmulatedLink, Gateway, GatewayInterfaces, GatewaySettings, LaneSettings, LinkSettings,
    LiveError, LiveResult, Request, Role,
};

/// Answers of the system: no right, no such function, too many open files.
const CODES: [i32; 3] = [libc::EPERM, libc::ENOSYS, libc::EMFILE];

/// A command, from its start to its end.
type CommandPath = fn() -> LiveResult<()>;

/// The command that makes `request`; `None` if only Python does (`tests/live/test_refusals.py`).
fn path(request: Request) -> Option<CommandPath> {
    Some(match request {
        Request::Capabilities => netns::prepare,
        Request::UserNamespace => netns::enter_user_namespace,
        Request::UserMaps => || netns::map_user((0, 0)),
        Request::NetworkNamespace
        | Request::Thread
        | Request::TunDevice
        | Request::TunInterface
        | Request::RoutingSocket
        | Request::InterfaceAddress
        | Request::InterfaceUp
        | Request::InterfaceQuery
        | Request::InterfaceCounters
        | Request::HostParameter
        | Request::ThreadScheduling
        | Request::CaptureFile
        | Request::Process
        | Request::Frames
        | Request::Wait => link,
        Request::Outside | Request::AddressTranslation | Request::NetworkTables => outside,
        Request::DefaultRoute => default_route,
        Request::InterfaceClaim
        | Request::LinkEvents
        | Request::Offloads
        | Request::PacketSocket
        | Request::ThreadPlacement
        | Request::PacketOptions
        | Request::PacketRing
        | Request::Promiscuous
        | Request::PacketBind
        | Request::XdpMemory
        | Request::XdpSocket
        | Request::XdpRings
        | Request::XdpBind => gateway,
        Request::Bridge => fail_open,
        Request::QueueBuffer | Request::QueuePackets | Request::QdiscCounters => kernel_queue,
        Request::Tc => kernel_qdisc,
        Request::OpenFiles => || crate::load::raise_limit(1, Rlimit { current: Some(9), maximum: None }),
        Request::KernelParameter
        | Request::Poller
        | Request::FlowSocket
        | Request::FlowAddress
        | Request::FlowOptions
        | Request::CongestionControl => live_run,
        Request::FlowData => check,
        Request::NoNewPrivileges | Request::FileRestriction | Request::DropRights | Request::CallFilter => confine,
        Request::ProcessWatch | Request::FailOpenProcess | Request::ViewSocket => return None,
    })
}

fn lane() -> LaneSettings {
    let text = "name = 'link'\nduration = '1h'\nqdiscs = ['droptail']\n\
                link = { rate = '8Mbit/s', delay = '1ms', limit = '9p' }\n[[tcp]]\n";
    LaneSettings::of_bottleneck(&Scenario::read(text, "link", &Changes::default()).unwrap())
}

fn settings() -> LinkSettings {
    let sysctls = vec![("ipv4/tcp_ecn".to_string(), "0".to_string())];
    LinkSettings { lanes: [lane(), lane()], seed: 1, sysctls, outside: false, log: None }
}

fn link() -> LiveResult<()> {
    let log = LogFolder::new();
    let mut link = EmulatedLink::open(LinkSettings { log: Some(log.0.clone()), ..settings() })?;
    let words = vec![OsString::from("true")];
    let child = shell::spawn(link.near(), words, Vec::new(), None, StandardStreams::OnlyErrors);
    let mut child = child.map_err(|error| match error {
        CommandStartError::Live(error) => error,
        CommandStartError::Program(error) => panic!("{error}"),
    })?;
    child.wait().unwrap();
    await_loop(&link);
    link.counters()?;
    link.stop().map(drop)
}

/// A folder of its own for each link, since tests run side by side. It is removed at the end, however that comes.
struct LogFolder(PathBuf);

impl LogFolder {
    fn new() -> LogFolder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("headgate-refusals-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        LogFolder(folder)
    }
}

impl Drop for LogFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Sends datagrams until the loop makes the request that is refused. On a busy machine the command ends before the loop
/// begins.
fn await_loop(link: &EmulatedLink) {
    let far = SocketAddr::from((EmulatedLink::FAR, 9));
    for _ in 0..20_000 {
        if !faults::is_ahead(&[Request::Frames, Request::Wait]) {
            return;
        }
        link.near().run(move || UdpSocket::bind("0.0.0.0:0").unwrap().send_to(b"frame", far).unwrap()).unwrap();
        std::thread::yield_now();
    }
}

fn outside() -> LiveResult<()> {
    Namespace::new()?.run(|| {
        fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        EmulatedLink::open(LinkSettings { outside: true, ..settings() })?.stop().map(drop)
    })?
}

fn default_route() -> LiveResult<()> {
    Namespace::new()?.run(|| {
        let tun = Tun::create("hg%d")?;
        interface::set_address(tun.name(), [10, 0, 0, 1].into(), 30)?;
        interface::bring_up(tun.name())?;
        interface::set_default_route(tun.name(), [10, 0, 0, 2].into())
    })?
}

fn gateway() -> LiveResult<()> {
    Namespace::new()?.run(|| {
        two_interfaces();
        open_gateway()
    })?
}

fn two_interfaces() {
    for line in ["link add in type veth peer name near", "link add out type veth peer name far"] {
        ip(line);
    }
    ["in", "out", "near", "far"].iter().for_each(|name| ip(&format!("link set {name} addrgenmode none up")));
}

fn claim() -> LiveResult<GatewayInterfaces> {
    GatewayInterfaces::claim(&["in", "out"].map(str::to_string))
}

fn open_gateway() -> LiveResult<()> {
    let (lanes, sending) = ([lane(), lane()], SendMethod::Xdp);
    let interfaces = &claim()?;
    let (cpus, busy_poll, confinement) = (vec![0], false, None);
    Gateway::open(GatewaySettings {
        interfaces,
        lanes,
        offloads_off: true,
        sending,
        seed: 1,
        cpus,
        busy_poll,
        confinement,
    })?
    .stop()
    .map(drop)
}

/// A gateway notes what its confinement lacks, and goes on. Here the note is an error.
fn confine() -> LiveResult<()> {
    // The rights belong to a thread, which a fault reaches too.
    let confinement = Confinement { role: Role::Gateway, readable: Vec::new(), removable: Vec::new() };
    let (notes, thread) = crate::threads::spawn("confined", move || Ok((confinement.enter(), || ())))?;
    thread.join().unwrap();
    notes.into_iter().next().map_or(Ok(()), |note| Err(LiveError::Refused(note)))
}

fn fail_open() -> LiveResult<()> {
    Namespace::new()?.run(|| {
        two_interfaces();
        claim()?.bridge()?.join()
    })?
}

fn ip(line: &str) {
    let done = Command::new("ip").args(line.split_whitespace()).output().unwrap();
    assert!(done.status.success(), "{line}: {done:?}");
}

/// A queue that asks for its drops, as for a qdisc that drops silently.
fn kernel_queue() -> LiveResult<()> {
    Namespace::new()?.run(|| {
        let open = |handle| {
            let tun = Tun::create("hg%d")?;
            interface::bring_up(tun.name())?;
            KernelQueue::open(tun, handle)
        };
        open(None)?.next_release()?;
        open(Some(1 << 16)).map(drop)
    })?
}

fn kernel_qdisc() -> LiveResult<()> {
    crate::run::check_kernel_qdisc(&crate::run::KernelQdisc { words: vec!["pfifo".to_string()] })
}

fn check() -> LiveResult<()> {
    let load = DatagramLoad { rate: Rate::from_bits(8_000_000), packet: 1000, duration: Span::from_millis(10) };
    measure(settings(), load).map(drop)
}

struct Silent;

impl RunObserver for Silent {
    fn should_continue(&mut self, _: Time) -> bool {
        true
    }
    fn events(&mut self, _: &EventBatch) {}
}

fn live_run() -> LiveResult<()> {
    run_scenario("[[tcp]]\n[[udp]]\nrate = '1Mbit/s'\n")
}

fn run_scenario(groups: &str) -> LiveResult<()> {
    let head = "name = 'a'\nduration = '300ms'\nqdiscs = ['droptail']\n\
                link = { rate = '8Mbit/s', delay = '1ms', limit = '9p' }\n";
    let scenario = Scenario::read(&format!("{head}{groups}"), "a.toml", &Changes::default())
        .unwrap_or_else(|error| panic!("{error}"));
    match crate::run::run(&scenario, &scenario.qdiscs[0], 1, &mut Silent, &mut |_| {}) {
        Ok(_) => Ok(()),
        Err(LiveRunError::Refused(why)) => Err(LiveError::Refused(why)),
        Err(LiveRunError::System(error)) => Err(error),
        Err(LiveRunError::Stopped) => panic!("nobody stopped it"),
    }
}

/// Whether the tests can run; prints the reason if not.
fn possible() -> bool {
    let made = netns::prepare().and_then(|()| Namespace::new());
    let possible = rustix::process::geteuid().is_root() && made.is_ok();
    if !possible {
        headgate_needs::skip("root");
    }
    possible
}

#[test]
fn a_refused_request_names_thing_purpose_and_remedy_and_is_reached_by_a_command() {
    if !possible() {
        return;
    }
    for request in Request::ALL {
        let Some(path) = path(*request) else { continue };
        for code in CODES {
            assert_refused(*request, path, code);
        }
    }
}

fn assert_refused(request: Request, path: CommandPath, code: i32) {
    // The interface outside of a link is the first of two.
    let asked = if request == Request::Outside { Request::TunInterface } else { request };
    let fault = RequestFault::of(asked, code);
    let refused = fault.during(path);
    assert!(fault.reached(), "no command makes the request {request:?}");
    let error = refused.expect_err(&format!("{request:?} was refused with {code}, and the command went on"));
    let (text, answer) = (error.to_string(), io::Error::from_raw_os_error(code));
    match (request, Cause::of(&answer)) {
        // The alternatives are named instead.
        (Request::CongestionControl, Cause::Forbidden) => assert!(text.contains("the kernel has "), "{text}"),
        // Only a missing right over this machine differs from one over a host.
        (Request::Outside, cause) if cause != Cause::Forbidden => assert!(text.contains("TUN interface"), "{text}"),
        (_, cause) => {
            for part in [request.row().act, request.row().purpose, request.remedy(cause)] {
                assert!(text.contains(part), "{request:?}, {code}: {text}");
            }
        }
    }
    assert!(!text.contains("os error"), "{text}");
}

#[test]
fn a_gateway_that_gets_no_socket_leaves_the_offloads_on() {
    if !possible() {
        return;
    }
    let offloads = Namespace::new().unwrap().run(|| {
        two_interfaces();
        let before = crate::io::offloads("in").unwrap();
        RequestFault::of(Request::PacketSocket, libc::EPERM).during(open_gateway).unwrap_err();
        (before, crate::io::offloads("in").unwrap())
    });
    let (before, after) = offloads.unwrap();
    assert!(before.contains(&"tcp-segmentation-offload"), "{before:?}");
    assert_eq!(before, after);
}

#[test]
fn a_run_whose_loop_ends_reports_the_cause_and_not_what_follows_from_it() {
    if !possible() {
        return;
    }
    // Datagrams need no connection, which would wait for the loop.
    let fault = RequestFault::of(Request::Frames, libc::ENODEV);
    let error = fault.during(|| run_scenario("[[udp]]\nrate = '1Mbit/s'\n")).unwrap_err().to_string();
    assert!(error.starts_with("cannot forward frames: no such device (ENODEV). "), "{error}");
}

#[test]
fn a_command_whose_requests_are_granted_succeeds() {
    if !possible() {
        return;
    }
    for (name, path) in [("link", link as CommandPath), ("gateway", gateway), ("run", live_run), ("check", check)] {
        path().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn no_public_function_returns_a_bare_error_of_the_system() {
    let mut files = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut functions = 0;
    while let Some(file) = files.pop() {
        if file.is_dir() {
            files.extend(fs::read_dir(&file).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices("pub fn ") {
            let head = text[at..].split(['{', ';']).next().unwrap();
            functions += 1;
            // Options of a socket are private to the load, whose functions name their request.
            let private = file.ends_with("io/tcp.rs");
            assert!(private || !head.contains("io::Result"), "{}: {head}", file.display());
        }
    }
    assert!(functions > 100, "{functions}");
}
