"""Writes results into docs/papers: `python docs/papers.py results/papers NAME...`, after `headgate paper run NAME...`.

The page of a paper has six markers: `score` (the number of claims by verdict), `claims` (a table of all claims),
`published` (the paper's numbers beside ours), `findings` (why claims differ, from `findings.md` beside the
experiments), `readings` (the verdicts under each reading, after `headgate paper readings`) and `commit` (the commit of
each experiment's numbers). Rows of other experiments stay as they are. Without names, all experiments are written. The
figures that a page shows are copied. `--readings` fills that marker only.

`today.md` compares further disciplines: run `headgate paper run NAME... --with LIST`, then this script with
`--with LIST`, which writes that page only. `make papers` calls this script.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import paper_pages
import paper_readings
import parts
import short_runs
import stale
from pages import between, filled, table

from headgate import style
from headgate.analysis.judge import Verdict
from headgate.experiment import record, show
from headgate.experiment.running import RunOptions
from headgate.papers import catalogue

HERE = Path(__file__).parent / "papers"
PICTURE = re.compile(r"\(figures/([a-z-]+)-([a-z]+\d+)\.svg\)")


def main() -> None:
    """Writes the pages of the named experiments, and stores the digests of their short runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--with", dest="further", default="")
    parser.add_argument("--readings", action="store_true")
    given = parser.parse_intermixed_args()
    names = catalogue.chosen(given.names or ["all"])
    if given.further:
        write_today([name for name in names if name in short_runs.compared()], given.out, given.further)
        return
    for paper in catalogue.PAPERS:
        mine = [name for name in catalogue.names(paper) if name in names]
        if mine and given.readings:
            write_readings(paper, given.out)
        elif mine:
            write(paper, {name: document_of(name, given.out, RunOptions()) for name in mine}, given.out)
            stale.store(f"{parts.PAPERS}{paper}.md", [name.partition("/")[2] for name in mine])


def document_of(name: str, out: Path, options: RunOptions) -> dict[str, Any]:
    """The document of an experiment; exits if it has not been run."""
    stored = record.load(name, catalogue.experiment(name), out, options)
    if stored is None:
        sys.exit(f"{name} has not been run in {out}")
    return stored.document


def write(paper: str, new: Mapping[str, dict[str, Any]], out: Path) -> None:
    """Fills the markers of a paper's page with new documents, keeps the rows of others, and copies new figures."""
    page = HERE / f"{paper}.md"
    text = page.read_text()
    known = {**paper_pages.documents(text, paper), **new}
    if missing := [name for name in catalogue.names(paper) if name not in known]:
        sys.exit(f"{page.name} has no rows of {missing[0]}, which was not run: `headgate paper run {missing[0]}`")
    documents = [known[name] for name in catalogue.names(paper)]
    text = filled(text, "score", f"{show.score(documents).plain}.\n")
    text = filled(text, "claims", claims(documents))
    text = filled(text, "published", published(documents))
    text = filled(text, "findings", findings(documents))
    for shown, experiment in PICTURE.findall(text):
        name = f"{shown}/{experiment}"
        if name in new:
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
        cells = document["rows"] if "rows" in document else map(published_cells, document["published"])
        names = [document["experiment"].partition("/")[2]]
        rows += [(names.pop() if names else "", *each) for each in cells]
    return table(("experiment", "discipline and case", "number", "paper", "Headgate", "difference"), rows)


def published_cells(row: dict[str, Any]) -> Sequence[str]:
    """The cells of a published number beside ours, without the experiment."""
    what = f"{row['label']} {show.case_of(row)}".strip()
    return what, show.measure_of(row), style.plain(row["published"]), show.shown(row), show.difference(row)


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


def write_today(names: Collection[str], out: Path, further: str) -> None:
    """Writes the rows of these experiments into the page with further disciplines, and stores their digests."""
    options = RunOptions(further=catalogue.further(further))
    page = HERE / "today.md"
    documents = [document_of(name, out, options) for name in names]
    page.write_text(today(page.read_text(), documents, options))
    stale.store(parts.TODAY, list(names))


def today(text: str, documents: list[dict[str, Any]], options: RunOptions) -> str:
    """The page that shows further disciplines beside those of the papers; rows of other experiments are kept."""
    head = ("experiment", "number", "the paper's", *options.further)
    old = between(text, "today")
    kept = paper_pages.rows(old) if old.startswith(table(head, [])) else ()
    rows = {name: cells for name, *cells in kept}
    rows |= {each["experiment"]: today_cells(each, options) for each in documents}
    ordered = [(name, *rows[name]) for name in short_runs.compared() if name in rows]
    return filled(text, "today", table(head, ordered))


def today_cells(document: dict[str, Any], options: RunOptions) -> list[str]:
    """The headline number of each discipline."""
    values = document["headline"]["values"]
    ours = ", ".join(f"{label} {show.shown(row)}" for label, row in values.items() if label not in options.further)
    return [document["headline"]["what"], ours, *(show.shown(values[label]) for label in options.further)]


if __name__ == "__main__":
    main()
