//! Maps a group's keys to the kernel's settings, lists the differences, and rejects unsupported keys.

use std::path::Path;

use aqm::{Ecn, Span};
use headgate_scenario::{Cc, Recovery, Scenario, TcpGroup, UdpGroup};

use super::{ports, traces};
use crate::error::{LiveError, LiveResult};
use crate::hosts::controllers;

/// Header bytes: IPv4 and TCP without options, padded TCP timestamps (RFC 7323, appendix A), IPv4 and UDP.
const TCP: u32 = 40;
const TIMESTAMPS: u32 = 12;
const UDP: u32 = 28;

/// MTU of a link's device: the longest packet.
const MTU: u32 = 1500;

/// The kernel's least MSS (`TCP_MIN_MSS`, net/tcp.h).
const LEAST_MSS: u32 = 88;

/// Largest receive window that is set. The kernel chooses larger windows itself: its buffers grow with the flow.
const LARGEST_CLAMP: u64 = 4 << 20;

/// Longest minimum RTO and delayed ACK of a socket (`TCP_RTO_MIN` and `TCP_DELACK_MAX` in net/tcp.h).
const LONGEST_TIMER: Span = Span::from_millis(200);

#[derive(Clone, Copy, Debug)]
pub struct KernelTcpSettings {
    /// The kernel's name of the congestion control.
    pub cc: &'static str,
    /// MSS of the connection: data plus TCP options.
    pub mss: u32,
    /// Data bytes in a full segment.
    pub data: u32,
    /// Data bytes of that segment as the scenario counts them.
    pub useful_bytes: u32,
    /// Receive window in bytes, if it limits the flow.
    pub window: Option<u32>,
    /// Minimum and maximum RTO, and longest delayed ACK.
    pub timers: [Span; 3],
    /// No delayed ACKs.
    pub quick_acks: bool,
    pub pacing: bool,
    pub ecn: bool,
    /// TOS byte: the DSCP.
    pub tos: u32,
}

impl KernelTcpSettings {
    pub fn of(group: &TcpGroup) -> KernelTcpSettings {
        let options = if has_timestamps(group) { TIMESTAMPS } else { 0 };
        let mss = group.packet.saturating_sub(TCP);
        let window = u64::from(group.window) * u64::from(mss);
        KernelTcpSettings {
            cc: group.cc.kernel().unwrap_or("reno"),
            mss,
            data: mss.saturating_sub(options),
            useful_bytes: group.packet - group.header,
            window: (window <= LARGEST_CLAMP).then_some(window as u32),
            timers: [
                group.min_rto.min(LONGEST_TIMER),
                group.max_rto,
                group.delayed_ack.unwrap_or(LONGEST_TIMER).min(LONGEST_TIMER),
            ],
            quick_acks: group.delayed_ack.is_none(),
            pacing: group.pacing,
            ecn: group.ecn,
            tos: tos(group.headers.dscp, Ecn::NotEct),
        }
    }

    /// Converts the scenario's bytes to bytes written to the socket, so that the number of segments is the same.
    pub fn kernel_bytes(&self, bytes: u64) -> u64 {
        scaled(bytes, self.data, self.useful_bytes)
    }

    /// Converts bytes received to the scenario's bytes.
    pub fn useful_bytes(&self, bytes: u64) -> u64 {
        scaled(bytes, self.useful_bytes, self.data)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct KernelUdpSettings {
    /// Data bytes of a full datagram as the scenario counts them.
    pub useful_bytes: u32,
    /// Header bytes as the scenario counts them.
    pub header: u32,
    /// TOS byte: DSCP and ECN field.
    pub tos: u32,
}

impl KernelUdpSettings {
    pub fn of(group: &UdpGroup) -> KernelUdpSettings {
        let ecn = if group.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        let (useful_bytes, header) = (group.packet - group.header, group.header);
        KernelUdpSettings { useful_bytes, header, tos: tos(group.headers.dscp, ecn) }
    }

    /// Payload of a datagram with `useful_bytes` bytes: its length on the wire is the scenario's.
    pub fn payload(&self, useful_bytes: u32) -> u32 {
        (useful_bytes + self.header).saturating_sub(UDP)
    }

    /// Useful bytes of a datagram with this payload.
    pub fn useful_bytes(&self, payload: u32) -> u32 {
        (payload + UDP).saturating_sub(self.header)
    }
}

fn tos(dscp: u8, ecn: Ecn) -> u32 {
    u32::from(dscp) << 2 | u32::from(ecn.bits())
}

fn scaled(bytes: u64, by: u32, over: u32) -> u64 {
    (u128::from(bytes) * u128::from(by)).div_ceil(u128::from(over.max(1))).try_into().unwrap_or(u64::MAX)
}

/// Rejects scenarios whose flows the kernel cannot run, with the group and the key.
pub fn check_supported(scenario: &Scenario) -> LiveResult<()> {
    unsupported(scenario, &controllers::available()?).map_err(LiveError::Refused)
}

fn unsupported(scenario: &Scenario, available: &str) -> Result<(), String> {
    let (flows, most) = (scenario.total_flows(), ports::MOST_FLOWS);
    if flows > most {
        return Err(format!("{flows} flows are too many for real packets: at most {most}"));
    }
    for group in &scenario.tcp {
        check_cc(group, available)?;
        if group.recovery == Recovery::Tahoe {
            return Err(format!("group {:?}: the kernel's TCP has no `recovery = \"tahoe\"`", group.name));
        }
        if group.send_buffer.is_some() {
            let why = "the kernel counts its own overhead in a send buffer";
            return Err(format!("group {:?}: `send_buffer` is only simulated: {why}; leave it out", group.name));
        }
        if group.accecn {
            return Err(format!("group {:?}: `accecn` is not supported on real packets", group.name));
        }
        check_packet(&group.name, group.packet, TCP + LEAST_MSS)?;
    }
    for group in &scenario.udp {
        if group.is_controlled() {
            let cc = group.cc;
            let known = format!("`cc = \"{cc}\"` is only simulated: the kernel's UDP has no congestion control");
            return Err(format!("group {:?}: {known}", group.name));
        }
        check_packet(&group.name, group.packet, UDP)?;
    }
    Ok(())
}

fn check_cc(group: &TcpGroup, available: &str) -> Result<(), String> {
    let has = |name: &str| available.split_whitespace().any(|known| known == name);
    if group.cc.kernel().is_some_and(has) {
        return Ok(());
    }
    let known = Cc::ALL.iter().filter(|cc| cc.kernel().is_some_and(has)).map(|cc| cc.name());
    let known = known.collect::<Vec<_>>().join(", ");
    Err(format!(
        "group {:?}: the kernel has no congestion control for `cc = {:?}`; available: {known}",
        group.name,
        group.cc.name()
    ))
}

fn check_packet(name: &str, packet: u32, least: u32) -> Result<(), String> {
    match packet {
        packet if packet < least => {
            Err(format!("group {name:?}: `packet` is {packet}B; real packets need at least {least}B"))
        }
        packet if packet > MTU => Err(format!("group {name:?}: `packet` is {packet}B; the link's MTU is {MTU}B")),
        _ => Ok(()),
    }
}

/// Whether a group's segments have timestamps (RFC 7323), or room for them in their headers.
fn has_timestamps(group: &TcpGroup) -> bool {
    group.timestamps || group.header >= TCP + TIMESTAMPS
}

/// Sysctls that `scenario`'s flows need in both hosts, if this kernel has them: names below /proc/sys/net, values.
pub fn sysctls(scenario: &Scenario) -> Vec<(String, String)> {
    let tcp = &scenario.tcp;
    let timestamps = tcp.iter().any(has_timestamps);
    let restarts = tcp.iter().any(|group| group.idle_restart);
    let least = tcp.iter().map(|group| group.min_rto).min().unwrap_or(LONGEST_TIMER);
    let numbers = [
        ("tcp_timestamps", u64::from(timestamps)),
        ("tcp_slow_start_after_idle", u64::from(restarts)),
        ("tcp_rto_min_us", (least.as_nanos() / 1000).max(1)),
        // No connection inherits metrics of an earlier one.
        ("tcp_no_metrics_save", 1),
        // A lost SYN does not disable ECN.
        ("tcp_ecn_fallback", 0),
    ];
    let exists = |name: &str| Path::new("/proc/sys/net/ipv4").join(name).exists();
    let numbers = numbers.into_iter().filter(|(name, _)| exists(name));
    numbers.map(|(name, value)| (format!("ipv4/{name}"), value.to_string())).collect()
}

/// Differences between the kernel's TCP and the scenario, a sentence each.
pub fn differences(scenario: &Scenario) -> Vec<String> {
    type DiffersFrom = fn(&TcpGroup) -> bool;
    let rows: [(DiffersFrom, &str); 11] = [
        (|_| true, "handshakes cross the link, and ACKs with SACK blocks are longer than `ack`"),
        (
            |group| !group.recovery.is_selective(),
            "the kernel uses selective ACKs instead of the `recovery` of the scenario",
        ),
        (|group| !group.rack() || !group.prr, "the kernel uses `recovery = \"rack\"` with `prr`"),
        (|group| group.initial_window != 10, "the kernel's `initial_window` is 10 packets"),
        (|group| group.initial_ssthresh.is_some(), "the kernel's `initial_ssthresh` is unlimited"),
        (|group| group.initial_rto != Span::from_secs(1), "the kernel's `initial_rto` is 1s"),
        (
            |group| group.delayed_ack.is_some(),
            "`delayed_ack` is an upper limit: the kernel adapts the delay, from 40ms on",
        ),
        (|group| group.ecn && group.ecn_retransmits, "the kernel's retransmissions are not ECN-capable"),
        (
            |group| group.delayed_ack.is_some() && group.abc.is_none() && !group.count_delivered,
            "the kernel's window grows by acknowledged bytes, not by ACKs: as with `abc`",
        ),
        (|group| group.abe, "the kernel has no `abe`: a mark reduces the window as much as a loss"),
        (|group| group.send_jitter > Span::ZERO, "no random `send_jitter` before a packet"),
    ];
    let differing = rows.into_iter().filter(|(differs, _)| scenario.tcp.iter().any(differs));
    let sampling =
        |every| format!("`record.flows` samples the kernel's senders every {every} instead of at each change");
    differing.map(|(_, sentence)| sentence.to_string()).chain(traces::interval(scenario).map(sampling)).collect()
}

#[cfg(test)]
mod tests {
    use headgate_scenario::{Changes, UdpCc};

    use super::*;

    fn scenario(groups: &str) -> Scenario {
        let head = "name = \"load\"\nduration = \"1s\"\nqdiscs = [\"droptail\"]\n\
                    link = { rate = \"10Mbit/s\", delay = \"1ms\", limit = \"100p\" }\n";
        Scenario::read(&format!("{head}{groups}"), "load.toml", &Changes::default()).unwrap()
    }

    #[test]
    fn the_error_for_a_feature_that_the_kernel_lacks_names_the_group_and_the_alternatives() {
        let refusal = |groups: &str| unsupported(&scenario(groups), "reno cubic bbr\n").unwrap_err();
        let tahoe = "group \"old\": the kernel's TCP has no `recovery = \"tahoe\"`";
        assert_eq!(refusal("[[tcp]]\nname = \"old\"\nrecovery = \"tahoe\"\n"), tahoe);
        let prague = "group \"new\": the kernel has no congestion control for `cc = \"prague\"`; available: reno, cubic, \
                      bbr";
        assert_eq!(refusal("[[tcp]]\nname = \"new\"\ncc = \"prague\"\n"), prague);
        assert!(refusal("[[tcp]]\ncc = \"dctcp\"\n").contains("`cc = \"dctcp\"`"));
        for cc in UdpCc::ALL.iter().filter(|cc| cc.traits().reports) {
            assert!(
                refusal(&format!("[[udp]]\ncc = \"{cc}\"\n")).contains(&format!("`cc = \"{cc}\"` is only simulated"))
            );
        }
        assert!(refusal("[[tcp]]\nsend_buffer = \"64KB\"\n").contains("`send_buffer` is only simulated"));
        assert!(refusal("[[udp]]\nrate = \"1Mbit/s\"\npacket = \"1501B\"\n").contains("MTU is 1500B"));
        assert!(refusal("[[tcp]]\npacket = \"100B\"\n").contains("at least 128B"));
        assert!(refusal("[[tcp]]\nflows = 40000\n").contains("31744"));
    }

    #[test]
    fn features_of_the_kernel_are_accepted() {
        let fine = scenario("[[tcp]]\nrecovery = \"newreno\"\n[[tcp]]\ncc = \"bbr\"\n[[udp]]\nrate = \"1Mbit/s\"\n");
        assert_eq!(unsupported(&fine, "reno cubic bbr"), Ok(()));
    }

    #[test]
    fn packets_have_the_scenarios_length_on_the_wire() {
        // 1000 bytes on the wire hold 960 bytes of data for the kernel, but count as 1000 in the papers' scenarios.
        let old = scenario("[[tcp]]\nprofile = \"ns2\"\n[[udp]]\nprofile = \"ns2\"\nrate = \"1Mbit/s\"\n");
        let tcp = KernelTcpSettings::of(&old.tcp[0]);
        assert_eq!(
            (tcp.mss, tcp.kernel_bytes(1000), tcp.useful_bytes(960), tcp.window),
            (960, 960, 1000, Some(20 * 960))
        );
        let udp = KernelUdpSettings::of(&old.udp[0]);
        assert_eq!((udp.payload(1000), udp.useful_bytes(972)), (972, 1000));
        let new = scenario("[[tcp]]\n[[tcp]]\nheader = \"52B\"\n");
        let tcp = KernelTcpSettings::of(&new.tcp[0]);
        assert_eq!((tcp.mss, tcp.data, tcp.kernel_bytes(7), tcp.window), (1460, 1460, 7, None));
        let tcp = KernelTcpSettings::of(&new.tcp[1]);
        assert_eq!((tcp.mss, tcp.data, tcp.useful_bytes(1448)), (1460, 1448, 1448));
    }
}
