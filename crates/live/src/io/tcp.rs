//! Linux's TCP state and socket options that no library wraps (linux/tcp.h, linux/net_tstamp.h).

use std::io;
use std::os::fd::AsFd;

use aqm::{Rate, Span};

use super::sys;

/// The sender's fields of `struct tcp_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Unacknowledged segments.
    pub unacked: u32,
    /// Unsent bytes in the socket buffer.
    pub unsent: u32,
    pub retransmits: u32,
    /// Retransmission timeouts; 0 before Linux 6.7, which introduced the counter.
    pub timeouts: u32,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// RTTVAR (RFC 6298).
    pub rttvar: Span,
    /// Retransmission timeout with backoff.
    pub rto: Span,
    /// Least round-trip time over a recent window; `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// Slow start threshold in segments; `None` if infinite.
    pub ssthresh: Option<u32>,
    /// Bytes acknowledged, without the SYN that the kernel counts as one.
    pub acked: u64,
    /// Whether the sender is in loss recovery, or reduces its window for a mark.
    pub in_recovery: bool,
    /// Segments acknowledged with an ECN echo.
    pub delivered_ce: u32,
}

impl TcpInfo {
    pub fn of(socket: impl AsFd) -> io::Result<TcpInfo> {
        let info: libc::tcp_info = sys::get_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO)?;
        let micros = |word: u32| Span::from_micros(word.into());
        Ok(TcpInfo {
            cwnd: info.tcpi_snd_cwnd,
            unacked: info.tcpi_unacked,
            unsent: info.tcpi_notsent_bytes,
            retransmits: info.tcpi_total_retrans,
            timeouts: info.tcpi_total_rto.into(),
            srtt: micros(info.tcpi_rtt),
            rttvar: micros(info.tcpi_rttvar),
            rto: micros(info.tcpi_rto),
            // The kernel's initial value is all ones.
            min_rtt: Some(info.tcpi_min_rtt).filter(|micros| *micros != u32::MAX).map(micros),
            ssthresh: Some(info.tcpi_snd_ssthresh).filter(|segments| *segments < INFINITE_SSTHRESH),
            acked: info.tcpi_bytes_acked.saturating_sub(1),
            in_recovery: matches!(info.tcpi_ca_state, CWR | RECOVERY),
            delivered_ce: info.tcpi_delivered_ce,
        })
    }

    /// Phase of the window, by the simulator's names. After a timeout it is slow start.
    pub fn phase(&self) -> &'static str {
        match self.ssthresh {
            _ if self.in_recovery => "recovery",
            Some(ssthresh) if self.cwnd >= ssthresh => "avoidance",
            _ => "slow_start",
        }
    }

    pub fn is_all_acked(&self) -> bool {
        self.unacked == 0 && self.unsent == 0
    }
}

/// `TCP_INFINITE_SSTHRESH` (net/tcp.h).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// `enum tcp_ca_state` (linux/tcp.h): proportional rate reduction, after a mark and after a loss.
const CWR: u8 = 2;
const RECOVERY: u8 = 3;

/// BBR's state at `socket`, by the simulator's names; `None` if unknown. The kernel reports only pacing and window
/// gains in 256ths, which differ by state (`bbr_update_gains`, net/ipv4/tcp_bbr.c of 6.18). The window gain is 1 in
/// ProbeRTT, 2 in ProbeBW, else 2.89; the pacing gain is 2.89 in Startup and 0.35 in Drain. Both are set with the first
/// bandwidth sample.
pub fn bbr_phase(socket: impl AsFd) -> Option<&'static str> {
    let words: [u32; 5] = sys::get_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_CC_INFO).ok()?;
    let [bandwidth, upper_half, _, pacing, cwnd] = words;
    match (pacing, cwnd) {
        (_, 0) => None,
        _ if bandwidth == 0 && upper_half == 0 => Some("startup"),
        (_, ..=256) => Some("probe_rtt"),
        (_, ..=512) => Some("probe_bw"),
        (..256, _) => Some("drain"),
        _ => Some("startup"),
    }
}

/// Options not in libc yet, from linux/tcp.h of 6.18.
const TCP_RTO_MIN_US: i32 = 45;
const TCP_DELACK_MAX_US: i32 = 46;
const TCP_RTO_MAX_MS: i32 = 44;

/// Flags for a timestamp on the error queue, without the data, when the last byte of a write is acknowledged.
const ACK_REPORT_FLAGS: u32 =
    libc::SOF_TIMESTAMPING_TX_ACK | libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_TSONLY;

/// Makes the error queue of `socket` report when a write is acknowledged.
pub fn enable_ack_reports(socket: impl AsFd) -> io::Result<()> {
    sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &ACK_REPORT_FLAGS)
}

/// Limits the window that `socket` advertises to `bytes`.
pub fn clamp_window(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    sys::set_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &bytes)
}

/// Paces segments at up to `rate`.
pub fn pace(socket: impl AsFd, rate: Rate) -> io::Result<()> {
    sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &(rate.as_bits() / 8))
}

/// Sets minimum and maximum RTO and longest delayed ACK, best effort. Kernels before 6.15 lack these options. No kernel
/// accepts more than 200 ms for the minimum RTO and the delayed ACK.
pub fn set_timers(socket: impl AsFd, [least, greatest, delayed]: [Span; 3]) {
    let set = |option, value: u64| {
        let value = i32::try_from(value).unwrap_or(i32::MAX);
        let _ = sys::set_option(socket.as_fd(), libc::IPPROTO_TCP, option, &value);
    };
    set(TCP_RTO_MIN_US, least.as_nanos() / 1000);
    set(TCP_RTO_MAX_MS, greatest.as_nanos() / 1_000_000);
    set(TCP_DELACK_MAX_US, delayed.as_nanos() / 1000);
}
