"""What the experiments of section IV share: 400 TCP flows beside flows that do not slow down."""

from __future__ import annotations

from headgate.papers.blue._network import CHOICES, EVEN, PAIRS, network
from headgate.papers.experiment import Choice, Quick
from headgate.papers.measures import in_unit, jain, loss_bps, throughput

#: TCP flows.
FLOWS = 400
#: What a TCP flow is due of 45 Mbit/s less the 0.16 that unresponsive flows are limited to.
FAIR_BPS = (45e6 - 0.16e6) / FLOWS

SCENARIO = """
name = "blue-unresponsive"
about = "400 TCP flows, and $unresponsive of $rate Mbit/s that do not slow down, on 45 Mbit/s."
duration = "100s"
warmup = "$warmup"
qdiscs = ["sfb"]

[[udp]]
name = "unresponsive"
profile = "ns2"
from = "n0"
to = "n5"
flows = $unresponsive
access = { rate = "1Gbit/s", delay = "0s" }
rate = "${rate}Mbit/s"
packet = "1000B"
jitter = $jitter
ecn = $cbr_ecn
start = "0s..1s"
""" + network("200KB", EVEN, f'flows = {FLOWS // PAIRS}\nstart = "0s..1s"\n')

#: Basic SFB: the hash functions stay.
SFB = "sfb:preset=blue,rehash=0s,$steps"

#: What the paper leaves open.
OPEN = (
    *CHOICES,
    Choice("warmup", "0s", "flows are run for 100 s, and the paper leaves out no part of it", ("20s",)),
    Choice(
        "cbr_ecn",
        "true",
        "under RED a flow of 2 Mbit/s loses 1.5 % in table III, less than TCP does: its packets were marked, "
        "not dropped",
        ("false",),
    ),
    Choice("jitter", 0.1, "intervals of the CBR vary by 10 %, so that no flow falls into step", (0.5, 1)),
    Choice(
        "steps",
        "d1=0.02,d2=0.002,freeze_time=100ms",
        "x",
        (
            "d1=0.0025,d2=0.00025,freeze_time=10ms",
            "d1=0.02,d2=0.002,freeze_time=10ms",
            "d1=0.005,d2=0.001,freeze_time=1ms",
        ),
    ),
)

MBIT = "Mbit/s"
QDISCS = {
    "SFB": SFB,
    "RED": "red:preset=R2",
    "SFRED": "sfred:preset=blue",
    "SFQ+RED": "sfq_red:preset=blue,limit=414KB",
}
MEASURES = {
    "loss": in_unit(loss_bps(packet_bytes=1000), 1e-6),
    "loss_unresponsive": in_unit(loss_bps(kind="udp", packet_bytes=1000), 1e-6),
    "loss_tcp": in_unit(loss_bps(kind="tcp", packet_bytes=1000), 1e-6),
    "unresponsive_rate": in_unit(throughput(kind="udp"), 1e-6),
    "tcp_rate": in_unit(throughput(kind="tcp"), 1e-6),
    "jain": jain(kind="tcp", alike=True),
}

QUICK = Quick(seeds=1, set=("duration=40s",))
