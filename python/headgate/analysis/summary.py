"""Summarizes the tables of a result: every measure as a mean over seeds with its 95 % interval.

The names here are those of the JSON document. docs/reference/json.md explains each.
"""

from collections.abc import Iterable
from typing import Any

from headgate.analysis.accuracy import warnings
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.links import compared
from headgate.analysis.metrics.catalogue import COUNTED, FLOWS, LINK, Measure
from headgate.analysis.metrics.views import FlowsView, LinkView, ResultRows, flow_rows, jain
from headgate.analysis.spread import estimate
from headgate.files.result_tables import ResultTables

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


def by_kind(result: ResultTables) -> list[dict[str, dict[str, Any]]]:
    """For each discipline, the groups of each kind (`tcp`, `udp`) taken together."""
    groups = result.scenario.groups
    alike = {kind: [group for group in groups if group.kind == kind] for kind in dict.fromkeys(g.kind for g in groups)}
    every = [FlowsView(result, qdisc, groups) for qdisc in result.scenario.qdiscs]
    return [{kind: summed(flows.of(mine)) for kind, mine in alike.items()} for flows in every]


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
    return {
        "qdisc": qdisc,
        "seeds": scenario.seeds,
        "bottleneck": figures[0]["figures"],
        "links": figures,
        "jain": estimate(jain(flow_rows(result, qdisc), scenario.groups)),
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
