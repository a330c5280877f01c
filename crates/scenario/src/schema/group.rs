//! The keys that groups of TCP and of UDP flows share.

use headgate_core::{Rate, Span};
use headgate_traffic::Traffic;
use toml::Spanned;

use super::declare::keys;
use crate::fields::{Dscp, OrOwn, Ports};
use crate::start;
use crate::values::Profile;

keys! {
    /// Which flows a group has, where they go, what they send.
    pub(crate) struct RawGroup {
        /// the group's name in tables
        name: String, "its kind: `tcp`, `tcp2` ..., `udp`, `udp2` ...";
        /// whose defaults hold: `"rfc"` or `"ns2"`
        profile: Profile, "`\"rfc\"`";
        /// how many flows
        flows: u32, "as many as `start` or the source's file brings, else `1`";
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
    pub(crate) struct RawEnds {
        /// `{ rate, delay }` of each flow's own links; each may be left out
        access: RawAccess, "100 Mbit/s, 1 ms";
        /// the same for the sender's side, in place of what `access` says
        sender: RawAccess, "as `access`";
        /// the same for the receiver's side
        receiver: RawAccess, "as `access`";
        /// the round-trip time without queues: what the propagation delays of the links on the way leave of it is shared evenly
        /// by both sides, in place of their `delay`
        rtt: Span, "";
        /// when the flows start, before the run ends: [below](#starts)
        start: start::Written, "`\"0s\"`";
        /// when all stop, after the latest start; `"off"` for the end of the run
        stop: Option<Span>, "`\"off\"`";
    }
}

keys! {
    /// A link of each flow's own.
    pub(crate) struct RawAccess expecting "a table such as { rate = \"100Mbit/s\", delay = \"1ms\" }" {
        /// its rate, the same each way
        rate: Rate, "`\"100Mbit/s\"`";
        /// its propagation delay, the same each way
        delay: Span, "`\"1ms\"`";
    }
}

keys! {
    /// What the packets' headers say.
    pub(crate) struct RawHeaders {
        /// the senders' address or prefix, IPv4 or IPv6; `"own"` gives each flow one of its own
        source: OrOwn, "`\"own\"`";
        /// the same for the receivers
        destination: OrOwn, "`\"own\"`";
        /// the senders' port (`443`) or range of ports (`"5000-6000"`)
        source_port: Ports, "`\"49152-65535\"`";
        /// the same for the receivers
        destination_port: Ports, "`5001`";
        /// the DSCP: a name (`"EF"`, `"AF21"`, `"CS1"`, `"LE"`, `"VOICE-ADMIT"`) or a number from 0 to 63
        dscp: Dscp, "`\"CS0\"`";
        /// what classes know the group by
        label: String, "its `name`";
    }
}
