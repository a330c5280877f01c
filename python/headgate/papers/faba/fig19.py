"""Goodput of three kinds of traffic in a hierarchy of classes."""

from headgate import style
from headgate.build.parts import class_
from headgate.experiment.claims import m, near
from headgate.experiment.declare import Claim, Experiment, OpenParameter, PublishedNumbers, QuickVariant, ScenarioValues
from headgate.experiment.layers import ReferenceLine, RunLine, series
from headgate.experiment.measures import goodput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import (
    BUFFER,
    COMBINED,
    FLOW_CHOICES,
    constant,
    network,
    packets_of_buffer,
    round_trip_ms,
    sender,
)
from headgate.scenario.network import Dumbbell

#: Fair share in Mbit/s, label and color of each kind of traffic.
KINDS = {
    "cbr": (5.0, "CBR", style.UNRESPONSIVE),
    "telnet": (5.0, "Telnet", style.TCP_SHADES[1]),
    "ftp": (10.0, "FTP", style.TCP),
}


def _scenario(v: ScenarioValues) -> Dumbbell:
    flow = sender(v).replace(receiver={"delay": "0ms"})
    return network(
        v,
        "hierarchy",
        "400 constant flows, 400 Telnet and 200 FTP connections in a hierarchy of classes on 20 Mbit/s.",
        [
            flow.replace(flows=400, name="telnet", traffic="telnet:gap=exp(273ms)"),
            flow.replace(flows=200, name="ftp"),
            constant("50kbit/s", 400).replace(receiver={"delay": "0ms"}),
        ],
        rate="20Mbit/s",
        delay=v.delay,
        limit=f"{packets_of_buffer(v.buffer, 20, [round_trip_ms(v.delay)] * 1000)}p",
        classes=[
            class_("cbr", protocol="udp", weight=1),
            class_("tcp", protocol="tcp", weight=3),
            class_("telnet", parent="tcp", label="telnet", weight=1),
            class_("ftp", parent="tcp", label="ftp", weight=2),
        ],
        record={"interval": "1s"},
    )


EXPERIMENT = Experiment(
    about="The share of CBR traffic (400 flows of 50 kbit/s) is a quarter of 20 Mbit/s. Of the rest, Telnet "
    "(400 connections of 15 kbit/s on average) has a third and FTP (200 connections) two thirds.",
    scenario=_scenario,
    qdiscs={"FABA": "faba:per=$per"},
    measures={kind: goodput(kind) * 1e-6 for kind in KINDS},
    published=tuple(
        PublishedNumbers(kind, "section 6.3, fair share", {"FABA": (fair,)}, unit="Mb/s")
        for kind, (fair, _, _) in KINDS.items()
    ),
    choices=(
        OpenParameter("per", "flow_in_class", "a leaf of the tree is a flow with a bucket (section 6.3)", ("class",)),
        OpenParameter(
            "buffer",
            COMBINED,
            "not stated; by section 5.3's rule, a bandwidth-delay product for each of the 1000 flows",
            (156, BUFFER),
        ),
        OpenParameter(
            "delay",
            "1ms",
            "not stated; as in figure 11, the network of the other experiments with hundreds of connections",
            ("14ms",),
        ),
        *FLOW_CHOICES,
    ),
    stated_in="section 6.3, figure 19",
    claims=tuple(
        Claim(
            f"{name} traffic gets close to its fair share of {fair:g} Mbit/s (within 10 %)",
            near(m(kind, "FABA"), fair, within=0.1),
        )
        for kind, (fair, name, _) in KINDS.items()
    ),
    plot=one_panel(
        tuple(
            layer
            for kind, (fair, name, color) in KINDS.items()
            for layer in (
                RunLine(series("goodput_bps", kind), "FABA", scale=1e-6, look={"color": color, "label": name}),
                ReferenceLine(fair, {"color": color}),
            )
        ),
        AxisScale("Time (s)"),
        AxisScale("Goodput of all flows of a kind (Mbit/s)", 0, 20),
        note="Means over 1 s, seed 1. Dotted: fair shares.",
    ),
    modern=False,
    quick=QuickVariant(set=("duration=50s",)),
)
