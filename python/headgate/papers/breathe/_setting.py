"""Common to the BREATHe paper's figures: a thousand TCP flows and thirty constant flows on 1 Mbit/s."""

from functools import partial

from headgate.build.keys import AccessKeys
from headgate.build.parts import tcp, udp
from headgate.experiment import findings
from headgate.experiment.declare import Experiment, OpenParameter, QuickVariant, ScenarioValues
from headgate.scenario.network import Dumbbell

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: The constant flows (section 4): name of the group, rate of each flow, number of flows.
CONSTANT = (
    ("cbr10k", "10kbit/s", 10),
    ("cbr100k", "100kbit/s", 5),
    ("cbr500k", "500kbit/s", 5),
    ("cbr1m", "1Mbit/s", 5),
    ("cbr10m", "10Mbit/s", 5),
)
#: The fair rate of each of 1030 flows in bit/s: the paper's 0.97 kbit/s.
FAIR_BPS = 1e6 / 1030
#: The look of the line at the fair rate.
FAIR_LOOK = {"linewidth": 1.2, "label": "fair rate"}


def scenario(v: ScenarioValues) -> Dumbbell:
    """The CHOKe paper's network: access links of 10 Mbit/s, and 1 ms on every link. Flows start in the first 10 s."""
    access: AccessKeys = {"rate": "10Mbit/s", "delay": v.delay}
    return Dumbbell(
        name="breathe",
        about="1000 TCP flows and 30 unresponsive flows on 1 Mbit/s.",
        duration="1000s",
        rate="1Mbit/s",
        delay=v.delay,
        limit="300p",
        flows=[
            tcp(
                1000,
                profile="ns2",
                recovery=v.recovery,
                window=v.window,
                min_rto=v.min_rto,
                access=access,
                start="0s..10s",
                send_jitter="4ms",
            ),
            *(
                udp(rate, name=name, profile="ns2", flows=flows, access=access, jitter=0.1, start="0s..10s")
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
#: Disciplines that the figures leave out, because TCP gets almost nothing under them.
NOT_DRAWN = ("DropTail", "RED")

CHOICES = (
    OpenParameter(
        "r_limit",
        "10kbit/s",
        "not stated; the rate of the slowest constant flows. The link's rate over it gives 100 counters. The "
        "heavy-hitter set needs more counters than there are heavy flows, and fewer than there are flows",
        ("1kbit/s", "2kbit/s", "5kbit/s", "7kbit/s", "8kbit/s", "15kbit/s", "20kbit/s", "33kbit/s", "100kbit/s"),
    ),
    OpenParameter(
        "red",
        "minth=100p,maxth=200p,maxp=0.1",
        "not stated. The CHOKe paper, which the letter cites, has the same link, packets and buffer, with 100 and 200 "
        "packets (so has the test of a CHOKe for ns-3). It does not state maxp; 0.1 is ns-2.35's default",
        ("minth=100p,maxth=200p,maxp=0.02", "minth=25%,maxth=50%,maxp=0.1", "minth=50%,maxth=99%,maxp=0.02"),
    ),
    OpenParameter(
        "afd_sample",
        1,
        "not stated. AFD's paper samples one arrival in five. The letter's own number decides: its AFD gives TCP 78 % "
        "of the fair rate, and with every arrival in the shadow buffer ours comes nearest to that",
        (5, 20),
    ),
    OpenParameter("delay", "1ms", "our text has no figure 1. The CHOKe paper has 1 ms on every link", ("5ms", "10ms")),
    OpenParameter("access", "10Mbit/s", "the access links of the CHOKe paper. The fastest flows send as much"),
    OpenParameter("recovery", "newreno", "not stated", ("reno", "sack")),
    OpenParameter("window", 300, "the CHOKe paper's. A flow's fair share is a packet in 8 s", (20,)),
    OpenParameter("min_rto", "200ms", "ns-2.35's default", ("1s",)),
    OpenParameter(
        "packet",
        "1000B",
        'the paper says "1000 Kb", with which the link would send one packet per second; read as bytes',
    ),
    OpenParameter("start", "0s..10s", "not stated; ten seconds spread the initial windows of 1000 flows"),
    OpenParameter("send_jitter", "4ms", "half the time that the link needs for a packet, against lockstep"),
)

# The shortened run has one seed but the full duration: the start of a thousand flows dominates shorter runs.
experiment = partial(Experiment, scenario=scenario, qdiscs=QDISCS, choices=CHOICES, quick=QuickVariant())
