"""The measures of both results, and the differences between them."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from headgate.analysis.judge import Quantity
from headgate.analysis.links import LinkDirection, compared
from headgate.analysis.metrics.catalogue import OF_FLOWS, OF_LINK, Measure
from headgate.analysis.repeats import repeats
from headgate.analysis.significance import ALPHA, TTest, holm, once, paired, unpaired
from headgate.analysis.summary import summarize
from headgate.compare.agree import Difference, agree, common
from headgate.results import Result

#: The name of the first compared link, in place of a group's name.
LINK = "link"

#: The compared parts of a distribution.
PARTS = ("mean", "p95", "p99")


class ComparedMeasure(NamedTuple):
    """A measure to compare, or one part of its distribution."""

    measure: Measure
    part: str = ""

    @property
    def name(self) -> str:
        """Its name in documents."""
        return f"{self.measure.key}_{self.part}" if self.part else self.measure.key

    def quantity(self, entry: dict[str, Any]) -> Quantity:
        """Its values in an entry of a summary."""
        estimate = entry[self.measure.key]
        return _quantity(estimate[self.part] if self.part else estimate)


GOODPUT, SHARE, DROPS, MARKS, JAIN = (
    ComparedMeasure(OF_FLOWS[key]) for key in ("goodput_bps", "share_of_fair", "drop_rate", "mark_rate", "jain")
)
UTILIZATION, QUEUE = (ComparedMeasure(OF_LINK[key]) for key in ("utilization", "queue_packets_mean"))
DELAYS = tuple(ComparedMeasure(OF_LINK["queue_delay_ms"], part) for part in PARTS)

OF_GROUP = (GOODPUT, SHARE, *DELAYS, DROPS, MARKS)
OF_BOTTLENECK = (JAIN, UTILIZATION, *DELAYS, DROPS, MARKS, QUEUE)
#: Measures of further links: all but Jain's index, which is that of all flows.
OF_FURTHER = OF_BOTTLENECK[1:]


class Gap(NamedTuple):
    """The second result's mean minus the first's, and its test.

    `relative` is the difference over the first's mean; None where that is 0. `p` is the p-value of the difference,
    corrected for the number of all differences of a comparison.
    """

    mean: float
    test: TTest
    relative: float | None
    p: float

    @property
    def half(self) -> float | None:
        """The margin of error; None without an interval."""
        return self.test.half

    @property
    def verdict(self) -> str:
        """`differs` if the seeds show it, else `inconclusive`: one seed shows no difference."""
        return "differs" if self.p < ALPHA else "inconclusive"


class MeasuredPair(NamedTuple):
    """A measure under one discipline in both results: of a group, of the `LINK`, or of a further link."""

    qdisc: str
    of: str
    measure: ComparedMeasure
    values: tuple[Quantity, Quantity]
    gap: Gap | None
    """The difference; None if a result has no value."""


class Comparison(NamedTuple):
    """Two results of one scenario, their names, and every measure of both."""

    results: tuple[Result, Result]
    names: tuple[str, str]
    differences: list[Difference]
    qdiscs: list[str]
    rows: list[MeasuredPair]

    def row(self, qdisc: str, of: str, measure: ComparedMeasure) -> MeasuredPair:
        """One row."""
        return next(row for row in self.rows if (row.qdisc, row.of, row.measure) == (qdisc, of, measure))

    @property
    def groups(self) -> list[str]:
        """The groups of flows, in the scenario's order."""
        return list(dict.fromkeys(group.name for group in self.results[0].scenario.groups))

    @property
    def links(self) -> list[str]:
        """The names of the compared links, in the scenario's order."""
        return [LINK, *(name_of(direction) for direction in compared(self.results[0])[1:])]

    @property
    def marks(self) -> bool:
        """Whether a packet was marked in one of the results."""
        rows = (row for row in self.rows if row.measure == MARKS)
        return any(value.mean > 0 for row in rows for value in row.values)

    def document(self) -> dict[str, Any]:
        """The JSON document that `headgate compare --json` prints (docs/reference/json.md)."""
        return {
            "schema": 2,
            "scenario": self.results[0].scenario.name,
            "names": list(self.names),
            "results": [
                {"config_hash": result.manifest["config_hash"], "seeds": result.scenario.seeds}
                for result in self.results
            ],
            "differences": [{"key": each.key, "values": list(each.values)} for each in self.differences],
            "rows": [_entry(row) for row in self.rows],
        }


def compare(one: Result, other: Result, allow: Iterable[str] = ()) -> Comparison:
    """Compares two results of one scenario, for the disciplines that both have.

    The scenarios may differ in seeds, disciplines, names, records and the keys in `allow`. Raises `UsageError` for any
    other difference.
    """
    allowed_differences = agree((one, other), allow)
    qdiscs = common(one.scenario, other.scenario)
    entries = [{entry["qdisc"]: entry for entry in summarize(result)} for result in (one, other)]
    rows = [row for qdisc in qdiscs for row in _rows(qdisc, (entries[0][qdisc], entries[1][qdisc]))]
    judged = _judged(rows, (one, other), pairs=in_pairs(one, other))
    return Comparison((one, other), names(one, other), allowed_differences, qdiscs, judged)


def in_pairs(one: Result, other: Result) -> bool:
    """Whether runs of one seed are compared: two simulations with the same seeds share their random streams.

    Runs on real packets count as independent of others with their seed.
    """
    both_simulated = all(result.manifest.get("world", "sim") == "sim" for result in (one, other))
    return both_simulated and one.scenario.seeds == other.scenario.seeds


def _judged(rows: list[MeasuredPair], results: tuple[Result, Result], *, pairs: bool) -> list[MeasuredPair]:
    """The rows with their differences, whose p-values are corrected for their number (Holm).

    Seeds that gave the same runs count once (`analysis.repeats`).
    """
    places = [repeats(result) for result in results]
    gaps = [gap(*_once(row.values, [of[row.qdisc] for of in places], pairs=pairs), pairs=pairs) for row in rows]
    corrected = iter(holm([each.p for each in gaps if each is not None]))
    return [
        row._replace(gap=None if each is None else each._replace(p=next(corrected)))
        for row, each in zip(rows, gaps, strict=True)
    ]


def _once(values: tuple[Quantity, Quantity], places: list[list[int]], *, pairs: bool) -> list[Quantity]:
    """The values at seeds that gave new runs: of either result with `pairs`, else of each by itself."""
    sides = [each.per_seed for each in values]
    if pairs:
        return [Quantity(tuple(side)) for side in once(sides, places)]
    return [Quantity(tuple(*once([side], [of]))) for side, of in zip(sides, places, strict=True)]


def name_of(direction: LinkDirection) -> str:
    """The name of a further link. Names of groups have no blank, so it is unique."""
    return f"{LINK} {direction.label}"


def names(one: Result, other: Result) -> tuple[str, str]:
    """The names of the two results: `sim` and `live`, or `A` and `B` if both are of one kind."""
    first, second = (result.manifest.get("world", "sim") for result in (one, other))
    return ("A", "B") if first == second else (first, second)


def gap(one: Quantity, other: Quantity, *, pairs: bool = False) -> Gap | None:
    """The difference of two quantities, seed by seed with `pairs`; None if one has no value."""
    mean = other.mean - one.mean
    if not math.isfinite(mean):
        return None
    test = (paired if pairs else unpaired)(other.per_seed, one.per_seed)
    return Gap(mean, test, mean / one.mean if one.mean else None, test.p)


def _rows(qdisc: str, entries: tuple[dict[str, Any], dict[str, Any]]) -> Iterator[MeasuredPair]:
    for groups in zip(*(entry["groups"] for entry in entries), strict=True):
        for measure in OF_GROUP:
            one, other = (_of_group(group, measure) for group in groups)
            yield MeasuredPair(qdisc, groups[0]["name"], measure, (one, other), None)
    for number, links in enumerate(zip(*(entry["links"] for entry in entries), strict=True)):
        of = name_of(LinkDirection(links[0]["link"], links[0]["direction"])) if number else LINK
        for measure in OF_FURTHER if number else OF_BOTTLENECK:
            one, other = (_of_link(entry, link["figures"], measure) for entry, link in zip(entries, links, strict=True))
            yield MeasuredPair(qdisc, of, measure, (one, other), None)


def _of_group(group: dict[str, Any], measure: ComparedMeasure) -> Quantity:
    quantity = measure.quantity(group)
    return quantity * (1 / group["flows"]) if measure == GOODPUT else quantity


def _of_link(entry: dict[str, Any], link: dict[str, Any], measure: ComparedMeasure) -> Quantity:
    if measure in (DROPS, MARKS):
        return _quantity(link["dropped" if measure == DROPS else "marked"]) / _quantity(link["arrived"])
    return measure.quantity(entry if measure == JAIN else link)


def _quantity(estimate: dict[str, Any]) -> Quantity:
    return Quantity(tuple(math.nan if value is None else value for value in estimate["per_seed"]))


def _entry(row: MeasuredPair) -> dict[str, Any]:
    difference = row.gap
    return {
        "qdisc": row.qdisc,
        "of": row.of,
        "measure": row.measure.name,
        "unit": row.measure.measure.units.value.name,
        "values": [{key: each for key, each in value.document().items() if key != "half"} for value in row.values],
        "gap": None if difference is None else _difference(difference),
    }


def _difference(gap: Gap) -> dict[str, Any]:
    return {"mean": gap.mean, "half": gap.half, "relative": gap.relative, "verdict": gap.verdict}
