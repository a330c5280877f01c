"""What figures 12 to 14 share: how alike many clients of one kind are served, by their number."""

from headgate.experiment.claims import above, in_each_case, m
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Quick, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import jain
from headgate.experiment.plots import Scale, one_panel
from headgate.papers.faba._setting import CHOKE_MINTH, CLIENT_CHOICES, FABA, OPEN_BUFFER, OTHERS, WHY, clients

#: The paper's axis ends at 1000. Some ten Telnet clients do not fill the link, and all are served in full.
CLIENTS = (100, 200, 400, 600, 800, 1000)


def experiment(kind: str, traffic: Choice, about: str, more: tuple[Claim, ...] = (), **why: str) -> Experiment:
    """The experiment for one kind of client; `why` are findings by the discipline that FABA is compared with."""
    findings = {label: WHY[why[label]] if label in why else "" for label in OTHERS}

    def fairer(label: str, words: str, **case: int) -> Claim:
        than = above(m("fairness", "FABA", **case), m("fairness", label, **case))
        judge = than if case else in_each_case(than)
        return Claim(f"FABA is fairer than {label} {words}", judge, findings[label])

    return Experiment(
        about=about,
        scenario=clients,
        qdiscs={**OTHERS, **FABA},
        cases=grid(clients=CLIENTS),
        measures={"fairness": jain(kind="tcp", alike=True)},
        choices=(traffic, OPEN_BUFFER, CHOKE_MINTH, *CLIENT_CHOICES),
        stated_in="section 5.5",
        claims=(
            *(fairer(label, "for every number of clients") for label in OTHERS),
            *(fairer(label, "with 1000 clients", clients=1000) for label in OTHERS),
            *more,
        ),
        plot=one_panel(
            (Lines("fairness", "clients"),),
            Scale(f"Number of {kind} connections", 0, 1030),
            Scale("Fairness coefficient", 0, 1.02),
            note="With the 95 % interval over seeds.",
        ),
        headline=Headline("fairness", f"Jain's index of 1000 {kind} clients", {"clients": 1000}),
        quick=Quick(cases=grid(clients=(100, 400, 1000)), set=("duration=50s",)),
    )
