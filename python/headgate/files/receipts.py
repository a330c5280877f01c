"""Receipts of finished runs in an unfinished result: the identity of the run, and the SHA-256 of its files.

A receipt is the last file of a run. A run whose files differ from it is executed again.
"""

from pathlib import Path
from typing import Any, NamedTuple, Self

from headgate.errors import ResultError
from headgate.files import damage, sealed
from headgate.files.damage import sha256
from headgate.scenario import RunKey, Scenario

NAME = "receipt.json"
FORM = "receipt-1"
RUNS = "unfinished"  # finished runs of a result that is not finished
CAPTURES = "captures"


class RunIdentity(NamedTuple):
    """A run in full: the `config_hash` of its scenario with its seed alone, its discipline with settings, its seed.

    It does not depend on the scenario's other seeds. The hash tells simulations from runs on real packets.
    """

    config_hash: str
    qdisc: str
    seed: int

    @classmethod
    def of(cls, scenario: Scenario, run: RunKey) -> Self:
        """The identity of a run of `scenario`."""
        return cls(scenario.of_seed(run.seed).config_hash, run.qdisc, run.seed)


def of(run: Path, identity: RunIdentity) -> dict[str, Any]:
    """The receipt of a folder with the files of a run."""
    files = sorted(file for file in run.rglob("*") if file.is_file())
    return {"run": identity._asdict(), "files": {str(file.relative_to(run)): sha256(file) for file in files}}


def identities(path: Path) -> dict[str, RunIdentity | None]:
    """The identity of each finished run in the unfinished result in `path`, by the name of its folder.

    None for a receipt of an earlier version. Runs with a damaged receipt are left out.
    """
    found: dict[str, RunIdentity | None] = {}
    for run in sorted(path.joinpath(RUNS).glob("[!.]*")):
        try:
            found[run.name] = identity_of(run)
        except ResultError:
            continue
    return found


def identity_of(run: Path) -> RunIdentity | None:
    """The identity in a run's receipt, None in one of an earlier version; `ResultError` if it is damaged."""
    stored = _read(run).get("run")
    return None if stored is None else RunIdentity(**stored)


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
    had: dict[str, str] = _read(run)["files"]
    return had


def _read(run: Path) -> dict[str, Any]:
    try:
        return sealed.read(run / NAME, FORM)
    except OSError as error:
        raise ResultError(f"{run / NAME} is damaged: {error.strerror or error}. {damage.ADVICE}") from None


def final_place(path: Path, run: str, name: str) -> Path:
    """The final place of a streamed table or a capture of a run, from its name in the run's folder."""
    file = Path(name)
    if file.parts[0] == CAPTURES:
        return path / CAPTURES / f"{run}-{file.name}"
    return path / file.stem / f"{run}{file.suffix}"
