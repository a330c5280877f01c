"""A small experiment that runs in a blink, shaped like those of the papers."""

import pytest
from matplotlib.figure import Figure

from headgate.analysis.judge import above, below
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.measures import share_of_fair

SCENARIO = """
name = "tiny"
duration = "4s"
warmup = "1s"
qdiscs = ["droptail"]

[link]
rate = "2Mbit/s"
delay = "$delay"
limit = "${buffer}p"

[[tcp]]
flows = 3
packet = "500B"

[[udp]]
name = "cbr"
rate = "2Mbit/s"
packet = "500B"
"""


def _plot(found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "tcp", "buffer")
    axes.published(drawn, found, "tcp")
    return axes.finish(drawn.figure, "Tiny", "a note", drawn)  # type: ignore[arg-type]


@pytest.fixture
def tiny() -> Experiment:
    return Experiment(
        title="TCP's share",
        place="figure 1",
        about="Three flows and one.",
        scenario=SCENARIO,
        qdiscs={"DropTail": "droptail", "FABA": "faba"},
        cases=grid(buffer=(20, 50)),
        seeds=2,
        measures={"tcp": share_of_fair(kind="tcp")},
        published=(
            Published("tcp", "figure 1", {"FABA": (50.0, 90.0)}, axis="buffer", at=(20, 50), unit="%", scale=100.0),
        ),
        choices=(Choice("delay", "5ms", "the figure is lost", ("2ms", "5ms")),),
        claims=(
            Claim("FABA protects TCP", "section 1", lambda found: above(found("tcp", "FABA", buffer=50), 0.5)),
            Claim("TCP starves", "section 2", lambda found: below(found("tcp", "FABA", buffer=50), 0.1), "it does not"),
        ),
        plot=_plot,
        headline=Headline("tcp", "TCP with room for 50", {"buffer": 50}),
        quick=Quick(seeds=1, cases=({"buffer": 20},)),
    )
