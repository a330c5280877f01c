"""A result with synthetic numbers and the real schemas of tables, for tests of figures and the report."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pytest

import headgate
from headgate import plot
from headgate.analysis.summary import summarize
from headgate.files import tables
from headgate.scenario import Group
from headgate.scenario.fair import FairUnit
from headgate.scenario.queues import Queue, Way

if TYPE_CHECKING:
    from collections.abc import Callable

REASONS = (
    "overflow", "early", "forced", "flow_limit", "unresponsive", "prefilter", "match", "heavy_hitter", "bucket",
    "sojourn", "overload",
)  # fmt: skip
TEXT = pa.dictionary(pa.int32(), pa.string())
PACKET = 512
#: A number in each column of flows that has one for every flow. A new column needs no change here.
MEASURED = {
    name: 0.0 for name, column in tables.COLUMNS["flows"].items() if not column.nullable and column.kind == "f64"
}
PLACE = {"link": "bottleneck", "direction": "forward"}


@dataclass
class Scenario:
    """The parts of a scenario that figures read."""

    name: str = "made-up"
    live: bool = False
    about: str = "Nine TCP flows and an unresponsive flow."
    duration_s: float = 100.0
    warmup_s: float = 20.0
    seeds: list[int] = field(default_factory=lambda: [1, 2, 3, 4, 5])
    qdiscs: list[str] = field(default_factory=lambda: ["droptail", "red", "sfb:bins=46,levels=1", "faba"])
    rate_bps: float = 10e6
    bottleneck: tuple[str, str] = ("bottleneck", "forward")
    groups: list[Group] = field(
        default_factory=lambda: [Group("tcp", "tcp", 9, None), Group("cbr", "udp", 1, 5e6, responsive=False)]
    )

    core: Any = None
    prototypes: dict[str, type] = field(default_factory=dict)
    inputs: dict[str, bytes] = field(default_factory=dict)

    @property
    def queues(self) -> list[Queue]:
        """The bottleneck, forward with every group."""
        return [Queue("bottleneck", "forward", self.rate_bps, None, self.groups),
                Queue("bottleneck", "reverse", self.rate_bps, "droptail", [])]  # fmt: skip

    @property
    def ways(self) -> list[Way]:
        """All flows together."""
        return [Way("", self.rate_bps, self.groups)]

    @property
    def fair_units(self) -> list[FairUnit]:
        """Each flow is one."""
        return [FairUnit(cast(headgate.Scenario, self), "flow")]

    def to_toml(self) -> str:
        """Enough to look like a scenario."""
        rate = f"{self.rate_bps / 1e6:g}Mbit/s"
        link = f'name = "bottleneck"\nrate = "{rate}"\ndelay = "14ms"\nlimit = "780p"\nqdisc = "compared"\n'
        return f"name = {json.dumps(self.name)}\n[link]\n{link}"


class Result:
    """Tables of synthetic numbers in the shape of `headgate.Result`."""

    def __init__(
        self, scenario: Scenario, idle: bool = False, interval_s: float = 0.5, transferring: bool = False
    ) -> None:
        self.scenario, self.idle, self.interval_s = scenario, idle, interval_s
        self.transferring = transferring
        self.manifest: dict[str, Any] = {"headgate": "0.0.0", "config_hash": "0123456789abcdef" * 4}
        self.live: dict[str, Any] | None = None
        self.timing: list[dict[str, Any]] = []
        self.flows = self._flows()
        self.links = self._links()
        self.delays = self._delays()
        self.intervals = self._intervals()
        self.losses = self._losses()
        self.fairness = self._fairness()
        self.transfers = self._transfers()

    def _each(self) -> list[tuple[int, str, int]]:
        return [
            (place, qdisc, seed) for place, qdisc in enumerate(self.scenario.qdiscs) for seed in self.scenario.seeds
        ]

    def _flows(self) -> pa.Table:
        rows = []
        members = [(group.name, group.kind) for group in self.scenario.groups for _ in range(group.flows)]
        for place, qdisc, seed in self._each():
            # Weights divide 93 % of the link, so that no more arrives than the link can carry.
            rng = np.random.default_rng([place, seed])
            greed = np.array([1 + 4 / (1 + place) if kind == "udp" else 1.0 for _, kind in members])
            weights = greed * np.clip(rng.normal(1, 0.1, len(members)), 0.1, None)
            goodput = weights / weights.sum() * (0.0 if self.idle else 0.93 * self.scenario.rate_bps)
            for flow, (group, kind) in enumerate(members):
                fair = 0.93 * self.scenario.rate_bps / len(members)
                named = {"qdisc": qdisc, "seed": seed, "flow": flow, "group": group, "kind": kind}
                rows.append(MEASURED | named | self._counts(float(goodput[flow]), fair, kind, place))
        counts = ["arrived", "sent", "sent_bytes", "dropped", "marked", "retransmits", "timeouts"]
        counts += [f"{what}_{why}" for what in ("dropped", "marked") for why in REASONS]
        return self._table(rows, counts)

    def _counts(self, goodput: float, fair: float, kind: str, place: int) -> dict[str, Any]:
        sent = int(goodput * 80 / 8 / PACKET)
        dropped = dict.fromkeys(REASONS, 0)
        dropped["overflow" if place == 0 else "early"] = sent // 50
        row = {
            "arrived": sent + sent // 50,
            "sent": sent,
            "sent_bytes": sent * PACKET,
            "dropped": sent // 50,
            "marked": 0,
            "goodput_bps": goodput,
            "fair_share_bps": fair,
            "share_of_fair": goodput / fair,
            "retransmits": sent // 60,
            "timeouts": 1,
            "cwnd_mean": None if kind == "udp" else 8.5,
            "queue_delay_ms_mean": None if self.idle else 40.0 / (place + 1),
            "limited_by_link_ms": None if kind == "udp" else 1000.0,
            **{f"limited_by_{limit}_ms": None if kind == "udp" else 0.0 for limit in ("window", "access", "source")},
            **dict.fromkeys(("frames", "late_frames", "freezes_per_minute")),
            "startup_ms": None if self.idle else 25.0,
            "identified_ms": 400.0 if kind == "udp" and place == 2 else None,
            "response_ms": 2000.0 if kind == "udp" and place == 2 else None,
        }
        row |= {f"dropped_{why}": count for why, count in dropped.items()}
        return row | {f"marked_{why}": 0 for why in REASONS}

    def _links(self) -> pa.Table:
        rows = []
        for place, qdisc, seed in self._each():
            waits = None if self.idle else np.array([0, 150, 180, 300, 310, 320]) / (1 + 2 * place) * (1 + seed / 100)
            packets = 0.0 if self.idle else 400 / (1 + 2 * place)
            for direction in ("forward", "reverse"):
                rows.append(
                    {
                        "qdisc": qdisc,
                        "seed": seed,
                        "link": "bottleneck",
                        "direction": direction,
                        "compared": direction == "forward",
                        "arrived": 0,
                        "sent": 0,
                        "dropped": 0,
                        "marked": 0,
                        "utilization": 0.0 if self.idle else 0.98,
                        "queue_packets_mean": packets,
                        "queue_bytes_mean": packets * PACKET,
                        "packets": 200_000 if direction == "forward" else None,
                        "ambient_drop_rate": None if self.idle else 0.02,
                        "loss_events": 0 if self.idle else 40,
                        "loss_sync_global": None if self.idle else 0.5,
                        "loss_sync_pairwise": None if self.idle else 0.4,
                    }
                    | {
                        f"queue_delay_ms_{name}": None if waits is None else float(waits[at])
                        for at, name in enumerate(("min", "mean", "p50", "p95", "p99", "max"))
                    }
                )
        return self._table(rows, ["arrived", "sent", "dropped", "marked", "packets", "loss_events"])

    def _delays(self) -> pa.Table:
        rows = []
        for place, qdisc, seed in [] if self.idle else self._each():
            rng = np.random.default_rng([place, seed, 1])
            waits = np.clip(rng.normal(180 / (1 + 2 * place), 40 / (1 + place), 4000), 0.0, None)
            count, edges = np.histogram(waits, bins=80)
            rows += [
                self._distribution_row(qdisc, seed, measure)
                | {"delay_ms": (low + high) / 2 + more, "count": int(number)}
                for measure, more in (("queue_delay", 0.0), ("one_way_delay", 25.0))
                for low, high, number in zip(edges, edges[1:], count, strict=False)
                if number
            ]
        return pa.Table.from_pylist(rows, schema=self._distribution_schema("delay_ms"))

    def _losses(self) -> pa.Table:
        rows = [
            self._distribution_row(qdisc, seed, measure) | {"value": value, "count": 50 + place}
            for place, qdisc, seed in ([] if self.idle else self._each())
            for measure, value in (("run_packets", 1.0), ("distance_packets", 40.0), ("interval_ms", 90.0))
        ]
        return pa.Table.from_pylist(rows, schema=self._distribution_schema("value"))

    def _fairness(self) -> pa.Table:
        # A single flow has no fairness.
        slots = not self.idle and sum(group.flows for group in self.scenario.groups) > 1
        rows = [
            {
                "qdisc": qdisc,
                "seed": seed,
                "scale_s": scale,
                "slots": int(80 / scale) if slots else 0,
                "jain_mean": 1 - (0.5 - 0.1 * row) / (1 + place) + seed / 200 if slots else None,
                "jain_min": 0.3 if slots else None,
            }
            for place, qdisc, seed in self._each()
            for row, scale in enumerate((0.1, 1.0, 10.0))
        ]
        return self._table(rows, ["slots"])

    def _transfers(self) -> pa.Table:
        # Of 200, the last ten have not finished; the first of each seed begins in the warm-up.
        rows = [
            {
                "qdisc": qdisc,
                "seed": seed,
                "flow": 0,
                "group": self.scenario.groups[0].name,
                "start_ns": 0 if turn == 0 else int(50e9),
                "bytes": 1000 << (turn % 10),
                "completion_ms": None if turn >= 190 else 20.0 * (1 + place) + (1 << (turn % 10)) + turn / 10,
            }
            for place, qdisc, seed in self._each()
            for turn in range(0 if self.idle or not self.transferring else 200)
        ]
        kinds = [
            ("qdisc", TEXT),
            ("seed", pa.uint64()),
            ("flow", pa.uint32()),
            ("group", TEXT),
            ("start_ns", pa.uint64()),
        ]
        schema = pa.schema([*kinds, ("bytes", pa.uint64()), ("completion_ms", pa.float64())])
        return pa.Table.from_pylist(rows, schema=schema)

    def _distribution_row(self, qdisc: str, seed: int, measure: str) -> dict[str, Any]:
        """The columns that all rows of a distribution of the first group share."""
        link = dict.fromkeys(PLACE) if measure == "one_way_delay" else PLACE
        group = self.scenario.groups[0]
        return {"qdisc": qdisc, "seed": seed, "measure": measure, **link, "group": group.name, "kind": group.kind}

    def _distribution_schema(self, value: str) -> pa.Schema:
        words = [(name, TEXT) for name in ("measure", "link", "direction", "group", "kind")]
        return pa.schema(
            [("qdisc", TEXT), ("seed", pa.uint64()), *words, (value, pa.float64()), ("count", pa.uint64())]
        )

    def _intervals(self) -> pa.Table:
        schema = pa.schema(
            [("qdisc", TEXT), ("seed", pa.uint64()), ("time_s", pa.float64()), ("metric", TEXT), ("link", TEXT),
             ("direction", TEXT), ("group", TEXT), ("value", pa.float64())]
        )  # fmt: skip
        parts = []
        time = np.arange(1, int(self.scenario.duration_s / self.interval_s) + 1) * self.interval_s
        for place, qdisc, seed in self._each():
            rng = np.random.default_rng([place, seed, 2])
            queue = np.zeros_like(time) if self.idle else np.abs(400 / (1 + 2 * place) + 60 * np.sin(time / 3 + seed)
                                                                 + rng.normal(0, 15, len(time)))  # fmt: skip
            metrics = {"queue_packets": queue, "queue_bytes": queue * PACKET}
            if not qdisc.startswith("droptail"):
                metrics |= {"gauge:average_queue": queue * 0.9, "gauge:drop_probability": queue / 1000}
            for metric, value in metrics.items():
                columns = [
                    [qdisc] * len(time),
                    [seed] * len(time),
                    time,
                    [metric] * len(time),
                    *([word] * len(time) for word in PLACE.values()),
                    [None] * len(time),
                    value,
                ]
                parts.append(
                    pa.table([pa.array(c, t) for c, t in zip(columns, schema.types, strict=True)], schema=schema)
                )
        return pa.concat_tables(parts)

    def _table(self, rows: list[dict[str, Any]], counts: list[str]) -> pa.Table:
        kinds = {
            "qdisc": TEXT,
            "group": TEXT,
            "kind": TEXT,
            "link": TEXT,
            "direction": TEXT,
            "compared": pa.bool_(),
            "seed": pa.uint64(),
            "flow": pa.uint32(),
        }
        kinds |= dict.fromkeys(counts, pa.uint64())
        return pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds.get(name, pa.float64())) for name in rows[0]]))

    def summary(self) -> list[dict[str, Any]]:
        """Per discipline, in the shape of the JSON document."""
        return summarize(self)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def make() -> Callable[..., Result]:
    """Makes a result from changes to the ordinary scenario."""

    def _make(idle: bool = False, interval_s: float = 0.5, transferring: bool = False, **changes: Any) -> Result:
        return Result(Scenario(**changes), idle, interval_s, transferring)

    return _make


@pytest.fixture(scope="session")
def ordinary(make: Callable[..., Result]) -> Result:
    """The ordinary result; tests that change it make their own."""
    return make()


@pytest.fixture(scope="session")
def drawn(ordinary: Result) -> dict[str, plot.Picture]:
    """The ordinary result's pictures, drawn once for all tests."""
    return plot.pictures(ordinary)  # type: ignore[arg-type]
