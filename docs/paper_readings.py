"""The text between the markers `readings` of docs/papers: the verdicts under each reading. `papers.py` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pages import table

from headgate.analysis.judge import Verdict
from headgate.experiment import readings, readings_show
from headgate.experiment.readings_show import ChangedClaim, OtherVerdict, ReadingRow
from headgate.experiment.running import RunOptions
from headgate.papers import catalogue

#: The options of the command whose verdicts the pages have (`make papers`).
SHORT = f"--quick --seeds {readings.SEEDS}"


def of_paper(paper: str, out: Path) -> str | None:
    """The verdicts of a paper's experiments under each reading; None if no readings of the paper are in `out`."""
    names = catalogue.with_readings([paper])
    stored = {name: readings.load(name, catalogue.experiment(name), out, RunOptions()) for name in names}
    documents = [document for document in stored.values() if document is not None]
    return text(documents, [name for name in names if stored[name] is None]) if documents else None


def text(documents: Sequence[dict[str, Any]], missing: Sequence[str]) -> str:
    """The text: the form of the runs, a table of readings, and a table of the claims whose verdict changes."""
    changed = readings_show.changed_claims(documents)
    rows = [_reading(row) for row in readings_show.reading_rows(documents)]
    parts = [
        f"{readings_show.sentence(documents)} {_forms(documents)}\n",
        table(("reading", "experiments", "hold", "differ", "inconclusive", "verdicts that change"), rows),
    ]
    if changed:
        heads = ("no.", "experiment", "the paper says", "disciplines", "bound", "verdict", "under other readings")
        parts += ["The claims whose verdict changes:\n", table(heads, [_claim(each) for each in changed])]
    if missing:
        parts.append(f"{not_run(missing)}\n")
    return "\n".join(parts)


def not_run(names: Sequence[str]) -> str:
    """The sentence for experiments whose readings have not been run; it names the command."""
    return f"Readings that have not been run: `headgate paper readings {' '.join(names)} {SHORT}`."


def _forms(documents: Sequence[dict[str, Any]]) -> str:
    """The form of the runs, with its experiments if there are several forms."""
    forms = readings_show.forms(documents)
    each = [f"{form} ({', '.join(map(_short, names))})" if len(forms) > 1 else form for form, names in forms.items()]
    caution = " A shortened run can have other verdicts than the whole runs above." * any(
        document["quick"] for document in documents
    )
    return f"The verdicts are of {'; '.join(each)}.{caution}"


def _reading(row: ReadingRow) -> Sequence[str]:
    name = f"`{row.parameter} = {row.value}`"
    named = f"**{name}** (ours): {row.reason}" if row.ours else name
    counts = [str(row.verdicts.get(verdict.value, 0)) for verdict in Verdict]
    links = ", ".join(f"[{number}](#reading-{number})" for number in row.changed)
    return named, ", ".join(map(_short, row.experiments)), *counts, "" if row.ours else links or "none"


def _claim(changed: ChangedClaim) -> Sequence[str]:
    claim = changed.claim
    return (
        f'<a id="reading-{changed.number}"></a>{changed.number}',
        _short(changed.experiment),
        f"{claim['text']} ({claim['place']})",
        ", ".join(claim["disciplines"]),
        claim["basis"],
        changed.ours.verdict,
        "<br>".join(map(_other, changed.others)),
    )


def _other(other: OtherVerdict) -> str:
    return f"`{other.reading}`: **{other.verdict}**, {other.numbers}"


def _short(experiment: str) -> str:
    return experiment.partition("/")[2]
