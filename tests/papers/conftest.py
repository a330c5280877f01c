"""A small, quick experiment with all parts that those of the papers have."""

from collections.abc import Mapping
from typing import Any

import pytest

from headgate.analysis.judge import Verdict
from headgate.build.parts import tcp, udp
from headgate.experiment.claims import above, below, m
from headgate.experiment.declare import (
    Claim,
    Experiment,
    HeadlineMeasure,
    OpenParameter,
    PublishedNumbers,
    QuickVariant,
    ScenarioValues,
    grid,
)
from headgate.experiment.layers import Lines, PublishedMarks
from headgate.experiment.measures import share_of_fair
from headgate.experiment.plots import Plot, PlotPanel
from headgate.scenario.network import Dumbbell


def _scenario(v: ScenarioValues) -> Dumbbell:
    return Dumbbell(
        name="tiny",
        duration="4s",
        warmup="1s",
        rate="2Mbit/s",
        delay=v.delay,
        limit=f"{v.buffer}p",
        flows=[tcp(3, packet="500B"), udp("2Mbit/s", name="cbr", packet="500B")],
        qdiscs=v.qdiscs,
    )


@pytest.fixture
def tiny() -> Experiment:
    return Experiment(
        title="TCP's share",
        place="figure 1",
        about="Three flows and one.",
        scenario=_scenario,
        qdiscs={"DropTail": "droptail", "FABA": "faba"},
        cases=grid(buffer=(20, 50)),
        seeds=5,
        measures={"tcp": share_of_fair(kind="tcp")},
        published=(
            PublishedNumbers(
                "tcp", "figure 1", {"FABA": (50.0, 90.0)}, axis="buffer", at=(20, 50), unit="%", scale=100.0
            ),
        ),
        choices=(OpenParameter("delay", "5ms", "the figure is lost", ("2ms", "5ms")),),
        stated_in="section 1",
        claims=(
            Claim("FABA protects TCP", above(m("tcp", "FABA", buffer=50), 0.4)),
            Claim("TCP starves", below(m("tcp", "FABA", buffer=50), 0.1), "it does not", place="section 2"),
        ),
        plot=Plot(PlotPanel((Lines("tcp", "buffer"), PublishedMarks("tcp"))), note="a note", legend=0),
        headline=HeadlineMeasure("tcp", "TCP with room for 50", {"buffer": 50}),
        quick=QuickVariant(seeds=1, cases=({"buffer": 20},)),
    )


#: Verdicts by their first letter.
VERDICTS = {verdict.value[0]: verdict.value for verdict in Verdict}


def readings_document(name: str, ours: str, others: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """A document of readings. `ours` has the first letter of each claim's verdict, as have the values of `others`."""

    def judged(reading: str, letters: str) -> list[dict[str, str]]:
        return [{"verdict": VERDICTS[letter], "numbers": f"{reading}: 1 < 2"} for letter in letters]

    claim = {"place": "section 2", "basis": "paper", "disciplines": ["RED", "FABA"]}
    under = {f"{key} = {value}": word for key, values in others.items() for value, word in values.items()}
    return {
        "experiment": name,
        "quick": True,
        "seeds": 5,
        "claims": [{"text": f"Claim {number} of {name}", **claim} for number in range(1, len(ours) + 1)],
        "parameters": [
            {"name": key, "value": "ours", "reason": f"reason of {key}", "others": list(values)}
            for key, values in others.items()
        ],
        "verdicts": {reading: judged(reading, word) for reading, word in {"our values": ours, **under}.items()},
    }
