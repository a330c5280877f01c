"""The folder of one result: finished runs first, then the final tables and the manifest.

Every file is written under a temporary name and renamed when it is complete. A finished run has a receipt with the
SHA-256 of its files. The manifest comes last: a folder with a manifest is a complete result, a folder without one can
be resumed.
"""

import functools
import math
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from headgate import _core, guarded, identity
from headgate.errors import ResultError, did_you_mean, warn_renamed
from headgate.files import damage, durable, folder_lock, forms, names, provenance, receipts, renamed, sealed, siblings
from headgate.files.damage import sha256
from headgate.files.disk import DISK
from headgate.files.names import folder_name as folder_name
from headgate.files.names import folders as folders
from headgate.files.names import slug as slug
from headgate.files.names import slug_of as slug_of
from headgate.files.receipts import CAPTURES as CAPTURES
from headgate.files.receipts import RUNS as RUNS
from headgate.files.receipts import RunIdentity
from headgate.files.sealed import json_text as json_text
from headgate.files.sealed import sealed_text as sealed_text
from headgate.files.writing import UNFINISHED as UNFINISHED
from headgate.files.writing import Content as Content
from headgate.files.writing import not_writable as not_writable
from headgate.files.writing import write_files as write_files
from headgate.files.writing import write_whole as write_whole
from headgate.scenario import RunKey, Scenario

SCHEMA = 2
FORM = f"manifest-{SCHEMA}"
MANIFEST = "manifest.json"
SCENARIO = "scenario.toml"
INPUTS = "inputs"
TIMING = "timing.json"
LIVE = "live.json"
REPORT = "report.html"
FIGURES = "figures"
BUILD = ".build"
WHY = "why"

#: The reason, in words, for writing a finished result again.
OTHER_BUILD = "the existing result is from another build of Headgate and would be replaced"


class Store:
    """A result folder that this process writes to."""

    def __init__(self, path: Path, scenario: Scenario) -> None:
        self.path = path
        self.scenario = scenario
        self.runs = path / RUNS
        self.damaged: list[str] = []
        """Damaged files in the folder, whose runs are executed again."""
        self._commits = durable.GroupCommit()

    @classmethod
    @contextmanager
    def open(cls, path: Path, scenario: Scenario, *, force: bool = False) -> Iterator[Self]:
        """Makes and locks the folder; removes it at the end if it is empty.

        Raises `ResultError` if another run writes to it, if it holds another scenario, or if it cannot be written and
        is not finished. `force` discards the runs and the manifest in the folder. Raises `UsageError` if two
        disciplines would have the same file names.
        """
        names.check_slugs(scenario)
        store = cls(path, scenario)
        with locked_folder(path, check_writable=False) as new_folders:
            try:
                store._prepare(force)
                yield store
            finally:
                store._commit()
                store._tidy(new_folders)

    def _prepare(self, force: bool) -> None:
        finished = self.complete
        if not force:
            provenance.check(self.path, self.scenario, certified=self._certified(), scenario_file=SCENARIO)
        same = not force and self._same_build()
        try:
            self.damaged = self._damaged() if same else []
            if not same or (self.complete and self.damaged):
                DISK.remove(self.path / MANIFEST)
                DISK.remove(self.path / REPORT)  # it describes the results that are removed here
                DISK.remove_tree(self.runs)
                DISK.remove_tree(self.path / renamed.UNFINISHED)
            if not self.complete:
                durable.make_folder(self.runs)
                for left in self.runs.glob(f"{UNFINISHED}*"):
                    DISK.remove_tree(left)
                write_whole(self.path / SCENARIO, self.scenario.to_toml())
                for name, data in self.scenario.inputs.items():
                    durable.make_folder((self.path / name).parent)
                    write_whole(self.path / name, data)
                write_whole(self.path / BUILD, build())
                # Without these files the finished runs would be discarded.
                self._commits.add(*(self.path / name for name in (SCENARIO, *self.scenario.inputs, BUILD)))
                if not force:
                    self._adopt()
        except OSError as error:
            raise not_writable(self.path, error, why=self._why() if finished and not force else "") from None

    def _adopt(self) -> None:
        """Takes over runs of an interrupted result that differs in its seeds alone. Real packets are never the same."""
        missing = [] if self.scenario.live else [run for run in self.scenario.runs if not self.has(run)]
        if not missing:
            return
        for folder in siblings.folders(self.path, self.scenario, build_file=BUILD, scenario_file=SCENARIO):
            for run in missing:
                if not self.has(run):
                    unfinished = self.runs / f"{UNFINISHED}{slug(run)}"
                    siblings.copy_run(folder, slug(run), unfinished, RunIdentity.of(self.scenario, run))

    def _certified(self) -> str | None:
        """The `config_hash` of the manifest; None if there is no intact one."""
        try:
            return str(read_manifest(self.path)["config_hash"]) if self.complete else None
        except ResultError:
            return None

    def _commit(self) -> None:
        """Waits until the finished runs are on the disk."""
        try:
            self._commits.commit()
        except OSError as error:
            raise not_writable(self.path, error) from None

    def _why(self) -> str:
        """The reason for writing a finished result again, as text."""
        return f"damaged files would be recomputed: {', '.join(self.damaged)}" if self.damaged else OTHER_BUILD

    def _damaged(self) -> list[str]:
        """The damaged files. In an unfinished result, the runs with damaged files are removed."""
        if self.complete:
            try:
                return changed_files(self.path)
            except ResultError:
                return [MANIFEST]
        changed = receipts.changed_runs(self.path)
        for run in {Path(name).parts[1] for name in changed}:
            DISK.remove_tree(self.runs / run)
        return changed

    def _same_build(self) -> bool:
        """Whether the existing runs are from this build of the simulator.

        Two builds of one version can differ during development. They must not share results.
        """
        file = self.path / BUILD
        return file.is_file() and DISK.read(file, guarded.DOCUMENT) == build().encode()

    def _tidy(self, new_folders: list[Path]) -> None:
        """Removes the folder's files if no run has finished."""
        if self.complete:
            with suppress(OSError):
                DISK.remove_tree(self.runs)  # a process that was killed after it wrote the manifest left it
            return
        if self.runs.is_dir() and any(self.runs.iterdir()):
            return
        with suppress(OSError):  # an error of the run itself is the one to report
            DISK.remove_tree(self.runs)
            for folder in new_folders:
                if folder == self.path:
                    DISK.remove(folder / SCENARIO)
                    DISK.remove_tree(folder / INPUTS)
                    DISK.remove(folder / BUILD)
                if folder.is_dir() and not any(folder.iterdir()):
                    DISK.remove_folder(folder)

    @property
    def complete(self) -> bool:
        """Whether the result is finished."""
        return (self.path / MANIFEST).is_file()

    def run(self, run: RunKey) -> Path:
        """The folder of a finished run, until all runs are finished."""
        return self.runs / slug(run)

    def has(self, run: RunKey) -> bool:
        """Whether `run` is finished."""
        return self.complete or self.run(run).is_dir()

    @contextmanager
    def writing(self, run: RunKey) -> Iterator[Path]:
        """A folder for the files of `run`. It gets a receipt and is kept on success; it is removed on an exception."""
        unfinished = self.runs / f"{UNFINISHED}{slug(run)}"
        DISK.make_folder(unfinished)
        try:
            yield unfinished
            write_json(unfinished / receipts.NAME, receipts.of(unfinished, RunIdentity.of(self.scenario, run)))
            DISK.rename(unfinished, self.run(run))
            self._commits.add(self.run(run))
        except BaseException:
            with suppress(OSError):
                DISK.remove_tree(unfinished)
            raise

    def hashes(self, run: RunKey) -> dict[str, str]:
        """The SHA-256 of each file of a finished run, from its receipt; `ResultError` if that is damaged."""
        return receipts.hashes(self.run(run))

    def move_streams(self) -> dict[Path, str]:
        """Moves the streamed tables and captures of every run to their final place; can be resumed.

        Returns their hashes, which are those of the receipts: a file that is damaged now is not certified again.
        """
        names = [*(f"{name}.parquet" for name in self.scenario.records),
                 *(f"{CAPTURES}/{link}.pcapng" for link in self.scenario.captures)]  # fmt: skip
        hashes = {}
        for run in self.scenario.runs:
            had = self.hashes(run)
            for name in names:
                final = receipts.final_place(self.path, slug(run), name)
                durable.make_folder(final.parent)
                if (self.run(run) / name).exists():
                    DISK.rename(self.run(run) / name, final)
                hashes[final] = had[name]
        return hashes

    def finish(self, hashes: Mapping[Path, str]) -> dict[str, Any]:
        """Writes the manifest, with the hash of each file, and removes the folders of single runs."""
        manifest = manifest_of(self.scenario, {str(file.relative_to(self.path)): had for file, had in hashes.items()})
        if self.scenario.live:
            manifest |= live_manifest(
                self.scenario, [read_json(self.run(run) / LIVE, "live-1") for run in self.scenario.runs]
            )
        self._commits.add(*hashes, self.path / TIMING)
        self._commits.commit()  # the manifest promises that these files are there
        write_json(self.path / MANIFEST, manifest)
        self._commits.add(self.path / MANIFEST)
        self._commits.commit()
        DISK.remove_tree(self.runs)
        return manifest


@contextmanager
def locked_folder(path: Path, *, check_writable: bool = True) -> Iterator[list[Path]]:
    """Makes and locks a folder during the context. Gives the folders that are new, innermost first.

    Raises `ResultError` if another process writes to it, or if it cannot be written. Without `check_writable`, no
    file is written to test this.
    """
    new_folders = _make_folder(path, check_writable)
    lock = folder_lock.lock(path)
    try:
        yield new_folders
    finally:
        os.close(lock)


@functools.cache
def build() -> str:
    """Identifies this build of the simulator: the SHA-256 of the compiled module."""
    return sha256(Path(_core.__file__))


def manifest_of(scenario: Scenario, hashes: dict[str, str]) -> dict[str, Any]:
    """The manifest of a finished result whose table files have these SHA-256 `hashes`."""
    return {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        "name": scenario.name,
        "config_hash": scenario.config_hash,
        "scenario": scenario.to_toml(),
        "inputs": {name: identity.of_bytes(data) for name, data in scenario.inputs.items()},
        "runs": [{"qdisc": run.qdisc, "seed": run.seed, "state": "done"} for run in scenario.runs],
        "tables": hashes,
    }


def live_manifest(scenario: Scenario, accuracies: list[dict[str, Any]]) -> dict[str, Any]:
    """Further keys of the manifest of a result on real packets: the kernel, and the accuracy of each run."""
    notes = dict.fromkeys(note for accuracy in accuracies for note in accuracy["notes"])
    measured = zip(scenario.runs, accuracies, strict=True)
    runs = [
        {"qdisc": run.qdisc, "seed": run.seed, **{name: accuracy[name] for name in accuracy if name != "notes"}}
        for run, accuracy in measured
    ]
    return {"world": str(scenario.world), "live": {**kernel(), "notes": list(notes), "runs": runs}}


def kernel() -> dict[str, Any]:
    """The kernel that sends and receives, and the congestion controllers that it has."""
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    return {"kernel": platform.release(), "controllers": guarded.of_kernel(available).split()}


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the result in `path`; `ResultError` if there is none that this version understands."""
    file = path / MANIFEST
    try:
        manifest = read_json(file, None)
    except (FileNotFoundError, NotADirectoryError):
        unfinished = any((path / name).is_dir() for name in (RUNS, renamed.UNFINISHED)) and (path / SCENARIO).is_file()
        why = "the run is not finished; repeat it to resume" if unfinished else f"it has no {MANIFEST}"
        if not path.exists():
            siblings = path.parent.iterdir() if path.parent.is_dir() else ()
            near = did_you_mean(path.name, [each.name for each in siblings if each.is_dir()])
            raise ResultError(f"there is no folder {path}{near}") from None
        raise ResultError(f"{path} is not a result: {why}") from None
    except OSError as error:
        raise ResultError(f"cannot read {file}: {error.strerror or error}") from None
    schema = manifest.get("schema")
    if schema not in (renamed.SCHEMA, SCHEMA):
        raise ResultError(f"{file} has schema {schema!r}; this version of Headgate reads schema {SCHEMA}")
    if schema == renamed.SCHEMA:
        manifest = renamed.manifest(manifest)
    forms.check(manifest, FORM, file)
    _check_config_hash(file, manifest)
    if schema == renamed.SCHEMA:
        warn_renamed(f"{path} is of an earlier version of Headgate: its tables are read with the names of this one")
    return manifest


def _check_config_hash(file: Path, manifest: dict[str, Any]) -> None:
    """Raises `ResultError` if the manifest's parts are not those that its `config_hash` identifies."""
    world = manifest.get("world", "")
    found = identity.of_scenario(manifest["scenario"], manifest["headgate"], manifest["inputs"], world)
    if found != manifest["config_hash"]:
        raise ResultError(f"{file} is damaged: its scenario is not the one that config_hash identifies")


def changed_files(path: Path) -> list[str]:
    """The files of the finished result in `path` that are missing or no longer have the hash in its manifest.

    Raises `ResultError` if there is no manifest that this version understands.
    """
    manifest = read_manifest(path)
    scenario_hash = identity.of_text(manifest["scenario"])
    changed = damage.changed_files(path, {**manifest["tables"], **manifest["inputs"], SCENARIO: scenario_hash})
    try:
        read_timing(path)
    except (OSError, ResultError):
        changed.append(TIMING)
    return changed


def read_timing(path: Path) -> list[dict[str, Any]]:
    """The cost of each run of the result in `path`; `ResultError` if timing.json is damaged."""
    document = renamed.runs(read_json(path / TIMING, None))
    forms.check(document, "timing-1", path / TIMING)
    rows: list[dict[str, Any]] = document["runs"]
    return rows


def read_json(file: Path, form: str | None) -> dict[str, Any]:
    """A JSON file that Headgate wrote, of this form; `ResultError` if it is damaged."""
    return sealed.read(file, form)


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Writes a JSON file atomically, with the hash of its content."""
    write_whole(file, sealed.sealed_text(value))


def without_nan(value: Any) -> Any:
    """The value with None in place of NaN and infinity."""
    if isinstance(value, Mapping):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _make_folder(path: Path, check_writable: bool) -> list[Path]:
    """Makes the folder and, if `check_writable`, writes a test file. Gives the new folders, innermost first."""
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        durable.make_folder(path)
        if check_writable:
            write_whole(path / f"{UNFINISHED}probe", "")
            DISK.remove(path / f"{UNFINISHED}probe")
    except OSError as error:
        for folder in new:
            if folder.is_dir():
                DISK.remove_folder(folder)
        raise not_writable(path, error) from None
    return new
