"""Criteria used in more than one section. The thresholds are ours: the RFC sets none.

`of` makes them criteria of a measure; `{}` stands for its name.
"""

from headgate.evaluate.section import Criterion

#: Senders that always have data should leave nothing idle. A Reno flow without any buffer leaves a quarter: its window
#: swings between a half and the whole of what the path holds. A tenth is two fifths of that.
IDLE = Criterion("idle capacity of {}", "%", 3, 10, "leaves little idle of {}", "leaves idle capacity of {}")

#: An AQM should keep the queue shorter than DropTail does: a quarter of DropTail's is short, three quarters is not.
DELAY = Criterion("delay in {}, {}", "ms", 0.25, 0.75, "keeps {} short, {}", "hardly shortens {}, {}", relative=True)

#: If the traffic itself leaves capacity unused, a discipline should not leave a further tenth unused.
USED = Criterion("use of {}", "%", 0.97, 0.9, "makes use of {}", "loses use of {}", relative=True)

#: Transfers with a waiting user should end sooner than with DropTail, and certainly not later.
QUICK = Criterion("completion time of {}", "ms", 0.75, 1.25, "speeds up {}", "slows down {}", relative=True)

#: Packet loss of flows with a small demand. By the E-model (ITU-T G.107), G.711 with concealment has a robustness of
#: 25.1 (G.113, appendix I). Its impairment is 95 p / (p + 25.1) at a loss of p percent. A loss of half a percent costs
#: 2 points and is inaudible. Five percent cost 16 points, which takes a rating of 93 below 80, where some users are
#: dissatisfied (G.109).
SPARED = Criterion("packets lost of {}", "%", 0.5, 5, "spares {}, lost", "drops packets of {}")

#: A lost ACK costs its flow little, as later ones say the same; SYNs and queries of that size are lost as often. At 5
#: per cent one in ten handshakes of two packets waits a second for its timer (RFC 6298), at half a per cent one in a
#: hundred.
ACKS = Criterion("ACKs lost of {}", "%", 0.5, 5, "spares ACKs of {}, lost", "drops ACKs of {}")

#: Goodput of responsive flows over their max-min fair share: a strength from four fifths, a failure below a half.
SHARE = Criterion("share of {}", "% of fair", 80, 50, "protects {}", "lets {} be crowded out")


def busy(measure: str = "idle", where: str = "the link") -> Criterion:
    """The criterion that a link has little idle capacity."""
    return IDLE.of(measure, where)


def short(measure: str = "p95_ms", where: str = "the queue", of: str = "95th percentile") -> Criterion:
    """The criterion that the queueing delay is short relative to DropTail's."""
    return DELAY.of(measure, where, of)
