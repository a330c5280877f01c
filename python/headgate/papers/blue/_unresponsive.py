"""What the experiments of section IV share: 400 TCP flows beside flows that do not slow down."""

from __future__ import annotations

from headgate.experiment.declare import Choice, Quick
from headgate.papers.blue._network import CHOICES, EVEN, PAIRS, network
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
    Choice(
        "warmup",
        "20s",
        "under SFB the unresponsive flow loses all but its 0.16 Mbit/s (table III), so what passes before it is "
        "found out is not counted",
        ("0s",),
    ),
    Choice(
        "jitter",
        1,
        "intervals are uniform from 0 to twice the mean: a steadier flow of just the link's rate takes each "
        "place in the queue as it becomes free; in table III it loses as large a part under RED, 23 %, as TCP does",
        (0.1,),
    ),
    Choice(
        "steps",
        "d1=0.005,d2=0.001,freeze_time=1ms",
        "the paper gives none for SFB; these are the comparison paper's. Others: B3 and B1, and figure 14 as it "
        "is printed",
        (
            "d1=0.02,d2=0.002,freeze_time=10ms",
            "d1=0.0025,d2=0.00025,freeze_time=10ms",
            "d1=0.0005,d2=0.0005,freeze_time=0s",
            "d1=0.005,d2=0.005,freeze_time=0s",
        ),
    ),
    Choice(
        "cbr_ecn",
        "true",
        "under RED a flow of 45 Mbit/s loses 10.32 in table III, as large a part as TCP: it is marked as TCP is",
        ("false",),
    ),
)
#: And of what SFB is compared with.
OPEN_REDS = (
    *OPEN,
    Choice("wq of RED", 0.002, "the paper does not say; R2, that of its traces over time"),
    Choice("maxp of SFQ's REDs", 1, "the paper gives thresholds alone; as its other REDs, which mark above maxth"),
    Choice("sfq_wq", 0.002, "the paper gives none for the REDs in SFQ; R2's", (0.02, 0.2)),
)

#: Why SFB limits less, and protects less, than the paper has it.
LEAK = (
    "Each time one of the unresponsive flow's bins is found empty, its probability leaves 1, and until the bin is "
    "overfull again the flow's packets are marked and pass, as they are ECN-capable here, as RED's rows of table "
    "III need. With cbr_ecn = false (seed 1) SFB lets 0.17 of 45 Mbit/s pass, 98.5 % of the TCP flows get more "
    "than a tenth of their share and 86 % are within a half of it; but RED then drops 42.6 Mbit/s of the "
    "unresponsive flow, where the paper has 10.32."
)
#: Why TCP loses under SFB.
OVERFULL = (
    "A bin's probability rises by overflow alone, and bins of 13 packets, for 17 flows each, overflow now and "
    "then. How often follows from the steps, which the paper leaves open: from 0.15 Mbit/s of TCP's packets (d1 "
    "0.05, d2 0.0005, no freeze time) to 5 (0.0005 both, as figure 14 is printed), seed 1."
)

MBIT = "Mbit/s"
QDISCS = {
    "SFB": SFB,
    "RED": "red:preset=R2",
    "SFRED": "sfred:preset=blue",
    "SFQ+RED": "sfq_red:preset=blue,limit=414KB,wq=$sfq_wq",
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
