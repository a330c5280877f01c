//! The kernel's congestion controls: which exist, and which a network namespace may use.
//!
//! If a control is missing from the initial namespace's `tcp_allowed_congestion_control`, not even root can make it the
//! default of another namespace (`tcp_set_default_congestion_control`, net/ipv4/tcp_cong.c of Linux 6.18). Sockets of
//! another namespace may use it only with `CAP_NET_ADMIN` there. Other namespaces can read the list but not change it.

use std::fs;
use std::io;

use crate::error::{LiveError, LiveResult};
use crate::io::request::Request;

/// The sysctl of a namespace's default, below /proc/sys/net.
pub(crate) const DEFAULT_SYSCTL: &str = "ipv4/tcp_congestion_control";

/// The controls that the kernel has built in or loaded, separated by blanks.
pub(crate) fn available() -> LiveResult<String> {
    read_parameter("ipv4/tcp_available_congestion_control")
}

/// The error of `request`, which names the control `name`: why this namespace cannot use it, and the remedy.
pub(crate) fn refused(request: Request, object: &str, name: &str, error: io::Error) -> LiveError {
    let is_of_control = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EPERM));
    match (available(), read_parameter("ipv4/tcp_allowed_congestion_control")) {
        (Ok(available), Ok(allowed)) if is_of_control => {
            LiveError::Refused(format!("cannot set {object}: {}", refusal_in_words(name, &available, &allowed)))
        }
        _ => request.refused_about(object, error),
    }
}

/// The value of the parameter `key` below /proc/sys/net.
pub(crate) fn read_parameter(key: &str) -> LiveResult<String> {
    Request::KernelParameter.ask_about(format_args!("net/{key}"), || fs::read_to_string(format!("/proc/sys/net/{key}")))
}

fn refusal_in_words(name: &str, available: &str, allowed: &str) -> String {
    let listed = |names: &str| names.split_whitespace().collect::<Vec<_>>().join(", ");
    let has = |names: &str| names.split_whitespace().any(|each| each == name);
    match (has(available), has(allowed)) {
        (true, false) => format!(
            "the kernel allows {name} only in the first network namespace; elsewhere it allows {}. Allow it as root: \
             sysctl -w net.ipv4.tcp_allowed_congestion_control='{} {name}'",
            listed(allowed),
            allowed.trim()
        ),
        _ => format!("the kernel has {}", listed(available)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_distinguishes_a_control_of_the_first_namespace_from_a_missing_one() {
        let kept = "the kernel allows cubic only in the first network namespace; elsewhere it allows reno, bbr. Allow it as \
                    root: sysctl -w net.ipv4.tcp_allowed_congestion_control='reno bbr cubic'";
        assert_eq!(refusal_in_words("cubic", "reno bbr cubic\n", "reno bbr\n"), kept);
        assert_eq!(refusal_in_words("vegas", "reno bbr cubic\n", "reno bbr\n"), "the kernel has reno, bbr, cubic");
    }
}
