//! Capabilities (capabilities(7)): a gateway's sockets are open, so no further call of it needs one.

use std::io;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::Role;

/// Executed programs get no right that this thread has not (`PR_SET_NO_NEW_PRIVS`).
pub(super) fn forbid_new() -> io::Result<()> {
    Ok(set_no_new_privs(true)?)
}

fn needed(role: Role) -> CapabilitySet {
    match role {
        Role::Gateway => CapabilitySet::empty(),
        // For ports of a bridge.
        Role::Keeper => CapabilitySet::NET_ADMIN,
    }
}

/// Drops all capabilities that `role` does not need, from every set. Those that it lacks already stay away.
pub(super) fn keep(role: Role) -> io::Result<()> {
    let kept = rustix::thread::capabilities(None)?.permitted & needed(role);
    narrow_bounding_set(kept)?;
    match clear_ambient_capability_set() {
        // Before Linux 4.3 there is no such set.
        Ok(()) | Err(Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}

/// The bounding set limits what executed programs can get. Only `CAP_SETPCAP` may narrow it. A service of systemd lacks
/// this right; there `NoNewPrivs` alone gives the same limit.
fn narrow_bounding_set(kept: CapabilitySet) -> io::Result<()> {
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(capability) {
            continue;
        }
        match capability_is_in_bounding_set(capability) {
            Ok(false) => continue,
            Ok(true) => {}
            // The kernel has no capability of this number.
            Err(_) => break,
        }
        match remove_capability_from_bounding_set(capability) {
            Err(Errno::PERM) => break,
            removed => removed?,
        }
    }
    Ok(())
}
