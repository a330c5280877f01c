"""Throughput of a fragile flow, by its receiver's window."""

from headgate.experiment.claims import above, at_most, below, every, in_each_case, m, near
from headgate.experiment.declare import (
    Basis,
    Claim,
    Experiment,
    HeadlineMeasure,
    OpenParameter,
    QuickVariant,
    ScenarioValues,
    for_each,
    grid,
)
from headgate.experiment.layers import FixedLine, Lines
from headgate.experiment.measures import drop_rate, path_delay_ms, throughput, total
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import (
    CHOKE_MINTH,
    COMBINED,
    DEFLATION,
    FABA,
    MIN_RTO,
    OTHERS,
    RECOVERY,
    STEADY,
    WHY,
    WINDOW,
    constant,
    network,
    packets_of_buffer,
    sender,
)
from headgate.scenario.network import Dumbbell

#: Receive windows of the fragile flow in packets. 110 packets per round-trip time of 40 ms are its fair share.
WINDOWS = (10, 20, 30, 40, 60, 80, 110, 140, 170, 200)
#: The fair share of each of the four flows, in Mbit/s.
FAIR = 11.25
#: One packet per round-trip time, 512 bytes in 40 ms, in Mbit/s.
PACKET_PER_RTT = 512 * 8 / 0.040 / 1e6


def _scenario(v: ScenarioValues) -> Dumbbell:
    flow = sender(v).replace(receiver={"delay": "0ms"}, send_jitter="40us")
    return network(
        v,
        "fragile",
        "A TCP flow of 40 ms beside two of 6 ms and an unresponsive flow of 40 Mbit/s, on 45 Mbit/s.",
        [
            flow.replace(name="fragile", window=v.fragile, sender={"delay": "18ms"}),
            flow.replace(name="robust", flows=2),
            constant("40Mbit/s").replace(receiver={"delay": "0ms"}),
        ],
        rate="45Mbit/s",
        delay="2ms",
        limit=f"{packets_of_buffer(v.buffer, 45, (40, 6, 6, 6))}p",
        warmup="10s",
    )


EXPERIMENT = Experiment(
    about="A TCP flow with a round-trip time of 40 ms shares 45 Mbit/s with two of 6 ms and a constant flow of "
    "40 Mbit/s. Ideally its throughput is window over round-trip time, up to its fair share of 11.25 "
    "Mbit/s.",
    scenario=_scenario,
    qdiscs={**OTHERS, **FABA},
    cases=grid(fragile=WINDOWS),
    measures={
        "fragile": throughput("fragile") * 1e-6,
        "dropped": total("dropped", "fragile"),
        "lost": drop_rate("fragile"),
        "lost_cbr": drop_rate("cbr"),
        "delay_ms": path_delay_ms("fragile"),
    },
    choices=(
        OpenParameter("duration", "40s", "not stated; measures cover the last 30 s"),
        OpenParameter(
            "buffer",
            COMBINED,
            "not stated; by section 5.3's rule, a bandwidth-delay product for each flow: 439 packets at 40 ms and "
            "three times 66 at 6 ms",
            (66, 132, 264, 1760),
        ),
        CHOKE_MINTH,
        WINDOW,
        RECOVERY,
        STEADY,
        DEFLATION,
        MIN_RTO,
        OpenParameter("send_jitter", "40us", "half the time that the link needs for a packet, against lockstep"),
    ),
    stated_in="section 5.6, figure 16",
    claims=(
        Claim(
            "FABA gives almost the ideal share (a tenth less at most) at every window",
            in_each_case(above(m("fragile", "FABA"), lambda case: 0.9 * min(case["fragile"] * PACKET_PER_RTT, FAIR))),
            WHY["fig16 ideal"],
        ),
        *for_each(
            (*OTHERS, *FABA),
            "Under {} a small window (10) sees no drops",
            lambda label: at_most(m("dropped", label, fragile=10), 0),
            WHY["fig16 drops"],
            basis=Basis.PAPER,
        ),
        *for_each(
            OTHERS,
            "Under {} the flow's rate becomes constant (within a fifth from 110 to 200), at least a quarter "
            "below the fair share",
            lambda label: every(
                (
                    below(m("fragile", label, fragile=200), 0.75 * FAIR),
                    near(m("fragile", label, fragile=200) / m("fragile", label, fragile=110), 1.0, within=0.2),
                )
            ),
            {"RED": WHY["fig16 timeouts"], "CHOKe": WHY["fig16 timeouts"], "FRED": WHY["fig16 buffer"]},
        ),
        *for_each(
            OTHERS,
            "With a large window (200) the flow gets more under FABA than under {}",
            lambda other: above(m("fragile", "FABA", fragile=200), m("fragile", other, fragile=200)),
        ),
    ),
    plot=one_panel(
        (
            Lines("fragile", "fragile"),
            FixedLine((0, FAIR / PACKET_PER_RTT, 200), (0, FAIR, FAIR), {"label": "ideal"}),
        ),
        AxisScale("Receiver's window of the fragile flow (packets)", 0, 205),
        AxisScale("Throughput of the fragile flow (Mbit/s)", 0),
        note="With the 95 % interval over seeds.",
    ),
    headline=HeadlineMeasure("fragile", "fragile flow with a window of 200, Mbit/s (fair: 11.25)", {"fragile": 200}),
    quick=QuickVariant(seeds=4, cases=grid(fragile=(10, 40, 110, 200)), set=("duration=25s",)),
)
