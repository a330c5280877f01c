//! Network namespaces that end with the thread that created them.

use std::path::Path;
use std::process::Command;
use std::thread;

use rustix::thread::UnshareFlags;

/// Runs `job` in a network namespace of its own. `None`, with the reason printed, if none can be created; the test then
/// tests nothing.
pub fn in_namespace<T: Send>(job: impl FnOnce() -> T + Send) -> Option<T> {
    let run = || {
        if Command::new("ip").arg("-V").output().is_err() || !Path::new("/dev/net/tun").exists() {
            headgate_needs::skip("iproute2");
            return None;
        }
        #[expect(deprecated, reason = "the other name for it is unsafe for flags that share memory, which this is not")]
        let unshared = rustix::thread::unshare(UnshareFlags::NEWNET);
        if unshared.is_err() {
            headgate_needs::skip("namespaces");
            return None;
        }
        ip("link set lo up");
        Some(job())
    };
    thread::scope(|scope| scope.spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Runs `ip` in the calling thread's namespace.
pub fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split_whitespace()).output().expect("iproute2 is installed");
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A pair of virtual interfaces, up, without offloads and without IPv6, which would send packets of its own.
pub fn veth(one: &str, other: &str) {
    ip(&format!("link add name {one} type veth peer name {other}"));
    for end in [one, other] {
        headgate_live::io::switch_offloads_off(end).unwrap_or_else(|error| panic!("{end}: {error}"));
        ip(&format!("link set {end} addrgenmode none up"));
    }
}
