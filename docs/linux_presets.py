"""Writes the table of docs/guide/live.md on Linux's qdiscs: `python docs/linux_presets.py [RESULTS]`, as root.

It runs scenarios/linux.toml simulated with three seeds and live with one, as `headgate compare` does. The live runs
take about five minutes. Finished runs in RESULTS (default `results`) are reused. Where the kernel has some of the
qdiscs, the table has columns for them too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pages import filled, table

from headgate.errors import HeadgateError
from headgate.live import worlds
from headgate.scenario import RunWorld, Scenario

if TYPE_CHECKING:
    from headgate.results import Result

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guide" / "live.md"
SCENARIO = ROOT / "scenarios" / "linux.toml"
MARKER = "linux presets"
SEEDS = 3


def main(out: Path) -> None:
    """Runs what is not finished and rewrites the table."""
    scenarios = {RunWorld.SIM: Scenario.load(SCENARIO, seeds=SEEDS)}
    scenarios[RunWorld.LIVE] = worlds.prepared(Scenario.load(SCENARIO), RunWorld.LIVE)
    try:
        refused = worlds.refusals(Scenario.load(SCENARIO))
    except HeadgateError as error:
        print(error)
    else:
        kept = [qdisc for qdisc in scenarios[RunWorld.LIVE].qdiscs if qdisc not in refused]
        scenarios[RunWorld.KERNEL] = Scenario.load(SCENARIO, qdiscs=kept).in_kernel()
    # Imported here: numpy starts threads, and then the process cannot be prepared for real packets.
    import stale

    from headgate.api import run_into
    from headgate.files.store import folder_name

    results = {world: run_into(out / folder_name(each), each, report=False) for world, each in scenarios.items()}
    PAGE.write_text(filled(PAGE.read_text(), MARKER, figures(results)))
    stale.store("docs/guide/live.md", ["linux"])


def figures(results: dict[RunWorld, Result]) -> str:
    """A row for each qdisc: its figures in each world as in `headgate compare`, or `-` where it was not run."""
    from headgate.compare.gaps import DELAYS, DROPS, GOODPUT, LINK, compare

    columns = {
        "cbr, Mbit/s": ("cbr", GOODPUT, 1e-6, 2),
        "each TCP flow": ("tcp", GOODPUT, 1e-6, 2),
        "TCP delay p95, ms": ("tcp", DELAYS[1], 1, 1),
        "drops, %": (LINK, DROPS, 100, 1),
    }
    compared = {world: compare(results[RunWorld.SIM], result) for world, result in results.items()}
    heads = [f"{title}: {world}" for title in columns for world in results]

    def cell(qdisc: str, title: str, world: RunWorld) -> str:
        of, measure, scale, decimals = columns[title]
        if qdisc not in compared[world].qdiscs:
            return "-"
        return f"{compared[world].row(qdisc, of, measure).values[1].mean * scale:.{decimals}f}"

    qdiscs = results[RunWorld.SIM].scenario.qdiscs
    rows = [[f"`{qdisc}`", *(cell(qdisc, title, world) for title in columns for world in results)] for qdisc in qdiscs]
    return table(["qdisc", *heads], rows)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
