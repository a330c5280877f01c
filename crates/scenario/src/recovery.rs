//! How a TCP sender repairs losses, a row each. What a loss does to the window is the [controller](crate::Cc)'s.

use crate::cc::Cc;
use crate::schema::TcpSettings;
use crate::values::Words;

/// Declares [`Recovery`]. A row: variant, name in scenario files, what it does, where it is defined.
macro_rules! recoveries {
    ($($variant:ident $name:literal, $summary:literal, $citation:literal;)+) => {
        /// How a TCP sender repairs losses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Recovery {
            $(#[doc = concat!($summary, " (", $citation, ").")] $variant,)+
        }

        impl Recovery {
            /// Every recovery, from the oldest on.
            pub const ALL: &'static [Recovery] = &[$(Recovery::$variant),+];

            /// The name scenario files use.
            pub const fn name(self) -> &'static str {
                match self { $(Recovery::$variant => $name),+ }
            }

            /// What it does, in one line.
            pub const fn summary(self) -> &'static str {
                match self { $(Recovery::$variant => $summary),+ }
            }

            /// The publication that defines it.
            pub const fn citation(self) -> &'static str {
                match self { $(Recovery::$variant => $citation),+ }
            }
        }

        impl Words for Recovery {
            const WHAT: &'static str = "loss recovery";
            const WORDS: &'static [(&'static str, Recovery)] = &[$(($name, Recovery::$variant)),+];
        }
    };
}

recoveries! {
    Tahoe "tahoe", "slow start anew from the first segment lost", "Jacobson, SIGCOMM 1988";
    Reno "reno", "fast recovery until anything new is acknowledged", "RFC 5681";
    NewReno "newreno", "fast recovery until all that was outstanding is acknowledged", "RFC 6582";
    Sack "sack", "fast recovery of the segments that selective ACKs say are lost", "RFC 2018, RFC 6675";
    Rack "rack", "as `sack`, but losses are found by time, and probes ask for the last packets", "RFC 8985";
}

impl Recovery {
    /// What flows with this controller have where the file says nothing, and other flows of their profile `usual`.
    pub(crate) fn of(cc: Cc, usual: Recovery) -> Recovery {
        if cc.needs().modern { Recovery::Rack } else { usual }
    }

    /// The receiver sends selective acknowledgements.
    #[inline]
    pub const fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

impl TcpSettings {
    /// Losses are found by time (RFC 8985).
    #[inline]
    pub const fn rack(&self) -> bool {
        matches!(self.recovery, Recovery::Rack)
    }
}
