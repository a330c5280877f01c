"""The HTML page of experiments: counts of verdicts, the claims of each paper, and figures with numbers."""

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from headgate import _core
from headgate.analysis.judge import Verdict
from headgate.experiment import show
from headgate.experiment.record import ExperimentRecord
from headgate.files import store
from headgate.papers import catalogue
from headgate.report.pages import render

#: The CSS class of each verdict.
CLASSES = {Verdict.HOLDS.value: "holds", Verdict.DIFFERS.value: "differs", Verdict.INCONCLUSIVE.value: "open"}


def write(records: Sequence[ExperimentRecord], missing: Sequence[str], file: Path) -> None:
    """Writes the page of these records; `missing` are the experiments that have not been run."""
    store.write_files(file.parent, {file.name: page(records, missing)})


def page(records: Sequence[ExperimentRecord], missing: Sequence[str]) -> str:
    """The page as text."""
    documents = [record.document for record in records]
    script = resources.files(__package__).joinpath("filter.js").read_text("utf-8")
    return render(
        "papers/page.html",
        version=_core.VERSION,
        answer=show.score(documents).plain,
        documents=documents,
        missing=missing,
        further=list(dict.fromkeys(spec for document in documents for spec in document["with"])),
        today=[document for document in documents if document["headline"] and document["with"]],
        papers=[(name, catalogue.paper(name), mine) for name in catalogue.PAPERS if (mine := _of(name, records))],
        classes=CLASSES,
        show=show,
        script=script,
        # The content security policy of the page allows this script only.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
    )


def _of(paper: str, records: Sequence[ExperimentRecord]) -> list[ExperimentRecord]:
    return [record for record in records if record.document["experiment"].startswith(f"{paper}/")]
