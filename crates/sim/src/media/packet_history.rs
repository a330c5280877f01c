//! The packets of a call and the reports about them (RFC 8888).
//!
//! Sender and receiver of a simulated call share this history. A report therefore only says which packets it covers and
//! when it was made: a packet that arrived later is missing in it. Arrival times have the resolution of RFC 8888.
//!
//! Each report covers the packets of the last report again (RFC 8888, section 3.1, allows overlaps). A packet that is
//! missing in two reports is lost; one may be late. Losing a report thus loses little.

use std::collections::VecDeque;

use aqm::{Span, Time};

use super::PacketReport;

/// Older packets are forgotten: of no use to a call, and the history stays bounded.
const KEPT: Span = Span::from_secs(3);

/// Bytes of a report without packets: IPv4 and UDP (28), RTCP's header and sender (8), the stream's header (8), and the
/// time of the report (4). RFC 8888, section 3.1.
const REPORT_HEAD: u32 = 48;

/// Arrival times in a report are multiples of 1/1024 s before it (RFC 8888, section 3.1).
const OFFSETS_PER_SECOND: f64 = 1024.0;

/// A report on its way: the numbers of the packets it covers. Those from `new` on are covered for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaReport {
    pub begin: u32,
    pub new: u32,
    pub end: u32,
    /// When it was made.
    pub at: Time,
}

/// Bytes of a report on the wire: two for each packet, in whole words (RFC 8888, section 3.1).
pub fn report_bytes(report: &MediaReport) -> u32 {
    REPORT_HEAD + (2 * (report.end - report.begin)).next_multiple_of(4)
}

/// What the sender knows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// No report has covered it.
    InFlight,
    /// It was missing in one report.
    Missing,
    /// It arrived, is lost, or is forgotten.
    Resolved,
}

#[derive(Clone, Copy, Debug)]
struct SentPacket {
    sent: Time,
    /// [`Time::NEVER`] until it arrives.
    arrived: Time,
    bytes: u32,
    marked: bool,
    fate: Fate,
}

/// Packets of one call, by number.
#[derive(Clone, Debug, Default)]
pub struct PacketHistory {
    packets: VecDeque<SentPacket>,
    /// The number of the first packet kept, and of the first whose fate is open.
    first: u32,
    open: u32,
    in_flight: u64,
    /// The receiver: one beyond the highest number that arrived, and the ends of the last two reports.
    highest: u32,
    reported: [u32; 2],
}

impl PacketHistory {
    /// The number of the next packet.
    pub fn next(&self) -> u32 {
        self.first + self.packets.len() as u32
    }

    /// Bytes sent of which no report has told.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Records a packet; returns its number.
    pub fn send(&mut self, bytes: u32, now: Time) -> u32 {
        self.forget(now);
        self.in_flight += u64::from(bytes);
        let number = self.next();
        self.packets.push_back(SentPacket {
            sent: now,
            arrived: Time::NEVER,
            bytes,
            marked: false,
            fate: Fate::InFlight,
        });
        number
    }

    /// Packet `number` reaches the receiver. Returns whether it is known and new: no duplicate, and not forgotten.
    pub fn arrive(&mut self, number: u32, marked: bool, at: Time) -> bool {
        let Some(packet) = number.checked_sub(self.first).and_then(|place| self.packets.get_mut(place as usize)) else {
            return false;
        };
        self.highest = self.highest.max(number + 1);
        if packet.arrived != Time::NEVER {
            return false;
        }
        (packet.arrived, packet.marked) = (at, marked);
        true
    }

    /// The receiver makes a report.
    pub fn report(&mut self, at: Time) -> MediaReport {
        let [begin, new] = self.reported;
        self.reported = [new, self.highest];
        MediaReport { begin, new, end: self.highest, at }
    }

    /// The report reaches the sender: `news` gets each packet whose fate it decides. Returns the round-trip time of the
    /// newest of them that arrived, without its wait for the report.
    pub fn on_report(&mut self, report: &MediaReport, now: Time, news: &mut Vec<PacketReport>) -> Option<Span> {
        let mut rtt = None;
        for number in self.open.max(self.first)..report.end {
            let packet = &mut self.packets[(number - self.first) as usize];
            if packet.fate == Fate::Resolved {
                continue;
            }
            let has_arrived = packet.arrived <= report.at;
            let is_covered = number >= report.begin;
            let is_lost = if is_covered { number < report.new } else { packet.fate == Fate::Missing };
            packet.fate = match (is_covered && has_arrived) || is_lost {
                true => Fate::Resolved,
                // No report that covers it has arrived, and none will.
                false if !is_covered => Fate::Resolved,
                false => Fate::Missing,
            };
            if packet.fate == Fate::Missing {
                continue;
            }
            self.in_flight -= u64::from(packet.bytes);
            let arrived = (is_covered && has_arrived).then(|| rounded(packet.arrived, report.at));
            if let Some(arrived) = arrived {
                // Time on both ways: all but the packet's wait for its report.
                rtt = Some((now - report.at) + (arrived - packet.sent));
            }
            if arrived.is_some() || is_lost {
                let (sent, bytes) = (packet.sent, packet.bytes);
                news.push(PacketReport { sent, bytes, arrived, marked: arrived.is_some() && packet.marked });
            }
        }
        while let Some(packet) = self.packets.get(self.open.saturating_sub(self.first) as usize)
            && packet.fate == Fate::Resolved
        {
            self.open = self.open.max(self.first) + 1;
        }
        rtt
    }

    /// Forgets old packets, also those of which no report has told.
    fn forget(&mut self, now: Time) {
        while let Some(packet) = self.packets.front()
            && packet.sent + KEPT < now
        {
            if packet.fate != Fate::Resolved {
                self.in_flight -= u64::from(packet.bytes);
            }
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// Forgets every packet in flight: nothing has been heard of them for too long.
    pub fn give_up(&mut self) {
        self.packets.iter_mut().for_each(|packet| packet.fate = Fate::Resolved);
        self.in_flight = 0;
    }
}

/// The arrival time as a report at `at` states it, a multiple of 1/1024 s before it.
fn rounded(arrived: Time, at: Time) -> Time {
    let age = at - arrived;
    let offset = (age.as_secs_f64() * OFFSETS_PER_SECOND).floor() / OFFSETS_PER_SECOND;
    arrived + (age - Span::from_secs_f64(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Packets of 1000 bytes sent every 10 ms.
    fn sent(count: u32) -> PacketHistory {
        let mut history = PacketHistory::default();
        for number in 0..count {
            assert_eq!(history.send(1000, at(10 * u64::from(number))), number);
        }
        history
    }

    /// The report at `ms`, once packets that take 20 ms have arrived if `arrives` lets them.
    fn report(history: &mut PacketHistory, ms: u64, arrives: impl Fn(u32) -> bool) -> MediaReport {
        for number in (0..history.next()).filter(|number| arrives(*number)) {
            let arrival = 10 * u64::from(number) + 20;
            if arrival <= ms {
                history.arrive(number, number % 2 == 1, at(arrival));
            }
        }
        history.report(at(ms))
    }

    /// What the sender learns from `report`, one letter a packet: arrived, marked or lost.
    fn told(history: &mut PacketHistory, report: &MediaReport) -> String {
        let mut news = Vec::new();
        history.on_report(report, report.at + Span::from_millis(20), &mut news);
        let letter = |packet: &PacketReport| match (packet.arrived, packet.marked) {
            (None, _) => 'l',
            (Some(_), true) => 'm',
            (Some(_), false) => 'a',
        };
        news.iter().map(letter).collect()
    }

    #[test]
    fn a_report_tells_of_packets_that_arrived_by_then_and_each_is_told_once() {
        let mut history = sent(10);
        let early = report(&mut history, 65, |_| true); // packets 0 to 4 have arrived, at 20 to 60 ms
        assert_eq!((early.begin, early.end), (0, 5));
        assert_eq!((told(&mut history, &early), history.in_flight()), ("amama".to_string(), 5000));
        let late = report(&mut history, 110, |_| true);
        assert_eq!((late.begin, late.new, late.end), (0, 5, 10));
        assert_eq!(told(&mut history, &late), "mamam");
        assert_eq!((history.in_flight(), told(&mut history, &late)), (0, String::new()));
    }

    #[test]
    fn a_packet_missing_in_two_reports_is_lost_and_a_late_one_is_not() {
        let mut history = sent(10);
        let first = report(&mut history, 110, |number| number != 3 && number != 7);
        assert_eq!((told(&mut history, &first), history.in_flight()), ("amaamaam".to_string(), 2000));
        assert!(history.arrive(7, false, at(120)));
        let second = history.report(at(130));
        assert_eq!((told(&mut history, &second), history.in_flight()), ("la".to_string(), 0));
    }

    #[test]
    fn a_lost_report_loses_nothing_if_the_next_arrives_and_reordered_reports_are_as_good() {
        let outcome = |is_lost: bool, swapped: bool| {
            let mut history = sent(9);
            let mut reports = [50, 80, 110].map(|ms| report(&mut history, ms, |number| number != 4));
            if swapped {
                reports.swap(0, 1);
            }
            let reports = reports.iter().skip(usize::from(is_lost));
            let all: String = reports.map(|report| told(&mut history, report)).collect();
            (all.matches('l').count(), all.len(), history.in_flight())
        };
        for (is_lost, swapped) in [(false, false), (true, false), (false, true)] {
            assert_eq!(outcome(is_lost, swapped), (1, 9, 0), "{is_lost} {swapped}");
        }
    }

    #[test]
    fn packets_of_reports_that_are_all_lost_leave_the_flight_untold() {
        let mut history = sent(12);
        let reports = [50, 80, 110, 130].map(|ms| report(&mut history, ms, |_| true));
        // The last two reports cover the packets that arrived after 80 ms: numbers 7 to 11.
        assert_eq!((reports[3].begin, told(&mut history, &reports[3])), (7, "mamam".to_string()));
        assert_eq!(history.in_flight(), 0);
    }

    #[test]
    fn a_report_has_48_bytes_and_two_for_each_packet_in_whole_words() {
        let report = |packets: u32| MediaReport { begin: 7, new: 7, end: 7 + packets, at: Time::ZERO };
        assert_eq!([0, 1, 2, 3, 20].map(|packets| report_bytes(&report(packets))), [48, 52, 52, 56, 88]);
    }

    #[test]
    fn arrival_times_have_the_resolution_of_the_report() {
        // 3 ms before the report are three whole units of 1/1024 s.
        let told = rounded(at(100), at(103));
        assert!(((at(103) - told).as_secs_f64() - 3.0 / 1024.0).abs() < 1e-8);
    }

    #[test]
    fn the_round_trip_time_leaves_out_the_wait_for_the_report() {
        let mut history = sent(1);
        let report = report(&mut history, 90, |_| true);
        // 20 ms forward and 30 ms back; the packet waited 70 ms for its report.
        let rtt = history.on_report(&report, at(120), &mut Vec::new()).unwrap();
        assert!(rtt <= Span::from_millis(51) && rtt >= Span::from_millis(50), "{rtt}");
    }

    #[test]
    fn old_packets_are_forgotten_though_no_report_tells_of_them() {
        let mut history = sent(1000);
        assert!(history.packets.len() <= 301 && history.in_flight() <= 301_000);
        assert!(!history.arrive(5, false, at(10_000)), "a forgotten packet is of no use");
    }

    proptest! {
        #[test]
        fn every_packet_is_told_at_most_once_and_the_flight_is_what_is_not_told(
            steps in proptest::collection::vec((0u8..8, 0u32..40), 1..300),
        ) {
            let (mut history, mut now, mut reports) = (PacketHistory::default(), 0, Vec::new());
            let mut told = 0_usize;
            let mut news = Vec::new();
            for (kind, which) in steps {
                now += 5;
                match kind {
                    0..=3 => _ = history.send(100, at(now)),
                    4 | 5 => _ = history.arrive(history.next().saturating_sub(which), false, at(now)),
                    6 => reports.push(history.report(at(now))),
                    _ if !reports.is_empty() => {
                        let report = reports.remove(which as usize % reports.len());
                        news.clear();
                        history.on_report(&report, at(now), &mut news);
                        told += news.len();
                    }
                    _ => {}
                }
                prop_assert!(told + history.in_flight() as usize / 100 <= history.next() as usize);
                let open = history.packets.iter().filter(|packet| packet.fate != Fate::Resolved).count();
                prop_assert_eq!(history.in_flight(), 100 * open as u64);
            }
        }
    }
}
