//! Bridges of the kernel, made and joined by index over routing netlink (linux/if_link.h; `ip link add type bridge`).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::link_row::{IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MASTER, LinkRow, link_head};
use super::netlink::{CREATE_NEW, Netlink, NetlinkRequests};
use super::request::Request;
use crate::error::{LiveError, LiveResult};

/// The kind of these interfaces.
const BRIDGE: &str = "bridge";
/// The protocols' settings of an interface, and IPv6's way to make addresses: none.
const IFLA_AF_SPEC: u16 = 26;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;

/// A bridge. Its socket is opened with it: a process that is confined afterwards can open none.
#[derive(Debug)]
pub(crate) struct Bridge {
    socket: Netlink,
    index: i32,
    name: String,
}

impl Bridge {
    /// Makes the bridge `name`, without ports and switched off. One that is left from before is used.
    ///
    /// # Errors
    /// The kernel makes no bridges, a right is missing, or the name belongs to an interface that is in use.
    pub(crate) fn make(name: &str) -> LiveResult<Bridge> {
        let socket = Netlink::routing()?;
        let index = Request::Bridge.ask_about(name, || {
            let mut request = NetlinkRequests::default();
            request.add(libc::RTM_NEWLINK, CREATE_NEW, &link_head(0, 0), |message| {
                message.text(IFLA_IFNAME, name);
                message.nested(IFLA_LINKINFO, |information| information.text(IFLA_INFO_KIND, BRIDGE));
            });
            let made = socket.execute(&request);
            let found = LinkRow::by_name(&socket, name)?.filter(|row| row.kind == BRIDGE);
            match (made, found) {
                (Ok(()), Some(row)) => Ok(row.index),
                (Err(error), Some(row)) if is_taken(&error) && LinkRow::ports_of(&socket, row.index)?.is_empty() => {
                    Ok(row.index)
                }
                (made, _) => Err(made.err().unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))),
            }
        })?;
        let bridge = Bridge { socket, index, name: name.to_string() };
        bridge.keep_without_address();
        Ok(bridge)
    }

    /// The bridge that interface `port` belongs to.
    pub(crate) fn of_port(port: i32) -> LiveResult<Option<Bridge>> {
        let socket = Netlink::routing()?;
        let found = bridge_of(&socket, port)?;
        Ok(found.map(|row| Bridge { socket, index: row.index, name: row.name }))
    }

    /// Name of the bridge at this moment, or the last one if it is gone.
    pub(crate) fn name(&self) -> String {
        self.interface_name(self.index).unwrap_or_else(|| self.name.clone())
    }

    /// Name of interface `index` at this moment; `None` if it is gone.
    pub(crate) fn interface_name(&self, index: i32) -> Option<String> {
        LinkRow::by_index(&self.socket, index).ok()?.map(|row| row.name)
    }

    /// Adds the interfaces `ports` and switches the bridge on. After an error the bridge may have one of them.
    ///
    /// # Errors
    /// An interface is gone or belongs to another bridge, or the bridge is gone.
    pub(crate) fn join(&self, ports: [i32; 2]) -> LiveResult<()> {
        for port in ports {
            if let Some(other) = bridge_of(&self.socket, port)?.filter(|other| other.index != self.index) {
                let port = self.interface_name(port).unwrap_or_default();
                return Err(LiveError::Refused(format!("{port} belongs to {}", other.name)));
            }
        }
        let mut request = NetlinkRequests::default();
        for port in ports {
            request.add(libc::RTM_SETLINK, libc::NLM_F_ACK, &link_head(port, 0), |message| {
                message.attribute(IFLA_MASTER, &self.index.to_ne_bytes());
            });
        }
        request.add(libc::RTM_SETLINK, libc::NLM_F_ACK, &link_head(self.index, libc::IFF_UP), |_| {});
        Request::Bridge.ask_about(&self.name, || self.socket.execute(&request))
    }

    /// Whether both `ports` belong to the bridge.
    pub(crate) fn joins(&self, ports: [i32; 2]) -> bool {
        ports.iter().all(|port| {
            LinkRow::by_index(&self.socket, *port).is_ok_and(|row| row.is_some_and(|row| row.master == self.index))
        })
    }

    /// Removes the bridge, which frees its ports. Returns whether it was there and could be removed.
    pub(crate) fn remove(&self) -> bool {
        let mut request = NetlinkRequests::default();
        request.add(libc::RTM_DELLINK, libc::NLM_F_ACK, &link_head(self.index, 0), |_| {});
        self.socket.execute(&request).is_ok()
    }

    /// IPv6 gives an interface that is up an address, at which neighbors would reach this host.
    fn keep_without_address(&self) {
        let mut request = NetlinkRequests::default();
        request.add(libc::RTM_SETLINK, libc::NLM_F_ACK, &link_head(self.index, 0), |message| {
            message.nested(IFLA_AF_SPEC, |protocols| {
                protocols.nested(libc::AF_INET6 as u16, |settings| {
                    settings.attribute(IFLA_INET6_ADDR_GEN_MODE, &[IN6_ADDR_GEN_MODE_NONE]);
                });
            });
        });
        // A kernel without IPv6 refuses it, and needs it not.
        let _ = self.socket.execute(&request);
    }
}

impl AsFd for Bridge {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The row of the bridge that interface `port` belongs to.
fn bridge_of(socket: &Netlink, port: i32) -> LiveResult<Option<LinkRow>> {
    let master = Request::InterfaceQuery.ask_about(format_args!("number {port}"), || {
        match LinkRow::by_index(socket, port)?.map(|row| row.master) {
            None | Some(0) => Ok::<_, io::Error>(None),
            Some(master) => LinkRow::by_index(socket, master),
        }
    })?;
    Ok(master.filter(|row| row.kind == BRIDGE))
}

fn is_taken(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EEXIST)
}
