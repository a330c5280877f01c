"""Writes printed results and the overview figure into README.md and the tutorial: `make outputs`.

The test `tests/docs/test_outputs.py` runs the same commands and fails if a page shows other numbers.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import parts
import stale
from pages import filled, table

import headgate
from headgate import plot

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial" / "first-finding.md"
FIGURE = ROOT / "docs" / "figures" / "overview.svg"
CAKE = ROOT / "docs" / "disciplines" / "cake.md"
ACCESS = ROOT / "scenarios" / "access.toml"
PROTECT = ROOT / "scenarios" / "protect.toml"

#: Letters of a line in a page.
WIDTH = 120
#: Lines of `headgate why` in the README, by their beginnings.
WHY = ("Its goodput was", "Of its ")


def main() -> None:
    """Writes all files, and stores the digests of their runs."""
    for file, content in written().items():
        file.write_bytes(content)
        print(file.relative_to(ROOT), file=sys.stderr)
    for page in (README, TUTORIAL, CAKE):
        name = str(page.relative_to(ROOT))
        stale.store(name, parts.SCENARIOS[name])


def written() -> dict[Path, bytes]:
    """Each file with its content, from new runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = {README: readme(README.read_text(), folder), TUTORIAL: tutorial(TUTORIAL.read_text(), folder)}
    pages[CAKE] = filled(CAKE.read_text(), "access", access(headgate.run(ACCESS)))
    overview = plot.picture(plot.overview(headgate.run(PROTECT)))
    return {file: text.encode() for file, text in pages.items()} | {FIGURE: overview.svg}


def readme(text: str, folder: Path) -> str:
    """The README with the table of two disciplines, and an explanation of the unresponsive flow."""
    table = list(printed(folder, "run", str(PROTECT), "--qdisc", "droptail", "--qdisc", "faba", "--no-report"))
    result = next(line.removeprefix("folder  ") for line in table if line.startswith("folder  "))
    why = printed(folder, "why", result, "--flow", "9", "--qdisc", "faba", "--no-picture")
    text = filled(text, "run", block(shown(table)))
    return filled(text, "why", block(line for line in why if line.startswith(WHY)))


def tutorial(text: str, folder: Path) -> str:
    """The tutorial with the table of its first scenario, and the output of its program."""
    for title, scenario in re.findall(r'```toml title="(.+?)"\n(.*?)```', text, re.DOTALL):
        (folder / title).write_text(scenario)
    table = shown(printed(folder, "run", "home.toml", "--no-report"))
    program = next(code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "home.toml" in code)
    calls = command(folder, "-c", program)
    return filled(filled(text, "home", block(table)), "calls", block(calls))


def access(result: headgate.Result) -> str:
    """The table of CAKE's page: what the two hosts and the call get."""
    flows = result.flows.to_pandas()
    of_seed = flows.groupby(["qdisc", "group", "seed"]).agg({"goodput_bps": "sum", "queue_delay_ms_mean": "mean"})
    means = of_seed.groupby(["qdisc", "group"]).mean()
    rows = (
        (
            f"`{qdisc}`",
            *(f"{means.goodput_bps[qdisc, group] / 1e6:.2f}" for group in ("one", "twenty")),
            f"{means.queue_delay_ms_mean[qdisc, 'call']:.2f}",
        )
        for qdisc in result.scenario.qdiscs
    )
    head = ("discipline", "host with 1 download, Mbit/s", "host with 20, Mbit/s", "mean queueing delay of the call, ms")
    return table(head, rows)


def printed(folder: Path, *words: str) -> Iterator[str]:
    """The lines that a command prints in `folder`, without blanks at their ends."""
    return command(folder, "-m", "headgate", *words)


def command(folder: Path, *words: str) -> Iterator[str]:
    """The lines that Python prints in `folder`."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(  # noqa: S603 - words of this file
        [sys.executable, *words], cwd=folder, env=environment, check=True, text=True, stdout=subprocess.PIPE
    )
    return (line.rstrip() for line in done.stdout.splitlines())


def shown(lines: Iterator[str] | list[str]) -> list[str]:
    """The lines of `headgate run` up to the folder, which has another name on each machine."""
    kept = [line for line in lines if not line.startswith("folder  ")]
    while not kept[-1]:
        kept.pop()
    return kept


def block(lines: Iterator[str] | list[str]) -> str:
    """Lines as a block of text."""
    return "\n".join(["```text", *lines, "```\n"])


if __name__ == "__main__":
    main()
