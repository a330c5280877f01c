"""The files of an evaluation: one JSON document with every number and grade, and the numbers as a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from headgate import _core, identity
from headgate.analysis.judge import Quantity
from headgate.evaluate import page
from headgate.evaluate.candidates import BASELINE, Candidate
from headgate.evaluate.catalogue import SECTIONS
from headgate.evaluate.grade import graded
from headgate.evaluate.running import EvaluatedCase, EvaluationResults, MeasuredCase, run, seeds_of
from headgate.evaluate.section import Criterion, GuidelineTest, RfcSection
from headgate.execution.runner import Watcher
from headgate.experiment.record import ExperimentRecord
from headgate.experiment.running import RunOptions
from headgate.files import provenance, store, tables

SCHEMA = 2
FORM = f"evaluate-{SCHEMA}"
DOCUMENT = "evaluation.json"
TABLE = "evaluation.parquet"
PAGE = "report.html"

#: The columns of the table.
COLUMNS = pa.schema(
    {"section": pa.int32(), "place": tables.TEXT, "test": tables.TEXT, "case": tables.TEXT}
    | {"ecn": pa.bool_(), "qdisc": tables.TEXT, "measure": tables.TEXT, "seed": pa.uint64(), "value": pa.float64()}
)

#: A grading in the document.
GradedRow: TypeAlias = dict[str, Any]

#: Maximum length of a folder's name, so that people can read it.
LONGEST = 60


def folder(out: Path, sections: Sequence[RfcSection], candidates: Sequence[Candidate], options: RunOptions) -> Path:
    """The folder of an evaluation of these disciplines. Evaluations share their runs, which are in another folder."""
    names = [store.slug_of(each.spec) if ":" in each.spec else each.spec for each in candidates[1:] or candidates]
    name = "-".join(names)
    if len(name) > LONGEST:
        name = f"{len(names)}-disciplines-{identity.name_of(identity.of_text(name))}"
    numbers = [] if tuple(sections) == SECTIONS else ["section", *(str(section.number) for section in sections)]
    return out / "-".join([name, *options.name_parts(), *numbers])


def carry_out(
    sections: Sequence[RfcSection], candidates: Sequence[Candidate], out: Path, options: RunOptions, watcher: Watcher
) -> ExperimentRecord:
    """Runs an evaluation, grades it, and keeps the document, the table, the figures and the page."""
    path = folder(out, sections, candidates, options)
    if not options.force:
        provenance.check_document(path / DOCUMENT, FORM, asked_of(candidates, options))
    results = run(sections, candidates, out, options, watcher)
    document = document_of(sections, candidates, results, options)
    drawn = page.draw(document)
    files: dict[str, store.Content] = {
        DOCUMENT: store.sealed_text(document),
        TABLE: tables.to_bytes(table_of(document)),
        PAGE: page.page(document, drawn),
    }
    for number, each in drawn.items():
        files |= each.files(f"section-{number}")
    store.write_files(path, files)
    return ExperimentRecord(path, document)


def asked_of(candidates: Sequence[Candidate], options: RunOptions) -> dict[str, Any]:
    """The keys of a document that tell its question. The folder's name has the sections, and abbreviates these."""
    return {
        "quick": options.quick,
        "seeds": seeds_of(options),
        "disciplines": [each._asdict() for each in candidates],
    }


def document_of(
    sections: Sequence[RfcSection], candidates: Sequence[Candidate], results: EvaluationResults, options: RunOptions
) -> dict[str, Any]:
    """Every number and grade, as JSON."""
    graded_rows = _graded(sections, results)
    return {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        "guidelines": "RFC 7928",
        **asked_of(candidates, options),
        "cpu_s": round(results.cpu_s, 3),
        "wall_s": round(results.wall_s, 3),
        "sections": [_section(section, results, graded_rows, options) for section in sections],
    }


def table_of(document: dict[str, Any]) -> pa.Table:
    """Every measured number, a row each."""
    rows: list[dict[str, Any]] = []
    for section in document["sections"]:
        for test in section["tests"]:
            where = {"section": section["number"], "place": test["place"], "test": test["name"]}
            of_seeds = ((row, seed, value) for row in test["values"] for seed, value in enumerate(row["per_seed"], 1))
            rows += ({**where, **row, "seed": seed, "value": value} for row, seed, value in of_seeds)
    return pa.Table.from_pylist(rows, COLUMNS)


def _section(
    section: RfcSection, results: EvaluationResults, grades: Mapping[str, list[GradedRow]], options: RunOptions
) -> dict[str, Any]:
    return {
        **{name: getattr(section, name) for name in ("number", "title", "about")},
        "choices": list(section.choices),
        "headlines": [asdict(each) for each in section.headlines],
        "tests": [_test(test, results.by_test[test.name], grades[test.name], options) for test in section.tests],
    }


def _test(
    test: GuidelineTest, measured: Sequence[MeasuredCase], grades: list[GradedRow], options: RunOptions
) -> dict[str, Any]:
    times = test.quick if options.quick else test.times
    return {
        **{name: getattr(test, name) for name in ("name", "place", "title", "about", "weight")},
        "reported": _reported(test),
        "graphs": test.graphs(),
        "cases": [case.title for case in test.cases],
        "ecn": test.ecn,
        "duration_s": times.duration,
        "warmup_s": times.warmup,
        "grades": grades,
        "values": list(_values(measured)),
    }


def _reported(test: GuidelineTest) -> dict[str, str]:
    """The reported measures of a test that are not judged, with their titles."""
    titles: dict[str, str] = {}
    for part in test.every_part:
        words = f"{part.title[0].upper()}{part.title[1:]}: queue ms", "Mbit/s"
        titles |= zip(part.measures(), words, strict=True)
    return titles | dict(test.reported)


class _Grading(NamedTuple):
    """A quantity to grade. `compared` is in the criterion's unit: the quantity, or its ratio to DropTail's."""

    place: EvaluatedCase
    criterion: Criterion
    value: Quantity
    compared: Quantity


def _graded(sections: Sequence[RfcSection], results: EvaluationResults) -> dict[str, list[GradedRow]]:
    """The grades by test. Those of all sections and disciplines are one family of statements."""
    tests = [test.name for section in sections for test in section.tests]
    gradings = [each for test in tests for each in _gradings(results.by_test[test])]
    grades = graded((each.compared, each.criterion) for each in gradings)
    rows: dict[str, list[GradedRow]] = {test: [] for test in tests}
    for (place, criterion, value, compared), grade in zip(gradings, grades, strict=True):
        numbers = {"grade": grade.value, "value": value.document(), "compared": compared.document()}
        rows[place.test.name].append({**_where(place), **_criterion(criterion), **numbers})
    return rows


def _gradings(measured: Iterable[MeasuredCase]) -> Iterator[_Grading]:
    for place, values, baseline in measured:
        for criterion in place.test.criteria:
            if criterion.relative and place.candidate.spec == BASELINE:
                continue
            value = values[criterion.measure]
            compared = value / baseline[criterion.measure] if criterion.relative else value
            yield _Grading(place, criterion, value, compared)


def _values(measured: Iterable[MeasuredCase]) -> Iterator[dict[str, Any]]:
    for place, values, _ in measured:
        for measure, quantity in values.items():
            yield {**_where(place), "measure": measure, **quantity.document()}


def _where(place: EvaluatedCase) -> dict[str, Any]:
    return {"qdisc": place.candidate.spec, "case": place.case.title, "ecn": place.ecn}


def _criterion(criterion: Criterion) -> dict[str, Any]:
    fields = {name: getattr(criterion, name) for name in ("measure", "what", "unit", "strong", "weak", "relative")}
    return {**fields, "words": {"strength": criterion.strength, "failure": criterion.failure}}
