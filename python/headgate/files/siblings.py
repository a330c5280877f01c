"""Finished runs of an interrupted result that another result needs: the same scenario with other seeds.

The folder of a result is named after its scenario, seeds included. After an interrupted `--seeds 30`, the command with
`--seeds 3` therefore writes another folder, but its runs are the same.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from headgate import guarded
from headgate._core import ScenarioError
from headgate.errors import HeadgateError, ResultError
from headgate.files import receipts
from headgate.files.disk import DISK
from headgate.files.receipts import RunIdentity
from headgate.scenario import Scenario


def folders(path: Path, scenario: Scenario, *, build_file: str, scenario_file: str) -> Iterator[Path]:
    """The folders beside `path` with an unfinished result of `scenario` with other seeds, of the same build.

    `build_file` and `scenario_file` are the names of these files in a folder.
    """
    build = DISK.read(path / build_file, guarded.DOCUMENT)
    for folder in sorted(path.parent.glob(f"{scenario.name}-*")):
        if folder != path and (folder / receipts.RUNS).is_dir():
            try:
                same_build = DISK.read(folder / build_file, guarded.DOCUMENT) == build
            except OSError:
                same_build = False
            if same_build and _same(folder / scenario_file, scenario):
                yield folder


def copy_run(folder: Path, name: str, into: Path, wanted: RunIdentity) -> bool:
    """Copies the run called `name` from the unfinished result in `folder`.

    Returns whether it was there, undamaged, and the `wanted` one.

    The copy appears whole: it is made under the temporary name `into` and renamed.
    """
    run = folder / receipts.RUNS / name
    try:
        if not run.is_dir() or receipts.changed_runs(folder, name):
            return False
        DISK.copy_tree(run, into)
        # An interrupted command may have moved streamed tables to their final place, so that the copy lacks them.
        if receipts.identity_of(into) != wanted or any(not (into / file).is_file() for file in receipts.hashes(into)):
            DISK.remove_tree(into)
            return False
        DISK.rename(into, into.with_name(name))
    except (OSError, ResultError):  # such as that the other command has just finished and removed it
        with suppress(OSError):
            DISK.remove_tree(into)
        return False
    return True


def _same(file: Path, scenario: Scenario) -> bool:
    """Whether the scenario in `file` is `scenario`, apart from its seeds."""
    try:
        other = Scenario.load(file).changed(seeds=scenario.seeds)
    except (ScenarioError, HeadgateError, OSError):
        return False
    return other.to_toml() == scenario.to_toml() and other.inputs == scenario.inputs
