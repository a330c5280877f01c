"""The comparison as one figure: goodput of each group, queueing delay and drop rate."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headgate import style
from headgate.analysis import links
from headgate.compare import words
from headgate.compare.gaps import DELAYS, DROPS, LINK, SHARE, ComparedMeasure, Comparison
from headgate.plot import figure_style
from headgate.plot.panels import heading, new_figure

#: Height of a bar; a row has two bars.
_HEIGHT = 0.38
#: Opacity of the bars of the first and of the second result.
_ALPHAS = (1.0, 0.45)
#: Maximum number of panels in a row: in narrower panels, titles and ticks have no room.
_ACROSS = 4


def sides(comparison: Comparison) -> Figure:
    """A panel for the goodput over fair share of each group, for the queueing delay (p95), and for the drop rate.

    Of several links, the first is shown. A row is a discipline: the upper, full bar is the first result, the lower,
    lighter bar the second. Whiskers are 95 % intervals of the means.
    """
    where = links.first(comparison.results[0])
    at = f" at {where}" if where else ""
    panels: list[tuple[str, ComparedMeasure, str, str, float]] = [
        *((of, SHARE, of, "% of fair share", 100.0) for of in comparison.groups),
        (LINK, DELAYS[1], f"queueing delay (p95){at}", "ms", 1.0),
        (LINK, DROPS, f"drop rate{at}", "% of packets", 100.0),
    ]
    with figure_style.applied():
        down = -(-len(panels) // figure_style.across(_ACROSS))
        across = -(-len(panels) // down)
        figure = new_figure(down * (0.55 * len(comparison.qdiscs) + 0.9) + 1.1)
        labels = [style.fold(look.label, 20) for look in style.looks(comparison.qdiscs).values()]
        for place, (of, measure, title, unit, scale) in enumerate(panels):
            panel = figure.add_subplot(down, across, place + 1)
            _panel(comparison, panel, of, measure, scale)
            panel.set_title(style.fold(title, 80 // across), fontsize=9.5)
            panel.set_xlabel(unit)
            panel.set_yticks(range(len(labels)), labels if place % across == 0 else [], fontsize=10)
            panel.set_ylim(len(labels) - 0.4, -0.6)
            if measure == SHARE:
                panel.axvline(100, color=style.FAIR, linewidth=1.2, dashes=(4, 3))
        heading(figure, words.sentence(comparison), " ".join(words.notes(comparison)[:1]))
        named = zip(comparison.names, _ALPHAS, strict=True)
        handles = [Patch(color=style.FAIR, alpha=alpha, label=name) for name, alpha in named]
        fair = Line2D([], [], color=style.FAIR, linewidth=1.2, dashes=(4, 3), label="fair share")
        figure.legend(handles=[*handles, fair], loc="outside lower right", ncols=3)
        return figure


def _panel(comparison: Comparison, axes: Axes, of: str, measure: ComparedMeasure, scale: float) -> None:
    for place, (qdisc, look) in enumerate(style.looks(comparison.qdiscs).items()):
        for result_index, value in enumerate(comparison.row(qdisc, of, measure).values):
            mean = value.mean * scale
            if math.isfinite(mean):
                at = place + (result_index - 0.5) * _HEIGHT
                half = value.half * scale
                axes.barh(at, mean, height=_HEIGHT, color=look.color, alpha=_ALPHAS[result_index], xerr=half or None)
    axes.set_xlim(left=0)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
