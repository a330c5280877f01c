"""Figures of experiments show the results, and their axes have labels where readers expect them."""

import numpy as np
import pytest

from headgate.analysis.judge import Quantity
from headgate.experiment.claims import below, m, over
from headgate.experiment.declare import Claim, Experiment, PublishedNumbers, grid
from headgate.experiment.layers import Bars, FixedLine, GroupedBars, Line, Lines, PublishedMarks, ReferenceLine
from headgate.experiment.plots import LAST, OUTSIDE, AxisScale, Plot, PlotPanel
from headgate.experiment.results import ExperimentResults
from headgate.plot import figure_style

CASES = grid(buffer=(10, 20))


@pytest.fixture
def results() -> ExperimentResults:
    """The loss of two disciplines with two buffers, as fractions; the paper has it in per cent."""
    experiment = Experiment(
        title="Loss",
        place="figure 1",
        about="",
        qdiscs={"RED": "red", "SFB": "sfb"},
        cases=CASES,
        claims=(Claim("a", below(m("loss", "RED"), 1)),),
        published=(
            PublishedNumbers(
                "loss", "figure 1", {"RED": (50.0, 30.0)}, axis="buffer", at=(10, 20), unit="%", scale=100.0
            ),
            PublishedNumbers("loss", "section 2", {"SFB": (8.0,)}, case={"buffer": 10}, unit="%", scale=100.0),
        ),
        plot=lambda _: None,
    )
    rows = {"RED": ((0.4, 0.6), (0.2, 0.2)), "SFB": ((0.1, 0.1), (0.05, 0.05))}
    values = {("loss", label, n): Quantity(seeds) for label, row in rows.items() for n, seeds in enumerate(row)}
    return ExperimentResults(experiment, experiment.qdiscs, CASES, values)


def drawn(results: ExperimentResults, *layers, **more):
    """The axes of one panel."""
    with figure_style.applied():
        return Plot(PlotPanel(layers, **more))(results).axes[0]


def test_a_line_for_each_discipline_goes_through_its_means(results: ExperimentResults):
    axes = drawn(results, Lines("loss", "buffer", scale=100, at=lambda buffer: buffer / 10))
    red, sfb = axes.lines
    assert (red.get_label(), sfb.get_label()) == ("RED", "SFB")
    assert list(red.get_xdata()) == [1, 2]
    assert list(red.get_ydata()) == pytest.approx([50, 20])
    assert list(sfb.get_ydata()) == pytest.approx([10, 5])


def test_the_band_is_the_interval(results: ExperimentResults):
    axes = drawn(results, Line(over("buffer", "loss", "RED"), {}, "RED"))
    corners = axes.collections[0].get_paths()[0].vertices[:, 1]
    half = Quantity((0.4, 0.6)).half
    assert (corners.min(), corners.max()) == pytest.approx((0.5 - half, 0.5 + half))


def test_crosses_mark_the_papers_numbers_in_the_unit_of_the_panel(results: ExperimentResults):
    axes = drawn(results, PublishedMarks("loss"))
    assert [list(line.get_ydata()) for line in axes.lines] == [pytest.approx([0.5, 0.3])]


def test_bars_stand_for_disciplines_and_for_measures_of_them(results: ExperimentResults):
    axes = drawn(results, Bars("loss", {"buffer": 10}))
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.5, 0.1])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["RED", "SFB"]
    assert any(list(line.get_ydata()) == pytest.approx([0.08]) for line in axes.lines), "the paper's one number"
    one = ExperimentResults(results.experiment, results.labels, CASES[:1], results.values)
    grouped = drawn(one, GroupedBars({"loss": "Loss"}, leave_out=("RED",), intervals=False))
    assert [bar.get_height() for bar in grouped.patches] == pytest.approx([0.1])


def test_a_reference_line_is_at_its_number_or_at_the_measured_value(results: ExperimentResults):
    axes = drawn(
        results,
        ReferenceLine(3.0),
        ReferenceLine(m("loss", "RED", buffer=20) * 100),
        ReferenceLine(10, upright=True),
        FixedLine((0, 1), (2, 3)),
    )
    given, measured, upright, path = axes.lines
    assert given.get_ydata()[0] == 3.0
    assert measured.get_ydata()[0] == pytest.approx(20)
    assert upright.get_xdata()[0] == 10
    assert list(path.get_ydata()) == [2, 3]


def test_a_scale_has_its_ends_ticks_and_logarithm(results: ExperimentResults):
    axes = drawn(
        results,
        Lines("loss", "buffer"),
        x=AxisScale("Buffer", 5, 40, {10: "ten", 20: "twenty"}, log=2),
        y=AxisScale(low=0),
    )
    assert axes.get_xscale() == "log"
    assert axes.get_xlim() == (5, 40)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["ten", "twenty"]
    assert axes.get_ylim()[0] == 0


def test_panels_with_common_scales_are_labeled_at_the_outer_edges_only(results: ExperimentResults):
    panels = [PlotPanel((Lines("loss", "buffer"),), AxisScale("x"), AxisScale("y"), f"panel {n}") for n in range(4)]
    with figure_style.applied():
        shared, apart = Plot(panels)(results), Plot(panels, layout="apart")(results)
        stacked = Plot(panels[:2], heights=(2, 1))(results)
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in shared.axes]
    assert labels == [("", "y"), ("", ""), ("x", "y"), ("x", "")]
    assert {(axes.get_xlabel(), axes.get_ylabel()) for axes in apart.axes} == {("x", "y")}
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in stacked.axes] == [("", "y"), ("x", "y")]
    assert [axes.get_title(loc="left") for axes in shared.axes] == [f"panel {n}" for n in range(4)]


def test_a_panel_for_each_discipline_and_one_legend(results: ExperimentResults):
    def panel(label: str) -> PlotPanel:
        return PlotPanel((Line(over("buffer", "loss", label), {"label": label}, label),), title=label)

    with figure_style.applied():
        last = Plot(panel, legend=LAST, note=lambda results: f"{len(results.cases)} cases")(results)
        outside = Plot(panel, legend=OUTSIDE)(results)
    assert [axes.get_legend() is not None for axes in last.axes] == [False, True]
    assert last.get_suptitle() == "Loss"
    assert last.get_supxlabel() == "2 cases"
    assert [axes.get_legend() for axes in outside.axes] == [None, None]
    assert len(outside.legends) == 1
    assert np.isfinite(outside.get_size_inches()).all()
