//! The registry of traffic sources: from a name to the sources of a group's flows.
//!
//! ```
//! use std::sync::Arc;
//! use aqm::Rng;
//! use headgate_traffic::{SenderInfo, Traffic, WriteAmount, WriteStart};
//!
//! let traffic: Traffic = "ftp:size=pareto(100KB,1.5),count=2,wait=exp(1s)".parse().unwrap();
//! let no_files = &mut |name: &str| Err(format!("there is no {name}"));
//! let source = traffic.build(&SenderInfo::tcp(1500, 1460), no_files).unwrap();
//! let (mut flow, mut rng) = (source.start(0), Rng::named(1, "web/0"));
//! let first = flow.next(&mut rng).unwrap();
//! assert!(matches!((first.after, first.data), (WriteStart::AfterStart(_), WriteAmount::Bytes(_))));
//! // The second file is requested after the first is delivered, and a pause.
//! assert!(matches!(flow.next(&mut rng).unwrap().after, WriteStart::AfterDelivery(_)));
//! assert_eq!(flow.next(&mut rng), None);
//! ```

use std::ops::Deref;
use std::sync::Arc;

use aqm::registry::{Listing, find_in, unknown};
use aqm::{BuildError, Params, Rng, Span};

use crate::model::{FileLoader, Protocol, SenderInfo, SourceModel};
use crate::sources::*;
use crate::write::SourceWrite;

/// A registry entry.
pub struct SourceEntry {
    /// Name, idea, citation, parameters and presets.
    pub listing: Listing,
    /// The protocols that can carry it.
    pub protocols: &'static [Protocol],
}

impl Deref for SourceEntry {
    type Target = Listing;
    fn deref(&self) -> &Listing {
        &self.listing
    }
}

impl SourceEntry {
    /// Whether `protocol` can carry it.
    pub fn carried_by(&self, protocol: Protocol) -> bool {
        self.protocols.contains(&protocol)
    }
}

/// Declares the registry, one row per source. Columns: name, type, protocols, what it sends, citation.
macro_rules! sources {
    ($($name:literal, $kind:ident [$($protocol:ident)+], $summary:literal, $citation:literal;)+) => {
        /// Every source, sorted by name.
        pub static ENTRIES: &[SourceEntry] = &[$(SourceEntry {
            listing: Listing::of::<<$kind as SourceModel>::Config>($name, $summary, $citation),
            protocols: &[$(Protocol::$protocol),+],
        }),+];

        /// A source with its settings, shared by the flows of a group. Cloning copies a pointer.
        #[derive(Clone, Debug, PartialEq)]
        pub enum GroupSource {
            $(#[doc = concat!("`", $name, "`.")] $kind(Arc<$kind>)),+
        }

        /// The source of one flow. As an enum of all kinds, it needs no allocation, and the next write no virtual call.
        #[derive(Clone, Debug)]
        pub enum FlowSource {
            $(#[doc = concat!("`", $name, "`.")] $kind(Arc<$kind>, <$kind as SourceModel>::State)),+
        }

        pub(crate) fn build(
            name: &str,
            settings: &[(&str, &str)],
            sender: &SenderInfo,
            files: &mut FileLoader<'_>,
        ) -> Result<GroupSource, BuildError> {
            match name {
                $($name => {
                    let config = <$kind as SourceModel>::Config::from_settings(settings)?;
                    Ok(GroupSource::$kind(Arc::new($kind::new(config, sender, files)?)))
                })+
                _ => Err(unknown(ENTRIES, "source", name)),
            }
        }

        impl GroupSource {
            /// The source of flow number `flow` of the group, from 0.
            pub fn start(&self, flow: u32) -> FlowSource {
                match self { $(GroupSource::$kind(kind) => FlowSource::$kind(Arc::clone(kind), kind.start(flow))),+ }
            }

            /// Mean bytes per flow; `None` if endless or dependent on the network.
            pub fn mean_bytes(&self) -> Option<f64> {
                match self { $(GroupSource::$kind(kind) => kind.mean_bytes()),+ }
            }

            /// Mean rate of a flow on an infinitely fast network, in bytes a second. `None` if it sends as fast as it
            /// can or replays a file.
            pub fn nominal_rate(&self) -> Option<f64> {
                match self { $(GroupSource::$kind(kind) => kind.nominal_rate()),+ }
            }

            /// Bytes of every write, if they are always the same.
            pub fn write_bytes(&self) -> Option<u64> {
                match self { $(GroupSource::$kind(kind) => kind.write_bytes()),+ }
            }

            /// The predetermined rates of a flow in bytes a second, by time since its start; empty if none.
            pub fn rates(&self) -> Vec<(Span, f64)> {
                match self { $(GroupSource::$kind(kind) => kind.rates()),+ }
            }

            /// The number of flows, if limited by a file. Further flows write nothing.
            pub fn flows(&self) -> Option<u32> {
                match self { $(GroupSource::$kind(kind) => kind.flows()),+ }
            }
        }

        impl FlowSource {
            /// The next write; `None` after the last.
            #[inline]
            pub fn next(&mut self, rng: &mut Rng) -> Option<SourceWrite> {
                match self { $(FlowSource::$kind(kind, flow) => kind.next(flow, rng)),+ }
            }

            /// Reports that the last write, a [transfer](crate::SourceWrite::transfer), was delivered, `took` after it
            /// began. Call it before [`next`](FlowSource::next).
            #[inline]
            pub fn done(&mut self, took: Span) {
                match self { $(FlowSource::$kind(kind, flow) => kind.done(flow, took)),+ }
            }

            /// Congestion control requests `rate` bytes of data a second, at `at` after the flow's start.
            pub fn follow(&mut self, rate: f64, at: Span) {
                match self { $(FlowSource::$kind(kind, flow) => kind.follow(flow, rate, at)),+ }
            }
        }
    };
}

sources! {
    "call", Call [Udp], "Frames of a video call, at the rate that congestion control allows.", "RFC 8593";
    "cbr", Cbr [Tcp Udp], "Packets at a constant rate, or at rates that follow a schedule.",
        "ns-2.35, `Application/Traffic/CBR`";
    "exp", Exp [Tcp Udp], "Bursts with exponentially distributed on and off periods.",
        "ns-2.35, `Application/Traffic/Exponential`";
    "ftp", Ftp [Tcp], "Files in sequence; by default one endless file.", "ns-2.35, `Application/FTP`";
    "http", Http [Tcp], "Short transfers in sequence, each on a new connection.",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 5.5";
    "pareto", Pareto [Tcp Udp], "Bursts with heavy-tailed on and off periods; many sources together are self-similar.",
        "Willinger, Taqqu, Sherman, Wilson, IEEE/ACM ToN 5(1), 1997; ns-2.35, `Application/Traffic/Pareto`";
    "replay", Replay [Tcp Udp], "Recorded traffic: packets of a capture, or lines of time, flow and bytes.",
        "pcap and pcapng; ns-2.35, `Application/Traffic/Trace`";
    "telnet", Telnet [Tcp Udp], "Single packets at random times, like keystrokes.",
        "Paxson, Floyd, IEEE/ACM ToN 3(3), 1995; ns-2.35, `Application/Telnet`";
    "video", Video [Tcp], "Segments of a film, each at the highest bit rate the network seems to sustain.",
        "Jiang, Sekar, Zhang, ACM CoNEXT 2012; ISO/IEC 23009-1";
    "voip", Voip [Udp], "Frames of a voice codec during talkspurts.",
        "ITU-T P.59, 1993; Brady, Bell System Technical Journal 47(1), 1968";
    "web", Web [Tcp], "Web sessions: pages with objects of heavy-tailed size, and pauses for reading.",
        "Feldmann, Gilbert, Huang, Willinger, ACM SIGCOMM 1999; ns-2.35, `PagePool/WebTraf`";
}

/// The registry entry of `name`.
///
/// # Errors
/// [`BuildError::UnknownName`], with the nearest name.
pub fn find(name: &str) -> Result<&'static SourceEntry, BuildError> {
    find_in(ENTRIES, "source", name)
}
