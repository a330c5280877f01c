"""Common to figures 12 to 14: fairness among clients of one kind, by their number."""

from headgate.experiment.claims import Condition, above, in_each_case, m
from headgate.experiment.declare import Claim, Experiment, HeadlineMeasure, OpenParameter, QuickVariant, for_each, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import jain
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import CHOKE_MINTH, CLIENT_BUFFER, CLIENT_CHOICES, FABA, OTHERS, WHY, clients

#: Numbers of clients. The paper's axis ends at 1000. Fewer than about twelve Telnet clients would not fill the link.
CLIENTS = (100, 200, 400, 600, 800, 1000)


def fairer(label: str, **case: int) -> Condition:
    """Whether FABA has a higher fairness index than the discipline `label`."""
    return above(m("fairness", "FABA", **case), m("fairness", label, **case))


def experiment(kind: str, traffic: OpenParameter, about: str, more: tuple[Claim, ...] = (), **why: str) -> Experiment:
    """The experiment for one kind of client. `why` names the finding for each discipline."""
    findings = {label: WHY[name] for label, name in why.items()}
    return Experiment(
        about=about,
        scenario=clients,
        qdiscs={**OTHERS, **FABA},
        cases=grid(clients=CLIENTS),
        measures={"fairness": jain(kind="tcp", alike=True)},
        choices=(traffic, CLIENT_BUFFER, CHOKE_MINTH, *CLIENT_CHOICES),
        stated_in="section 5.5",
        claims=(
            *for_each(
                OTHERS,
                "FABA is fairer than {} for every number of clients",
                lambda label: in_each_case(fairer(label)),
                findings,
            ),
            Claim(
                "FABA's index is high (above 0.9) for every number of clients",
                in_each_case(above(m("fairness", "FABA"), 0.9)),
                place="section 5.5, figure 12: close to 1; section 7: high",
            ),
            *more,
        ),
        plot=one_panel(
            (Lines("fairness", "clients"),),
            AxisScale(f"Number of {kind} connections", 0, 1030),
            AxisScale("Jain's index", 0, 1.02),
            note="With the 95 % interval over seeds.",
        ),
        headline=HeadlineMeasure("fairness", f"Jain's index of 1000 {kind} clients", {"clients": 1000}),
        quick=QuickVariant(cases=grid(clients=(100, 400, 1000)), set=("duration=50s",)),
    )
