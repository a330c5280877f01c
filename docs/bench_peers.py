"""Writes performance.md's table beside ns-2 and ns-3: `python docs/bench_peers.py results/bench-peers`.

Run it after `python -m peers.bench`. The page has the marker `<!-- peers -->`, written if both peers were measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parents[1]))

from pages import filled, table

from peers.bench import NAMES, Bench

PAGE = Path(__file__).parent / "guide" / "performance.md"


def main(out: Path) -> None:
    """Rewrites the table from the stored measurement."""
    benches = [
        Bench(**{**row, "goodput_bps": {name: tuple(pair) for name, pair in row["goodput_bps"].items()}})
        for row in json.loads((out / "bench.json").read_text())
    ]
    if len(benches) < len(NAMES):
        print(f"{PAGE.name} stays as it is: measured beside {', '.join(NAMES[each.peer] for each in benches)} only")
        return
    PAGE.write_text(filled(PAGE.read_text(), "peers", peers(benches)))


def peers(benches: Sequence[Bench]) -> str:
    """The table of processor time per packet, the ratio and the agreement."""
    rows = [
        (
            NAMES[each.peer],
            f"{median(each.here_ns):.0f}",
            f"{median(each.peer_ns):.0f}",
            f"{median(each.ratios):.1f} ({min(each.ratios):.1f} to {max(each.ratios):.1f})",
            ", ".join(
                f"{name} {ours / 1e6:.2f} and {theirs / 1e6:.2f}" for name, (ours, theirs) in each.goodput_bps.items()
            ),
        )
        for each in benches
    ]
    head = (
        "peer",
        "Headgate, ns a packet",
        "peer, ns a packet",
        "ratio (least to greatest)",
        "goodput here and there, Mbit/s",
    )
    return table(head, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/bench-peers"))
