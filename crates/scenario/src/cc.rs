//! The congestion controllers and loss recoveries of scenario files. One row states all of a controller's requirements
//! on sender, receiver and network.

use aqm::Limit;

use crate::schema::TcpSettings;
use crate::values::WordChoice;

/// Requirements of a controller or recovery, and the defaults that they imply for its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerTraits {
    /// RACK-TLP and proportional rate reduction are on by default, because the controller is newer than both.
    pub modern: bool,
    /// A Scalable control (RFC 9330), which reacts to marks: `ecn` is on by default. A loss lowers the window even after
    /// a mark in the same window of data.
    pub marks: bool,
    /// Data packets carry ECT(1) (RFC 9331, section 4.1).
    pub ect1: bool,
    /// The receiver mirrors each segment's mark (RFC 8257, section 3.2).
    pub mirrored_echo: bool,
    /// The receiver counts marks (RFC 9768): `accecn` is on by default.
    pub accurate_ecn: bool,
    /// Sends at a computed rate instead of on each ACK: `pacing` is on by default.
    pub pacing: bool,
    /// Controls the rate by delivery rate samples. The window is only a bound, even in recovery: `pacing` is required.
    pub rates: bool,
    /// The receiver reports one-way delays (RFC 6817, section 2.3); the sender keeps a `target`.
    pub delays: bool,
    /// Measures the round trip of each segment, where SACK tells which segments arrive.
    pub round_trips: bool,
    /// Has a setting for the window that a loss leaves.
    pub beta: bool,
    /// The receiver sends selective acknowledgements (RFC 2018).
    pub selective: bool,
    /// Losses are detected by transmission times.
    pub times: bool,
    /// The receiver of datagrams reports to the sender, which computes a rate.
    pub reports: bool,
    /// The receiver reports every packet (RFC 8888), and the sender asks its source, a video call, for a rate. Other
    /// senders with reports always have data to send.
    pub media: bool,
    /// Each packet's report counts at once: reports are frequent by default.
    pub frequent_reports: bool,
    /// Marks have no effect: `ecn` is refused.
    pub ignores_marks: bool,
}

impl ControllerTraits {
    const NONE: ControllerTraits = ControllerTraits {
        modern: false,
        marks: false,
        ect1: false,
        mirrored_echo: false,
        accurate_ecn: false,
        pacing: false,
        rates: false,
        delays: false,
        round_trips: false,
        beta: false,
        selective: false,
        times: false,
        reports: false,
        media: false,
        frequent_reports: false,
        ignores_marks: false,
    };
}

/// Name, summary and citation.
pub(crate) type ControllerRow = (&'static str, &'static str, &'static str);

/// Declares kinds of controllers. A row: variant, name, [`ControllerTraits`], name in the Linux kernel if any, summary, citation.
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
            /// All variants, in listing order.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            pub(crate) const ROWS: &'static [ControllerRow] = &[$(($name, $summary, $citation)),+];

            /// The name in scenario files.
            pub const fn name(self) -> &'static str {
                Self::ROWS[self as usize].0
            }

            /// One-line summary.
            pub const fn summary(self) -> &'static str {
                Self::ROWS[self as usize].1
            }

            /// The publication that defines it.
            pub const fn citation(self) -> &'static str {
                Self::ROWS[self as usize].2
            }

            /// Requirements on sender, receiver and network.
            #[inline]
            pub const fn traits(self) -> ControllerTraits {
                match self { $($kind::$variant => ControllerTraits { $($need: true,)* ..ControllerTraits::NONE }),+ }
            }

            /// The name in the Linux kernel, if it has one.
            pub const fn kernel(self) -> Option<&'static str> {
                match self { $($kind::$variant => [$(Some($kernel),)? None][0]),+ }
            }
        }

        impl WordChoice for $kind {
            const WHAT: &'static str = $what;
            const WORDS: &'static [(&'static str, $kind)] = &[$(($name, $kind::$variant)),+];
        }
    )+};
}

controllers! {
    /// Congestion control of a TCP sender: what acknowledgements, marks and losses do to its window.
    Cc, "congestion control":
    Reno "reno" [] "reno", "adds a segment per round trip and halves its window on a loss", "RFC 5681";
    Cubic "cubic" [modern beta] "cubic", "grows by a cubic function of the time since its last reduction", "RFC 9438";
    Dctcp "dctcp" [modern marks mirrored_echo] "dctcp", "reduces its window in proportion to the share of marked packets", "RFC 8257";
    Prague "prague" [modern marks ect1 accurate_ecn pacing], "DCTCP for the Internet: ECT(1), accurate ECN, equal rates for round trips up to 25 ms, paced", "draft-briscoe-iccrg-prague-congestion-control";
    Ledbat "ledbat" [modern delays], "keeps the queueing delay at a target and yields to other flows", "RFC 6817";
    Westwood "westwood" [] "westwood", "Reno that sets its window after a loss to the measured bandwidth-delay product (Westwood+)", "Grieco and Mascolo, CCR 2004";
    Vegas "vegas" [round_trips] "vegas", "keeps two to four of its packets in the queue, by round-trip times", "Brakmo and Peterson, JSAC 1995";
    Bbr "bbr" [modern pacing rates] "bbr", "follows a model of the path's bandwidth and delay instead of losses, paced (version 1)", "draft-cardwell-iccrg-bbr-congestion-control-00";
    Bbr3 "bbr3" [modern pacing rates], "BBR with bounds from the losses of its probes (version 3)", "draft-ietf-ccwg-bbr";

    /// How a TCP sender detects and repairs losses.
    Recovery, "loss recovery":
    Tahoe "tahoe" [], "a new slow start from the first lost segment", "Jacobson, SIGCOMM 1988";
    Reno "reno" [], "fast recovery until new data is acknowledged", "RFC 5681";
    NewReno "newreno" [], "fast recovery until all outstanding data is acknowledged", "RFC 6582";
    Sack "sack" [selective], "fast recovery of the segments lost according to selective ACKs", "RFC 2018, RFC 6675";
    Rack "rack" [selective times], "`sack` with losses detected by time, and with tail loss probes", "RFC 8985";

    /// Congestion control of a UDP sender.
    UdpCc, "congestion control of UDP":
    Off "off" [], "sends what the source writes, whatever happens to its packets", "RFC 768";
    Gcc "gcc" [reports media ignores_marks], "a call that sends below the rate at which delays begin to grow, and less after losses (WebRTC)", "draft-ietf-rmcat-gcc-02";
    Nada "nada" [reports media], "a call whose rate follows one signal made of queueing delay, losses and marks", "RFC 8698";
    Scream "scream" [reports media frequent_reports ect1], "a call with a window, which delay, losses and marks reduce (version 2, for L4S)", "draft-johansson-ccwg-rfc8298bis-screamv2";
    Tfrc "tfrc" [reports], "sends datagrams at the rate that TCP would have at the losses and round trips it meets", "RFC 5348";
}

/// Whole segments of `payload` bytes that a send buffer holds.
pub(crate) fn buffered_segments(buffer: Option<Limit>, payload: u32) -> u32 {
    match buffer {
        None => u32::MAX,
        Some(Limit::Packets(packets)) => packets,
        Some(Limit::Bytes(bytes)) => u32::try_from(bytes / u64::from(payload.max(1))).unwrap_or(u32::MAX),
    }
}

impl Recovery {
    /// The default recovery with `cc`; `default` is the profile's default.
    pub(crate) fn default_for(cc: Cc, default: Recovery) -> Recovery {
        if cc.traits().modern { Recovery::Rack } else { default }
    }

    /// Whether the receiver sends selective acknowledgements.
    #[inline]
    pub const fn is_selective(self) -> bool {
        self.traits().selective
    }
}

impl TcpSettings {
    /// Whether losses are detected by time (RFC 8985).
    #[inline]
    pub const fn rack(&self) -> bool {
        self.recovery.traits().times
    }

    /// Whether the sender keeps a record of each outstanding segment.
    #[inline]
    pub const fn tracks(&self) -> bool {
        let each_round_trip = (self.cc.traits().round_trips || self.cubic_hystart) && self.recovery.is_selective();
        self.rack() || self.prr || self.hystart || self.rtt_per_ack || self.undo || self.models() || each_round_trip
    }

    /// Whether an ECN echo at a window of one takes `cwnd` below one, and echoes in a row double the timeout (ns-2).
    #[inline]
    pub const fn backs_off_on_echo(&self) -> bool {
        self.ecn_timeout && self.ecn_backoff
    }

    /// Segments that the application may have written and the receiver not yet acknowledged.
    #[inline]
    pub fn buffered_segments(&self) -> u32 {
        buffered_segments(self.send_buffer, self.packet - self.header)
    }

    /// Whether acknowledgements carry the counts of the option AccECN.
    #[inline]
    pub const fn counts_ecn(&self) -> bool {
        self.accecn && self.accecn_option
    }

    /// Whether the controller models the path.
    #[inline]
    pub const fn models(&self) -> bool {
        self.cc.traits().rates
    }
}
