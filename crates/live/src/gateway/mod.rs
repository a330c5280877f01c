//! A gateway: a forwarding loop between two existing interfaces.

mod guard;

use self::guard::Guard;
use crate::confinement::Confinement;
use crate::error::{LiveError, LiveResult};
use crate::forward::forwarder::Forwarder;
use crate::forward::running::ForwarderThread;
use crate::forward::settings::LaneSettings;
use crate::forward::view::View;
use crate::io::clock::Monotonic;
use crate::io::frame::Layer;
use crate::io::inspect::Interface;
use crate::io::pool::Pool;
use crate::io::{LinkEnd, PacketSocket, SendMethod, packet_socket, switch_offloads_off};

/// Settings of a gateway.
#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// Two interfaces.
    pub interfaces: [String; 2],
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
}

impl Gateway {
    /// Checks both interfaces and forwards between them, in a thread with real-time priority where permitted. With a
    /// [`Confinement`], the calling thread has given up its other rights afterwards.
    ///
    /// # Errors
    /// Refused, with the remedy, if an interface or a discipline is unsuitable; otherwise the request that the system
    /// refused.
    pub fn open(settings: GatewaySettings) -> LiveResult<Gateway> {
        let GatewaySettings { interfaces, mut lanes, offloads_off, sending, seed, confinement } = settings;
        let found = [check_interface(&interfaces[0])?, check_interface(&interfaces[1])?];
        check_pair(&found)?;
        // Offloads stay off: change them only if the sockets are permitted.
        drop(packet_socket()?);
        if offloads_off {
            interfaces.iter().try_for_each(|name| switch_offloads_off(name))?;
        }
        let [a, b] = &interfaces;
        let open = |name: &str| PacketSocket::open(name, PacketSocket::RING, sending);
        let (a, b) = (open(a)?, open(b)?);
        let mut notes: Vec<String> = found.iter().flat_map(notes).collect();
        let slower = [&a, &b].into_iter().filter_map(PacketSocket::why_not_xdp);
        notes.extend(slower.map(|why| format!("a packet socket sends the frames, which is slower: {why}")));
        let slot_bytes = Pool::slot_for(a.mtu().max(b.mtu()));
        lanes.iter_mut().for_each(|lane| lane.slot_bytes = slot_bytes);
        let of_thread = confinement.clone();
        let forwarder = ForwarderThread::start("gateway", Monotonic::new(), move |clock| {
            let lanes = LaneSettings::build_both(&lanes, Layer::Ethernet, seed)?;
            // The clock has its priority, and the lanes have their memory.
            confine(of_thread.as_ref());
            Ok(Forwarder::new(a, b, lanes, clock))
        })?;
        let of_guard = confinement.clone();
        let guard = Guard::watch(&interfaces, forwarder.stop_flag(), move || drop(confine(of_guard.as_ref())))?;
        notes.extend(confine(confinement.as_ref()));
        Ok(Gateway { guard, forwarder, seed, notes })
    }

    /// Warnings about the interfaces, as found when the gateway was opened.
    pub fn notes(&self) -> &[String] {
        &self.notes
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

/// Finds the interface `name` and checks that it is suitable by itself.
fn check_interface(name: &str) -> LiveResult<Interface> {
    let found = Interface::find(name)?;
    if !found.ethernet {
        return Err(LiveError::Refused(format!("{name} is no Ethernet interface")));
    }
    if let Some(master) = &found.master {
        let what = format!("{name} belongs to {master}, which would forward too: ip link set {name} nomaster");
        return Err(LiveError::Refused(what));
    }
    if !found.up {
        return Err(LiveError::Refused(format!("{name} is down: ip link set {name} up")));
    }
    if let Some(address) = found.addresses.iter().find(|address| !is_link_local(address)) {
        let what = format!("{name} has the address {address}, and the kernel would answer for it");
        return Err(LiveError::Refused(format!("{what}: ip address flush dev {name}")));
    }
    Ok(found)
}

/// Every interface with IPv6 has a link-local address (RFC 4291, section 2.5.6), so such an address is no obstacle.
/// Only neighbors can reach it.
fn is_link_local(address: &std::net::IpAddr) -> bool {
    matches!(address, std::net::IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// Checks that the two interfaces are suitable together.
fn check_pair([a, b]: &[Interface; 2]) -> LiveResult<()> {
    if a.name == b.name {
        return Err(LiveError::Refused(format!("in and out are both {}: a gateway needs two interfaces", a.name)));
    }
    if a.mtu != b.mtu {
        let (low, high) = if a.mtu < b.mtu { (a, b) } else { (b, a) };
        let what = format!("{} has an MTU of {}, {} of {}: longer packets would be lost", a.name, a.mtu, b.name, b.mtu);
        return Err(LiveError::Refused(format!("{what}: ip link set {} mtu {}", high.name, low.mtu)));
    }
    Ok(())
}

/// Warnings about an interface that can be used.
fn notes(interface: &Interface) -> Vec<String> {
    let name = &interface.name;
    let mut notes = Vec::new();
    if !interface.carrier {
        notes.push(format!("{name} has no carrier: the other end is not connected"));
    }
    if let Some(address) = interface.addresses.first() {
        let off = format!("sysctl -w net.ipv6.conf.{name}.disable_ipv6=1");
        notes.push(format!("{name} has the link-local address {address}: neighbors can reach this host there ({off})"));
    }
    notes
}
