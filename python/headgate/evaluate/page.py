"""The evaluation as one HTML page that needs nothing else, made of the document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

from headgate import style
from headgate.evaluate import ellipses, show, words
from headgate.evaluate.grade import Grade
from headgate.evaluate.measures import COMMON
from headgate.evaluate.network import PERIOD_S
from headgate.plot.picture import Picture, picture
from headgate.report.markup import NONE, Html, join, table, tag, text
from headgate.report.markup import picture as shown

#: What the RFC says of the weight of a test, in figure 4 or in its section.
WEIGHTS = {
    "must": "Must be considered.",
    "may": "May be considered.",
    "could": "Could be run.",
    "recommended": "Recommended.",
}

_COMMON = {name: each.title for name, each in COMMON.items()}

#: The grades that are told in words, and what stands above them.
TOLD = {Grade.STRENGTH: "Strengths", Grade.FAILURE: "Failures", Grade.CANNOT_TELL: "Cannot be told from noise"}


def draw(document: Mapping[str, Any]) -> dict[int, Picture]:
    """The ellipses of every section, by its number."""
    drawn = {}
    for section in document["sections"]:
        with style.applied():
            drawn[section["number"]] = picture(ellipses.figure(section, document["disciplines"]))
    return drawn


def page(document: Mapping[str, Any], drawn: Mapping[int, Picture]) -> str:
    """The page as text."""
    here = resources.files(__package__)
    look = resources.files("headgate.report").joinpath("page.css").read_text("utf-8")
    return Template(here.joinpath("page.html").read_text("utf-8")).substitute(
        style=f"{look}\n{here.joinpath('page.css').read_text('utf-8')}",
        version=text(document["headgate"]),
        kind=text(show.kind(document)),
        names=text(", ".join(each["label"] for each in words.asked_for(document))),
        answer=text(words.answer(document)),
        scorecard=_scorecard(document),
        disciplines=join(_discipline(document, each) for each in words.asked_for(document)),
        sections=join(_section(document, each, drawn[each["number"]]) for each in document["sections"]),
        thresholds=_thresholds(document),
        period=text(style.plain(PERIOD_S)),
    )


def _scorecard(document: Mapping[str, Any]) -> Html:
    """A row for each section, and the numbers that stand for it below."""
    disciplines = document["disciplines"]
    rows = []
    for section in document["sections"]:
        name = tag("strong", tag("a", text(f"{section['number']} {section['title']}"), href=_anchor(section, "#")))
        rows.append([name, *(_verdict(words.counts(section, each["spec"])) for each in disciplines)])
        columns = [list(show.cells(section, each["spec"])) for each in disciplines]
        for headline, *numbers in zip(section["headlines"], *columns, strict=True):
            rows.append([tag("span", text(headline["shown"]), class_="number"), *map(text, numbers)])
    titles = ["RFC 7928", *(each["label"] + ("" if each["ecn"] else ", no ECN") for each in disciplines)]
    caption = (
        f"+ strengths, \N{MINUS SIGN} failures, ? cannot be told from noise; the rest is fair. {_spread(document)}"
    )
    return tag("div", table(caption, titles, rows), class_="scorecard")


def _spread(document: Mapping[str, Any]) -> str:
    return f"Numbers are without ECN, {show.kind(document)}; intervals stand below."


def _verdict(count: words.Count) -> Html:
    counted = f"{count.strengths}+ {count.failures}\N{MINUS SIGN} {count.unclear}?"
    return join([tag("span", text(count.verdict), class_=f"verdict {count.verdict}"), tag("small", text(counted))])


def _discipline(document: Mapping[str, Any], each: Mapping[str, Any]) -> Html:
    """One discipline in words: what it is good at and where it fails, by section."""
    parts = [tag("h3", text(each["label"])), tag("p", tag("code", text(each["spec"])), class_="where")]
    if not each["ecn"]:
        parts.append(tag("p", text("It cannot mark, so it ran without ECN only.")))
    for grade, title in TOLD.items():
        said = [line for section in document["sections"] for line in words.sentences(section, each["spec"], grade)]
        listed = tag("ul", join(tag("li", text(line)) for line in said or ["none"]))
        if grade is Grade.CANNOT_TELL:
            parts.append(tag("details", join([tag("summary", text(f"{title}: {len(said)}")), listed])))
        else:
            parts.append(tag("div", join([tag("h4", text(title)), listed]), class_=grade.value))
    return tag("article", join(parts))


def _section(document: Mapping[str, Any], section: Mapping[str, Any], drawn: Picture) -> Html:
    alternative = (
        f"Ellipses of one standard deviation of mean queueing delay and goodput in the tests of section "
        f"{section['number']}, a panel for each case and class of traffic or phase; the tables below have the numbers."
    )
    parts = [
        tag("h2", text(f"{section['number']} {section['title']}")),
        tag("p", text(section["about"])),
        shown(drawn.untitled, alternative),
        *(_test(document, test) for test in section["tests"]),
        _choices(section["choices"]),
    ]
    return tag("section", join(parts), id=_anchor(section))


def _choices(choices: Sequence[str]) -> Html:
    if not choices:
        return NONE
    listed = tag("ul", join(tag("li", text(choice)) for choice in choices))
    return tag("div", join([tag("h4", text("What the RFC leaves open, and departures")), listed]), class_="choices")


def _test(document: Mapping[str, Any], test: Mapping[str, Any]) -> Html:
    lasting = f"{style.plain(test['duration_s'])} s, the first {style.plain(test['warmup_s'])} s not counted"
    ecn = "" if test["ecn"] else "; nobody in it could take marks"
    weight = f" {WEIGHTS[test['weight']]}" if test["weight"] else ""
    rows = list(_rows(document, test))
    titles = ["Criterion and case", *(each["label"] for each in document["disciplines"])]
    listed = table("Green: a strength; red: a failure; ?: cannot be told.", titles, rows)
    parts = [
        tag("h3", text(f"{test['place']} {test['title']}")),
        tag("p", text(f"{test['about']} {lasting}{ecn}.{weight}"), class_="where"),
        tag("div", listed, class_="grades"),
        _besides(document, test, "Goodput, delay and loss of all flows together", _COMMON),
        _besides(document, test, "By traffic and by phase", test["reported"]),
    ]
    return tag("div", join(parts), class_="test")


def _besides(document: Mapping[str, Any], test: Mapping[str, Any], name: str, titles: Mapping[str, str]) -> Html:
    """Measures beside those that are judged, a row for each discipline and case."""
    if not titles:
        return NONE
    labels = {each["spec"]: each["label"] for each in document["disciplines"]}
    found: dict[str, dict[str, Html]] = {}
    for row in test["values"]:
        if row["measure"] in titles:
            where = ", ".join(filter(None, [labels[row["qdisc"]], row["case"], "ECN" if row["ecn"] else ""]))
            found.setdefault(where, {})[row["measure"]] = text(words.interval(row))
    rows = ([text(where), *(cells[measure] for measure in titles)] for where, cells in found.items())
    listed = table(f"{name}.", ["Discipline and case", *titles.values()], rows)
    return tag("details", join([tag("summary", text(name)), tag("div", listed, class_="grades")]))


def _rows(document: Mapping[str, Any], test: Mapping[str, Any]) -> Iterator[Sequence[Html]]:
    """A row for each criterion, case and ECN on or off."""
    graded = {(row["measure"], row["case"], row["ecn"], row["qdisc"]): row for row in test["grades"]}
    values = {(row["measure"], row["case"], row["ecn"], row["qdisc"]): row for row in test["values"]}
    for measure, criterion in {row["measure"]: row for row in test["grades"]}.items():
        for case in test["cases"]:
            for ecn in (False, True):
                keys = [(measure, case, ecn, each["spec"]) for each in document["disciplines"]]
                if not any(key in values for key in keys):
                    continue
                said = ", ".join([f"{criterion['what']}, {criterion['unit']}", *filter(None, [case]), *["ECN"] * ecn])
                yield [text(said), *(_cell(values.get(key), graded.get(key)) for key in keys)]


def _cell(value: Mapping[str, Any] | None, row: Mapping[str, Any] | None) -> Html:
    if value is None:
        return text(style.MISSING)
    number = text(words.interval(value))
    if row is None or row["grade"] == Grade.FAIR.value:
        return number
    if row["grade"] == Grade.CANNOT_TELL.value:
        return join([number, text(" ?")])
    return tag("span", number, class_="strong" if row["grade"] == Grade.STRENGTH.value else "weak")


def _thresholds(document: Mapping[str, Any]) -> Html:
    """Every criterion once, with its thresholds."""
    rows: dict[Any, tuple[list[str], Mapping[str, Any]]] = {}
    for section in document["sections"]:
        for test in section["tests"]:
            for row in test["grades"]:
                key = (row["what"], row["strong"], row["weak"], row["relative"])
                rows.setdefault(key, ([], row))[0].append(test["place"])
    body = [
        [
            text(row["what"]),
            text(_bound(row, "strong")),
            text(_bound(row, "weak")),
            text(", ".join(dict.fromkeys(places))),
        ]
        for places, row in rows.values()
    ]
    listed = table("Thresholds.", ["What", "A strength", "A failure", "Sections"], body)
    return tag("div", listed, class_="thresholds")


def _bound(row: Mapping[str, Any], end: str) -> str:
    """A threshold with its direction: `below 3 %`."""
    small_is_good = row["strong"] < row["weak"]
    word = "below" if small_is_good == (end == "strong") else "above"
    return f"{word} {100 * row[end]:g} % of DropTail's" if row["relative"] else f"{word} {row[end]:g} {row['unit']}"


def _anchor(section: Mapping[str, Any], prefix: str = "") -> str:
    return f"{prefix}section-{section['number']}"
