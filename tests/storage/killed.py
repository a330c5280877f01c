"""A command in a process of its own, which is killed by SIGKILL: at a change of a file, or at a moment.

Processes are forked from one that has imported everything (`multiprocessing`'s fork server). So a kill takes a fraction
of a second, and all kills are in the work of the command.
"""

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from headgate.files import store

#: Modules that commands import when they need them. They are imported before the first process is forked, if installed.
IMPORTED = (
    "headgate.api", "headgate.cli", "headgate.evaluate.record", "headgate.expectations.verdicts",
    "headgate.experiment.record", "headgate.papers.blue", "headgate.plot.picture", "headgate.sweeps.running",
    "headgate.tuning.outcome", "headgate.tuning.search", "headgate.tuning.tuned", "alembic.command", "jinja2",
    "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "optuna.storages._rdb.models", "pandas",
    "pyarrow.pandas_compat", "sqlalchemy.dialects.sqlite", __name__,
)  # fmt: skip

#: Numbers of processor and wall-clock time, which differ in each process, and the seal of the document with them.
COSTS = ("cpu_s", "wall_s", "sha256")

#: Optuna's database of a search. Its bytes hold dates, so its trials are compared.
STUDY = "study.db"

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(list(IMPORTED))


class Ended(NamedTuple):
    """An ended process: its exit code (negative: killed by this signal), output, changes of files, and duration."""

    code: int | None
    output: str
    changes: int
    seconds: float

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def execute(command: str, folder: Path, *, change: int = 0, seconds: float | None = None) -> Ended:
    """Does a command that writes below `folder`. Kills it at its `change`-th change of a file, or after `seconds`."""
    ours, theirs = _forks.Pipe()
    process = _forks.Process(target=_work, args=(command, folder, change, theirs))
    process.start()
    theirs.close()
    ours.recv()  # it begins
    began = time.monotonic()
    if seconds is not None:
        process.join(seconds)
        process.kill()
    process.join()
    try:
        output, changes = ours.recv()
    except EOFError:
        output, changes = "", 0
    return Ended(process.exitcode, output, changes, time.monotonic() - began)


def _work(command: str, folder: Path, change: int, report: Connection) -> None:
    from headgate.cli import app

    os.chdir(folder.parent)
    counter = ChangeCounter(str(folder), change)
    sys.addaudithook(counter.count)
    report.send("begins")
    done = CliRunner().invoke(app, command.replace("OUT", str(folder)).split(), catch_exceptions=False)
    report.send((done.output, counter.changes))
    os._exit(done.exit_code)  # the end of the interpreter is no part of the command


class ChangeCounter:
    """Counts the changes of files below a folder. Kills the process at number `last`; 0: never."""

    def __init__(self, folder: str, last: int) -> None:
        self.folder, self.last, self.changes = folder, last, 0

    def count(self, event: str, words: tuple[Any, ...]) -> None:
        """A hook for Python's audit events. SQLite's own writes have none."""
        changes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "sqlite3.connect") or (
            event == "open" and isinstance(words[1], str) and "w" in words[1]
        )
        if changes and str(words[0]).startswith(self.folder):
            self.changes += 1
            if self.changes == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


def contents(folder: Path) -> dict[str, object]:
    """Every file that a repetition writes equally: its bytes, a document without its costs, or a search's trials."""
    return dict(_contents(folder, (file for file in folder.rglob("*") if file.is_file())))


def _contents(folder: Path, files: Iterable[Path]) -> Iterable[tuple[str, object]]:
    for file in files:
        name = str(file.relative_to(folder))
        if file.name == STUDY:
            yield name, trials(file)
        elif file.suffix == ".json" and file.name != store.TIMING:
            document = json.loads(file.read_bytes())
            # The seal covers the costs, so a document without costs is compared whole.
            costs = COSTS if "cpu_s" in document else ()
            yield name, {key: value for key, value in document.items() if key not in costs}
        elif file.name != store.TIMING:
            yield name, file.read_bytes()


def trials(file: Path) -> list[dict[str, object]]:
    """The trials of a search in order, without their dates and costs."""
    import optuna

    found = optuna.load_study(study_name="tune", storage=f"sqlite:///{file}").trials
    rows = [{**each.user_attrs, "values": each.values, "params": each.params, "state": each.state} for each in found]
    return sorted(({key: row[key] for key in row if key not in COSTS} for row in rows), key=lambda row: row["number"])
