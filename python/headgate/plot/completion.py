"""How long transfers take: against their size, and how many have finished after which time (RFC 7928, section 2.1)."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from headgate import style
from headgate.analysis import data
from headgate.plot.panels import chosen, figure_of, heading, new_figure
from headgate.results import Result

_BINS_A_DECADE = 4
"""Sizes within one of these are taken together."""


class _Bins(NamedTuple):
    """Completion times by size: the middle of each bin, and three quantiles in it."""

    kilobytes: data.Array
    median: data.Array
    low: data.Array
    high: data.Array


def completion(result: Result) -> list[Axes] | None:
    """Completion time of transfers by size (median, and the middle 80 %), and its distribution; all seeds together.

    Transfers that began after the warm-up count. Those that had not finished when the run ended are missing on the
    left, and keep the curves on the right from reaching 100 %. None if the result has no transfers.
    """
    with style.applied():
        known = chosen(data.qdiscs(result), None)
        found = {name: times for name in known if len((times := data.transfers(result, name)).kilobytes)}
        if not found:
            return None
        looks = style.looks(known)
        by_size, over_time = new_figure(4.6).subplots(1, 2, width_ratios=[1, 1])
        handles = []
        for name, times in found.items():
            _by_size(by_size, times, looks[name])
            handles.append(_over_time(over_time, times, looks[name]))
        _label(by_size, over_time)
        over_time.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), title="Median",
                         alignment="left")  # fmt: skip
        heading(figure_of(by_size), "How long transfers take", _note(result))
        return [by_size, over_time]


def _label(by_size: Axes, over_time: Axes) -> None:
    by_size.set_xscale("log")
    by_size.set_yscale("log")
    over_time.set_xscale("log")
    for axis in (by_size.xaxis, by_size.yaxis, over_time.xaxis):
        # A decade may be all there is to see: two marks in it are named too.
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: style.plain(value)))
        axis.set_minor_formatter(NullFormatter())
    by_size.set_xlabel("Size (KB)")
    by_size.set_ylabel("Completion time (s)")
    over_time.set_ylim(0, 1.02)
    over_time.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    over_time.set_xlabel("Completion time (s)")
    over_time.set_ylabel("Transfers that took at most so long")


def _by_size(axes: Axes, times: data.Transfers, look: style.Look) -> None:
    bins = binned(times)
    axes.plot(bins.kilobytes, bins.median, color=look.colour, linestyle=look.dashes, linewidth=1.6, marker="o",
              markersize=3.5)  # fmt: skip
    axes.fill_between(bins.kilobytes, bins.low, bins.high, color=look.colour, alpha=0.15, linewidth=0)


def binned(times: data.Transfers) -> _Bins:
    """The completion times of finished transfers, by size in equal steps of its logarithm."""
    done = np.isfinite(times.seconds)
    kilobytes, seconds = times.kilobytes[done], times.seconds[done]
    place = np.floor(np.log10(kilobytes) * _BINS_A_DECADE).astype(int)
    rows = [
        [10 ** np.log10(kilobytes[place == each]).mean(), *np.quantile(seconds[place == each], [0.5, 0.1, 0.9])]
        for each in np.unique(place)
    ]
    return _Bins(*np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def _over_time(axes: Axes, times: data.Transfers, look: style.Look) -> Line2D:
    done = np.sort(times.seconds[np.isfinite(times.seconds)])
    share = np.arange(1, len(done) + 1) / len(times.seconds)
    half = np.searchsorted(share, 0.5)
    median = f"{style.number(float(done[half]))} s" if half < len(done) else style.MISSING
    (line,) = axes.plot(
        done, share, color=look.colour, linestyle=look.dashes, linewidth=1.6, drawstyle="steps-post",
        label=f"{median}  {style.fold(look.label, 20)}",
    )  # fmt: skip
    return line


def _note(result: Result) -> str:
    count = len(result.scenario.seeds)
    together = f"all {count} seeds together" if count > 1 else "one seed"
    return (
        f"Transfers that began after the warm-up, {together}. Left: median, and the middle 80 % as a band. Right: what "
        "had not finished when the run ended keeps a curve below 100 %."
    )
