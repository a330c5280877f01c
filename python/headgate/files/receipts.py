"""Receipts of finished runs: the SHA-256 of the files in a run's folder, in an unfinished result.

A receipt is the last file of a run. A run whose files differ from it is executed again.
"""

from pathlib import Path
from typing import Any

from headgate.errors import ResultError
from headgate.files import damage, sealed
from headgate.files.damage import sha256

NAME = "receipt.json"
RUNS = "unfinished"  # finished runs of a result that is not finished
CAPTURES = "captures"


def of(run: Path) -> dict[str, Any]:
    """The receipt of a folder with the files of a run."""
    files = sorted(file for file in run.rglob("*") if file.is_file())
    return {"files": {str(file.relative_to(run)): sha256(file) for file in files}}


def changed_runs(path: Path, name: str = "[!.]*") -> list[str]:
    """The files of finished runs in the unfinished result in `path` that differ from the receipt of their run.

    `name` selects a run; by default all runs are compared.

    Names are relative to `path` and begin with the run's folder, also for a file that an interrupted command had moved
    to its final place. A missing or damaged receipt is named itself.
    """
    changed = []
    for run in sorted(path.joinpath(RUNS).glob(name)):
        try:
            had_by_name = hashes(run)
        except ResultError:
            had_by_name = {NAME: ""}
        for name, had in had_by_name.items():
            file = run / name if (run / name).exists() else final_place(path, run.name, name)
            if not file.is_file() or sha256(file) != had:
                changed.append(str((run / name).relative_to(path)))
    return changed


def hashes(run: Path) -> dict[str, str]:
    """The SHA-256 of each file in the folder of a finished run; `ResultError` if its receipt is missing or damaged."""
    try:
        had: dict[str, str] = sealed.read(run / NAME, "receipt-1")["files"]
    except OSError as error:
        raise ResultError(f"{run / NAME} is damaged: {error.strerror or error}. {damage.ADVICE}") from None
    return had


def final_place(path: Path, run: str, name: str) -> Path:
    """The final place of a streamed table or a capture of a run, from its name in the run's folder."""
    file = Path(name)
    if file.parts[0] == CAPTURES:
        return path / CAPTURES / f"{run}-{file.name}"
    return path / file.stem / f"{run}{file.suffix}"
