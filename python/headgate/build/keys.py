"""The keys of each section of a scenario file as keywords; `make docs` writes them from crates/scenario.

docs/guide/scenarios.md says what each means. A quantity is a text with its unit, as in a file, or a number in the unit
that its type names in quantities.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from headgate.build.named import Qdisc, Traffic
from headgate.build.quantities import Rate, Room, Several, Size, Start, Time


class AccessKeys(TypedDict, total=False):
    """The access link of each flow: `access`, `sender` or `receiver`."""

    rate: Rate
    delay: Time


class StepKeys(TypedDict, total=False):
    """One step of a schedule of rates."""

    at: Time
    rate: Rate


class DirectionKeys(TypedDict, total=False):
    """One direction of a link: `[link.reverse]`."""

    rate: Rate
    schedule: Sequence[StepKeys]
    schedule_period: Time
    trace: str
    slot: Time
    aggregate: Time
    aggregate_gap: Time
    overhead: int | str
    loss: float
    loss_burst: float
    loss_burst_max: int
    loss_at: Sequence[int]
    duplicate: float
    ecn: str
    dscp: int | str
    jitter: Time
    reorder: float
    reorder_by: Time
    limit: Room
    qdisc: str | Qdisc


class BothDirections(TypedDict, total=False):
    """Both directions of a link: `[link]`."""

    delay: Time
    rate: Rate
    schedule: Sequence[StepKeys]
    schedule_period: Time
    trace: str
    slot: Time
    aggregate: Time
    aggregate_gap: Time
    overhead: int | str
    loss: float
    loss_burst: float
    loss_burst_max: int
    loss_at: Sequence[int]
    duplicate: float
    ecn: str
    dscp: int | str
    jitter: Time
    reorder: float
    reorder_by: Time
    limit: Room
    qdisc: str | Qdisc
    reverse: DirectionKeys


class LinkKeys(BothDirections, total=False):
    """`[[link]]`; `from` is written `from_`."""

    name: str
    from_: str
    to: str


class TcpKeys(TypedDict, total=False):
    """`[[tcp]]`."""

    name: str
    profile: str
    flows: int
    from_: str
    to: str
    route: Sequence[str]
    traffic: str | Traffic | Mapping[str, Any]
    cc: str
    recovery: str
    timestamps: bool
    packet: Size
    header: Size
    rate_of: str
    ack: Size
    access: AccessKeys
    sender: AccessKeys
    receiver: AccessKeys
    rtt: Time
    start: Start
    stop: Time
    window: int
    send_buffer: Room
    initial_window: int
    cwnd_beyond_window: bool
    initial_ssthresh: int | str
    delayed_ack: Time
    quick_acks: int | str
    probe_ack_delay: Time
    initial_rto: Time
    min_rto: Time
    max_rto: Time
    rto_granularity: Time
    min_rto_variance: Time
    rttvar_by_round: bool
    rtt_per_ack: bool
    undo: bool
    limited_transmit: bool
    limited_retransmit: bool
    halve_cwnd: bool
    reduce_cwnd: bool
    reduce_once: bool
    once_a_window: bool
    loss_restarts_timer: bool
    partial_deflation: bool
    exit_burst: bool
    slow_but_steady: bool
    pacing: bool
    ecn: bool
    prr: bool
    ecn_timeout: bool
    min_marked_window: int
    ecn_backoff: bool
    ecn_retransmits: bool
    idle_restart: bool
    restart_from_one: bool
    pause_from_ack: bool
    grow_unused: bool
    recent_use: bool
    accecn: bool
    accecn_option: bool
    classic_fallback: bool
    hystart: bool
    abe: bool
    abc: int | str
    count_delivered: bool
    target: Time
    gain: float
    cubic_beta: float
    cubic_full_alpha: bool
    vegas_alpha: float
    vegas_beta: float
    vegas_gamma: float
    vegas_linux: bool
    cubic_hystart: bool
    cubic_whole: bool
    send_jitter: Time
    jitter_bursts: bool
    source: str
    destination: str
    source_port: int | str
    destination_port: int | str
    dscp: int | str
    label: str


class UdpKeys(TypedDict, total=False):
    """`[[udp]]`."""

    name: str
    profile: str
    flows: int
    from_: str
    to: str
    route: Sequence[str]
    traffic: str | Traffic | Mapping[str, Any]
    cc: str
    rate: Rate
    min_rate: Rate
    report_interval: Time
    packet: Size
    header: Size
    feedback: Size
    rate_of: str
    jitter: float
    access: AccessKeys
    sender: AccessKeys
    receiver: AccessKeys
    rtt: Time
    start: Start
    stop: Time
    ecn: bool
    source: str
    destination: str
    source_port: int | str
    destination_port: int | str
    dscp: int | str
    label: str


class ClassKeys(TypedDict, total=False):
    """`[[class]]`."""

    name: str
    parent: str
    weight: float
    protocol: Several
    source: Several
    destination: Several
    source_port: Several
    destination_port: Several
    dscp: Several
    label: Several


class ClassifyKeys(TypedDict, total=False):
    """`[classify]`."""

    flow: str


class RecordKeys(TypedDict, total=False):
    """`[record]`."""

    interval: Time
    events: str
    flows: Sequence[str]
    flow_interval: Time
    capture: Sequence[str]


class TopKeys(TypedDict, total=False):
    """The keys at the top of a file, `[classify]` and `[record]`."""

    name: str
    about: str
    duration: Time
    warmup: Time
    seeds: int | Sequence[int]
    fair: str
    classify: ClassifyKeys
    record: RecordKeys


class DumbbellKeys(TopKeys, BothDirections, total=False):
    """The keywords of `Dumbbell`: the keys at the top of a file, and those of its only link."""


#: Names of keywords in the release before, by class.
OLD_NAMES: Mapping[str, Mapping[str, str]] = {
    "TcpKeys": {"overhead": "send_jitter"},
}

#: Names that other tools use for our keywords.
FOREIGN_NAMES: Mapping[str, str] = {
    "bandwidth": "rate",
    "capacity": "rate",
    "buffer": "limit",
    "buffer_size": "limit",
    "queue": "limit",
    "queue_size": "limit",
    "latency": "delay",
    "qdisc": "qdiscs",
    "discipline": "qdiscs",
    "time": "duration",
    "mss": "packet",
    "congestion_control": "cc",
}
