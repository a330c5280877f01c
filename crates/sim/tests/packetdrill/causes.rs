//! Why scripts do not pass: the rule that the simulator follows instead of Linux's, with its source.

/// A script and the cause, as the page shows it.
const CAUSES: &[(&str, &str)] = &[
    ("tcp/cubic/cubic-bulk-166k", ROUND),
    ("tcp/cubic/cubic-bulk-166k-idle-restart", ROUND),
    ("tcp/cubic/cubic-hystart-delay-min-rtt-jumps-downward", BOUND),
    ("tcp/cubic/cubic-hystart-delay-rtt-jumps-upward", BOUND),
    ("tcp/cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data", BOUND),
    ("tcp/cubic/cubic-rto-ss-ca-cwnd-bump", UNUSED),
    (
        "tcp/cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700",
        "A mark reduces the window at once (RFC 3168, section 6.1.2). Linux reduces it by PRR, as for a loss.",
    ),
    (
        "tcp/fast_recovery/prr-ss-ack-below-snd_una-cubic",
        "PRR follows RFC 9937, section 6.2. Linux 6.1 has the bounds of RFC 6937.",
    ),
    (
        "tcp/fast_retransmit/fr-4pkt-fack-last-mss",
        "RACK's timer expires exactly at its deadline (RFC 8985, section 6.2, step 5). Linux adds two jiffies and rounds up to the next.",
    ),
    ("tcp/limited_transmit/limited-transmit-no-sack", COUNT),
    ("tcp/limited_transmit/limited-transmit-sack", COUNT),
    ("tcp/slow_start/slow-start-ack-per-2pkt-send-5pkt", UNUSED),
    ("tcp/slow_start/slow-start-ack-per-2pkt-send-6pkt", UNUSED),
    ("tcp/slow_start/slow-start-ack-per-4pkt", BOUND),
    ("tcp/slow_start/slow-start-after-idle", BOUND),
    ("tcp/slow_start/slow-start-after-win-update", BOUND),
    ("tcp/slow_start/slow-start-app-limited-9-packets-out", UNUSED),
    (
        "tcp/slow_start/slow-start-fq-ack-per-2pkt",
        "Each paced segment has its own departure time (draft-ietf-ccwg-bbr-06, section 5.6.2). `fq` paces buffers of two segments, and the first ten segments not at all.",
    ),
];

const ROUND: &str = "HyStart (`hystart_update` of Linux 6.1) ends slow start with the ninth ACK of the second round, at 36. The script expects 48, as if a round began at the ACK of 24001. Why is open.";
const BOUND: &str =
    "In slow start, an ACK adds at most two packets (RFC 3465, section 2.2). Linux adds all that it acknowledges.";
const UNUSED: &str = "The window may grow to twice the data in flight since its last reduction, at first twice the initial window (draft-ietf-ccwg-ratelimited-increase). Linux looks back for one round trip.";
const COUNT: &str = "The window grows by the packets acknowledged in order (RFC 3465, section 2.1). Linux counts a packet when it is first reported, also by a duplicate ACK.";

/// The declared cause of a script that does not pass.
pub fn cause(script: &str) -> Option<&'static str> {
    CAUSES.iter().find(|(name, _)| *name == script).map(|(_, cause)| *cause)
}

/// All scripts with a declared cause.
pub fn declared() -> impl Iterator<Item = &'static str> {
    CAUSES.iter().map(|(name, _)| *name)
}
