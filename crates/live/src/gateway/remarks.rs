//! Properties of interfaces that harm a gateway. The same remarks are errors when a gateway starts, and warnings when
//! they come up while it runs.

use std::net::IpAddr;

use crate::io::inspect::Interface;

/// A property that harms. Two remarks on one interface with equal properties are the same remark.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Property {
    Hardware,
    Master(String),
    Down,
    Address(IpAddr),
    Mtus([usize; 2]),
    NoCarrier,
}

/// A remark on one interface of a gateway, or on both.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    /// Index of the interface; 0 for both.
    interface: i32,
    property: Property,
    /// Whether a gateway does not start.
    pub(super) forbidding: bool,
    /// The property in words, with the remedy.
    pub(super) text: String,
    /// What is said when the property is gone.
    over: String,
}

impl Remark {
    /// Whether `other` says the same. An interface that was renamed keeps its remarks.
    fn is_like(&self, other: &Remark) -> bool {
        (self.interface, &self.property) == (other.interface, &other.property)
    }

    fn on(interface: &Interface, property: Property, text: String, over: String) -> Remark {
        Remark { interface: interface.index, property, forbidding: true, text, over }
    }

    fn note(self) -> Remark {
        Remark { forbidding: false, ..self }
    }
}

/// The remarks on two interfaces, first those on each.
pub(super) fn remarks(pair: &[Interface; 2]) -> Vec<Remark> {
    pair.iter().flat_map(on_one).chain(on_mtus(pair)).collect()
}

/// What changed from `before` to `after`, a line each.
pub(super) fn changes(before: &[Interface; 2], after: &[Interface; 2]) -> Vec<String> {
    let mut lines = Vec::new();
    for (before, after) in before.iter().zip(after) {
        if before.name != after.name {
            lines.push(format!("note: {} is now called {}, and is still forwarded", before.name, after.name));
        }
        if before.mtu != after.mtu {
            lines.push(format!("note: {} has an MTU of {} now, before {}", after.name, after.mtu, before.mtu));
        }
    }
    let (old, new) = (remarks(before), remarks(after));
    let ended = old.iter().filter(|remark| !new.iter().any(|other| other.is_like(remark)));
    // A pair of MTUs that is replaced by another unequal pair is not over.
    let ended = ended.filter(|remark| !matches!(remark.property, Property::Mtus(_)) || after[0].mtu == after[1].mtu);
    lines.extend(ended.map(|remark| format!("note: {}", remark.over)));
    for remark in new.iter().filter(|remark| !old.iter().any(|other| other.is_like(remark))) {
        let severity = if remark.forbidding { "warning" } else { "note" };
        lines.push(format!("{severity}: {}", remark.text));
    }
    lines
}

fn on_one(interface: &Interface) -> Vec<Remark> {
    let Interface { name, .. } = interface;
    let mut found = Vec::new();
    let mut add = |property, text: String, over: String| found.push(Remark::on(interface, property, text, over));
    if !interface.ethernet {
        add(Property::Hardware, format!("{name} is no Ethernet interface"), String::new());
    }
    if let Some(master) = &interface.master {
        let text = format!("{name} belongs to {master}, which would forward too: ip link set {name} nomaster");
        add(Property::Master(master.clone()), text, format!("{name} no longer belongs to {master}"));
    }
    if !interface.up {
        add(Property::Down, format!("{name} is down: ip link set {name} up"), format!("{name} is up"));
    }
    for address in &interface.addresses {
        let over = format!("{name} no longer has the address {address}");
        if is_link_local(address) {
            let off = format!("sysctl -w net.ipv6.conf.{name}.disable_ipv6=1");
            let text =
                format!("{name} has the link-local address {address}: neighbors can reach this host there ({off})");
            found.push(Remark::on(interface, Property::Address(*address), text, over).note());
        } else {
            let text = format!(
                "{name} has the address {address}, and the kernel would answer for it: ip address flush dev {name}"
            );
            found.push(Remark::on(interface, Property::Address(*address), text, over));
        }
    }
    if !interface.carrier {
        let text = format!("{name} has no carrier: the other end is not connected");
        found.push(Remark::on(interface, Property::NoCarrier, text, format!("{name} has its carrier again")).note());
    }
    found
}

/// Every interface with IPv6 has a link-local address (RFC 4291, section 2.5.6), so such an address is no obstacle.
/// Only neighbors can reach it.
fn is_link_local(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

fn on_mtus([a, b]: &[Interface; 2]) -> Option<Remark> {
    if a.mtu == b.mtu {
        return None;
    }
    let (low, high) = if a.mtu < b.mtu { (a, b) } else { (b, a) };
    let what = format!("{} has an MTU of {}, {} of {}: longer packets would be lost", a.name, a.mtu, b.name, b.mtu);
    let text = format!("{what}: ip link set {} mtu {}", high.name, low.mtu);
    let over = format!("{} and {} have the same MTU again", a.name, b.name);
    Some(Remark { interface: 0, property: Property::Mtus([a.mtu, b.mtu]), forbidding: true, text, over })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> [Interface; 2] {
        [(3, "in"), (4, "out")].map(|(index, name)| Interface {
            index,
            name: name.to_string(),
            kind: String::new(),
            up: true,
            carrier: true,
            ethernet: true,
            mtu: 1500,
            addresses: Vec::new(),
            master: None,
        })
    }

    #[test]
    fn suitable_interfaces_have_no_remarks() {
        assert!(remarks(&pair()).is_empty());
        assert_eq!(changes(&pair(), &pair()), [] as [String; 0]);
    }

    #[test]
    fn each_change_is_told_once_and_again_when_it_is_over() {
        type Change = fn(&mut Interface);
        let changed: [(Change, &str, &str); 4] = [
            (
                |one| one.addresses = vec![[192, 0, 2, 1].into()],
                "warning: in has the address 192.0.2.1, ",
                "note: in no longer has the address 192.0.2.1",
            ),
            (
                |one| one.master = Some("br0".to_string()),
                "warning: in belongs to br0, ",
                "note: in no longer belongs to br0",
            ),
            (|one| one.carrier = false, "note: in has no carrier", "note: in has its carrier again"),
            (
                |one| one.addresses = vec!["fe80::1".parse().unwrap()],
                "note: in has the link-local address",
                "note: in no longer has the address fe80::1",
            ),
        ];
        for (change, told, over) in changed {
            let mut after = pair();
            change(&mut after[0]);
            let lines = changes(&pair(), &after);
            assert!(lines.len() == 1 && lines[0].starts_with(told), "{lines:?}");
            assert_eq!(changes(&after, &pair()), [over]);
            assert_eq!(changes(&after, &after), [] as [String; 0]);
        }
    }

    #[test]
    fn a_renamed_interface_keeps_its_remarks() {
        let mut before = pair();
        before[0].addresses = vec![[192, 0, 2, 1].into()];
        let mut after = before.clone();
        after[0].name = "wan".to_string();
        assert_eq!(changes(&before, &after), ["note: in is now called wan, and is still forwarded"]);
    }

    #[test]
    fn different_mtus_are_told_until_they_are_equal() {
        let with = |mtus: [usize; 2]| {
            let mut pair = pair();
            pair.iter_mut().zip(mtus).for_each(|(one, mtu)| one.mtu = mtu);
            pair
        };
        let lines = changes(&with([1500, 1500]), &with([9000, 1500]));
        assert!(
            lines[0] == "note: in has an MTU of 9000 now, before 1500"
                && lines[1].starts_with("warning: in has an MTU of 9000, out of 1500"),
            "{lines:?}"
        );
        assert_eq!(changes(&with([9000, 1500]), &with([9000, 2000])).len(), 2, "another pair that is not equal");
        let lines = changes(&with([9000, 2000]), &with([9000, 9000]));
        assert_eq!(
            lines,
            ["note: out has an MTU of 9000 now, before 2000", "note: in and out have the same MTU again"]
        );
    }
}
