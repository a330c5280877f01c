//! The congestion controllers and loss recoveries a scenario can name, a row each: what one needs of its sender, its receiver
//! and the network stands in its row and nowhere else.

use crate::schema::TcpSettings;
use crate::values::Words;

/// What a controller or a recovery needs, and what its flows have where their group says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// It is of the years after RACK-TLP and proportional rate reduction: its flows have both, unless they say otherwise.
    pub modern: bool,
    /// It is made for marks (a Scalable control in the words of RFC 9330): its flows have `ecn`, and losses lower the window
    /// whether or not a mark did.
    pub marks: bool,
    /// Its data says ECT(1) (RFC 9331, section 4.1).
    pub ect1: bool,
    /// The receiver mirrors each segment's mark (RFC 8257, section 3.2).
    pub mirrored_echo: bool,
    /// The receiver counts marks (RFC 9768): its flows have `accecn`.
    pub accurate_ecn: bool,
    /// It sends at a rate that it says, and not as acknowledgements come: its flows have `pacing`.
    pub pacing: bool,
    /// It goes by samples of the delivery rate. The rate is its control, and the window only a bound, also in recovery and
    /// after a pause: nothing of it is left without `pacing`.
    pub rates: bool,
    /// The receiver reports one-way delays (RFC 6817, section 2.3), of which it keeps a `target`.
    pub delays: bool,
    /// The receiver sends selective acknowledgements (RFC 2018).
    pub selective: bool,
    /// Losses are found by the times at which segments were sent.
    pub times: bool,
    /// The receiver of datagrams reports what it gets, of which the sender finds a rate. It always has more to send.
    pub reports: bool,
}

impl Needs {
    const NONE: Needs = Needs {
        modern: false,
        marks: false,
        ect1: false,
        mirrored_echo: false,
        accurate_ecn: false,
        pacing: false,
        rates: false,
        delays: false,
        selective: false,
        times: false,
        reports: false,
    };
}

/// Name, what it does, where it is defined: of a row.
pub(crate) type Row = (&'static str, &'static str, &'static str);

/// Declares kinds of controllers. A row: variant, name in scenario files, what it [`Needs`], what the Linux kernel calls it if it
/// knows it, what it does, where it is defined.
macro_rules! controllers {
    ($(
        #[doc = $about:literal]
        $kind:ident, $what:literal:
        $($variant:ident $name:literal [$($need:ident)*] $($kernel:literal)?, $summary:literal, $citation:literal;)+
    )+) => {$(
        #[doc = $about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {
            $(#[doc = concat!($summary, " (", $citation, ").")] $variant,)+
        }

        impl $kind {
            /// Every one, in the order in which they are listed.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// The same, as they are told.
            pub(crate) const ROWS: &'static [Row] = &[$(($name, $summary, $citation)),+];

            /// The name scenario files use.
            pub const fn name(self) -> &'static str {
                Self::ROWS[self as usize].0
            }

            /// What it does, in one line.
            pub const fn summary(self) -> &'static str {
                Self::ROWS[self as usize].1
            }

            /// The publication that defines it.
            pub const fn citation(self) -> &'static str {
                Self::ROWS[self as usize].2
            }

            /// What it needs of its sender, its receiver and the network.
            #[inline]
            pub const fn needs(self) -> Needs {
                match self { $($kind::$variant => Needs { $($need: true,)* ..Needs::NONE }),+ }
            }

            /// What the Linux kernel calls it; `None` if it knows it under no name.
            pub const fn kernel(self) -> Option<&'static str> {
                match self { $($kind::$variant => [$(Some($kernel),)? None][0]),+ }
            }
        }

        impl Words for $kind {
            const WHAT: &'static str = $what;
            const WORDS: &'static [(&'static str, $kind)] = &[$(($name, $kind::$variant)),+];
        }
    )+};
}

controllers! {
    /// Congestion control of a TCP sender: what acknowledgements, marks and losses do to its window.
    Cc, "congestion control":
    Reno "reno" [] "reno", "grows by a segment a round trip, and halves its window for a loss", "RFC 5681";
    Cubic "cubic" [modern] "cubic", "grows by a cubic of the time since its last reduction", "RFC 9438";
    Dctcp "dctcp" [modern marks mirrored_echo] "dctcp", "lowers its window by as much as is marked", "RFC 8257";
    Prague "prague" [modern marks ect1 accurate_ecn pacing], "DCTCP for the Internet: ECT(1), accurate ECN, rates alike below 25 ms, paced", "draft-briscoe-iccrg-prague-congestion-control";
    Ledbat "ledbat" [modern delays], "keeps the queueing delay at a target and yields to the others", "RFC 6817";
    Westwood "westwood" [] "westwood", "as Reno, but a loss leaves what the path was measured to hold (Westwood+)", "Grieco and Mascolo, CCR 2004";
    Bbr "bbr" [modern pacing rates] "bbr", "goes by the path's bandwidth and delay rather than by loss, paced (version 1)", "draft-cardwell-iccrg-bbr-congestion-control-00";
    Bbr3 "bbr3" [modern pacing rates], "as BBR, and bounded by what it lost while it probed (version 3)", "draft-ietf-ccwg-bbr";

    /// How a TCP sender repairs losses.
    Recovery, "loss recovery":
    Tahoe "tahoe" [], "slow start anew from the first segment lost", "Jacobson, SIGCOMM 1988";
    Reno "reno" [], "fast recovery until anything new is acknowledged", "RFC 5681";
    NewReno "newreno" [], "fast recovery until all that was outstanding is acknowledged", "RFC 6582";
    Sack "sack" [selective], "fast recovery of the segments that selective ACKs say are lost", "RFC 2018, RFC 6675";
    Rack "rack" [selective times], "as `sack`, but losses are found by time, and probes ask for the last packets", "RFC 8985";

    /// Congestion control of a UDP sender.
    UdpCc, "congestion control of UDP":
    Off "off" [], "sends what the source writes, whatever happens to its packets", "RFC 768";
    Tfrc "tfrc" [reports], "sends datagrams at the rate that TCP would have at the losses and round trips it meets", "RFC 5348";
}

impl Recovery {
    /// What flows with this controller have where the file says nothing, and other flows of their profile `usual`.
    pub(crate) fn of(cc: Cc, usual: Recovery) -> Recovery {
        if cc.needs().modern { Recovery::Rack } else { usual }
    }

    /// The receiver sends selective acknowledgements.
    #[inline]
    pub const fn is_selective(self) -> bool {
        self.needs().selective
    }
}

impl TcpSettings {
    /// Losses are found by time (RFC 8985).
    #[inline]
    pub const fn rack(&self) -> bool {
        self.recovery.needs().times
    }

    /// The sender keeps a record of each segment outstanding.
    #[inline]
    pub const fn tracks(&self) -> bool {
        self.rack() || self.prr || self.hystart || self.models()
    }

    /// The controller goes by a model of the path.
    #[inline]
    pub const fn models(&self) -> bool {
        self.cc.needs().rates
    }
}
