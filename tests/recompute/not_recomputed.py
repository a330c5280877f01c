"""Columns that captures do not determine, each with its reason. All others are compared."""

#: By table and column. `*` at the end of a column stands for any ending.
NOT_RECOMPUTED = {
    (
        "flows",
        "cwnd_mean",
    ): "Packets do not carry the congestion window; test_senders.py bounds it by the data in flight.",
    ("flows", "frames"): "Captures keep headers only: no packet says which frame of a call it belongs to.",
    ("flows", "late_frames"): "As `frames`.",
    ("flows", "freezes_per_minute"): "As `frames`.",
    (
        "flows",
        "limited_by_*",
    ): "Packets carry neither windows nor the source's data; crates/sim/tests/network/limits.rs has closed forms.",
    ("links", "events"): "Events of the simulator's queue are no packets.",
    ("traces", "cwnd"): "No packet carries the window; test_senders.py compares it with the data in flight.",
    ("traces", "ssthresh"): "State of the sender that no packet carries.",
    ("traces", "srtt_ms"): "Depends on which segment the sender chose to time.",
    ("traces", "rttvar_ms"): "Depends on which segment the sender chose to time.",
    ("traces", "rto_ms"): "Depends on the two before, and on the sender's backoff.",
    ("traces", "phase"): "State of the sender that no packet carries.",
    ("traces", "rate_bps"): "Of UDP only, whose reports a capture keeps as datagrams without contents.",
    ("traces", "receive_rate_bps"): "Of TFRC only, whose reports a capture keeps as datagrams without contents.",
    ("traces", "loss_event_rate"): "Of TFRC only, whose reports a capture keeps as datagrams without contents.",
    ("events", "gauge:*"): "State of the discipline that no packet carries.",
    ("events", "flow:*"): "State of the discipline that no packet carries.",
}
#: Rows of `intervals` with such a metric are not recomputed either.
GAUGES = "gauge:"
