//! The keys that groups of TCP and of UDP flows share.

use aqm::{Rate, Span};
use headgate_traffic::Traffic;
use toml::Spanned;

use super::declare::{keys, table};
use crate::access_delay::AccessDelay;
use crate::check::{LONGEST_DELAY, MOST_FLOWS, POSITIVE_RATE, POSITIVE_TIME, above};
use crate::fields::{Dscp, Ports, PrefixOrOwn};
use crate::start::{self, FASTEST_ARRIVALS, Start};
use crate::values::Profile;

keys! {
    /// Number, route and traffic of a group's flows.
    pub(crate) struct RawGroup {
        /// name of the group in tables
        name: String, "its kind: `tcp`, `tcp2` ..., `udp`, `udp2` ...";
        /// the set of defaults: `"rfc"` follows the RFCs, `"ns2"` the simulator of the papers, `"linux"` the kernel
        profile: Profile = Profile::Rfc;
        /// number of flows
        flows: u32, "as many as `start` or the source's file has, else `1`", in 1..=MOST_FLOWS;
        /// node where data enters the network
        from: String, "the only link's `from`";
        /// node where data leaves the network
        to: String, "the only link's `to`";
        /// all nodes of the route in order, in place of `from` and `to`; otherwise the route with the fewest links is
        /// taken
        route: Vec<Spanned<String>>, "";
        /// [the source of the data](traffic.md), a text or a table; TFRC flows take none and always have data to send,
        /// and the source of a call is `call`
        traffic: Traffic, "TCP: `\"ftp\"`, endless data; UDP: `\"cbr\"`, packets at `rate`; calls: `\"call\"`";
    }
}

keys! {
    /// The flows' own links, and when they start and stop.
    pub(crate) struct RawEndpoints {
        /// rate and delay of the links between each flow's hosts and the network, `{ rate, delay }`; either may be left
        /// out, and each flow may [draw its delay](#drawn-delays)
        access: RawAccess, "rate: ten times the fastest link of the route, at least 100Mbit/s and at most 100Gbit/s; delay: `1ms`";
        /// the same for the sender's link; its keys override those of `access`
        sender: RawAccess, "as `access`";
        /// the same for the receiver's link
        receiver: RawAccess, "as `access`";
        /// base round-trip time, in place of `delay` in `access`, `sender` and `receiver`: both access links get the
        /// delay that makes it up
        rtt: Span, "", in ..=LONGEST_DELAY;
        /// when the flows start: [below](#starts); all starts lie before the end of the run
        start: start::StartSpec = Start::AT_ZERO.into();
        /// when all flows stop sending, after the latest start; `"off"` for the end of the run
        stop: Option<Span> = None;
    }
}

keys! {
    /// A table of `start`: `flows` and `every` (and `within`), or `load`, or `rate`.
    pub(crate) struct RawStart {
        /// number of flows that start at each step
        flows: u32, "", in 1..=MOST_FLOWS;
        /// time between steps; the first is at the start of the run
        every: Span, "", in POSITIVE_TIME;
        /// time over which each step's starts are drawn uniformly, at most `every`; at `"0s"` they start together
        within: Span = Span::ZERO;
        /// mean load on the first link of the route, as a fraction of its rate; flows arrive by a Poisson process
        load: f64, "", in above(0.0, 100.0);
        /// mean number of flow arrivals per second, by a Poisson process
        rate: f64, "", in above(0.0, FASTEST_ARRIVALS);
    }
}

table! {
    /// A flow's own link between its host and the router, both ways. Its queue is unlimited.
    pub struct Access, RawAccess expecting "a table such as { rate = \"100Mbit/s\", delay = \"1ms\" }" {
        /// rate in each direction
        // The least rate that a group has by default: see `access.rs`.
        rate: Rate = Rate::from_bits(100_000_000), in POSITIVE_RATE;
        /// propagation delay in each direction, or a distribution from which [each flow draws its own](#drawn-delays)
        delay: AccessDelay = Span::from_millis(1).into(), in ..=LONGEST_DELAY;
    }
}

keys! {
    /// Header fields of a group's packets.
    pub(crate) struct RawHeaders {
        /// the senders' address, or a prefix from which each flow takes the next address, IPv4 or IPv6; `"own"` gives
        /// each flow an address of its own
        source: PrefixOrOwn = PrefixOrOwn(None);
        /// the same for the receivers
        destination: PrefixOrOwn = PrefixOrOwn(None);
        /// the senders' port (`443`), or a range from which each flow takes the next port (`"5000-6000"`)
        // The dynamic ports of RFC 6335.
        source_port: Ports = Ports { first: 49_152, last: 65_535 };
        /// the same for the receivers
        // The port of iperf.
        destination_port: Ports = Ports { first: 5001, last: 5001 };
        /// the DSCP: a name (`"EF"`, `"AF21"`, `"CS1"`, `"LE"`, `"VOICE-ADMIT"`) or a number from 0 to 63
        dscp: Dscp = Dscp(0);
        /// name by which classes refer to the group
        label: String, "its `name`";
    }
}
