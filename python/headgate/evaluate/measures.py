"""What tests measure beside what experiments of papers do, and what all of them measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from headgate.analysis import data, distributions
from headgate.analysis.runs import Run
from headgate.evaluate.network import PERIOD_S
from headgate.evaluate.periods import goodput_over_periods
from headgate.evaluate.section import Part
from headgate.experiment import measures
from headgate.experiment.measures import Measure


def idle(link: str | None = None) -> Measure:
    """Per cent of the time in which a link had nothing to send."""
    return lambda run: 100 * (1 - run.link("utilisation", "forward", link))


def used_percent(direction: str) -> Measure:
    """Per cent of the time in which a direction of the bottleneck had something to send."""
    return measures.in_unit(measures.link("utilisation", direction), 100)


def p95_ms(direction: str = "forward") -> Measure:
    """The queueing delay that 95 in 100 packets did not exceed, in ms."""
    return measures.link("delay_ms_p95", direction)


def loss_percent(group: str | None = None) -> Measure:
    """Packets dropped of 100 that came, of a group or of all; 0 where none came."""
    return _percent("dropped", "arrived", group)


def marked_percent(group: str) -> Measure:
    """Packets marked of 100 of a group that were sent on; 0 where none was."""
    return _percent("marked", "sent", group)


def _percent(part: str, whole: str, group: str | None) -> Measure:
    def percent(run: Run) -> float:
        all_of_them = run.flows(whole, group).sum()
        return 100 * float(run.flows(part, group).sum() / all_of_them) if all_of_them else 0.0

    return percent


def goodput_mbps(group: str) -> Measure:
    """Goodput of a group's flows together, in Mbit/s."""
    return measures.in_unit(measures.goodput(group), 1e-6)


def ratio(of: str, to: str) -> Measure:
    """Goodput of a flow of one group over that of a flow of another, both as means; NaN where the latter had none."""

    def quotient(run: Run) -> float:
        other = float(run.flows("goodput_bps", to).mean())
        return float(run.flows("goodput_bps", of).mean()) / other if other else math.nan

    return quotient


def evenness(of: str, to: str) -> Measure:
    """The smaller of two groups' mean goodputs over the larger: 1 if alike, 0 if one has nothing."""
    quotient = ratio(of, to)

    def even(run: Run) -> float:
        value = quotient(run)
        return min(value, 1 / value) if value > 0 else 0.0

    return even


def completion_ms(group: str, part: float) -> Measure:
    """The completion time that a part of a group's transfers did not exceed, in ms; NaN without a transfer.

    Of those that began after the warm-up. One that the run's end cut off counts with the time it had taken by then.
    """

    def quantile(run: Run) -> float:
        table = data.rows(run.table("transfers"), group=group)
        start, took = data.values(table, "start_ns") / 1e6, data.values(table, "completion_ms")
        warm = start >= 1e3 * run.warmup_s
        had = 1e3 * run.result.scenario.duration_s - start
        times = np.where(np.isfinite(took), took, had)[warm]
        return float(np.quantile(times, part)) if len(times) else math.nan

    return quantile


def group_delay_ms(group: str, part: float) -> Measure:
    """The queueing delay at the bottleneck that a part of a group's packets did not exceed, in ms."""

    def quantile(run: Run) -> float:
        table = data.bottleneck(run.result, data.rows(run.table("delays"), measure="queueing", group=group))
        found = distributions.boxes(table, "delay_ms").quantile(part)
        return math.nan if found is None else found

    return quantile


def path_delay_ms(group: str) -> Measure:
    """The mean queueing delay of a group's packets, all queues on their way together, in ms; NaN if none was sent."""

    def mean(run: Run) -> float:
        sent, delay = run.flows("sent", group), run.flows("delay_ms_mean", group)
        return float(np.average(delay[sent > 0], weights=sent[sent > 0])) if sent.any() else math.nan

    return mean


def jitter_ms(group: str, part: float = 0.95) -> Measure:
    """The packet delay variation (RFC 5481, section 4.2) that a part of a group's packets did not exceed, in ms.

    One-way delay less its least value; section 2.6 takes it for the jitter.
    """

    def quantile(run: Run) -> float:
        found = distributions.boxes(data.rows(run.table("delays"), measure="one_way", group=group), "delay_ms")
        least, most = found.quantile(0), found.quantile(part)
        return math.nan if least is None or most is None else most - least

    return quantile


def acks_lost(direction: str, beside: str) -> Measure:
    """Of 100 ACKs that came to a direction of the bottleneck, those dropped; NaN if none came.

    `beside` is the group whose data goes there: what passes and is none of it are ACKs.
    """

    def percent(run: Run) -> float:
        came, lost = (
            run.link(column, direction) - run.flows(column, beside).sum() for column in ("arrived", "dropped")
        )
        return 100 * float(lost / came) if came else math.nan

    return percent


def of_group(name: str, title: str) -> Part:
    """A group of flows as a part with a graph of its own."""
    return Part(name, title, path_delay_ms(name), goodput_mbps(name))


class Common(NamedTuple):
    """What is measured in every test, and its title in a table."""

    title: str
    measure: Measure


#: The RFC's end-to-end metrics (section 2), all flows together; `delay_ms` and `goodput_mbps` make the ellipses (2.7).
COMMON: Mapping[str, Common] = {
    "goodput_mbps": Common("Goodput Mbit/s", measures.in_unit(measures.goodput(), 1e-6)),
    "goodput_p5_mbps": Common(f"of {PERIOD_S:g} s, p5", goodput_over_periods(0.05)),
    "goodput_p50_mbps": Common("median", goodput_over_periods(0.5)),
    "idle": Common("Idle %", idle()),
    "delay_ms": Common("Delay in the queue ms, mean", measures.link("delay_ms_mean")),
    "p50_ms": Common("median", measures.link("delay_ms_p50")),
    "p95_ms": Common("p95", p95_ms()),
    "p99_ms": Common("p99", measures.link("delay_ms_p99")),
    "loss": Common("Lost %", loss_percent()),
    "loss_sync": Common(
        "Flows that lose in one loss event %", measures.in_unit(measures.link("loss_sync_global"), 100)
    ),
}
