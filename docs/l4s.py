"""Fills the tables and draws the figures of docs/guide/l4s.md: `python docs/l4s.py [FOLDER]`.

FOLDER is that of `headgate evaluate --out` (default: results/evaluate). Finished runs in it are reused.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import stale
from pages import filled, table

from headgate.evaluate.candidates import named
from headgate.evaluate.coexistence import heatmap, page, record
from headgate.evaluate.coexistence.grid import QDISCS, Grid
from headgate.execution.runner import Watcher
from headgate.experiment.running import RunOptions

ROOT = Path(__file__).parent
GUIDE = ROOT / "guide" / "l4s.md"
OUT = ROOT.parent / "results" / "evaluate"

#: The ways in which the ANRW paper ran both flows: CUBIC without ECN, with ECN, and Prague with its fall-back too.
WAYS = ({"fallback": False}, {"fallback": False, "classic_ecn": True}, {"classic_ecn": True})
ANRW = Grid((100e6,), (10.0,), buffer_bdp=2.0, profile="linux")
#: Prague's throughput in Mbit/s, read from the file results/tput-cubic.pdf of the paper's artifacts, at 2 BDP.
ANRW_MBPS: Mapping[str, tuple[str, tuple[float, float, float]]] = {
    "droptail": ("FIFO", (54.4, 52.3, 54.5)),
    "step:k=auto,ce_threshold=5ms": ("FIFO that marks above 5 ms", (0.4, 90.3, 40.1)),
    "codel": ("CoDel", (88.2, 88.4, 44.6)),
    "fq_codel": ("FQ-CoDel", (47.5, 47.5, 47.8)),
    "dualpi2:target=5ms": ("DualPI2, target 5 ms", (42.3, 42.7, 8.6)),
}


#: Disciplines of the heat map without Prague's fall-back: those where it matters.
WITHOUT = ("dualpi2", "codel")


class TestBed(NamedTuple):
    """A published ratio of Prague's and CUBIC's goodput at 50 Mbit/s."""

    spec: str
    queue: str
    rtt_ms: float
    prague_mbps: float
    cubic_mbps: float
    classic_ecn: bool = True


#: heistp/l4s-tests, s1_table.md (DualPI2) and s6_steady_state.md.
HEIST = (
    TestBed("dualpi2", "DualPI2", 10, 34.09, 13.04),
    TestBed("dualpi2", "DualPI2", 20, 31.85, 15.51),
    TestBed("dualpi2", "DualPI2", 80, 29.92, 17.48),
    TestBed("fq_codel:flows=1", "FQ-CoDel, one queue", 20, 45.70, 1.94),
    TestBed("fq_codel:flows=1", "FQ-CoDel, one queue, CUBIC without ECN", 20, 45.81, 1.81, classic_ecn=False),
    TestBed("pie", "PIE", 20, 45.69, 1.98),
    TestBed("pie", "PIE, CUBIC without ECN", 20, 45.57, 2.01, classic_ecn=False),
)


def main() -> None:
    """Runs what is missing, draws both figures and fills the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=OUT)
    out = parser.parse_args().folder
    whole, without = run(Grid(), QDISCS, out), run(Grid(fallback=False), WITHOUT, out)
    for name, document in (("l4s", whole), ("l4s-no-fallback", without)):
        (ROOT / "figures" / f"{name}.svg").write_bytes(page.draw(document).svg)
    text = filled(GUIDE.read_text("utf-8"), "ranges", f"\n{ranges(whole, without)}\n")
    text = filled(text, "anrw", f"\n{anrw(out)}\n")
    GUIDE.write_text(filled(text, "heist", f"\n{heist(out)}\n"), "utf-8")
    stale.store("docs/guide/l4s.md")


def run(grid: Grid, specs: tuple[str, ...], out: Path) -> Mapping[str, Any]:
    """The document of a heat map."""
    return record.carry_out(grid, named(specs), out, RunOptions(), Watcher()).document


def ranges(whole: Mapping[str, Any], without: Mapping[str, Any]) -> str:
    """Ratios and mean queueing delays of each discipline: the least, the median and the greatest of all cells."""
    head = ("", "Prague / CUBIC", "Prague's queueing delay, ms", "p99", "CUBIC's, ms", "p99")
    rows = []
    for document, more in ((whole, ""), (without, ", no fall-back")):
        for each in document["disciplines"]:
            cells = [cell for cell in document["cells"] if cell["qdisc"] == each["spec"]]
            rows.append((each["label"] + more, *of_cells(cells)))
    return table(head, rows)


def of_cells(cells: list[Mapping[str, Any]]) -> Iterator[str]:
    """The range of the ratio, then of each delay."""
    ratios = sorted(cell["ratio"] for cell in cells)
    yield f"{heatmap.shown(ratios[0])} to {heatmap.shown(ratios[-1])}, median {heatmap.shown(ratios[len(ratios) // 2])}"
    for measure in (f"{flow}_delay_ms_{part}" for flow in ("prague", "cubic") for part in ("mean", "p99")):
        delays = sorted(cell["values"][measure]["mean"] for cell in cells)
        yield f"{delays[0]:.2g} to {delays[-1]:.3g}"


def anrw(out: Path) -> str:
    """Prague's goodput beside the paper's, a row for each queue."""
    documents = [run(ANRW._replace(**way), tuple(ANRW_MBPS), out) for way in WAYS]
    ways = ("CUBIC without ECN", "CUBIC with ECN", "with ECN and fall-back")
    head = ("Prague's Mbit/s of 100", *(f"{way}: {who}" for way in ways for who in ("paper", "Headgate")))
    ours = [[cell["values"]["prague_mbps"]["mean"] for cell in document["cells"]] for document in documents]
    rows = []
    for number, (queue, published) in enumerate(ANRW_MBPS.values()):
        pairs = ((f"{paper:g}", f"{mine[number]:.1f}") for paper, mine in zip(published, ours, strict=True))
        rows.append((queue, *(cell for pair in pairs for cell in pair)))
    return table(head, rows)


def heist(out: Path) -> str:
    """The ratios beside those of the test bed, a row for each."""
    rows = []
    for bed in HEIST:
        grid = Grid((50e6,), (bed.rtt_ms,), classic_ecn=bed.classic_ecn, fallback=False, profile="linux")
        (cell,) = run(grid, (bed.spec,), out)["cells"]
        published = heatmap.shown(bed.prague_mbps / bed.cubic_mbps)
        rows.append((bed.queue, f"{bed.rtt_ms:g} ms", published, heatmap.shown(cell["ratio"])))
    return table(("queue", "base round trip", "test bed", "Headgate"), rows)


if __name__ == "__main__":
    main()
