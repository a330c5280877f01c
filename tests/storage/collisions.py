"""Names of one digit, so that two scenarios, runs or searches with the same name are found at once."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from headgate import Scenario, identity
from tests.conftest import SMALL

#: A fifth of a second of two disciplines.
BRIEF = SMALL.replace('"4s"', '"200ms"').replace('warmup = "1s"', 'warmup = "0s"').replace("seeds = 2", "seeds = 1")

Kind = TypeVar("Kind")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names with one digit."""
    monkeypatch.setattr(identity, "DIGITS", 1)


def colliding(make: Callable[[int], Kind], name: Callable[[Kind], object]) -> tuple[Kind, Kind]:
    """Two different objects with the same name."""
    seen: dict[object, Kind] = {}
    for number in range(1, 100):
        made = make(number)
        if (other := seen.setdefault(name(made), made)) is not made:
            return other, made
    raise AssertionError("no collision: the name is longer than one digit")


def with_limit(number: int, **changes: object) -> Scenario:
    return Scenario.parse(BRIEF, set=[f"link.limit={number + 20}p"], **changes)  # type: ignore[arg-type]
