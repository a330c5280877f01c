"""Common to the figures on the skew of traces: measures, choices and axes."""

from functools import partial

from headgate import style
from headgate.experiment.declare import ComputedRun, Experiment, OpenParameter, grid
from headgate.experiment.layers import Lines, PublishedMarks
from headgate.experiment.plots import AxisScale, PlotPanel
from headgate.experiment.results import ExperimentResults
from headgate.papers.red_pd import _trace as trace

TRACE = OpenParameter(
    "trace",
    "generated",
    "without --trace a trace is generated. 1 % of its flows have the published shares of the whole trace, and about "
    "50 % of the bytes in 5 s. The paper's own trace was never published",
)
AXES = OpenParameter(
    "axes",
    "share of the flows against share of the bytes or packets",
    "our text of the paper has no figure, and does not say which quantity is on which axis",
)
LENGTHS = OpenParameter("windows", "1, 5, 10, 30 and 60 s", "the text names 5 s alone")

WINDOWS_BY_LABEL = {f"{window} s": window for window in trace.WINDOWS}


def whole(work: ComputedRun) -> dict[str, float]:
    """The measures over the whole trace."""
    return _measures(work, trace.shares(work.trace, work.seed, (None,))[None])


def in_windows(work: ComputedRun) -> dict[str, float]:
    """The measures in the curve's windows."""
    return _measures(work, trace.shares(work.trace, work.seed, trace.WINDOWS)[WINDOWS_BY_LABEL[work.label]])


def _measures(work: ComputedRun, shares: trace.TraceShares) -> dict[str, float]:
    """The shares of the case's fraction of the flows, as measures. `generated` is 1 if the user named no trace."""
    at = trace.FRACTIONS.index(work.case["flows"])
    return {
        **{name: float(values[at]) for name, values in shares._asdict().items()},
        "generated": float(work.trace is None),
    }


def note(words: str, results: ExperimentResults) -> str:
    """The note of a figure, with the origin of the trace."""
    label = next(iter(results.labels))
    if results("generated", label, flows=trace.FRACTIONS[0]).mean == 1.0:
        generated = "Generated traces have the published skew by construction, so this proves nothing."
        return f"{words} {generated} `--trace PCAP` takes a real one."
    return f"{words} Of the trace that the user named."


def percent(part: float) -> float:
    """A share in percent."""
    return 100 * part


def windows(measure: str, title: str) -> PlotPanel:
    """A panel with the share of the bytes or packets against the share of the flows, a line for each window."""
    lines = Lines(measure, "flows", scale=100, at=percent, bars=True, shades=style.TCP_SHADES, name="windows of {}")
    return PlotPanel((lines, crosses(measure)), X, Y, title)


def crosses(measure: str) -> PublishedMarks:
    """The shares that the paper's text states, as crosses."""
    return PublishedMarks(measure, scale=100, at=percent, color="black")


X = AxisScale("Flows, those with most first (%)", ticks={0.1: "0.1", 1: "1", 10: "10", 100: "100"}, log=10)
Y = AxisScale("Bytes or packets (%)", 0, 100)

experiment = partial(
    Experiment,
    compute=in_windows,
    qdiscs={label: f"window of {label}" for label in WINDOWS_BY_LABEL},
    cases=grid(flows=trace.FRACTIONS),
    choices=(TRACE, AXES, LENGTHS),
    modern=False,
)
