"""red-pd/fig13: what the target round-trip time R does to TCP flows of four round-trip times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, at_most, every, falls, near, rises
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Quick
from headgate.papers import axes
from headgate.papers.measures import average, gauge, jain, throughput
from headgate.papers.red_pd import _network as net

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement, Quantity
    from headgate.experiment.found import Found

#: Target round-trip times in ms.
TARGETS = range(10, 180, 10)
#: Round-trip times in ms, and how many flows have each and go to either receiver.
FLOWS = {40: 1, 80: 1, 120: 1, 160: 4}

#: The targets from which on the paper sees an effect, and those below each round-trip time.
LARGE = range(40, 180, 10)
UNIDENTIFIED = {80: range(40, 80, 10), 120: range(40, 120, 10)}

OFTEN = (
    "Being identified is rare in a round (a 40-ms flow sends at 0.2 f(R, p) with R = 10 ms), but rounds are short "
    "then: a list lasts 39 ms, and who is found stays monitored for three steps of 0.4 s or more. So one to two flows "
    "of 14 are monitored at a time, and 40-ms flows get 9 to 13 % less than with RED."
)
EARLY = (
    "They gain until R comes near their own round-trip time. From there on they are held back themselves now and then: "
    "a flow that sends at less than f(R, p) is identified with some probability."
)

SCENARIO = net.head(
    "fig13",
    "14 TCP flows: two each with round-trip times of 40, 80 and 120 ms, eight with 160 ms.",
    delay="10ms",
    limit=100,
    warmup="$warmup",
    duration="490s",
) + "".join(
    net.tcp(f"rtt{rtt}-{end}", f"{rtt / 2 - 11:g}ms", f"{end}ms", count)
    for rtt, count in FLOWS.items()
    for end in (1, 2)
)


def _label(target: int) -> str:
    return f"RED-PD, R = {target} ms"


def _curve(found: Found, measure: str, targets: Iterable[int]) -> list[Quantity]:
    return [found(measure, _label(target)) for target in targets]


def _as_red(target: int) -> Callable[[Found], Judgement]:
    def judge(found: Found) -> Judgement:
        ratios = (found(f"rtt{rtt}", _label(target)) / found(f"rtt{rtt}", "RED") for rtt in FLOWS)
        return every(near(ratio, 1.0, within=0.1) for ratio in ratios)

    return judge


def _rare(target: int) -> Callable[[Found], Judgement]:
    return lambda found: at_most(found("monitored", _label(target)), 1.0)


def _gains(rtt: int) -> Callable[[Found], Judgement]:
    return lambda found: rises(_curve(found, f"rtt{rtt}", UNIDENTIFIED[rtt]))


def _errorbar(drawn: Axes, curve: list[Quantity], colour: str, dashes: str, label: str) -> None:
    mean, half = [each.mean for each in curve], [each.half for each in curve]
    drawn.errorbar(TARGETS, mean, half, color=colour, linestyle=dashes, capsize=2, marker="o", ms=4, label=label)


def _plot(found: Found) -> Figure:
    top, bottom = axes.stacked((3.2, 1.9))
    looks = axes.looks({"RED": net.RED, "RED-PD": net.RED_PD})
    red, red_pd = looks["RED"].colour, looks["RED-PD"].colour
    for rtt, dashes in ((40, "-"), (80, "--"), (120, ":")):
        _errorbar(
            top, [each * 1e-6 for each in _curve(found, f"rtt{rtt}", TARGETS)], red_pd, dashes, f"RED-PD ({rtt} ms)"
        )
        top.axhline(found(f"rtt{rtt}", "RED").mean * 1e-6, color=red, linestyle=dashes, lw=1, label=f"RED ({rtt} ms)")
    _errorbar(bottom, [each * 100 for each in _curve(found, "ambient", TARGETS)], red_pd, "-", "")
    bottom.axhline(found("ambient", "RED").mean * 100, color=red, lw=1)
    top.set_ylim(0, 2.5)
    bottom.set_ylim(0, 2.2)
    bottom.set_xticks(list(TARGETS))
    bottom.set_xlabel("Target R (ms)")
    top.set_ylabel("Bandwidth (Mbit/s)")
    bottom.set_ylabel("Drop rate (%)")
    top.legend(loc="upper right", ncols=2)
    note = "Means over flows of one round-trip time. Bars: 95 % interval over seeds. Horizontal lines: RED."
    return axes.finish(top.figure, EXPERIMENT.title, note)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="The target round-trip time R decides how far RED-PD evens out TCP flows",
    place="figure 13",
    about="Fourteen TCP flows with round-trip times of 40 to 160 ms share 10 Mbit/s, once for each R from 10 to 170 "
    "ms. With R above a flow's own round-trip time, RED-PD holds it back; the others gain.",
    scenario=SCENARIO,
    qdiscs={"RED": net.RED, **{_label(target): f"{net.RED_PD},target_rtt={target}ms" for target in TARGETS}},
    measures={
        "ambient": net.ambient,
        "monitored": gauge("monitored"),
        "fairness": jain(),
        **{f"rtt{rtt}": average(*(throughput(f"rtt{rtt}-{end}") for end in (1, 2))) for rtt in (40, 80, 120)},
        "rtt160": lambda run: average(*(throughput(f"rtt160-{end}") for end in (1, 2)))(run) / FLOWS[160],
        "held_back40": net.held_back("rtt40-1", "rtt40-2"),
    },
    choices=(
        Choice("warmup", "50s", "from the authors' `allTCP.pl`, which takes 50 s to 490 s; the text says after 20 s"),
        net.unresponsive_test("allTCP.sh"),
        net.MIN_RTO,
        net.NOIDLE,
    ),
    claims=(
        *(
            Claim(
                f"With R = {target} ms RED-PD rarely identifies a flow (at most one of 14 monitored on average)",
                "section 5.4, figure 13",
                _rare(target),
                OFTEN,
            )
            for target in (10, 20, 30)
        ),
        *(
            Claim(
                f"... and with R = {target} ms bandwidths are essentially those of RED (within 10 %)",
                "section 5.4, figure 13",
                _as_red(target),
                OFTEN,
            )
            for target in (10, 20, 30)
        ),
        Claim(
            "With R of 40 ms and more the 40-ms flows are preferentially dropped, more than with 30 ms",
            "section 5.4",
            lambda found: every(
                above(found("held_back40", _label(target)), found("held_back40", _label(30))) for target in LARGE
            ),
        ),
        Claim(
            "As R grows from 40 ms, the 40-ms flows get less",
            "section 5.4, figure 13",
            lambda found: falls(_curve(found, "rtt40", LARGE)),
        ),
        *(
            Claim(
                f"As R grows from 40 ms to below {rtt} ms, the {rtt}-ms flows get more",
                "section 5.4, figure 13",
                _gains(rtt),
                EARLY,
            )
            for rtt in UNIDENTIFIED
        ),
        Claim(
            "As R grows from 40 ms, so do the 160-ms flows' shares (not shown in the figure)",
            "section 5.4",
            lambda found: rises(_curve(found, "rtt160", range(40, 170, 10))),
        ),
        Claim(
            "As R grows from 40 ms, the ambient drop rate falls",
            "section 5.4, figure 13",
            lambda found: falls(_curve(found, "ambient", LARGE)),
        ),
        Claim(
            "As R grows from 40 ms, more flows are monitored",
            "section 5.4",
            lambda found: rises(_curve(found, "monitored", LARGE)),
        ),
        Claim(
            "As R grows from 40 ms, RED-PD gets closer to max-min fairness (Jain's index of goodput over fair share)",
            "section 5.4",
            lambda found: rises(_curve(found, "fairness", LARGE)),
        ),
    ),
    plot=_plot,
    headline=Headline("fairness", "Jain's index of goodput over fair share, 14 TCP flows of 40 to 160 ms"),
    quick=Quick(seeds=3, set=("duration=200s",)),
)
