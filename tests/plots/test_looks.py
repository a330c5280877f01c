"""Figures of all kinds of results can be read: no text over another or cut off, no legend on data, no weak color."""

from typing import Any

import pytest
from tests.looks import contrast, faults

import headgate
from headgate import plot, style
from headgate.plot import figure_style
from headgate.plot.panels import heading, new_figure
from headgate.scenario import Group, Role

SEVEN = ["droptail", "red:minth=25%,maxth=50%", "fred", "choke", "blue", "sfb", "faba"]
SIX_GROUPS = [
    Group("downloads", "tcp", 3, None),
    Group("uploads", "tcp", 2, None),
    Group("web", "tcp", 4, None, greedy=False, brief=True),
    Group("calls", "udp", 2, 64e3, responsive=False, greedy=False),
    Group("games", "udp", 1, 100e3, responsive=False, greedy=False),
    Group("camera", "udp", 1, 8e6, responsive=False),
]
CASES: dict[str, dict[str, Any]] = {
    "2 disciplines, 1 flow, 20 seeds": {
        "qdiscs": ["droptail", "red"], "groups": [Group("tcp", "tcp", 1, None)], "seeds": list(range(1, 21)),
    },
    "2 disciplines, six groups": {"qdiscs": ["droptail", "fq_codel"], "groups": SIX_GROUPS, "seeds": [1, 2]},
    "7 disciplines, 3000 flows, 1 seed": {
        "qdiscs": SEVEN, "seeds": [1],
        "groups": [Group("tcp", "tcp", 2999, None), Group("cbr", "udp", 1, 5e6, responsive=False)],
    },
    "7 disciplines, six groups, 20 seeds": {"qdiscs": SEVEN, "groups": SIX_GROUPS, "seeds": list(range(1, 21))},
    "31 disciplines": {"qdiscs": [each.name for each in headgate.disciplines()][:31], "seeds": [1, 2]},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_figure_can_be_read(make, case: str):
    result = make(interval_s=10.0, transferring=True, **CASES[case])
    drawn = plot.figures(result)
    assert {"overview", "goodput", "delay", "tradeoff", "queue", "completion"} <= set(drawn)
    assert {name: found for name, figure in drawn.items() if (found := faults(figure))} == {}


def figure_with(*texts: tuple[float, float, str], **looks: Any) -> list[str]:
    with figure_style.applied():
        figure = new_figure(3.0)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label="data")
        for x, y, text in texts:
            axes.text(x, y, text, **looks)
        heading(figure, "A title", "A note.")
    return faults(figure)


def test_planted_faults_are_found():
    assert figure_with((0.2, 0.8, "here"), (0.7, 0.2, "there")) == []
    assert any(
        "'first' overlaps 'second'" in fault for fault in figure_with((0.5, 0.2, "first"), (0.51, 0.21, "second"))
    )
    assert any("contrast" in fault for fault in figure_with((0.2, 0.8, "pale"), color="#E0E0E0"))
    assert any("cut off" in fault for fault in figure_with((1.4, 0.5, "beyond the edge"), in_layout=False))


def test_a_legend_on_data_is_found():
    with figure_style.applied():
        figure = new_figure(3.0)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], label="data")
        axes.legend(loc="upper right")
    assert any("covers" in fault for fault in faults(figure))


def test_contrast_is_that_of_the_guideline():
    # Black on white is 21, and #767676 on white 4.54: the well-known least gray of level AA.
    assert contrast("black", "white") == pytest.approx(21)
    assert contrast("#767676", "white") == pytest.approx(4.54, abs=0.01)
    for shade in ("#B9A52B", "#56B4E9", "#000000"):
        assert contrast(style.legible(shade), "white") >= 3
    assert style.legible("#000000") == "#000000"


def test_groups_of_one_figure_have_colors_of_their_own():
    colors = style.colors_of_groups([group.role for group in SIX_GROUPS])
    assert len(set(colors)) == len(SIX_GROUPS)
    assert colors[0] == style.color_of(Role.RESPONSIVE)
