"""How sentences of the verdict name disciplines: the best, those behind them, and those that are not told apart."""

from collections.abc import Callable, Sequence

from headgate import style
from headgate.analysis.division import Division
from headgate.analysis.findings import ComparedFindings, Finding

#: Maximum number of disciplines that a sentence names.
MOST_NAMES = 3


def parted(comparison: ComparedFindings, finding: Finding) -> tuple[list[Division], list[Division]]:
    """The disciplines of the first place, and those that are shown to be worse than the first."""
    best = comparison.leaders(finding)
    return best, [each for each in comparison.by(finding) if each not in best]


def undecided(comparison: ComparedFindings, best: list[Division]) -> str:
    """The disciplines that may be as good as the first, as a sentence; empty without any."""
    others = best[1:]
    return f". No difference from {some(others)} shown with {comparison.seeds} seeds" if others else ""


def some(named: Sequence[Division]) -> str:
    """`FABA`, `FABA and SFB`, `FABA, SFB and 2 more`."""
    names = [division.label for division in named]
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    return style.listed(names)


def each_with(named: Sequence[Division], value: Callable[[Division], str]) -> str:
    """The numbers of disciplines: `1.2 with FRED, 1.3 with FABA, 5.0 with DropTail`."""
    return ", ".join(f"{value(division)} with {division.label}" for division in named)


def ends(ranked: Sequence[Division]) -> list[Division]:
    """The first and the last of several disciplines."""
    return [ranked[0], ranked[-1]] if len(ranked) > 1 else list(ranked)


def listed(best: list[Division], verb: str) -> str:
    """`FABA divides`, `FABA and SFB divide`, `FABA, SFB and 2 more divide`."""
    return f"{some(best)} {verb}{'s' if len(best) == 1 else ''}"
