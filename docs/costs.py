"""Writes what experiments cost: `python docs/costs.py results/papers`, after whole and shortened runs there.

The list of experiments tells the expected time from it. A cost is the processor time of all simulations, or the
processors' time while the command ran, whichever is more: experiments share runs, and each is listed as if alone.
"""

import json
import sys
from pathlib import Path

from headgate.execution.runner import processors
from headgate.experiment.record import DOCUMENT
from headgate.papers import catalogue

FILE = Path(catalogue.__file__).parent / "costs.json"


def main() -> None:
    """Rewrites the file that the list reads."""
    out = Path(sys.argv[1])
    costs = json.loads(FILE.read_text())
    for name in catalogue.names():
        found = [out / f"{name}{kind}" / DOCUMENT for kind in ("", "-quick")]
        costs[name] = [
            cost(file) if file.is_file() else old for file, old in zip(found, costs.get(name, [None] * 2), strict=True)
        ]
    kept = {name: costs[name] for name in catalogue.names()}
    FILE.write_text("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(kept[name])}" for name in kept) + "\n}\n")


def cost(file: Path) -> float:
    """Processor seconds of one experiment."""
    document = json.loads(file.read_text())
    return round(max(document["cpu_s"], document["wall_s"] * processors()), 1)


if __name__ == "__main__":
    main()
