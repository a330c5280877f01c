//! The hosts at a link's ends: namespaces with a TUN device each, or this machine at the far end.

pub(crate) mod controllers;
pub mod netns;
pub mod shell;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use self::netns::Namespace;
use crate::error::{LiveError, LiveResult, SystemError};
use crate::io::interface_counters::{CounterReader, InterfaceCounters};
use crate::io::request::Request;
use crate::io::{Nat, Tun, inspect, interface};

/// Sysctls: names below /proc/sys/net, and values.
pub(crate) type Sysctls = Vec<(String, String)>;

/// Addresses of the near and the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4 addresses.
    pub v4: [Ipv4Addr; 2],
    /// `None` if the kernel has no IPv6, and on a link to the outside.
    pub v6: Option<[Ipv6Addr; 2]>,
}

impl Addresses {
    /// Addresses of an isolated link, the same for every link. IPv4: RFC 6598 space, which no outside host has. IPv6:
    /// RFC 4193 space; networks that are never joined need no random prefix.
    pub(crate) const ISOLATED: Addresses = Addresses {
        v4: [Ipv4Addr::new(100, 64, 0, 1), Ipv4Addr::new(100, 64, 0, 2)],
        v6: Some([Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2)]),
    };
}

pub(crate) struct LinkHost {
    pub(crate) namespace: Namespace,
    counters: CounterReader,
}

impl LinkHost {
    pub(crate) fn counters(&self) -> LiveResult<InterfaceCounters> {
        self.counters.read()
    }

    /// A host in `namespace` with a TUN device, which `set_up` configures there.
    fn new<T: Send + 'static>(
        namespace: Namespace,
        set_up: impl FnOnce(&Tun) -> LiveResult<T> + Send + 'static,
    ) -> LiveResult<(LinkHost, Tun, T)> {
        let (tun, counters, set_up_result) = namespace.run(move || {
            let tun = Tun::create("hg%d")?;
            let counters = CounterReader::open(tun.name())?;
            let set_up_result = set_up(&tun)?;
            Ok::<_, LiveError>((tun, counters, set_up_result))
        })??;
        Ok((LinkHost { namespace, counters }, tun, set_up_result))
    }
}

pub(crate) struct HostPair {
    pub(crate) near: LinkHost,
    pub(crate) far: LinkHost,
    pub(crate) addresses: Addresses,
    _nat: Option<Nat>,
}

/// Two isolated hosts and their devices.
pub(crate) fn isolated(sysctls: Sysctls) -> LiveResult<(HostPair, [Tun; 2])> {
    let Addresses { v4, v6 } = Addresses::ISOLATED;
    let host = |end: usize, sysctls: Sysctls| {
        LinkHost::new(Namespace::new()?, move |tun| {
            set_sysctls(sysctls)?;
            interface::set_address(tun.name(), v4[end].into(), 30)?;
            let has_v6 = v6.map_or(Ok(false), |v6| configure_ipv6(tun.name(), Some(v6[end])))?;
            interface::bring_up(tun.name())?;
            Ok(has_v6)
        })
    };
    let (near, a, has_v6) = host(0, sysctls.clone())?;
    let (far, b, _) = host(1, sysctls)?;
    Ok((HostPair { near, far, addresses: Addresses { v4, v6: v6.filter(|_| has_v6) }, _nat: None }, [a, b]))
}

/// One near host. At its far end is the calling thread's network, which must forward packets. The device, its address
/// and the address translation there disappear with the process.
pub(crate) fn outside(sysctls: Sysctls) -> LiveResult<(HostPair, [Tun; 2])> {
    let far = LinkHost::new(Namespace::here()?, |tun| {
        if controllers::read_parameter("ipv4/ip_forward")?.trim() == "0" {
            let what = "IP forwarding is off on this machine: switch it on with `sysctl -w net.ipv4.ip_forward=1`";
            return Err(LiveError::Unsupported(what.to_string()));
        }
        let v4 = free_network(tun.name())?;
        interface::set_address(tun.name(), v4[1].into(), 30)?;
        configure_ipv6(tun.name(), None)?;
        interface::bring_up(tun.name())?;
        let table = format!("headgate-{}-{}", std::process::id(), tun.name());
        Ok((v4, Nat::open(&table, v4[0])?))
    });
    let (far, b, (v4, nat)) = far.map_err(outside_refusal)?;
    let (near, a, ()) = LinkHost::new(Namespace::new()?, move |tun| {
        set_sysctls(sysctls)?;
        interface::set_address(tun.name(), v4[0].into(), 30)?;
        configure_ipv6(tun.name(), None)?;
        interface::bring_up(tun.name())?;
        interface::set_default_route(tun.name(), v4[1])
    })?;
    Ok((HostPair { near, far, addresses: Addresses { v4, v6: None }, _nat: Some(nat) }, [a, b]))
}

/// A missing right over this machine's network has a remedy of its own, whichever request lacked it.
fn outside_refusal(error: LiveError) -> LiveError {
    match error {
        LiveError::System(SystemError { request: Request::TunInterface, source, .. })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            Request::Outside.refused(source)
        }
        error => error,
    }
}

fn set_sysctls(sysctls: Sysctls) -> LiveResult<()> {
    sysctls.into_iter().try_for_each(|(key, value)| set_parameter(&key, &value))
}

/// Sets the parameter `key` below /proc/sys/net.
pub(crate) fn set_parameter(key: &str, value: &str) -> LiveResult<()> {
    let object = format!("net/{key} to {value:?}");
    let written = Request::HostParameter.ask_about(&object, || fs::write(format!("/proc/sys/net/{key}"), value));
    written.map_err(|error| match error {
        LiveError::System(SystemError { request, source, .. }) if key == controllers::DEFAULT_SYSCTL => {
            controllers::refused(request, &object, value, source)
        }
        error => error,
    })
}

/// Configures IPv6 on the device `name` with this address, or none. The host stays silent: without a link-local address
/// it does not solicit routers. Returns false if the kernel has no IPv6.
pub(crate) fn configure_ipv6(name: &str, address: Option<Ipv6Addr>) -> LiveResult<bool> {
    let to = |key: &str, value: &str| set_parameter(&format!("ipv6/conf/{name}/{key}"), value);
    let Some(address) = address else {
        return match to("disable_ipv6", "1") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            done => Ok(done.is_ok()),
        };
    };
    match to("disable_ipv6", "0") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        done => done?,
    }
    to("accept_ra", "0")?;
    to("addr_gen_mode", "1")?;
    interface::set_address(name, address.into(), 64)?;
    Ok(true)
}

/// Two addresses in an unused /30 network. The search starts at the device's number, so that concurrent links choose
/// different networks.
fn free_network(tun: &str) -> LiveResult<[Ipv4Addr; 2]> {
    let device_number: u32 = tun.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
    let net = first_free_network(&inspect::read_table("route")?, device_number as u8);
    let full = "no network of 100.64.0.0/10 is free: this machine has a route to each; end links that you do not need";
    let net = net.ok_or_else(|| LiveError::Unsupported(full.to_string()))?;
    Ok([net | 1, net | 2].map(Ipv4Addr::from_bits))
}

/// The first of 100.64.NUMBER.0/30, 100.65.NUMBER.0/30 ... without a route in `table` (proc_pid_net(5)). Routes wider
/// than the whole RFC 6598 space do not count.
fn first_free_network(table: &str, device_number: u8) -> Option<u32> {
    const MASK: u32 = !3;
    let hex = |text: &str| u32::from_str_radix(text, 16).ok().map(|bits| u32::from_be_bytes(bits.to_ne_bytes()));
    let routes: Vec<(u32, u32)> = table
        .lines()
        .filter_map(|line| {
            let mut columns = line.split_whitespace().skip(1);
            Some((hex(columns.next()?)?, hex(columns.nth(5)?)?))
        })
        .filter(|(_, mask)| mask.count_ones() >= 10)
        .collect();
    let nets = (64..128).map(|second| u32::from_be_bytes([100, second, device_number, 0]));
    nets.into_iter().find(|net| routes.iter().all(|(to, mask)| (to ^ net) & mask & MASK != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_with_a_route_is_not_chosen() {
        let route = |to: [u8; 4], mask: [u8; 4]| {
            let hex = |octets: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(octets));
            format!("eth0\t{}\t00000000\t0001\t0\t0\t0\t{}\t0\t0\t0\n", hex(to), hex(mask))
        };
        let free = |routes: &[String], device_number| {
            first_free_network(&routes.concat(), device_number).map(Ipv4Addr::from_bits)
        };
        let default = route([0; 4], [0; 4]);
        let halves = [route([0; 4], [128, 0, 0, 0]), route([128, 0, 0, 0], [128, 0, 0, 0])];
        assert_eq!(free(&[], 7), Some(Ipv4Addr::new(100, 64, 7, 0)));
        assert_eq!(free(&[default, halves.concat()], 7), Some(Ipv4Addr::new(100, 64, 7, 0)));
        let host = route([100, 64, 7, 3], [255; 4]);
        assert_eq!(free(std::slice::from_ref(&host), 7), Some(Ipv4Addr::new(100, 65, 7, 0)));
        assert_eq!(free(&[host], 8), Some(Ipv4Addr::new(100, 64, 8, 0)));
        let most = route([100, 64, 0, 0], [255, 192, 0, 0]);
        assert_eq!(free(&[most], 7), None);
    }
}
