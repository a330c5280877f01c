"""Grades follow from intervals and thresholds, and sentences from grades."""

import math
from typing import Any

import numpy as np
import pytest

from headgate.analysis.judge import Quantity
from headgate.analysis.significance import LEAST_SEEDS
from headgate.evaluate import show, words
from headgate.evaluate.grade import Grade, graded
from headgate.evaluate.section import Criterion


def criterion(strong: float, weak: float, *, relative: bool = False) -> Criterion:
    return Criterion(
        measure="m", what="idle capacity", unit="%", strong=strong, weak=weak, relative=relative,
        strength="keeps busy", failure="leaves idle",
    )  # fmt: skip


def around(mean: float) -> tuple[float, ...]:
    """Five seeds whose interval is 2.48 either way: Student's t of four degrees of freedom is 2.776."""
    return tuple(mean + 2.48 / 2.776 * math.sqrt(8) * step for step in (-1, -0.5, 0, 0.5, 1.0))


def grade_alone(values: tuple[float, ...], criterion: Criterion, repeats: tuple[int, ...] = ()) -> Grade:
    """The grade in a table of one quantity."""
    (grade,) = graded([(Quantity(values, repeats), criterion)])
    return grade


@pytest.mark.parametrize(
    ("values", "grade"),
    [
        (around(0.5), Grade.FAIR),  # -2 to 3: perhaps a strength, surely no failure
        (around(-1), Grade.STRENGTH),  # -3.5 to 1.5
        (around(4.5), Grade.FAIR),  # 2.02 to 6.98
        (around(7.6), Grade.INCONCLUSIVE),  # 5.1 to 10.1
        (around(12.5), Grade.INCONCLUSIVE),  # 10.02 to 14.98: skewed values may have such an interval
        (around(13), Grade.FAILURE),  # 10.5 to 15.5
        ((float("nan"),) * 5, Grade.INCONCLUSIVE),
    ],
)
def test_small_is_good(values: tuple[float, ...], grade: Grade):
    assert grade_alone(values, criterion(2, 10)) is grade


@pytest.mark.parametrize("seeds", range(1, LEAST_SEEDS))
def test_fewer_than_five_seeds_have_no_grade(seeds: int):
    for value in (0.0, 5.0, 20.0):
        values = tuple(value + 0.01 * seed for seed in range(seeds))
        assert grade_alone(values, criterion(2, 10)) is Grade.INCONCLUSIVE
        assert grade_alone(values * 9, criterion(2, 10), tuple(range(seeds)) * 9) is Grade.INCONCLUSIVE


@pytest.mark.parametrize(
    ("values", "grade"),
    [
        (around(90), Grade.STRENGTH),
        ((70,) * 5, Grade.FAIR),
        (around(40), Grade.FAILURE),
        (around(50), Grade.INCONCLUSIVE),
    ],
)
def test_large_is_good(values: tuple[float, ...], grade: Grade):
    assert grade_alone(values, criterion(80, 50)) is grade


def grades_in_table(values: tuple[float, ...], other: tuple[float, ...], number: int) -> set[Grade]:
    """The grades of a quantity beside as many others, before and behind them."""
    mine, others = (Quantity(values), criterion(2, 10)), [(Quantity(other), criterion(2, 10))] * number
    return {graded([mine, *others])[0], graded([*others, mine])[-1]}


def test_a_grade_among_many_doubtful_ones_needs_more_evidence():
    assert grades_in_table(around(13), around(10), 20) == {Grade.INCONCLUSIVE}
    assert grades_in_table(around(-1), around(10), 20) == {Grade.FAIR}
    assert grades_in_table(around(4.5), around(10), 20) == {Grade.INCONCLUSIVE}


@pytest.mark.parametrize("clear", [(0.5, 0.50001, 0.49999, 0.50002, 0.49998), (15.0, 15.1, 14.9, 15.2, 14.8)])
def test_grades_without_doubt_leave_their_error_to_the_others(clear: tuple[float, ...]):
    assert grades_in_table(around(13), clear, 20) == {Grade.FAILURE}
    assert grades_in_table(around(-1), clear, 20) == {Grade.STRENGTH}


@pytest.mark.parametrize("skewed", [False, True])
def test_a_whole_table_of_means_on_their_thresholds_has_a_grade_in_at_most_one_of_twenty(skewed: bool):
    """The values have a normal distribution, or a gamma distribution of skewness 1."""
    rng = np.random.default_rng(1)
    false = 0
    for _ in range(400):
        cells = rng.gamma(4, 1, (15, 8)) + 6 if skewed else rng.normal(10, 1, (15, 8))
        table = [(Quantity(tuple(cell)), criterion(10, 10 + 1e-9)) for cell in cells]
        false += any(grade is not Grade.INCONCLUSIVE for grade in graded(table))
    # 5 % of 400 and three standard deviations.
    assert false <= 20 + 3 * 4.4


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
        (("inconclusive", "inconclusive"), "undecided"),
    ],
)
def test_a_section_has_a_verdict(grades: tuple[str, ...], verdict: str):
    rows = [row("sfb", str(number), grade, 1) for number, grade in enumerate(grades)]
    assert words.counts(section(*rows), "sfb").verdict == verdict


@pytest.mark.parametrize(("seeds", "run"), [(1, "one seed was run"), (3, "3 seeds were run")])
def test_with_fewer_than_five_seeds_the_answer_and_the_head_say_that_nothing_is_decided(seeds: int, run: str):
    document = {
        "disciplines": [{"spec": "sfb", "label": "SFB"}],
        "sections": [section(row("sfb", "a", "inconclusive", 1))],
        "seeds": seeds,
        "quick": True,
    }
    assert words.answer(document) == f"No grade is decided: {run}, at least 5 are needed"
    assert show.kind(document).endswith("; fewer than 5 seeds decide no grade")
    assert "decide" not in show.kind(document | {"seeds": 5})


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
        "seeds": 5,
    }
    assert words.answer(document) == expected
