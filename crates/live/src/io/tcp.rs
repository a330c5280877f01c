//! What Linux knows of a TCP connection, and options of one that no library sets (linux/tcp.h, linux/net_tstamp.h).

use std::io;
use std::os::fd::AsFd;

use headgate_core::{Rate, Span};

use super::sys;

/// A part of `struct tcp_info`: what a connection's sender has done and knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// Segments that are sent and not acknowledged.
    pub unacked: u32,
    /// Bytes that were written and not yet sent.
    pub unsent: u32,
    /// Segments sent again.
    pub retransmits: u32,
    /// Retransmission timeouts; 0 before Linux 6.7, which counts them first.
    pub timeouts: u32,
    /// The smoothed round-trip time.
    pub srtt: Span,
    /// Its mean deviation (RFC 6298's RTTVAR).
    pub rttvar: Span,
    /// The retransmission timeout, backoff included.
    pub rto: Span,
    /// The least round-trip time of late; `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// The slow start threshold, in segments; `None` for no bound.
    pub ssthresh: Option<u32>,
    /// Bytes acknowledged, without the SYN that the kernel counts for one.
    pub acked: u64,
    /// It recovers from a loss, or lowers its window for a mark.
    pub recovers: bool,
    /// Segments that the receiver says came with a mark.
    pub delivered_ce: u32,
}

impl TcpInfo {
    /// What the kernel says of `socket`.
    pub fn of(socket: impl AsFd) -> io::Result<TcpInfo> {
        let info: libc::tcp_info = sys::get(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO)?;
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
            // All ones before the first sample.
            min_rtt: Some(info.tcpi_min_rtt).filter(|micros| *micros != u32::MAX).map(micros),
            ssthresh: Some(info.tcpi_snd_ssthresh).filter(|segments| *segments < UNBOUNDED),
            acked: info.tcpi_bytes_acked.saturating_sub(1),
            recovers: matches!(info.tcpi_ca_state, CWR | RECOVERY),
            delivered_ce: info.tcpi_delivered_ce,
        })
    }

    /// What rules its window, by the simulator's names. After a timeout that is slow start: no segment counts as outstanding.
    pub fn phase(&self) -> &'static str {
        match self.ssthresh {
            _ if self.recovers => "recovery",
            Some(ssthresh) if self.cwnd >= ssthresh => "avoidance",
            _ => "slow_start",
        }
    }

    /// Everything that was written is acknowledged.
    pub fn acked_all(&self) -> bool {
        self.unacked == 0 && self.unsent == 0
    }
}

/// `TCP_INFINITE_SSTHRESH` (net/tcp.h).
const UNBOUNDED: u32 = 0x7fff_ffff;

/// Of `enum tcp_ca_state` (linux/tcp.h): the window falls by proportional rate reduction, after a mark and after a loss.
const CWR: u8 = 2;
const RECOVERY: u8 = 3;

/// What BBR does at `socket`, by the simulator's names; `None` if it does not say. The kernel tells no state, but the gains of
/// pacing and window in 256ths, by which states differ (`bbr_update_gains`, net/ipv4/tcp_bbr.c of 6.18): a window of 1 while it
/// looks for the least round-trip time, of 2 in the steady state, of 2.89 as it begins, paced at 2.89 and then, to drain the
/// queue, at 0.35. Gains are only set with the first sample of the bandwidth.
pub fn bbr_phase(socket: impl AsFd) -> Option<&'static str> {
    let told: [u32; 5] = sys::get(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_CC_INFO).ok()?;
    let [bandwidth, upper_half, _, pacing, cwnd] = told;
    match (pacing, cwnd) {
        (_, 0) => None,
        _ if bandwidth == 0 && upper_half == 0 => Some("startup"),
        (_, ..=256) => Some("probe_rtt"),
        (_, ..=512) => Some("probe_bw"),
        (..256, _) => Some("drain"),
        _ => Some("startup"),
    }
}

/// Options by their numbers; those that libc does not have yet are from linux/tcp.h of 6.18.
const TCP_RTO_MIN_US: i32 = 45;
const TCP_DELACK_MAX_US: i32 = 46;
const TCP_RTO_MAX_MS: i32 = 44;

/// An acknowledgement of the last byte of each write is told on the socket's error queue, as a time without data.
const TOLD_OF_ACKS: u32 =
    libc::SOF_TIMESTAMPING_TX_ACK | libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_TSONLY;

/// The error queue of `socket` tells when all of a write is acknowledged.
pub fn tell_of_acks(socket: impl AsFd) -> io::Result<()> {
    sys::set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &TOLD_OF_ACKS)
}

/// The window that `socket` offers its peer is at most `bytes`.
pub fn clamp_window(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    sys::set(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &bytes)
}

/// Segments leave one by one, at `rate` at the most.
pub fn pace(socket: impl AsFd, rate: Rate) -> io::Result<()> {
    sys::set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &(rate.as_bits() / 8))
}

/// The least and the greatest retransmission timeout of `socket`, and the longest that its acknowledgements wait.
/// A kernel before 6.15 does not know these and keeps its own, and none takes more than 200 ms for the first and the last.
pub fn set_timers(socket: impl AsFd, [least, greatest, delayed]: [Span; 3]) {
    let set = |option, value: u64| {
        let value = i32::try_from(value).unwrap_or(i32::MAX);
        let _ = sys::set(socket.as_fd(), libc::IPPROTO_TCP, option, &value);
    };
    set(TCP_RTO_MIN_US, least.as_nanos() / 1000);
    set(TCP_RTO_MAX_MS, greatest.as_nanos() / 1_000_000);
    set(TCP_DELACK_MAX_US, delayed.as_nanos() / 1000);
}
