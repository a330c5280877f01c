"""Lines that say what a result must keep: `p99 queue delay < 20ms`; of one discipline, `faba: share tcp > 0.9`."""

import tomllib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headgate.analysis import metrics
from headgate.analysis.metrics import Bound
from headgate.errors import UsageError, meant
from headgate.scenario import Scenario

KEY = "expect"


class Expectation(NamedTuple):
    """A line as it was written, the bound that it states, and the disciplines that it holds for, as in `qdiscs`."""

    line: str
    bound: Bound
    qdiscs: Sequence[str]


def of_file(text: str) -> list[str]:
    """The `expect` lines of a scenario file's text, which was read as a scenario before."""
    return list(tomllib.loads(text).get(KEY, ()))


def read(lines: Iterable[str], scenario: Scenario) -> list[Expectation]:
    """What the lines expect; `UsageError` for one that states no bound or names what the scenario lacks."""
    read = [_read(line, scenario) for line in lines]
    if not read:
        raise UsageError(
            'nothing is expected: write expect = ["p99 queue delay < 20ms"] into the scenario, above its first '
            "section, or use --expect"
        )
    return read


def _read(line: str, scenario: Scenario) -> Expectation:
    # Settings of a discipline may have colons; bounds have none.
    whose, colon, text = line.rpartition(":")
    try:
        bound = metrics.bound(text.strip(), scenario)
    except UsageError as error:
        raise UsageError(f"expect {line!r}: {error}") from None
    return Expectation(line, bound, _named(whose.strip(), line, scenario) if colon else scenario.qdiscs)


def _named(whose: str, line: str, scenario: Scenario) -> Sequence[str]:
    """The one discipline of these settings, or all of this name."""
    exact = [spec for spec in scenario.qdiscs if spec == whose]
    found = exact or [spec for spec in scenario.qdiscs if spec.partition(":")[0] == whose]
    if not found:
        known = list(dict.fromkeys(spec.partition(":")[0] for spec in scenario.qdiscs))
        near = meant(whose, [*scenario.qdiscs, *known])
        raise UsageError(f"expect {line!r}: the scenario has no {whose!r}{near} It has {', '.join(scenario.qdiscs)}")
    return found
