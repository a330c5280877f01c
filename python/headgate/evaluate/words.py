"""Sentences about strengths and failures, from graded numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from headgate import style
from headgate.analysis.significance import LEAST_SEEDS
from headgate.evaluate.candidates import BASELINE
from headgate.evaluate.grade import Grade

#: One grading of the document: a criterion, a test case with or without ECN, and a discipline.
Grading = Mapping[str, Any]


class GradeCounts(NamedTuple):
    """The number of a discipline's gradings by grade."""

    strengths: int
    failures: int
    unclear: int
    whole: int

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        if self.unclear == self.whole:
            return "undecided"
        if self.failures == 0:
            return "strong" if 2 * self.strengths >= self.whole else "fair"
        return "weak" if self.failures >= self.strengths else "mixed"


def counts(section: Mapping[str, Any], qdisc: str) -> GradeCounts:
    """The gradings of a discipline in one section."""
    grades = [row["grade"] for test in section["tests"] for row in test["grades"] if row["qdisc"] == qdisc]
    strengths, failures = grades.count(Grade.STRENGTH.value), grades.count(Grade.FAILURE.value)
    return GradeCounts(strengths, failures, grades.count(Grade.INCONCLUSIVE.value), len(grades))


def total(document: Mapping[str, Any], qdisc: str) -> GradeCounts:
    """The gradings of a discipline in all sections."""
    by_section = [counts(section, qdisc) for section in document["sections"]]
    return GradeCounts(*(sum(column) for column in zip(*by_section, strict=True)))


def answer(document: Mapping[str, Any]) -> str:
    """The evaluation in a sentence."""
    seeds = document["seeds"]
    if seeds < LEAST_SEEDS:
        run = "one seed was run" if seeds == 1 else f"{seeds} seeds were run"
        return f"No grade is decided: {run}, at least {LEAST_SEEDS} are needed"
    totals = {each["label"]: total(document, each["spec"]) for each in evaluated(document)}
    fewest = min(count.failures / count.whole for count in totals.values())
    most = max(count.strengths / count.whole for count in totals.values())
    sturdy = [label for label, count in totals.items() if count.failures / count.whole == fewest]
    strong = [label for label, count in totals.items() if count.strengths / count.whole == most]
    fails, wins = totals[sturdy[0]], totals[strong[0]]
    fewest_failures = (
        f"{style.listed(sturdy)} {_has(sturdy)} the fewest failures, {fails.failures} of {fails.whole} gradings"
    )
    if len(totals) == 1:
        return f"{sturdy[0]} has {wins.strengths} strengths and {fails.failures} failures in {fails.whole} gradings"
    if strong == sturdy:
        return f"{fewest_failures}, and the most strengths, {wins.strengths}"
    return (
        f"{fewest_failures}; {style.listed(strong)} {_has(strong)} the most strengths, {wins.strengths} of {wins.whole}"
    )


def all_sentences(document: Mapping[str, Any], qdisc: str, grade: Grade) -> list[str]:
    """The sentences of all sections."""
    return [line for section in document["sections"] for line in sentences(section, qdisc, grade)]


def sentences(section: Mapping[str, Any], qdisc: str, grade: Grade) -> Iterator[str]:
    """A sentence for each criterion of a section on which a discipline has this grade, over all tests."""
    rows = [
        {**row, "place": test["place"], "where": row["case"] or test["title"]}
        for test in section["tests"]
        for row in test["grades"]
    ]
    for what in dict.fromkeys(row["what"] for row in rows):
        same = [row for row in rows if row["what"] == what]
        mine = [row for row in same if row["qdisc"] == qdisc]
        fitting = [row for row in mine if row["grade"] == grade.value]
        if fitting:
            base = [row for row in same if row["qdisc"] == BASELINE != qdisc]
            places = ", ".join(dict.fromkeys(row["place"] for row in fitting))
            # There are no words for an inconclusive grading: the criterion's name replaces them.
            yield f"{places} {fitting[0]['words'].get(grade.value, what)}: {_amounts(fitting, mine, base)}"


def _amounts(rows: Sequence[Grading], mine: Sequence[Grading], base: Sequence[Grading]) -> str:
    """The numbers of each case if there are few; else the least and the greatest."""
    cases = list(dict.fromkeys(row["where"] for row in rows))
    if len(cases) <= 2:
        return "; ".join(_case([row for row in rows if row["where"] == case], base) for case in cases)
    ordered = sorted(rows, key=lambda row: float(row["compared"]["mean"] or 0))
    least, most = ordered[0], ordered[-1]
    many = f"in all {len(mine)} cases" if len(rows) == len(mine) else f"in {len(rows)} of {len(mine)} cases"
    return f"{many}, from {_amount(least)} ({_named(least)}) to {_amount(most)} ({_named(most)})"


def _case(rows: Sequence[Grading], base: Sequence[Grading]) -> str:
    """The numbers of one case, without and with ECN. DropTail's follows unless they are relative to it."""
    amounts = ", ".join(f"with ECN {_amount(row)}" if row["ecn"] else _amount(row) for row in rows)
    droptail = [row for row in base if row["where"] == rows[0]["where"]]
    beside = f", DropTail {mean(droptail[0]['value'])}" if droptail else ""
    return f"{amounts}{beside} ({rows[0]['where']})"


def _amount(row: Grading) -> str:
    if not row["relative"]:
        return f"{interval(row['value'])} {row['unit']}"
    return f"{mean(row['value'])} {row['unit']}, {interval(row['compared'], 100)} % of DropTail's"


def mean(numbers: Mapping[str, Any]) -> str:
    """A number without its margin of error."""
    return style.MISSING if numbers["mean"] is None else shown(numbers["mean"])


def _named(row: Grading) -> str:
    return f"{row['where']}, ECN" if row["ecn"] else str(row["where"])


def interval(numbers: Mapping[str, Any], scale: float = 1) -> str:
    """A number with its margin of error: `23 ± 2`."""
    if numbers["mean"] is None:
        return style.MISSING
    half = shown(scale * numbers["half"], 2)
    return shown(scale * numbers["mean"]) + (f" ± {half}" if half != "0" else "")


def shown(value: float, digits: int = 3) -> str:
    """A number with `digits` digits and at most two decimals."""
    rounded = style.fixed(value, min(style.decimals(value, digits), 2)) if value else "0"
    return rounded if rounded.strip("-0.") else "0"


def evaluated(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The evaluated disciplines without the baseline, or DropTail if it is the only one."""
    return [each for each in document["disciplines"] if each["spec"] != BASELINE] or document["disciplines"]


def _has(labels: Sequence[str]) -> str:
    return "has" if len(labels) == 1 else "have"
