"""Criteria used in more than one section. The thresholds are ours: the RFC sets none.

`Criterion.of` binds a criterion to a measure, whose name replaces `{}`.
"""

from headgate.evaluate.section import Criterion

#: Senders that always have data should keep the link busy. Without a buffer, a Reno flow leaves a quarter of it idle:
#: its window varies between half of the bandwidth-delay product and all of it. A failure is two fifths of that quarter.
IDLE = Criterion("idle capacity of {}", "%", 3, 10, "leaves little idle of {}", "leaves idle capacity of {}")

#: An AQM should keep queueing delay below DropTail's: a quarter of it is a strength, three quarters a failure.
DELAY = Criterion("delay in {}, {}", "ms", 0.25, 0.75, "keeps {} short, {}", "hardly shortens {}, {}", relative=True)

#: For traffic that does not fill the link by itself: utilization over DropTail's. A tenth less is a failure.
USED = Criterion("use of {}", "%", 0.97, 0.9, "makes use of {}", "loses use of {}", relative=True)

#: Users wait for these transfers: a quarter less time than with DropTail is a strength, a quarter more a failure.
QUICK = Criterion("completion time of {}", "ms", 0.75, 1.25, "speeds up {}", "slows down {}", relative=True)

#: Packet loss of flows with a small demand. By the E-model (ITU-T G.107), G.711 with concealment has a robustness of
#: 25.1 (G.113, appendix I). Its impairment is 95 p / (p + 25.1) at a loss of p percent. A loss of half a percent costs
#: 2 points and is inaudible. Five percent cost 16 points, which takes a rating of 93 below 80, where some users are
#: dissatisfied (G.109).
SPARED = Criterion("packets lost of {}", "%", 0.5, 5, "spares {}, lost", "drops packets of {}")

#: A lost ACK costs its flow little: later ACKs acknowledge the same data. But SYNs and queries have the same size and
#: are lost as often. At 5 %, one in ten handshakes of two packets waits 1 s for its timer (RFC 6298). At 0.5 %, it is
#: one in a hundred.
ACKS = Criterion("ACKs lost of {}", "%", 0.5, 5, "spares ACKs of {}, lost", "drops ACKs of {}")

#: Goodput of responsive flows over their max-min fair share: a strength from four fifths, a failure below a half.
SHARE = Criterion("share of {}", "% of fair", 80, 50, "protects {}", "lets {} be crowded out")


def busy(measure: str = "idle", where: str = "the link") -> Criterion:
    """The criterion that a link has little idle capacity."""
    return IDLE.of(measure, where)


def short(measure: str = "p95_ms", where: str = "the queue", of: str = "95th percentile") -> Criterion:
    """The criterion that the queueing delay is short relative to DropTail's."""
    return DELAY.of(measure, where, of)
