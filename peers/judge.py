"""Compares the figures of two simulators: means over seeds, their intervals, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headgate.analysis.spread import Estimate, estimate
from peers.declare import Case
from peers.runs import Measured

#: The largest gap that needs no explanation, as a share of the peer's mean.
CLOSE = 0.05


@dataclass(frozen=True)
class Figure:
    """One figure of one case, from both simulators."""

    case: str
    name: str
    unit: str
    here: Estimate
    peer: Estimate

    @property
    def gap(self) -> float:
        """Distance of the means, as a share of the peer's."""
        ours, theirs = mean(self.here), mean(self.peer)
        if ours == theirs:
            return 0.0
        return (ours - theirs) / theirs if theirs else float("inf")

    @property
    def verdict(self) -> str:
        """`close` if within 5 %, `spread` if our mean is within the range of the peer's seeds, else `gap`."""
        if abs(self.gap) <= CLOSE:
            return "close"
        seeds = [value for value in self.peer["per_seed"] if value is not None]
        return "spread" if min(seeds) <= mean(self.here) <= max(seeds) else "gap"


@dataclass(frozen=True)
class Speed:
    """Packets per second of processor time, over all seeds of a case."""

    case: str
    here: float
    peer: float


def mean(estimate: Estimate) -> float:
    """The mean of an estimate that has values."""
    value = estimate["mean"]
    if value is None:
        raise ValueError("a figure without values")
    return value


def figures(case: Case, ours: Sequence[Measured], theirs: Sequence[Measured]) -> list[Figure]:
    """All figures of a case."""
    first, second = _table(case, ours), _table(case, theirs)
    return [
        Figure(case.name, name, unit, estimate(first[name, unit]), estimate(second[name, unit])) for name, unit in first
    ]


def _table(case: Case, runs: Sequence[Measured]) -> Mapping[tuple[str, str], list[float]]:
    values_by_figure: dict[tuple[str, str], list[float]] = {}
    for flows in case.flows:
        goodput = [run["goodput_bps"][flows.name] / 1e6 for run in runs]
        values_by_figure[f"goodput of {flows.name}", "Mbit/s"] = goodput
    values_by_figure["drop rate", "%"] = [100 * run["dropped"] / run["arrived"] for run in runs]
    if case.ecn:
        values_by_figure["mark rate", "%"] = [100 * run["marked"] / run["arrived"] for run in runs]
    values_by_figure["mean queue", "packets"] = [run["queue_packets"] for run in runs]
    values_by_figure["utilization", "%"] = [100 * run["utilization"] for run in runs]
    return values_by_figure


def speed(case: Case, ours: Iterable[Measured], theirs: Iterable[Measured]) -> Speed:
    """Packets per processor second of both simulators."""

    def rate(runs: Iterable[Measured]) -> float:
        counts = [(run["packets"], run["cpu_s"]) for run in runs]
        return float(sum(packets for packets, _ in counts) / sum(cpu_s for _, cpu_s in counts))

    return Speed(case.name, rate(ours), rate(theirs))
