"""Measures how often differences are claimed: `make error-rates` writes the tables of docs/explanation/seeds.md.

Each *null* draws four groups of seeds from the runs of one discipline, so that no difference between the groups is
real. A claim of any difference is false. Each *known difference* draws one group of seeds from each of three
disciplines whose means over all runs differ. The statements are those that the commands print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from pages import filled, table

import headgate
from headgate import style
from headgate.analysis import findings
from headgate.analysis.judge import Quantity
from headgate.analysis.pairs import ComparedPairs
from headgate.analysis.significance import ALPHA, holm
from headgate.compare.gaps import compare, gap
from headgate.evaluate.grade import Grade, graded
from headgate.evaluate.section import Criterion
from headgate.terminal import columns
from headgate.tuning.goals import Goals, changes

PAGE = Path(__file__).parent / "explanation" / "seeds.md"
SEEDS = (2, 3, 5, 10, 20)
NULLS = 3000
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
#: The columns of the table by their kind.
KINDS = {
    "means (goodput, Jain's index)": ("TCP\nMbit/s", "TCP % of\nfair", "UDP times\nfair", "Jain's\nindex"),
    "quantiles (p95 of delays)": ("tcp\np95 ms", "all p95\nms"),
    "counts (drop rate)": ("TCP\ndrop %",),
}

#: Values of each run, by quantity.
Values = dict[str, np.ndarray]
#: One null: the groups' runs, a row each, and whether a difference is claimed.
Null = Callable[[str, np.ndarray], bool]


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
        "`headgate evaluate`: a grade whose threshold is the true mean": grades(result),
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


def compare_table(result: headgate.Result) -> Null:
    """The gaps of two results as of independent runs: the first group beside the second."""
    rows = {qdisc: [row.values[0] for row in compare(result, result).rows if row.qdisc == qdisc] for qdisc in QDISCS}

    def null(qdisc: str, groups: np.ndarray) -> bool:
        gaps = [gap(*(Quantity(tuple(values(row, group))) for group in groups[:2])) for row in rows[qdisc]]
        return any(p < ALPHA for p in holm([each.p for each in gaps if each is not None]))

    return null


def changed_metrics(result: headgate.Result) -> Null:
    """The changes of several metrics under three settings, against the original one."""
    goals = Goals.of(("p95 queue delay", "goodput", "timeouts", "jain"), (), result.scenario)
    measured = {qdisc: goals.measure(result, qdisc) for qdisc in QDISCS}

    def null(qdisc: str, groups: np.ndarray) -> bool:
        rows = []
        for goal in goals.goals:
            quantity = measured[qdisc][str(goal.metric)]
            was, *others = (Quantity(tuple(values(quantity, group))) for group in groups)
            rows += [(goal, now, was) for now in others]
        return any(each.shown for each in changes(rows))

    return null


def grades(result: headgate.Result) -> Null:
    """The grade of the first group by a threshold that is the mean over all runs: it is neither better nor worse."""
    goals = Goals.of(("p95 queue delay",), (), result.scenario)
    measured = {qdisc: goals.measure(result, qdisc)[str(goals.goals[0].metric)] for qdisc in QDISCS}
    mean = {qdisc: float(np.mean(quantity.per_seed)) for qdisc, quantity in measured.items()}

    def null(qdisc: str, groups: np.ndarray) -> bool:
        criterion = Criterion("p95 queue delay", "ms", mean[qdisc], mean[qdisc], "short", "long")
        return graded(Quantity(tuple(values(measured[qdisc], groups[0]))), criterion) is not Grade.INCONCLUSIVE

    return null


def values(quantity: Quantity, group: np.ndarray) -> Iterator[float]:
    """The values of some runs."""
    return (quantity.per_seed[number] for number in group)


def true_claims(result: headgate.Result) -> str:
    """For each kind of column, the share of real differences of three disciplines that the whole table shows."""
    found = costs(result)
    rng = np.random.default_rng(2)
    shown: dict[str, list[Sequence[bool]]] = {kind: [] for kind in KINDS}
    for seeds in SEEDS:
        tables = [_three(found, rng, seeds) for _ in range(NULLS)]
        for kind, titles in KINDS.items():
            mine = [pair.shown for each in tables for pair in each.all if pair.quantity in titles]
            shown[kind].append(mine)
    rows = [(kind, *(f"{100 * sum(each) / len(each):.0f}" for each in shares)) for kind, shares in shown.items()]
    return table(("kind of column; differences shown, %", *(f"{seeds} seeds" for seeds in SEEDS)), rows)


def _three(found: dict[str, Values], rng: np.random.Generator, seeds: int) -> ComparedPairs:
    """A table of three disciplines, each with the same runs' seeds, as a command has them."""
    group = rng.permutation(RUNS)[:seeds]
    return ComparedPairs({name: {qdisc: list(of[qdisc][group]) for qdisc in QDISCS} for name, of in found.items()})


if __name__ == "__main__":
    main()
