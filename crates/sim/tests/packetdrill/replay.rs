//! Replays a script: its writes and inbound packets drive our sender, its outbound packets and assertions are checked.
//!
//! Rules of packetdrill that the replay follows:
//!
//! - Outbound packets are compared in their order with the `>` lines. Segments that no line mentions before the end of
//!   the script are no error.
//! - A packet may leave earlier or later than its line says by the tolerance: 4 ms, or an eighth of the time since the
//!   previous statement if that is longer (`verify_time` in packetdrill's `run.c`).
//! - A relative time counts from the previous statement, and after an outbound packet from its departure.
//!
//! The kernel hands several segments to the device as one packet. A line of several segments is therefore compared with
//! several segments of our sender. Not checked: PSH flags, TCP options, and packets without data. Our sender has no
//! handshake, no FIN, no pure ACK and no probe of a closed window.

use std::path::Path;

use aqm::{Span, Time};
use headgate_sim::tcp::TcpSettings;

use crate::packetdrill::assertion::Variables;
use crate::packetdrill::connection::{Connection, micros, seconds};
use crate::packetdrill::packet::{Options, Packet};
use crate::packetdrill::script::{Action, EventTime, Script, Statement};
use crate::packetdrill::setup::{Peer, Setup};

/// The outcome of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passes,
    /// The first difference, and its line.
    Differs(usize, String),
    /// The simulator's sender has no counterpart of a statement.
    NotApplicable(usize, String),
}

/// What a replay has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub verdict: Verdict,
    /// Outbound packets and assertions that were checked.
    pub checked: usize,
    /// Fields of `tcp_info` that were not.
    pub unchecked: Vec<String>,
}

/// Why a replay ends early.
enum Stop {
    Difference(String),
    NotApplicable(String),
    /// The reader does not know a statement.
    Unknown(String),
}

/// The largest segment of our side (an interface of 1500 bytes).
const OUR_MSS: u32 = 1460;

struct Replay<'a> {
    folder: &'a Path,
    setup: Setup,
    variables: Variables,
    tolerance: Span,
    now: Time,
    /// The time of the previous statement.
    previous: Time,
    /// Handshake: the peer's SYN, and when our SYN or SYN-ACK left.
    peer: Option<Packet>,
    syn_at: Time,
    mss: u32,
    connection: Option<Connection>,
    packets: usize,
}

/// Replays `script`, which lies in `folder`. The error tells a statement that the reader does not know, and its line.
pub fn replay(script: &Script, folder: &Path) -> Result<Report, (usize, String)> {
    let mut replay = Replay {
        folder,
        setup: Setup::default(),
        variables: Variables::default(),
        tolerance: Span::from_millis(4),
        now: Time::ZERO,
        previous: Time::ZERO,
        peer: None,
        syn_at: Time::ZERO,
        mss: OUR_MSS,
        connection: None,
        packets: 0,
    };
    for (name, value) in &script.options {
        match (name.as_str(), micros(value)) {
            ("tolerance_usecs", Some(tolerance)) => replay.tolerance = tolerance,
            _ => return Err((1, format!("`--{name}={value}` is no option that the reader knows"))),
        }
    }
    let mut verdict = Verdict::Passes;
    for statement in &script.statements {
        verdict = match replay.step(statement) {
            Ok(()) => continue,
            Err(Stop::Difference(text)) => Verdict::Differs(statement.line, text),
            Err(Stop::NotApplicable(text)) => Verdict::NotApplicable(statement.line, text),
            Err(Stop::Unknown(text)) => return Err((statement.line, text)),
        };
        break;
    }
    let checked = replay.packets + replay.variables.checked;
    Ok(Report { verdict, checked, unchecked: replay.variables.unchecked.into_iter().collect() })
}

impl Replay<'_> {
    fn step(&mut self, statement: &Statement) -> Result<(), Stop> {
        let (first, last) = self.times(statement.time);
        self.previous = self.now;
        if let Action::Outbound(packet) = &statement.action
            && packet.len() > 0
        {
            return self.outbound(packet, first, last);
        }
        self.now = self.now.max(first);
        if let Some(connection) = &mut self.connection {
            connection.advance(self.now);
        }
        match &statement.action {
            Action::Commands(commands) => self.commands(commands),
            Action::Code(code) => {
                let connection = self.connection.as_ref();
                self.variables
                    .run(code, |name| connection.and_then(|connection| connection.tcp_info(name)))
                    .map_err(|text| Stop::Difference(format!("{text} at {}", seconds(self.now))))
            }
            Action::Inbound(packet) => self.inbound(packet),
            Action::Outbound(packet) => {
                if packet.has('S') {
                    self.syn_at = self.now;
                }
                Ok(())
            }
            Action::Call { name, arguments, result } => self.call(name, arguments, *result),
        }
    }

    /// The first and the last moment of a statement.
    fn times(&self, time: Option<EventTime>) -> (Time, Time) {
        let Some(EventTime { relative, first, last }) = time else { return (self.now, self.now) };
        let base = if relative { self.now } else { Time::ZERO };
        (base + first, base + last)
    }

    fn commands(&mut self, commands: &[String]) -> Result<(), Stop> {
        self.setup.run(commands, self.folder).map_err(Stop::Unknown)?;
        if self.setup.blocked {
            let reason = "the device refuses packets, and the simulator's sender has no device";
            return Err(Stop::NotApplicable(reason.into()));
        }
        Ok(())
    }

    fn call(&mut self, name: &str, arguments: &[String], result: i64) -> Result<(), Stop> {
        match (name, &mut self.connection) {
            ("socket" | "bind" | "listen" | "accept" | "connect" | "close" | "setsockopt", _) => Ok(()),
            ("write" | "send", Some(connection)) => {
                let bytes = u64::try_from(result).map_err(|_| Stop::NotApplicable(format!("`{name}` fails")))?;
                let done = connection.write(bytes, self.now);
                done.then_some(())
                    .ok_or_else(|| Stop::NotApplicable("a write continues a segment that is not full".into()))
            }
            _ => {
                Err(Stop::Unknown(format!("`{name}({})` is no call that the reader knows here", arguments.join(", "))))
            }
        }
    }

    fn inbound(&mut self, packet: &Packet) -> Result<(), Stop> {
        if let Some(connection) = &mut self.connection {
            connection.receive(packet, self.mss, self.now);
            return Ok(());
        }
        if packet.has('S') {
            self.mss = packet.options.mss.unwrap_or(536).min(OUR_MSS);
            self.peer = Some(packet.clone());
        }
        // Either end has now acknowledged our SYN or SYN-ACK.
        if packet.ack.is_some() {
            self.establish(packet)?;
        }
        Ok(())
    }

    fn establish(&mut self, last: &Packet) -> Result<(), Stop> {
        let syn = self.peer.clone().ok_or_else(|| Stop::Unknown("an ACK before the SYN".into()))?;
        let Options { sack_permitted: sack, timestamps, window_scale, .. } = syn.options;
        let settings = self.setup.settings(Peer { ecn: syn.has('E'), sack, timestamps });
        let times = (self.syn_at, self.now);
        let window = last.window.unwrap_or_default() << if last.has('S') { 0 } else { window_scale.unwrap_or(0) };
        let settings = TcpSettings { window: (window / u64::from(self.mss)) as u32, ..settings };
        self.connection = Some(Connection::new(settings, self.mss, window_scale.unwrap_or(0), times));
        Ok(())
    }

    /// Compares an outbound packet with the next segments of our sender, which leave from `first` to `last`.
    fn outbound(&mut self, packet: &Packet, first: Time, last: Time) -> Result<(), Stop> {
        let connection = self.connection.as_mut().ok_or_else(|| Stop::Unknown("data before the handshake".into()))?;
        let tolerance = self.tolerance.max(Span::from_nanos((first - self.previous).as_nanos() / 8));
        let expected = format!("{}:{}", packet.start, packet.end);
        let mut next = packet.start;
        while next < packet.end {
            connection.wait_for_segment(last + tolerance);
            let Some(sent) = connection.sent.pop_front() else {
                return Err(Stop::Difference(format!("{} is not sent by {}", named(next, packet.end), seconds(last))));
            };
            let segment = named(sent.start, sent.end);
            if sent.start != next || sent.end > packet.end {
                return Err(Stop::Difference(format!("{segment} instead of {expected} at {}", seconds(sent.at))));
            }
            if sent.at + tolerance < first || sent.at > last + tolerance {
                let text = format!("{segment} is sent at {} instead of {}", seconds(sent.at), seconds(first));
                return Err(Stop::Difference(text));
            }
            if next == packet.start && sent.cwr != packet.has('W') && connection.settings.ecn {
                return Err(Stop::Difference(format!("CWR is {} on {segment}", sent.cwr)));
            }
            if packet.ecn.as_deref().is_some_and(|ecn| (ecn == "ect0") != connection.settings.ecn) {
                return Err(Stop::Difference(format!("{segment} is not {}", packet.ecn.clone().unwrap_or_default())));
            }
            self.now = self.now.max(sent.at);
            next = sent.end;
        }
        self.packets += 1;
        Ok(())
    }
}

fn named(start: u64, end: u64) -> String {
    format!("{start}:{end}")
}
