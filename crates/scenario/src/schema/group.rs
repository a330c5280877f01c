//! The keys that groups of TCP and of UDP flows share.

use headgate_core::{Rate, Span};
use headgate_traffic::Traffic;
use toml::Spanned;

use super::declare::{keys, table};
use crate::check::{LONGEST_DELAY, MOST_FLOWS, POSITIVE_RATE, POSITIVE_TIME, above};
use crate::fields::{Dscp, Ports, PrefixOrOwn};
use crate::start::{self, FASTEST_ARRIVALS, Start};
use crate::values::Profile;

keys! {
    /// Which flows a group has, where they go, what they send.
    pub(crate) struct RawGroup {
        /// name of the group in tables
        name: String, "its kind: `tcp`, `tcp2` ..., `udp`, `udp2` ...";
        /// whose defaults hold: `"rfc"` or `"ns2"`
        profile: Profile = Profile::Rfc;
        /// number of flows
        flows: u32, "as many as `start` or the source's file brings, else `1`", in 1..=MOST_FLOWS;
        /// the node where data comes from
        from: String, "the one link's";
        /// the node where data goes to
        to: String, "the one link's";
        /// all nodes on the way, in place of `from` and `to`
        route: Vec<Spanned<String>>, "";
        /// [what the flows have to send](traffic.md), a text or a table; with TFRC always as much as it allows
        traffic: Traffic, "TCP: `\"ftp\"`, without end; UDP: `\"cbr\"`, packets at `rate`";
    }
}

keys! {
    /// The flows' own links, and when they start and stop.
    pub(crate) struct RawEndpoints {
        /// `{ rate, delay }` of each flow's own links; each may be left out
        access: RawAccess = Access::default().raw();
        /// the same for the sender's side, in place of what `access` says
        sender: RawAccess, "as `access`";
        /// the same for the receiver's side
        receiver: RawAccess, "as `access`";
        /// the round-trip time without queues, in place of `delay` on both sides: each side takes half of what the links on the
        /// way leave of it
        rtt: Span, "", in ..=LONGEST_DELAY;
        /// when the flows start, before the run ends: [below](#starts)
        start: start::StartSpec = Start::AT_ZERO.into();
        /// when all stop, after the latest start; `"off"` for the end of the run
        stop: Option<Span> = None;
    }
}

keys! {
    /// A table of `start`: `flows` and `every` (and `within`), or `load`, or `rate`.
    pub(crate) struct RawStart {
        /// flows per step
        flows: u32, "", in 1..=MOST_FLOWS;
        /// time between steps
        every: Span, "", in POSITIVE_TIME;
        /// time over which each step's flows are spread; at most `every`
        within: Span = Span::ZERO;
        /// mean load on the first link, as a fraction of its rate
        load: f64, "", in above(0.0, 100.0);
        /// arrivals per second
        rate: f64, "", in above(0.0, FASTEST_ARRIVALS);
    }
}

table! {
    /// A flow's own link between its host and the router, both ways. Its queue is unlimited.
    pub struct Access, RawAccess expecting "a table such as { rate = \"100Mbit/s\", delay = \"1ms\" }" {
        /// rate, the same each way
        rate: Rate = Rate::from_bits(100_000_000), in POSITIVE_RATE;
        /// propagation delay, the same each way
        delay: Span = Span::from_millis(1), in ..=LONGEST_DELAY;
    }
}

keys! {
    /// What the packets' headers say.
    pub(crate) struct RawHeaders {
        /// the senders' address or prefix, IPv4 or IPv6; `"own"` gives each flow one of its own
        source: PrefixOrOwn = PrefixOrOwn(None);
        /// the same for the receivers
        destination: PrefixOrOwn = PrefixOrOwn(None);
        /// the senders' port (`443`) or range of ports (`"5000-6000"`)
        // The dynamic ports of RFC 6335.
        source_port: Ports = Ports { first: 49_152, last: 65_535 };
        /// the same for the receivers
        // The port of iperf.
        destination_port: Ports = Ports { first: 5001, last: 5001 };
        /// the DSCP: a name (`"EF"`, `"AF21"`, `"CS1"`, `"LE"`, `"VOICE-ADMIT"`) or a number from 0 to 63
        dscp: Dscp = Dscp(0);
        /// what classes know the group by
        label: String, "its `name`";
    }
}
