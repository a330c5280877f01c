"""SRED's list, and one unresponsive flow among 1000."""

import numpy as np

from headgate.analysis import data
from headgate.analysis.runs import Array, Run
from headgate.experiment.claims import above, in_each_case, m, near
from headgate.experiment.declare import Basis, Claim, Experiment, HeadlineMeasure, QuickVariant, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import total
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.blue._network import WHY
from headgate.papers.blue._thousand import FAIR, OPEN, SENT, scenario

LABEL = "SRED"
#: The paper's N/X: 1000 flows, of which one sends X = 5 times its fair share.
NEEDED = 1000 * FAIR / SENT
#: Lengths of the list (M).
LISTS = (50, 100, 200, 400)


def _arrivals(run: Run) -> Array:
    """For each packet that arrives after the warm-up: 1 if it is of the unresponsive flow, else 0."""
    events = data.rows(run.table("events"), event="arrived")
    flow, time = data.values(events, "flow"), data.values(events, "time_ns") / 1e9
    return np.isin(flow[time > run.warmup_s], run.flows("flow", kind="udp")).astype(np.float64)


def _needed(run: Run) -> float:
    """Packets per packet of the unresponsive flow: the length of a list that holds one on average."""
    arrivals = _arrivals(run)
    return float(len(arrivals) / arrivals.sum())


def _absent(run: Run) -> float:
    """Share of the arrivals, 0 to 1, at which none of the last M packets is of the unresponsive flow."""
    seen, length = np.cumsum(np.concatenate(([0.0], _arrivals(run)))), int(str(run.case["zombies"]))
    return float((seen[length:] == seen[:-length]).mean())


EXPERIMENT = Experiment(
    place="section V-B",
    about="The flows of `blue/detect`, under SRED with a list of M entries. How long must the list be for the "
    "unresponsive flow to show up in it? As in the paper's arithmetic, the list holds the last M packets that arrived. "
    "SRED's own list is a random sample of earlier packets, with the same share of the flow.",
    scenario=lambda v: scenario(v, "blue-sred", duration="30s", warmup="10s", record={"events": "all"}),
    qdiscs={LABEL: "sred:limit=$buffer,zombies=$zombies"},
    cases=grid(zombies=LISTS),
    measures={"needed": _needed, "absent": _absent, "offered": total("arrived") / total("sent")},
    choices=OPEN,
    stated_in="section V-B",
    claims=(
        Claim(
            "M must be at least N/X = 200: a list of 200 packets holds at most one packet of the flow on average",
            in_each_case(above(m("needed", LABEL), NEEDED)),
            basis=Basis.PAPER,
        ),
        Claim(
            "M = 200 is just long enough for one packet of the flow on average (within 10 %)",
            in_each_case(near(m("needed", LABEL), NEEDED, within=0.1)),
            WHY["sred arrivals"],
        ),
        Claim(
            "A shorter list can fail to catch the flow: with M = 100 it is missing most of the time (half)",
            above(m("absent", LABEL, zombies=100), 0.5),
        ),
    ),
    plot=one_panel(
        (Lines("absent", "zombies", scale=100),),
        AxisScale("Packets in the list (M)", 0),
        AxisScale("Arrivals without the flow in the list (%)", 0, 100),
        note="The flow sends five times its fair share. Bands: the 95 % interval over seeds.",
        legend=None,
    ),
    headline=HeadlineMeasure("absent", "arrivals without the flow in a list of 200, %", {"zombies": 200}, 100),
    quick=QuickVariant(set=("duration=15s", "warmup=5s")),
    modern=False,
)
