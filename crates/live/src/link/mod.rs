//! A link between two hosts of the kernel's: a namespace each, a TUN device in each, and the loop between them.

pub mod check;
pub mod log;
mod rows;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use self::log::Log;
use crate::forward::fabric::{Fabric, Lanes};
use crate::forward::forwarder::Forwarder;
use crate::forward::running::Running;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::hosts::netns::Namespace;
use crate::hosts::{self, Addresses, Ends};
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::interface::Counters;
use crate::io::tap::{Recorder, Tap, recorders};
use crate::io::{Io, Tun};

/// A link and the hosts at its ends.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// From the near host to the far one, and back.
    pub lanes: [LaneSettings; 2],
    /// The seed of all chance.
    pub seed: u64,
    /// Settings of both hosts' networks: what stands below /proc/sys/net, and its value, such as `ipv4/tcp_ecn` and `1`.
    pub sysctls: Vec<(String, String)>,
    /// There is one host, the near one: at the far end is the network that the calling thread is in, which must forward
    /// packets. What the host sends leaves as if this machine had sent it. IPv4 alone; sysctls are set in the near host. Nothing
    /// of this machine is changed that outlives the process.
    pub outside: bool,
    /// The folder for a [log](Log) of what passes.
    pub log: Option<PathBuf>,
}

/// A link, or a scenario's network, that runs. Dropped, it is gone with its hosts and what runs there.
pub struct Link<F = Lanes> {
    // Before the hosts, whose devices it holds.
    running: Running<F>,
    /// The clock that the loop goes by.
    pub(crate) clock: Monotonic,
    /// The same devices, which so outlive the loop: the kernel's counts are gone with them.
    _devices: Vec<OwnedFd>,
    ends: Ends,
    log: Option<Log>,
}

impl Link {
    /// The near host's address on a link that leads nowhere else.
    pub const NEAR: Ipv4Addr = Addresses::APART.v4[0];

    /// The far host's address on such a link.
    pub const FAR: Ipv4Addr = Addresses::APART.v4[1];

    /// Makes both hosts and starts the loop between them. Its thread comes before ordinary ones where that is allowed.
    ///
    /// # Errors
    /// What the system says; what is wrong with a discipline or a sysctl; that this machine does not forward, and that the log
    /// cannot be written.
    pub fn open(settings: LinkSettings) -> io::Result<Link> {
        let LinkSettings { lanes, seed, sysctls, outside, log } = settings;
        let ends = if outside { hosts::outside(sysctls) } else { hosts::apart(sysctls) }?;
        let (recorders, notes) = if log.is_some() { recorders() } else { Default::default() };
        let mut link = Link::between(ends, recorders, move || LaneSettings::build_both(&lanes, Layer::Ip, seed))?;
        if let (Some(dir), Some(notes)) = (log, notes) {
            link.log = Some(Log::start(&dir, notes, link.clock, link.running.window())?);
        }
        Ok(link)
    }
}

impl<F: Fabric + 'static> Link<F> {
    /// Starts the loop between `ends`, over what `make` makes in its thread; `recorders` note what passes the ends.
    pub(crate) fn between(
        (ends, [a, b]): (Ends, [Tun; 2]),
        recorders: [Option<Recorder>; 2],
        make: impl FnOnce() -> io::Result<F> + Send + 'static,
    ) -> io::Result<Link<F>> {
        let clock = Monotonic::new();
        let devices = [a.fd(), b.fd()].into_iter().flatten().map(|fd| fd.try_clone_to_owned());
        let devices = devices.collect::<io::Result<_>>()?;
        let running = Running::start("link", clock, move |paced| {
            let mut fabric = make()?;
            fabric.record(&recorders);
            let [near, far] = recorders;
            Ok(Forwarder::new(Tap::new(a, clock, near), Tap::new(b, clock, far), fabric, paced))
        })?;
        Ok(Link { running, clock, _devices: devices, ends, log: None })
    }
}

impl<F> Link<F> {
    /// The addresses of both ends.
    pub fn addresses(&self) -> Addresses {
        self.ends.addresses
    }

    /// The near host's namespace.
    pub fn near(&self) -> &Namespace {
        &self.ends.near.namespace
    }

    /// The far host's namespace, which may be our own.
    pub fn far(&self) -> &Namespace {
        &self.ends.far.namespace
    }

    /// The loop: what it does, and whether it still does.
    pub fn running(&self) -> &Running<F> {
        &self.running
    }

    /// What the kernel counted at the near host's device and the far one's.
    pub fn counters(&self) -> io::Result<[Counters; 2]> {
        Ok([self.ends.near.counters()?, self.ends.far.counters()?])
    }

    /// What is written down, if anything is.
    pub fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Stops the loop, ends the log, and says what was done in all, or what ended the loop before. The hosts stay until this is
    /// dropped.
    pub fn stop(&mut self) -> io::Result<View> {
        let ended = self.running.stop();
        self.log.iter_mut().for_each(Log::finish);
        ended
    }
}

impl<F> Drop for Link<F> {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
