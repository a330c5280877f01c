"""How accurate runs on real packets were: whether the link was the bottleneck, with the scenario's rate and delay."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headgate.counting import counted

RunAccuracy = Mapping[str, Any]

#: Bounds on the lateness of packets in ms, median and 99th percentile. `headgate link --check` uses them too.
LATE_P50_MS, LATE_P99_MS = 0.2, 1.0
#: Bound on the processor time of the forwarding thread, as a share of one processor.
MOST_CPU = 0.9

#: Causes of packet losses outside the link, by their keys in `host_losses`.
LOSS_CAUSES = {
    "device": "a host's device was full",
    "no_slot": "the link's packet memory was full",
    "unreadable": "they were unreadable",
    "refused": "a host refused them",
}


def warnings(live: Mapping[str, Any]) -> list[str]:
    """Warnings about inaccurate runs; empty if the link was the bottleneck in all runs."""
    runs: Sequence[RunAccuracy] = live["runs"]
    return list(_warnings(runs))


def _warnings(runs: Sequence[RunAccuracy]) -> Iterator[str]:
    def some(applies: Callable[[RunAccuracy], object]) -> list[RunAccuracy]:
        return [run for run in runs if applies(run)]

    if lost := some(lambda run: any(run["host_losses"].values())):
        counts_by_cause = {why: sum(run["host_losses"][name] for run in lost) for name, why in LOSS_CAUSES.items()}
        why = ", ".join(f"{count} because {why}" for why, count in counts_by_cause.items() if count)
        packets = counted(sum(counts_by_cause.values()), "packet was", "packets were")
        yield f"{_affected(lost, runs)}: {packets} lost outside the link: {why}"
    if broken := some(lambda run: not run["conserves"]):
        yield f"{_affected(broken, runs)}: the packet counts of kernel and link differ"
    if long := some(lambda run: run["oversize"]):
        count = sum(run["oversize"] for run in long)
        yield f"{_affected(long, runs)}: {counted(count, 'packet')} exceeded the MTU: an offload merged them"
    if stalled := some(lambda run: run["stalls"]):
        times, lasted = sum(run["stalls"] for run in stalled), sum(run["stalled_ms"] for run in stalled)
        often = "once" if times == 1 else f"{times} times"
        stalls = f"the forwarding thread was late {often} ({lasted:.0f} ms in total)"
        yield f"{_affected(stalled, runs)}: {stalls}: the CPU was busy"
    if late := some(_is_late):
        p50, p99 = (max(_ms(run, name) for run in late) for name in ("late_ms_p50", "late_ms_p99"))
        yield f"{_affected(late, runs)}: packets left late, by up to {p50:.2f} ms (median) and {p99:.2f} ms (p99)"
    if busy := some(lambda run: run["cpu"] > MOST_CPU):
        share = max(run["cpu"] for run in busy)
        used = f"the forwarding thread used {share:.0%} of a processor"
        yield f"{_affected(busy, runs)}: {used}: the link's rate is too high for this machine"


def _is_late(run: RunAccuracy) -> bool:
    return _ms(run, "late_ms_p50") > LATE_P50_MS or _ms(run, "late_ms_p99") > LATE_P99_MS


def _ms(run: RunAccuracy, name: str) -> float:
    return run[name] or 0.0


def _affected(some: Sequence[RunAccuracy], runs: Sequence[RunAccuracy]) -> str:
    """Names the affected runs: `in 2 of 10 runs`, or the run if only one of several is affected."""
    if len(some) == len(runs):
        return "in every run" if len(runs) > 1 else "in this run"
    if len(some) == 1:
        return f"{some[0]['qdisc']} with seed {some[0]['seed']}"
    return f"in {len(some)} of {len(runs)} runs"


HEADS = (
    "Discipline",
    "late ms, median",
    "late ms, p99",
    "senders late ms, p99",
    "thread late ms",
    "lost outside",
    "packets, kernel",
    "CPU",
)


def rows(live: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """A row for each discipline with the worst values of its runs. The columns are `HEADS`."""
    by_qdisc: dict[str, list[RunAccuracy]] = {}
    for run in live["runs"]:
        by_qdisc.setdefault(run["qdisc"], []).append(run)
    return [(qdisc, *_row(runs)) for qdisc, runs in by_qdisc.items()]


def _row(runs: Sequence[RunAccuracy]) -> Iterator[str]:
    for name in ("late_ms_p50", "late_ms_p99", "send_late_ms_p99"):
        known = [run[name] for run in runs if run[name] is not None]
        yield f"{max(known):.3f}" if known else "-"
    yield f"{sum(run['stalled_ms'] for run in runs):.0f}"
    yield str(sum(sum(run["host_losses"].values()) for run in runs))
    yield str(sum(run["near"]["sent"] + run["far"]["sent"] for run in runs))
    yield f"{max(run['cpu'] for run in runs):.0%}"
