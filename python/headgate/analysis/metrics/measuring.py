"""The measuring functions: each computes an estimate from a view of a result, or an estimate for each part."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from headgate.analysis import steadiness
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.distributions import estimates, merged, quantile
from headgate.analysis.metrics.rows import Array
from headgate.analysis.metrics.views import FlowsView, LinkView, known_mean, ratio, sums
from headgate.analysis.spread import Estimate, estimate
from headgate.scenario import Role

#: Measures flows: gives an `Estimate`, or a dictionary or list of estimates.
FlowsMeasure = Callable[[FlowsView], Any]
#: Measures a link.
LinkMeasure = Callable[[LinkView], Any]

SPREAD = ("min", "mean", "p50", "p95", "p99", "max")


def of_link(column: str) -> LinkMeasure:
    """A column of the table `links`."""
    return lambda link: estimate(link[column])


def parts_of_link(prefix: str) -> LinkMeasure:
    """The parts of a distribution, each a column of the table `links`."""
    return lambda link: {part: estimate(link[f"{prefix}_{part}"]) for part in SPREAD}


def total(column: str) -> FlowsMeasure:
    """The sum over flows."""
    return lambda flows: estimate(flows.total(column))


def per_flow(column: str) -> FlowsMeasure:
    """An estimate for each flow."""
    return lambda flows: [estimate(flow) for flow in flows[column].T]


def quotient(part: str, whole: str) -> FlowsMeasure:
    """The ratio of two sums over flows."""
    return lambda flows: estimate(ratio(flows.total(part), flows.total(whole)))


def mean(column: str) -> FlowsMeasure:
    """The mean over flows; None if a flow has no value."""
    return lambda flows: estimate(flows[column].mean(axis=1))


def mean_of_known(column: str) -> FlowsMeasure:
    """The mean over the flows that have a value."""
    return lambda flows: estimate(known_mean(flows[column]))


def share_with_value(column: str) -> FlowsMeasure:
    """The share of flows that have a value."""
    return lambda flows: estimate(np.isfinite(flows[column]).mean(axis=1))


#: What can limit a flow, each with a column of times in the table `flows`.
LIMITS = ("link", "window", "access", "source")


def limits(flows: FlowsView) -> dict[str, Estimate]:
    """The share of the flows' active time in which each limit held."""
    times = {limit: flows.total(f"limited_by_{limit}_ms") for limit in LIMITS}
    whole = np.sum(list(times.values()), axis=0)
    return {limit: estimate(ratio(time, whole)) for limit, time in times.items()}


def by_reason(flows: FlowsView) -> dict[str, Estimate]:
    """Packets dropped, by reason."""
    return {name.removeprefix("dropped_"): estimate(flows.total(name)) for name in flows.reasons()}


def distribution(table: str, measure: str, *parts: str) -> FlowsMeasure:
    """Parts of the distribution of all flows' values together."""
    return lambda flows: estimates(flows.histograms(table, measure), *parts)


def jain(flows: FlowsView) -> Estimate:
    """Jain's index over flows."""
    return estimate(flows.jain())


def delay_variation(flows: FlowsView) -> dict[str, Estimate]:
    """One-way delay less the minimum of the group in the same run."""
    each = zip(*flows.one_way_delays(), strict=True)
    above = [merged(group.minus(group.quantile(0.0) or 0.0) for group in of_seed) for of_seed in each]
    return estimates(above, *SPREAD[1:])


def goodput_variation(flows: FlowsView) -> Estimate:
    """The coefficient of variation of the groups' total goodput per interval, after the warm-up."""
    each = flows.windows("goodput_bps")
    return estimate(float(one.std() / one.mean()) if len(one) > 1 and one.mean() > 0 else None for one in each)


def drift_of(metric: str) -> Callable[[LinkView | FlowsView], Estimate]:
    """The size of the change of a metric over time between the halves of the window, over its mean."""

    def measure(view: LinkView | FlowsView) -> Estimate:
        found = [steadiness.drift([window]) for window in view.windows(metric)]
        return estimate(None if each is None else abs(each.relative) for each in found)

    return measure


def samples_of(metric: str) -> Callable[[LinkView | FlowsView], Estimate]:
    """The independent samples of a metric over time in the window."""
    return lambda view: estimate(map(steadiness.samples, view.windows(metric)))


def transfers(flows: FlowsView) -> Estimate:
    """The number of transfers that began after the warm-up."""
    return estimate(len(one) for one in _completion_times(flows))


def unfinished(flows: FlowsView) -> Estimate:
    """The share of transfers that were unfinished at the end of the run."""
    return estimate(1 - len(one[np.isfinite(one)]) / len(one) if len(one) else None for one in _completion_times(flows))


def completion(flows: FlowsView) -> dict[str, Estimate]:
    """Completion times of finished transfers."""
    done = [one[np.isfinite(one)] for one in _completion_times(flows)]
    quantiles = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {"mean": estimate(float(one.mean()) if len(one) else None for one in done)} | {
        part: estimate(quantile(one, share) if len(one) else None for one in done) for part, share in quantiles.items()
    }


def _completion_times(flows: FlowsView) -> list[Array]:
    """Completion times of the transfers that began after the warm-up, by seed; NaN for unfinished transfers."""
    rows = flows.rows(ColumnArrays.of(flows.result, "transfers"))
    rows = rows.only(rows["start_ns"] >= int(flows.result.scenario.warmup_s * 1e9))
    return [rows.of_seed(seed)["completion_ms"] for seed in flows.seeds]


_COMPARED_ROLES = (Role.RESPONSIVE, Role.UNRESPONSIVE)


def has_both(roles: Iterable[Role]) -> bool:
    """Whether there are both responsive and unresponsive flows."""
    return set(_COMPARED_ROLES) <= set(roles)


def misallocated(flows: FlowsView) -> Estimate:
    """Misallocated goodput: |goodput - fair share|, summed over units or groups, and over both ways of a link.

    With hosts, groups or classes as units, the sum is over units with flows that demand more than their fair share.
    With flows it is over groups: over responsive and unresponsive flows if there are both, over flows of a single
    group. Flows that demand at most their fair share are left out if there are others.
    """
    ways = [[group for group in way.groups if group in flows.groups] for way in flows.result.scenario.ways]
    each = [_misallocated(flows.of(groups)) for groups in ways if groups]
    return estimate(np.sum(each, axis=0))


def _misallocated(flows: FlowsView) -> Array:
    """The same of flows that share a link in one direction, by seed."""
    groups = flows.groups
    greedy = [group for group in groups if group.role != Role.MODEST] or groups
    if flows.unit.name != "flow":
        units = flows.unit.of_flows
        counted = np.isin(units[flows.columns], units[flows.of(greedy).columns])
        goodput, fair = (
            sums(flows[column][:, counted], units[flows.columns][counted])
            for column in ("goodput_bps", "fair_share_bps")
        )
    elif has_both(group.role for group in groups):
        goodput, fair = _totals(flows.of([group for group in groups if group.role == role]) for role in _COMPARED_ROLES)
    elif len(greedy) > 1:
        goodput, fair = _totals(flows.of([group]) for group in greedy)
    else:
        alone = flows.of(greedy)
        goodput, fair = alone["goodput_bps"], alone["fair_share_bps"]
    apart: Array = np.abs(goodput - fair).sum(axis=1)
    return apart


def _totals(parts: Iterable[FlowsView]) -> tuple[Array, Array]:
    """Goodput and fair share of each part: a row for each seed, a column for each part."""
    totals = [(part.total("goodput_bps"), part.total("fair_share_bps")) for part in parts]
    goodput, fair = zip(*totals, strict=True)
    return np.column_stack(goodput), np.column_stack(fair)


def fairness(flows: FlowsView) -> list[dict[str, Any]]:
    """Fairness by each unit that the scenario shows: the number of units, Jain's index, misallocated goodput."""
    views = [flows.by(unit) for unit in flows.result.scenario.fair_units]
    return [
        {
            "unit": view.unit.name,
            "units": view.units,
            "jain": jain(view),
            "misallocated_bps": misallocated(view),
        }
        for view in views
    ]
