//! Properties of an interface, checked before it is used.

use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use aqm::nearest;

use super::request::Request;
use super::sys;
use crate::error::{LiveError, LiveResult};

/// An interface of the calling thread's network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Whether it is switched on.
    pub up: bool,
    /// Whether it has a carrier, so that its peer is connected.
    pub carrier: bool,
    /// Whether its frames have an Ethernet header; false for the loopback.
    pub ethernet: bool,
    /// Longest IP packet it accepts, in bytes.
    pub mtu: usize,
    /// The host's addresses on it: the first IPv4 address, all IPv6 addresses.
    pub addresses: Vec<IpAddr>,
    /// The bridge or bond it belongs to.
    pub master: Option<String>,
}

impl Interface {
    /// Reads the properties of the interface `name`; refused if there is none.
    pub fn find(name: &str) -> LiveResult<Interface> {
        if !names()?.iter().any(|known| known == name) {
            return Err(unknown_interface(name));
        }
        let flags = i32::from(sys::flags(name)?);
        let v4 = sys::v4_address(name)?.map(IpAddr::V4);
        let v6 = fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
        Ok(Interface {
            name: name.to_string(),
            up: flags & libc::IFF_UP != 0,
            carrier: flags & libc::IFF_RUNNING != 0,
            ethernet: sys::hardware(name)? == libc::ARPHRD_ETHER,
            mtu: sys::mtu(name)?,
            addresses: v4.into_iter().chain(v6_addresses(&v6, name).map(IpAddr::V6)).collect(),
            master: master(name, sys::index(name)?),
        })
    }
}

/// The kernel's table `name` of proc_pid_net(5), for the calling thread's network namespace.
pub(crate) fn read_table(name: &str) -> LiveResult<String> {
    let path = format!("/proc/thread-self/net/{name}");
    Request::NetworkTables.ask_about(&path, || fs::read_to_string(&path))
}

fn unknown_interface(name: &str) -> LiveError {
    let known = names().unwrap_or_default();
    let guess = nearest(name, known.iter().map(String::as_str)).map(|guess| format!("; did you mean {guess}?"));
    let guess = guess.unwrap_or_else(|| ".".to_string());
    LiveError::Refused(format!("there is no interface {name:?}{guess} There are: {}", known.join(", ")))
}

/// Names of all interfaces in the calling thread's network namespace.
pub fn names() -> LiveResult<Vec<String>> {
    let text = read_table("dev")?;
    Ok(text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_string())).collect())
}

/// Addresses of `name` in /proc/net/if_inet6: 32 digits each, with the name at the end of the line.
fn v6_addresses<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Ipv6Addr> + 'a {
    let rows = text.lines().filter(move |line| line.split_whitespace().last() == Some(name));
    rows.filter_map(|line| u128::from_str_radix(line.split_whitespace().next()?, 16).ok().map(Ipv6Addr::from_bits))
}

/// The interface's master according to sysfs, which shows the namespace it was mounted in.
fn master(name: &str, index: i32) -> Option<String> {
    let directory = Path::new("/sys/class/net").join(name);
    let shown = fs::read_to_string(directory.join("ifindex")).ok()?.trim().parse();
    let master = directory.join("master").read_link().ok()?;
    (shown == Ok(index)).then(|| master.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_found_and_is_no_ethernet() {
        let found = Interface::find("lo").unwrap();
        assert!(!found.ethernet && found.mtu >= 1500, "{found:?}");
        let error = Interface::find("no-such-link").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no interface \"no-such-link\". There are: ") && error.contains("lo"),
            "{error}"
        );
    }

    #[test]
    fn an_interface_has_only_addresses_with_its_whole_name() {
        let text = "fe80000000000000a8bbccfffe000001 05 40 20 80    eth1\n\
                    20010db8000000000000000000000001 06 40 00 80   eth10\n";
        assert_eq!(
            v6_addresses(text, "eth1").collect::<Vec<_>>(),
            ["fe80::a8bb:ccff:fe00:1".parse::<Ipv6Addr>().unwrap()]
        );
        assert_eq!(v6_addresses(text, "eth").count(), 0);
    }
}
