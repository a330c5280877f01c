"""Figures of `why`, `compare`, `tune`, `sensitivity`, `evaluate` and `paper` can be read, for few and for many of all.

Figures of `run`, among them `pair`, are in `test_looks`.
"""

import pytest
from tests.looks import faults
from tests.plots.results import (
    MANY,
    ONE,
    SIX,
    MadeUpResults,
    evaluation,
    outcome_of,
    ran,
    sensitivity_of,
)

import headgate
from headgate.compare.figure import sides
from headgate.compare.gaps import compare
from headgate.evaluate import ellipses
from headgate.papers import catalogue
from headgate.plot import figure_style
from headgate.plot.flow import flow
from headgate.tuning import figures, sensitivity_show
from headgate.why import explain

SEVEN = ["droptail", "red:minth=25%,maxth=50%", "fred", "choke", "blue", "sfb", "faba"]
ALL = [each.name for each in headgate.disciplines()][:31]
#: Groups of flows, disciplines and seeds.
RESULTS = {
    "1 flow, 2 disciplines, 20 seeds": (ONE, ["droptail", "faba"], 20),
    "six groups, 2 disciplines": (SIX, ["droptail", "fq_codel"], 2),
    "3000 flows, 7 disciplines, 1 seed": (MANY, SEVEN, 1),
    "six groups, 31 disciplines": (SIX, ALL, 1),
}


@pytest.mark.parametrize("case", RESULTS)
def test_the_comparison_can_be_read(case: str):
    result = ran(*RESULTS[case])
    figure = sides(compare(result, result))
    assert faults(figure) == []
    # A title with an ellipsis would hide its unit or the name of its group.
    assert not any("…" in axes.get_title(loc="left") for axes in figure.axes)


@pytest.mark.parametrize(("groups", "record", "shown"), [
    (ONE, '[record]\nevents = "decisions"\nflows = ["tcp/0"]\n', (0,)),
    (SIX, '[record]\nevents = "decisions"\nflows = ["downloads/0"]\n', (0, 12)),
    (MANY, '[record]\nevents = "decisions"\n', (2999,)),
    (SIX, "", (9,)),
])  # fmt: skip
def test_the_explanation_of_a_flow_can_be_read(groups: str, record: str, shown: tuple[int, ...]):
    result = ran(groups, ["red"], extra=record)
    for number in shown:
        assert faults(flow(result, explain(result, number))) == []


@pytest.mark.parametrize(("qdisc", "params", "objectives"), [
    ("red", [], ["p95 queue delay"]),
    ("sfb", [], ["p95 queue delay", "goodput of cbr"]),
    ("faba", ["maxp", "gentle"], ["p95 queue delay", "goodput", "drop rate"]),
])  # fmt: skip
def test_a_search_can_be_read(qdisc: str, params: list[str], objectives: list[str]):
    drawn = figures.figures(*outcome_of(qdisc, params, objectives))
    assert {"search", "importance"} <= set(drawn)
    assert {name: found for name, figure in drawn.items() if (found := faults(figure))} == {}


@pytest.mark.parametrize("seeds", [1, 5])
@pytest.mark.parametrize(("qdisc", "params"), [("red", []), ("sfb", []), ("droptail", ["limit"])])
def test_the_sensitivity_can_be_read(qdisc: str, params: list[str], seeds: int):
    drawn = sensitivity_show.figure(sensitivity_of(qdisc, params, ["p95 queue delay", "goodput"], seeds))
    assert faults(drawn) == []


@pytest.mark.parametrize(("specs", "seeds", "numbers"), [(["faba"], 20, {4, 7, 10}), (SEVEN[2:], 1, {5, 8})])
def test_an_evaluation_can_be_read(specs: list[str], seeds: int, numbers: set[int]):
    document = evaluation(specs, seeds)
    sections = [each for each in document["sections"] if each["number"] in numbers]
    with figure_style.applied():
        drawn = {each["number"]: ellipses.figure(each, document["disciplines"]) for each in sections}
    assert {number: found for number, figure in drawn.items() if (found := faults(figure))} == {}


@pytest.mark.parametrize("paper", ["blue", "faba", "comparison", "red-pd", "breathe"])
def test_figures_of_papers_can_be_read(paper: str):
    """Their numbers are made up, and legends have their places beside the real ones. Single runs are short."""
    found = {}
    for name in catalogue.chosen([paper]):
        experiment = catalogue.experiment(name)
        with figure_style.applied():
            found[name] = faults(experiment.plot(MadeUpResults(experiment)), legends=False)
    assert found
    assert {name: each for name, each in found.items() if each} == {}


def test_a_planted_overlap_in_the_figure_of_a_command_is_found():
    figure = sensitivity_show.figure(sensitivity_of("red", [], ["p95 queue delay"]))
    assert faults(figure) == []
    figure.axes[0].text(0.5, 0.5, "a label", transform=figure.axes[0].transAxes)
    figure.axes[0].text(0.5, 0.5, "another", transform=figure.axes[0].transAxes)
    assert faults(figure) == ["'a label' overlaps 'another'"]
