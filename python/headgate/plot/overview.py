"""The overview figure: goodput by discipline, for readers who are new to queue management."""

from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headgate import style
from headgate.analysis import data
from headgate.analysis.division import Division, LinkShare, Sharing, divisions
from headgate.analysis.links import first
from headgate.analysis.summary import summarize
from headgate.analysis.verdict import verdict
from headgate.counting import counted
from headgate.plot import figure_style
from headgate.plot.panels import heading, looks_of, new_figure
from headgate.results import Result
from headgate.scenario import Role
from headgate.scenario.fair import plural

_ROOM = 0.07
"""A number is written inside a bar of at least this share of the link's rate."""
_LEGEND_LETTERS = {True: 95, False: 80}
"""Letters of a legend on one line, with classes and with groups, whose bars are shorter."""
_LETTERS_OF_A_WAY = 39
"""The same above one of two panels of bars."""


def overview(result: Result) -> Figure:
    """One row for each discipline, the fairest first: goodput by class or group, and the queueing delay.

    Bars are goodput after the warm-up, averaged over seeds, in a panel for each direction that data takes. The line is
    where bars would meet in the max-min fair division. The title is the verdict on the result.
    """
    with figure_style.applied():
        looks_of(result)
        ranked, *others = _rankings(result)
        classes = all(each[0].has_classes for each in (ranked, *others))
        indices = [] if classes else _indices(result, [division.label for division in ranked])
        figure = new_figure(0.48 * len(ranked) + 2.1 + 0.3 * len(others))
        bars = [5.0] if not others else [3.1] * (1 + len(others))
        widths = [*bars, *([1.2 if len(indices) == 1 else 1.4] * len(indices)), 1.5]
        columns = figure.subplots(1, len(widths), sharey=True, width_ratios=widths, squeeze=False)[0]
        for axes, each in zip(columns, (ranked, *others), strict=False):
            _bars(axes, each)
        for axes, (title, values) in zip(columns[len(bars) :], indices, strict=False):
            _values(axes, values, title, "", 1.0)
        _values(columns[-1], *_delays([ranked, *others], first(result)), " ms")
        _names(columns[0], ranked)
        heading(figure, verdict(result), _note(result))
        for axes, each in zip(columns, (ranked, *others), strict=False):
            _legend(axes, each[0], _LEGEND_LETTERS[classes] if not others else _LETTERS_OF_A_WAY)
        return figure


def _rankings(result: Result) -> list[list[Division]]:
    """The divisions in each direction by the scenario's own unit, in the order of the first."""
    unit = result.scenario.fair_units[0]
    first, *others = (divisions(result, Sharing(way, unit)) for way in result.scenario.ways)
    order = [division.label for division in first]
    return [first, *(sorted(each, key=lambda division: order.index(division.label)) for each in others)]


def _indices(result: Result, labels: list[str]) -> list[tuple[str, list[float | None]]]:
    """Jain's index of each discipline by each unit, with the title of the column."""
    entries = summarize(result)
    looks = style.looks([entry["qdisc"] for entry in entries])
    by_label = {looks[entry["qdisc"]].label: entry["fairness"] for entry in entries}
    return [
        (
            f"Jain's index\n(1: all {plural(unit.name)} equal)",
            [by_label[label][number]["jain"]["mean"] for label in labels],
        )
        for number, unit in enumerate(result.scenario.fair_units)
    ]


def _delays(rankings: list[list[Division]], link: str) -> tuple[list[float | None], str]:
    """The 95th percentile of the queueing delay, and its title: of the first group that needs a short one, if any."""
    for ranked in rankings:
        if groups := list(ranked[0].delays):
            delays = [division.delays[groups[0]]["mean"] for division in ranked]
            return delays, f"Queueing delay\nof {style.fold(groups[0], 12, 1)} (p95)"
    waits = f"Queueing delay\nat {link} (p95)" if link else "Queueing delay\n(95th percentile)"
    return [division.queue_delay_ms_p95["mean"] for division in rankings[0]], waits


def _bars(axes: Axes, ranked: list[Division]) -> None:
    # Over several links, all flows together can get more than the rate of one link.
    reach = max(ranked[0].rate_bps, *(division.goodput_bps for division in ranked))
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
    direction = f" {ranked[0].direction}" if ranked[0].direction else ""
    axes.set_xlabel(f"Goodput{direction} ({unit})")
    axes.tick_params(axis="y", length=0)
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
    axes.set_ylim(len(ranked) - 0.4, -0.6)


def _legend(axes: Axes, division: Division, most_letters: int) -> None:
    handles: list[Patch | Line2D] = [
        Patch(color=color, label=style.fold(_part_name(part, division.has_classes), 34))
        for part, color in zip(division.parts, _colors(division), strict=True)
    ]
    fair = "the fair division" if len(division.parts) > 1 else "the link's capacity"
    handles.append(Line2D([], [], color=style.FAIR, linewidth=1.8, label=fair))
    letters = sum(len(str(handle.get_label())) + 6 for handle in handles)
    across = len(handles) if letters < most_letters else min(3, max(1, most_letters // 20))
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=across,
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
    if link and len(scenario.ways) == 1:
        return f"Link {link} has {style.rate(scenario.rate_bps)}; the flows of all links, {run}"
    missing = "The remainder is headers, retransmissions and idle time."
    if len(scenario.ways) > 1:
        rates = " and ".join(f"{style.rate(way.rate_bps)} {way.direction}" for way in scenario.ways)
        return f"A link of {rates}, {run}{missing}"
    return f"A link of {style.rate(scenario.rate_bps)}, {run}{missing}"
