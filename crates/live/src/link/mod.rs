//! A link between two hosts of the kernel's: a namespace each, a TUN device in each, and the loop between them.

pub mod check;
pub mod log;
mod rows;

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use self::log::Log;
use crate::forward::forwarder::Forwarder;
use crate::forward::running::Running;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::hosts::netns::Namespace;
use crate::hosts::{self, Addresses, Ends, Host};
use crate::io::Nat;
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::interface::Counters;
use crate::io::tap::{Recorder, Tap};

/// A link and the hosts at its ends.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// From the near host to the far one, and back.
    pub lanes: [LaneSettings; 2],
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
    // Before the hosts, whose devices it holds.
    running: Running,
    near: Host,
    far: Host,
    addresses: Addresses,
    _nat: Option<Nat>,
    log: Option<Log>,
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
        let LinkSettings { lanes, seed, sysctls } = settings;
        Link::between(make(sysctls)?, lanes, seed, extras.log.as_deref())
    }

    fn between(ends: Ends, lanes: [LaneSettings; 2], seed: u64, log: Option<&Path>) -> io::Result<Link> {
        let Ends { near, far, tuns, addresses, nat } = ends;
        let clock = Monotonic::new();
        let (recorders, notes) = match log {
            Some(_) => {
                let (near, far) = (Recorder::new(), Recorder::new());
                ([Some(near.0), Some(far.0)], Some([near.1, far.1]))
            }
            None => ([None, None], None),
        };
        let running = Running::start("link", clock, move |paced| {
            let [forward, reverse] = &lanes;
            let mut lanes = [forward.build(Layer::Ip, seed, "forward")?, reverse.build(Layer::Ip, seed, "reverse")?];
            // A direction's drops are noted at the end where its packets come in.
            lanes
                .iter_mut()
                .zip(&recorders)
                .for_each(|(lane, recorder)| recorder.iter().cloned().for_each(|recorder| lane.record(recorder)));
            let [near, far] = recorders;
            let ends = (Tap::new(tuns.0, clock, near), Tap::new(tuns.1, clock, far));
            Ok(Forwarder::new(ends.0, ends.1, lanes, paced))
        })?;
        let mut link = Link { running, near, far, addresses, _nat: nat, log: None };
        if let (Some(dir), Some(notes)) = (log, notes) {
            link.log = Some(Log::start(dir, notes, clock, link.running.window())?);
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

    /// The loop: what it does, and whether it still does.
    pub fn running(&self) -> &Running {
        &self.running
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
        let ended = self.running.stop();
        self.log.iter_mut().for_each(Log::finish);
        ended
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
