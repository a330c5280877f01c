"""One flow over time: goodput, window or rate, drops and marks by reason, the queue and a gauge."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgate import style
from headgate.analysis import data
from headgate.analysis.distributions import quantile
from headgate.plot import figure_style
from headgate.plot.overtime import gauge_title, gauge_unit
from headgate.plot.panels import heading, new_figure, over_time
from headgate.results import Result
from headgate.scenario import RunKey
from headgate.why import Explanation

_BINS = 120
#: The line of a limit that the sender sets itself. Gray is the warm-up alone.
_LIMIT = "#8C510A"
_TICKS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


class GoodputCurve(NamedTuple):
    """Goodput in bit/s in intervals that end at `time_s`, and the label of the curve."""

    time_s: data.Array
    bps: data.Array
    label: str


def flow(result: Result, explanation: Explanation) -> Figure:
    """The figure of an explanation, with a panel for each kind of recorded data."""
    run, facts = explanation.run, explanation.facts
    trace, signals = _recorded(result, run, "traces"), _recorded(result, run, "events")
    if trace is not None:
        trace = trace.filter(pc.equal(pc.field("flow"), facts.flow))
        trace = trace if trace.num_rows else None
    intervals = _queue_intervals(result, explanation)
    gauge = _gauge(intervals)
    panels: list[Callable[[Axes], None]] = [lambda axes: _goodput(axes, result, explanation, trace)]
    if trace is not None:
        panels.append(lambda axes: (_window if facts.kind == "tcp" else _rates)(axes, trace))
    if signals is not None:
        panels.append(lambda axes: _ticks(axes, signals.filter(pc.is_valid(signals["reason"])), facts.flow))
    panels.append(lambda axes: _queue(axes, intervals))
    if gauge is not None:
        panels.append(lambda axes: _line(axes, *gauge))
    with figure_style.applied():
        figure = new_figure(1.7 * len(panels) + 1.2)
        shared: Axes | None = None
        for place, panel in enumerate(panels):
            axes = figure.add_subplot(len(panels), 1, place + 1, sharex=shared)
            shared = shared or axes
            over_time(axes, result)
            panel(axes)
            axes.tick_params(labelbottom=place == len(panels) - 1)
        axes.set_xlabel("Time (s)")
        look = style.looks([run.qdisc])[run.qdisc].label
        title = f"Flow {facts.flow} ({facts.group}) under {look}: {explanation.answer.removesuffix('.')}"
        warm = "Gray: the warm-up, excluded from all numbers." if result.scenario.warmup_s > 0 else ""
        heading(figure, title, f"{run.qdisc}, seed {run.seed}. {warm}")
        return figure


def _goodput(axes: Axes, result: Result, explanation: Explanation, trace: pa.Table | None) -> None:
    facts = explanation.facts
    curve = _own_goodput(result, trace) or _group_goodput(result, explanation)
    unit, scale = style.unit_of(max(facts.mine.fair_share_bps, float(np.nanmax(curve.bps, initial=0.0))))
    groups = {(group.name, group.kind): group for group in result.scenario.groups}
    color = style.color_of(groups[facts.group, facts.kind].role)
    axes.plot(curve.time_s, curve.bps / scale, color=color, linewidth=1.2, label=curve.label, drawstyle="steps-pre")
    fair = facts.mine.fair_share_bps / scale
    axes.axhline(fair, color=style.FAIR, linestyle=(0, (4, 2)), linewidth=1, label="fair share")
    # An ACK that fills a hole acknowledges much data at once. Such peaks are cut off, or they would flatten the rest.
    most = quantile(curve.bps, 0.97) if len(curve.bps) else 0.0
    axes.set_ylim(0, 1.25 * max(facts.mine.fair_share_bps, most) / scale)
    axes.set_ylabel(f"Goodput\n({unit})")
    _legend_above(axes)


def _legend_above(axes: Axes) -> None:
    """The legend in one row above the panel, where it covers no data."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3, borderaxespad=0, borderpad=0.2)


def _own_goodput(result: Result, trace: pa.Table | None) -> GoodputCurve | None:
    """Goodput from the bytes acknowledged to the sender, if it was traced."""
    if trace is None or trace["acked_bytes"].null_count:
        return None
    edges = np.linspace(0, result.scenario.duration_s, _BINS + 1)
    times, acked = trace["time_ns"].to_numpy() / 1e9, trace["acked_bytes"].to_numpy().astype(np.float64)
    places = np.searchsorted(times, edges, side="right") - 1
    total = np.where(places >= 0, acked[np.maximum(places, 0)], 0.0)
    return GoodputCurve(edges[1:], np.diff(total) * 8 / np.diff(edges), "acknowledged")


def _group_goodput(result: Result, explanation: Explanation) -> GoodputCurve:
    """The mean over the flows of the group: the tables have no goodput over time of an untraced flow."""
    facts = explanation.facts
    rows = result.run("intervals", explanation.run)
    rows = data.rows(rows, metric="goodput_bps").filter(pc.equal(pc.field("group"), facts.group))
    line = data.series(rows, _BINS)
    flows = facts.peers.flows + 1
    label = "its goodput" if flows == 1 else f"mean of the {flows} flows of {facts.group}"
    if line is None:
        return GoodputCurve(np.zeros(0), np.zeros(0), label)
    return GoodputCurve(line.time_s, line.first / flows, label)


def _window(axes: Axes, trace: pa.Table) -> None:
    cwnd, ssthresh = trace["cwnd"].to_numpy(zero_copy_only=False), trace["ssthresh"].to_numpy(zero_copy_only=False)
    _steps(axes, trace, ssthresh=ssthresh, cwnd=cwnd)
    axes.set_ylim(0, 1.15 * float(cwnd.max()))
    axes.set_ylabel("Window\n(packets)")


def _rates(axes: Axes, trace: pa.Table) -> None:
    """TFRC: the allowed rate, and the rate that the receiver reported."""
    rate = trace["rate_bps"].to_numpy(zero_copy_only=False)
    received = trace["receive_rate_bps"].to_numpy(zero_copy_only=False)
    # Slow start can allow many times the path's rate, which would flatten the rest.
    unit, scale = style.unit_of(most := quantile(rate, 0.97))
    _steps(axes, trace, received=received / scale, allowed=rate / scale)
    axes.set_ylim(0, 1.25 * most / scale)
    axes.set_ylabel(f"Rate\n({unit})")


def _steps(axes: Axes, trace: pa.Table, **named: data.Array) -> None:
    """Two columns of a trace, the first one dotted, and a mark at each timeout."""
    times = trace["time_ns"].to_numpy() / 1e9
    looks = ((_LIMIT, 0.9, (0, (1, 1))), (style.TCP, 1.1, "solid"))
    for (name, values), (color, width, dashes) in zip(named.items(), looks, strict=True):
        axes.plot(times, values, color=color, lw=width, linestyle=dashes, drawstyle="steps-post", label=name)
    stops = times[np.flatnonzero(np.diff(trace["timeouts"].to_numpy().astype(np.int64)) > 0) + 1]
    # The layout counts artists outside the axes; an empty line would count as one at the figure's corner.
    if len(stops):
        none = np.zeros(len(stops))
        axes.plot(stops, none, "v", color=style.UNRESPONSIVE, markersize=5, clip_on=False, label="timeout")
    _legend_above(axes)


def _ticks(axes: Axes, signals: pa.Table, flow: int) -> None:
    """A row of ticks for each reason of the flow's drops and marks, and one for all other flows."""
    mine = pc.equal(signals["flow"], flow)
    own, others = signals.filter(mine), signals.filter(pc.invert(mine))
    kinds = sorted(set(zip(own["event"].to_pylist(), own["reason"].to_pylist(), strict=True)))
    rows = [(f"{event}, {reason}", _times_of(own, event, reason)) for event, reason in kinds]
    rows.append(("other flows", others["time_ns"].to_numpy() / 1e9))
    for place, (_, times) in enumerate(rows):
        color = style.FAIR if place == len(rows) - 1 else _TICKS[place % len(_TICKS)]
        axes.plot(times, np.full(len(times), place), "|", color=color, markersize=9, alpha=0.7, markeredgewidth=0.8)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.grid(visible=False, axis="y")


def _times_of(signals: pa.Table, event: str, reason: str) -> data.Array:
    wanted = signals.filter(pc.and_(pc.equal(signals["event"], event), pc.equal(signals["reason"], reason)))
    return np.asarray(wanted["time_ns"].to_numpy() / 1e9)


def _queue_intervals(result: Result, explanation: Explanation) -> pa.Table:
    """The intervals of the queue that dropped or marked most of the flow's packets; else of the first queue."""
    rows = result.run("intervals", explanation.run)
    rows = rows.filter(pc.is_valid(rows["link"]))
    places = explanation.facts.places or []
    first = rows.slice(0, 1).to_pylist()
    queues = [(place.link, place.direction) for place in places] or [(row["link"], row["direction"]) for row in first]
    return data.rows(rows, link=queues[0][0], direction=queues[0][1]) if queues else rows


def _queue(axes: Axes, intervals: pa.Table) -> None:
    line = data.series(data.rows(intervals, metric="queue_packets"), 4 * _BINS)
    if line is not None:
        axes.plot(line.time_s, line.first, color=style.FAIR, linewidth=0.9)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Queue\n(packets)")


def _line(axes: Axes, name: str, line: data.TimeSeries) -> None:
    axes.plot(line.time_s, line.first, color=style.FAIR, linewidth=0.9)
    axes.set_ylim(bottom=min(0.0, float(np.nanmin(line.first))))
    title, unit = gauge_title(name)[:18].capitalize(), gauge_unit(name)
    axes.set_ylabel(title if title == unit else f"{title}\n({unit.lower()})")


def _gauge(intervals: pa.Table) -> tuple[str, data.TimeSeries] | None:
    """The gauge to draw: a probability if there is one, else the first."""
    names = [name for name in pc.unique(intervals["metric"]).to_pylist() if name.startswith(data.GAUGE)]
    names.sort(key=lambda name: "probability" not in name)
    line = data.series(data.rows(intervals, metric=names[0]), 4 * _BINS) if names else None
    return (names[0].removeprefix(data.GAUGE), line) if line is not None else None


def _recorded(result: Result, run: RunKey, name: str) -> pa.Table | None:
    return result.run(name, run) if name in result.scenario.records else None
