"""Measures the cost of a point of a sweep beyond its simulation, with runs of a few packets.

    python docs/point_cost.py [POINTS]

A sweep of POINTS points is compared with one of half of them, so the costs that every sweep has once do not count.
The times include planning, simulating and writing the dataset. A bare Python start tells how fast the machine is.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import NamedTuple

import headgate
from headgate.counting import counted

SCENARIO = headgate.Scenario.parse("""
name = "tiny"
duration = "10ms"
qdiscs = ["droptail"]
link = { rate = "10Mbit/s", delay = "1ms", limit = "50p" }
tcp = [{ flows = 2 }]
""")
RATES = [f"{rate}Mbit/s" for rate in range(5, 55, 5)]


class SweepTimes(NamedTuple):
    """Points of a sweep, seconds of the whole sweep, and processor seconds of the process and of the simulations."""

    points: int
    wall_s: float
    cpu_s: float
    simulator_s: float


def measure(points: int, threads: int) -> SweepTimes:
    """Executes a sweep of about so many points."""
    with TemporaryDirectory() as out:
        seeds = max(1, points // len(RATES))
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        swept = headgate.sweep(SCENARIO, grid={"link.rate": RATES}, seeds=seeds, out=out, threads=threads)
        # Before the folder is removed: that is no part of a sweep.
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    return SweepTimes(swept.cost.runs, wall_s, cpu_s, swept.cost.cpu_s)


def bare_start_s() -> float:
    """Processor time of a Python that does nothing: the median of nine."""

    def children_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    starts = []
    for _ in range(9):
        before = children_s()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        starts.append(children_s() - before)
    return statistics.median(starts)


def main() -> None:
    """Measures and prints."""
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 5000  # with half of them, bundles are full too
    print(f"a bare Python start takes {1e3 * bare_start_s():.1f} ms of processor time")
    measure(10, 1)  # imports everything first
    for threads in (1, 2):
        few, many = measure(points // 2, threads), measure(points, threads)
        each = [1e3 * (more - less) / (many.points - few.points) for less, more in zip(few[1:], many[1:], strict=True)]
        print(f"{counted(threads, 'thread')}: a point takes {each[0]:.2f} ms, {each[1]:.2f} ms of processor time, "
              f"{each[2]:.2f} ms of it in the simulator: {each[1] - each[2]:.2f} ms beside it")  # fmt: skip


if __name__ == "__main__":
    main()
