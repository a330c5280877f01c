"""Eleven constant flows: shares under RED and RED-PD."""

from headgate.analysis import judge
from headgate.experiment.claims import Condition, between, every, m, near
from headgate.experiment.declare import (
    Basis,
    Case,
    Claim,
    Experiment,
    HeadlineMeasure,
    OpenParameter,
    PublishedNumbers,
    QuickVariant,
)
from headgate.experiment.layers import FixedLine, FlowLines
from headgate.experiment.measures import jain, throughput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.experiment.results import ExperimentResults
from headgate.papers.red_pd import _network as net

#: Sending rates in Mbit/s, flow 1 first.
RATES = (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
#: Max-min fair shares of 10 Mbit/s: three flows get their full demand, eight share 8.4.
FAIR = (0.1, 0.5, 1.0, *(1.05,) * 8)
FLOWS = range(1, len(RATES) + 1)


def _proportional(results: ExperimentResults, _: Case) -> list[judge.Judgement]:
    parts = [results(f"flow{n}", "RED") * (1e-6 / rate) for n, rate in zip(FLOWS, RATES, strict=True)]
    whole = sum(results(f"flow{n}", "RED").mean for n in FLOWS) * 1e-6 / sum(RATES)
    return [judge.near(part, whole, within=0.1) for part in parts]


EXPERIMENT = Experiment(
    about="Eleven unresponsive flows send 27.6 Mbit/s together into 10 Mbit/s. RED-PD should give each its "
    "max-min fair share, 1.05 Mbit/s for each that sends more. It should drop almost nothing at the "
    "queue itself.",
    scenario=lambda v: net.network(
        v,
        "fig10",
        "Eleven unresponsive flows, 27.6 Mbit/s together, on 10 Mbit/s.",
        [
            net.constant(v, f"flow{n}", "2ms", "2ms").replace(rate=f"{rate}Mbit/s")
            for n, rate in zip(FLOWS, RATES, strict=True)
        ],
        delay="20ms",
        warmup=v.warmup,
        duration="390s",
    ),
    qdiscs={"RED": net.RED, "RED-PD": f"{net.RED_PD},rate_weight=$rate_weight"},
    measures={"ambient": net.ambient, "fairness": jain(), **{f"flow{n}": throughput(f"flow{n}") for n in FLOWS}},
    published=(PublishedNumbers("ambient", "section 5.2", {"RED": (63,), "RED-PD": (4,)}, unit="%", scale=100.0),),
    choices=(
        OpenParameter(
            "warmup", "190s", "the authors' `allUDP.sh` measures from 190 s to 390 s; the text says after 20 s"
        ),
        net.unresponsive(net.NO_TEST, "The authors' `allUDP.sh` turns the test off"),
        net.MAXDECREASE,
        OpenParameter(
            "rate_weight",
            0.5,
            "not stated; the weight of the last list in the ambient drop rate is 0.5 in the authors' `monitoring.tcl`, "
            "where 0.1 stands beside it as a comment",
            (0.1,),
        ),
        net.JITTER,
    ),
    stated_in="section 5.2, figure 10",
    claims=(
        Claim(
            "With RED each flow gets bandwidth in proportion to its sending rate (each within 10 %)",
            Condition(_proportional, numeric=True, labels=frozenset({"RED"})),
        ),
        Claim(
            "With RED-PD all flows get roughly their fair share (each within 20 %)",
            every(
                near(m(f"flow{n}", "RED-PD") * 1e-6, share, within=0.2) for n, share in zip(FLOWS, FAIR, strict=True)
            ),
        ),
        Claim(
            "With RED the ambient drop rate is 63 % (within 5 %; it is 1 - 10/27.6 on any full link)",
            near(m("ambient", "RED"), 0.63, within=0.05),
            place="section 5.2",
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "RED-PD reduces the ambient drop rate to about 4 % (3.5 to 4.5 %, the printed number's rounding)",
            between(m("ambient", "RED-PD"), 0.035, 0.045),
            net.WHY["fig10 maxdecrease"],
            place="section 5.2",
            basis=Basis.PAPER,
        ),
    ),
    plot=one_panel(
        (
            FixedLine(FLOWS, FAIR, {"linestyle": "-", "linewidth": 1, "marker": "+", "label": "fair share (max-min)"}),
            FlowLines("flow{}", FLOWS, 1e-6),
        ),
        AxisScale("Flow number"),
        AxisScale("Throughput (Mbit/s)", 0, 2),
        note="Flow 1 sends 0.1 Mbit/s, flow 2 0.5, each further one 0.5 more. Bars: 95 % interval over seeds.",
    ),
    headline=HeadlineMeasure("fairness", "Jain's index of goodput over fair share, eleven constant flows"),
    quick=QuickVariant(seeds=3),
)
