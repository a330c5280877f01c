"""The HTML page of experiments: counts of verdicts, the claims of each paper, and figures with numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from headgate import _core
from headgate.analysis.judge import Verdict
from headgate.experiment import readings_show, show
from headgate.experiment.record import ExperimentRecord
from headgate.files import store
from headgate.papers import catalogue
from headgate.report import script as scripts
from headgate.report.pages import render

#: The CSS class of each verdict.
CLASSES = {Verdict.HOLDS.value: "holds", Verdict.DIFFERS.value: "differs", Verdict.INCONCLUSIVE.value: "open"}


#: The verdicts of experiments under each reading (`readings.load`), by experiment; None if they are not there.
StoredReadings: TypeAlias = Mapping[str, dict[str, Any] | None]


def write(
    records: Sequence[ExperimentRecord], missing: Sequence[str], file: Path, readings: StoredReadings | None = None
) -> None:
    """Writes the page of these records; `missing` are the experiments that have not been run."""
    store.write_files(file.parent, {file.name: page(records, missing, readings)})


def page(records: Sequence[ExperimentRecord], missing: Sequence[str], readings: StoredReadings | None = None) -> str:
    """The page as text."""
    documents = [record.document for record in records]
    script = scripts.text("headgate.papers", "filter.js")
    return render(
        "papers/page.html",
        version=_core.VERSION,
        answer=show.score(documents).plain,
        documents=documents,
        missing=missing,
        further=list(dict.fromkeys(spec for document in documents for spec in document["with"])),
        today=[document for document in documents if document["headline"] and document["with"]],
        papers=[
            (name, catalogue.paper(name), mine, _readings_of(name, readings or {}))
            for name in catalogue.PAPERS
            if (mine := _of(name, records))
        ],
        classes=CLASSES,
        show=show,
        readings_show=readings_show,
        script=script,
        # The content security policy of the page allows this script only.
        policy=scripts.allowed(script),
    )


def _of(paper: str, records: Sequence[ExperimentRecord]) -> list[ExperimentRecord]:
    return [record for record in records if record.document["experiment"].startswith(f"{paper}/")]


def _readings_of(paper: str, readings: StoredReadings) -> tuple[list[dict[str, Any]], list[str]]:
    """The verdicts of a paper's experiments under each reading, and the experiments whose readings are not there."""
    mine = {name: document for name, document in readings.items() if name.startswith(f"{paper}/")}
    documents = [document for document in mine.values() if document is not None]
    return documents, [name for name, document in mine.items() if document is None]
