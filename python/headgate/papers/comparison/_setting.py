"""What the experiments of this paper share: section 3.1's network and flows, the disciplines, open parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headgate.analysis.judge import Judgement
from headgate.experiment.declare import Choice
from headgate.experiment.found import Found
from headgate.papers.measures import Measure, in_unit, throughput, throughput_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What decides a claim.
Judge = Callable[[Found], Judgement]

#: The rates of figure 4-1's axis, in Mbit/s; the link has 1.
RATES = (0.1, 0.2, 0.4, 0.8, 1, 2, 4, 8)
#: Those above the link's.
BEYOND = (2, 4, 8)
#: Where they stand on the axis, at equal distances as in the paper.
PLACES = {rate: float(place) for place, rate in enumerate(RATES)}

RED = "red:minth=50p,maxth=100p,maxp=$maxp"
CHOKE = "choke:minth=50p,maxth=100p,maxp=$maxp"
#: A-CHOKe with five regions (section 3.3.4).
A_CHOKE = f"{CHOKE},adaptive=5"
BLUE = "blue:d1=0.02,d2=0.002,freeze_time=10ms"

#: All six, as in figures 4 and 5; FRED's and SFB's defaults are those of section 3.3.
QDISCS = {"DropTail": "droptail", "RED": RED, "FRED": "fred", "BLUE": BLUE, "SFB": "sfb", "CHOKe": A_CHOKE}

#: What the paper calls a fair share for TCP: FRED's 0.80 Mbit/s (table 1) of the 10/11 Mbit/s that are due.
FAIR_ENOUGH = 0.88

#: Throughputs in Mbit/s, and that of all flows as a part of the link.
MEASURES: dict[str, Measure] = {
    "cbr": in_unit(throughput("cbr"), 1e-6),
    "tcp": in_unit(throughput(kind="tcp"), 1e-6),
    "total": throughput_share(),
}

DURATION = Choice("duration", "100s", "the paper gives no duration; the first 20 s are not counted")
DELAY = Choice(
    "delay",
    "10ms",
    "figure 3 is lost; with 5 ms of access on each side the round trip is 40 ms",
    ("2ms", "40ms", "133ms"),
)
JITTER = Choice(
    "jitter",
    0.1,
    "ns-2's CBR has none unless asked, but then packets arrive in lockstep with departures, and which flow loses is "
    "decided once for all",
    (0, 0.5),
)
OVERHEAD = Choice("overhead", "1ms", "a random delay before each TCP packet, against the same lockstep", ("0s", "4ms"))
CC = Choice("cc", "newreno", "the paper says TCP alone", ("reno", "sack"))
MAXP = Choice("maxp", 0.02, "for RED the paper gives thresholds alone; 0.02 is what FRED has", (0.05, 0.1))
SHARED = (DURATION, DELAY, JITTER, OVERHEAD, CC)


def scenario(
    name: str,
    about: str,
    *,
    rate: str = "1Mbit/s",
    limit: str = "150p",
    tcp_flows: str = "10",
    window: str = "50",
    cbr: str = "${cbr}Mbit/s",
    cbr_flows: str = "1",
    cbr_start: str = "0s..1s",
    warmup: str = "20s",
    events: str = "off",
) -> str:
    """The template of section 3.1: ten TCP flows and one at a constant rate on 1 Mbit/s, unless said otherwise.

    With an empty `cbr` there are TCP flows alone.
    """
    constant = f"""
[[udp]]
name = "cbr"
profile = "ns2"
flows = {cbr_flows}
rate = "{cbr}"
jitter = $jitter
access = {{ delay = "5ms" }}
start = "{cbr_start}"
"""
    return f"""
name = "comparison-{name}"
about = "{about}"
duration = "$duration"
warmup = "{warmup}"
qdiscs = ["droptail"]

[link]
rate = "{rate}"
delay = "$delay"
limit = "{limit}"

[[tcp]]
profile = "ns2"
flows = {tcp_flows}
cc = "$cc"
window = {window}
access = {{ delay = "5ms" }}
start = "0s..1s"
overhead = "$overhead"
{constant if cbr else ""}
[record]
events = "{events}"
"""


def rate_axis(axes: Axes, quantity: str) -> None:
    """The paper's axis of UDP rates, and what is drawn against it."""
    axes.set_xticks(list(PLACES.values()), [str(rate) for rate in PLACES])
    axes.set_xlabel("UDP rate (Mbit/s)")
    axes.set_ylabel(quantity)
    axes.set_ylim(bottom=0)
