"""The comparison in words and numbers."""

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
    """The comparison of the cases with kept results."""
    found = Comparison([], [])
    for case in cases:
        ours, theirs = kept.get((case.name, "here")), kept.get((case.name, case.peer))
        if ours and theirs:
            found.figures.extend(figures(case, ours, theirs))
            found.speeds.append(speed(case, ours, theirs))
    return found


def number(value: float) -> str:
    """A number with three significant digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def with_margin(found: Estimate) -> str:
    """A mean and its margin of error."""
    half = (found["high"] or 0.0) - mean(found)
    return f"{number(mean(found))} ± {number(half)}"


def terminal(found: Comparison) -> str:
    """The comparison as text."""
    speeds = {each.case: each for each in found.speeds}
    lines, last = [], ""
    for each in found.figures:
        if each.case != last:
            rate = speeds[each.case]
            lines.append(f"{each.case}: {rate.here:,.0f} packets per CPU second here, {rate.peer:,.0f} in the peer")
            last = each.case
        lines.append(
            f"  {each.name:20} {with_margin(each.here):>18} {with_margin(each.peer):>18} {each.unit:8}"
            f"{100 * each.gap:+7.1f} %  {each.verdict}"
        )
    agreeing = sum(each.verdict != "gap" for each in found.figures)
    lines.append(f"{agreeing} of {len(found.figures)} figures agree ({100 * agreeing / len(found.figures):.1f} %)")
    return "\n".join(lines)
