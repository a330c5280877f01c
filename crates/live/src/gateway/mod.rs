//! A gateway: a forwarding loop between two existing interfaces.

mod frame_length;
mod guard;
mod interfaces;
mod loops;
mod remarks;

use std::sync::Arc;

use self::guard::Guard;
pub use self::interfaces::{FailOpenBridge, GatewayInterfaces};
use self::loops::{LoopSettings, Loops};
use self::remarks::remarks;
use crate::confinement::Confinement;
use crate::error::{LiveError, LiveResult};
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::io::claim::InterfaceClaim;
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
    /// Processors that the forwarding threads keep to: none, one, or one for each direction, which then has a thread of its
    /// own.
    pub cpus: Vec<usize>,
    /// Whether the forwarding threads never sleep: less delay, and each takes a processor.
    pub busy_poll: bool,
    /// What the gateway's threads and the calling thread keep once they forward; `None` keeps all rights.
    pub confinement: Option<Confinement>,
}

/// A running gateway. Dropping it stops it and restores the interfaces, except for offloads.
pub struct Gateway {
    guard: Guard,
    loops: Loops,
    seed: u64,
    notes: Vec<String>,
    /// No other gateway may forward between the interfaces meanwhile.
    _claims: Arc<[InterfaceClaim; 2]>,
}

impl Gateway {
    /// Checks both interfaces and forwards between them, in threads with real-time priority where permitted. With a
    /// [`Confinement`], the calling thread has given up its other rights afterwards.
    ///
    /// # Errors
    /// Refused, with the remedy, if an interface or a discipline is unsuitable; otherwise the request that the system
    /// refused.
    pub fn open(settings: GatewaySettings<'_>) -> LiveResult<Gateway> {
        let GatewaySettings { interfaces, mut lanes, offloads_off, sending, seed, cpus, busy_poll, confinement } =
            settings;
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
        let confine_thread = move || drop(confine(of_thread.as_ref()));
        let loops = Loops::start([a, b], LoopSettings { lanes, seed, busy_poll, confine: confine_thread }, &cpus)?;
        let of_guard = confinement.clone();
        let guard = Guard::watch(watched, found, loops.frame_length(mtus), loops.stop_flags(), move || {
            confine(of_guard.as_ref());
        })?;
        notes.extend(confine(confinement.as_ref()));
        Ok(Gateway { guard, loops, seed, notes, _claims: Arc::clone(&interfaces.claims) })
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

    /// The latest view of both directions, at most [`PUBLISH_INTERVAL`](crate::PUBLISH_INTERVAL) old.
    pub fn view(&self) -> View {
        self.loops.view()
    }

    /// Whether it still forwards. It ends by itself only when an interface is gone.
    pub fn is_running(&self) -> bool {
        self.loops.are_running()
    }

    /// Whether its forwarding threads have real-time priority (`SCHED_FIFO`).
    pub fn is_realtime(&self) -> bool {
        self.loops.are_realtime()
    }

    /// Replaces the settings of both directions; packets inside are kept
    /// ([`LaneSettings::refit`](crate::LaneSettings::refit)).
    ///
    /// # Errors
    /// Refused if a discipline's parameters are invalid; fails if the loop has ended.
    pub fn refit(&self, settings: [LaneSettings; 2]) -> LiveResult<()> {
        let seed = self.seed;
        // A trial build outside the loop: if one direction is invalid, neither changes, and no packet waits.
        LaneSettings::build_lanes(&settings, [true; 2], Layer::Ethernet, seed)?;
        self.loops.refit(&settings, seed)
    }

    /// Stops the threads and returns the final view, or why it ended before, such as the name of a failed interface.
    pub fn stop(&mut self) -> LiveResult<View> {
        // The guard's message names the interface; the loop's error is only "no such device".
        let failure = self.guard.end();
        let ended = self.loops.stop();
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
