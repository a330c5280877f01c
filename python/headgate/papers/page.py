"""One HTML page of all experiments that were run: the scorecard, then each with its figure, numbers and claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from headgate import _core, store, style
from headgate.judge import Verdict
from headgate.papers import catalogue, show
from headgate.papers.record import Record
from headgate.report.markup import NONE, Html, join, picture, table, tag, text

#: The class of a verdict in the page's style.
CLASSES = {Verdict.HOLDS.value: "holds", Verdict.DIFFERS.value: "differs", Verdict.CANNOT_TELL.value: "open"}


def write(records: Sequence[Record], missing: Sequence[str], file: Path) -> None:
    """Writes the page of these records; `missing` are the experiments that have not been run."""
    store.write_files(file.parent, {file.name: page(records, missing)})


def page(records: Sequence[Record], missing: Sequence[str]) -> str:
    """The page as text."""
    documents = [record.document for record in records]
    look = resources.files("headgate.report").joinpath("page.css").read_text("utf-8")
    own = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    return Template(resources.files(__package__).joinpath("page.html").read_text("utf-8")).substitute(
        style=f"{look}\n{own}",
        answer=text(show.score(documents).plain),
        note=_note(documents, missing),
        scorecard=_scorecard(documents),
        today=_today(documents),
        papers=join(_paper(name, mine) for name in catalogue.PAPERS if (mine := _of(name, records))),
        version=text(_core.VERSION),
    )


def _note(documents: Sequence[dict[str, Any]], missing: Sequence[str]) -> Html:
    quick = any(document["quick"] for document in documents)
    said = ["Shortened runs: a first look, not a reproduction." if quick else "Whole runs, with the paper's durations."]
    further = list(dict.fromkeys(spec for document in documents for spec in document["with"]))
    said += [f"Beside the papers' disciplines: {', '.join(further)}."] if further else []
    said += [f"Not run: {', '.join(missing)}."] if missing else []
    return tag("p", text(" ".join(said)))


def _of(paper: str, records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.document["experiment"].startswith(f"{paper}/")]


def _scorecard(documents: Sequence[dict[str, Any]]) -> Html:
    rows = []
    for document in documents:
        name = document["experiment"]
        counts = [
            sum(claim["verdict"] == verdict.value for claim in document["claims"]) or style.MISSING
            for verdict in Verdict
        ]
        link = tag("a", text(name), href=f"#{_anchor(name)}")
        rows.append([link, text(document["title"]), *map(text, counts), text(f"{document['cpu_s']:.1f}")])
    titles = ["Experiment", "What it shows", *(verdict.value for verdict in Verdict), "CPU s"]
    listed = table("Claims of the papers and what our runs say of them.", titles, rows)
    return tag("div", listed, class_="scorecard")


def _today(documents: Sequence[dict[str, Any]]) -> Html:
    """Further disciplines beside the papers' own, one number an experiment."""
    rows = []
    for document in documents:
        headline, further = document["headline"], document["with"]
        if headline is None or not further:
            continue
        ours = [f"{label} {show.shown(row)}" for label, row in headline["values"].items() if label not in further]
        link = tag("a", text(document["experiment"]), href=f"#{_anchor(document['experiment'])}")
        added = (text(show.shown(headline["values"][label])) for label in further)
        rows.append([link, text(headline["what"]), text(", ".join(ours)), *added])
    if not rows:
        return NONE
    titles = ["Experiment", "Number", "The paper's disciplines", *documents[0]["with"]]
    heading = tag("h2", text("What would the papers find today"))
    listed = table("One number an experiment, for the paper's disciplines and for today's.", titles, rows)
    return join([heading, tag("div", listed, class_="scorecard")])


def _paper(name: str, records: Sequence[Record]) -> Html:
    about = catalogue.paper(name)
    heading = [tag("h2", text(name)), tag("p", text(about.citation)), tag("p", text(about.about))]
    return join([*heading, *(_experiment(record) for record in records)])


def _experiment(record: Record) -> Html:
    document = record.document
    svg = (record.path / "figure.svg").read_bytes()
    seeds = "1 seed" if document["seeds"] == 1 else f"{document['seeds']} seeds"
    where = f"{document['experiment']}, {document['place']}; {'shortened run, ' if document['quick'] else ''}{seeds}"
    body = [
        tag("h3", text(document["title"])),
        tag("p", text(where), class_="where"),
        tag("p", text(document["about"])),
        picture(
            svg,
            f"{document['title']}: the figure of {document['experiment']}, whose numbers stand in the tables below.",
        ),
        _claims(document["claims"]),
        _published(document["published"]),
        _choices(document["choices"]),
    ]
    return tag("section", join(body), id=_anchor(document["experiment"]))


def _claims(claims: Iterable[dict[str, Any]]) -> Html:
    rows = [
        [
            join([text(claim["text"]), tag("small", text(claim["place"]))]),
            tag("span", text(claim["verdict"]), class_=CLASSES[claim["verdict"]]),
            join([text(claim["numbers"]), _finding(claim)]),
        ]
        for claim in claims
    ]
    if not rows:
        return NONE
    return tag("div", table("What the paper claims.", ["The paper says", "Here", "Numbers"], rows), class_="words")


def _finding(claim: dict[str, Any]) -> Html:
    differs = claim["finding"] and claim["verdict"] != Verdict.HOLDS.value
    return tag("small", text(claim["finding"])) if differs else NONE


def _published(rows: Sequence[dict[str, Any]]) -> Html:
    if not rows:
        return NONE
    body = [
        [
            text(f"{row['label']} {show.case_of(row)}".strip()),
            text(show.measure_of(row)),
            text(row["place"]),
            text(style.plain(row["published"])),
            text(show.shown(row)),
            text(show.difference(row)),
        ]
        for row in rows
    ]
    titles = ["Case", "What", "Place", "Paper", "Here", "Difference"]
    return tag("div", table("Published numbers beside ours.", titles, body), class_="published")


def _choices(choices: Sequence[dict[str, Any]]) -> Html:
    if not choices:
        return NONE
    rows = [[tag("code", text(each["name"])), text(each["value"]), text(each["reason"])] for each in choices]
    listed = table("Chosen here, since the paper does not say.", ["Parameter", "Value", "Why"], rows)
    return tag("details", join([tag("summary", text("What the paper leaves open")), listed]))


def _anchor(name: str) -> str:
    return name.replace("/", "-")
