"""A curve for each discipline: queueing delay, completion times, and fairness by time scale."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from headgate import style
from headgate.analysis import data, links
from headgate.analysis.distributions import place, quantile
from headgate.analysis.spread import Estimate, half
from headgate.plot import figure_style
from headgate.plot.panels import beside_legend, figure_of, heading, legend_beside, looks_of
from headgate.results import Result

_FLOOR_MS = 0.1
"""Left end of a logarithmic scale, in ms: shorter delays do not matter."""
_WIDE = 30.0
"""The scale is logarithmic if the longest p99 is this many times the shortest median."""
_P99 = 0.99
_BINS_A_DECADE = 4
"""Bins per decade of transfer size, on a logarithmic scale."""
_WHOLE = "whole run"


def delay_cdf(result: Result, ax: Axes | None = None) -> Axes:
    """The distribution of the queueing delay (CDF) over all seeds; a dot marks each 99th percentile."""
    with figure_style.applied():
        looks = looks_of(result)
        axes = ax if ax is not None else beside_legend(len(looks), 4.6).add_subplot()
        curves = {name: curve for name in looks if (curve := data.delay(result, name)) is not None}
        left = _scale(axes, list(curves.values()))
        handles = [
            _delay_curve(axes, curve, looks[name], left)
            for name, curve in sorted(curves.items(), key=lambda item: item[1].quantile(_P99))
        ]
        _percent_axis(axes)
        axes.set_xlabel("Queueing delay (ms)")
        axes.set_ylabel("Share of packets (CDF)")
        legend_beside(axes, handles, "99th percentile")
        if ax is None:
            count = len(result.scenario.seeds)
            together = f"All packets of {count} seeds together" if count > 1 else "All packets"
            note = f"{together}, after the warm-up. Dots: 99th percentile."
            heading(figure_of(axes), "Queueing delay of packets", note + links.note(result))
        return axes


def _scale(axes: Axes, curves: list[data.Cdf]) -> float:
    """Sets the scale of the delay axis. Returns its left end in ms."""
    longest = max((curve.quantile(_P99) for curve in curves), default=0.0)
    shortest = min((curve.quantile(0.5) for curve in curves), default=0.0)
    furthest = max((float(curve.delay_ms[-1]) for curve in curves), default=1.0)
    if longest <= max(shortest, _FLOOR_MS) * _WIDE:
        axes.set_xlim(0, max(longest * 1.15, min(furthest, longest * 1.3), _FLOOR_MS))
        return 0.0
    left = max(_FLOOR_MS, min(curve.quantile(0.05) for curve in curves))
    axes.set_xscale("log")
    axes.set_xlim(left, max(furthest, longest * 1.15))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ms, _: style.plain(ms)))
    return left


def _delay_curve(axes: Axes, curve: data.Cdf, look: style.Look, left: float) -> Line2D:
    # Shorter delays are drawn at the left edge: the curve starts at their share.
    shown = np.maximum(curve.delay_ms, left)
    p99 = curve.quantile(_P99)
    (line,) = axes.plot(
        np.concatenate([[left, shown[0]], shown, [max(shown[-1], axes.get_xlim()[1])]]),
        np.concatenate([[0.0, 0.0], curve.share, [1.0]]),
        color=look.color,
        linestyle=look.dashes,
        linewidth=1.8,
        label=f"{style.number(p99)} ms  {style.fold(look.label, 26)}",
    )
    axes.plot([p99], [_P99], marker="o", markersize=5, color=look.color, markeredgecolor="white", zorder=3)
    return line


def _percent_axis(axes: Axes) -> None:
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))


def fairness(result: Result, ax: Axes | None = None) -> Axes | None:
    """Jain's index over slots of each time scale and over the whole run, with 95 % intervals over seeds.

    None if no slot has two flows.
    """
    with figure_style.applied():
        looks = looks_of(result)
        lines = {entry["qdisc"]: _indices(entry) for entry in result.summary() if entry["qdisc"] in looks}
        names = list(dict.fromkeys(name for line in lines.values() for name in line if name != _WHOLE))
        if not names:
            return None
        names.append(_WHOLE)
        axes = ax if ax is not None else beside_legend(len(looks), 4.2).add_subplot()
        compared = [(name, line) for name, line in lines.items() if line]
        order = sorted(compared, key=lambda item: -next(iter(item[1].values()))[0])
        handles = [_fairness(axes, line, names, looks[name]) for name, line in order]
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(-0.3, len(names) - 0.7)
        axes.set_ylim(top=1.01)
        axes.set_xlabel("Time scale")
        axes.set_ylabel("Jain's index (1: every flow has its fair share)")
        legend_beside(axes, handles, f"At {names[0]}")
        if ax is None:
            seeds = len(result.scenario.seeds)
            spread = f"mean of {seeds} seeds, bars: 95 % interval" if seeds > 1 else "one seed"
            note = f"Jain's index in slots of each length, averaged over slots; {spread}, after the warm-up."
            heading(figure_of(axes), "Fairness by time scale", note)
        return axes


def _indices(entry: dict[str, object]) -> dict[str, tuple[float, float, float]]:
    """Mean, low and high of the index by the name of the time scale."""
    scales: list[dict[str, Estimate]] = entry["jain_by_scale"]  # type: ignore[assignment]
    indices = {f"{style.plain(scale['scale_s'])} s": scale["mean"] for scale in scales}  # type: ignore[arg-type]
    # The slots are by flow, so the whole run is their neighbor only by flow.
    by_unit: list[dict[str, Any]] = entry["fairness"]  # type: ignore[assignment]
    indices |= {name: part["jain"] for name, part in zip([_WHOLE], by_unit, strict=False) if part["unit"] == "flow"}
    return {
        name: (index["mean"], index["mean"] - half(index), index["mean"] + half(index))
        for name, index in indices.items()
        if index["mean"] is not None
    }


def _fairness(axes: Axes, line: dict[str, tuple[float, float, float]], names: list[str], look: style.Look) -> Line2D:
    positions = [names.index(name) for name in line]
    mean, low, high = np.array(list(line.values())).T
    (drawn,) = axes.plot(
        positions, mean, color=look.color, linestyle=look.dashes, linewidth=1.6, marker="o", markersize=4.5,
        label=f"{style.number(mean[0])}  {style.fold(look.label, 26)}",
    )  # fmt: skip
    # An index is at most 1, but the ends of its interval can be above.
    reach = np.maximum([mean - low, np.minimum(high, 1.0) - mean], 0)
    axes.errorbar(positions, mean, reach, fmt="none", ecolor=look.color, elinewidth=1, capsize=2.5)
    return drawn


class _SizeBins(NamedTuple):
    """Completion times by size: the middle of each bin, and three quantiles in it."""

    kilobytes: data.Array
    median: data.Array
    low: data.Array
    high: data.Array


def completion(result: Result) -> list[Axes] | None:
    """Completion time of transfers by size (median, and the middle 80 %), and its distribution; all seeds together.

    Transfers that began after the warm-up count. Unfinished ones are missing on the left and keep the curves on the
    right below 100 %. None if the result has no transfers.
    """
    with figure_style.applied():
        looks = looks_of(result)
        transfers = {name: times for name in looks if len((times := data.transfers(result, name)).kilobytes)}
        if not transfers:
            return None
        by_size, over_time = beside_legend(len(transfers), 4.6).subplots(1, 2, width_ratios=[1, 1])
        handles = []
        for name, times in transfers.items():
            _by_size(by_size, times, looks[name])
            handles.append(_completion_curve(over_time, times, looks[name]))
        _label(by_size, over_time)
        legend_beside(over_time, handles, "Median")
        count = len(result.scenario.seeds)
        together = f"all {count} seeds together" if count > 1 else "one seed"
        note = (
            f"Transfers that began after the warm-up, {together}. Left: median and middle 80 %. Right: unfinished "
            "transfers keep a curve below 100 %."
        )
        heading(figure_of(by_size), "Completion time of transfers", note)
        return [by_size, over_time]


def _label(by_size: Axes, over_time: Axes) -> None:
    by_size.set_xscale("log")
    by_size.set_yscale("log")
    over_time.set_xscale("log")
    for axis in (by_size.xaxis, by_size.yaxis, over_time.xaxis):
        # Within one decade, minor ticks need labels too.
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: style.plain(value)))
        axis.set_minor_formatter(NullFormatter())
    least, greatest = by_size.dataLim.intervalx
    if greatest < 1.01 * least:
        # Transfers of one size: their means differ by rounding, which is no range of an axis.
        by_size.set_xlim(least / 2, greatest * 2)
    by_size.set_xlabel("Size (KB)")
    by_size.set_ylabel("Completion time (s)")
    _percent_axis(over_time)
    over_time.set_xlabel("Completion time (s)")
    over_time.set_ylabel("Share of transfers (CDF)")


def _by_size(axes: Axes, times: data.Transfers, look: style.Look) -> None:
    bins = binned(times)
    axes.plot(bins.kilobytes, bins.median, color=look.color, linestyle=look.dashes, linewidth=1.6, marker="o",
              markersize=3.5)  # fmt: skip
    axes.fill_between(bins.kilobytes, bins.low, bins.high, color=look.color, alpha=0.15, linewidth=0)


def binned(times: data.Transfers) -> _SizeBins:
    """The completion times of finished transfers, by size in equal steps of its logarithm."""
    done = np.isfinite(times.seconds)
    kilobytes, seconds = times.kilobytes[done], times.seconds[done]
    bin_number = np.floor(np.log10(kilobytes) * _BINS_A_DECADE).astype(int)
    rows = [
        [
            10 ** np.log10(kilobytes[bin_number == each]).mean(),
            *(quantile(seconds[bin_number == each], share) for share in (0.5, 0.1, 0.9)),
        ]
        for each in np.unique(bin_number)
    ]
    return _SizeBins(*np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def _completion_curve(axes: Axes, times: data.Transfers, look: style.Look) -> Line2D:
    done = np.sort(times.seconds[np.isfinite(times.seconds)])
    share = np.arange(1, len(done) + 1) / len(times.seconds)
    half = place(0.5, len(times.seconds))
    median = f"{style.number(float(done[half]))} s" if half < len(done) else style.MISSING
    (line,) = axes.plot(
        done, share, color=look.color, linestyle=look.dashes, linewidth=1.6, drawstyle="steps-post",
        label=f"{median}  {style.fold(look.label, 20)}",
    )  # fmt: skip
    return line
