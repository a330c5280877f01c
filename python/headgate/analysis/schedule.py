"""The changes that a scenario schedules within its measured window: such a window has no steady state to reach."""

import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np

from headgate import style
from headgate.analysis.columns import ColumnArrays
from headgate.files.result_tables import ResultTables
from headgate.scenario import Scenario
from headgate.units import Units

#: Transfers that end later than this share of the window hardly change its mean.
_LATE = 0.95


def scheduled(result: ResultTables) -> str:
    """The first change within the window, such as `the flows of “cbr” start until 20 s`; empty without any."""
    return next(changes(result.scenario), "") or next(_ended(result), "")


def changes(scenario: Scenario) -> Iterator[str]:
    """Every change of rates, and every start and stop of flows that are to stay, after the warm-up."""
    document = tomllib.loads(scenario.to_toml())
    for group in (*document.get("tcp", []), *document.get("udp", [])):
        yield from _of_group(group, scenario)
    links = document["link"] if isinstance(document["link"], list) else [document["link"]]
    for link in links:
        for direction in (link, link.get("reverse", {})):
            yield from _of_link(link["name"], direction, scenario)


def _of_group(group: dict[str, Any], scenario: Scenario) -> Iterator[str]:
    name = f"the flows of “{group['name']}”"
    started = _last_start(group, scenario)
    if started > scenario.warmup_s:
        yield f"{name} start until {style.number(started)} s"
    stop = group["stop"]
    if stop != "off" and scenario.warmup_s < _seconds(stop) < scenario.duration_s:
        yield f"{name} stop at {style.number(_seconds(stop))} s"


def _last_start(group: dict[str, Any], scenario: Scenario) -> float:
    """The latest time at which a flow of a group may start, in seconds. Arrivals at random have no schedule."""
    start = group["start"]
    if isinstance(start, str):
        return _seconds(start.rpartition("..")[2])
    brief = any(each.name == group["name"] and each.brief for each in scenario.groups)
    if "every" not in start or brief:
        return 0.0
    steps = -(-group["flows"] // start["flows"])
    return float(steps - 1) * _seconds(start["every"]) + _seconds(start.get("within", "0s"))


def _of_link(name: str, direction: dict[str, Any], scenario: Scenario) -> Iterator[str]:
    if "trace" in direction:
        yield f"the rate of link {name} follows a trace"
    times = [_seconds(step["at"]) for step in direction.get("schedule", [])]
    period = _seconds(direction["schedule_period"]) if "schedule_period" in direction else None
    if times and (period is not None or max(times) > scenario.warmup_s):
        yield f"the rate of link {name} changes"


def _ended(result: ResultTables) -> Iterator[str]:
    """The groups without arrivals whose transfers all end within the window."""
    scenario = result.scenario
    rows = ColumnArrays.of(result, "transfers")
    groups = tomllib.loads(scenario.to_toml())
    for group in (*groups.get("tcp", []), *groups.get("udp", [])):
        ends = rows.where(group=group["name"])["end_ns"] / 1e9
        if isinstance(group["start"], str) and len(ends) and np.isfinite(ends).all():
            window = scenario.duration_s - scenario.warmup_s
            if scenario.warmup_s < ends.max() < scenario.warmup_s + _LATE * window:
                yield f"the transfers of “{group['name']}” end at {style.number(float(ends.max()))} s"


def _seconds(text: str) -> float:
    return float(Units.TIME.read(text)) / 1e3
