"""Grades follow from intervals and thresholds, and sentences from grades."""

from typing import Any

import pytest

from headgate.analysis.judge import Quantity
from headgate.evaluate import words
from headgate.evaluate.grade import Grade, graded
from headgate.evaluate.section import Criterion


def criterion(strong: float, weak: float, *, relative: bool = False) -> Criterion:
    return Criterion(
        measure="m", what="idle capacity", unit="%", strong=strong, weak=weak, relative=relative,
        strength="keeps busy", failure="leaves idle",
    )  # fmt: skip


#: Student's t of two degrees of freedom is 4.303: values 1 apart are 4.303 / sqrt(3) = 2.48 either way.
@pytest.mark.parametrize(
    ("values", "grade"),
    [
        ((-0.5, 0.5, 1.5), Grade.FAIR),  # -2 to 3: perhaps a strength, surely no failure
        ((-2, -1, 0), Grade.STRENGTH),  # -3.5 to 1.5
        ((3.5, 4.5, 5.5), Grade.FAIR),  # 2.02 to 6.98
        ((6.6, 7.6, 8.6), Grade.INCONCLUSIVE),  # 5.1 to 10.1
        ((11.6, 12.6, 13.6), Grade.FAILURE),  # 10.1 to 15.1
        ((float("nan"),) * 3, Grade.INCONCLUSIVE),
    ],
)
def test_small_is_good(values: tuple[float, ...], grade: Grade):
    assert graded(Quantity(values), criterion(2, 10)) is grade


@pytest.mark.parametrize(
    ("values", "grade"),
    [
        ((90, 91), Grade.STRENGTH),  # 84.1 to 96.9
        ((70, 70), Grade.FAIR),
        ((40, 40.1), Grade.FAILURE),
        ((49, 50, 51), Grade.INCONCLUSIVE),
        ((90,), Grade.INCONCLUSIVE),  # one seed has no interval
    ],
)
def test_large_is_good(values: tuple[float, ...], grade: Grade):
    assert graded(Quantity(values), criterion(80, 50)) is grade


def row(
    qdisc: str, case: str, grade: str, mean: float, *, ecn: bool = False, relative: float | None = None
) -> dict[str, Any]:
    value = {"mean": mean, "half": 2.0, "per_seed": [mean]}
    compared = value if relative is None else {"mean": relative, "half": 0.05, "per_seed": [relative]}
    return {
        "qdisc": qdisc, "case": case, "ecn": ecn, "measure": "idle", "what": "idle capacity", "unit": "%",
        "strong": 3, "weak": 10, "relative": relative is not None, "grade": grade, "value": value, "compared": compared,
        "words": {"strength": "keeps busy", "failure": "leaves idle"},
    }  # fmt: skip


def section(*rows: dict[str, Any]) -> dict[str, Any]:
    test = {"name": "t", "place": "6.2", "title": "Round trips", "grades": list(rows)}
    return {"number": 6, "tests": [test], "headlines": []}


def test_the_sentence_of_a_failure_has_its_interval_ecn_and_droptail():
    graded_section = section(
        row("droptail", "RTT 200 ms", "strength", 1),
        row("sfb", "RTT 200 ms", "failure", 23),
        row("sfb", "RTT 200 ms", "failure", 20, ecn=True),
        row("sfb", "RTT 20 ms", "strength", 2),
    )
    lines = list(words.sentences(graded_section, "sfb", Grade.FAILURE))
    assert lines == ["6.2 leaves idle: 23.0 ± 2.0 %, with ECN 20.0 ± 2.0 %, DropTail 1.00 (RTT 200 ms)"]


def test_the_sentence_of_many_cases_has_the_least_and_the_greatest():
    rows = [row("sfb", f"RTT {rtt} ms", "failure", rtt / 10) for rtt in (560, 200, 300)]
    lines = list(words.sentences(section(*rows), "sfb", Grade.FAILURE))
    assert lines == ["6.2 leaves idle: in all 3 cases, from 20.0 ± 2.0 % (RTT 200 ms) to 56.0 ± 2.0 % (RTT 560 ms)"]


def test_the_sentence_of_a_relative_measure_has_its_percentage_of_droptail():
    lines = list(words.sentences(section(row("sfb", "", "failure", 90, relative=0.92)), "sfb", Grade.FAILURE))
    assert lines == ["6.2 leaves idle: 90.0 %, 92.0 ± 5.0 % of DropTail's (Round trips)"]


def test_an_inconclusive_grading_has_only_the_name_of_its_criterion():
    lines = list(words.sentences(section(row("sfb", "", "inconclusive", 9)), "sfb", Grade.INCONCLUSIVE))
    assert lines == ["6.2 idle capacity: 9.00 ± 2.0 % (Round trips)"]


@pytest.mark.parametrize(
    ("grades", "verdict"),
    [
        (("strength", "fair"), "strong"),
        (("strength", "fair", "inconclusive"), "fair"),
        (("strength", "strength", "failure"), "mixed"),
        (("strength", "failure"), "weak"),
    ],
)
def test_a_section_has_a_verdict(grades: tuple[str, ...], verdict: str):
    rows = [row("sfb", str(number), grade, 1) for number, grade in enumerate(grades)]
    assert words.counts(section(*rows), "sfb").verdict == verdict


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        (
            {"sfb": ["failure", "fair"], "faba": ["strength", "fair"]},
            "FABA has the fewest failures, 0 of 2 gradings, and the most strengths, 1",
        ),
        (
            {"sfb": ["failure", "strength"], "faba": ["fair", "fair"]},
            "FABA has the fewest failures, 0 of 2 gradings; SFB has the most strengths, 1 of 2",
        ),
    ],
)
def test_the_answer_names_the_sturdiest_and_the_strongest(grades: dict[str, list[str]], expected: str):
    names = {"droptail": "DropTail", "sfb": "SFB", "faba": "FABA"}
    given = {"droptail": ["strength", "strength"], **grades}
    rows = [row(spec, str(case), grade, 1) for spec, each in given.items() for case, grade in enumerate(each)]
    document = {
        "disciplines": [{"spec": spec, "label": label} for spec, label in names.items()],
        "sections": [section(*rows)],
    }
    assert words.answer(document) == expected
