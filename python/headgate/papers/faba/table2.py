"""faba/table2: what four TCP flows with different round trips get under FRED and under FABA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Published, Quick
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import Measure, goodput, in_unit, jain, loss_rate, loss_run, total

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

ROUND_TRIPS = (10, 20, 50, 200)
#: Why FABA's flows do not all get more.
FULL = (
    "Both fill the link, and what one flow gains another loses. The paper's sums differ by 17 % and exceed the 10 "
    "Mbit/s of figure 11: they are of another link, or of a unit that it does not give."
)
#: Why FABA drops more.
DROPS = (
    "Open: the buffer. With 780 packets and four flows FRED drops next to nothing below minth (195 packets on "
    "average), while FABA begins as soon as a bucket is half empty. FABA drops more with 156 to 1560 packets."
)
PLACE = "section 5.7, table 2"

_FLOW = """
[[tcp]]
name = "rtt{rtt}"
profile = "ns2"
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
sender = {{ delay = "{delay}ms" }}
receiver = {{ delay = "0ms" }}
start = "0s..1s"
overhead = "200us"
"""

#: Figure 11 with links whose delay makes up the round trip: half of it less the bottleneck's millisecond.
SCENARIO = """
name = "faba-round-trips"
about = "Four TCP flows with round trips of 10, 20, 50 and 200 ms."
duration = "$duration"
warmup = "20s"
qdiscs = ["faba"]

[link]
rate = "$rate"
delay = "1ms"
limit = "${buffer}p"
""" + "".join(_FLOW.format(rtt=rtt, delay=rtt // 2 - 1) for rtt in ROUND_TRIPS)


def _more(rtt: int) -> Claim:
    return Claim(
        f"The flow of {rtt} ms gets more under FABA than under FRED",
        PLACE,
        lambda found: above(found(f"rtt{rtt}", "FABA"), found(f"rtt{rtt}", "FRED")),
        FULL,
    )


def _fewer(measure: str, what: str) -> Claim:
    return Claim(what, "section 5.7", lambda found: below(found(measure, "FABA"), found(measure, "FRED")), DROPS)


def _share(rtt: int) -> Measure:
    mine, all_four = goodput(f"rtt{rtt}"), goodput()
    return lambda run: mine(run) / all_four(run)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    known, places = axes.looks(found.labels), range(len(ROUND_TRIPS))
    for offset, label in zip((-0.2, 0.2), ("FRED", "FABA"), strict=True):
        at = [place + offset for place in places]
        shares = [found(f"share{rtt}", label) for rtt in ROUND_TRIPS]
        means, halves = [share.mean for share in shares], [share.half for share in shares]
        drawn.bar(at, means, yerr=halves, width=0.36, color=known[label].colour, capsize=3, label=label)
        drawn.plot(at, SHARES[label], "x", color="black", markersize=6)
    drawn.set_xticks(list(places), [f"{rtt} ms" for rtt in ROUND_TRIPS])
    drawn.set_ylim(0, 0.42)
    drawn.set_xlabel("Round trip of the flow")
    drawn.set_ylabel("Part of the four flows' goodput")
    note = "With the 95 % interval over seeds. Crosses: the paper's table 2."
    return axes.finish(drawn.figure, EXPERIMENT.title, note, drawn)  # type: ignore[arg-type]


GOODPUTS = {"FRED": (3401.94, 2910.18, 3641.26, 3518.34), "FABA": (4059.04, 4109.35, 4012.97, 3605.87)}
SHARES = {label: tuple(round(each / sum(row), 4) for each in row) for label, row in GOODPUTS.items()}

EXPERIMENT = Experiment(
    title="What TCP flows with different round trips get",
    place="table 2",
    about="Four TCP flows with round trips of 10, 20, 50 and 200 ms share the link of figure 11. The paper's goodputs "
    "have no unit; read as kbit/s they add up to more than the 10 Mbit/s of that figure, so their parts of the sum are "
    "compared too.",
    scenario=SCENARIO,
    qdiscs={"FRED": common.FRED, "FABA": "faba"},
    measures={
        **{f"rtt{rtt}": in_unit(goodput(f"rtt{rtt}"), 1e-3) for rtt in ROUND_TRIPS},
        **{f"share{rtt}": _share(rtt) for rtt in ROUND_TRIPS},
        "index": jain(kind="tcp", alike=True),
        "goodput": in_unit(goodput(), 1e-3 / len(ROUND_TRIPS)),
        "loss": loss_rate(kind="tcp"),
        "loss_run": loss_run("tcp"),
        "timeouts": total("timeouts", kind="tcp"),
    },
    published=(
        Published("index", "table 2", {"FRED": (0.99325,), "FABA": (0.99743,)}),
        *(
            Published(
                f"rtt{rtt}", "table 2", {label: (row[place],) for label, row in GOODPUTS.items()}, unit="unit not said"
            )
            for place, rtt in enumerate(ROUND_TRIPS)
        ),
        *(
            Published(f"share{rtt}", "table 2, parts", {label: (row[place],) for label, row in SHARES.items()})
            for place, rtt in enumerate(ROUND_TRIPS)
        ),
        Published("goodput", "section 5.7", {"FRED": (3367.93,), "FABA": (3941.81,)}, unit="unit not said"),
    ),
    choices=(
        Choice("rate", "10Mbit/s", "as figure 11 is labelled; table 2 adds up to more", ("20Mbit/s",)),
        common.OPEN_BUFFER,
        common.DURATION,
        common.WINDOW,
        common.CC,
        common.MIN_RTO,
        common.PHASE,
    ),
    claims=(
        Claim(
            "The index is higher under FABA than under FRED",
            PLACE,
            lambda found: above(found("index", "FABA"), found("index", "FRED")),
        ),
        *(_more(rtt) for rtt in ROUND_TRIPS),
        Claim(
            "The four flows together get more under FABA than under FRED",
            "section 5.7",
            lambda found: above(found("goodput", "FABA"), found("goodput", "FRED")),
            FULL,
        ),
        _fewer("loss", "A smaller part of the packets is dropped under FABA than under FRED"),
        _fewer("loss_run", "Drops are less bursty under FABA than under FRED (packets in a row)"),
        _fewer("timeouts", "TCP has fewer timeouts under FABA than under FRED"),
    ),
    plot=_plot,
    headline=Headline("index", "Jain's index of four round trips"),
    quick=Quick(seeds=5, set=("duration=60s",)),
)
