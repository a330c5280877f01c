"""What the figures on the skew of traces share: their measures, choices and curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headgate import style
from headgate.analysis.judge import above
from headgate.experiment.declare import Choice
from headgate.papers.red_pd import _trace as trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from headgate.analysis.judge import Judgement
    from headgate.experiment.declare import Work
    from headgate.experiment.found import Found

GENERATED = "Of generated traces with the published skew: no evidence. `--trace PCAP` takes a real one."
TRACE = Choice(
    "trace",
    "generated",
    "without --trace the trace is generated from the published shares of 1 % of the flows: over the whole, and about "
    "50 % of the bytes in 5 s; the paper's own was never published",
)

WINDOWS_BY_LABEL = {f"{window} s": window for window in trace.WINDOWS}

AXES = Choice(
    "axes",
    "part of the flows against part of the bytes or packets",
    "the figure is lost in our text of the paper, which does not say which way round it is drawn",
)
LENGTHS = Choice("windows", "1, 5, 10, 30 and 60 s", "the text names 5 s alone")


def whole(work: Work) -> dict[str, float]:
    """The measures over the whole trace."""
    return _measures(work, trace.shares(work.trace, work.seed, (None,))[None])


def in_windows(work: Work) -> dict[str, float]:
    """The measures in the windows that the curve is of."""
    return _measures(work, trace.shares(work.trace, work.seed, trace.WINDOWS)[WINDOWS_BY_LABEL[work.label]])


def _measures(work: Work, found: trace.Shares) -> dict[str, float]:
    """What was found at one part of the flows; `generated` is 1 if the user named no trace."""
    at = trace.FRACTIONS.index(work.case["flows"])
    return {
        **{name: float(values[at]) for name, values in found._asdict().items()},
        "generated": float(work.trace is None),
    }


def origin(found: Found) -> str:
    """Where the trace is from, for the note of a figure."""
    label = next(iter(found.labels))
    made = found("generated", label, flows=trace.FRACTIONS[0]).mean == 1.0
    return GENERATED if made else "Of the trace that the user named."


def most_of(label: str) -> Callable[[Found], Judgement]:
    """Whether a tenth of the flows sends more than half of the bytes of a window."""
    return lambda found: above(found("bytes", label, flows=0.1), 0.5)


def draw(axes: Axes, found: Found, measure: str, label: str, /, against: str | None = None, **look: Any) -> None:
    """A share in per cent, against the part of the flows or `against` another share; bars are 95 % intervals."""
    at, quantities = found.over("flows", measure, label)
    places = at if against is None else [each.mean for each in found.over("flows", against, label)[1]]
    mean, half = [each.mean * 100 for each in quantities], [each.half * 100 for each in quantities]
    axes.errorbar(np.array(places) * 100, mean, half, markersize=4, capsize=2, **look)
    if against is None:
        for table in found.experiment.published:
            if table.measure == measure and label in table.rows:
                axes.plot(np.array(table.at) * 100, table.rows[label], "x", color="black", markersize=8)
        axes.set_xscale("log")
        axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        axes.set_xlabel("Flows, those with most first (%)")
        axes.set_ylabel("Bytes or packets (%)")
        axes.set_ylim(0, 100)


def draw_windows(axes: Axes, found: Found, measure: str, against: str | None = None) -> None:
    """A curve for each window."""
    for label, colour, marker in zip(found.labels, style.TCP_SHADES, "os^Dv", strict=False):
        draw(axes, found, measure, label, against, color=colour, marker=marker, label=f"windows of {label}")
