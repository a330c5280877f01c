"""Writes the cost of each experiment: `python docs/costs.py results/papers`, after whole and `--quick` runs.

`headgate paper list` estimates times from these costs. A cost is the processor time of all simulations of the
experiment, shared runs included. If wall time times processors is larger, the cost is that product.
"""

import json
import sys
from pathlib import Path

from headgate.execution.runner import processors
from headgate.experiment.record import DOCUMENT
from headgate.papers import catalogue

FILE = Path(catalogue.__file__).parent / "costs.json"


def main() -> None:
    """Rewrites costs.json. An experiment without results keeps its old cost."""
    out = Path(sys.argv[1])
    costs = json.loads(FILE.read_text())
    for name in catalogue.names():
        documents = [out / f"{name}{kind}" / DOCUMENT for kind in ("", "-quick")]
        costs[name] = [
            cost(file) if file.is_file() else old
            for file, old in zip(documents, costs.get(name, [None] * 2), strict=True)
        ]
    listed = {name: costs[name] for name in catalogue.names()}
    FILE.write_text("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(listed[name])}" for name in listed) + "\n}\n")


def cost(file: Path) -> float:
    """The processor seconds of one experiment, from its document."""
    document = json.loads(file.read_text())
    return round(max(document["cpu_s"], document["wall_s"] * processors()), 1)


if __name__ == "__main__":
    main()
