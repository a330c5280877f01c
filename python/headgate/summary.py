"""From the tables of a result to its figures: the mean over seeds, with 95 % interval, of everything measured.

docs/reference/json.md says what each figure means; the names here are those of the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.scenario import Group
from headgate.spread import Figure, figure

if TYPE_CHECKING:
    from headgate.results import Result

SCHEMA = 1

Array = npt.NDArray[np.float64]


def document(result: Result) -> dict[str, Any]:
    """The JSON document of a result."""
    return {
        "schema": SCHEMA,
        "scenario": result.scenario.name,
        "config_hash": result.manifest["config_hash"],
        "version": result.manifest["headgate"],
        "results": summarise(result),
    }


def summarise(result: Result) -> list[dict[str, Any]]:
    """One entry a discipline, in the scenario's order."""
    return [_discipline(result, qdisc) for qdisc in result.scenario.qdiscs]


def classes(result: Result) -> list[dict[str, dict[str, Any]]]:
    """For each discipline, the groups of one kind (`tcp`, `udp`) taken together, as the entry of one group."""
    groups = result.scenario.groups
    kinds = list(dict.fromkeys(group.kind for group in groups))
    flows = {kind: sum(group.flows for group in groups if group.kind == kind) for kind in kinds}
    # All TCP flows come before all UDP flows, so a kind is a run of columns just as a group is.
    whole = [Group(kind, kind, flows[kind], None) for kind in kinds]
    grids = (_flows(result, qdisc) for qdisc in result.scenario.qdiscs)
    return [{entry["kind"]: entry for entry in _groups(whole, grid)} for grid in grids]


class Grid:
    """The rows of one discipline as arrays: one row a seed, one column a flow (or one column for a link)."""

    def __init__(self, table: pa.Table, seeds: int) -> None:
        self._table = table
        self._seeds = seeds

    def __getitem__(self, column: str) -> Array:
        values: Array = self._table.column(column).cast(pa.float64()).to_numpy().reshape(self._seeds, -1)
        return values

    def columns(self, prefix: str) -> Iterator[str]:
        """The columns whose names begin with `prefix`."""
        return (name for name in self._table.column_names if name.startswith(prefix))


def _discipline(result: Result, qdisc: str) -> dict[str, Any]:
    scenario = result.scenario
    flows = _flows(result, qdisc)
    name, direction = scenario.bottleneck
    rows = _rows(_rows(result.links, "link", name), "direction", direction)
    link = Grid(_rows(rows, "qdisc", qdisc), len(scenario.seeds))
    cpu = [row["cpu_s"] for row in result.timing if row["qdisc"] == qdisc] or [None] * len(scenario.seeds)
    packets = link["packets"][:, 0]
    return {
        "qdisc": qdisc,
        "seeds": scenario.seeds,
        "bottleneck": _bottleneck(link),
        "jain": figure(_jain(flows["goodput_bps"], flows["fair_share_bps"])),
        "groups": list(_groups(scenario.groups, flows)),
        "cpu_s": figure(cpu),
        "packets_per_cpu_s": figure(n / s if s else None for n, s in zip(packets, cpu, strict=True)),
    }


def _flows(result: Result, qdisc: str) -> Grid:
    return Grid(_rows(result.flows, "qdisc", qdisc), len(result.scenario.seeds))


def _bottleneck(link: Grid) -> dict[str, Any]:
    def column(name: str) -> Figure:
        return figure(link[name][:, 0])

    # As RED-PD has it: packets dropped before they reached the queue neither arrived there nor were dropped there.
    before = link["dropped_prefilter"]
    ambient = ratio(link["dropped"] - before, link["arrived"] - before)
    return {
        "arrived": column("arrived"),
        "sent": column("sent"),
        "dropped": column("dropped"),
        "marked": column("marked"),
        "utilisation": column("utilisation"),
        "ambient_drop_rate": figure(ambient[:, 0]),
        "queue_packets_mean": column("queue_packets_mean"),
        "queue_delay_ms": {part: column(f"delay_ms_{part}") for part in ("mean", "p50", "p95", "p99")},
    }


def _groups(groups: list[Group], flows: Grid) -> Iterator[dict[str, Any]]:
    reasons = [name for name in flows.columns("dropped_") if flows[name].any()]
    first = 0
    for group in groups:
        mine = slice(first, first + group.flows)
        first += group.flows
        yield _group(group, flows, mine, reasons)


def _group(group: Group, flows: Grid, mine: slice, reasons: list[str]) -> dict[str, Any]:
    def total(name: str) -> Array:
        whole: Array = flows[name][:, mine].sum(axis=1)
        return whole

    goodput, fair = flows["goodput_bps"][:, mine], total("fair_share_bps")
    windows = flows["cwnd_mean"][:, mine].mean(axis=1)
    return {
        "name": group.name,
        "kind": group.kind,
        "flows": group.flows,
        "goodput_bps": figure(total("goodput_bps")),
        "goodput_bps_per_flow": [figure(flow) for flow in goodput.T],
        "fair_share_bps": figure(fair),
        "share_of_fair": figure(ratio(total("goodput_bps"), fair)),
        "loss_rate": figure(ratio(total("dropped"), total("arrived"))),
        "mark_rate": figure(ratio(total("marked"), total("arrived"))),
        "drops": {name.removeprefix("dropped_"): figure(total(name)) for name in reasons},
        "timeouts": figure(total("timeouts")),
        "retransmits": figure(total("retransmits")),
        "cwnd_mean": figure(windows),
    }


def _jain(goodput: Array, fair: Array) -> Array:
    """Jain's index of goodput over fair share, over the flows that are due anything: 1 when all are served alike."""
    due = fair > 0
    share = np.divide(goodput, fair, out=np.zeros_like(goodput), where=due)
    return ratio(share.sum(axis=1) ** 2, due.sum(axis=1) * (share**2).sum(axis=1))


def ratio(part: Array, whole: Array) -> Array:
    """`part / whole`; not a number where `whole` is 0."""
    share: Array = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole != 0)
    return share


def _rows(table: pa.Table, column: str, word: str) -> pa.Table:
    """The rows of `table` with this word in `column`."""
    return table.filter(pc.equal(table.column(column).cast(pa.string()), word))
