"""Goodput of TCP flows with different round-trip times."""

from collections.abc import Mapping

from headgate.experiment.claims import above, below, every, m
from headgate.experiment.declare import (
    Claim,
    Experiment,
    HeadlineMeasure,
    OpenParameter,
    PublishedNumbers,
    QuickVariant,
    ScenarioValues,
)
from headgate.experiment.layers import GroupedBars
from headgate.experiment.measures import drop_rate, goodput, jain, loss_run, total
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import (
    BUFFER,
    COMBINED,
    FABA,
    FLOW_CHOICES,
    OTHERS,
    WHY,
    network,
    packets_of_buffer,
    sender,
)
from headgate.scenario.network import Dumbbell

#: Round-trip times in ms, the paper's goodputs at each (their unit is not stated), and the share of each in their sum.
ROUND_TRIPS = (10, 20, 50, 200)
GOODPUTS = {"FRED": (3401.94, 2910.18, 3641.26, 3518.34), "FABA": (4059.04, 4109.35, 4012.97, 3605.87)}
SHARES = {label: tuple(round(each / sum(row), 4) for each in row) for label, row in GOODPUTS.items()}


def _scenario(v: ScenarioValues) -> Dumbbell:
    """The network of figure 11. A flow's own link has half of its round-trip time, less the bottleneck's 1 ms."""
    flow = sender(v).replace(receiver={"delay": "0ms"})
    return network(
        v,
        "round-trips",
        "Four TCP flows with round-trip times of 10, 20, 50 and 200 ms.",
        [flow.replace(name=f"rtt{rtt}", sender={"delay": f"{rtt // 2 - 1}ms"}) for rtt in ROUND_TRIPS],
        rate=v.rate,
        delay="1ms",
        warmup=v.warmup,
        limit=f"{packets_of_buffer(v.buffer, float(v.rate.removesuffix('Mbit/s')), ROUND_TRIPS)}p",
    )


def _of_each(measure: str, place: str, rows: Mapping[str, tuple[float, ...]], unit: str = "") -> list[PublishedNumbers]:
    """The published numbers of a measure for each round-trip time."""
    return [
        PublishedNumbers(f"{measure}{rtt}", place, {label: (row[number],) for label, row in rows.items()}, unit=unit)
        for number, rtt in enumerate(ROUND_TRIPS)
    ]


EXPERIMENT = Experiment(
    about="Four TCP flows with round-trip times of 10, 20, 50 and 200 ms share the link of figure 11. The "
    "paper's goodputs have no unit. Read as kbit/s, their sum exceeds the 10 Mbit/s of that figure, so "
    "their shares of the sum are compared too.",
    scenario=_scenario,
    qdiscs={"FRED": OTHERS["FRED"], **FABA},
    # The goodputs scatter by a twentieth between seeds: five seeds decide few claims.
    seeds=20,
    measures={
        **{f"rtt{rtt}": goodput(f"rtt{rtt}") * 1e-3 for rtt in ROUND_TRIPS},
        **{f"share{rtt}": goodput(f"rtt{rtt}") / goodput() for rtt in ROUND_TRIPS},
        "index": jain(kind="tcp", alike=True),
        "goodput": goodput() * (1e-3 / len(ROUND_TRIPS)),
        "loss": drop_rate(kind="tcp"),
        "loss_run": loss_run("tcp"),
        "timeouts": total("timeouts", kind="tcp"),
    },
    published=(
        PublishedNumbers("index", "table 2", {"FRED": (0.99325,), "FABA": (0.99743,)}),
        *_of_each("rtt", "table 2", GOODPUTS, "unit not said"),
        *_of_each("share", "table 2, parts", SHARES),
        PublishedNumbers("goodput", "section 5.7", {"FRED": (3367.93,), "FABA": (3941.81,)}, unit="unit not said"),
    ),
    choices=(
        OpenParameter("rate", "10Mbit/s", "as in figure 11, but table 2's goodputs have a larger sum", ("20Mbit/s",)),
        OpenParameter(
            "buffer",
            COMBINED,
            "not stated; by section 5.3's rule, a bandwidth-delay product for each flow: 24, 49, 122 and 488 packets",
            (40, BUFFER, 2732),
        ),
        OpenParameter(
            "warmup",
            "0s",
            "not stated. For the network of figure 11, which table 2 shares with figures 12 to 14, section 5.5 "
            "collects throughput at the end of the simulation and leaves out no start",
            ("20s",),
        ),
        *FLOW_CHOICES,
    ),
    stated_in="section 5.7, table 2",
    claims=(
        Claim("The index is higher under FABA than under FRED", above(m("index", "FABA"), m("index", "FRED"))),
        Claim(
            "The flow of each round-trip time gets more under FABA than under FRED",
            every(above(m(f"rtt{rtt}", "FABA"), m(f"rtt{rtt}", "FRED")) for rtt in ROUND_TRIPS),
            WHY["table2 full"],
        ),
        Claim(
            "The four flows together get more under FABA than under FRED",
            above(m("goodput", "FABA"), m("goodput", "FRED")),
            WHY["table2 full"],
            place="section 5.7",
        ),
        *(
            Claim(what, below(m(measure, "FABA"), m(measure, "FRED")), WHY["table2 drops"], place="section 5.7")
            for measure, what in (
                ("loss", "The drop rate is lower under FABA than under FRED"),
                ("loss_run", "Drops are less bursty under FABA than under FRED (consecutive packets)"),
                ("timeouts", "TCP has fewer timeouts under FABA than under FRED"),
            )
        ),
    ),
    plot=one_panel(
        (GroupedBars({f"share{rtt}": f"{rtt} ms" for rtt in ROUND_TRIPS}),),
        AxisScale("Round-trip time of the flow"),
        AxisScale("Share of the four flows' goodput", 0, 0.42),
        note="With the 95 % interval over seeds. Crosses: the paper's table 2.",
    ),
    headline=HeadlineMeasure("index", "Jain's index of four round-trip times"),
    quick=QuickVariant(seeds=5, set=("duration=60s",)),
)
