//! Why scripts do not pass: the rule that the simulator follows instead of Linux's, with its source.

/// A script and the cause, as the page shows it.
const CAUSES: &[(&str, &str)] = &[
    ("tcp/cubic/cubic-bulk-166k", ROUND),
    ("tcp/cubic/cubic-bulk-166k-idle-restart", ROUND),
    (
        "tcp/cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data",
        "An ACK that reports only arrivals out of order does not grow the window (RFC 5681, section 3.1). Linux lets it, \
         once it has seen reordering.",
    ),
    (
        "tcp/cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700",
        "A mark reduces the window to `ssthresh` at once (RFC 3168, section 6.1.2). Linux reduces it by PRR. By the \
         source of 6.1 that gives 5, not the script's 4.",
    ),
    (
        "tcp/fast_recovery/prr-ss-ack-below-snd_una-cubic",
        "Of the segments that an ACK delivers, the one sent last gives RACK's round trip (RFC 8985, section 6.2, step \
         2). Linux takes them in the order of sequence numbers. Here 9001:10001 is therefore found lost, and PRR sends \
         one segment less (RFC 9937, section 6.2).",
    ),
    (
        "tcp/fast_retransmit/fr-4pkt-fack-last-mss",
        "The reordering timer expires at its deadline, 25 ms after the ACK (RFC 8985, section 6.2, step 5). Linux waits \
         in jiffies, and two more. The scripts of `sack` expect the same timer after 27 ms.",
    ),
    (
        "tcp/slow_start/slow-start-fq-ack-per-2pkt",
        "Each paced segment has its own departure time (draft-ietf-ccwg-bbr-06, section 5.6.2). `fq` paces buffers of \
         two segments, and the first ten segments not at all.",
    ),
];

const ROUND: &str = "A round of HyStart ends when its last segment is acknowledged, at any window (RFC 9406, section 4.2; \
     Linux from 6.1.129 on). Slow start therefore ends at 36. Linux 5.16 to 6.1.128 began rounds only from a window of 16 \
     on (\"tcp_cubic: fix incorrect HyStart round start detection\"). The script expects 48, as that error gives; with \
     it, Headgate gives 48 too.";

/// The declared cause of a script that does not pass.
pub fn cause(script: &str) -> Option<&'static str> {
    CAUSES.iter().find(|(name, _)| *name == script).map(|(_, cause)| *cause)
}

/// All scripts with a declared cause.
pub fn declared() -> impl Iterator<Item = &'static str> {
    CAUSES.iter().map(|(name, _)| *name)
}
