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
from headgate.scenario import Scenario, World

if TYPE_CHECKING:
    from headgate.results import Result

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guide" / "live.md"
SCENARIO = ROOT / "scenarios" / "linux.toml"
MARKER = "linux presets"
SEEDS = 3

#: Columns of a result: the group or link, the measure and its part, factor and decimals.
COLUMNS = {
    "cbr, Mbit/s": ("cbr", "goodput_bps", "", 1e-6, 2),
    "each TCP flow": ("tcp", "goodput_bps", "", 1e-6, 2),
    "delay p95, ms": ("link", "queue_delay_ms", "p95", 1, 1),
    "drops, %": ("link", "drop_rate", "", 100, 1),
}


def main(out: Path) -> None:
    """Runs what is not finished and rewrites the table."""
    scenarios = {World.SIM: Scenario.load(SCENARIO, seeds=SEEDS)}
    scenarios[World.LIVE] = worlds.prepared(Scenario.load(SCENARIO), World.LIVE)
    try:
        refused = worlds.refusals(Scenario.load(SCENARIO))
    except HeadgateError as error:
        print(error)
    else:
        kept = [qdisc for qdisc in scenarios[World.LIVE].qdiscs if qdisc not in refused]
        scenarios[World.KERNEL] = Scenario.load(SCENARIO, qdiscs=kept).in_kernel()
    # Imported here: numpy starts threads, and then the process cannot be prepared for real packets.
    from headgate.api import run_into
    from headgate.files.store import folder_name

    results = {world: run_into(out / folder_name(each), each, report=False) for world, each in scenarios.items()}
    PAGE.write_text(filled(PAGE.read_text(), MARKER, figures(results)))


def figures(results: dict[World, Result]) -> str:
    """A row for each qdisc: each figure in each world."""
    heads = [f"{title}: {world}" for title in COLUMNS for world in results]
    summaries = {world: {entry["qdisc"]: entry for entry in result.summary()} for world, result in results.items()}
    rows = [
        [f"`{qdisc}`", *(cell(summaries[world].get(qdisc), title) for title in COLUMNS for world in results)]
        for qdisc in results[World.SIM].scenario.qdiscs
    ]
    return table(["qdisc", *heads], rows)


def cell(entry: dict | None, title: str) -> str:
    """A figure of one qdisc in one world; empty if it was not run."""
    if entry is None:
        return ""
    of, measure, part, scale, decimals = COLUMNS[title]
    groups = {group["name"]: group for group in entry["groups"]}
    found = (groups[of] if of in groups else entry["links"][0])[measure]
    value = found[part] if part else found
    return f"{value['mean'] * scale:.{decimals}f}" if value["mean"] is not None else "-"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
