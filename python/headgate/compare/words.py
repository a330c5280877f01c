"""A comparison in words: columns, differences, notes and the verdict."""

from collections.abc import Sequence
from typing import NamedTuple

from headgate import _core, style
from headgate.analysis.division_sentences import LIMITED_TO
from headgate.analysis.judge import Quantity, Verdict, at_most
from headgate.analysis.repeats import repeats
from headgate.analysis.significance import LEAST_SEEDS, equivalent
from headgate.compare.gaps import (
    DELAYS,
    DROPS,
    GOODPUT,
    JAIN,
    MARKS,
    QUEUE,
    SHARE,
    UTILIZATION,
    ComparedMeasure,
    Comparison,
    MeasuredPair,
    in_pairs,
)
from headgate.results import Result
from headgate.scenario import Role
from headgate.units import Units

#: A goodput counts as equal if it differs from the first result's by at most this share of it.
CLOSE = 0.15

#: Marks a difference that the seeds show.
DIFFERS = "*"


class ComparisonColumn(NamedTuple):
    """A column of the tables: a measure, the factor of its numbers, and their decimals."""

    measure: ComparedMeasure
    title: str
    scale: float
    decimals: int

    def show(self, quantity: Quantity) -> str:
        """A value as text."""
        mean = quantity.mean
        return style.fixed(mean * self.scale, self.decimals) if mean == mean else style.MISSING

    def show_gap(self, row: MeasuredPair) -> str:
        """The difference with its margin of error, in the column's unit.

        Differences of rates, times and packets are in percent of the first result.
        """
        difference = row.gap
        if difference is None:
            return style.MISSING
        star = DIFFERS if difference.verdict == "differs" else ""
        if self.measure.measure.units in (Units.RATE, Units.TIME, Units.PACKETS):
            if difference.relative is None:
                return style.MISSING
            half = f" ±{difference.half / abs(row.values[0].mean) * 100:.0f}" if difference.half else ""
            return f"{difference.relative * 100:+.0f}{half} %{star}"
        half = f" ±{style.fixed(difference.half * self.scale, self.decimals)}" if difference.half else ""
        return f"{difference.mean * self.scale:+.{self.decimals}f}{half}{star}"


def columns(comparison: Comparison, of: str) -> list[ComparisonColumn]:
    """The columns of a group's or a link's table. The mark rate is left out if no packet was marked."""
    scenario = comparison.results[0].scenario
    flows = next((group.flows for group in scenario.groups if group.name == of), 1)
    unit, scale = style.unit_of(scenario.rate_bps / max(1, flows))
    listed = [
        ComparisonColumn(GOODPUT, f"goodput\nper flow\n{unit}", 1 / scale, 2 if scale > 1e3 else 1),
        ComparisonColumn(SHARE, "% of\nfair", 100, 0),
        ComparisonColumn(JAIN, "Jain's\nindex", 1, 3),
        ComparisonColumn(UTILIZATION, "link\nuse %", 100, 1),
        *(ComparisonColumn(each, f"queue\ndelay {each.part}\nms", 1, 1) for each in DELAYS),
        ComparisonColumn(DROPS, "drop\n%", 100, 2),
        ComparisonColumn(MARKS, "mark\n%", 100, 2),
        ComparisonColumn(QUEUE, "queue\npackets", 1, 1),
    ]
    measured = {row.measure for row in comparison.rows if row.of == of and (row.measure != MARKS or comparison.marks)}
    return [column for column in listed if column.measure in measured]


def sentence(comparison: Comparison) -> str:
    """States how many goodputs agree, and the largest and the smallest difference."""
    one, other = comparison.names
    rows = [(abs(difference.relative), row) for row in comparison.rows if row.measure == GOODPUT
            and (difference := row.gap) is not None and difference.relative is not None]  # fmt: skip
    if not rows:
        return f"No group got goodput in {one}"
    seeds = max(row.gap.test.runs for _, row in rows if row.gap is not None)
    shown = seeds >= LEAST_SEEDS
    near = sum(is_close(row) if shown else part <= CLOSE for part, row in rows)
    looks = style.looks(comparison.qdiscs)
    (close, nearest), (far, widest) = (end(rows, key=lambda each: each[0]) for end in (min, max))
    if far == 0:
        return f"Goodput in {other} equals that in {one} for all groups and disciplines"
    apart = f"{style.number(far * 100, 2)} %, for “{widest.of}” with {looks[widest.qdisc].label}{_doubt(widest)}"
    if len(rows) > 1:
        apart += (
            f"; the smallest is {style.number(close * 100, 2)} %, for “{nearest.of}” with {looks[nearest.qdisc].label}"
        )
    where = "for all groups and disciplines" if near == len(rows) else f"in {near} of {len(rows)} cases"
    within = f"within {CLOSE * 100:.0f} % of {one} {where}"
    few = "one seed does" if seeds == 1 else f"{seeds} seeds do"
    verdict = f"is shown to be {within}" if shown else f"was {within}, which {few} not show"
    return f"The largest difference of goodput is {apart}. {other} {verdict}"


def is_close(row: MeasuredPair) -> bool:
    """Whether two values are shown to be equal but for `CLOSE` of the first (`significance.equivalent`)."""
    return row.gap is not None and equivalent(row.gap.test, CLOSE * abs(row.values[0].mean))


def _doubt(row: MeasuredPair) -> str:
    """That chance may have made a difference; empty if the seeds show it."""
    return "" if row.gap is not None and row.gap.verdict == "differs" else " (not shown by the seeds)"


def unresponsive_shares(comparison: Comparison) -> list[str]:
    """A sentence for each unresponsive group: its shares in the second result, and the disciplines that limit it."""
    groups = {group.name: group for group in comparison.results[0].scenario.groups}
    return [
        _unresponsive_shares(comparison, name) for name in comparison.groups if groups[name].role == Role.UNRESPONSIVE
    ]


def _is_held(share: Quantity) -> Verdict:
    """Whether the 95 % interval of a share lies below the bound, above it or across."""
    return at_most(share, LIMITED_TO).verdict


def _unresponsive_shares(comparison: Comparison, of: str) -> str:
    looks = style.looks(comparison.qdiscs)
    promising = {discipline.name for discipline in _core.disciplines() if discipline.protects}
    quantities = {
        qdisc: comparison.row(qdisc, of, SHARE).values[1]._replace(repeats=tuple(places))
        for qdisc, places in repeats(comparison.results[1]).items()
        if qdisc in comparison.qdiscs
    }
    shares = {qdisc: quantity.mean for qdisc, quantity in quantities.items()}
    ranked = sorted((qdisc for qdisc in shares if shares[qdisc] == shares[qdisc]), key=lambda qdisc: shares[qdisc])
    takes = ", ".join(f"{style.number(shares[qdisc], 2)} with {looks[qdisc].label}" for qdisc in ranked)
    shares_sentence = (
        f"The unresponsive “{of}” gets these multiples of its fair share in {comparison.names[1]}: {takes}."
    )
    judged = [qdisc for qdisc in ranked if qdisc.partition(":")[0] in promising]
    verdicts = {qdisc: _is_held(quantities[qdisc]) for qdisc in judged}
    words = {
        Verdict.HOLDS: f"hold it to {LIMITED_TO:g} times its fair share",
        Verdict.DIFFERS: "do not",
        Verdict.INCONCLUSIVE: "not shown to hold it",
    }
    sides = {word: [qdisc for qdisc in judged if verdicts[qdisc] is verdict] for verdict, word in words.items()}
    limits = "; ".join(f"{word}: {', '.join(looks[q].label for q in each)}" for word, each in sides.items() if each)
    return (
        f"{shares_sentence} Of the disciplines that limit unresponsive flows, {limits}." if limits else shares_sentence
    )


def notes(comparison: Comparison) -> list[str]:
    """Notes on the comparison: seeds, notation, differences of the scenarios, and disciplines left out."""
    results = comparison.results
    counts = [len(result.scenario.seeds) for result in results]
    seeds = ("one seed" if count == 1 else f"{count} seeds" for count in counts)
    few = f"With fewer than {LEAST_SEEDS} seeds, no difference is shown: it may be chance."
    left = [qdisc for result in results for qdisc in result.scenario.qdiscs if qdisc not in comparison.qdiscs]
    all_notes = [
        ", ".join(f"{each} in {name}" for each, name in zip(seeds, comparison.names, strict=True)) + ".",
        _tests(comparison) if min(counts) >= LEAST_SEEDS else few,
        "Differences of goodput, delay and queue length are in % of the first result.",
        *map(_marks, results, comparison.names),
        f"Left out, as only one result has it: {', '.join(left)}." if left else "",
        *(f"The scenarios differ in {difference}." for difference in comparison.differences),
    ]
    return [note for note in all_notes if note]


def _tests(comparison: Comparison) -> str:
    """How differences are tested: the kind of test, their number, and the measures."""
    tested = [row for row in comparison.rows if row.gap is not None]
    measures = dict.fromkeys(_tested_name(row.measure) for row in tested)
    kind = "paired t tests by seed" if in_pairs(*comparison.results) else "Welch's t tests of independent runs"
    return (
        f"Differences ± margin of error (95 %); {DIFFERS} shown by the seeds: {kind}, Holm over {len(tested)} "
        f"differences ({', '.join(measures)} of each group and link with each discipline)."
    )


def _tested_name(measure: ComparedMeasure) -> str:
    """A measure as the note on tests calls it: `p95 queue delay`."""
    return " ".join(filter(None, [measure.part, measure.measure.name or measure.measure.key.replace("_", " ")]))


def _marks(result: Result, name: str) -> str:
    """A note on a live result: how many of the link's marks reached receivers. Empty without marks."""
    runs = (result.live or {"runs": []})["runs"]
    counted = [run["marks"] for run in runs if "marks" in run]
    if len(counted) < len(runs):
        # Results of the first versions that ran real packets.
        marked = any(value.as_py() for value in result.links["marked"])
        return f"{name} was made by a version that did not count marks at receivers." if marked else ""
    made, seen = (sum(each[who] for each in counted) for who in ("link", "receivers"))
    counts = f"In {name}, {seen} of the {made} packets marked by the link arrived at receivers with the mark."
    return counts if made else ""


def lines(
    comparison: Comparison, qdisc: str, of: str, listed: Sequence[ComparisonColumn]
) -> list[tuple[str, list[str]]]:
    """Three lines of a table: the values of both results, and the differences."""
    rows = [comparison.row(qdisc, of, column.measure) for column in listed]
    cells = zip(comparison.names, zip(*(row.values for row in rows), strict=True), strict=True)
    both = [(name, [column.show(value) for column, value in zip(listed, each, strict=True)]) for name, each in cells]
    return [*both, ("difference", [column.show_gap(row) for column, row in zip(listed, rows, strict=True)])]
