//! The congestion controllers a scenario can name, one line each.

use crate::schema::TcpSettings;
use crate::values::Words;

/// Declares [`Cc`]. A row: variant, name in scenario files, what it does, where it is defined.
macro_rules! controllers {
    ($($variant:ident $name:literal, $summary:literal, $citation:literal;)+) => {
        /// Congestion control and loss recovery of a TCP sender.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Cc {
            $(#[doc = concat!($summary, " (", $citation, ").")] $variant,)+
        }

        impl Cc {
            /// Every controller, in the order in which they are listed.
            pub const ALL: &'static [Cc] = &[$(Cc::$variant),+];

            /// The name scenario files use.
            pub const fn name(self) -> &'static str {
                match self { $(Cc::$variant => $name),+ }
            }

            /// What it does, in one line.
            pub const fn summary(self) -> &'static str {
                match self { $(Cc::$variant => $summary),+ }
            }

            /// The publication that defines it.
            pub const fn citation(self) -> &'static str {
                match self { $(Cc::$variant => $citation),+ }
            }
        }

        impl Words for Cc {
            const WHAT: &'static str = "congestion control";
            const WORDS: &'static [(&'static str, Cc)] = &[$(($name, Cc::$variant)),+];
        }
    };
}

controllers! {
    Tahoe "tahoe", "slow start anew after a loss, which three duplicate ACKs tell", "Jacobson, SIGCOMM 1988";
    Reno "reno", "halves its window for a loss; fast recovery ends with the first new ACK", "RFC 5681";
    NewReno "newreno", "as Reno, but a partial ACK keeps recovery going", "RFC 6582";
    Sack "sack", "as Reno, but selective ACKs say what was lost", "RFC 2018, RFC 6675";
    Cubic "cubic", "grows by a cubic of the time since its last reduction; SACK recovery", "RFC 9438";
    Dctcp "dctcp", "lowers its window by as much as is marked; SACK recovery", "RFC 8257";
    Prague "prague", "DCTCP for the Internet: ECT(1), accurate ECN, rates alike below 25 ms, paced", "draft-briscoe-iccrg-prague-congestion-control";
    Ledbat "ledbat", "keeps the queueing delay at a target and yields to the others; SACK recovery", "RFC 6817";
    Bbr "bbr", "goes by the path's bandwidth and delay rather than by loss, paced (version 1)", "draft-cardwell-iccrg-bbr-congestion-control-00";
    Bbr3 "bbr3", "as BBR, and bounded by what it lost while it probed (version 3)", "draft-ietf-ccwg-bbr";
}

impl Cc {
    /// Whether it is made for marks (a Scalable control in the words of RFC 9330): its flows have `ecn` unless told
    /// otherwise.
    pub const fn is_scalable(self) -> bool {
        matches!(self, Cc::Dctcp | Cc::Prague)
    }

    /// It sends at a rate that it says, and not as acknowledgements come: its flows have `pacing` unless told otherwise.
    pub const fn paces(self) -> bool {
        matches!(self, Cc::Prague | Cc::Bbr | Cc::Bbr3)
    }

    /// The rate is its control, and the window only a bound: nothing of it is left without `pacing`.
    pub const fn needs_pacing(self) -> bool {
        matches!(self, Cc::Bbr | Cc::Bbr3)
    }

    /// It repairs losses by selective acknowledgements.
    pub const fn selective(self) -> bool {
        !matches!(self, Cc::Tahoe | Cc::Reno | Cc::NewReno)
    }

    /// It is of the years after RACK-TLP and proportional rate reduction, and has both unless told otherwise.
    pub const fn modern(self) -> bool {
        !matches!(self, Cc::Tahoe | Cc::Reno | Cc::NewReno | Cc::Sack)
    }

    /// It goes by a model of the path from samples of the delivery rate, and sets `cwnd` in recovery and after a pause too.
    pub const fn models(self) -> bool {
        matches!(self, Cc::Bbr | Cc::Bbr3)
    }
}

impl TcpSettings {
    /// The sender keeps a record of each segment outstanding.
    #[inline]
    pub const fn tracks(&self) -> bool {
        self.rack || self.prr || self.hystart || self.models()
    }

    /// The controller goes by a model of the path.
    #[inline]
    pub const fn models(&self) -> bool {
        self.cc.models()
    }
}
