"""Common to figures 6 to 8: the tokens that FABA distributes per departure, computed from its gauges.

Section 5.2 counts step 2 of a departure: the tokens added to buckets. A token that this step takes from a bucket counts
as -1, since the section charges each added token to a packet that departed, and a taken token is no packet's.
"""

from functools import partial

import numpy as np

from headgate.analysis.runs import Array, Run
from headgate.experiment.claims import above, at_most, m
from headgate.experiment.declare import Claim, Experiment
from headgate.experiment.layers import RunLine
from headgate.experiment.measures import gauge, over_intervals
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import FABA, PACKET_BITS, WHY


def _start(run: Run) -> float:
    """Time from which intervals count, in seconds: after the warm-up and the second in which flows start."""
    return max(run.result.scenario.warmup_s, 1.0)


def tokens_so_far(run: Run) -> tuple[Array, Array]:
    """Times, and tokens distributed per departure from the start until each time."""
    return run.series("gauge:tokens_per_departure")


def tokens_by_interval(run: Run) -> tuple[Array, Array]:
    """Ends of intervals after the start, and tokens distributed per departure in each interval.

    All packets have the same size, so departures can be computed from utilization.
    """
    time, mean = tokens_so_far(run)
    _, utilization = run.series("utilization")
    departures = np.cumsum(utilization * np.diff(time, prepend=0.0)) * run.rate_bps / PACKET_BITS
    tokens, departed = np.diff(mean * departures, prepend=0.0), np.diff(departures, prepend=0.0)
    counts = (departed > 0) & (time > _start(run))
    return time[counts], tokens[counts] / departed[counts]


def near_one(run: Run) -> float:
    """Share of the intervals, 0 to 1, with a mean within 0.1 of one token per departure."""
    return float((np.abs(tokens_by_interval(run)[1] - 1.0) <= 0.1).mean())


def share_above(run: Run) -> float:
    """Share of the intervals, 0 to 1, with more than 1.1 tokens per departure."""
    return float((tokens_by_interval(run)[1] > 1.1).mean())


def share_below(run: Run) -> float:
    """Share of the intervals, 0 to 1, with fewer than 0.9 tokens per departure."""
    return float((tokens_by_interval(run)[1] < 0.9).mean())


def largest_mean(run: Run) -> float:
    """The largest number of tokens per departure in an interval."""
    return float(tokens_by_interval(run)[1].max())


def _sigma_over_queue(run: Run) -> Array:
    """sigma/Q in the intervals with a queue: sigma at the interval's end, Q the mean queue in the interval."""
    sigma, queue = run.series("gauge:sigma")[1], run.series("queue_packets")[1]
    counts = (queue > 0) & (run.series("queue_packets")[0] > _start(run))
    return sigma[counts] / queue[counts]


def within_two(run: Run) -> float:
    """Share of the intervals with a queue, 0 to 1, in which b = floor(sigma/Q) + 1 is at most 2."""
    return float((_sigma_over_queue(run) < 2).mean())


def two_draws(run: Run) -> float:
    """Share of the intervals with a queue, 0 to 1, in which b = floor(sigma/Q) + 1 is at least 2."""
    return float((_sigma_over_queue(run) >= 1).mean())


#: Ten thousand points as vector graphics would be a megabyte, so they are drawn as an image.
DOTS = {"marker": ".", "linestyle": "", "markersize": 2, "rasterized": True}

#: An experiment on tokens per departure in short intervals.
interval_experiment = partial(
    Experiment,
    qdiscs=FABA,
    measures={
        "near_one": near_one,
        "above_one": share_above,
        "below_one": share_below,
        "most": largest_mean,
        "within_two": within_two,
        "two_draws": two_draws,
        "sigma": gauge("sigma"),
        "queue": over_intervals("queue_packets", np.mean),
    },
    claims=(
        Claim(
            "Tokens distributed are 1 on average almost everywhere (within 0.1 in 95 % of the intervals)",
            above(m("near_one", "FABA"), 0.95),
            WHY["tokens settle"],
        ),
        Claim(
            "No more than two tokens are distributed (on average over any interval after the start; a token taken back "
            "counts as -1)",
            # An interval has about 24 departures, a number that is known to within one.
            at_most(m("most", "FABA"), 2.0 * 25 / 24),
            WHY["tokens at most"],
        ),
        Claim(
            "b = floor(sigma/Q) + 1 is no more than two (in 99 % of the intervals with a queue)",
            above(m("within_two", "FABA"), 0.99),
        ),
    ),
    plot=one_panel(
        (RunLine(tokens_by_interval, "FABA", look=DOTS),),
        AxisScale("Time (s)"),
        AxisScale("Tokens distributed per departure", 0, 4.2),
        note="FABA, means over 10 ms, seed 1.",
        legend=None,
    ),
    modern=False,
)
