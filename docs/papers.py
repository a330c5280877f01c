"""Writes what was found into docs/papers: `python docs/papers.py results/papers`, after `headgate paper run all` there.

A page of a paper has the markers `<!-- score -->`, for how many of its claims hold, `<!-- claims -->`, for a table of
all of them, `<!-- published -->`, for the paper's numbers beside ours, and `<!-- findings -->`, for why claims differ
(`findings.md` beside the experiments); the figures that a page shows are copied.
`today.md` is written of runs with further disciplines: `headgate paper run all --with today`, and the same after
`--with` here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from pages import filled, table

from headgate import style
from headgate.analysis.judge import Verdict
from headgate.experiment import record, show
from headgate.experiment.running import RunOptions
from headgate.papers import catalogue

HERE = Path(__file__).parent / "papers"
PICTURE = re.compile(r"\(figures/([a-z-]+)-([a-z]+\d+)\.svg\)")


def main() -> None:
    """Writes every page whose experiments have all been run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--with", dest="further", default="")
    given = parser.parse_args()
    for paper in catalogue.PAPERS:
        documents = [one(name, given.out, RunOptions()) for name in catalogue.names(paper)]
        write(paper, documents, given.out)
    if given.further:
        how = RunOptions(further=catalogue.further(given.further))
        compared = [name for name in catalogue.names() if catalogue.experiment(name).headline and modern(name)]
        kept = [found.document for name in compared if (found := load(name, given.out, how)) is not None]
        (HERE / "today.md").write_text(today(kept, how))


def modern(name: str) -> bool:
    """Whether further disciplines stand beside the paper's in an experiment."""
    return catalogue.experiment(name).modern


def load(name: str, out: Path, how: RunOptions) -> record.ExperimentRecord | None:
    """What is kept of an experiment, if it has been run."""
    return record.load(name, catalogue.experiment(name), out, how)


def one(name: str, out: Path, how: RunOptions) -> dict[str, Any]:
    """What was found of an experiment."""
    kept = load(name, out, how)
    if kept is None:
        sys.exit(f"{name} has not been run in {out}")
    return kept.document


def write(paper: str, documents: list[dict[str, Any]], out: Path) -> None:
    """Fills the markers of a paper's page and copies its figures."""
    page = HERE / f"{paper}.md"
    text = filled(page.read_text(), "score", f"{show.score(documents).plain}.\n")
    text = filled(text, "claims", claims(documents))
    text = filled(text, "published", published(documents))
    text = filled(text, "findings", findings(documents))
    for found, experiment in PICTURE.findall(text):
        name = f"{found}/{experiment}"
        drawn = record.folder(name, catalogue.experiment(name), out, RunOptions()) / "figure.svg"
        shutil.copyfile(drawn, HERE / "figures" / f"{found}-{experiment}.svg")
    page.write_text(text)


def claims(documents: list[dict[str, Any]]) -> str:
    """A table of all claims: what the paper says, where, the verdict and its numbers."""
    rows = []
    for document in documents:
        name = document["experiment"].partition("/")[2]
        for claim in document["claims"]:
            verdict = claim["verdict"] if claim["verdict"] == Verdict.HOLDS.value else f"**{claim['verdict']}**"
            rows.append((name, f"{claim['text']} ({claim['place']})", verdict, claim["numbers"]))
            name = ""
    return table(("experiment", "the paper says", "here", "numbers"), rows)


def published(documents: list[dict[str, Any]]) -> str:
    """A table of every number that the paper prints, beside ours."""
    rows = []
    for document in documents:
        name = document["experiment"].partition("/")[2]
        for row in document["published"]:
            what = f"{row['label']} {show.case_of(row)}".strip()
            ours = (style.plain(row["published"]), show.shown(row), show.difference(row))
            rows.append((name, what, show.measure_of(row), *ours))
            name = ""
    return table(("experiment", "discipline and case", "number", "paper", "here", "difference"), rows)


def findings(documents: list[dict[str, Any]]) -> str:
    """Why claims do not hold: each finding once, with its experiments and the first of the claims that it is of."""
    of: dict[str, list[tuple[str, str]]] = {}
    for document in documents:
        for claim in document["claims"]:
            if claim["finding"] and claim["verdict"] != Verdict.HOLDS.value:
                of.setdefault(claim["finding"], []).append((document["experiment"].partition("/")[2], claim["text"]))
    return "".join(f"{finding_of(claims, text)}\n" for text, claims in of.items())


def finding_of(claims: list[tuple[str, str]], text: str) -> str:
    """A finding on claims, by experiment and text, as a point of a list."""
    more = f" and {len(claims) - 1} more" if len(claims) > 1 else ""
    experiments = ", ".join(dict.fromkeys(name for name, _ in claims))
    return f"- **{experiments}**, *{claims[0][1].removeprefix('... ')}*{more}: {text}"


def today(documents: list[dict[str, Any]], how: RunOptions) -> str:
    """The page of further disciplines beside the papers' own."""
    rows = []
    for document in documents:
        values = document["headline"]["values"]
        ours = ", ".join(f"{label} {show.shown(row)}" for label, row in values.items() if label not in how.further)
        added = (show.shown(values[label]) for label in how.further)
        rows.append((document["experiment"], document["headline"]["what"], ours, *added))
    written = table(("experiment", "number", "the paper's", *how.further), rows)
    return filled((HERE / "today.md").read_text(), "today", written)


if __name__ == "__main__":
    main()
