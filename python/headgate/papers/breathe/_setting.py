"""Common to the BREATHe paper's figures: a thousand TCP flows and thirty constant flows on 1 Mbit/s."""

from functools import partial

from headgate.build.parts import tcp, udp
from headgate.experiment import findings
from headgate.experiment.declare import Experiment, OpenParameter, QuickVariant, ScenarioValues
from headgate.scenario.network import Dumbbell

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: The constant flows (section 4): group, rate of each as the scenario writes it, how many.
CONSTANT = (
    ("cbr10k", "10kbit/s", 10),
    ("cbr100k", "100kbit/s", 5),
    ("cbr500k", "500kbit/s", 5),
    ("cbr1m", "1Mbit/s", 5),
    ("cbr10m", "10Mbit/s", 5),
)
#: Fair rate of each of 1030 flows, in bit/s; the paper's 0.97 kbit/s.
FAIR_BPS = 1e6 / 1030
#: How the fair rate is drawn.
FAIR_LOOK = {"linewidth": 1.2, "label": "fair rate"}


def scenario(v: ScenarioValues) -> Dumbbell:
    """Every flow on an access link of 5 ms, started in the first 10 s."""
    return Dumbbell(
        name="breathe",
        about="1000 TCP flows and 30 unresponsive flows on 1 Mbit/s.",
        duration="1000s",
        rate="1Mbit/s",
        delay="10ms",
        limit="300p",
        flows=[
            tcp(
                1000,
                profile="ns2",
                recovery=v.recovery,
                window=20,
                min_rto=v.min_rto,
                access={"delay": "5ms"},
                start="0s..10s",
                send_jitter="4ms",
            ),
            *(
                udp(rate, name=name, profile="ns2", flows=flows, access={"delay": "5ms"}, jitter=0.1, start="0s..10s")
                for name, rate, flows in CONSTANT
            ),
        ],
        qdiscs=v.qdiscs,
    )


QDISCS = {
    "DropTail": "droptail",
    "RED": "red:$red",
    "CHOKe-1": "choke:$red",
    "CHOKe-10": "choke:$red,candidates=10",
    "SFQ": "sfq:buckets=16",
    "AFD": "afd:shadow=30000,sample=$afd_sample",
    "BREATHe": "breathe:$red,r_limit=$r_limit",
}
#: The figures leave them out, because they give TCP almost nothing.
NOT_DRAWN = ("DropTail", "RED")

CHOICES = (
    OpenParameter(
        "r_limit",
        "10kbit/s",
        "not stated; the rate of the slowest constant flows. Its 100 counters are more than the heavy flows and fewer "
        "than all flows, as the set needs",
        ("1kbit/s", "2kbit/s", "5kbit/s", "15kbit/s", "20kbit/s", "33kbit/s", "100kbit/s"),
    ),
    OpenParameter(
        "red",
        "minth=25%,maxth=50%,maxp=0.1",
        "not stated; thresholds at a quarter and a half of the buffer as in other papers of the time",
        ("minth=5%,maxth=99%,maxp=0.1", "minth=50%,maxth=99%,maxp=0.02"),
    ),
    OpenParameter("afd_sample", 5, "not stated; AFD's paper samples one arrival in five", (1, 20)),
    OpenParameter("delays", "10 ms, links of flows 5 ms", "figure 1 is lost"),
    OpenParameter("recovery", "newreno", "not stated", ("reno", "sack")),
    OpenParameter("window", 20, "not stated; ns-2's default. A flow's fair share is a packet in 8 s"),
    OpenParameter("min_rto", "200ms", "ns-2.35's default", ("1s",)),
    OpenParameter(
        "packet", "1000B", 'the paper says "1000 Kb", which would be a second of the link a packet; taken for bytes'
    ),
    OpenParameter("start", "0s..10s", "not stated; ten seconds keep 1000 first windows apart"),
    OpenParameter("send_jitter", "4ms", "half a packet's time on the link, against lockstep"),
)

# The start of a thousand flows dominates shorter runs.
experiment = partial(Experiment, scenario=scenario, qdiscs=QDISCS, choices=CHOICES, quick=QuickVariant())
