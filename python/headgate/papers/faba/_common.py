"""What the FABA paper's experiments share: TCP beside a constant flow, its disciplines, what it leaves open."""

from __future__ import annotations

from headgate.experiment.declare import Choice

#: Figure 9: nine TCP flows and one of 5 Mbit/s on 10 Mbit/s. A round trip of 2 x (1 + 14 + 1) ms makes the
#: bandwidth-delay product of 78 packets that section 5.3 states; the figure itself is lost in the text we have.
MIX = """
name = "faba-mix"
about = "9 TCP flows and one of 5 Mbit/s that does not slow down on 10 Mbit/s."
duration = "$duration"
warmup = "20s"
qdiscs = ["faba"]

[link]
rate = "10Mbit/s"
delay = "$delay"
limit = "${buffer}p"

[[tcp]]
profile = "ns2"
flows = 9
cc = "$cc"
packet = "512B"
window = $window
min_rto = "$min_rto"
start = "0s..1s"
overhead = "200us"

[[udp]]
name = "cbr"
profile = "ns2"
rate = "5Mbit/s"
packet = "512B"
jitter = 0.1
start = "0s..1s"
"""

#: Ten times the bandwidth-delay product of a flow (section 5.3), in packets.
BUFFER = 780

#: Section 5: thresholds of RED and FRED at a quarter and a half of the buffer, maxp 0.02.
RED = "red:minth=25%,maxth=50%,maxp=0.02"
CHOKE = "choke:minth=$choke_minth,maxth=50%,maxp=0.02"
FRED = "fred:minth=25%,maxth=50%,maxp=0.02"

#: The disciplines that FABA is compared with wherever the paper says "other queue management schemes".
OTHERS = {"RED": RED, "CHOKe": CHOKE, "FRED": FRED}

DURATION = Choice("duration", "100s", "stated for figure 12 only; taken for all")
WINDOW = Choice(
    "window",
    10000,
    "no receiver's window is stated; ns-2's default of 20 packets would keep nine flows from filling the buffer",
    (20, 78),
)
CC = Choice(
    "cc", "newreno", "stated (section 5); varied, since NewReno repairs one loss a round trip", ("reno", "sack")
)
MIN_RTO = Choice("min_rto", "200ms", "ns-2.35's default; ns-2 of 2002 to 2004 had 1 s", ("1s",))
PHASE = Choice("jitter", 0.1, "random sending times, of TCP up to 200 us, keep flows from falling into step")
#: For figures of the mix: stated. For others: open.
MIX_BUFFER = Choice("buffer", BUFFER, "ten bandwidth-delay products of a flow, as section 5.3 states")
OPEN_BUFFER = Choice("buffer", BUFFER, "not stated for this figure; taken from section 5.3", (156, 390, 1560))

CHOKE_MINTH = Choice("choke_minth", "25%", "section 5 gives thresholds for RED and FRED; taken as those", ("10%", "5%"))

DELAY = Choice(
    "delay",
    "14ms",
    "figure 9 is lost; with links of 1 ms on both sides it makes the 78 packets that section 5.3 states for a flow",
    ("4ms", "50ms"),
)

#: Those of MIX, but for the buffer.
MIX_CHOICES = (DELAY, DURATION, WINDOW, CC, MIN_RTO, PHASE)
