"""The overview figure: goodput by discipline, for readers who are new to queue management."""

from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headgate import style
from headgate.analysis import data
from headgate.analysis.division import Division, LinkShare, divisions
from headgate.analysis.links import first
from headgate.analysis.verdict import sentence
from headgate.counting import counted
from headgate.plot import figure_style
from headgate.plot.panels import heading, looks_of, new_figure
from headgate.results import Result
from headgate.scenario import Role

_ROOM = 0.07
"""A number is written inside a bar of at least this share of the link's rate."""
_LEGEND_LETTERS = {True: 95, False: 80}
"""Letters of a legend on one line, with classes and with groups, whose bars are shorter."""


def overview(result: Result) -> Figure:
    """One row for each discipline, the fairest first: goodput by class or group, and the queueing delay.

    Bars are goodput after the warm-up, averaged over seeds. The line is where bars would meet in the max-min fair
    division. The title is the verdict on the result.
    """
    with figure_style.applied():
        looks_of(result)
        ranked = divisions(result)
        rate_bps = result.scenario.rate_bps
        classes = ranked[0].has_classes
        figure = new_figure(0.48 * len(ranked) + 2.1)
        widths = [5, 1.5] if classes else [5, 1.2, 1.5]
        columns = figure.subplots(1, len(widths), sharey=True, width_ratios=widths, squeeze=False)[0]
        _bars(columns[0], ranked, rate_bps)
        if not classes:
            _values(columns[1], [division.jain for division in ranked], "Jain's index\n(1: all flows equal)", "", 1.0)
        link = first(result)
        _values(columns[-1], *_delays(ranked, link), " ms")
        _names(columns[0], ranked)
        heading(figure, sentence(ranked, rate_bps, first(result)), _note(result))
        _legend(figure, ranked[0], classes)
        return figure


def _delays(ranked: list[Division], link: str) -> tuple[list[float | None], str]:
    """The 95th percentile of the queueing delay, and its title: of the first group that needs a short one, if any."""
    groups = list(ranked[0].delays)
    if groups:
        delays = [division.delays[groups[0]]["mean"] for division in ranked]
        return delays, f"Queueing delay\nof {style.fold(groups[0], 12, 1)} (p95)"
    waits = f"Queueing delay\nat {link} (p95)" if link else "Queueing delay\n(95th percentile)"
    return [division.queue_delay_ms_p95["mean"] for division in ranked], waits


def _bars(axes: Axes, ranked: list[Division], rate_bps: float) -> None:
    # Over several links, all flows together can get more than the rate of one link.
    reach = max(rate_bps, *(division.goodput_bps for division in ranked))
    unit, scale = style.unit_of(reach)
    colors = _colors(ranked[0])
    for row, division in enumerate(ranked):
        left = 0.0
        for part, color in zip(division.parts, colors, strict=True):
            axes.barh(row, part.goodput_bps / scale, left=left / scale, height=0.64, color=color)
            left += part.goodput_bps
        _numbers(axes, row, division, colors, reach)
    fair = [part.fair_bps for part in ranked[0].parts]
    marks = list(accumulate(fair)) if len(fair) == 1 else list(accumulate(fair))[:-1]
    axes.vlines([mark / scale for mark in marks], -0.6, len(ranked) - 0.4, color=style.FAIR, linewidth=1.8)
    axes.set_xlim(0, reach / scale * 1.06)
    axes.set_xlabel(f"Goodput ({unit})")
    axes.grid(axis="y", visible=False)


def _numbers(axes: Axes, row: int, division: Division, colors: list[str], reach_bps: float) -> None:
    # At the outer ends of the bar, away from the line of the fair division.
    scale = style.unit_of(reach_bps)[1]
    pad = 0.012 * reach_bps
    left, last = 0.0, len(division.parts) - 1
    for place, (part, color) in enumerate(zip(division.parts, colors, strict=True)):
        right = left + part.goodput_bps
        spots = {0: (left + pad, "left"), last: (right - pad, "right")}
        at, align = spots.get(place, ((left + right) / 2, "center")) if last else (left + pad, "left")
        shown, ink = style.number(part.goodput_bps / scale, 2), style.ink(color)
        edge = color
        if part.goodput_bps < figure_style.share(_ROOM) * reach_bps:
            shown, at, align, edge = shown if place == last else "", right + pad, "left", "white"
            ink = color if part.role == Role.UNRESPONSIVE else style.FAIR
        # A box keeps the line of the fair division from crossing a number; an outline would turn text into paths.
        box = {"facecolor": edge, "linewidth": 0, "boxstyle": "square,pad=0.08"} if shown else None
        axes.text(at / scale, row, shown, color=ink, ha=align, va="center", fontweight="bold", bbox=box)
        left = right


def _colors(division: Division) -> list[str]:
    parts = division.parts
    if division.has_classes:
        return [style.color_of(part.role) for part in parts]
    shades = style.UNRESPONSIVE_SHADES if parts[0].role == Role.UNRESPONSIVE else style.TCP_SHADES
    return [shades[place % len(shades)] for place in range(len(parts))]


def _values(axes: Axes, values: list[float | None], title: str, unit: str, most: float | None = None) -> None:
    known = [value for value in values if value is not None]
    longest = most or max(known, default=0.0) or 1.0
    for row, value in enumerate(values):
        axes.barh(row, value or 0.0, height=0.64, color="#C9C9C9")
        shown = style.MISSING if value is None else f"{style.number(value)}{unit}"
        axes.text((value or 0.0) + 0.04 * longest, row, shown, va="center", color="#222222")
    axes.set_xlim(0, longest * 1.7)
    axes.set_title(title, fontsize=9.5, fontweight="normal", color="#333333")
    axes.tick_params(bottom=False, labelbottom=False, left=False)
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)


def _names(axes: Axes, ranked: list[Division]) -> None:
    labels = [style.fold(division.label, 24) for division in ranked]
    axes.set_yticks(range(len(ranked)), labels, color="#222222", fontsize=10)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(ranked) - 0.4, -0.6)


def _legend(figure: Figure, division: Division, classes: bool) -> None:
    handles: list[Patch | Line2D] = [
        Patch(color=color, label=style.fold(_part_name(part, classes), 34))
        for part, color in zip(division.parts, _colors(division), strict=True)
    ]
    fair = "the fair division" if len(division.parts) > 1 else "the link's capacity"
    handles.append(Line2D([], [], color=style.FAIR, linewidth=1.8, label=fair))
    letters = sum(len(str(handle.get_label())) + 6 for handle in handles)
    across = len(handles) if letters < _LEGEND_LETTERS[classes] else 3
    figure.axes[0].legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=across,
                          borderaxespad=0.2, columnspacing=1.2, handlelength=1.2)  # fmt: skip


def _part_name(part: LinkShare, classes: bool) -> str:
    """The name of a part in the legend; `classes` if the parts are responsive and unresponsive flows."""
    if not classes:
        return f"{part.name} ({counted(part.flows, 'flow')})"
    if part.role == Role.UNRESPONSIVE:
        return "the unresponsive flow" if part.flows == 1 else f"{part.flows} unresponsive flows"
    name = f"1 {part.name} flow" if part.flows == 1 else f"{part.flows} {part.name} flows together"
    return f"{name} (demand below fair share)" if part.role == Role.MODEST else name


def _note(result: Result) -> str:
    scenario = result.scenario
    seeds = "1 seed" if len(scenario.seeds) == 1 else f"mean of {len(scenario.seeds)} seeds"
    after = f" after a warm-up of {style.plain(scenario.warmup_s)} s" if scenario.warmup_s > 0 else ""
    measured = style.plain(scenario.duration_s - scenario.warmup_s)
    order = "Fairest discipline first. " if len(data.qdiscs(result)) > 1 else ""
    run = f"{measured} s{after}, {seeds}. {order}"
    link = first(result)
    if link:
        return f"Link {link} has {style.rate(scenario.rate_bps)}; the flows of all links, {run}"
    missing = "The remainder is headers, retransmissions and idle time."
    return f"A link of {style.rate(scenario.rate_bps)}, {run}{missing}"
