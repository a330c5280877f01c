"""Summarizes the tables of a result: every measure as a mean over seeds with its 95 % interval.

The names here are those of the JSON document. docs/reference/json.md explains each.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from headgate.analysis.accuracy import warnings
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.links import compared
from headgate.analysis.metrics import measuring
from headgate.analysis.metrics.catalogue import COUNTED, FLOWS, LINK, Measure
from headgate.analysis.metrics.rows import ResultRows
from headgate.analysis.metrics.views import FlowsView, LinkView
from headgate.analysis.spread import estimate
from headgate.files.result_tables import ResultTables
from headgate.scenario import Group, Scenario

SCHEMA = 2


def document(result: ResultTables) -> dict[str, Any]:
    """The JSON document of a result."""
    whole = {
        "schema": SCHEMA,
        "scenario": result.scenario.name,
        "config_hash": result.manifest["config_hash"],
        "version": result.manifest["headgate"],
        "results": summarize(result),
    }
    if result.live is not None:
        whole["live"] = {**result.live, "warnings": warnings(result.live)}
    return whole


def summarize(result: ResultTables) -> list[dict[str, Any]]:
    """One entry per discipline, in the scenario's order."""
    return [_discipline(result, qdisc) for qdisc in result.scenario.qdiscs]


class Traffic(NamedTuple):
    """The groups of one kind (`tcp`, `udp`) that a link carries in one direction, empty if the scenario has only one.

    `rate_bps` is the rate of the link in this direction, in bit/s.
    """

    kind: str
    direction: str
    rate_bps: float
    groups: list[Group]

    @property
    def name(self) -> str:
        """`tcp`, or `tcp forward`."""
        return f"{self.kind} {self.direction}".rstrip()


def traffic(scenario: Scenario) -> list[Traffic]:
    """The traffic of a scenario by direction and kind. Goodputs of opposite directions are never added."""
    every = [
        Traffic(kind, way.direction, way.rate_bps, [group for group in way.groups if group.kind == kind])
        for way in scenario.ways
        for kind in ("tcp", "udp")
    ]
    return [each for each in every if each.groups]


def by_traffic(result: ResultTables) -> list[dict[str, dict[str, Any]]]:
    """For each discipline, the measures of each `Traffic` by its name."""
    parts = traffic(result.scenario)
    every = [FlowsView(result, qdisc, result.scenario.groups) for qdisc in result.scenario.qdiscs]
    return [{part.name: summed(flows.of(part.groups)) for part in parts} for flows in every]


def summed(flows: FlowsView) -> dict[str, Any]:
    """The measures of flows taken together. The entry is like that of a group, without name and distributions."""
    return {"flows": len(flows.columns), **taken(COUNTED, flows)}


def taken(measures: Iterable[Measure], view: FlowsView | LinkView) -> dict[str, Any]:
    """The measures of a view, nested as in the document: the key `a.b` becomes `b` within `a`."""
    measured: dict[str, Any] = {}
    for measure in measures:
        *outer, key = measure.key.split(".")
        entry = measured.setdefault(outer[0], {}) if outer else measured
        entry[key] = measure.take(view)
    return measured


def _discipline(result: ResultTables, qdisc: str) -> dict[str, Any]:
    scenario = result.scenario
    links = {direction: LinkView(result, qdisc, direction) for direction in compared(result)}
    figures = [{**direction._asdict(), "figures": taken(LINK, link)} for direction, link in links.items()]
    cpu = [row["cpu_s"] for row in result.timing if row["qdisc"] == qdisc] or [None] * len(scenario.seeds)
    packets = next(iter(links.values()))["packets"]
    each = zip(scenario.groups, FlowsView.each(result, qdisc), strict=True)
    fairness = ResultRows(ColumnArrays.of(result, "fairness").where(qdisc=qdisc), len(scenario.seeds))
    by_unit = measuring.fairness(FlowsView(result, qdisc, scenario.groups))
    return {
        "qdisc": qdisc,
        "seeds": scenario.seeds,
        "bottleneck": figures[0]["figures"],
        "links": figures,
        "jain": by_unit[0]["jain"],
        "fairness": by_unit,
        "jain_by_scale": _jain_by_scale(fairness),
        "groups": [{**_named(group.name, group.kind, flows), **taken(FLOWS, flows)} for group, flows in each],
        "cpu_s": estimate(cpu),
        "packets_per_cpu_s": estimate(n / s if s else None for n, s in zip(packets, cpu, strict=True)),
    }


def _jain_by_scale(rows: ResultRows) -> list[dict[str, Any]]:
    return [
        {
            "scale_s": float(scale),
            "slots": estimate(rows["slots"][:, index]),
            "mean": estimate(rows["jain_mean"][:, index]),
            "min": estimate(rows["jain_min"][:, index]),
        }
        for index, scale in enumerate(rows["scale_s"][0])
    ]


def _named(name: str, kind: str, flows: FlowsView) -> dict[str, Any]:
    return {"name": name, "kind": kind, "flows": len(flows.columns)}
