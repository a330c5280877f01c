//! A link between two hosts of the kernel: a namespace with a TUN device each, and the forwarding loop between them.

pub mod datagram_load;
pub mod log;
mod rows;

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use self::log::LinkLog;
use crate::error::LiveResult;
use crate::forward::fabric::{Fabric, Lanes};
use crate::forward::forwarder::Forwarder;
use crate::forward::pacing::PacedClock;
use crate::forward::running::ForwarderThread;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::hosts::netns::Namespace;
use crate::hosts::{self, Addresses, HostPair};
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::interface_counters::InterfaceCounters;
use crate::io::recorded_end::{RecordedEnd, Recorder, recorders};
use crate::io::request::Request;
use crate::io::{LinkEnd, Tun};

/// Settings of a link and its hosts.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// Forward (from the near host to the far one) and reverse direction.
    pub lanes: [LaneSettings; 2],
    /// Seed of all random streams.
    pub seed: u64,
    /// Sysctls for both hosts: names below /proc/sys/net and values, such as `ipv4/tcp_ecn` and `1`.
    pub sysctls: Vec<(String, String)>,
    /// Replaces the far host by the calling thread's network, which must forward packets. It translates the near host's
    /// IPv4 address to its own; there is no IPv6. Sysctls apply to the near host. No change to this machine outlives
    /// the process.
    pub outside: bool,
    /// Folder for a [log](LinkLog) of the packets.
    pub log: Option<PathBuf>,
}

/// A running link or network. Dropping it removes its hosts and ends their processes.
pub struct EmulatedLink<F = Lanes> {
    // Dropped before the hosts: it uses their devices.
    forwarder: ForwarderThread<F>,
    pub(crate) clock: Monotonic,
    /// Duplicate descriptors, which keep the devices after the loop has ended: the kernel's counters disappear with
    /// them.
    _devices: Vec<OwnedFd>,
    hosts: HostPair,
    log: Option<LinkLog>,
}

impl EmulatedLink {
    /// Address of the near host on an isolated link.
    pub const NEAR: Ipv4Addr = Addresses::ISOLATED.v4[0];

    /// Address of the far host on an isolated link.
    pub const FAR: Ipv4Addr = Addresses::ISOLATED.v4[1];

    /// Creates both hosts and starts the loop between them, in a thread with real-time priority where permitted.
    ///
    /// # Errors
    /// An invalid discipline or sysctl, no forwarding, a log that cannot be written, or a refused request.
    pub fn open(settings: LinkSettings) -> LiveResult<EmulatedLink> {
        let LinkSettings { lanes, seed, sysctls, outside, log } = settings;
        let hosts = if outside { hosts::outside(sysctls) } else { hosts::isolated(sysctls) }?;
        let (recorders, notes) = if log.is_some() { recorders() } else { Default::default() };
        let mut link = EmulatedLink::between(hosts, recorders, move || {
            LaneSettings::build_lanes(&lanes, [true; 2], Layer::Ip, seed)
        })?;
        if let (Some(dir), Some(notes)) = (log, notes) {
            link.log = Some(LinkLog::start(&dir, notes, link.clock, link.forwarder.shared_view())?);
        }
        Ok(link)
    }
}

impl<F: Fabric + 'static> EmulatedLink<F> {
    /// Starts the loop between `hosts` over the fabric that `make` builds in its thread, with `recorders` at the ends.
    pub(crate) fn between(
        (hosts, [a, b]): (HostPair, [Tun; 2]),
        recorders: [Option<Recorder>; 2],
        make: impl FnOnce() -> LiveResult<F> + Send + 'static,
    ) -> LiveResult<EmulatedLink<F>> {
        let clock = Monotonic::new();
        let devices = [a.fd(), b.fd()].into_iter().flatten();
        let devices = devices.map(|fd| Request::TunDevice.ask_about("a second time", || fd.try_clone_to_owned()));
        let devices = devices.collect::<LiveResult<_>>()?;
        let forwarder = ForwarderThread::start("link", PacedClock::new(clock, PacedClock::MARGIN), move |paced| {
            let mut fabric = make()?;
            fabric.record(&recorders);
            let [near, far] = recorders;
            Ok(Forwarder::new(RecordedEnd::new(a, clock, near), RecordedEnd::new(b, clock, far), fabric, paced))
        })?;
        Ok(EmulatedLink { forwarder, clock, _devices: devices, hosts, log: None })
    }
}

impl<F> EmulatedLink<F> {
    /// Addresses of both ends.
    pub fn addresses(&self) -> Addresses {
        self.hosts.addresses
    }

    /// The near host's namespace.
    pub fn near(&self) -> &Namespace {
        &self.hosts.near.namespace
    }

    /// The far host's namespace; for a link to the outside, the calling thread's own.
    pub fn far(&self) -> &Namespace {
        &self.hosts.far.namespace
    }

    /// The forwarding loop.
    pub fn forwarder(&self) -> &ForwarderThread<F> {
        &self.forwarder
    }

    /// The kernel's counts at the near and the far host's device.
    pub fn counters(&self) -> LiveResult<[InterfaceCounters; 2]> {
        Ok([self.hosts.near.counters()?, self.hosts.far.counters()?])
    }

    /// The log, if there is one.
    pub fn log(&self) -> Option<&LinkLog> {
        self.log.as_ref()
    }

    /// Stops the loop, ends the log and returns the final view, or the error that ended the loop before. The hosts
    /// remain until the link is dropped.
    pub fn stop(&mut self) -> LiveResult<View> {
        let ended = self.forwarder.stop();
        self.log.iter_mut().for_each(LinkLog::finish);
        ended
    }
}

impl<F> Drop for EmulatedLink<F> {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
