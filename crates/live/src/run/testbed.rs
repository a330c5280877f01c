//! The scenario's links in the loop, and the hosts at both ends.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use headgate_core::Qdisc;
use headgate_scenario::Scenario;

use super::account::Finding;
use super::moments::Begin;
use super::network::Network;
use crate::forward::forwarder::Forwarder;
use crate::forward::running::Running;
use crate::forward::view::{View, Window};
use crate::hosts::netns::Namespace;
use crate::hosts::{self, Ends, Host};
use crate::io::Io;
use crate::io::clock::Monotonic;
use crate::io::interface::Counters;
use crate::io::tap::{Recorder, Tap};
use crate::load;

/// The network of a run, between its hosts.
pub(super) struct Testbed {
    // Before the hosts, whose devices it holds.
    running: Running<Network>,
    clock: Monotonic,
    /// The same devices, which so outlive the loop: the kernel's counts are gone with them.
    _devices: Vec<OwnedFd>,
    near: Host,
    far: Host,
}

impl Testbed {
    /// Makes the hosts and starts the loop, with `qdisc` where disciplines are compared. What is found is posted, from the
    /// moment on that `begin` tells; `recorders` note what passes the ends.
    ///
    /// # Errors
    /// What the system says, and what is wrong with a discipline.
    pub(super) fn open(
        scenario: &Arc<Scenario>,
        qdisc: &Qdisc,
        seed: u64,
        (begin, findings): (&Begin, &Sender<Finding>),
        recorders: [Option<Recorder>; 2],
    ) -> io::Result<Testbed> {
        let Ends { near, far, tuns: (a, b), .. } = hosts::apart(load::sysctls(scenario))?;
        let clock = Monotonic::new();
        let devices = [a.fd(), b.fd()].into_iter().flatten().map(|fd| fd.try_clone_to_owned());
        let devices = devices.collect::<io::Result<_>>()?;
        let (scenario, qdisc, begin, findings) = (Arc::clone(scenario), qdisc.clone(), begin.clone(), findings.clone());
        let time = clock;
        let running = Running::start("link", clock, move |clock| {
            let mut network = Network::new(&scenario, &qdisc, seed, begin, findings)?;
            network.record(&recorders);
            let [near, far] = recorders;
            Ok(Forwarder::new(Tap::new(a, time, near), Tap::new(b, time, far), network, clock))
        })?;
        Ok(Testbed { running, clock, _devices: devices, near, far })
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
