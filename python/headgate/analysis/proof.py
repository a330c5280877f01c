"""How true a run on real packets was: whether the bottleneck was ours, and was what the scenario says."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Proof = Mapping[str, Any]

#: What a link adds to a packet's delay at most, in ms: the median and the 99th percentile of `link --check`.
LATE_P50_MS, LATE_P99_MS = 0.2, 1.0
#: The most of a processor that the loop may use while it still keeps its time.
MOST_CPU = 0.9

#: Where packets can vanish besides the link, by the names of the proof.
PLACES = {
    "device": "a host's device had no room",
    "no_slot": "the loop had no room",
    "unreadable": "they made no sense",
    "refused": "a host did not take them",
}


def warnings(live: Mapping[str, Any]) -> list[str]:
    """What a reader must know before believing the numbers; nothing if the bottleneck was ours, and true."""
    points: Sequence[Proof] = live["points"]
    return list(_warnings(points))


def _warnings(points: Sequence[Proof]) -> Iterator[str]:
    def some(applies: Callable[[Proof], object]) -> list[Proof]:
        return [point for point in points if applies(point)]

    if lost := some(lambda point: any(point["elsewhere"].values())):
        places = {why: sum(point["elsewhere"][name] for point in lost) for name, why in PLACES.items()}
        why = ", ".join(f"{count} where {why}" for why, count in places.items() if count)
        yield f"{_of(lost, points)}: {sum(places.values())} packets vanished elsewhere than at the link: {why}"
    if broken := some(lambda point: not point["conserves"]):
        yield f"{_of(broken, points)}: the counts of kernel and link do not add up"
    if long := some(lambda point: point["oversize"]):
        count = sum(point["oversize"] for point in long)
        yield f"{_of(long, points)}: {count} packets were longer than the link takes: an offload merged them"
    if stalled := some(lambda point: point["stalls"]):
        times, lasted = sum(point["stalls"] for point in stalled), sum(point["stalled_ms"] for point in stalled)
        often = "once" if times == 1 else f"{times} times"
        yield f"{_of(stalled, points)}: the link stood still {often}, {lasted:.0f} ms in all: the machine was busy"
    if late := some(_is_late):
        p50, p99 = (max(_ms(point, name) for point in late) for name in ("late_ms_p50", "late_ms_p99"))
        yield f"{_of(late, points)}: packets came out late, by up to {p50:.2f} ms (median) and {p99:.2f} ms (p99)"
    if busy := some(lambda point: point["cpu"] > MOST_CPU):
        share = max(point["cpu"] for point in busy)
        yield f"{_of(busy, points)}: the loop used {share:.0%} of a processor: the link is too fast for this machine"


def _is_late(point: Proof) -> bool:
    return _ms(point, "late_ms_p50") > LATE_P50_MS or _ms(point, "late_ms_p99") > LATE_P99_MS


def _ms(point: Proof, name: str) -> float:
    return point[name] or 0.0


def _of(some: Sequence[Proof], points: Sequence[Proof]) -> str:
    """`in 2 of 10 points`, or which point, if it is one of several."""
    if len(some) == len(points):
        return "in every point" if len(points) > 1 else "in this run"
    if len(some) == 1:
        return f"{some[0]['qdisc']} with seed {some[0]['seed']}"
    return f"in {len(some)} of {len(points)} points"


HEADS = (
    "Discipline",
    "late ms, median",
    "late ms, p99",
    "senders late ms, p99",
    "stood still ms",
    "gone elsewhere",
    "packets, kernel",
    "CPU",
)


def rows(live: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The worst of each discipline's points, a row each, as `HEADS` says."""
    by_qdisc: dict[str, list[Proof]] = {}
    for point in live["points"]:
        by_qdisc.setdefault(point["qdisc"], []).append(point)
    return [(qdisc, *_row(points)) for qdisc, points in by_qdisc.items()]


def _row(points: Sequence[Proof]) -> Iterator[str]:
    for name in ("late_ms_p50", "late_ms_p99", "send_late_ms_p99"):
        known = [point[name] for point in points if point[name] is not None]
        yield f"{max(known):.3f}" if known else "-"
    yield f"{sum(point['stalled_ms'] for point in points):.0f}"
    yield str(sum(sum(point["elsewhere"].values()) for point in points))
    yield str(sum(point["near"]["sent"] + point["far"]["sent"] for point in points))
    yield f"{max(point['cpu'] for point in points):.0%}"
