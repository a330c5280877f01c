"""Writes results into docs/papers: `python docs/papers.py results/papers`, after `headgate paper run all` there.

The page of a paper has five markers: `score` (the number of claims by verdict), `claims` (a table of all claims),
`published` (the paper's numbers beside ours), `findings` (why claims differ, from `findings.md` beside the
experiments) and `readings` (the verdicts under each reading, after `headgate paper readings`). The figures that a page
shows are copied. `--readings` fills the last marker only.

`today.md` compares further disciplines: run `headgate paper run all --with LIST`, then this script with `--with LIST`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import paper_readings
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
    parser.add_argument("--readings", action="store_true")
    given = parser.parse_args()
    for paper in catalogue.PAPERS:
        write_readings(paper, given.out)
        if given.readings:
            continue
        documents = [document_of(name, given.out, RunOptions()) for name in catalogue.names(paper)]
        write(paper, documents, given.out)
    if given.further and not given.readings:
        options = RunOptions(further=catalogue.further(given.further))
        compared = [name for name in catalogue.names() if catalogue.experiment(name).headline and modern(name)]
        records = [stored for name in compared if (stored := load(name, given.out, options)) is not None]
        (HERE / "today.md").write_text(today([stored.document for stored in records], options))


def modern(name: str) -> bool:
    """Whether further disciplines can be added to an experiment."""
    return catalogue.experiment(name).modern


def load(name: str, out: Path, options: RunOptions) -> record.ExperimentRecord | None:
    """The record of an experiment; None if it has not been run."""
    return record.load(name, catalogue.experiment(name), out, options)


def document_of(name: str, out: Path, options: RunOptions) -> dict[str, Any]:
    """The document of an experiment; exits if it has not been run."""
    stored = load(name, out, options)
    if stored is None:
        sys.exit(f"{name} has not been run in {out}")
    return stored.document


def write(paper: str, documents: list[dict[str, Any]], out: Path) -> None:
    """Fills the markers of a paper's page and copies its figures."""
    page = HERE / f"{paper}.md"
    text = filled(page.read_text(), "score", f"{show.score(documents).plain}.\n")
    text = filled(text, "claims", claims(documents))
    text = filled(text, "published", published(documents))
    text = filled(text, "findings", findings(documents))
    for shown, experiment in PICTURE.findall(text):
        name = f"{shown}/{experiment}"
        drawn = record.folder(name, catalogue.experiment(name), out, RunOptions()) / "figure.svg"
        shutil.copyfile(drawn, HERE / "figures" / f"{shown}-{experiment}.svg")
    page.write_text(text)


def write_readings(paper: str, out: Path) -> None:
    """Fills the marker `readings` of a paper's page. A page whose readings are not in `out` stays as it is."""
    written = paper_readings.of_paper(paper, out)
    if written is None:
        print(f"{out} has no readings of {paper}: its page keeps the old ones", file=sys.stderr)
        return
    page = HERE / f"{paper}.md"
    page.write_text(filled(page.read_text(), "readings", written))


def claims(documents: list[dict[str, Any]]) -> str:
    """A table of all claims. `filter.js` of the site filters it by the columns of these names."""
    numbers = {text: number for number, text in enumerate(explained(documents), 1)}
    rows = []
    for name, claim in claims_of(documents):
        holds = claim["verdict"] == Verdict.HOLDS.value
        why = f" ([why](#why-{numbers[claim['finding']]}))" if claim["finding"] and not holds else ""
        rows.append(
            (
                name,
                f"{claim['text']} ({claim['place']})",
                ", ".join(claim["disciplines"]),
                claim["basis"],
                claim["verdict"] if holds else f"**{claim['verdict']}**",
                claim["numbers"] + why,
            )
        )
    return table(("experiment", "the paper says", "disciplines", "bound", "verdict", "numbers"), rows)


def claims_of(documents: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Each claim, with the name of its experiment."""
    return [(each["experiment"].partition("/")[2], claim) for each in documents for claim in each["claims"]]


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
    return table(("experiment", "discipline and case", "number", "paper", "Headgate", "difference"), rows)


def findings(documents: list[dict[str, Any]]) -> str:
    """The findings on claims that do not hold: each once, with its experiments and its first claim."""
    items = enumerate(explained(documents).items(), 1)
    return "".join(f"{finding_of(number, claims, text)}\n" for number, (text, claims) in items)


def explained(documents: list[dict[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """Each finding on claims that do not hold, with experiment and text of these claims."""
    explained: dict[str, list[tuple[str, str]]] = {}
    for name, claim in claims_of(documents):
        if claim["finding"] and claim["verdict"] != Verdict.HOLDS.value:
            explained.setdefault(claim["finding"], []).append((name, claim["text"]))
    return explained


def finding_of(number: int, claims: list[tuple[str, str]], text: str) -> str:
    """A finding as an item of a list, to which the table links; `claims` are pairs of experiment and text."""
    more = f" and {len(claims) - 1} more" if len(claims) > 1 else ""
    experiments = ", ".join(dict.fromkeys(name for name, _ in claims))
    return f'- <a id="why-{number}"></a>**{experiments}**, *{claims[0][1].removeprefix("... ")}*{more}: {text}'


def today(documents: list[dict[str, Any]], options: RunOptions) -> str:
    """The page that shows further disciplines beside those of the papers."""
    rows = []
    for document in documents:
        values = document["headline"]["values"]
        ours = ", ".join(f"{label} {show.shown(row)}" for label, row in values.items() if label not in options.further)
        added = (show.shown(values[label]) for label in options.further)
        rows.append((document["experiment"], document["headline"]["what"], ours, *added))
    written = table(("experiment", "number", "the paper's", *options.further), rows)
    return filled((HERE / "today.md").read_text(), "today", written)


if __name__ == "__main__":
    main()
