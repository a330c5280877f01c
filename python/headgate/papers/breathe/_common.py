"""What the BREATHe paper's figures share: a thousand TCP flows and thirty constant ones on 1 Mbit/s."""

from __future__ import annotations

from headgate.experiment.declare import Choice

#: The constant flows (section 4): group, rate of each as the scenario writes it, how many.
CONSTANT = (
    ("cbr10k", "10kbit/s", 10),
    ("cbr100k", "100kbit/s", 5),
    ("cbr500k", "500kbit/s", 5),
    ("cbr1m", "1Mbit/s", 5),
    ("cbr10m", "10Mbit/s", 5),
)
#: What each of 1030 flows is due, in bit/s; the paper's 0.97 kbit/s.
FAIR_BPS = 1e6 / 1030

_GROUP = """
[[udp]]
name = "{name}"
profile = "ns2"
flows = {flows}
rate = "{rate}"
access = {{ delay = "5ms" }}
jitter = 0.1
start = "0s..10s"
"""

SCENARIO = """
name = "breathe"
about = "1000 TCP flows and 30 that do not slow down on 1 Mbit/s."
duration = "1000s"
qdiscs = ["breathe"]

[link]
rate = "1Mbit/s"
delay = "10ms"
limit = "300p"

[[tcp]]
profile = "ns2"
flows = 1000
cc = "$cc"
window = 20
min_rto = "$min_rto"
access = { delay = "5ms" }
start = "0s..10s"
overhead = "4ms"
""" + "".join(_GROUP.format(name=name, rate=rate, flows=flows) for name, rate, flows in CONSTANT)

#: Thresholds and probability of RED, CHOKe and BREATHe.
RED = "minth=25%,maxth=50%,maxp=0.1"
QDISCS = {
    "DropTail": "droptail",
    "RED": "red:$red",
    "CHOKe-1": "choke:$red",
    "CHOKe-10": "choke:$red,candidates=10",
    "SFQ": "sfq:buckets=16",
    "AFD": "afd:shadow=30000,sample=$afd_sample",
    "BREATHe": "breathe:$red,r_limit=$r_limit",
}
#: Those of the figures; the others are left out there for giving TCP next to nothing.
DRAWN = ("CHOKe-1", "CHOKe-10", "SFQ", "AFD", "BREATHe")

#: Why BREATHe does less here than the paper says.
LIMITS = (
    "Between the thresholds each heavy flow is admitted C/(k + 1), k being the number of counters: 20 flows at 9.4 "
    "kbit/s with 100. With more counters TCP flows are listed too and cannot keep the average above minth, and below "
    "it everybody is admitted as he sends: 142 kbit/s for each flow of 10 Mbit/s at an r_limit of 2 kbit/s. Of nine "
    "r_limits and three pairs of thresholds (one seed each) 7 kbit/s with 50 % and 99 % does most: TCP gets 0.81 of "
    "its fair rate, and 57 % of its flows 0.6 to 1.2 kbit/s."
)

CHOICES = (
    Choice(
        "r_limit",
        "10kbit/s",
        "not stated; the rate of the slowest constant flows. Its 100 counters are more than the heavy flows and fewer "
        "than all flows, as the set needs",
        ("1kbit/s", "2kbit/s", "5kbit/s", "15kbit/s", "20kbit/s", "33kbit/s", "100kbit/s"),
    ),
    Choice(
        "red",
        RED,
        "not stated; thresholds at a quarter and a half of the buffer as in other papers of the time",
        ("minth=5%,maxth=99%,maxp=0.1", "minth=50%,maxth=99%,maxp=0.02"),
    ),
    Choice("afd_sample", 5, "not stated; AFD's paper samples one arrival in five", (1, 20)),
    Choice("delays", "10 ms, links of flows 5 ms", "figure 1 is lost"),
    Choice("cc", "newreno", "not stated", ("reno", "sack")),
    Choice("window", 20, "not stated; ns-2's default. A flow's fair share is a packet in 8 s"),
    Choice("min_rto", "200ms", "ns-2.35's default", ("1s",)),
    Choice(
        "packet", "1000B", 'the paper says "1000 Kb", which would be a second of the link a packet; taken for bytes'
    ),
    Choice("start", "0s..10s", "not stated; ten seconds keep 1000 first windows apart"),
    Choice("overhead", "4ms", "half a packet's time on the link, against falling into step"),
)
