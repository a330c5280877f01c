"""Goodput of an aggregate of constant flows beside an aggregate of TCP flows."""

from headgate.build.parts import class_
from headgate.experiment.claims import in_each_case, m, near
from headgate.experiment.declare import Claim, Experiment, OpenParameter, QuickVariant, grid
from headgate.experiment.layers import FixedLine, Lines
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import (
    BUFFER,
    COMBINED,
    FLOW_CHOICES,
    GOODPUTS,
    constant,
    network,
    packets_of_buffer,
    round_trip_ms,
    sender,
)

EXPERIMENT = Experiment(
    about="A hundred TCP flows are one aggregate with one bucket. Up to twenty constant flows of 500 kbit/s "
    "are another. The fair share of each is half of 10 Mbit/s.",
    scenario=lambda v: network(
        v,
        "aggregates",
        "A hundred TCP flows as one class, constant flows of 500 kbit/s as another.",
        [sender(v, 100), constant("500kbit/s", v.constant)],
        classes=[class_("tcp", protocol="tcp"), class_("cbr", protocol="udp")],
        delay=v.delay,
        limit=f"{packets_of_buffer(v.buffer, 10, [round_trip_ms(v.delay) + 2] * (100 + v.constant))}p",
    ),
    qdiscs={"FABA": "faba:per=class"},
    cases=grid(constant=(1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 18, 20)),
    measures=GOODPUTS,
    choices=(
        OpenParameter(
            "buffer",
            156,
            "not stated; by section 5.3's rule, a bandwidth-delay product of 78 packets for each flow, and section 6.2 "
            "calls each of the two aggregates a flow; combined: for each connection",
            (COMBINED, BUFFER),
        ),
        OpenParameter("delay", "14ms", "not stated; as in figure 9, the other mix of TCP and CBR flows", ("1ms",)),
        *FLOW_CHOICES,
    ),
    stated_in="section 6.2, figure 17",
    claims=(
        Claim(
            "Below its fair share the aggregate of CBR flows gets its sending rate (within 5 %)",
            in_each_case(
                near(m("cbr", "FABA"), lambda case: 0.5 * case["constant"], within=0.05),
                constant=lambda flows: flows <= 8,
            ),
        ),
        Claim(
            "From 5 Mbit/s on the aggregate of CBR flows gets nearly its fair share of 5 Mbit/s (within 5 %)",
            in_each_case(near(m("cbr", "FABA"), 5.0, within=0.05), constant=lambda flows: flows >= 10),
        ),
    ),
    plot=one_panel(
        (Lines("cbr", "constant", at=lambda flows: 0.5 * flows), FixedLine((0, 5, 10), (0, 5, 5), {"label": "fair"})),
        AxisScale("Rate of all CBR flows (Mbit/s)", 0, 10.2),
        AxisScale("Goodput of all CBR flows (Mbit/s)", 0, 6),
        note="With the 95 % interval over seeds.",
    ),
    modern=False,
    quick=QuickVariant(seeds=2, cases=grid(constant=(2, 6, 10, 14, 20)), set=("duration=60s",)),
)
