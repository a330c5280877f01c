"""Runs a result's scenario again and compares the files byte for byte."""

from pathlib import Path
from typing import NamedTuple

from headgate import style
from headgate._core import VERSION
from headgate.api import run_into
from headgate.errors import ResultError, UsageError
from headgate.execution.runner import Watcher
from headgate.files import store
from headgate.files.damage import sha256
from headgate.results import Result


class RerunComparison(NamedTuple):
    """A rerun's result, the number of compared files, and one line for each difference."""

    result: Result
    files: int
    differences: list[str]


def rerun(old: Result, parent: Path, *, threads: int | None = None, watcher: Watcher | None = None) -> RerunComparison:
    """Runs the scenario in the manifest of `old` into a new folder below `parent` and compares the files.

    timing.json is not compared.
    """
    if old.path is None:
        raise ResultError("a result in memory has no files to compare with")
    if old.scenario.live:
        raise UsageError(
            "runs on real packets cannot be repeated exactly: use headgate run --live --force to run again, "
            "or for the kernel's queues headgate compare --worlds live,kernel in another folder"
        )
    path = parent / store.folder_name(old.scenario)
    if path.exists():
        raise ResultError(f"{path} exists: give another folder with --out")
    report = (old.path / store.REPORT).is_file()
    figures = [name for name in style.FIGURES if (old.path / store.FIGURES / f"{name}.svg").is_file()]
    new = run_into(path, old.scenario, threads=threads, report=report, figures=figures, watcher=watcher)
    return RerunComparison(new, len(_files(path)), _differences(old, old.path, path))


def _differences(old: Result, old_path: Path, path: Path) -> list[str]:
    """The differences between the folder of `old` and the folder `path`, a line each."""
    differences = []
    if old.manifest["headgate"] != VERSION:
        differences.append(f"version: the result was made by Headgate {old.manifest['headgate']}, this is {VERSION}")
    before, after = _files(old_path), _files(path)
    differences += [f"{name}: only in the result" for name in sorted(before - after)]
    differences += [f"{name}: only in the rerun" for name in sorted(after - before)]
    for name in sorted(before & after):
        if sha256(old_path / name) != sha256(path / name):
            differences.append(f"{name}: differs")
    return differences


def _files(path: Path) -> set[str]:
    """All files below `path` except timing.json, the hash of the build, and explanations."""
    files = {file.relative_to(path) for file in path.rglob("*") if file.is_file()}
    return {str(file) for file in files if file.parts[0] not in (store.TIMING, store.BUILD, store.WHY)}
