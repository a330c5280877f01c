"""Drops beside an unresponsive flow."""

from headgate.experiment.claims import above, below, in_each_case, m, near
from headgate.experiment.declare import Claim, HeadlineMeasure, PublishedNumbers, for_each, grid
from headgate.experiment.layers import Bars
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import MEASURES, OPEN_REDS, QDISCS, experiment

#: Rates of the unresponsive flow in Mbit/s.
RATES = (2, 45)
#: The paper's drops in Mbit/s: of all flows, of the unresponsive flow, of the TCP flows.
DROPS = {
    2: {
        "SFB": (1.86, 1.85, 0.01),
        "RED": (1.79, 0.03, 1.76),
        # The table exchanges 2.47 and 2.57. Only in this order do the drops add up to its totals.
        "SFRED": (3.10, 0.63, 2.47),
        "SFQ+RED": (3.60, 1.03, 2.57),
    },
    45: {
        "SFB": (44.85, 44.84, 0.01),
        "RED": (13.39, 10.32, 3.07),
        "SFRED": (42.80, 40.24, 2.56),
        "SFQ+RED": (46.47, 43.94, 2.53),
    },
}
#: The drops of all TCP flows, in Mbit/s, from which they count as considerable: 1 % of the link.
CONSIDERABLE = 0.45
#: The disciplines that the paper compares with SFB.
OTHERS = ("RED", "SFRED", "SFQ+RED")


EXPERIMENT = experiment(
    place="table III",
    about="400 TCP flows and an unresponsive flow of 2 or 45 Mbit/s share 45 Mbit/s for 100 s. Whose packets "
    "are dropped?",
    qdiscs=QDISCS,
    cases=grid(unresponsive=(1,), rate=RATES),
    measures=MEASURES,
    published=tuple(
        PublishedNumbers(
            measure,
            "table III",
            {label: (row[column],) for label, row in rows.items()},
            case={"rate": rate},
            unit="Mbit/s",
        )
        for rate, rows in DROPS.items()
        for column, measure in enumerate(("loss", "loss_unresponsive", "loss_tcp"))
    ),
    choices=OPEN_REDS,
    stated_in="section IV-B",
    claims=(
        Claim(
            "Under SFB the unresponsive flow has almost all of the drops (95 %)",
            in_each_case(above(m("loss_unresponsive", "SFB"), m("loss", "SFB"), times=0.95)),
            WHY["overfull"],
        ),
        Claim(
            "SFB limits the unresponsive flow to 0.16 Mbit/s (within a quarter)",
            in_each_case(near(m("unresponsive_rate", "SFB"), 0.16, within=0.25)),
            WHY["leak"],
        ),
        Claim(
            "SFB drops a very small amount of TCP's packets (0.1 % of the link)",
            in_each_case(below(m("loss_tcp", "SFB"), 0.1 * CONSIDERABLE)),
            WHY["overfull"],
        ),
        *for_each(
            OTHERS,
            "SFB drops fewer of TCP's packets than {}",
            lambda other: in_each_case(below(m("loss_tcp", "SFB"), m("loss_tcp", other))),
            {"RED": WHY["table3 varies"], "SFQ+RED": WHY["table3 SFQ"]},
            place="table III",
        ),
        Claim(
            "Under RED the unresponsive flow stays close to its sending rate (3/4)",
            in_each_case(above(m("unresponsive_rate", "RED"), lambda case: 0.75 * case["rate"])),
        ),
        *for_each(
            OTHERS[1:],
            "{} limits the unresponsive flow more than RED does",
            lambda other: in_each_case(below(m("unresponsive_rate", other), m("unresponsive_rate", "RED"))),
        ),
        *for_each(
            OTHERS,
            "{} drops a considerable amount of TCP's packets (1 % of the link)",
            lambda other: in_each_case(above(m("loss_tcp", other), CONSIDERABLE)),
            {"RED": WHY["table3 varies"], "SFQ+RED": WHY["table3 SFQ"]},
        ),
    ),
    plot=Plot(
        [
            PlotPanel((Bars(y, {"rate": rate}),), y=AxisScale("Drops (Mbit/s)"), title=f"{who}, {rate} Mbit/s")
            for rate in RATES
            for y, who in (("loss_unresponsive", "Unresponsive flow"), ("loss_tcp", "All TCP flows"))
        ],
        "Bars: here, with the 95 % interval over seeds. Crosses: the paper's table III.",
        "apart",
        2.6,
    ),
    headline=HeadlineMeasure("loss_tcp", "TCP's drops beside 45 Mbit/s, Mbit/s", {"rate": 45}),
)
