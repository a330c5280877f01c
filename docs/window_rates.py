"""Measures how often windows are called too short: `make window-rates` writes the tables of docs/explanation/window.md.

A *steady* result is either made up, of series with a known autocorrelation time, or cut from the later part of long
simulations. Whoever calls it not long enough is wrong. A *drifting* result is a made-up one with a known ramp or
transient. The statement is the one of `headgate run` and of the report: all series of a result are one family of tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from pages import filled, table

import headgate
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.metrics.views import over_time
from headgate.analysis.steadiness import Array, drift
from headgate.analysis.window import SeriesDrift, corrected

PAGE = Path(__file__).parent / "explanation" / "window.md"
SEEDS = (1, 2, 5, 10)
RESULTS = 1000
#: Intervals of a made-up window, and its autocorrelation times in intervals.
LENGTHS = (100, 300, 1000)
TIMES = (1, 3, 9, 19)
#: The series of a made-up result: queue length and goodput of one discipline.
QUANTITIES = 2
#: Simulations from which windows are cut, their time, and the time after which they count as steady.
RUNS = 40
UNTIL_S, AFTER_S = 400, 100
#: Intervals of 100 ms in a window that is cut from them.
CUT = 300
QDISCS = ("droptail", "red", "codel", "fq_codel", "fred", "sfb")
SCENARIO = f"""
name = "steady"
duration = "{UNTIL_S}s"
warmup = "{AFTER_S}s"
qdiscs = {list(QDISCS)}
link = {{ rate = "10Mbit/s", delay = "10ms", limit = "100p" }}
tcp = [{{ name = "tcp", flows = 9, start = "0s..1s", send_jitter = "1ms" }}]
udp = [{{ name = "cbr", rate = "3Mbit/s", jitter = 0.5 }}]
"""

#: The series of one result: for each quantity, one of each seed.
Result = Sequence[Sequence[Array]]
#: Makes a result with so many seeds.
Maker = Callable[[np.random.Generator, int], Result]


def main() -> None:
    """Writes both tables."""
    text = filled(PAGE.read_text(), "steady windows", steady(simulated()))
    PAGE.write_text(filled(text, "drifting windows", drifting()))


def steady(cut: dict[str, list[list[Array]]], results: int = RESULTS) -> str:
    """For each kind of steady result and number of seeds, the share that is called too short, and that is decided."""
    rng = np.random.default_rng(1)
    makers: dict[str, Maker] = {
        f"{length} intervals, autocorrelation time {time}": _made_up(length, time)
        for length in LENGTHS
        for time in TIMES
    }
    makers |= {f"{name}, simulated: {CUT} intervals": _cut(runs) for name, runs in cut.items()}
    rows = [(name, *(_cell(maker, rng, seeds, results) for seeds in SEEDS)) for name, maker in makers.items()]
    return table(("steady results; called too short, % (enough or too short, %)", *_heads()), rows)


def drifting(results: int = RESULTS) -> str:
    """For each known drift and number of seeds, the share that is called too short."""
    rng = np.random.default_rng(2)
    at = np.linspace(0, 1, 300, endpoint=False)
    shapes = {
        "ramp of one deviation": at,
        "ramp of three deviations": 3 * at,
        "transient of three deviations that decays within a fifth of the window": 3 * np.exp(-5 * at),
        "transient of three deviations that decays within a twentieth": 3 * np.exp(-20 * at),
        "step of one deviation after 40 % of the window": (at > 0.4).astype(float),
    }
    rows = []
    for name, shape in shapes.items():
        for time in (3, 9):
            shares = [_share(_made_up(300, time, shape), rng, seeds, results)[0] for seeds in SEEDS]
            rows.append((f"{name}, autocorrelation time {time}", *(f"{100 * share:.0f}" for share in shares)))
    return table(("drift; called too short, %", *_heads()), rows)


def _heads() -> Iterator[str]:
    return (f"{seeds} seed{'s' if seeds > 1 else ''}" for seeds in SEEDS)


def _cell(maker: Maker, rng: np.random.Generator, seeds: int, results: int) -> str:
    short, decided = _share(maker, rng, seeds, results)
    return f"{100 * short:.1f} ({100 * decided:.0f})"


def _share(maker: Maker, rng: np.random.Generator, seeds: int, results: int) -> tuple[float, float]:
    """The share of results that are called too short, and the share of those with a verdict."""
    short = decided = 0
    for _ in range(results):
        every = corrected([series(quantity) for quantity in maker(rng, seeds)])
        shown = any(each.shown for each in every)
        short += shown
        decided += shown or all(each.told for each in every)
    return short / results, decided / results


def series(seeds: Sequence[Array]) -> SeriesDrift:
    """A quantity of a result as the check of a window tests it; a drift of any size is reported."""
    return SeriesDrift("", "", seeds, drift(seeds), 0.0, float(np.std(np.concatenate(list(seeds)))))


def _made_up(length: int, time: float, shape: Array | float = 0.0) -> Maker:
    """AR(1) series around 1 with deviation 1; the first quantity has the shape too."""
    phi = (time - 1) / (time + 1)

    def make(rng: np.random.Generator, seeds: int) -> Result:
        noise = rng.normal(size=(QUANTITIES * seeds, length))
        noise[:, 1:] *= math.sqrt(1 - phi**2)
        for interval in range(1, length):
            noise[:, interval] += phi * noise[:, interval - 1]
        values = 1 + noise.reshape(QUANTITIES, seeds, length)
        values[0] += shape
        return [list(quantity) for quantity in values]

    return make


def _cut(runs: list[list[Array]]) -> Maker:
    """Windows at random places of different runs; `runs` has the quantities of each."""

    def make(rng: np.random.Generator, seeds: int) -> Result:
        chosen = rng.permutation(len(runs))[:seeds]
        firsts = rng.integers(0, len(runs[0][0]) - CUT, size=seeds)
        return [
            [runs[run][quantity][first : first + CUT] for run, first in zip(chosen, firsts, strict=True)]
            for quantity in range(len(runs[0]))
        ]

    return make


def simulated() -> dict[str, list[list[Array]]]:
    """For each discipline and seed, the queue length and the groups' goodput after the warm-up."""
    result = headgate.run(headgate.Scenario.parse(SCENARIO, seeds=RUNS), report=False)
    rows = ColumnArrays.of(result, "intervals")
    rows = rows.only(rows["time_s"] > AFTER_S)
    found = {}
    for qdisc in QDISCS:
        mine = rows.where(qdisc=qdisc)
        parts = [mine.where(metric="queue_packets"), *(mine.where(group=name) for name in ("tcp", "cbr"))]
        parts[1:] = [part.where(metric="goodput_bps") for part in parts[1:]]
        found[qdisc] = [[over_time(part.of_seed(seed))[1] for part in parts] for seed in result.scenario.seeds]
    return found


if __name__ == "__main__":
    main()
