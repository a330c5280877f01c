//! What a group of flows has where its file says nothing.

use headgate_core::{Rate, Span};
use headgate_traffic::{Plan, Sender, Traffic};

use crate::cc::Cc;
use crate::header::Headers;
use crate::model::{Access, TcpGroup, UdpCc, UdpGroup};
use crate::start::Start;
use crate::values::Profile;

const ACCESS: Access = Access { rate: Rate::from_bits(100_000_000), delay: Span::from_millis(1) };

impl Profile {
    /// One TCP flow of this profile. A route has no default.
    pub(crate) fn tcp(self) -> TcpGroup {
        match self {
            Profile::Rfc => rfc(),
            Profile::Ns2 => ns2(),
        }
    }

    /// One UDP flow of this profile, with congestion control `cc`.
    pub(crate) fn udp(self, cc: UdpCc) -> UdpGroup {
        // IPv4 and UDP; TFRC's packets bear a sequence number, a timestamp and a round-trip time as well, and its reports
        // two times and two rates (RFC 5348, section 3.2). The papers count whole packets; ns-2's reports have 40 bytes.
        let (header, feedback) = match (self, cc) {
            (Profile::Ns2, _) => (0, 40),
            (Profile::Rfc, UdpCc::Off) => (28, 44),
            (Profile::Rfc, UdpCc::Tfrc) => (28 + 12, 44),
        };
        UdpGroup {
            name: String::new(),
            flows: 1,
            route: Vec::new(),
            cc,
            traffic: Traffic::named("cbr"),
            plan: plan("cbr", &Sender::udp(1000, 1000 - header, ACCESS.rate)),
            rate: None,
            packet: 1000,
            header,
            feedback,
            jitter: 0.0,
            sender: ACCESS,
            receiver: ACCESS,
            start: Start::AT_ONCE,
            stop: None,
            ecn: false,
            headers: Headers::of_group(""),
        }
    }
}

/// One flow of today's TCP, without a name.
impl Default for TcpGroup {
    fn default() -> TcpGroup {
        rfc()
    }
}

/// A source by its name, with its defaults, that needs no file.
fn plan(name: &str, sender: &Sender) -> Plan {
    let no_files = &mut |name: &str| Err(format!("no source asks for {name} by default"));
    Traffic::named(name).plan(sender, no_files).expect("its defaults fit each other")
}

/// Today's TCP as the RFCs have it.
fn rfc() -> TcpGroup {
    TcpGroup {
        name: String::new(),
        flows: 1,
        route: Vec::new(),
        traffic: Traffic::named("ftp"),
        plan: plan("ftp", &Sender::tcp(1500, 1460)),
        cc: Cc::Sack,
        packet: 1500,
        // IPv4 and TCP without options.
        header: 40,
        ack: 40,
        sender: ACCESS,
        receiver: ACCESS,
        start: Start::AT_ONCE,
        stop: None,
        window: 10_000,
        // RFC 6928.
        initial_window: 10,
        // RFC 5681, 3.1: arbitrarily high.
        initial_ssthresh: None,
        // RFC 5681, 4.2: within 500 ms; 100 ms is our choice.
        delayed_ack: Some(Span::from_millis(100)),
        // RFC 6298, 2: both 1 s; at least 60 s if there is a maximum.
        initial_rto: Span::from_secs(1),
        min_rto: Span::from_secs(1),
        max_rto: Span::from_secs(60),
        rto_granularity: Span::from_millis(1),
        limited_transmit: true,
        pacing: false,
        ecn: false,
        // What `cc` makes of it, whatever the profile.
        rack: false,
        prr: false,
        ecn_timeout: true,
        ecn_retransmits: false,
        idle_restart: true,
        accecn: false,
        hystart: false,
        abe: false,
        abc: None,
        // RFC 6817, 2.5: at most 100 ms, and at most 1.
        target: Span::from_millis(100),
        gain: 1.0,
        overhead: Span::ZERO,
        headers: Headers::of_group(""),
    }
}

/// TCP as ns-2.35 has it unless told otherwise (`Agent/TCP` and `Agent/TCPSink` in its `ns-default.tcl`).
fn ns2() -> TcpGroup {
    TcpGroup {
        // Its plain agent is Tahoe (`cc = "tahoe"`); the papers' scripts ask for NewReno.
        cc: Cc::NewReno,
        // `packetSize_`. Release 2.35 adds 40 bytes on the wire (`useHeaders_`); the papers count packets of this size.
        packet: 1000,
        header: 0,
        // `window_`, `windowInit_`; the initial `ssthresh` is `window_` too, whatever the file makes of it.
        window: 20,
        initial_window: 2,
        initial_ssthresh: Some(20),
        // `Agent/TCPSink` acknowledges each packet; `DelAck` is another class.
        delayed_ack: None,
        // `rtxcur_init_`, `minrto_`, `maxrto_`, `tcpTick_`.
        initial_rto: Span::from_secs(3),
        min_rto: Span::from_millis(200),
        max_rto: Span::from_secs(60),
        rto_granularity: Span::from_millis(10),
        // `singledup_`.
        limited_transmit: true,
        // At a window of one its sender goes on sending a packet a round trip: an ECN echo lengthens the timer, but the
        // sender does not wait for it (`TcpAgent::ecn`).
        ecn_timeout: false,
        // `TcpAgent::output` sets ECT whatever it sends.
        ecn_retransmits: true,
        // Its one-way agents slow down after a pause only with `QOption_`, which is 0.
        idle_restart: false,
        ..rfc()
    }
}
