"""The evaluation as one self-contained HTML page, made from the JSON document alone."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from headgate.evaluate import ellipses, show, words
from headgate.evaluate.common import COMMON
from headgate.evaluate.grade import Grade
from headgate.evaluate.network import PERIOD_S
from headgate.plot import figure_style, printing
from headgate.plot.picture import Picture, picture
from headgate.report.pages import render
from headgate.style import FigureFiles

#: The RFC's words for the weight of a test, in figure 4 or in its section.
WEIGHTS = {
    "must": "Must be considered.",
    "may": "May be considered.",
    "could": "Could be run.",
    "recommended": "Recommended.",
}

#: The numbers of a test that was not run.
_NOTHING = {"mean": None}

_COMMON = {name: each.title for name, each in COMMON.items()}


def draw(document: Mapping[str, Any]) -> dict[int, Picture]:
    """The ellipses of every section, by its number."""
    with figure_style.applied():
        disciplines, sections = document["disciplines"], document["sections"]
        return {section["number"]: picture(ellipses.figure(section, disciplines)) for section in sections}


def write_figures(document: Mapping[str, Any], folder: Path, wanted: FigureFiles) -> list[Path]:
    """Writes the ellipses of every section for a document into `folder`. Returns the files."""
    makers = {
        f"section-{section['number']}": partial(ellipses.figure, section, document["disciplines"])
        for section in document["sections"]
    }
    return printing.save(makers, wanted, folder)


def page(document: Mapping[str, Any], drawn: Mapping[int, Picture]) -> str:
    """The page as text."""
    disciplines = document["disciplines"]
    return render(
        "evaluate/page.html",
        document=document,
        answer=words.answer(document),
        judged=words.evaluated(document),
        heads=["RFC 7928", *(each["label"] + ("" if each["ecn"] else ", no ECN") for each in disciplines)],
        labels={each["spec"]: each["label"] for each in disciplines},
        drawn=drawn,
        sentences=lambda spec, grade: words.all_sentences(document, spec, Grade(grade)),
        graded=lambda test: _graded(document, test),
        measured=lambda test, titles: _measured(document, test, titles),
        thresholds=list(_thresholds(document)),
        common=_COMMON,
        weights=WEIGHTS,
        period_s=PERIOD_S,
        show=show,
        words=words,
    )


def _measured(document: Mapping[str, Any], test: Mapping[str, Any], titles: Mapping[str, str]) -> list[list[str]]:
    """A row for each discipline, case and ECN on or off, with the measures in `titles`."""
    labels = {each["spec"]: each["label"] for each in document["disciplines"]}
    cells_by_row: dict[str, dict[str, str]] = {}
    for row in test["values"]:
        if row["measure"] in titles:
            name = ", ".join(filter(None, [labels[row["qdisc"]], row["case"], "ECN" if row["ecn"] else ""]))
            cells_by_row.setdefault(name, {})[row["measure"]] = words.interval(row)
    return [[name, *(cells[measure] for measure in titles)] for name, cells in cells_by_row.items()]


def _graded(document: Mapping[str, Any], test: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """A row for each criterion, case and ECN on or off: of each discipline a number as text, and its grade."""
    graded = {(row["measure"], row["case"], row["ecn"], row["qdisc"]): row["grade"] for row in test["grades"]}
    values = {(row["measure"], row["case"], row["ecn"], row["qdisc"]): row for row in test["values"]}
    for measure, criterion in {row["measure"]: row for row in test["grades"]}.items():
        for case in test["cases"]:
            for ecn in (False, True):
                keys = [(measure, case, ecn, each["spec"]) for each in document["disciplines"]]
                name = ", ".join([f"{criterion['what']}, {criterion['unit']}", *filter(None, [case]), *["ECN"] * ecn])
                if any(key in values for key in keys):
                    yield name, [(words.interval(values.get(key, _NOTHING)), graded.get(key)) for key in keys]


def _thresholds(document: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Every criterion once, with its thresholds and the sections that have it."""
    rows: dict[Any, tuple[list[str], Mapping[str, Any]]] = {}
    for section in document["sections"]:
        for test in section["tests"]:
            for row in test["grades"]:
                key = (row["what"], row["strong"], row["weak"], row["relative"])
                rows.setdefault(key, ([], row))[0].append(test["place"])
    for places, row in rows.values():
        yield row["what"], _bound(row, "strong"), _bound(row, "weak"), ", ".join(dict.fromkeys(places))


def _bound(row: Mapping[str, Any], end: str) -> str:
    """A threshold with its direction: `below 3 %`."""
    small_is_good = row["strong"] < row["weak"]
    word = "below" if small_is_good == (end == "strong") else "above"
    return f"{word} {100 * row[end]:g} % of DropTail's" if row["relative"] else f"{word} {row[end]:g} {row['unit']}"
