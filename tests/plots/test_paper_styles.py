"""Figures fit a paper: one or both columns wide, serif text of 8 points, no text over another or cut off."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.looks import drawn_texts, faults
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
from tests.plots.test_looks import CASES

from headgate import plot
from headgate.compare.figure import sides
from headgate.compare.gaps import compare
from headgate.evaluate import ellipses
from headgate.papers import catalogue
from headgate.plot import figure_style, printing
from headgate.plot.flow import flow
from headgate.style import FigureFiles, FigureFormat, PageStyle
from headgate.tuning import figures, sensitivity_show
from headgate.why import explain

WIDTHS_IN = {PageStyle.PAPER: 3.5, PageStyle.PAPER2: 7.16}
PAPER_STYLES = pytest.mark.parametrize("page", WIDTHS_IN, ids=str)
SEVEN = ["droptail", "red:minth=25%,maxth=50%", "fred", "choke", "blue", "sfb", "faba"]


def faults_in(page: PageStyle, make: Callable[[], Figure], *, legends: bool = True) -> list[str]:
    """The faults of a figure in a paper's style; its width, the size of text and the font are checked too."""
    with figure_style.using(page), figure_style.applied():
        figure = make()
        printing.lay_out(figure)
        found = faults(figure, legends=legends)
        if figure.get_figwidth() != WIDTHS_IN[page]:
            found.append(f"{figure.get_figwidth()} in wide")
        found += [f"{text.get_text()!r} {wrong}" for text in drawn_texts(figure) if (wrong := _wrong(text))]
    return found


def _wrong(text: Text) -> str:
    if text.get_fontsize() != 8:
        return f"has {text.get_fontsize()} pt"
    return "" if text.get_fontfamily()[0] == "serif" else f"is in {text.get_fontfamily()}"


def all_faults(page: PageStyle, makers: Mapping[str, Callable[[], Figure]]) -> dict[str, list[str]]:
    return {name: found for name, make in makers.items() if (found := faults_in(page, make))}


@PAPER_STYLES
@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("31")])
def test_figures_of_a_run_fit(make, case: str, page: PageStyle):
    result = make(interval_s=10.0, transferring=True, **CASES[case])
    with figure_style.using(page), figure_style.applied():
        drawn = plot.figures(result)
    assert {"overview", "goodput", "delay", "tradeoff", "queue", "completion"} <= drawn.keys()
    assert all_faults(page, {name: partial(drawn.__getitem__, name) for name in drawn}) == {}


@PAPER_STYLES
@pytest.mark.parametrize(("groups", "qdiscs", "seeds"), [
    (ONE, ["droptail", "faba"], 5), (SIX, ["droptail", "fq_codel"], 2), (MANY, SEVEN, 1),
], ids=["one flow", "six groups", "3000 flows"])  # fmt: skip
def test_the_comparison_and_the_explanation_fit(groups: str, qdiscs: list[str], seeds: int, page: PageStyle):
    result = ran(groups, qdiscs, seeds, extra='[record]\nevents = "decisions"\n')
    makers = {
        "sides": lambda: sides(compare(result, result)),
        "flow": lambda: flow(result, explain(result, 0)),
    }
    assert all_faults(page, makers) == {}


@PAPER_STYLES
@pytest.mark.parametrize(("qdisc", "params", "objectives"), [
    ("red", [], ["p95 queue delay"]),
    ("sfb", [], ["p95 queue delay", "goodput of cbr"]),
    ("faba", ["maxp", "gentle"], ["p95 queue delay", "goodput", "drop rate"]),
])  # fmt: skip
def test_a_search_fits(qdisc: str, params: list[str], objectives: list[str], page: PageStyle):
    makers = figures.makers(*outcome_of(qdisc, params, objectives))
    assert {"search", "importance"} <= set(makers)
    assert all_faults(page, makers) == {}


@PAPER_STYLES
@pytest.mark.parametrize(("qdisc", "params"), [("red", []), ("sfb", []), ("droptail", ["limit"])])
def test_the_sensitivity_fits(qdisc: str, params: list[str], page: PageStyle):
    varied = sensitivity_of(qdisc, params, ["p95 queue delay", "goodput"])
    assert faults_in(page, lambda: sensitivity_show.figure(varied)) == []


@PAPER_STYLES
@pytest.mark.parametrize(("specs", "seeds", "numbers"), [(["faba"], 20, {4, 7, 10}), (SEVEN[2:], 1, {5, 8})])
def test_an_evaluation_fits(specs: list[str], seeds: int, numbers: set[int], page: PageStyle):
    document = evaluation(specs, seeds)
    makers: dict[str, Any] = {
        str(each["number"]): partial(ellipses.figure, each, document["disciplines"])
        for each in document["sections"]
        if each["number"] in numbers
    }
    assert all_faults(page, makers) == {}


@PAPER_STYLES
@pytest.mark.parametrize("paper", ["blue", "faba", "comparison", "red-pd", "breathe"])
def test_figures_of_papers_fit(paper: str, page: PageStyle):
    found = {}
    for name in catalogue.chosen([paper]):
        experiment = catalogue.experiment(name)
        found[name] = faults_in(page, partial(experiment.plot, MadeUpResults(experiment)), legends=False)
    assert {name: each for name, each in found.items() if each} == {}


@PAPER_STYLES
def test_a_planted_overlap_is_found(ordinary, page: PageStyle):
    def planted() -> Figure:
        figure = plot.figures(ordinary, ["delay"])["delay"]
        for words in ("a label", "another"):
            figure.axes[0].text(0.5, 0.5, words, transform=figure.axes[0].transAxes)
        return figure

    assert faults_in(page, planted) == ["'a label' overlaps 'another'"]


def test_every_format_has_the_same_bytes_each_time_and_needs_no_latex(ordinary, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    wanted = FigureFiles(tuple(FigureFormat), PageStyle.PAPER)
    makers = {"delay": lambda: plot.figures(ordinary, ["delay"])["delay"]}
    once, again = printing.files(makers, wanted), printing.files(makers, wanted)
    assert once == again
    assert set(once) == {f"delay-paper.{each}" for each in FigureFormat}
    assert once["delay-paper.pdf"].startswith(b"%PDF")
    assert b"/Type3" not in once["delay-paper.pdf"]
    assert rb"\begin{pgfpicture}" in once["delay-paper.pgf"]
    assert b"Queueing delay (ms)" in once["delay-paper.pgf"]
    assert b'width="252pt"' in once["delay-paper.svg"]
