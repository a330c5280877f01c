"""Measures how much of the processors a sweep uses: the same runs on one thread and on several.

    python docs/efficiency.py [SEEDS]

Wall time means little on a machine with other users. So two numbers are measured for each number of threads (Linux's
schedstat): the processor time of a run, and the share of the wall time in which the threads ran or were ready to run.
Efficiency is this share, times the cost of a run on one thread over its cost on several.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import headgate
from headgate.counting import counted
from headgate.execution.runner import Watcher, processors

SCENARIO = "scenarios/protect.toml"
GRID = {"link.rate": ["5Mbit/s", "10Mbit/s"], "tcp.flows": [5, 9]}


class Threads(Watcher):
    """Reads the running and waiting times of this process's threads while they exist."""

    def __init__(self) -> None:
        self._before = dict(self._now())
        self._last: dict[str, tuple[int, int]] = {}

    def tick(self, finished: int, seconds: float) -> None:  # noqa: ARG002 - a watcher gets more than this one needs
        """Stores the times of every thread that is newer than this object."""
        self._last |= {name: times for name, times in self._now() if name not in self._before}

    def ran_and_waited(self) -> tuple[float, float]:
        """Seconds in which the threads ran, and in which they were ready and waited for a processor."""
        ran, waited = zip(*self._last.values(), strict=True)
        return sum(ran) / 1e9, sum(waited) / 1e9

    @staticmethod
    def _now() -> list[tuple[str, tuple[int, int]]]:
        times = []
        for thread in Path("/proc/self/task").iterdir():
            try:
                ran, waited, _ = (thread / "schedstat").read_text().split()
            except OSError:  # it has just ended
                continue
            times.append((thread.name, (int(ran), int(waited))))
        return times


def measure(seeds: int, threads: int) -> tuple[float, float, str]:
    """Processor milliseconds of a run, the share of the wall time in which threads could run, and a line with both."""
    watcher = Threads()
    with TemporaryDirectory() as out:
        sweep = headgate.sweep(SCENARIO, grid=GRID, seeds=seeds, out=out, threads=threads, watcher=watcher)
    runs, simulator_s, wall_s = sweep.cost
    ran, waited = watcher.ran_and_waited()
    cost, ready = 1e3 * ran / runs, (ran + waited) / (threads * wall_s)
    line = f"{counted(threads, 'thread')}: {runs} runs in {wall_s:.0f} s; a run takes {cost:.1f} ms of processor time, "
    line += f"{1e3 * simulator_s / runs:.1f} ms of it in the simulator; threads could run in {ready:.1%} of the time"
    return cost, ready, line


def main() -> None:
    """Measures and prints."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 36
    headgate.sweep(SCENARIO, grid={"tcp.flows": [9]}, qdiscs=["droptail"], seeds=1)  # imports everything first
    alone, _, line = measure(max(1, seeds // 6), 1)
    print(line)
    for threads in range(2, processors() + 1):
        cost, ready, line = measure(seeds, threads)
        print(f"{line}; efficiency {ready * min(1.0, alone / cost):.1%}")


if __name__ == "__main__":
    main()
