"""From the tables of a result to its figures: the mean over seeds, with 95 % interval, of everything measured.

docs/reference/json.md says what each figure means; the names here are those of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.analysis.distributions import Boxes, by_seed, figures, merged, where
from headgate.analysis.links import Place, compared
from headgate.analysis.proof import warnings
from headgate.analysis.spread import Figure, figure
from headgate.scenario import Group

if TYPE_CHECKING:
    from headgate.files.result_tables import ResultTables

SCHEMA = 1

Array = npt.NDArray[np.float64]


def document(result: ResultTables) -> dict[str, Any]:
    """The JSON document of a result."""
    whole = {
        "schema": SCHEMA,
        "scenario": result.scenario.name,
        "config_hash": result.manifest["config_hash"],
        "version": result.manifest["headgate"],
        "results": summarise(result),
    }
    if result.live is not None:
        whole["live"] = {**result.live, "warnings": warnings(result.live)}
    return whole


def summarise(result: ResultTables) -> list[dict[str, Any]]:
    """One entry a discipline, in the scenario's order."""
    return [_discipline(result, qdisc) for qdisc in result.scenario.qdiscs]


def together(result: ResultTables, qdisc: str, groups: Sequence[Group]) -> dict[str, Any]:
    """Groups of a scenario taken together under one discipline, as the entry of one group, and their `jain`."""
    flows = _flows(result, qdisc)
    places = [(group, place) for group, place in _places(result.scenario.groups) if group in groups]
    mine = [number for _, place in places for number in range(place.start, place.stop)]
    whole = Group(" and ".join(group.name for group in groups), groups[0].kind, len(mine), None)
    return {
        **_group(whole, flows, mine, _reasons(flows)),
        **_distributions(result, qdisc, groups),
        "jain": figure(jain(flows, result.scenario.groups, mine)),
    }


def bottleneck(result: ResultTables, qdisc: str) -> dict[str, Any]:
    """The figures of the first link at which disciplines are compared, under one of them."""
    rows = Place(*result.scenario.bottleneck).of(where(result.links, qdisc=qdisc))
    return _bottleneck(Grid(rows, len(result.scenario.seeds)))


def classes(
    result: ResultTables, of: Callable[[Group], str] = lambda group: group.kind
) -> list[dict[str, dict[str, Any]]]:
    """For each discipline, the groups that are alike taken together, as the entry of one group.

    Alike are those `of` one word, by default their kind (`tcp`, `udp`).
    """
    found = []
    for qdisc in result.scenario.qdiscs:
        grid = _flows(result, qdisc)
        places: dict[str, list[int]] = {}
        for group, mine in _places(result.scenario.groups):
            places.setdefault(of(group), []).extend(range(mine.start, mine.stop))
        reasons = _reasons(grid)
        found.append(
            {word: _group(Group(word, word, len(mine), None), grid, mine, reasons) for word, mine in places.items()}
        )
    return found


class Grid:
    """The rows of one discipline as arrays: one row a seed, one column a flow (or one column for a link)."""

    def __init__(self, table: pa.Table, seeds: int) -> None:
        self._table = table
        self._seeds = seeds

    def __getitem__(self, column: str) -> Array:
        values: Array = self._table.column(column).cast(pa.float64()).to_numpy().reshape(self._seeds, -1)
        return values

    def columns(self, prefix: str) -> Iterator[str]:
        """The columns whose names begin with `prefix`."""
        return (name for name in self._table.column_names if name.startswith(prefix))


def _discipline(result: ResultTables, qdisc: str) -> dict[str, Any]:
    scenario = result.scenario
    flows = _flows(result, qdisc)
    rows = where(result.links, qdisc=qdisc)
    links = {place: Grid(place.of(rows), len(scenario.seeds)) for place in compared(result)}
    link = next(iter(links.values()))
    cpu = [row["cpu_s"] for row in result.timing if row["qdisc"] == qdisc] or [None] * len(scenario.seeds)
    packets = link["packets"][:, 0]
    groups = list(_groups(scenario.groups, flows))
    for entry, group in zip(groups, scenario.groups, strict=True):
        entry |= _distributions(result, qdisc, [group])
    return {
        "qdisc": qdisc,
        "seeds": scenario.seeds,
        "bottleneck": _bottleneck(link),
        "links": [{**place._asdict(), "figures": _bottleneck(grid)} for place, grid in links.items()],
        "jain": figure(jain(flows, scenario.groups)),
        "jain_by_scale": _jain_by_scale(Grid(where(result.fairness, qdisc=qdisc), len(scenario.seeds))),
        "groups": groups,
        "cpu_s": figure(cpu),
        "packets_per_cpu_s": figure(n / s if s else None for n, s in zip(packets, cpu, strict=True)),
    }


def _flows(result: ResultTables, qdisc: str) -> Grid:
    return Grid(where(result.flows, qdisc=qdisc), len(result.scenario.seeds))


def _bottleneck(link: Grid) -> dict[str, Any]:
    def column(name: str) -> Figure:
        return figure(link[name][:, 0])

    return {
        "arrived": column("arrived"),
        "sent": column("sent"),
        "dropped": column("dropped"),
        "marked": column("marked"),
        "utilisation": column("utilisation"),
        "ambient_drop_rate": column("ambient_drop_rate"),
        "loss_synchronisation": {
            "events": column("loss_events"),
            "global": column("loss_sync_global"),
            "pairwise": column("loss_sync_pairwise"),
        },
        "queue_packets_mean": column("queue_packets_mean"),
        "queue_delay_ms": {part: column(f"delay_ms_{part}") for part in ("min", "mean", "p50", "p95", "p99", "max")},
    }


def _jain_by_scale(rows: Grid) -> list[dict[str, Any]]:
    return [
        {
            "scale_s": float(scale),
            "slots": figure(rows["slots"][:, place]),
            "mean": figure(rows["jain_mean"][:, place]),
            "min": figure(rows["jain_min"][:, place]),
        }
        for place, scale in enumerate(rows["scale_s"][0])
    ]


def _distributions(result: ResultTables, qdisc: str, groups: Sequence[Group]) -> dict[str, Any]:
    """What the tables of distributions say of groups together: delays, and how losses follow each other."""
    seeds = result.scenario.seeds
    delays = _of(where(result.delays, qdisc=qdisc), groups)
    losses = _of(where(result.losses, qdisc=qdisc), groups)
    queue = by_seed(_at_bottleneck(result, where(delays, measure="queueing")), "delay_ms", seeds)
    ways = where(delays, measure="one_way")

    def loss(measure: str, *parts: str) -> dict[str, Figure]:
        return figures(by_seed(_at_bottleneck(result, where(losses, measure=measure)), "value", seeds), *parts)

    return {
        "queue_delay_ms": figures(queue, "min", "mean", "p50", "p95", "p99", "max"),
        "one_way_delay_ms": figures(by_seed(ways, "delay_ms", seeds), "min", "mean", "p50", "p95", "p99", "max"),
        "delay_variation_ms": figures(_delay_variation(ways, groups, seeds), "mean", "p50", "p95", "p99", "max"),
        "loss_run_packets": loss("run_packets", "mean", "p99", "max"),
        "loss_distance_packets": loss("distance_packets", "mean", "p50"),
        "loss_interval_ms": loss("interval_ms", "mean", "p50"),
        "goodput_variation": figure(_variation(result, qdisc, groups)),
        **_transfers(result, qdisc, groups),
    }


def _of(table: pa.Table, groups: Sequence[Group]) -> pa.Table:
    """The rows of a table by group that are of `groups`."""
    if "kind" not in table.column_names:
        return pa.concat_tables(where(table, group=name) for name in dict.fromkeys(group.name for group in groups))
    return pa.concat_tables(where(table, group=group.name, kind=group.kind) for group in groups)


def _delay_variation(ways: pa.Table, groups: Sequence[Group], seeds: Sequence[int]) -> list[Boxes]:
    """RFC 5481, section 4.2: delay less the least delay of the stream; one value a seed."""
    streams = [by_seed(_of(ways, [group]), "delay_ms", seeds) for group in groups]
    return [merged(each.above(each.quantile(0.0) or 0.0) for each in of_seed) for of_seed in zip(*streams, strict=True)]


def _transfers(result: ResultTables, qdisc: str, groups: Sequence[Group]) -> dict[str, Any]:
    """How many transfers began after the warm-up, what of them had not finished, and how long the others took."""
    rows = _of(where(result.transfers, qdisc=qdisc), groups)
    rows = rows.filter(pc.greater_equal(rows.column("start_ns"), int(result.scenario.warmup_s * 1e9)))
    seed = rows.column("seed").to_numpy()
    took = rows.column("completion_ms").cast(pa.float64()).to_numpy()
    each = [took[seed == number] for number in result.scenario.seeds]
    done = [one[np.isfinite(one)] for one in each]
    quantiles = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {
        "transfers": figure(len(one) for one in each),
        "unfinished": figure(
            1 - len(end) / len(one) if len(one) else None for one, end in zip(each, done, strict=True)
        ),
        "completion_ms": {
            "mean": figure(float(one.mean()) if len(one) else None for one in done),
            **{
                part: figure(float(np.quantile(one, share)) if len(one) else None for one in done)
                for part, share in quantiles.items()
            },
        },
    }


def _at_bottleneck(result: ResultTables, table: pa.Table) -> pa.Table:
    """The rows that are of the first link where disciplines are compared."""
    name, direction = result.scenario.bottleneck
    return where(table, link=name, direction=direction)


def _variation(result: ResultTables, qdisc: str, groups: Sequence[Group]) -> list[float | None]:
    """The coefficient of variation of groups' goodput over intervals after the warm-up, one value a seed.

    RFC 5166, section 2.2.2.
    """
    rows = _of(where(result.intervals, qdisc=qdisc, metric="goodput_bps"), groups)
    rows = rows.filter(pc.greater(rows.column("time_s"), result.scenario.warmup_s))
    seed, time, value = (rows.column(name).to_numpy() for name in ("seed", "time_s", "value"))
    each = [_by_time(time[seed == number], value[seed == number]) for number in result.scenario.seeds]
    return [float(one.std() / one.mean()) if len(one) > 1 and one.mean() > 0 else None for one in each]


def _by_time(time: Array, value: Array) -> Array:
    """The sum of the values of each moment, in the moments' order."""
    _, place = np.unique(time, return_inverse=True)
    return np.bincount(place, weights=value).astype(np.float64)


def _groups(groups: list[Group], flows: Grid) -> Iterator[dict[str, Any]]:
    reasons = _reasons(flows)
    return (_group(group, flows, mine, reasons) for group, mine in _places(groups))


def _places(groups: list[Group]) -> Iterator[tuple[Group, slice]]:
    """Each group with the columns of its flows."""
    first = 0
    for group in groups:
        yield group, slice(first, first + group.flows)
        first += group.flows


def _reasons(flows: Grid) -> list[str]:
    return [name for name in flows.columns("dropped_") if flows[name].any()]


def _group(group: Group, flows: Grid, mine: slice | list[int], reasons: list[str]) -> dict[str, Any]:
    def total(name: str) -> Array:
        whole: Array = flows[name][:, mine].sum(axis=1)
        return whole

    goodput, fair = flows["goodput_bps"][:, mine], total("fair_share_bps")
    windows = flows["cwnd_mean"][:, mine].mean(axis=1)
    return {
        "name": group.name,
        "kind": group.kind,
        "flows": group.flows,
        "goodput_bps": figure(total("goodput_bps")),
        "goodput_bps_per_flow": [figure(flow) for flow in goodput.T],
        "fair_share_bps": figure(fair),
        "share_of_fair": figure(ratio(total("goodput_bps"), fair)),
        "loss_rate": figure(ratio(total("dropped"), total("arrived"))),
        "mark_rate": figure(ratio(total("marked"), total("arrived"))),
        "drops": {name.removeprefix("dropped_"): figure(total(name)) for name in reasons},
        "timeouts": figure(total("timeouts")),
        "retransmits": figure(total("retransmits")),
        "cwnd_mean": figure(windows),
        "startup_ms": figure(_mean(flows["startup_ms"][:, mine])),
        "identified": figure(np.isfinite(flows["identified_ms"][:, mine]).mean(axis=1)),
        "identified_ms": figure(_mean(flows["identified_ms"][:, mine])),
        "response_ms": figure(_mean(flows["response_ms"][:, mine])),
    }


def _mean(values: Array) -> Array:
    """The mean of each row over the values there are; not a number where there is none."""
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))


def jain(flows: Grid, groups: list[Group], mine: list[int] | slice = slice(None)) -> Array:
    """Jain's index of goodput over fair share, over the flows that are due anything: 1 when all are served alike.

    Brief flows do not count: what they got says how much they had to send. `mine` are the flows that do, if not all.
    """
    goodput, fair = flows["goodput_bps"][:, mine], flows["fair_share_bps"][:, mine]
    lasting = np.repeat([not group.brief for group in groups], [group.flows for group in groups])[mine]
    due = (fair > 0) & lasting
    share = np.divide(goodput, fair, out=np.zeros_like(goodput), where=due)
    return ratio(share.sum(axis=1) ** 2, due.sum(axis=1) * (share**2).sum(axis=1))


def ratio(part: Array, whole: Array) -> Array:
    """`part / whole`; not a number where `whole` is 0."""
    share: Array = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole != 0)
    return share
