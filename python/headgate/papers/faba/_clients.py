"""What figures 12 to 14 share: many clients of one kind on the topology of figure 11, and how alike they are served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import Judgement, above, every
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Quick, grid
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import jain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: Figure 11: sources with links of 100 Mbit/s and 1 ms, a bottleneck of 10 Mbit/s and 1 ms, sinks behind it.
SCENARIO = """
name = "faba-clients"
about = "Many clients of one kind on 10 Mbit/s."
duration = "$duration"
qdiscs = ["faba"]

[link]
rate = "10Mbit/s"
delay = "$delay"
limit = "${buffer}p"

[[tcp]]
profile = "ns2"
flows = $clients
traffic = "$traffic"
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
receiver = { delay = "0ms" }
start = "0s..1s"
overhead = "200us"
"""

CHOICES = (
    Choice("delay", "1ms", "as figure 11 is labelled; with it figure 9's round trip is 28 ms shorter", ("14ms",)),
    common.DURATION,
    common.WINDOW,
    common.CC,
    common.MIN_RTO,
    common.PHASE,
)

#: The paper's axis ends at 1000. Some ten Telnet clients do not fill the link, and all are served in full.
CLIENTS = (100, 200, 400, 600, 800, 1000)


def _fairest(other: str, finding: str) -> Claim:
    def judge(found: Found) -> Judgement:
        return every(
            above(found("fairness", "FABA", clients=clients), found("fairness", other, clients=clients))
            for clients in found.axis("clients")
        )

    return Claim(f"FABA is fairer than {other} for every number of clients", "section 5.5", judge, finding)


def _fairest_of_most(other: str, finding: str) -> Claim:
    return Claim(
        f"FABA is fairer than {other} with 1000 clients",
        "section 5.5",
        lambda found: above(found("fairness", "FABA", clients=1000), found("fairness", other, clients=1000)),
        finding,
    )


def experiment(
    kind: str, figure: str, traffic: Choice, about: str, more: tuple[Claim, ...] = (), **findings: str
) -> Experiment:
    """The experiment for one kind of client; `findings` are by the discipline that FABA is compared with."""
    title = f"How alike {kind} clients are served, by their number"

    def plot(found: Found) -> Figure:
        drawn = axes.one()
        axes.curves(drawn, found, "fairness", "clients")
        drawn.set_xlim(0, 1030)
        drawn.set_ylim(0, 1.02)
        drawn.set_xlabel(f"Number of {kind} connections")
        drawn.set_ylabel("Fairness coefficient")
        return axes.finish(drawn.figure, title, "With the 95 % interval over seeds.", drawn)  # type: ignore[arg-type]

    return Experiment(
        title=title,
        place=figure,
        about=about,
        scenario=SCENARIO,
        qdiscs={**common.OTHERS, "FABA": "faba"},
        cases=grid(clients=CLIENTS),
        measures={"fairness": jain(kind="tcp", alike=True)},
        choices=(traffic, common.OPEN_BUFFER, common.CHOKE_MINTH, *CHOICES),
        claims=(
            *(_fairest(other, findings.get(other, "")) for other in common.OTHERS),
            *(_fairest_of_most(other, findings.get(other, "")) for other in common.OTHERS),
            *more,
        ),
        plot=plot,
        headline=Headline("fairness", f"Jain's index of 1000 {kind} clients", {"clients": 1000}),
        quick=Quick(cases=grid(clients=(100, 400, 1000)), set=("duration=50s",)),
    )
