//! The two interfaces of a gateway, and the bridge that joins them when it has ended (`--fail open`).
//!
//! Both are known by index. A name is read for display alone: it may pass to another network card while a gateway runs.

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;

use crate::error::{LiveError, LiveResult};
use crate::io::bridge::Bridge;
use crate::io::claim::InterfaceClaim;
use crate::io::inspect::Interface;

/// The name of a bridge before the index of the gateway's first interface.
const PREFIX: &str = "hgopen";

/// Two interfaces that no other gateway can claim until this value is dropped.
#[derive(Debug)]
pub struct GatewayInterfaces {
    pub(super) claims: Arc<[InterfaceClaim; 2]>,
    /// Their names when they were claimed.
    names: [String; 2],
}

impl GatewayInterfaces {
    /// Claims the interfaces that are called `names` now.
    ///
    /// # Errors
    /// Refused if there is no such interface, or both are one; fails if another gateway has one of them, which the
    /// message names.
    pub fn claim(names: &[String; 2]) -> LiveResult<GatewayInterfaces> {
        let [a, b] = [Interface::find(&names[0])?, Interface::find(&names[1])?];
        if a.index == b.index {
            return Err(LiveError::Refused(format!("in and out are both {}: a gateway needs two interfaces", a.name)));
        }
        // In one order for all gateways: of two that start at once, one gets both.
        let claims = if a.index < b.index {
            let first = InterfaceClaim::new(&a)?;
            [first, InterfaceClaim::new(&b)?]
        } else {
            let first = InterfaceClaim::new(&b)?;
            [InterfaceClaim::new(&a)?, first]
        };
        Ok(GatewayInterfaces { claims: Arc::new(claims), names: [a.name, b.name] })
    }

    /// Indexes of the interfaces.
    pub fn indexes(&self) -> [i32; 2] {
        [self.claims[0].index(), self.claims[1].index()]
    }

    /// Removes the bridge that joins one or both of the interfaces after an earlier gateway. Returns whether there was
    /// one.
    ///
    /// # Errors
    /// The system does not tell of the interfaces' bridges.
    pub fn part(&self) -> LiveResult<bool> {
        let mut parted = false;
        for index in self.indexes() {
            let bridge = Bridge::of_port(index)?.filter(|bridge| bridge.name().starts_with(PREFIX));
            parted |= bridge.is_some_and(|bridge| bridge.remove());
        }
        Ok(parted)
    }

    /// Makes the bridge that joins the interfaces later, without ports and switched off.
    ///
    /// # Errors
    /// The kernel makes no bridges, a right is missing, or an interface in use has its name.
    pub fn bridge(&self) -> LiveResult<FailOpenBridge> {
        let bridge = Bridge::make(&format!("{PREFIX}{}", self.claims[0].index()))?;
        Ok(FailOpenBridge { bridge, claims: Arc::clone(&self.claims), names: self.names.clone() })
    }

    /// Both interfaces as they are now.
    pub(super) fn read(&self) -> LiveResult<[Interface; 2]> {
        let [a, b] = &*self.claims;
        let ([name_a, name_b], [a, b]) = (&self.names, [a.read()?, b.read()?]);
        Ok([a.ok_or_else(|| gone(name_a))?, b.ok_or_else(|| gone(name_b))?])
    }
}

/// A bridge that joins the interfaces of a gateway that has ended.
#[derive(Debug)]
pub struct FailOpenBridge {
    bridge: Bridge,
    claims: Arc<[InterfaceClaim; 2]>,
    names: [String; 2],
}

impl FailOpenBridge {
    /// Name of the bridge at this moment.
    pub fn name(&self) -> String {
        self.bridge.name()
    }

    /// Names of both interfaces at this moment, or their last names.
    pub fn interface_names(&self) -> [String; 2] {
        let [a, b] = &*self.claims;
        let name = |claim: &InterfaceClaim, last: &str| {
            let present = if claim.exists() { self.bridge.interface_name(claim.index()) } else { None };
            present.unwrap_or_else(|| last.to_string())
        };
        [name(a, &self.names[0]), name(b, &self.names[1])]
    }

    /// Numbers of its open files. They are opened with the bridge and the claims, so a process that joins the interfaces
    /// needs no right to open a socket. As long as it keeps them, no other gateway can claim the interfaces.
    pub fn descriptors(&self) -> [RawFd; 5] {
        let ([a, a_lock], [b, b_lock]) = (self.claims[0].descriptors(), self.claims[1].descriptors());
        [self.bridge.as_fd().as_raw_fd(), a, a_lock, b, b_lock]
    }

    /// Joins both interfaces. If one cannot be joined, removes the bridge: half a bridge passes nothing, and keeps the
    /// other interface from its next use.
    ///
    /// # Errors
    /// An interface is gone or belongs to another bridge.
    pub fn join(&self) -> LiveResult<()> {
        let joined = self.join_both();
        if joined.is_err() {
            self.remove();
        }
        joined
    }

    fn join_both(&self) -> LiveResult<()> {
        self.require_both()?;
        let ports = [self.claims[0].index(), self.claims[1].index()];
        self.bridge.join(ports)?;
        // An interface may have been removed meanwhile, which parts it from the bridge.
        self.require_both()?;
        if self.bridge.joins(ports) {
            Ok(())
        } else {
            Err(LiveError::Ended(format!("another program has taken an interface out of {}", self.name())))
        }
    }

    fn require_both(&self) -> LiveResult<()> {
        let absent = self.claims.iter().zip(&self.names).find(|(claim, _)| !claim.exists());
        absent.map_or(Ok(()), |(_, name)| Err(gone(name)))
    }

    /// Removes the bridge.
    pub fn remove(&self) {
        self.bridge.remove();
    }
}

fn gone(name: &str) -> LiveError {
    LiveError::Ended(format!("{name} is gone"))
}
