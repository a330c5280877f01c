"""Conditions of claims: on one case, on each case that was run, and with bounds that depend on the case."""

import math

import pytest

from headgate.analysis.judge import Quantity, Verdict
from headgate.experiment import findings
from headgate.experiment.claims import (
    Condition,
    above,
    along,
    at_most,
    below,
    every,
    falls,
    in_each_case,
    m,
    mean,
    near,
    over,
    rises,
    some,
)
from headgate.experiment.declare import Basis, Claim, Experiment, grid
from headgate.experiment.results import ExperimentResults, NotRunError

CASES = grid(buffer=(10, 20, 40))


@pytest.fixture
def results() -> ExperimentResults:
    """Two disciplines with three buffers; the largest was not run. Twice the buffer halves the loss."""
    experiment = Experiment(
        title="t", place="p", about="", qdiscs={"RED": "red", "SFB": "sfb"}, claims=(), plot=lambda _: None, cases=CASES
    )
    rows = {"RED": (0.4, 0.2), "SFB": (0.1, 0.05)}
    values = {
        ("loss", label, number): Quantity((loss,), exact=True)
        for label, row in rows.items()
        for number, loss in enumerate(row)
    }
    return ExperimentResults(experiment, experiment.qdiscs, CASES[:2], values)


def verdict(condition: Condition, results: ExperimentResults) -> Verdict:
    return condition(results).verdict


def test_a_term_has_the_value_of_the_case_that_it_names(results: ExperimentResults):
    higher = above(m("loss", "RED", buffer=10), m("loss", "SFB", buffer=10))(results)
    assert higher[:2] == (Verdict.HOLDS, "claimed above 0.100, measured 0.400")
    assert verdict(above(m("loss", "RED", buffer=20), 0.3), results) is Verdict.DIFFERS
    assert verdict(above(m("loss", "RED", buffer=10), m("loss", "SFB", buffer=10), times=5), results) is Verdict.DIFFERS


def test_terms_can_be_subtracted_multiplied_and_divided(results: ExperimentResults):
    red, sfb = m("loss", "RED", buffer=10), m("loss", "SFB", buffer=10)
    assert (red / sfb).value(results, {}).mean == pytest.approx(4)
    assert (red - sfb).value(results, {}).mean == pytest.approx(0.3)
    assert (red * 100).value(results, {}).mean == pytest.approx(40)


def test_a_mean_is_over_the_selected_cases_that_were_run(results: ExperimentResults):
    assert mean("loss", "RED").value(results, {}).mean == pytest.approx(0.3)
    assert mean("loss", "RED", buffer=20).value(results, {}).mean == pytest.approx(0.2)
    with pytest.raises(NotRunError, match="leaves out"):
        mean("loss", "RED", buffer=40).value(results, {})


def test_in_each_case_judges_every_case_that_was_run(results: ExperimentResults):
    assert (
        in_each_case(above(m("loss", "RED"), m("loss", "SFB")))(results).numbers
        == "claimed above 0.100, measured 0.400 (and 1 more)"
    )
    assert verdict(in_each_case(above(m("loss", "RED"), 0.3)), results) is Verdict.DIFFERS
    assert verdict(in_each_case(above(m("loss", "RED"), 0.3), buffer=10), results) is Verdict.HOLDS
    assert verdict(in_each_case(above(m("loss", "RED"), 0.3), buffer=lambda size: size < 20), results) is Verdict.HOLDS
    assert verdict(in_each_case(near(m("loss", "RED"), lambda case: 4 / case["buffer"], within=0.01)), results) is (
        Verdict.HOLDS
    )


def test_in_each_case_may_compare_with_a_named_case(results: ExperimentResults):
    no_more_than_with_10 = in_each_case(at_most(m("loss", "RED") - m("loss", "RED", buffer=10), 0))
    assert verdict(no_more_than_with_10, results) is Verdict.HOLDS


def test_a_condition_on_a_case_that_was_not_run_raises_not_run_error(results: ExperimentResults):
    for condition in (above(m("loss", "RED", buffer=40), 0), in_each_case(above(m("loss", "RED"), 0), buffer=40)):
        with pytest.raises(NotRunError, match="leaves out"):
            condition(results)


def test_every_and_some_combine_conditions(results: ExperimentResults):
    conditions = [below(m("loss", label, buffer=10), 0.2) for label in ("RED", "SFB")]
    assert verdict(every(conditions), results) is Verdict.DIFFERS
    assert verdict(some(conditions), results) is Verdict.HOLDS


def test_curves_over_an_axis_and_along_terms(results: ExperimentResults):
    assert verdict(falls(over("buffer", "loss", "RED")), results) is Verdict.HOLDS
    assert verdict(rises(along({label: m("loss", label, buffer=10) for label in ("SFB", "RED")})), results) is (
        Verdict.HOLDS
    )


def test_the_numbers_of_a_finding_come_from_the_results(results: ExperimentResults):
    written = "RED loses {loss | RED | buffer=20 | 100} %, {loss | SFB | buffer=10}, and {loss | RED | buffer=40}."
    assert findings.filled(written, results) == "RED loses 20.0 %, 0.100, and (case left out of the shortened run)."


def test_a_finding_on_a_measure_without_a_value_says_so(results: ExperimentResults):
    results.values["loss", "RED", 0] = Quantity((math.nan,))
    written = "RED loses {loss | RED | buffer=10 | 100} %."
    assert findings.filled(written, results) == "RED loses (no run has a value) %."
    assert Claim("a", below(m("loss", "RED"), 1)).finding == ""


def test_a_number_in_a_condition_counts_as_ours_unless_it_is_declared_as_the_papers():
    red, sfb = m("loss", "RED"), m("loss", "SFB")
    orders = (above(red, sfb), rises(over("buffer", "loss", "RED")), in_each_case(every([below(sfb, red)])))
    numbers = (
        above(red, sfb, times=2),
        below(red, 0.3),
        at_most(red, 0),
        near(red, 1, within=0.1),
        in_each_case(some([above(red, sfb), below(red, lambda case: case["buffer"])])),
    )
    assert [Claim("a", order).counts_as for order in orders] == [Basis.PAPER] * 3
    assert [Claim("a", number).counts_as for number in numbers] == [Basis.OURS] * 5
    assert Claim("a", numbers[0], basis=Basis.PAPER).counts_as is Basis.PAPER


def test_a_condition_names_the_disciplines_that_it_compares():
    red, sfb = m("loss", "RED"), m("loss", "SFB")
    assert above(red, 0.3).labels == {"RED"}
    assert rises(over("buffer", "loss", "SFB")).labels == {"SFB"}
    both = (below(sfb, red), below(red * 2 - sfb, 1), falls(along({"a": red, "b": sfb})), some([below(sfb / red, 1)]))
    assert all(in_each_case(every([each])).labels == {"RED", "SFB"} for each in both)
