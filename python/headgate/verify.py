"""Compares every file of results, sweeps, searches and experiments below a folder with its recorded hash."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from headgate import guarded
from headgate.counting import counted
from headgate.errors import ResultError
from headgate.files import forms, provenance, receipts, sealed, store, tables
from headgate.files.damage import ADVICE, reading
from headgate.files.disk import DISK
from headgate.results import Result
from headgate.sweeps import dataset
from headgate.sweeps.receipt import HASH
from headgate.sweeps.result import Sweep
from headgate.tuning import damage

#: The database of a search, and the name of its study (`headgate.tuning.study`, which loads slowly).
STUDY, STUDY_NAME = "study.db", "tune"

#: Documents of experiments, readings, evaluations, searches and sensitivities, with their forms.
DOCUMENTS = {
    "found.json": "experiment-3",
    "readings.json": "readings-1",
    "evaluation.json": "evaluate-2",
    "coexistence.json": "coexistence-1",
    "tuned.json": "tune-2",
    "sensitivity.json": "sensitivity-1",
}

#: An evaluation, and the table with the numbers of this document (`headgate.evaluate.record`, which loads slowly).
EVALUATION, EVALUATION_TABLE = "evaluation.json", "evaluation.parquet"


class Verification(NamedTuple):
    """A verified folder or file: its kind, its path, and the reason why it is damaged (empty if it is not)."""

    kind: str
    path: Path
    damage: str = ""


def verify(folder: Path) -> list[Verification]:
    """Verifies everything in `folder` and below; `ResultError` if there is nothing with hashes."""
    found = list(_below(folder))
    if not found:
        store.read_manifest(folder)  # its error says what the folder lacks
    return found


def renamed_from(folder: Path) -> str:
    """The name that a renamed result had; empty if it has its own name, or if the folder is not a result."""
    if not (folder / store.MANIFEST).is_file():
        return ""
    result = Result.load(folder)
    return provenance.own_name(folder, result.scenario, result.manifest["config_hash"])


def summary(found: list[Verification]) -> str:
    """The kinds in words: `2 results and 1 document`."""
    kinds = [each.kind for each in found]
    counts = [counted(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
    return " and ".join(filter(None, [", ".join(counts[:-1]), counts[-1]]))


def _below(folder: Path) -> Iterator[Verification]:
    if (folder / store.MANIFEST).exists():
        yield _checked("result", folder, _result)
    elif (folder / dataset.MANIFEST).exists():
        yield _checked("sweep", folder, _sweep)
    elif (folder / store.RUNS).is_dir():
        yield _checked("unfinished result", folder, _unfinished)
    else:
        yield from _others(folder)


def _others(folder: Path) -> Iterator[Verification]:
    """The documents and the search of a folder, and what its subfolders have."""
    if (folder / STUDY).exists():
        yield _checked("search", folder / STUDY, _search)
    for name in DOCUMENTS:
        if (folder / name).exists():
            yield _checked("document", folder / name, _document)
    if (folder / EVALUATION).is_file() and (folder / EVALUATION_TABLE).is_file():
        yield _checked("table", folder / EVALUATION_TABLE, _evaluation_table)
    for below in sorted(folder.iterdir()) if folder.is_dir() else ():
        if below.is_dir() and not below.is_symlink():
            yield from _below(below)


def _checked(kind: str, path: Path, check: Callable[[Path], object]) -> Verification:
    try:
        check(path)
    except ResultError as error:
        return Verification(kind, path, str(error))
    except OSError as error:
        return Verification(kind, path, f"cannot read {error.filename or path}: {error.strerror or error}")
    return Verification(kind, path)


def _result(folder: Path) -> None:
    changed = store.changed_files(folder)
    if changed:
        raise ResultError(
            f"{folder}: changed or missing: {', '.join(changed)}. `headgate run --force` recomputes them."
        )

    provenance.check_name(folder, store.read_manifest(folder)["config_hash"])


def _sweep(folder: Path) -> None:
    sweep = Sweep.load(folder)
    sweep.check()
    if stored := sweep.manifest.get(HASH):  # earlier versions have none
        provenance.check_name(folder, stored)


def _search(file: Path) -> None:
    if stored := damage.check_file(file, STUDY_NAME):
        provenance.check_name(file.parent, stored)


def _unfinished(folder: Path) -> None:
    changed = receipts.changed_runs(folder)
    if changed:
        raise ResultError(f"{folder}: changed or missing: {', '.join(changed)}. The next run recomputes them.")
    provenance.check_unfinished(folder, store.SCENARIO)


def _document(file: Path) -> dict[str, Any]:
    """A document. Those of earlier versions, which have other forms, are only compared with their seal."""
    document, form = sealed.read(file, None), DOCUMENTS[file.name]
    if document.get("schema") not in range(1, forms.version(form)):
        forms.check(document, form, file)
    return document


def _evaluation_table(file: Path) -> None:
    """Compares the table of an evaluation with its document, which has a seal."""
    from headgate.evaluate.record import table_of

    try:
        document = _document(file.with_name(EVALUATION))
    except ResultError:
        return  # reported as the damaged document
    if document["schema"] != forms.version(DOCUMENTS[EVALUATION]):
        return
    with reading(file.with_name(EVALUATION)):
        expected = table_of(document)
    if not tables.parse(DISK.read(file, guarded.TABLE), file).equals(expected):
        raise ResultError(f"{file} is damaged: its numbers are not those of {EVALUATION}. {ADVICE}")
