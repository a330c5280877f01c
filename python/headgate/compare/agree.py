"""The differences between the scenarios of two results."""

import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from headgate.counting import counted
from headgate.errors import UsageError
from headgate.results import Result
from headgate.scenario import Scenario

#: Keys that may differ in any comparison.
FREE = frozenset({"name", "about", "seeds", "qdiscs", "record"})

MISSING = "nothing"


class Difference(NamedTuple):
    """A key with different values in two scenarios, as text."""

    key: str
    values: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.key}: {self.values[0]} in the first, {self.values[1]} in the second"


def agree(results: tuple[Result, Result], allowed: Iterable[str] = ()) -> list[Difference]:
    """The differences between the scenarios of two results, all of which must be `allowed`.

    An allowed key includes the keys below it: `tcp` is every group of TCP flows. Raises `UsageError` for the first
    difference that is not allowed, and for an allowed key that does not differ.
    """
    differing = list(differences(*(result.scenario for result in results)))
    allowed_keys = list(allowed)
    for difference in differing:
        if not any(_below(difference.key, key) for key in allowed_keys):
            still = f"use --allow {difference.key} to compare them anyway"
            raise UsageError(f"the results are of different scenarios: {difference}; {still}")
    for key in allowed_keys:
        if not any(_below(difference.key, key) for difference in differing):
            raise UsageError(f"--allow {key}: the scenarios do not differ in this key")
    return differing


def common(one: Scenario, other: Scenario) -> list[str]:
    """The disciplines of both scenarios, in the first one's order; `UsageError` if there are none."""
    both = [qdisc for qdisc in one.qdiscs if qdisc in other.qdiscs]
    if not both:
        names = (", ".join(scenario.qdiscs) for scenario in (one, other))
        raise UsageError("the results have no discipline in common: {} in the first, {} in the second".format(*names))
    return both


def differences(one: Scenario, other: Scenario) -> Iterator[Difference]:
    """Every key with different values in the canonical forms of two scenarios. Keys only in the second are last."""
    first, second = (tomllib.loads(scenario.to_toml()) for scenario in (one, other))
    for key in dict.fromkeys([*first, *second]):
        if key not in FREE:
            yield from _within(key, first.get(key, MISSING), second.get(key, MISSING))
    for path in dict.fromkeys([*one.inputs, *other.inputs]):
        if one.inputs.get(path) != other.inputs.get(path):
            yield Difference(path, ("one content", "another"))


def _within(key: str, one: Any, other: Any) -> Iterator[Difference]:
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in dict.fromkeys([*one, *other]) if not _of_one_controller(name, one, other)]
        for name in names:
            yield from _within(f"{key}.{name}", one.get(name, MISSING), other.get(name, MISSING))
    elif _tables(one) and _tables(other) and len(one) == len(other):
        for index, (mine, its) in enumerate(zip(one, other, strict=True)):
            yield from _within(key if len(one) == 1 else f"{key}[{index}]", mine, its)
    elif one != other:
        yield Difference(key, (_shown(one), _shown(other)))


def _of_one_controller(name: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the key is missing in one of two groups with different `cc`: then `cc` is the difference."""
    return one.get("cc") != other.get("cc") and (name in one) != (name in other)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _shown(value: Any) -> str:
    if _tables(value):
        return counted(len(value), "table")
    return MISSING if value == MISSING else repr(value)


def _below(key: str, allowed: str) -> bool:
    """Whether `key` is `allowed` or below it; `tcp.cc` is below `tcp` in every group."""
    prefix = allowed.split(".")
    names = key.split(".")[: len(prefix)]
    return prefix in (names, [name.partition("[")[0] for name in names])
