//! The scenario's link in the loop, with an account at each direction, and a host at each end.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use headgate_core::{Limit, Qdisc};
use headgate_scenario::{Direction, Hop, Scenario, TcpGroup};

use super::account::{Account, Begin, Post};
use crate::build::WireSettings;
use crate::clock::Monotonic;
use crate::forward::Forwarder;
use crate::frame::Layer;
use crate::hosts::{self, Ends, Host};
use crate::io::Io;
use crate::io::interface::Counters;
use crate::io::tap::{Pen, Tap};
use crate::load;
use crate::netns::Namespace;
use crate::pool::Pool;
use crate::running::Running;
use crate::view::{View, Window};
use crate::wire::Lane;

/// The bottleneck of a run, between its hosts.
pub(super) struct Bottleneck {
    // Before the hosts, whose devices it holds.
    running: Running,
    clock: Monotonic,
    /// The same devices, which so outlive the loop: the kernel's counts are gone with them.
    _devices: Vec<OwnedFd>,
    near: Host,
    far: Host,
}

impl Bottleneck {
    /// Makes the hosts and starts the loop, with `qdisc` where disciplines are compared. What is found is posted, from the
    /// moment on that `begin` tells; `pens` note what passes the ends.
    ///
    /// # Errors
    /// What the system says, and what is wrong with a discipline.
    pub(super) fn open(
        scenario: &Arc<Scenario>,
        qdisc: &Qdisc,
        seed: u64,
        (begin, posts): (&Begin, &Sender<Post>),
        pens: [Option<Pen>; 2],
    ) -> io::Result<Bottleneck> {
        let Ends { near, far, tuns: (a, b), .. } = hosts::apart(load::sysctls(scenario))?;
        let clock = Monotonic::new();
        let way = |direction| Way {
            scenario: Arc::clone(scenario),
            qdisc: qdisc.clone(),
            hop: Hop { link: 0, direction },
            begin: begin.clone(),
            posts: posts.clone(),
        };
        let [forth, back] = Direction::BOTH.map(way);
        let devices = [a.fd(), b.fd()].into_iter().flatten().map(|fd| fd.try_clone_to_owned());
        let devices = devices.collect::<io::Result<_>>()?;
        let time = clock;
        let running = Running::start("link", clock, move |clock| {
            let mut lanes = [forth.lane(seed)?, back.lane(seed)?];
            // A direction's drops are noted at the end where its packets come in.
            lanes.iter_mut().zip(&pens).for_each(|(lane, pen)| pen.iter().cloned().for_each(|pen| lane.note(pen)));
            let [near, far] = pens;
            Ok(Forwarder::new(Tap::new(a, time, near), Tap::new(b, time, far), lanes, clock))
        })?;
        Ok(Bottleneck { running, clock, _devices: devices, near, far })
    }

    /// The hosts at both ends.
    pub(super) fn hosts(&self) -> (&Namespace, &Namespace) {
        (&self.near.namespace, &self.far.namespace)
    }

    /// Where the loop shows what it does.
    pub(super) fn window(&self) -> Window {
        self.running.window()
    }

    /// The clock that the loop goes by.
    pub(super) fn clock(&self) -> Monotonic {
        self.clock
    }

    /// Stops the loop: what it did in all, what the kernel counted at both devices, and whether the loop came before ordinary
    /// threads.
    ///
    /// # Errors
    /// What ended the loop before.
    pub(super) fn stop(mut self) -> io::Result<(View, [Counters; 2], bool)> {
        let view = self.running.stop()?;
        Ok((view, [self.near.counters()?, self.far.counters()?], self.running.urgent()))
    }
}

/// One direction, before it is made in the loop's thread.
struct Way {
    scenario: Arc<Scenario>,
    qdisc: Qdisc,
    hop: Hop,
    begin: Begin,
    posts: Sender<Post>,
}

impl Way {
    fn lane(self, seed: u64) -> io::Result<Box<dyn Lane>> {
        let Way { scenario, qdisc, hop, begin, posts } = self;
        let (simplex, link) = (scenario.simplex(hop), &scenario.links[0]);
        let slots = slots(&scenario, hop);
        let settings = WireSettings {
            simplex,
            qdisc: simplex.qdisc.as_ref().unwrap_or(&qdisc),
            delay: link.delay,
            mean_rate: scenario.mean_rate(hop),
            mean_packet: scenario.mean_packet(),
            overhead: 0,
            classes: &scenario.shares(),
            slots,
            slot_bytes: Pool::SLOT,
            seed,
            label: hop.direction.name(),
        };
        let account = |discipline: &_, wire| Account::new((&scenario, hop), discipline, (wire, slots), begin, posts);
        let refused = |error: headgate_core::BuildError| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        settings.metered(Layer::Ip, account).map_err(refused)
    }
}

/// The most that flows may have on their own links, in frames: half a gigabyte, which is touched only where it is used.
const MOST_SLOTS: u64 = 1 << 18;

/// Slots for what waits and flies at the link, and for what flows may have on their own links, whose queues have no limit: a
/// window of each, or a second's datagrams.
fn slots(scenario: &Scenario, hop: Hop) -> u32 {
    let window = |group: &TcpGroup| u64::from(group.flows) * u64::from(group.window.min(4096));
    let windows: u64 = scenario.tcp.iter().map(window).sum();
    let second = |group: &headgate_scenario::UdpGroup| {
        u64::from(group.flows) * group.most().as_bits() / (8 * u64::from(group.packet).max(1))
    };
    let datagrams: u64 = scenario.udp.iter().map(second).sum();
    let simplex = scenario.simplex(hop);
    // Room in the queue counts packets of the scenario's size, and acknowledgements are smaller.
    let waiting = match simplex.limit {
        Limit::Packets(packets) => u64::from(packets),
        Limit::Bytes(bytes) => bytes / 40,
    };
    let link = u64::from(WireSettings::slots(simplex, scenario.links[0].delay)).max(waiting);
    (link + (windows + datagrams).min(MOST_SLOTS)).min(1_000_000) as u32
}
