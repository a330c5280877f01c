"""Compares the memory that runs will take with the memory there is, before they take it.

The simulator estimates a run's memory from its scenario (`estimate_memory` in `crates/sim/src/memory.rs`).
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from headgate import _core, guarded
from headgate.errors import UsageError
from headgate.execution.runner import Watcher, processors
from headgate.scenario import Scenario
from headgate.units import Units

#: Sets a limit for every command, as `--memory-limit` does for one.
VARIABLE = "HEADGATE_MEMORY_LIMIT"

#: Estimates above so many bytes are told.
WORTH_TELLING = 1e9

#: Files that bound the memory of a control group, of version 2 and 1.
_GROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class MemoryLimitError(UsageError):
    """A run that needs more memory than it may take."""


class RunMemory(NamedTuple):
    """The estimated bytes of one run, and its largest item: words and key."""

    total: int
    largest: str
    key: str
    largest_bytes: int


def parse(text: str) -> int:
    """The bytes of a size such as `8GB` or `500MB`. Raises `UsageError` for any other text."""
    try:
        size = Units.SIZE.read(text)
    except ValueError as error:
        raise UsageError(f"the limit of memory: {error}") from None
    if not 1 <= size < float("inf"):
        raise UsageError(f"the limit of memory must be above 0, not {text.strip()!r}")
    return int(size)


def of_run(scenario: Scenario, qdisc_index: int) -> RunMemory:
    """The estimate of a simulated run with the discipline number `qdisc_index`."""
    items = scenario.core.memory(qdisc_index)
    what, key, largest = items[0]
    return RunMemory(sum(size for _, _, size in items), what, key, largest)


def limit_to(text: str | None) -> None:
    """Sets the limit of this process and its children; None leaves it as it is. Raises `UsageError` for no size."""
    if text is not None:
        parse(text)
        os.environ[VARIABLE] = text


def limit() -> int | None:
    """The bytes that runs may take: the limit set, else what is available; None where the system does not tell."""
    given = os.environ.get(VARIABLE)
    if given:
        return parse(given)
    found = [size for size in (_available(), _group_limit()) if size is not None]
    return min(found, default=None)


def check(scenario: Scenario, qdisc_index: int) -> None:
    """Raises `MemoryLimitError` if a large run alone needs more than the limit.

    Each of a sweep's many short runs would spend more time on asking the system than on this estimate.
    """
    size = of_run(scenario, qdisc_index)
    if size.total > WORTH_TELLING or os.environ.get(VARIABLE):
        _refuse_above(limit(), scenario.name, size)


def check_lanes(lanes: Mapping[str, _core.Scenario]) -> None:
    """Raises `MemoryLimitError` if the disciplines of a link's `lanes`, by direction, need more than the limit."""
    sizes = {direction: scenario.table_bytes(0) for direction, scenario in lanes.items()}
    most, total, largest = limit(), sum(sizes.values()), max(sizes, key=sizes.__getitem__)
    if most is None or total <= most:
        return
    raise MemoryLimitError(
        f"the disciplines need about {_size(total)} of memory, but {_size(most)} may be used\n"
        f"  {_size(sizes[largest])} of it are for the tables of the {largest} direction: "
        f"change `qdisc` or `{largest}-qdisc`, or allow more with {VARIABLE}"
    )


def concurrent_runs(scenarios: Iterable[Scenario], threads: int | None, watcher: Watcher) -> int | None:
    """The number of runs at a time if `threads` are wanted: no more than fit in memory; 1 on real packets.

    Two links on one machine would delay each other. Tells `watcher` of large runs, and of fewer threads. Raises
    `MemoryLimitError` if one run alone is too large.
    """
    distinct = {id(each): each for each in scenarios}.values()
    if any(scenario.live for scenario in distinct):
        return 1
    sizes = [(of_run(each, index), each.name) for each in distinct for index in range(len(each.qdiscs))]
    if not sizes:
        return threads  # a search whose settings were all tried has no run left
    largest, name = max(sizes)
    most = limit()
    _refuse_above(most, name, largest)
    wanted = threads or processors()
    fitting = wanted if most is None else max(1, min(wanted, most // max(largest.total, 1)))
    if largest.total > WORTH_TELLING:
        fewer = f": {fitting} at a time fit in the {_size(most)} that may be used" if most and fitting < wanted else ""
        watcher.tell(f"a run takes about {_size(largest.total)} of memory, most of it for {largest.largest}{fewer}")
    return threads if fitting == wanted else fitting


def _refuse_above(most: int | None, name: str, run: RunMemory) -> None:
    if most is None or run.total <= most:
        return
    raise MemoryLimitError(
        f"a run of {name} needs about {_size(run.total)} of memory, but {_size(most)} may be used\n"
        f"  {_size(run.largest_bytes)} of it are for {run.largest}: lower `{run.key}`, "
        f"or allow more with {VARIABLE}"
    )


def _available() -> int | None:
    try:
        lines = guarded.of_kernel(Path("/proc/meminfo")).splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _group_limit() -> int | None:
    for file in _GROUP_LIMITS:
        try:
            text = guarded.of_kernel(file).strip()
        except OSError:
            continue
        if text.isdigit():
            return int(text)
    return None


def _size(count: float) -> str:
    """Bytes in words: `9.8 GB`, `120 MB`."""
    return f"{count / 1e9:.1f} GB" if count >= WORTH_TELLING else f"{max(count / 1e6, 0.1):.3g} MB"
