"""Fills the tables of docs/explanation/choosing.md and docs/guide/evaluate.md: `python docs/choose.py FOLDER`.

FOLDER is the folder of an evaluation (`headgate evaluate`). Every number in the tables is a measure of its
`evaluation.json`, without ECN.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import parts
import stale
from pages import filled, table

import headgate
from headgate.evaluate import show, words
from headgate.evaluate.grade import Grade

PAGE = Path(__file__).parent / "explanation" / "choosing.md"
GUIDE = Path(__file__).parent / "guide" / "evaluate.md"

#: The sign of each grade in a cell.
SIGNS = {Grade.STRENGTH: " **+**", Grade.FAILURE: " \N{MINUS SIGN}", Grade.INCONCLUSIVE: " ?", Grade.FAIR: ""}
ABILITIES = {"per_flow": "state for each flow", "schedules": "reorders flows", "ecn": "can mark"}


class Question(NamedTuple):
    """A situation in which users choose a discipline, and the graded measures that rank disciplines for it."""

    text: str
    answers: tuple[tuple[str, str, str, str], ...]
    """Test, measure, case, and the title of the row."""


QUESTIONS = (
    Question(
        "TCP shares the link with an unresponsive flow",
        (("5-3-beside", "share", "", "TCP beside 8 Mbit/s of UDP, % of its fair share"),),
    ),
    Question(
        "calls must not queue behind downloads",
        (
            ("9-1", "calls_ms", "", "queueing delay of a call among all other traffic, p95 ms"),
            ("9-1", "calls_loss", "", "drop rate of the call, %"),
        ),
    ),
    Question(
        "few flows must fill the link",
        (
            ("5-1-1-tcp", "idle", "", "idle capacity beside a single TCP flow, %"),
            ("8-2-5", "after_idle", "", "idle capacity after load falls, %"),
        ),
    ),
    Question(
        "many flows load the link",
        (("8-2-steady", "p95_ms", "heavy", "queueing delay under heavy load, p95 ms"),),
    ),
    Question(
        "round-trip times differ",
        (("6-2", "evenness", "RTT 560 ms", "goodput of the slower of two flows at 560 and 100 ms, %"),),
    ),
    Question(
        "traffic comes in bursts",
        (("7-2-video", "video_loss", "case IV, bulk transfer", "drop rate of bursty video beside a bulk transfer, %"),),
    ),
    Question(
        "the rate of the link changes",
        (
            ("8-2-6-slow", "slow_ms", "", "queueing delay while the link is slow, mean ms"),
            ("8-2-6-slow", "use_1", "", "utilization while the link is fast, %"),
        ),
    ),
    Question(
        "both directions are full",
        (("9-2", "use_down", "symmetric", "utilization with traffic both ways, %"),),
    ),
    Question(
        "flows cross several links with a discipline",
        (("10-2", "long_share", "the same at both", "flows over both links, % of their fair share"),),
    ),
)


def main() -> None:
    """Fills the pages' markers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    document = json.loads((parser.parse_args().folder / "evaluation.json").read_text("utf-8"))
    if document["quick"]:
        sys.exit("the evaluation has shortened runs: run headgate evaluate without --quick")
    text = filled(PAGE.read_text("utf-8"), "answers", f"\n{answers(document)}\n")
    PAGE.write_text(filled(text, "numbers", f"\n{numbers(document)}\n"), "utf-8")
    GUIDE.write_text(filled(GUIDE.read_text("utf-8"), "found", f"\n{scorecard(document)}\n"), "utf-8")
    for page in parts.EVALUATED:
        stale.store(page)


def answers(document: Mapping[str, Any]) -> str:
    """For each question the disciplines with strengths only, and the disciplines with a failure."""
    rows = []
    for question in QUESTIONS:
        by_label = {each["label"]: grades(document, question, each["spec"]) for each in document["disciplines"]}
        good = [name for name, all_of in by_label.items() if set(all_of) == {Grade.STRENGTH}]
        bad = [name for name, all_of in by_label.items() if Grade.FAILURE in all_of]
        rows.append((question.text, ", ".join(good) or "none", ", ".join(bad) or "none"))
    return table(("where", "strong", "fail"), rows)


def numbers(document: Mapping[str, Any]) -> str:
    """A row for each measure and a column for each discipline, then the abilities that the registry states."""
    rows = [
        (what, *(cell(row_of(document, test, measure, case, each["spec"])) for each in document["disciplines"]))
        for question in QUESTIONS
        for test, measure, case, what in question.answers
    ]
    known = [headgate.discipline(each["spec"].partition(":")[0]) for each in document["disciplines"]]
    rows += [
        (name, *("yes" if getattr(each, ability) else "no" for each in known)) for ability, name in ABILITIES.items()
    ]
    named = " ".join(each["spec"] for each in words.evaluated(document))
    legend = (
        f"\nMean of {document['seeds']} seeds ± margin of error (half the 95 % interval), without ECN. "
        "**+** a strength, \N{MINUS SIGN} a failure, ? inconclusive, by\n"
        "[these thresholds](../guide/evaluate.md#how-results-are-graded). DropTail has no grade if the threshold is "
        "relative to DropTail's value.\n\n"
        f"`headgate evaluate {named}` measures these numbers; `docs/choose.py` writes this table.\n"
    )
    return table(("", *(each["label"] for each in document["disciplines"])), rows) + legend


def scorecard(document: Mapping[str, Any]) -> str:
    """The first table of an evaluation's page: the verdict on each section, and its headline measures."""
    specs = [each["spec"] for each in document["disciplines"]]
    rows = []
    for section in document["sections"]:
        verdicts = (verdict(words.counts(section, spec)) for spec in specs)
        rows.append((f"**{section['number']} {section['title']}**", *verdicts))
        rows += [(name, *numbers) for name, numbers in show.headlines(document, section)]
    rows.append(("**all gradings**", *(verdict(words.total(document, spec), of=True) for spec in specs)))
    return table(("", *(each["label"] for each in document["disciplines"])), rows)


def verdict(count: words.GradeCounts, *, of: bool = False) -> str:
    """The numbers of strengths, failures and inconclusive grades, with the verdict, or with all gradings if `of`."""
    counted = f"{count.strengths}+ {count.failures}\N{MINUS SIGN} {count.unclear}?"
    whole = f"{counted} of {count.whole}" if of else f"{count.verdict} {counted}"
    return whole.replace(" ", "\N{NO-BREAK SPACE}")


def grades(document: Mapping[str, Any], question: Question, qdisc: str) -> list[Grade | None]:
    """A discipline's grades for one question; None where a measure has no grade."""
    rows = (row_of(document, test, measure, case, qdisc) for test, measure, case, _ in question.answers)
    return [Grade(row["grade"]) if "grade" in row else None for row in rows]


def row_of(document: Mapping[str, Any], test: str, measure: str, case: str, qdisc: str) -> Mapping[str, Any]:
    """The grading of a measure, or the measure alone if it has no grade."""
    wanted = {"measure": measure, "case": case, "qdisc": qdisc, "ecn": False}
    rows = [row for row in rows_of(document, test) if all(row[key] == value for key, value in wanted.items())]
    if not rows:
        sys.exit(f"the evaluation has no {measure} of {qdisc} in test {test}, case {case!r}")
    return rows[0]


def rows_of(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """The gradings of a test, then its measures."""
    for section in document["sections"]:
        for test in section["tests"]:
            if test["name"] == name:
                yield from test["grades"]
                yield from ({**row, "value": row} for row in test["values"])


def cell(row: Mapping[str, Any]) -> str:
    """A number with its interval and the sign of its grade."""
    whole = words.interval(row["value"]) + (SIGNS[Grade(row["grade"])] if "grade" in row else "")
    return whole.replace(" ", "\N{NO-BREAK SPACE}")


if __name__ == "__main__":
    main()
