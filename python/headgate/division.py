"""How each discipline divided the link, and the one rule that ranks them: the least goodput out of its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import style
from headgate.spread import Figure, figure
from headgate.summary import classes

if TYPE_CHECKING:
    from headgate.results import Result

_MOST_PARTS = 6
_COMPARED = ("goodput_bps", "fair_share_bps")


class Part(NamedTuple):
    """What some of the flows got together, in bit/s, averaged over seeds."""

    name: str
    unresponsive: bool
    flows: int
    goodput_bps: float
    fair_bps: float

    @property
    def share(self) -> float:
        """Goodput by fair share: 1 is fair."""
        return self.goodput_bps / self.fair_bps if self.fair_bps > 0 else 0.0


class Division(NamedTuple):
    """What one discipline made of the link.

    `misplaced_bps` is the sum of |goodput - fair share| over what is compared: TCP and the flows that do not slow down
    where there are both, else the groups, else the flows of the only group.
    """

    label: str
    parts: list[Part]
    misplaced_bps: Figure
    delay_ms_p95: float | None
    jain: float | None

    @property
    def misplaced(self) -> float:
        """The mean of `misplaced_bps` over seeds."""
        return self.misplaced_bps["mean"] or 0.0

    @property
    def has_classes(self) -> bool:
        """Whether the parts are TCP and the flows that do not slow down, rather than groups of one kind."""
        return _both(part.unresponsive for part in self.parts)

    @property
    def goodput_bps(self) -> float:
        """All goodput together."""
        return sum(part.goodput_bps for part in self.parts)

    @property
    def unresponsive_bps(self) -> float:
        """What flows that do not slow down got."""
        return sum(part.goodput_bps for part in self.parts if part.unresponsive)


def divisions(result: Result) -> list[Division]:
    """One division a discipline, the nearest to the fair one first."""
    entries = result.summary()
    looks = style.looks([entry["qdisc"] for entry in entries])
    found = [
        _division(looks[entry["qdisc"]].label, entry, kinds)
        for entry, kinds in zip(entries, classes(result), strict=True)
    ]
    return sorted(found, key=lambda division: division.misplaced)


def leaders(found: list[Division]) -> list[Division]:
    """Those of the ranking `found` that share its first place: down it, while 95 % intervals reach the first one's."""
    best = found[0].misplaced_bps["high"] or 0.0
    return list(takewhile(lambda division: (division.misplaced_bps["low"] or 0.0) <= best, found))


def _division(label: str, entry: dict[str, Any], kinds: dict[str, dict[str, Any]]) -> Division:
    entries = entry["groups"]
    if _both(group["kind"] == "udp" for group in entries):
        compared = [kinds["tcp"], kinds["udp"]]
        parts = [_part(group) for group in compared]
        misplaced = _misplaced(compared)
    else:
        parts = _few([_part(group) for group in entries])
        misplaced = _misplaced(entries) if len(entries) > 1 else _misplaced_within(entries[0])
    p95 = entry["bottleneck"]["queue_delay_ms"]["p95"]["mean"]
    return Division(label, parts, misplaced, p95, entry["jain"]["mean"])


def _both(kinds: Iterable[bool]) -> bool:
    return set(kinds) == {False, True}


def _part(group: dict[str, Any]) -> Part:
    goodput, fair = group["goodput_bps"]["mean"] or 0.0, group["fair_share_bps"]["mean"] or 0.0
    return Part(group["name"], group["kind"] == "udp", group["flows"], goodput, fair)


def _few(parts: list[Part]) -> list[Part]:
    """As many parts as a bar can show, the last of many standing for all others."""
    if len(parts) <= _MOST_PARTS:
        return parts
    shown, rest = parts[: _MOST_PARTS - 1], parts[_MOST_PARTS - 1 :]
    flows, goodput, fair = (sum(column) for column in zip(*(part[2:] for part in rest), strict=True))
    return [*shown, Part("all other groups", rest[0].unresponsive, flows, goodput, fair)]


def _misplaced(groups: list[dict[str, Any]]) -> Figure:
    goodput, fair = (list(zip(*(group[name]["per_seed"] for group in groups), strict=True)) for name in _COMPARED)
    return _distance(goodput, fair)


def _misplaced_within(group: dict[str, Any]) -> Figure:
    """The same over the flows of one group, whose fair shares are equal."""
    flows = zip(*(flow["per_seed"] for flow in group["goodput_bps_per_flow"]), strict=True)
    return _distance(
        flows, ([whole / group["flows"]] * group["flows"] for whole in group["fair_share_bps"]["per_seed"])
    )


def _distance(goodput: Iterable[Sequence[float]], fair: Iterable[Sequence[float]]) -> Figure:
    """The sum of |goodput - fair| in each seed."""
    seeds = zip(goodput, fair, strict=True)
    return figure(sum(abs(got - due) for got, due in zip(*seed, strict=True)) for seed in seeds)
