"""Expectations of a scenario: `p99 queue delay < 20ms`, or of one discipline, `faba: share tcp > 0.9`."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headgate.analysis import metrics
from headgate.analysis.metrics import Bound
from headgate.errors import UsageError, did_you_mean
from headgate.scenario import Scenario

KEY = "expect"


class Expectation(NamedTuple):
    """An expectation as written, its bound, and the disciplines that it applies to, as in `qdiscs`."""

    line: str
    bound: Bound
    qdiscs: Sequence[str]


def of_file(text: str) -> list[str]:
    """The `expect` lines of a scenario file's text, which must be a valid scenario."""
    return list(tomllib.loads(text).get(KEY, ()))


def read(lines: Iterable[str], scenario: Scenario) -> list[Expectation]:
    """The expectations in `lines`; `UsageError` for a line without a bound or with an unknown name."""
    read = [_read(line, scenario) for line in lines]
    if not read:
        raise UsageError(
            "there is no expectation to check: use --expect, or write a line such as "
            'expect = ["p99 queue delay < 20ms"] into the scenario above its first section'
        )
    return read


def _read(line: str, scenario: Scenario) -> Expectation:
    # Settings of a discipline may have colons; bounds have none.
    owner, colon, text = line.rpartition(":")
    try:
        bound = metrics.bound(text.strip(), scenario)
    except UsageError as error:
        shown = "" if str(error).startswith(repr(line)) else f"{line!r}: "
        raise UsageError(f"expect {shown}{error}") from None
    return Expectation(line, bound, _named(owner.strip(), line, scenario) if colon else scenario.qdiscs)


def _named(owner: str, line: str, scenario: Scenario) -> Sequence[str]:
    """The discipline with exactly these settings, or all disciplines of this name."""
    exact = [spec for spec in scenario.qdiscs if spec == owner]
    matching = exact or [spec for spec in scenario.qdiscs if spec.partition(":")[0] == owner]
    if not matching:
        if any(group.name == owner for group in scenario.groups):
            metric = re.sub(r"\s*([<>])", rf" {owner} \1", line.rpartition(":")[2].strip(), count=1)
            raise UsageError(
                f"expect {line!r}: {owner!r} is a group of flows, and a discipline stands before the colon; "
                f"write {metric!r}"
            )
        known = list(dict.fromkeys(spec.partition(":")[0] for spec in scenario.qdiscs))
        near = did_you_mean(owner, [*scenario.qdiscs, *known])
        disciplines = ", ".join(scenario.qdiscs)
        raise UsageError(f"expect {line!r}: the scenario has no discipline {owner!r}{near} It has: {disciplines}")
    return matching
