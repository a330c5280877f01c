//! Properties of an interface, checked before it is used and followed while it is.

use std::fs;
use std::net::IpAddr;

use aqm::nearest;

use super::link_row::{self, LinkRow};
use super::netlink::Netlink;
use super::request::Request;
use crate::error::{LiveError, LiveResult};

/// An interface of the calling thread's network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its number, which stays the same when it is renamed.
    pub index: i32,
    /// Its name at this moment.
    pub name: String,
    /// Its driver's kind, such as "veth"; empty for a network card.
    pub kind: String,
    /// Whether it is switched on.
    pub up: bool,
    /// Whether it has a carrier, so that its peer is connected.
    pub carrier: bool,
    /// Whether its frames have an Ethernet header; false for the loopback.
    pub ethernet: bool,
    /// Longest IP packet it accepts, in bytes.
    pub mtu: usize,
    /// The host's addresses on it.
    pub addresses: Vec<IpAddr>,
    /// The bridge or bond it belongs to.
    pub master: Option<String>,
}

impl Interface {
    /// Reads the properties of the interface that is called `name` now; refused if there is none.
    pub fn find(name: &str) -> LiveResult<Interface> {
        let socket = Netlink::routing()?;
        let row = Request::InterfaceQuery.ask_about(name, || LinkRow::by_name(&socket, name))?;
        let index = row.ok_or_else(|| unknown_interface(name))?.index;
        Interface::read(&socket, index)?.ok_or_else(|| unknown_interface(name))
    }

    /// Reads the properties of interface `index`; `None` if there is none.
    pub(super) fn read(socket: &Netlink, index: i32) -> LiveResult<Option<Interface>> {
        let ask = || -> std::io::Result<Option<Interface>> {
            let Some(row) = LinkRow::by_index(socket, index)? else { return Ok(None) };
            let master = match row.master {
                0 => None,
                master => LinkRow::by_index(socket, master)?.map(|row| row.name),
            };
            Ok(Some(Interface {
                index,
                up: row.flags & libc::IFF_UP != 0,
                carrier: row.flags & libc::IFF_LOWER_UP != 0,
                ethernet: row.hardware == libc::ARPHRD_ETHER,
                mtu: row.mtu,
                addresses: link_row::addresses(socket, index)?,
                master,
                name: row.name,
                kind: row.kind,
            }))
        };
        Request::InterfaceQuery.ask_about(format_args!("number {index}"), ask)
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
}
