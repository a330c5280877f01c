"""Writes the tables of docs/reference/peers.md: `python docs/peer_tables.py results/peers`, after `python -m peers`.

The page has the markers `<!-- score -->`, `<!-- gaps -->`, `<!-- figures -->` and `<!-- speed -->`. They are written
only if every case has results of all seeds, so a machine without ns-2 or ns-3 leaves the page as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import parts
import stale
from pages import filled, table

from peers import ns3
from peers.__main__ import SEEDS
from peers.cases import CASES
from peers.causes import cause
from peers.judge import Figure
from peers.runs import kept, tasks
from peers.show import Comparison, compared, number, with_margin

PAGE = Path(__file__).parent / "reference" / "peers.md"
PEERS = {"ns2": "ns-2", "ns3": "ns-3"}
PEER_OF = {case.name: PEERS[case.peer] for case in CASES}
VERDICTS = {"close": "within 5 %", "spread": "within its seeds", "gap": "**differs**"}


def main(out: Path) -> None:
    """Rewrites the tables of the page from the kept results."""
    wanted = tasks(CASES, range(1, SEEDS + 1), ns3.program(out))
    found = compared(CASES, kept(wanted, out))
    if len(found.speeds) < len(CASES):
        print(f"{PAGE.name} stays as it is: {len(CASES) - len(found.speeds)} cases have no results")
        return
    text = PAGE.read_text()
    for marker, content in {
        "score": score(found),
        "gaps": gaps(found.figures),
        "figures": figures(found.figures),
        "speed": speed(found),
    }.items():
        text = filled(text, marker, content)
    PAGE.write_text(text)
    stale.store(parts.PEERS)


def score(found: Comparison) -> str:
    """How many figures agree."""
    counts = {name: sum(each.verdict == name for each in found.figures) for name in VERDICTS}
    total = len(found.figures)
    agree = (counts["close"] + counts["spread"]) / total
    cases = {peer: sum(each == peer for each in PEER_OF.values()) for peer in PEERS.values()}
    return (
        f"{cases['ns-2']} cases beside ns-2 and {cases['ns-3']} beside ns-3 have {total} figures. {counts['close']} are"
        f" within 5 %, {counts['spread']} more lie within the peer's own seeds: {100 * agree:.1f} % agree."
        f" {counts['gap']} differ.\n"
    )


def gaps(found: Sequence[Figure]) -> str:
    """The figures that differ, with their causes."""
    rows = [
        (
            each.case,
            each.name,
            with_margin(each.here),
            with_margin(each.peer),
            percent(each),
            cause(each.case, each.name),
        )
        for each in found
        if each.verdict == "gap"
    ]
    return table(("case", "figure", "Headgate", "peer", "gap", "cause"), rows) if rows else "None.\n"


def figures(found: Sequence[Figure]) -> str:
    """All figures."""
    rows, last = [], ""
    for each in found:
        name = f"{each.name}, {each.unit}"
        case = each.case if each.case != last else ""
        peer = PEER_OF[each.case] if case else ""
        rows.append(
            (case, peer, name, with_margin(each.here), with_margin(each.peer), percent(each), VERDICTS[each.verdict])
        )
        last = each.case
    return table(("case", "peer", "figure", "Headgate", "peer's", "gap", ""), rows)


def percent(found: Figure) -> str:
    """The gap of a figure."""
    return "none" if not found.gap else f"{100 * found.gap:+.1f} %"


def speed(found: Comparison) -> str:
    """Packets per second of processor time."""
    rows = [
        (
            each.case,
            PEER_OF[each.case],
            f"{each.here / 1e3:.0f}",
            f"{each.peer / 1e3:.0f}",
            number(each.here / each.peer),
        )
        for each in found.speeds
    ]
    return table(("case", "peer", "Headgate, thousands", "peer's, thousands", "ratio"), rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
