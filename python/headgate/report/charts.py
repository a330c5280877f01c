"""The numbers of the charts on a page, for a script that draws them. Every chart has a series for each discipline."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from headgate import style
from headgate.analysis import data, links
from headgate.analysis.spread import Estimate, half
from headgate.report import colors
from headgate.results import Result
from headgate.scenario import Group
from headgate.scenario.queues import whose

#: The most flows and points of time that a chart has, so that the size of a page is bounded.
MOST_FLOWS, MOST_TIMES, MOST_GROUPS = 240, 300, 6
#: The shares of packets, in percent, whose longest delay a chart has.
PERCENT = [*range(100), 99.5, 99.9]
#: The scale is logarithmic if the longest p99 is this many times the shortest median, as in the figure.
_WIDE, _FLOOR = 30.0, 0.1

Numbers = list[float | None]


class ChartLook(NamedTuple):
    """How charts show a discipline."""

    label: str
    color: str
    dashes: list[float]


class Chart(NamedTuple):
    """A chart: its title, the question it answers, how to read it, its kind, and its numbers.

    `still` is the figure with the same content, which stands in print and without scripts.
    """

    name: str
    title: str
    question: str
    reading: str
    still: str
    kind: str
    numbers: dict[str, Any]

    @property
    def choices(self) -> list[str]:
        """The names of the sets of numbers among which the reader chooses; empty if there is one."""
        names: list[str] = self.numbers.get("choices", [])
        return names if len(names) > 1 else []


def looks(result: Result) -> list[ChartLook]:
    """The look of each discipline with results."""
    return [
        ChartLook(look.label, colors.both(style.legible(look.color)), [1.6 * part for part in look.dashes[1] or ()])
        for look in style.looks(data.qdiscs(result)).values()
    ]


def as_json(result: Result, charts: Iterable[Chart]) -> str:
    """The labels of the disciplines and the numbers of the charts, as JSON that cannot end a script element."""
    labels = [look.label for look in looks(result)]
    each = {chart.name: {"kind": chart.kind, **chart.numbers} for chart in charts}
    text = json.dumps({"labels": labels, "charts": each}, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def charts(result: Result) -> list[Chart]:
    """Every chart that the result has numbers for."""
    qdiscs = data.qdiscs(result)
    entries = {entry["qdisc"]: entry for entry in result.summary()}
    measured = [entries[qdisc] for qdisc in qdiscs]
    makers: list[Callable[[], Chart | None]] = [
        lambda: _goodput(result, measured),
        lambda: _flows(result, qdiscs),
        lambda: _delay(result, qdiscs),
        lambda: _tradeoff(result, qdiscs),
        lambda: _queue(result, qdiscs),
        lambda: _fairness(measured),
        lambda: _completion(result, qdiscs),
    ]
    return [chart for make in makers if (chart := make()) is not None]


def _goodput(result: Result, entries: list[dict[str, Any]]) -> Chart:
    scenario = result.scenario
    unit, scale = style.unit_of(scenario.rate_bps)
    each = [[group["goodput_bps"] for group in entry["groups"]] for entry in entries]
    fair = [group["fair_share_bps"]["mean"] for group in entries[0]["groups"]]
    several = "Whiskers: margin of error. " if len(scenario.seeds) > 1 else ""
    question = "How much data did each group of flows receive?"
    reading = f"A bar for each discipline: goodput of the group's flows. {several}Horizontal line: their fair share."
    numbers = {
        "names": [f"{group.name} ({group.flows})" if group.flows > 1 else group.name for group in scenario.groups],
        "xl": "Group (flows)",
        "yl": f"Goodput, {unit}",
        "y": [[_rounded(part["mean"], scale) for part in parts] for parts in each],
        "half": [[_half(part, scale) for part in parts] for parts in each],
        "fair": [_rounded(share, scale) for share in fair],
    }
    return Chart("goodput", "Goodput of each group", question, reading, "overview", "bars", numbers)


def _flows(result: Result, qdiscs: list[str]) -> Chart | None:
    unit, scale = style.unit_of(result.scenario.rate_bps)
    groups = [data.groups(result, qdisc) for qdisc in qdiscs]
    total = sum(group.flows for group in groups[0])
    if total < 2:
        return None
    chosen = _chosen([group.flows for group in groups[0]])
    means = [np.concatenate([group.goodput_bps.mean(axis=0) for group in each]) for each in groups]
    fair = np.concatenate([np.atleast_1d(group.fair_bps) for group in groups[0]])
    some = f" The chart has {len(chosen)} of {total} flows, from every group." if len(chosen) < total else ""
    question = "Did each flow get its fair share?"
    reading = (
        "A dot for each flow and discipline, mean over seeds. Point at a dot to read the flow's number and group. "
        f"Horizontal line: the flow's fair share.{some}"
    )
    numbers = {
        "xl": "Flow",
        "yl": f"Goodput, {unit}",
        "x": list(range(len(chosen))),
        "flows": chosen,
        "of": [[group.name, group.flows] for group in groups[0]],
        "y": [[_rounded(value, scale) for value in mean[chosen]] for mean in means],
        "fair": [_rounded(value, scale) for value in fair[chosen]],
    }
    return Chart("flows", "Goodput of each flow", question, reading, "goodput", "points", numbers)


def _chosen(flows: list[int]) -> list[int]:
    """The numbers of the flows in the chart: evenly from each group, so that small groups are complete."""
    most, first, chosen = MOST_FLOWS // len(flows), 0, []
    for count in flows:
        chosen += [first + int(place) for place in np.linspace(0, count - 1, min(count, max(most, 1)))]
        first += count
    return chosen


def _delay(result: Result, qdiscs: list[str]) -> Chart | None:
    pooled = [data.delay(result, qdisc) for qdisc in qdiscs]
    if not any(pooled):
        return None
    groups = result.scenario.groups[:MOST_GROUPS] if len(result.scenario.groups) > 1 else []
    curves = [("all packets", pooled), *((group.name, _of_group(result, qdiscs, group)) for group in groups)]
    question = "How long did packets wait in the queue?"
    reading = f"Read at 95 %: 95 of 100 packets waited at most so long. All seeds together.{links.note(result)}"
    numbers = {
        "xl": "Share of packets, %",
        "yl": "Queueing delay, ms",
        "x": PERCENT,
        "log": _wide([curve for _, each in curves for curve in each if curve is not None]),
        "choices": [name for name, _ in curves],
        "ys": [[_quantiles(curve) for curve in each] for _, each in curves],
    }
    return Chart("delay", "Queueing delay", question, reading, "delay", "lines", numbers)


def _of_group(result: Result, qdiscs: list[str], group: Group) -> list[data.Cdf | None]:
    return [data.delay(result, qdisc, group=group.name, kind=group.kind) for qdisc in qdiscs]


def _wide(curves: Sequence[data.Cdf]) -> float | None:
    """The least value of a logarithmic scale; None for a linear one."""
    longest = max(curve.quantile(0.99) for curve in curves)
    shortest = min(curve.quantile(0.5) for curve in curves)
    return _FLOOR if longest > max(shortest, _FLOOR) * _WIDE else None


def _quantiles(curve: data.Cdf | None) -> Numbers | None:
    return None if curve is None else [_rounded(curve.quantile(percent / 100)) for percent in PERCENT]


def _tradeoff(result: Result, qdiscs: list[str]) -> Chart | None:
    unit, scale = style.unit_of(result.scenario.rate_bps)
    dots = [data.delay_goodput(result, qdisc, scale) for qdisc in qdiscs]
    if not any(len(each) for each in dots):
        return None
    most = max(float(each[:, 1].max()) for each in dots if len(each))
    beyond = " Goodput above the link's rate: packets queued in the warm-up arrive after it."
    question = "How much delay does goodput cost? Top left is best: much goodput, short queueing delay."
    reading = f"A dot for each discipline and seed.{beyond if most * scale > result.scenario.rate_bps else ''}"
    numbers = {
        "xl": "Mean queueing delay, ms",
        "yl": f"Goodput of {whose(result.scenario)}, {unit}",
        "dots": [[[_rounded(value) for value in dot] for dot in each] for each in dots],
    }
    return Chart("tradeoff", "Goodput and queueing delay", question, reading, "tradeoff", "dots", numbers)


def _queue(result: Result, qdiscs: list[str]) -> Chart | None:
    lines = [data.metric(result, qdisc, "queue_packets", MOST_TIMES) for qdisc in qdiscs]
    known = [line for line in lines if line is not None]
    if not known:
        return None
    times = max((line.time_s for line in known), key=len)
    seed, warmup = result.scenario.seeds[0], result.scenario.warmup_s
    warming = f" The first {style.plain(warmup)} s are the warm-up." if warmup else ""
    reading = f"Seed {seed}.{warming} Drag to enlarge a part; double-click to see all.{links.note(result)}"
    question = "How many packets waited in the queue?"
    numbers = {
        "xl": "Time, s",
        "yl": "Queue, packets",
        "x": [_rounded(time) for time in times],
        "y": [None if line is None else _at(times, line) for line in lines],
    }
    return Chart("queue", "Queue length over time", question, reading, "queue", "lines", numbers)


def _at(times: data.Array, line: data.TimeSeries) -> Numbers:
    """The first seed of a series at these times. Runs on real packets have measured at slightly different ones."""
    return [_rounded(value) for value in np.interp(times, line.time_s, line.first, right=np.nan)]


def _fairness(entries: list[dict[str, Any]]) -> Chart | None:
    scales = {
        f"{style.plain(scale['scale_s'])} s": [entry["jain_by_scale"][place]["mean"] for entry in entries]
        for place, scale in enumerate(entries[0]["jain_by_scale"])
    }
    known = {name: means for name, means in scales.items() if any(mean["mean"] is not None for mean in means)}
    if not known:
        return None
    # The slots are by flow, so the whole run is their neighbor only by flow.
    by_flow = [part["jain"] for entry in entries for part in entry["fairness"] if part["unit"] == "flow"]
    columns = known | ({"whole run": by_flow} if by_flow else {})
    each = list(zip(*columns.values(), strict=True))
    question = "Do flows share fairly within a short time too?"
    reading = "Jain's index is 1 if every flow has its fair share in each slot of that length."
    numbers = {
        "names": list(columns),
        "xl": "Length of a slot",
        "yl": "Jain's index",
        "y": [[_rounded(part["mean"]) for part in parts] for parts in each],
        "half": [[_half(part) for part in parts] for parts in each],
    }
    return Chart("fairness", "Fairness by time scale", question, reading, "fairness", "lines", numbers)


def _completion(result: Result, qdiscs: list[str]) -> Chart | None:
    every = [data.transfers(result, qdisc).seconds for qdisc in qdiscs]
    if not any(np.isfinite(each).any() for each in every):
        return None
    question = "How long did transfers take?"
    reading = "Read at 50 %: half of them took at most so long. Transfers that had not finished count as longest."
    numbers = {
        "xl": "Share of transfers, %",
        "yl": "Completion time, s",
        "x": PERCENT,
        "log": 0.001,
        "y": [_ordered(each) for each in every],
    }
    return Chart("completion", "Completion time of transfers", question, reading, "completion", "lines", numbers)


def _ordered(seconds: data.Array) -> Numbers | None:
    """The time within which each share of the transfers had finished; None where it had not."""
    if not len(seconds):
        return None
    ranked = np.sort(np.where(np.isfinite(seconds), seconds, np.inf))
    places = [min(len(ranked) - 1, max(0, math.ceil(percent / 100 * len(ranked)) - 1)) for percent in PERCENT]
    return [_rounded(float(ranked[place])) for place in places]


def _half(measured: Estimate, scale: float = 1.0) -> float | None:
    return _rounded(half(measured), scale) if half(measured) else None


def _rounded(value: float | None, scale: float = 1.0) -> float | None:
    """A number with four significant digits: more cannot be seen, and would double the size of the page."""
    if value is None or not math.isfinite(value):
        return None
    number = float(f"{value / scale:.4g}")
    return int(number) if number == int(number) else number
