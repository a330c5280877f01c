"""Criteria used in more than one section. docs/guide/evaluate.md derives their thresholds: the RFC sets none.

`Criterion.of` binds a criterion to a measure, whose name replaces `{}`.
"""

from headgate.evaluate.section import Criterion

IDLE = Criterion("idle capacity of {}", "%", 3, 10, "leaves little idle of {}", "leaves idle capacity of {}")
DELAY = Criterion("delay in {}, {}", "ms", 0.25, 0.75, "keeps {} short, {}", "hardly shortens {}, {}", relative=True)
UTILIZATION = Criterion("use of {}", "%", 0.97, 0.9, "makes use of {}", "loses use of {}", relative=True)
COMPLETION = Criterion("completion time of {}", "ms", 0.75, 1.25, "speeds up {}", "slows down {}", relative=True)
PACKET_LOSS = Criterion("packets lost of {}", "%", 0.5, 5, "spares {}, lost", "drops packets of {}")
ACK_LOSS = Criterion("ACKs lost of {}", "%", 0.5, 5, "spares ACKs of {}, lost", "drops ACKs of {}")
#: Goodput of responsive flows over their max-min fair share.
SHARE = Criterion("share of {}", "% of fair", 80, 50, "protects {}", "lets {} be crowded out")


def busy(measure: str = "idle", where: str = "the link") -> Criterion:
    """The criterion that a link has little idle capacity."""
    return IDLE.of(measure, where)


def short(measure: str = "p95_ms", where: str = "the queue", of: str = "95th percentile") -> Criterion:
    """The criterion that the queueing delay is short relative to DropTail's."""
    return DELAY.of(measure, where, of)
