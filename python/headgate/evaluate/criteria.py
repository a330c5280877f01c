"""What counts as a strength or a failure in more than one section; the thresholds are ours, the RFC sets none."""

from __future__ import annotations

from headgate.evaluate.section import Criterion


def busy(measure: str = "idle", where: str = "the link") -> Criterion:
    """Senders that always have data should leave nothing idle.

    A Reno flow without any buffer leaves a quarter: its window swings between a half and the whole of what the path
    holds. A tenth is two fifths of that.
    """
    return Criterion(
        measure=measure,
        what=f"idle capacity of {where}",
        unit="%",
        strong=3,
        weak=10,
        strength=f"leaves little idle of {where}",
        failure=f"leaves idle capacity of {where}",
    )


def short(measure: str = "p95_ms", where: str = "the queue", of: str = "95th percentile") -> Criterion:
    """The queue should be shorter than DropTail's, which is what an AQM is for: a quarter is, three quarters hardly."""
    return Criterion(
        measure=measure,
        what=f"delay in {where}, {of}",
        unit="ms",
        strong=0.25,
        weak=0.75,
        relative=True,
        strength=f"keeps {where} short, {of}",
        failure=f"hardly shortens {where}, {of}",
    )


def used(measure: str, where: str) -> Criterion:
    """Where traffic itself leaves capacity unused, a discipline should not add a tenth to that."""
    return Criterion(
        measure=measure,
        what=f"use of {where}",
        unit="%",
        strong=0.97,
        weak=0.9,
        relative=True,
        strength=f"makes use of {where}",
        failure=f"loses use of {where}",
    )


def quick(measure: str, who: str) -> Criterion:
    """Transfers that somebody waits for should end sooner than with DropTail, and certainly not later."""
    return Criterion(
        measure=measure,
        what=f"completion time of {who}",
        unit="ms",
        strong=0.75,
        weak=1.25,
        relative=True,
        strength=f"speeds up {who}",
        failure=f"slows down {who}",
    )


def spared(measure: str, who: str, strong: float = 0.5, weak: float = 5) -> Criterion:
    """Flows that ask for little should lose little.

    By the E-model (ITU-T G.107) G.711 with concealment, whose robustness is 25.1 (G.113, appendix I), is impaired by
    95 p / (p + 25.1) at a loss of p per cent: by 2 at half a per cent, which nobody hears, and by 16 at five, which
    takes a rating of 93 below 80, where some users are dissatisfied (G.109).
    """
    return Criterion(
        measure=measure,
        what=f"packets lost of {who}",
        unit="%",
        strong=strong,
        weak=weak,
        strength=f"spares {who}, lost",
        failure=f"drops packets of {who}",
    )


def share(measure: str, who: str) -> Criterion:
    """What flows that slow down get of their max-min fair share: four fifths at least, and not less than a half."""
    return Criterion(
        measure=measure,
        what=f"share of {who}",
        unit="% of fair",
        strong=80,
        weak=50,
        strength=f"protects {who}",
        failure=f"lets {who} be crowded out",
    )
