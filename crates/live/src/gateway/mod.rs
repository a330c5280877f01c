//! A gateway: a forwarding loop between two existing interfaces.

mod frame_length;
mod guard;
mod interfaces;
mod remarks;

use std::sync::Arc;

use self::frame_length::FrameLength;
use self::guard::Guard;
pub use self::interfaces::{FailOpenBridge, GatewayInterfaces};
use self::remarks::remarks;
use crate::confinement::Confinement;
use crate::error::{LiveError, LiveResult};
use crate::forward::forwarder::Forwarder;
use crate::forward::running::ForwarderThread;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::io::claim::InterfaceClaim;
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::inspect::Interface;
use crate::io::pool::Pool;
use crate::io::watched_interfaces::WatchedInterfaces;
use crate::io::{LinkEnd, PacketSocket, SendMethod, packet_socket, switch_offloads_off};

/// Settings of a gateway.
#[derive(Debug)]
pub struct GatewaySettings<'a> {
    /// Two interfaces, which this process has claimed.
    pub interfaces: &'a GatewayInterfaces,
    /// Forward (from the first interface to the second) and reverse direction.
    pub lanes: [LaneSettings; 2],
    /// Switches offloads off on both interfaces, permanently.
    pub offloads_off: bool,
    /// The kind of socket for sending.
    pub sending: SendMethod,
    /// Seed of all random streams.
    pub seed: u64,
    /// What the gateway's threads and the calling thread keep once they forward; `None` keeps all rights.
    pub confinement: Option<Confinement>,
}

/// A running gateway. Dropping it stops it and restores the interfaces, except for offloads.
pub struct Gateway {
    guard: Guard,
    forwarder: ForwarderThread,
    seed: u64,
    notes: Vec<String>,
    /// No other gateway may forward between the interfaces meanwhile.
    _claims: Arc<[InterfaceClaim; 2]>,
}

impl Gateway {
    /// Checks both interfaces and forwards between them, in a thread with real-time priority where permitted. With a
    /// [`Confinement`], the calling thread has given up its other rights afterwards.
    ///
    /// # Errors
    /// Refused, with the remedy, if an interface or a discipline is unsuitable; otherwise the request that the system
    /// refused.
    pub fn open(settings: GatewaySettings<'_>) -> LiveResult<Gateway> {
        let GatewaySettings { interfaces, mut lanes, offloads_off, sending, seed, confinement } = settings;
        // Before the interfaces are read: then no change is missed.
        let watched = WatchedInterfaces::new(Arc::clone(&interfaces.claims))?;
        let found = interfaces.read()?;
        let mut notes = notes(&found)?;
        // Offloads stay off: change them only if the sockets are permitted.
        drop(packet_socket()?);
        if offloads_off {
            found.iter().try_for_each(|interface| switch_offloads_off(&interface.name))?;
        }
        let open = |interface| PacketSocket::of(interface, PacketSocket::RING, sending);
        let (a, b) = (open(&found[0])?, open(&found[1])?);
        let slower = [&a, &b].into_iter().filter_map(PacketSocket::why_not_xdp);
        notes.extend(slower.map(|why| format!("a packet socket sends the frames, which is slower: {why}")));
        let slot_bytes = Pool::slot_for(a.mtu().max(b.mtu()));
        lanes.iter_mut().for_each(|lane| lane.slot_bytes = slot_bytes);
        let mtus = [a.shared_mtu(), b.shared_mtu()];
        let of_thread = confinement.clone();
        let forwarder = ForwarderThread::start("gateway", Monotonic::new(), move |clock| {
            let lanes = LaneSettings::build_both(&lanes, Layer::Ethernet, seed)?;
            // The clock has its priority, and the lanes have their memory.
            confine(of_thread.as_ref());
            Ok(Forwarder::new(a, b, lanes, clock))
        })?;
        let frame_length = FrameLength::new(mtus, forwarder.change_sender());
        let of_guard = confinement.clone();
        let guard = Guard::watch(watched, found, frame_length, forwarder.stop_flag(), move || {
            confine(of_guard.as_ref());
        })?;
        notes.extend(confine(confinement.as_ref()));
        Ok(Gateway { guard, forwarder, seed, notes, _claims: Arc::clone(&interfaces.claims) })
    }

    /// Warnings about the interfaces, as found when the gateway was opened.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Changes of the interfaces since the last call, a line each: `note: ` or `warning: `, and what changed. At most a
    /// few dozen lines are kept.
    pub fn changes(&self) -> Vec<String> {
        self.guard.changes()
    }

    /// The forwarding loop.
    pub fn forwarder(&self) -> &ForwarderThread {
        &self.forwarder
    }

    /// Replaces the settings of both directions; packets inside are kept
    /// ([`LaneSettings::refit`](crate::LaneSettings::refit)).
    ///
    /// # Errors
    /// Refused if a discipline's parameters are invalid; fails if the loop has ended.
    pub fn refit(&self, settings: [LaneSettings; 2]) -> LiveResult<()> {
        let seed = self.seed;
        // A trial build outside the loop: if one direction is invalid, neither changes, and no packet waits.
        LaneSettings::build_both(&settings, Layer::Ethernet, seed)?;
        self.forwarder.apply(move |lanes, now| {
            let mut each = settings.iter().zip(lanes).zip(["forward", "reverse"]);
            each.try_for_each(|((to, lane), label)| to.refit(lane, now, Layer::Ethernet, seed, label))
        })?
    }

    /// Stops the loop and returns the final view, or why it ended before, such as the name of a failed interface.
    pub fn stop(&mut self) -> LiveResult<View> {
        // The guard's message names the interface; the loop's error is only "no such device".
        let failure = self.guard.end();
        let ended = self.forwarder.stop();
        failure.map_or(ended, |what| Err(LiveError::Ended(what)))
    }
}

/// Confines the calling thread, and returns notes. All threads get the same ones.
fn confine(confinement: Option<&Confinement>) -> Vec<String> {
    confinement.map(Confinement::enter).unwrap_or_default()
}

/// Notes on two interfaces; refused if a gateway must not join them.
fn notes(pair: &[Interface; 2]) -> LiveResult<Vec<String>> {
    let remarks = remarks(pair);
    match remarks.iter().find(|remark| remark.forbidding) {
        Some(remark) => Err(LiveError::Refused(remark.text.clone())),
        None => Ok(remarks.into_iter().map(|remark| remark.text).collect()),
    }
}
