"""RED-PD limits a flow that raises its rate, and releases it afterwards."""

import math

import numpy as np

from headgate.analysis import data
from headgate.analysis.runs import Run
from headgate.experiment.claims import below, m, near
from headgate.experiment.declare import Basis, Claim, Experiment, QuickVariant, ScenarioValues
from headgate.experiment.layers import ReferenceLine, RunLine, series
from headgate.experiment.measures import RunMeasure, over_intervals
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.red_pd import _network as net
from headgate.scenario.network import Dumbbell

#: When the flow begins to send 4 Mbit/s, and when it falls back to 0.25 Mbit/s, in seconds.
UP, DOWN = 50.0, 250.0

#: Seconds after a change of the flow's rate until its goodput counts as settled. Our text of the paper has no time.
SETTLED = 100.0
#: A flow counts as released when none of its packets was dropped before the queue for this long, in seconds.
QUIET = 10.0
FLOW = "flow10"


def _scenario(v: ScenarioValues) -> Dumbbell:
    # The times of its changes count from the flow's start, so it starts at 0.
    flow = net.constant(v, FLOW, net.SENDERS[-1], net.RECEIVERS[-1])
    return net.network(
        v,
        "fig12",
        "Nine TCP flows and one that sends 0.25 Mbit/s, from 50 s to 250 s 4 Mbit/s.",
        [*net.mix(v), flow.replace(traffic="cbr:preset=red_pd", start="0s")],
        warmup="20s",
        duration="360s",
        events="decisions",
    )


def _monitored_after(run: Run) -> float:
    """Seconds from the flow's increase until the first drop of the flow that finds it monitored; NaN without one.

    Monitoring begins at the end of a list, so this is an upper bound, by the time between two drops of the flow.
    """
    events = run.table("events")
    monitored = data.values(events, "flow:monitored") == 1
    at = data.values(events, "time_ns") / 1e9
    mine = np.isin(data.values(events, "flow"), run.flows("flow", FLOW))
    found = at[monitored & mine & (at >= UP)]
    return float(found[0] - UP) if found.size else math.nan


def _released_after(run: Run) -> float:
    """Seconds from the flow's decrease until a pause of `QUIET` in drops before the queue; NaN if there was none."""
    at, _ = run.drops(*net.PREFILTER, group=FLOW)
    ends = np.append(at[at >= DOWN], run.result.scenario.duration_s)
    starts = np.concatenate(([DOWN], ends[:-1]))
    pauses = np.flatnonzero(ends - starts >= QUIET)
    return float(starts[pauses[0]] - DOWN) if pauses.size else math.nan


def _bandwidth(since: float, until: float) -> RunMeasure:
    return over_intervals("goodput_bps", np.mean, since, until, FLOW)


EXPERIMENT = Experiment(
    about="Beside nine TCP flows with round-trip times of 30 to 70 ms, a constant flow sends 0.25 Mbit/s, from 50 s on "
    "4 Mbit/s, and from 250 s on 0.25 Mbit/s again.",
    scenario=_scenario,
    qdiscs={"RED-PD": net.RED_PD},
    measures={
        "ambient": net.ambient,
        "target": net.target,
        "monitored_after": _monitored_after,
        "released_after": _released_after,
        "first": _bandwidth(UP, UP + 5),
        "settled": _bandwidth(UP + SETTLED, DOWN),
        "afterwards": _bandwidth(DOWN + SETTLED, 360),
    },
    choices=(
        net.unresponsive(
            net.NO_TEST,
            "The authors' `varying.sh` runs both. The figure has one line for the flow beside f(R, p); `varying.gp` "
            "draws these two lines alone only without the test (`varying_Off.ps`)",
        ),
        net.MAXDECREASE,
        net.MIN_RTO,
        net.JITTER,
    ),
    stated_in="section 5.3, figure 12",
    claims=(
        Claim(
            "RED-PD takes less than 0.5 s to identify the flow and start monitoring it",
            below(m("monitored_after", "RED-PD"), 0.5),
            net.WHY["fig12 seeds"],
            basis=Basis.PAPER,
        ),
        Claim(
            "The flow's throughput falls further after that: less at the end than in the first 5 s",
            below(m("settled", "RED-PD"), m("first", "RED-PD")),
        ),
        Claim(
            "... down to f(R, p) (within 25 %, mean of the last 100 s)",
            near(m("settled", "RED-PD") / m("target", "RED-PD"), 1.0, within=0.25),
        ),
        Claim(
            "When the flow has reduced its rate, RED-PD releases it, within 100 s",
            below(m("released_after", "RED-PD"), 100.0),
        ),
    ),
    plot=Plot(
        [
            PlotPanel(
                (
                    RunLine(series("goodput_bps", FLOW), "RED-PD", scale=1e-6, look={"label": "the constant flow"}),
                    ReferenceLine(m("target", "RED-PD") * 1e-6, {"linestyle": "--", "label": "f(R, p)"}),
                ),
                y=AxisScale("Goodput (Mbit/s)", 0, 5),
            ),
            PlotPanel(
                (RunLine(series("gauge:drop_rate"), "RED-PD", scale=100),),
                AxisScale("Time (s)", 0, 360),
                AxisScale("Ambient drop rate (%)", 0, 10),
            ),
        ],
        "Seed 1; means over 1 s, drop rate as RED-PD averages it. f(R, p): of the drop rate of the whole run.",
        heights=(3.0, 1.8),
        legend=0,
    ),
    # The paper has one run. Runs differ by a tenth of a second and more in the time until the flow is monitored.
    seeds=20,
    quick=QuickVariant(seeds=3),
    modern=False,
)
