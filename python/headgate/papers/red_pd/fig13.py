"""The target round-trip time R decides how far RED-PD evens out TCP flows."""

from collections.abc import Iterable

from headgate.experiment.claims import Curve, above, along, at_most, every, falls, m, near, rises
from headgate.experiment.declare import Claim, Experiment, HeadlineMeasure, OpenParameter, QuickVariant
from headgate.experiment.layers import Layer, Line, ReferenceLine, looks
from headgate.experiment.measures import average, gauge, jain, throughput
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.red_pd import _network as net

#: Target round-trip times in ms.
TARGETS = range(10, 180, 10)
#: The number of flows to each of the two receivers, by round-trip time in ms.
FLOWS = {40: 1, 80: 1, 120: 1, 160: 4}

#: Targets with an effect, by the paper.
LARGE = range(40, 180, 10)
#: Targets with an effect that do not identify flows of 80, 120 or 160 ms yet, by round-trip time in ms.
UNIDENTIFIED = {80: range(40, 80, 10), 120: range(40, 120, 10), 160: range(40, 160, 10)}
#: Targets without an effect, by the paper.
SMALL = (10, 20, 30)
#: Looks of the curves of RED and of RED-PD.
RED, RED_PD = (look.color for look in looks({"RED": net.RED, "RED-PD": net.RED_PD}).values())


def _label(target: int) -> str:
    return f"RED-PD, R = {target} ms"


def _curve(measure: str, targets: Iterable[int]) -> Curve:
    return along({target: m(measure, _label(target)) for target in targets})


def _drawn(measure: str, scale: float, dashes: str = "-", name: str = "") -> tuple[Layer, ...]:
    """A measure of RED-PD against R, and RED's value as a horizontal line."""
    line = {"color": RED_PD, "linestyle": dashes, "marker": "o", "label": f"RED-PD{name}" if name else ""}
    rule = {"color": RED, "linestyle": dashes, **({"label": f"RED{name}"} if name else {})}
    return Line(_curve(measure, TARGETS), line, scale=scale, bars=True), ReferenceLine(m(measure, "RED") * scale, rule)


EXPERIMENT = Experiment(
    about="Fourteen TCP flows with round-trip times of 40 to 160 ms share 10 Mbit/s, once for each R from 10 "
    "to 170 ms. With R above a flow's own round-trip time, RED-PD limits it; the others gain.",
    scenario=lambda v: net.network(
        v,
        "fig13",
        "14 TCP flows: two each with round-trip times of 40, 80 and 120 ms, eight with 160 ms.",
        [
            net.sack(v, f"rtt{rtt}-{end}", f"{rtt / 2 - 11:g}ms", f"{end}ms", count)
            for rtt, count in FLOWS.items()
            for end in (1, 2)
        ],
        limit="100p",
        warmup=v.warmup,
        duration="490s",
    ),
    qdiscs={"RED": net.RED, **{_label(target): f"{net.RED_PD},target_rtt={target}ms" for target in TARGETS}},
    # The curves of single round-trip times scatter by a tenth between seeds: five seeds decide none of them.
    seeds=20,
    measures={
        "ambient": net.ambient,
        "identified": gauge("identified"),
        "monitored": gauge("monitored"),
        "fairness": jain(),
        # The mean of a flow: each group has `count` flows.
        **{
            f"rtt{rtt}": average(*(throughput(f"rtt{rtt}-{end}") for end in (1, 2))) * (1 / count)
            for rtt, count in FLOWS.items()
        },
        "held_back40": net.held_back("rtt40-1", "rtt40-2"),
    },
    choices=(
        OpenParameter(
            "warmup", "50s", "the authors' `allTCP.pl` measures from 50 s to 490 s; the text says after 20 s"
        ),
        net.unresponsive(net.ENGINE, "The authors' `allTCP.sh` leaves the test on"),
        net.MAXDECREASE,
        net.MIN_RTO,
    ),
    stated_in="section 5.4, figure 13",
    claims=(
        Claim(
            "With R below 40 ms RED-PD rarely identifies a flow (at most one of 14 on average)",
            every(at_most(m("identified", _label(target)), 1.0) for target in SMALL),
        ),
        Claim(
            "... and bandwidths are essentially those of RED (within 10 %)",
            every(
                near(m(f"rtt{rtt}", _label(target)) / m(f"rtt{rtt}", "RED"), 1.0, within=0.1)
                for target in SMALL
                for rtt in FLOWS
            ),
            net.WHY["fig13 often"],
        ),
        Claim(
            "With R of 40 ms and more the 40-ms flows are preferentially dropped, more than with 30 ms",
            every(above(m("held_back40", _label(target)), m("held_back40", _label(30))) for target in LARGE),
            place="section 5.4",
        ),
        Claim("As R grows from 40 ms, the 40-ms flows get less", falls(_curve("rtt40", LARGE)), net.WHY["fig13 flat"]),
        Claim(
            "As R grows from 40 ms, flows of 80, 120 and 160 ms get more while R is less than their round-trip time",
            every(rises(_curve(f"rtt{rtt}", targets)) for rtt, targets in UNIDENTIFIED.items()),
            net.WHY["fig13 early"],
        ),
        Claim("As R grows from 40 ms, the ambient drop rate falls", falls(_curve("ambient", LARGE))),
        Claim(
            "As R grows from 40 ms, more flows are monitored", rises(_curve("monitored", LARGE)), place="section 5.4"
        ),
        Claim(
            "As R grows from 40 ms, RED-PD gets closer to max-min fairness (Jain's index of goodput over fair share)",
            rises(_curve("fairness", LARGE)),
            net.WHY["fig13 flat"],
            place="section 5.4",
        ),
    ),
    plot=Plot(
        [
            PlotPanel(
                tuple(
                    layer
                    for rtt, dashes in ((40, "-"), (80, "--"), (120, ":"))
                    for layer in _drawn(f"rtt{rtt}", 1e-6, dashes, f" ({rtt} ms)")
                ),
                y=AxisScale("Throughput (Mbit/s)", 0, 2.5),
            ),
            PlotPanel(
                _drawn("ambient", 100), AxisScale("Target R (ms)", ticks=TARGETS), AxisScale("Drop rate (%)", 0, 2.2)
            ),
        ],
        "Means over flows of one round-trip time. Bars: 95 % interval over seeds. Horizontal lines: RED.",
        heights=(3.2, 1.9),
        legend=0,
        legend_place="upper right",
        legend_columns=2,
    ),
    headline=HeadlineMeasure("fairness", "Jain's index of goodput over fair share, 14 TCP flows of 40 to 160 ms"),
    quick=QuickVariant(seeds=3, set=("duration=200s",)),
)
