"""The comparison as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.analysis.spread import Estimate
from peers.declare import Case
from peers.judge import Figure, Speed, figures, mean, speed
from peers.runs import Measured


@dataclass(frozen=True)
class Comparison:
    """All figures of the cases that were run, and the speed of each."""

    figures: list[Figure]
    speeds: list[Speed]


def compared(cases: Sequence[Case], kept: Mapping[tuple[str, str], list[Measured]]) -> Comparison:
    """The comparison of the cases with stored results."""
    comparison = Comparison([], [])
    for case in cases:
        ours, theirs = kept.get((case.name, "here")), kept.get((case.name, case.peer))
        if ours and theirs:
            comparison.figures.extend(figures(case, ours, theirs))
            comparison.speeds.append(speed(case, ours, theirs))
    return comparison


def number(value: float) -> str:
    """A number with three significant digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def with_margin(estimate: Estimate) -> str:
    """A mean and its margin of error."""
    half = (estimate["high"] or 0.0) - mean(estimate)
    return f"{number(mean(estimate))} ± {number(half)}"


def terminal(comparison: Comparison) -> str:
    """The comparison as text."""
    speeds = {each.case: each for each in comparison.speeds}
    lines, last = [], ""
    for each in comparison.figures:
        if each.case != last:
            rate = speeds[each.case]
            lines.append(
                f"{each.case}: {rate.here:,.0f} packets per CPU second in Headgate, {rate.peer:,.0f} in the peer"
            )
            last = each.case
        lines.append(
            f"  {each.name:20} {with_margin(each.here):>18} {with_margin(each.peer):>18} {each.unit:8}"
            f"{100 * each.gap:+7.1f} %  {each.verdict}"
        )
    agreeing = sum(each.verdict != "gap" for each in comparison.figures)
    lines.append(
        f"{agreeing} of {len(comparison.figures)} figures agree ({100 * agreeing / len(comparison.figures):.1f} %)"
    )
    return "\n".join(lines)
