"""How much of the processors a sweep uses: the same points on one thread and on all, beside the simulator alone.

    python docs/efficiency.py [SEEDS]

Wall time says little on a machine that others use too, so what is measured is, for each number of threads, the
processor time of a point, and the part of the wall time in which the threads were running or ready to run (Linux's
schedstat). Efficiency is that part, times what a point costs on one thread over what it costs here: the sum of single
runs over what the processors gave.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import headgate
from headgate.execution.runner import Watcher, processors

SCENARIO = "scenarios/protect.toml"
GRID = {"link.rate": ["5Mbit/s", "10Mbit/s"], "tcp.flows": [5, 9]}


class Threads(Watcher):
    """Looks at the threads of this process while they are there."""

    def __init__(self) -> None:
        self._before = dict(self._now())
        self._last: dict[str, tuple[int, int]] = {}

    def tick(self, finished: int, seconds: float) -> None:  # noqa: ARG002 - a watcher is told more than this one needs
        """Takes note of what every new thread has had."""
        self._last |= {name: had for name, had in self._now() if name not in self._before}

    def ran_and_waited(self) -> tuple[float, float]:
        """Seconds in which the threads ran, and in which they were ready and waited for a processor."""
        ran, waited = zip(*self._last.values(), strict=True)
        return sum(ran) / 1e9, sum(waited) / 1e9

    @staticmethod
    def _now() -> list[tuple[str, tuple[int, int]]]:
        found = []
        for thread in Path("/proc/self/task").iterdir():
            try:
                ran, waited, _ = (thread / "schedstat").read_text().split()
            except OSError:  # it has just ended
                continue
            found.append((thread.name, (int(ran), int(waited))))
        return found


def measure(seeds: int, threads: int) -> tuple[float, float, str]:
    """Processor milliseconds of a point, the part of the wall time in which threads could run, and a line of both."""
    watcher = Threads()
    with TemporaryDirectory() as out:
        sweep = headgate.sweep(SCENARIO, grid=GRID, seeds=seeds, out=out, threads=threads, watcher=watcher)
    points, simulator_s, wall_s = sweep.cost
    ran, waited = watcher.ran_and_waited()
    cost, ready = 1e3 * ran / points, (ran + waited) / (threads * wall_s)
    said = f"{threads} threads: {points} points in {wall_s:.0f} s; a point takes {cost:.1f} ms of processor time, "
    said += f"{1e3 * simulator_s / points:.1f} ms of it in the simulator; threads could run in {ready:.1%} of the time"
    return cost, ready, said


def main() -> None:
    """Measures and prints."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 36
    headgate.sweep(SCENARIO, grid={"tcp.flows": [9]}, qdiscs=["droptail"], seeds=1)  # what is imported is imported
    alone, _, said = measure(max(1, seeds // 6), 1)
    print(said)
    for threads in range(2, processors() + 1):
        cost, ready, said = measure(seeds, threads)
        print(f"{said}; efficiency {ready * min(1.0, alone / cost):.1%}")


if __name__ == "__main__":
    main()
