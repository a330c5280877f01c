"""How figures 16, 18 and 19 show and measure what each TCP flow gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.papers import axes
from headgate.papers.blue._unresponsive import FAIR_BPS, FLOWS
from headgate.papers.measures import part_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from headgate.experiment.found import Found
    from headgate.papers.measures import Measure

#: The parts of the TCP flows that get next to nothing, near the fair share, and far more.
SHARES: dict[str, Measure] = {
    "starved": part_between(0, 0.1 * FAIR_BPS, kind="tcp"),
    "near_fair": part_between(0.5 * FAIR_BPS, 1.5 * FAIR_BPS, kind="tcp"),
    "grabbing": part_between(2 * FAIR_BPS, 45e6, kind="tcp"),
}


def scatter(found: Found, title: str, labels: Sequence[str], **case: object) -> Figure:
    """What each TCP flow of the first seed got, a panel for each discipline."""
    drawn = axes.panels(labels, 2.4)
    for panel, label in zip(drawn, labels, strict=True):
        goodput = found.runs(label, **case)[0].flows("goodput_bps", kind="tcp") / 1e6
        panel.plot(range(FLOWS), goodput, ".", markersize=3, color=axes.looks(found.labels)[label].colour)
        panel.axhline(FAIR_BPS / 1e6, color="#222222", linewidth=0.8)
    across = 2 if len(drawn) in (2, 4) else 3
    for panel in drawn[-across:]:
        panel.set_xlabel("TCP flow")
    for panel in drawn[::across]:
        panel.set_ylabel("Throughput (Mbit/s)")
    return axes.finish(drawn[0].figure, title, "Each point a flow of the first seed. Line: the fair share.")  # type: ignore[arg-type]
