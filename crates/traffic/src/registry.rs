//! Every source by name: one line each.

use std::ops::Deref;
use std::sync::Arc;

use headgate_core::registry::{Listing, find_in, unknown};
use headgate_core::{BuildError, Params, Rng, Span};

use crate::kind::{Files, Kind, Protocol, Sender};
use crate::sources::*;
use crate::write::Write;

/// One row of the registry.
pub struct Entry {
    /// Name, idea, whose model it is, parameters and presets.
    pub listing: Listing,
    /// What can carry it.
    pub protocols: &'static [Protocol],
}

impl Deref for Entry {
    type Target = Listing;
    fn deref(&self) -> &Listing {
        &self.listing
    }
}

impl Entry {
    /// Whether `protocol` can carry it.
    pub fn carried_by(&self, protocol: Protocol) -> bool {
        self.protocols.contains(&protocol)
    }
}

/// Declares the registry. A row: name, kind, what can carry it, one line on the idea, citation.
macro_rules! sources {
    ($($name:literal, $kind:ident [$($protocol:ident)+], $summary:literal, $citation:literal;)+) => {
        /// Every source, sorted by name.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            listing: Listing::of::<<$kind as Kind>::Config>($name, $summary, $citation),
            protocols: &[$(Protocol::$protocol),+],
        }),+];

        /// What the flows of a group share: their source with its settings. Cloning it copies a pointer.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Plan {
            $(#[doc = concat!("`", $name, "`.")] $kind(Arc<$kind>)),+
        }

        /// The source of one flow. Each kind is compiled in: asking for a write costs a jump and no allocation.
        #[derive(Clone, Debug)]
        pub enum Source {
            $(#[doc = concat!("`", $name, "`.")] $kind(Arc<$kind>, <$kind as Kind>::State)),+
        }

        /// The source called `name` with `settings`, for flows of `sender`.
        pub(crate) fn plan(
            name: &str,
            settings: &[(&str, &str)],
            sender: &Sender,
            files: &mut Files<'_>,
        ) -> Result<Plan, BuildError> {
            match name {
                $($name => {
                    let config = <$kind as Kind>::Config::from_settings(settings)?;
                    Ok(Plan::$kind(Arc::new($kind::new(config, sender, files)?)))
                })+
                _ => Err(unknown(ENTRIES, "source", name)),
            }
        }

        impl Plan {
            /// The source of flow number `flow` of the group, from 0.
            pub fn start(&self, flow: u32) -> Source {
                match self { $(Plan::$kind(kind) => Source::$kind(Arc::clone(kind), kind.start(flow))),+ }
            }

            /// What a flow writes in all, on average, in bytes; `None` if it has no end or depends on the network.
            pub fn mean_bytes(&self) -> Option<f64> {
                match self { $(Plan::$kind(kind) => kind.mean_bytes()),+ }
            }

            /// What a flow writes in the long run, however fast the network is, in bytes a second; `None` if it takes
            /// all that it can get, or only a file says.
            pub fn mean_rate(&self) -> Option<f64> {
                match self { $(Plan::$kind(kind) => kind.mean_rate()),+ }
            }

            /// From when on, counted from its start, a flow writes how many bytes a second, where that is laid down
            /// beforehand; nothing otherwise.
            pub fn rates(&self) -> Vec<(Span, f64)> {
                match self { $(Plan::$kind(kind) => kind.rates()),+ }
            }

            /// How many flows it knows, if it knows only so many: those of a file. A flow beyond writes nothing.
            pub fn flows(&self) -> Option<u32> {
                match self { $(Plan::$kind(kind) => kind.flows()),+ }
            }
        }

        impl Source {
            /// The next write; `None` if there is no more.
            #[inline]
            pub fn next(&mut self, rng: &mut Rng) -> Option<Write> {
                match self { $(Source::$kind(kind, flow) => kind.next(flow, rng)),+ }
            }

            /// The last write was delivered, `took` after it began. To be told before [`next`](Source::next), where
            /// the write that follows begins [`After::Done`](crate::After::Done).
            #[inline]
            pub fn done(&mut self, took: Span) {
                match self { $(Source::$kind(kind, flow) => kind.done(flow, took)),+ }
            }
        }
    };
}

sources! {
    "cbr", Cbr [Tcp Udp], "packets at a constant rate, or at rates that change on a schedule",
        "ns-2.35, `Application/Traffic/CBR`";
    "exp", Exp [Tcp Udp], "on and off, for times that are exponentially distributed",
        "ns-2.35, `Application/Traffic/Exponential`";
    "ftp", Ftp [Tcp], "files, one after the other; without end if nothing else is said", "ns-2.35, `Application/FTP`";
    "http", Http [Tcp], "short transfers in series, each on a connection of its own",
        "Kamra, Saran, Sen, Shorey, Computer Networks 44(2), 2004, section 5.5";
    "pareto", Pareto [Tcp Udp], "on and off, for heavy-tailed times: many of them together are self-similar",
        "Willinger, Taqqu, Sherman, Wilson, IEEE/ACM ToN 5(1), 1997; ns-2.35, `Application/Traffic/Pareto`";
    "replay", Replay [Tcp Udp], "what a file says: packets of a capture, or lines of time, flow and bytes",
        "pcap and pcapng; ns-2.35, `Application/Traffic/Trace`";
    "telnet", Telnet [Tcp Udp], "single packets at random times, as keys are struck",
        "Paxson, Floyd, IEEE/ACM ToN 3(3), 1995; ns-2.35, `Application/Telnet`";
    "video", Video [Tcp], "segments of a film, at the highest quality that the network seems to carry",
        "Jiang, Sekar, Zhang, ACM CoNEXT 2012; ISO/IEC 23009-1";
    "voip", Voip [Udp], "frames of a codec while somebody talks",
        "ITU-T P.59, 1993; Brady, Bell System Technical Journal 47(1), 1968";
    "web", Web [Tcp], "sessions of pages: objects of heavy-tailed size, and time to read",
        "Feldmann, Gilbert, Huang, Willinger, ACM SIGCOMM 1999; ns-2.35, `PagePool/WebTraf`";
}

/// The row of `name`.
///
/// # Errors
/// [`BuildError::UnknownName`], with the nearest name.
pub fn find(name: &str) -> Result<&'static Entry, BuildError> {
    find_in(ENTRIES, "source", name)
}
