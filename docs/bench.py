"""Writes the tables of performance.md and attacks.md: `python docs/bench.py results/bench.txt`.

The file is the output of the benchmarks `packets`, `disciplines`, `instructions` of the disciplines, and `attacks`, all
or some of them; `make bench` makes it and calls this. Times become ratios within the run, because they depend on the
machine and on its load. The instructions of whole runs are those of the golden file. Without a file they alone are
written, as `make bless` does: an older output would bring back its tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).parent))

from pages import filled, table

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide"
#: Instructions of fixed runs, which the benchmark `instructions` of the simulator writes.
GOLDEN = ROOT / "crates" / "sim" / "tests" / "golden" / "instructions.txt"
PACKETS = re.compile(r"(?P<name>\S.*?) {2,}(?P<ns>[\d.]+) +[\d.]+ +\d+ +(?P<events>[\d.]+) +[\d.]+(?P<rest>( +\S+)*)")
GROUP = re.compile(r"half queue (\d+) flows")
DISCIPLINE = re.compile(r"(?P<name>[a-z]\w*(?: \w+)?) +[\d.]+ +(?P<ratio>[\d.]+) +[\d.]+ +[\d.]+% +(?P<bytes>\d+)")
COUNTED = re.compile(
    r"(?P<name>[a-z]\w*(?: \w+)?) +(?P<few>\d+) +(?P<usual>\d+) +(?P<ratio>[\d.]+) +(?P<many>\d+) +[\d.]+"
)
#: Goals of instructions, as multiples of the ring buffer's: without state per flow, of SFB and CHOKe, and of others.
STATELESS = "ared avq blue cobalt codel droptail dualpi2 feng_red pi pie red rem sred step wred"
GOALS = dict.fromkeys(STATELESS.split(), 3) | {"sfb": 4, "choke": 4}
OTHER_GOAL = 6
#: What nests other disciplines has no goal, nor has the ring buffer.
WITHOUT_GOAL = ("ring buffer", "prio", "tbf")
RESULT = re.compile(r"\| *(?P<ns>[\d.]+) +(?P<kb>\d+) +(?P<honest>[\d.]+)% +[\d.]+%")


class Table(NamedTuple):
    """A table of a page: its marker, the line before its rows in the output, and what makes it of the lines after."""

    page: str
    marker: str
    begin: str
    make: Callable[[Sequence[str]], str]


def main(output: Path | None = None) -> None:
    """Rewrites the tables whose benchmarks are in the output, if there is one, and the golden instructions."""
    lines = [line.rstrip() for line in output.read_text().splitlines()] if output else []
    for page, marker, begin, make in TABLES:
        if rows := [number for number, line in enumerate(lines) if line.startswith(begin)]:
            file = GUIDE / page
            file.write_text(filled(file.read_text(), marker, make(lines[rows[0] + 1 :])))
    page = GUIDE / "performance.md"
    page.write_text(filled(page.read_text(), "bench instructions", instructions(GOLDEN.read_text())))


def instructions(golden: str) -> str:
    """The fixed runs. Few flows share the memory of the program, so that of each says something with many only."""
    rows = [re.split(" {2,}", line.strip()) for line in golden.splitlines() if not line.startswith("#")][1:]
    cells = [
        (re.sub(r"^(\d+)(\d{3})\b", r"\1 \2", name), count, events, cache, memory if name[:4] == "1000" else "")
        for name, count, _, cache, events, memory in rows
    ]
    return table(("run", "instructions a packet", "events a packet", "cache misses a packet", "bytes a flow"), cells)


def matches(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of the first block of lines that match."""
    found = (pattern.fullmatch(line) for line in lines)
    block = next((list(rows) for matched, rows in groupby(found, bool) if matched), [])
    return (row.groupdict() for row in block if row)


def code(label: str) -> str:
    """A discipline or a controller in code, without its settings."""
    return f"`{label.partition(':')[0]}`"


def demo(lines: Sequence[str]) -> str:
    """Rows of disciplines in the demo."""
    rows = list(matches(PACKETS, lines))
    cells = [(code(row["name"]), f"{float(row['ns']) / float(rows[0]['ns']):.2f}", row["events"]) for row in rows]
    return table(("", "relative to `droptail`", "events a packet"), cells)


def flows(lines: Sequence[str]) -> str:
    """Rows of numbers of flows."""
    rows = matches(PACKETS, lines)
    cells = [(f"{int(row['name']):,}".replace(",", " "), row["rest"].strip(), row["events"]) for row in rows]
    return table(("flows", "relative to 10 flows", "events a packet"), cells)


def controllers(lines: Sequence[str]) -> str:
    """Rows of congestion controllers."""
    rows = matches(PACKETS, lines)
    return table(
        ("", "relative to `cubic`", "events a packet"),
        [(code(row["name"]), row["rest"].strip(), row["events"]) for row in rows],
    )


def disciplines(lines: Sequence[str]) -> str:
    """Rows of disciplines with half a queue, at each number of flows."""
    columns: dict[str, list[dict[str, str]]] = {}
    for number, line in enumerate(lines):
        if group := GROUP.fullmatch(line):
            columns[group[1]] = list(matches(DISCIPLINE, lines[number + 1 :]))
    head = ["", *(word for flows in columns for word in (f"{int(flows):,} flows".replace(",", " "), "state"))]
    cells = [
        [
            row[0]["name"] if " " in row[0]["name"] else code(row[0]["name"]),
            *(word for each in row for word in (each["ratio"], size(int(each["bytes"])))),
        ]
        for row in zip(*columns.values(), strict=True)
    ]
    return table(head, cells)


def discipline_instructions(lines: Sequence[str]) -> str:
    """Rows of disciplines with their goals, and who misses them."""
    cells, missed = [], []
    rows = list(matches(COUNTED, lines))
    for row in rows:
        name, usual = row["name"], int(row["usual"])
        goal = None if name in WITHOUT_GOAL else GOALS.get(name, OTHER_GOAL)
        shown = name if " " in name else code(name)
        cells.append((shown, row["few"], row["usual"], row["many"], row["ratio"], "" if goal is None else str(goal)))
        if goal is not None and usual > goal * int(rows[0]["usual"]):
            missed.append(shown)
    met = sum(bool(goal) for *_, goal in cells) - len(missed)
    told = f"{met} disciplines meet their goals. The others do not: {', '.join(missed)}."
    return f"{table(('', '100 flows', '1000', '100 000', 'ratio at 1000', 'goal'), cells)}\n{told}\n"


def size(number: int) -> str:
    """Bytes in KB or MB."""
    return f"{number / 1e6:.1f} MB" if number >= 1_000_000 else f"{number / 1e3:.0f} KB"


def attacks(lines: Sequence[str]) -> str:
    """Rows of disciplines under each attack, whose names are in the first line with bars."""
    names = [name.strip() for name in next(line for line in lines if "|" in line).split("|")[1:]]
    rows = [
        (line.split()[0], [each.groupdict() for each in RESULT.finditer(line)])
        for line in lines
        if "|" in line and "%" in line
    ]
    base = [float(each["ns"]) for each in next(results for name, results in rows if name == "droptail")]
    cells = [
        [code(name)]
        + [
            word
            for each, least in zip(results, base, strict=True)
            for word in (f"{float(each['ns']) / least:.1f}", each["kb"], f"{float(each['honest']):.0f} %")
        ]
        for name, results in rows
    ]
    return table(["", *(word for name in names for word in (f"{name}: time", "KB", "honest"))], cells)


TABLES = (
    Table("performance.md", "bench demo", "(a) ", demo),
    Table("performance.md", "bench flows", "(b) ", flows),
    Table("performance.md", "bench controllers", "(c) ", controllers),
    Table("performance.md", "bench disciplines", "One offered packet", disciplines),
    Table("performance.md", "bench counted", "Instructions a packet, queue", discipline_instructions),
    Table("attacks.md", "bench attacks", "Ten honest flows ask", attacks),
)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
