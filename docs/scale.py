"""Measures large runs and writes performance.md's table of scale: `python docs/scale.py`.

Each run is a process of its own with one thread. Its processor time is that of `headgate.run` with all result tables,
and its memory is the process's peak less that of the same process with a small run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import filled, table

PAGE = Path(__file__).parent / "guide" / "performance.md"
#: For the estimate of a cluster, which is arithmetic on the measured times.
CORES = 1000
DAY_S = 86_400
#: Memory per flow says something from this many flows on.
MANY = 10_000


@dataclass(frozen=True)
class Run:
    """One large run."""

    title: str
    scenario: str
    flows: int
    simulated_s: float


@dataclass(frozen=True)
class Measured:
    """What one run took."""

    run: Run
    packets: int
    cpu_s: float
    bytes: int


def dumbbell(title: str, flows: int, simulated_s: float, tcp: str = "", gbit: int = 100) -> Run:
    """Flows on a link of `gbit` Gbit/s whose buffer holds a round trip of 32 ms. `tcp`: further keys of the flows."""
    scenario = f"""
name = "scale"
duration = "{simulated_s}s"
qdiscs = ["droptail"]
[link]
rate = "{gbit}Gbit/s"
delay = "14ms"
limit = "{4000 * gbit}p"
[[tcp]]
flows = {flows}
packet = "1000B"
access = {{ rate = "10Gbit/s", delay = "1ms" }}
start = "0s..{simulated_s / 2}s"
{tcp}
"""
    return Run(title, scenario, flows, simulated_s)


def web(sources: int, simulated_s: float) -> Run:
    """Sources that are silent most of the time, as in the BLUE paper, section III-B: 45 Mbit/s, packets of 1 KB."""
    scenario = f"""
name = "scale"
duration = "{simulated_s}s"
qdiscs = ["blue"]
[link]
rate = "45Mbit/s"
delay = "10ms"
limit = "200KB"
[[tcp]]
profile = "ns2"
flows = {sources}
recovery = "reno"
ecn = true
window = 100
start = "0s..1s"
traffic = "pareto:preset=blue"
"""
    return Run(f"{sources} on/off sources on 45 Mbit/s, `blue`", scenario, sources, simulated_s)


def chain(links: int, simulated_s: float) -> Run:
    """A chain of links of 10 Mbit/s. Of each ten, one flow crosses all, and nine have one more flow each."""
    lines = ['name = "scale"', f'duration = "{simulated_s}s"', 'qdiscs = ["droptail"]']
    for number in range(links):
        lines += ["[[link]]", f'from = "n{number}"', f'to = "n{number + 1}"', 'rate = "10Mbit/s"', 'delay = "2ms"']
        lines += ['limit = "50p"']
    tenths = range(0, links, 10)
    spans = [(number, number + 10) for number in tenths]
    spans += [(number, number + 1) for number in range(links) if number not in tenths]
    for first, last in spans:
        lines += ["[[tcp]]", f'name = "f{first}-{last}"', f'from = "n{first}"', f'to = "n{last}"', 'start = "0s..1s"']
    return Run(f"{links} links of 10 Mbit/s", "\n".join(lines), len(spans), simulated_s)


#: Windows that fill the link, which the default does not.
FAST = 'window = 100000\nrecovery = "sack"'
RUNS = (
    dumbbell("a million TCP flows on 100 Gbit/s", 1_000_000, 2),
    dumbbell("100 000 TCP flows on 10 Gbit/s", 100_000, 10, gbit=10),
    dumbbell("40 TCP flows on 100 Gbit/s", 40, 2, FAST),
    chain(1000, 10),
    web(4000, 200),
)
SMALL = dumbbell("small", 1, 0.1)


def main() -> None:
    """Measures every run and rewrites the table."""
    least = measure(SMALL, 0).bytes
    measured = []
    for run in RUNS:
        measured.append(measure(run, least))
        print(f"{run.title}: {measured[-1].cpu_s:.1f} s, {measured[-1].bytes / 1e6:.0f} MB", flush=True)
    PAGE.write_text(filled(PAGE.read_text(), "scale", rows(measured)))


def measure(run: Run, less: int) -> Measured:
    """One run in a process of its own."""
    printed = subprocess.run(  # noqa: S603
        [sys.executable, __file__, "--child"], input=run.scenario, capture_output=True, text=True, check=True
    ).stdout
    found: Mapping[str, float] = json.loads(printed)
    return Measured(run, int(found["packets"]), found["cpu_s"], int(found["peak"]) - less)


def rows(measured: Sequence[Measured]) -> str:
    """The table."""
    head = ("run", "simulated", "packets", "CPU time", "a packet", "memory", "a flow", f"a day on {CORES} cores")
    return table(
        head,
        [
            (
                each.run.title,
                f"{each.run.simulated_s:g} s",
                f"{each.packets / 1e6:.1f} million",
                f"{each.cpu_s:.1f} s",
                f"{1e9 * each.cpu_s / each.packets:.0f} ns",
                f"{each.bytes / 1e6:.0f} MB",
                f"{each.bytes / each.run.flows:.0f} bytes" if each.run.flows >= MANY else "",
                f"{CORES * DAY_S / each.cpu_s:,.0f} runs".replace(",", " "),
            )
            for each in measured
        ],
    )


def child() -> None:
    """Runs the scenario from standard input, and prints its packets, processor time and peak memory."""
    import resource
    import time

    import headgate

    scenario = headgate.Scenario.parse(sys.stdin.read())
    before = time.process_time()
    result = headgate.run(scenario, seeds=[1], threads=1, report=False)
    cpu_s = time.process_time() - before
    packets = sum(row["packets"] or 0 for row in result.links.to_pylist() if row["direction"] == "forward")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"packets": packets, "cpu_s": cpu_s, "peak": peak}))


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--child"] else main()
