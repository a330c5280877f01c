"""Draws the figure of every discipline's page, writes its caption, and stores the digest of its run: `make figures`.

The marker `<!-- figure: SPEC -->` of a page gives the discipline with its settings. The figure compares it with
DropTail in the scenario `portrait.toml`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import parts
import stale

import headgate
from headgate import plot, style
from headgate.analysis import data

ROOT = Path(__file__).parent
SCENARIO = f"scenarios/{parts.FIGURE}.toml"
MARKER = re.compile(r"<!-- figure: (?P<spec>\S.*?) -->\n(?:.*?<!-- /figure -->\n)?", re.DOTALL)
FROM_S, TO_S = 25.0, 40.0
"""The unresponsive flow sends from 20 s to 40 s. Disciplines have five seconds to identify it."""


def main() -> None:
    """Draws for all pages, or for those named on the command line."""
    for name in sys.argv[1:] or [discipline.name for discipline in headgate.disciplines()]:
        page = ROOT / "disciplines" / f"{name}.md"
        text = page.read_text()
        marker = MARKER.search(text)
        if marker is None:
            sys.exit(f"{page.name} has no marker <!-- figure: {page.stem} -->")
        spec = marker["spec"]
        result = headgate.run(ROOT.parent / SCENARIO, qdiscs=["droptail", spec])
        (ROOT / "figures" / f"{page.stem}.svg").write_bytes(plot.picture(plot.pair(result)).svg)
        page.write_text(text[: marker.start()] + block(page.stem, spec, result) + text[marker.end() :])
        stale.store(f"docs/disciplines/{name}.md", [parts.FIGURE])
        print(page.stem, file=sys.stderr)


def block(name: str, spec: str, result: headgate.Result) -> str:
    """The command that draws the figure, the figure, and its numbers."""
    droptail, label = (look.label for look in style.looks(result.scenario.qdiscs).values())
    shown = f'"{spec}"' if set(spec) & set(" ;[]") else spec
    lines = [(droptail, "droptail"), (label, spec)]
    rows = "".join(f"| {side} | {numbers(result, qdisc)} |\n" for side, qdisc in lines)
    return (
        f"<!-- figure: {spec} -->\n\n"
        "Ten TCP flows share a link of 10 Mbit/s. From 20 s to 40 s an unresponsive flow of 10 Mbit/s joins them.\n"
        f"`headgate run {SCENARIO} --qdisc droptail --qdisc {shown}` draws the figure\n"
        "(`figures/pair.svg` in the result's folder).\n\n"
        f"![{label} beside DropTail over time](../figures/{name}.svg)\n\n"
        f"Means from {FROM_S:.0f} s to {TO_S:.0f} s, while the unresponsive flow sends (seed 1):\n\n"
        "| | goodput of ten TCP flows, Mbit/s | goodput of the unresponsive flow, Mbit/s | queue length, packets |\n"
        f"| --- | --- | --- | --- |\n{rows}\n<!-- /figure -->\n"
    )


def numbers(result: headgate.Result, qdisc: str) -> str:
    """Goodput of TCP and of the unresponsive flow in Mbit/s, and the mean queue length in packets, as cells."""
    goodput = data.rows(result.intervals, qdisc=qdisc, metric="goodput_bps")
    tcp, flow = (mean(data.rows(goodput, group=group.name)) / 1e6 for group in result.scenario.groups)
    queue = mean(data.rows(result.intervals, qdisc=qdisc, metric="queue_packets"))
    return f"{tcp:.2f} | {flow:.2f} | {queue:.0f}"


def mean(table: object) -> float:
    """The mean of a metric's values from `FROM_S` to `TO_S`."""
    time, value = data.values(table, "time_s"), data.values(table, "value")
    return float(value[(time > FROM_S) & (time <= TO_S)].mean())


if __name__ == "__main__":
    main()
