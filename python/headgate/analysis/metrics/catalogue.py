"""The catalogue of measures: every measure of a result is declared here, once.

A declaration has the key in the JSON document, the name in goals and bounds, unit and meaning, the measuring
function, and the title in the report. The document, its JSON Schema, the names for `tune`, `check` and `sensitivity`,
the report's tables and docs/reference are generated from it. If a measure is a column of a table, `crates/measure`
declares its unit and meaning.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from headgate.analysis.metrics import measuring
from headgate.analysis.metrics.measuring import SPREAD
from headgate.files import tables
from headgate.units import Units


class Measure(NamedTuple):
    """A measure.

    `key` is its key in the JSON document. `name` and `also` are its names in goals and bounds; empty if it has none.
    `take` measures it. `lower` is true if less is better. The report shows it under `title`, and of a distribution only
    the parts in `shown`.
    """

    key: str
    take: Callable[[Any], Any]
    units: Units
    meaning: str
    name: str = ""
    also: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    lower: bool = True
    title: str = ""
    shown: tuple[str, ...] = ()


def _column(table: str, key: str, column: str, take: Callable[[Any], Any], **words: Any) -> Measure:
    """A measure with the unit and meaning of a table's column."""
    declared = tables.COLUMNS[table][column]
    return Measure(key, take, Units.named(declared.unit), declared.meaning, **words)


def _of_link(key: str, column: str = "", **words: Any) -> Measure:
    return _column("links", key, column or key, measuring.of_link(column or key), **words)


def _of_flows(key: str, take: Callable[[str], Callable[[Any], Any]], **words: Any) -> Measure:
    return _column("flows", key, key, take(key), **words)


_QUEUE_DELAY = Measure(
    "queue_delay_ms", measuring.parts_of_link("queue_delay_ms"), Units.TIME,
    "Queueing delay of packets that were sent, of flows at the bottleneck. Flows that do not cross it have that of the "
    "first link on their route that compares disciplines, or else of the slowest. RFC 7928, section 2.6.",
    name="queue delay", parts=SPREAD,
)  # fmt: skip

_DRIFT = Measure(
    "drift", measuring.drift_of("queue_packets"), Units.SHARE,
    "Change from the first to the second half of the window, without sign, over the mean: of the queue length for the "
    "link, of the goodput for flows. 0 if the mean is 0. Large values show that the warm-up was too short.",
    name="drift", title="Drift %",
)  # fmt: skip
_SAMPLES = Measure(
    "independent_samples", measuring.samples_of("queue_packets"), Units.COUNT,
    "Independent samples that a seed's window holds: its intervals over their autocorrelation time, of the queue "
    "length for the link, of the goodput for flows. Null if the window is too short to tell.",
    name="independent samples", also=("samples",), lower=False, title="Independent samples",
)  # fmt: skip

#: Measures of a link, in the document's order.
LINK = (
    _of_link("arrived"),
    _of_link("sent"),
    _of_link("dropped"),
    _of_link("marked"),
    _of_link("utilization", name="utilization", lower=False),
    _of_link("ambient_drop_rate", name="ambient drop rate", title="Ambient drop rate"),
    _of_link("loss_synchronization.events", "loss_events", title="Loss events"),
    _of_link("loss_synchronization.global", "loss_sync_global", title="Flows with a loss per event"),
    _of_link("loss_synchronization.pairwise", "loss_sync_pairwise", title="Chance that another flow loses too"),
    _of_link("queue_packets_mean", name="queue length", also=("queue packets",)),
    _QUEUE_DELAY._replace(title="Delay", shown=("min", "mean", "max")),
    _DRIFT,
    _SAMPLES,
)

#: Measures of flows, from the table `flows`.
COUNTED = (
    _of_flows("goodput_bps", measuring.total, name="goodput", lower=False),
    Measure("goodput_bps_per_flow", measuring.per_flow("goodput_bps"), Units.RATE,
            "Goodput of each flow, in the order of their numbers."),
    _of_flows("throughput_bps", measuring.total, name="throughput", lower=False),
    _of_flows("fair_share_bps", measuring.total),
    Measure("share_of_fair", measuring.quotient("goodput_bps", "fair_share_bps"), Units.RATIO,
            "Goodput over fair share by the scenario's unit of fairness; 1 is fair.", name="share", lower=False),
    Measure("drop_rate", measuring.quotient("dropped", "arrived"), Units.SHARE,
            "Packets dropped over packets that arrived. RFC 7928, section 2.3.", name="drop rate"),
    Measure("mark_rate", measuring.quotient("marked", "arrived"), Units.SHARE,
            "Packets marked (ECN) over packets that arrived. RFC 3168.", name="mark rate"),
    Measure("drops", measuring.by_reason, Units.PACKETS,
            "Packets dropped, by reason. Reasons without a drop in any group and seed of the discipline are left out."),
    _of_flows("timeouts", measuring.total, name="timeouts"),
    _of_flows("retransmits", measuring.total, name="retransmits"),
    _of_flows("cwnd_mean", measuring.mean, name="cwnd", lower=False),
    Measure("limited_by", measuring.limits, Units.SHARE,
            "Share of the active time of TCP flows in which the links of the route (congestion), the window, the "
            "access links or the source limited the sender. Null for UDP and on real packets. T-RAT (Zhang and "
            "others 2002).",
            name="limited by", parts=measuring.LIMITS, title="Limited by", shown=measuring.LIMITS),
    _of_flows("startup_ms", measuring.mean_of_known, name="startup", title="Start-up"),
    Measure("identified", measuring.share_with_value("identified_ms"), Units.SHARE,
            "Share of the flows that a discipline identified: flows with a drop for a reason that only these get.",
            name="identified", lower=False, title="Flows identified"),
    _of_flows("identified_ms", measuring.mean_of_known, title="Identified after"),
    _of_flows("response_ms", measuring.mean_of_known, name="response", title="Response"),
    Measure("late_frame_rate", measuring.quotient("late_frames", "frames"), Units.SHARE,
            "Share of the frames of calls that were not whole at the receiver in time: 100 ms after the camera took "
            "them and the path's least delay. Null without calls.", name="late frames", title="Frames late"),
    _of_flows("freezes_per_minute", measuring.mean_of_known, name="freezes", title="Freezes per minute"),
)  # fmt: skip

#: Measures of flows, from the tables of distributions, intervals and transfers.
DISTRIBUTED = (
    _QUEUE_DELAY._replace(take=measuring.distribution("delays", "queue_delay", *SPREAD)),
    Measure("one_way_delay_ms", measuring.distribution("delays", "one_way_delay", *SPREAD), Units.TIME,
            "Time from sender to receiver, including the sender's access link and its queue. RFC 7679; RFC 7928, "
            "section 2.6.",
            name="one way delay", parts=SPREAD, title="One-way delay", shown=("p50", "p95", "p99")),
    Measure("delay_variation_ms", measuring.delay_variation, Units.TIME,
            "One-way delay less the minimum of the run. RFC 5481, section 4.2.",
            name="delay variation", parts=SPREAD[1:], title="Delay variation", shown=("p95",)),
    Measure("loss_run_packets", measuring.distribution("losses", "run_packets", "mean", "p99", "max"), Units.PACKETS,
            "Packets of a flow lost in a row at the bottleneck. RFC 3357; RFC 7928, section 2.3.",
            parts=("mean", "p99", "max"), title="Packets lost in a row", shown=("mean",)),
    Measure("loss_distance_packets", measuring.distribution("losses", "distance_packets", "mean", "p50"), Units.PACKETS,
            "Packets of a flow from one loss at the bottleneck to the next: 1 if no packet between them survived. "
            "RFC 3357.",
            parts=("mean", "p50"), title="Between losses, packets", shown=("mean",)),
    Measure("loss_interval_ms", measuring.distribution("losses", "interval_ms", "mean", "p50"), Units.TIME,
            "Time from one loss of a flow at the bottleneck to its next.",
            parts=("mean", "p50"), title="Between losses", shown=("mean",)),
    Measure("goodput_variation", measuring.goodput_variation, Units.RATIO,
            "Coefficient of variation (standard deviation over mean) of goodput per interval. RFC 5166, section 2.2.2.",
            name="goodput variation", title="Goodput's variation %"),
    Measure("transfers", measuring.transfers, Units.COUNT, "Transfers that began after the warm-up."),
    Measure("unfinished", measuring.unfinished, Units.SHARE,
            "Share of the transfers that had not finished when the run ended.", name="unfinished", title="Unfinished"),
    Measure("completion_ms", measuring.completion, Units.TIME,
            "Completion time of finished transfers, from the handover to TCP to the last byte at the receiver. RFC "
            "7928, section 2.1.",
            name="completion", also=("completion time",), parts=SPREAD[1:5], title="Completion", shown=("p50", "p95")),
    _DRIFT._replace(take=measuring.drift_of("goodput_bps"), title="Goodput's drift %"),
    _SAMPLES._replace(take=measuring.samples_of("goodput_bps")),
)  # fmt: skip

FLOWS = COUNTED + DISTRIBUTED

JAIN = Measure(
    "jain", measuring.jain, Units.RATIO,
    "Jain's index of goodput over fair share: 1 if all units of fairness, by default flows, get their share. Flows "
    "without a share do not count, nor flows that end and demand no more than it. RFC 5166, section 2.3.1.",
    name="jain", also=("jain index", "fairness"), lower=False,
)  # fmt: skip

MISALLOCATED = Measure(
    "misallocated_bps", measuring.misallocated, Units.RATE,
    "Absolute difference between goodput and fair share, summed over groups; over units if `fair` is not the flow. "
    "`headgate run` ranks disciplines by it.",
    name="misallocated",
)  # fmt: skip

_IN_ORDER = {measure.key: measure for measure in (*LINK, JAIN, MISALLOCATED, *FLOWS)}

#: The measures that goals and bounds can name. A measure of both links and flows appears once.
MEASURES = tuple(measure for measure in _IN_ORDER.values() if measure.name)

OF_LINK = {measure.key: measure for measure in LINK}
OF_FLOWS = {measure.key: measure for measure in (*FLOWS, JAIN)}


def owner(measure: Measure) -> str:
    """The subject of a measure.

    `link` or `flows` (all, a group, a kind), `both` of these, or `all` for all flows together only.
    """
    owners = (measure.key in OF_LINK, measure.key in OF_FLOWS)
    return {(True, False): "link", (False, True): "flows", (True, True): "both", (False, False): "all"}[owners]
