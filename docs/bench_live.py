"""Writes performance.md's tables of real packets: `python docs/bench_live.py results/bench-live.txt`.

The file is the output of `cargo bench -p headgate-live --bench forward`; `make bench-live` does both.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parent))

from pages import filled, table

PAGE = Path(__file__).parent / "guide" / "performance.md"

#: The least wanted rate over that of a bare loop.
GOAL = 0.9

#: The ends of the benchmark in words, and whether the goal applies to them.
ENDS = {
    "TUN": ("a pair of TUN devices", True),
    "packet sockets": ("packet sockets on veth", True),
    "AF_XDP out": ("the same, out by AF_XDP", True),
    "no kernel": ("no kernel: frames are copied in", False),
    "no kernel, flood": ("no kernel, 8192 flows in turn", False),
}

COST = re.compile(
    rf"(?P<ends>{'|'.join(sorted(ENDS, key=len, reverse=True))}) +(?P<bytes>\d+) +(?P<loop>\w+) +(?P<ns>\d+)"
    r" +(?P<rate>\d+) +(?P<gbit>[\d.]+) +(?P<ratio>[\d.]+) +[\d.]+ to [\d.]+ *(?P<of_sockets>[\d.]*)"
)
PACING = re.compile(r"(\d+)Mbit/s +(\w+) +[\d.]+ Mbit/s +(\S+) % +(\S+) us +(\S+) us +(\d+)")
#: The load average of a minute and the number of processors, which `make bench-live` adds.
LOAD = re.compile(r"^load ([\d.]+) (\d+)$", re.MULTILINE)


class Cost(NamedTuple):
    """The cost of a loop: nanoseconds and Gbit/s of a packet, the ratio to the bare loop, and to that of sockets."""

    ns: int
    gbit: float
    ratio: float
    of_sockets: float | None


Costs = dict[tuple[str, int], dict[str, Cost]]


def costs(output: str) -> Costs:
    """The cost of each loop by ends and bytes."""
    read: Costs = {}
    for line in output.splitlines():
        if match := COST.fullmatch(line.rstrip()):
            of_sockets = float(match["of_sockets"]) if match["of_sockets"] else None
            cost = Cost(int(match["ns"]), float(match["gbit"]), float(match["ratio"]), of_sockets)
            read.setdefault((match["ends"], int(match["bytes"])), {})[match["loop"]] = cost
    return read


def cost_table(read: Costs) -> str:
    """A row for each pair of ends and length of packets."""
    loops = list(next(iter(read.values())))
    rows = []
    for (ends, size), row in read.items():
        words, _ = ENDS[ends]
        bare, *others = row.values()
        rate = f"{1e3 / bare.ns:.2f} million/s" if size < 100 else f"{bare.gbit:.1f} Gbit/s"
        kernel = not ends.startswith("no kernel")
        cells = [f"{bare.ns} ns, {rate}" if kernel else f"{bare.ns} ns"]
        cells += [f"{each.ns} ns, {each.ratio:.2f}" if kernel else f"{each.ns} ns" for each in others]
        rows.append((words, str(size), *cells))
        if ends == "AF_XDP out":
            ratios = (f"{each.of_sockets:.2f}" for each in row.values() if each.of_sockets is not None)
            rows.append(("to the bare loop of packet sockets", str(size), *ratios))
    return table(("ends", "bytes", "bare", *(f"`{loop}`" for loop in loops[1:])), rows)


def goal_table(read: Costs) -> str:
    """Whether each discipline reaches the goal, over each kind of ends."""
    rows = []
    for ends, (words, judged) in ENDS.items():
        if not judged:
            continue
        ratios: dict[str, list[float]] = {}
        for (name, _), row in read.items():
            for loop, cost in list(row.items())[1:] if name == ends else ():
                ratios.setdefault(loop, []).append(cost.ratio)
        every = [ratio for each in ratios.values() for ratio in each]
        missed = [f"`{loop}`" for loop, each in ratios.items() if min(each) < GOAL]
        verdict = f"not met with {', '.join(missed)}" if missed else "met"
        rows.append((words, f"{min(every):.3f} to {max(every):.3f}", verdict))
    return table(("ends", "ratio", f"goal {GOAL}"), rows)


def accuracy_table(output: str) -> str:
    """The error of the rate and the lateness of packets."""
    rows = [
        (
            f"{rate} Mbit/s",
            "first (`SCHED_FIFO`)" if thread == "first" else thread,
            f"{error} %",
            f"{half} us",
            f"{most} us",
        )
        for rate, thread, error, half, most, _ in PACING.findall(output)
    ]
    drawn = table(("rate", "thread", "error of the rate", "late, median", "p99"), rows)
    load = LOAD.search(output)
    return (
        drawn if load is None else f"{drawn}\nAt the end the machine had a load of {load[1]} on {load[2]} processors.\n"
    )


def main(file: Path) -> None:
    """Rewrites the three tables."""
    output = file.read_text()
    read = costs(output)
    if not read or not PACING.search(output):
        sys.exit(f"{file} has no measurements: root is needed")
    text = filled(PAGE.read_text(), "live costs", cost_table(read))
    text = filled(text, "live goals", goal_table(read))
    PAGE.write_text(filled(text, "live accuracy", accuracy_table(output)))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/bench-live.txt"))
