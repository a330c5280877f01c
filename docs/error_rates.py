"""Measures how often differences are claimed: `make error-rates` writes the tables of docs/explanation/seeds.md.

Each *null* draws four groups of seeds from the runs of one discipline, so that no difference between the groups is
real. A claim of any difference is false. Each *known difference* is between two of three disciplines, whose means over
all runs differ. The share of them that a table shows is its power. The statements are those that the commands print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
from pages import filled, table

import headgate
from headgate import style
from headgate.analysis import findings
from headgate.analysis.judge import Quantity
from headgate.analysis.pairs import ComparedPairs
from headgate.analysis.significance import ALPHA, holm
from headgate.compare.gaps import MeasuredPair, compare, gap
from headgate.evaluate.grade import Grade, graded
from headgate.evaluate.section import Criterion
from headgate.terminal import columns
from headgate.tuning.goals import Goals, changes

PAGE = Path(__file__).parent / "explanation" / "seeds.md"
SEEDS = (2, 3, 5, 10, 20)
NULLS = 1000
#: Tables of known differences.
KNOWN = 1000
#: Runs from which groups are drawn.
RUNS = 400
GROUPS = 4
QDISCS = ("droptail", "red", "fred")
SCENARIO = """
name = "null"
duration = "6s"
warmup = "1s"
qdiscs = ["droptail", "red", "fred"]
link = { rate = "10Mbit/s", delay = "10ms", limit = "100p" }
tcp = [{ name = "tcp", flows = 9, start = "0s..1s", send_jitter = "1ms" }]
udp = [{ name = "cbr", rate = "3Mbit/s", jitter = 0.5 }]
"""
MEAN, QUANTILE, COUNT = "means (goodput, shares, Jain's index)", "quantiles (p95 of delays)", "counts (drops, timeouts)"
#: The kind of each column of `run`, measure of `compare` and metric of other commands. Others are in no table of power.
KINDS = {
    MEAN: ("TCP\nMbit/s", "TCP % of\nfair", "UDP times\nfair", "Jain's\nindex", "goodput_bps", "share_of_fair", "jain",
           "goodput tcp", "share cbr"),
    QUANTILE: ("tcp\np95 ms", "all p95\nms", "queue_delay_ms_p95", "queue_delay_ms_p99", "p95 queue delay"),
    COUNT: ("TCP\ndrop %", "drop_rate", "drop rate tcp", "timeouts"),
}  # fmt: skip
#: The metrics of `sensitivity` and of the grades.
METRICS = ("p95 queue delay", "goodput tcp", "share cbr", "jain", "drop rate tcp", "timeouts")

#: Values of each run, by quantity.
Values = dict[str, np.ndarray]
#: One null: the groups' runs, a row each, and whether a difference is claimed.
Null = Callable[[str, np.ndarray], bool]


#: Known differences that a drawn table may show: the kind of each, and whether it is shown.
Shown = Iterator[tuple[str, bool]]
#: Draws a table of known differences with so many seeds.
Known = Callable[[np.random.Generator, int], Shown]


def main() -> None:
    """Writes both tables."""
    result = headgate.run(headgate.Scenario.parse(SCENARIO, seeds=RUNS), report=False)
    text = filled(PAGE.read_text(), "false claims", false_claims(result))
    PAGE.write_text(filled(text, "true claims", true_claims(result)))


def false_claims(result: headgate.Result) -> str:
    """For each statement and number of seeds, the share of the nulls in which it claims a difference."""
    rows = []
    for name, null in statements(result).items():
        rng = np.random.default_rng(1)
        rows.append((name, *(f"{100 * share_of(null, rng, seeds):.1f}" for seeds in SEEDS)))
    return table(("statement; false in % of tables", *(f"{seeds} seeds" for seeds in SEEDS)), rows)


def share_of(null: Null, rng: np.random.Generator, seeds: int, nulls: int = NULLS) -> float:
    """The share of nulls with so many seeds in which a difference is claimed."""
    return sum(null(QDISCS[number % len(QDISCS)], groups_of(rng, seeds)) for number in range(nulls)) / nulls


def statements(result: headgate.Result) -> dict[str, Null]:
    """Each statement, and whether it claims a difference in a null."""
    return {
        "`headgate run`: a `*` in the table, or a pair of its columns": run_table(result),
        "`headgate run`: a pair of the sentence's findings": run_findings(result),
        "`headgate compare`: a gap in the table": compare_table(result),
        "`headgate sensitivity`, `tune`: a change of a metric": changed_metrics(result),
        "`headgate evaluate`: a grade, if every threshold is the true mean": grades(result),
    }


def groups_of(rng: np.random.Generator, seeds: int) -> np.ndarray:
    """Groups of different runs, a row each."""
    return rng.permutation(RUNS)[: GROUPS * seeds].reshape(GROUPS, seeds)


def costs(result: headgate.Result) -> dict[str, Values]:
    """The costs of each run by column of the table and discipline."""
    rows = columns.rows(result)
    listed = columns.columns(result.scenario, rows)
    found = {column.title: column.costs(rows) for column in listed}
    return {title: {name: np.array(each) for name, each in of.items()} for title, of in found.items() if of}


def drawn(values: dict[str, Values], qdisc: str, groups: np.ndarray) -> ComparedPairs:
    """The comparison of groups of one discipline's runs."""
    return ComparedPairs(
        {
            name: {str(place): list(of[qdisc][group]) for place, group in enumerate(groups)}
            for name, of in values.items()
        }
    )


def run_table(result: headgate.Result) -> Null:
    """The stars of the table, and its pairs."""
    values = costs(result)

    def null(qdisc: str, groups: np.ndarray) -> bool:
        pairs = drawn(values, qdisc, groups)
        return any(pair.shown for pair in pairs.all) or any(pairs.starred(name) for name in values)

    return null


def run_findings(result: headgate.Result) -> Null:
    """The findings of the sentence."""
    labels = {qdisc: look.label for qdisc, look in style.looks(QDISCS).items()}
    values = {
        finding.name: {qdisc: np.array(finding.values[label], dtype=float) for qdisc, label in labels.items()}
        for finding in findings.of(result).findings
    }
    return lambda qdisc, groups: any(pair.shown for pair in drawn(values, qdisc, groups).all)


def compared(result: headgate.Result) -> dict[str, list[MeasuredPair]]:
    """The rows of `headgate compare` by discipline."""
    return {qdisc: [row for row in compare(result, result).rows if row.qdisc == qdisc] for qdisc in QDISCS}


def compare_table(result: headgate.Result) -> Null:
    """The gaps of two results as of independent runs: the first group beside the second."""
    rows = compared(result)

    def null(qdisc: str, groups: np.ndarray) -> bool:
        gaps = [gap(*(drawn_quantity(row.values[0], group) for group in groups[:2])) for row in rows[qdisc]]
        return any(p < ALPHA for p in holm([each.p for each in gaps if each is not None]))

    return null


#: The quantities of each discipline, by metric.
Measured = dict[str, dict[str, Quantity]]


def measured_goals(result: headgate.Result) -> tuple[Goals, Measured]:
    """The metrics as goals, and their values."""
    goals = Goals.of(METRICS, (), result.scenario)
    return goals, {qdisc: goals.measure(result, qdisc) for qdisc in QDISCS}


def changed_metrics(result: headgate.Result) -> Null:
    """The changes of several metrics under three settings, against the original one."""
    goals, measured = measured_goals(result)

    def null(qdisc: str, groups: np.ndarray) -> bool:
        rows = []
        for goal in goals.goals:
            was, *others = (drawn_quantity(measured[qdisc][str(goal.metric)], group) for group in groups)
            rows += [(goal, now, was) for now in others]
        return any(each.shown for each in changes(rows))

    return null


def threshold(metric: str, mean: float) -> Criterion:
    """A criterion whose two thresholds are `mean`: nothing between strength and failure is fair."""
    return Criterion(metric, "", mean, mean, "small", "large")


def grades(result: headgate.Result) -> Null:
    """The grades of several metrics in four cases by thresholds that are the means over all runs.

    No quantity is better or worse than its threshold, so each grade is false.
    """
    _, measured = measured_goals(result)

    def null(qdisc: str, groups: np.ndarray) -> bool:
        cells = [
            (drawn_quantity(quantity, group), threshold(metric, quantity.mean))
            for metric, quantity in measured[qdisc].items()
            for group in groups
        ]
        return any(grade is not Grade.INCONCLUSIVE for grade in graded(cells))

    return null


def drawn_quantity(quantity: Quantity, group: np.ndarray) -> Quantity:
    """The quantity of some runs."""
    return Quantity(tuple(quantity.per_seed[number] for number in group))


def true_claims(result: headgate.Result) -> str:
    """For each statement and kind of quantity, the share of known differences that the whole table shows."""
    known: dict[str, Known] = {
        "`headgate run`: a pair of a column": known_pairs(result),
        "`headgate compare`: a gap": known_gaps(result),
        "`headgate sensitivity`: a change": known_changes(result),
        "`headgate evaluate`: a grade": known_grades(result),
    }
    rows = [
        (f"{statement}; {kind}", *shares)
        for statement, draw in known.items()
        for kind, shares in shares_shown(draw).items()
    ]
    return table(("statement; kind of quantity; differences shown, %", *(f"{seeds} seeds" for seeds in SEEDS)), rows)


def shares_shown(draw: Known) -> dict[str, list[str]]:
    """By kind, the percentage of known differences shown with each number of seeds."""
    rng = np.random.default_rng(2)
    shares: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for seeds in SEEDS:
        each = [one for _ in range(KNOWN) for one in draw(rng, seeds)]
        for kind, of_kind in shares.items():
            shown = [is_shown for its_kind, is_shown in each if its_kind == kind]
            of_kind.append(f"{100 * sum(shown) / len(shown):.0f}")
    return shares


def known_difference(name: str, told: float, true: float) -> Shown:
    """Whether a table shows the `true` difference of a quantity: `told` has its sign, or is 0 if nothing is told.

    Nothing if the quantity has no kind, or does not differ.
    """
    kind = next((kind for kind, names in KINDS.items() if name in names), None)
    if kind is not None and true:
        yield kind, told * true > 0


def known_pairs(result: headgate.Result) -> Known:
    """Tables of the three disciplines, each with the same runs' seeds, as a command has them."""
    found = costs(result)

    def draw(rng: np.random.Generator, seeds: int) -> Shown:
        group = rng.permutation(RUNS)[:seeds]
        values = {name: {qdisc: list(of[qdisc][group]) for qdisc in QDISCS} for name, of in found.items()}
        for pair in ComparedPairs(values).all:
            of = found[pair.quantity]
            yield from known_difference(
                pair.quantity, pair.test.mean if pair.shown else 0.0, of[pair.first].mean() - of[pair.second].mean()
            )

    return draw


def known_gaps(result: headgate.Result) -> Known:
    """Comparisons of a result of one discipline with that of another, of independent runs."""
    rows = compared(result)

    def draw(rng: np.random.Generator, seeds: int) -> Shown:
        first, second = rng.permutation(RUNS)[: 2 * seeds].reshape(2, seeds)
        for one, other in combinations(QDISCS, 2):
            sides = [(a.measure.name, a.values[0], b.values[0]) for a, b in zip(rows[one], rows[other], strict=True)]
            gaps = [gap(drawn_quantity(a, first), drawn_quantity(b, second)) for _, a, b in sides]
            p_values = iter(holm([each.p for each in gaps if each is not None]))
            for (name, a, b), each in zip(sides, gaps, strict=True):
                if each is not None:
                    yield from known_difference(name, each.mean if next(p_values) < ALPHA else 0.0, b.mean - a.mean)

    return draw


def known_changes(result: headgate.Result) -> Known:
    """The changes of metrics from each discipline to the two others, as of settings of one."""
    goals, measured = measured_goals(result)

    def draw(rng: np.random.Generator, seeds: int) -> Shown:
        group = rng.permutation(RUNS)[:seeds]
        was, *others = QDISCS
        sides = [(goal, measured[now], measured[was]) for goal in goals.goals for now in others]
        rows = [(goal, *(drawn_quantity(side[str(goal.metric)], group) for side in both)) for goal, *both in sides]
        for change, (goal, *both) in zip(changes(rows), sides, strict=True):
            now, before = (side[str(goal.metric)].mean for side in both)
            yield from known_difference(str(goal.metric), change.test.mean if change.shown else 0.0, now - before)

    return draw


def known_grades(result: headgate.Result) -> Known:
    """The grades of each discipline by thresholds that are the means of the two others."""
    _, measured = measured_goals(result)

    def draw(rng: np.random.Generator, seeds: int) -> Shown:
        group = rng.permutation(RUNS)[:seeds]
        cells = [
            (quantity, threshold(metric, measured[other][metric].mean))
            for one, other in permutations(QDISCS, 2)
            for metric, quantity in measured[one].items()
        ]
        told = {Grade.STRENGTH: -1.0, Grade.FAILURE: 1.0, Grade.FAIR: 0.0, Grade.INCONCLUSIVE: 0.0}
        all_grades = graded((drawn_quantity(quantity, group), criterion) for quantity, criterion in cells)
        for (quantity, criterion), grade in zip(cells, all_grades, strict=True):
            yield from known_difference(criterion.what, told[grade], quantity.mean - criterion.weak)

    return draw


if __name__ == "__main__":
    main()
