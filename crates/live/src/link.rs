//! A link between two hosts of the kernel's: a namespace each, a TUN device in each, and the loop between them.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use headgate_core::{Qdisc, Rate, Span};
use headgate_scenario::{Scenario, Simplex};

use crate::build::WireSettings;
use crate::clock::Monotonic;
use crate::forward::Forwarder;
use crate::frame::Layer;
use crate::hosts::{self, Addresses, Ends, Host};
use crate::io::interface::Counters;
use crate::io::tap::{Notes, Pen, Tap};
use crate::io::{Nat, Tun};
use crate::log::Log;
use crate::netns::Namespace;
use crate::pacing::{Clock, Paced};
use crate::pool::Pool;
use crate::view::{View, Window};
use crate::wire::Lane;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct OneWay {
    /// Rate, how it changes, room in the queue, and what becomes of packets on the way.
    pub simplex: Simplex,
    /// The discipline.
    pub qdisc: Qdisc,
    /// Propagation delay.
    pub delay: Span,
    /// What the discipline takes for the link's rate.
    pub mean_rate: Rate,
    /// What the discipline takes for the size of a packet, in bytes.
    pub mean_packet: u32,
    /// Bytes that every packet costs on the link beside its own.
    pub overhead: i32,
}

impl OneWay {
    /// The forward direction of the scenario's first link, with the first of its disciplines.
    pub fn of(scenario: &Scenario, overhead: i32) -> OneWay {
        let hop = scenario.bottleneck();
        let link = &scenario.links[usize::from(hop.link)];
        OneWay {
            simplex: scenario.simplex(hop).clone(),
            qdisc: scenario.qdiscs[0].clone(),
            delay: link.delay,
            mean_rate: scenario.mean_rate(hop),
            mean_packet: scenario.mean_packet(),
            overhead,
        }
    }

    /// What `overhead` may be: the shortest IP packet has 20 bytes (RFC 791, section 3.1), and none may be free.
    pub const OVERHEADS: std::ops::RangeInclusive<i32> = -19..=1000;

    fn lane(&self, seed: u64, label: &str) -> io::Result<Box<dyn Lane>> {
        if !OneWay::OVERHEADS.contains(&self.overhead) {
            let (least, most) = OneWay::OVERHEADS.into_inner();
            let what = format!("an overhead of {} bytes a packet: it must be {least} to {most}", self.overhead);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let settings = WireSettings {
            simplex: &self.simplex,
            qdisc: &self.qdisc,
            delay: self.delay,
            mean_rate: self.mean_rate,
            mean_packet: self.mean_packet,
            overhead: self.overhead,
            classes: &[],
            slots: WireSettings::slots(&self.simplex, self.delay),
            slot_bytes: Pool::SLOT,
            seed,
            label,
        };
        let refused = |error: headgate_core::BuildError| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        settings.build(Layer::Ip, None).map_err(refused)
    }
}

/// A link and the hosts at its ends.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// From the near host to the far one, and back.
    pub ways: [OneWay; 2],
    /// The seed of all chance.
    pub seed: u64,
    /// Settings of both hosts' networks: what stands below /proc/sys/net, and its value, such as `ipv4/tcp_ecn` and `1`.
    pub sysctls: Vec<(String, String)>,
}

/// What else a link may be asked for.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// There is one host, the near one: at the far end is the network that the calling thread is in, which must forward
    /// packets. What the host sends leaves as if this machine had sent it. IPv4 alone; sysctls are set in the near host. Nothing
    /// of this machine is changed that outlives the process.
    pub outside: bool,
    /// The folder for a [log](Log) of what passes.
    pub log: Option<PathBuf>,
}

/// A link that runs. Dropped, it is gone with its hosts and what runs there.
pub struct Link {
    near: Host,
    far: Host,
    addresses: Addresses,
    _nat: Option<Nat>,
    window: Window,
    stop: Arc<AtomicBool>,
    urgent: bool,
    log: Option<Log>,
    loop_: Option<JoinHandle<io::Result<View>>>,
}

impl Link {
    /// The near host's address on a link that leads nowhere else.
    pub const NEAR: Ipv4Addr = Addresses::APART.v4[0];

    /// The far host's address on such a link.
    pub const FAR: Ipv4Addr = Addresses::APART.v4[1];

    /// Makes both hosts and starts the loop between them. Its thread comes before ordinary ones where that is allowed. Nothing
    /// leads from the link to anything else.
    ///
    /// # Errors
    /// What the system says, and what is wrong with a discipline or a sysctl.
    pub fn open(settings: LinkSettings) -> io::Result<Link> {
        Link::open_with(settings, &Extras::default())
    }

    /// The same with what else is wanted.
    ///
    /// # Errors
    /// The same, that this machine does not forward, and that the log cannot be written.
    pub fn open_with(settings: LinkSettings, extras: &Extras) -> io::Result<Link> {
        let make = if extras.outside { hosts::outside } else { hosts::apart };
        let LinkSettings { ways, seed, sysctls } = settings;
        Link::between(make(sysctls)?, ways, seed, extras.log.as_deref())
    }

    fn between(ends: Ends, ways: [OneWay; 2], seed: u64, log: Option<&Path>) -> io::Result<Link> {
        let Ends { near, far, tuns, addresses, nat } = ends;
        let stop = Arc::new(AtomicBool::new(false));
        let (say, began) = sync_channel(1);
        let clock = Monotonic::new();
        let ((near_pen, near_notes), (far_pen, far_notes)) = match log {
            Some(_) => (noting(), noting()),
            None => ((None, None), (None, None)),
        };
        let taps = (Tap::new(tuns.0, clock, near_pen), Tap::new(tuns.1, clock, far_pen));
        let stopper = Arc::clone(&stop);
        let loop_ = thread::Builder::new().name("link".to_string()).spawn(move || {
            let made = forwarder(&ways, seed, taps, clock, stopper);
            let (mut forwarder, urgent) = match made {
                Ok(made) => made,
                Err(error) => return tell(&say, Err(error)),
            };
            let _ = say.send(Ok((forwarder.window(), urgent)));
            forwarder.run()
        })?;
        let ended = || io::Error::other("the loop's thread ended at once");
        let (window, urgent) = began.recv().map_err(|_| ended())??;
        let mut link = Link { near, far, addresses, _nat: nat, window, stop, urgent, log: None, loop_: Some(loop_) };
        if let (Some(dir), Some(near), Some(far)) = (log, near_notes, far_notes) {
            link.log = Some(Log::start(dir, [near, far], clock, link.window.clone())?);
        }
        Ok(link)
    }

    /// The addresses of both ends.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// The near host's namespace.
    pub fn near(&self) -> &Namespace {
        &self.near.namespace
    }

    /// The far host's namespace, which may be our own.
    pub fn far(&self) -> &Namespace {
        &self.far.namespace
    }

    /// What the link does, as of at most [`SHOW_EVERY`](crate::SHOW_EVERY) ago.
    pub fn view(&self) -> View {
        self.window.look()
    }

    /// Whether the loop's thread comes before ordinary ones (`SCHED_FIFO`).
    pub fn urgent(&self) -> bool {
        self.urgent
    }

    /// Whether the loop still runs: it ends by itself only when a device is gone.
    pub fn runs(&self) -> bool {
        self.loop_.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// What the kernel counted at the near host's device and the far one's.
    ///
    /// # Errors
    /// What the system says.
    pub fn counters(&self) -> io::Result<[Counters; 2]> {
        Ok([self.near.counters()?, self.far.counters()?])
    }

    /// What is written down, if anything is.
    pub fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Stops the loop, ends the log, and says what was done in all. The hosts stay until this is dropped.
    ///
    /// # Errors
    /// What ended the loop before.
    pub fn stop(&mut self) -> io::Result<View> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = match self.loop_.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(io::Error::other("the loop's thread panicked")),
            None => Ok(self.view()),
        };
        self.log.iter_mut().for_each(Log::finish);
        ended
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn noting() -> (Option<Pen>, Option<Notes>) {
    let (pen, notes) = Pen::new();
    (Some(pen), Some(notes))
}

fn tell<T>(say: &SyncSender<io::Result<T>>, result: io::Result<T>) -> io::Result<View> {
    let _ = say.send(result);
    Ok(View::default())
}

/// What moves frames between two TUN devices.
type Loop = Forwarder<Tap<Tun>, Tap<Tun>, Paced>;

/// The forwarder, and whether the thread that calls comes before ordinary ones.
fn forwarder(
    ways: &[OneWay; 2],
    seed: u64,
    (a, b): (Tap<Tun>, Tap<Tun>),
    clock: Monotonic,
    stop: Arc<AtomicBool>,
) -> io::Result<(Loop, bool)> {
    let lanes = [ways[0].lane(seed, "forward")?, ways[1].lane(seed, "reverse")?];
    let ordinary = Paced::new(clock, Paced::MARGIN);
    let first = ordinary.clone().urgent();
    let (clock, urgent) = match first.clone().begin() {
        Ok(()) => (first, true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (ordinary, false),
        Err(error) => return Err(error),
    };
    Ok((Forwarder::new(a, b, lanes, clock).stopped_by(stop), urgent))
}
