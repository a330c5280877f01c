"""Thousands of faults of the disk: what a command reports as finished is there and right, and the rest is redone.

`HEADGATE_SCHEDULES=5000` sets the number of schedules of each command.
"""

import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import headgate
from headgate import report
from headgate.errors import HeadgateError
from headgate.execution import batch
from headgate.execution.runner import FinishedRun, execute_run
from headgate.files import durable, sealed, store, tables, writing
from headgate.sweeps import bundle, work
from headgate.verify import verify
from tests.storage.faulty import KINDS, Died, FaultyDisk

#: Schedules of each command. Each breaks the command once, and then repeats it without a fault.
SCHEDULES = int(os.environ.get("HEADGATE_SCHEDULES", "100"))

#: A sweep cannot capture.
CAPTURE = ', capture = ["bottleneck"]'

#: Two runs of 20 ms with streamed events and a capture.
TINY = f"""\
name = "tiny"
duration = "20ms"
warmup = "0s"
qdiscs = ["droptail"]
seeds = 2
record = {{ interval = "20ms", events = "all"{CAPTURE} }}

[link]
rate = "1Mbit/s"
delay = "1ms"
limit = "5p"

[[tcp]]
"""


class Command(NamedTuple):
    """A command that writes below a folder, and the check of a folder of which it said that it is finished.

    `quicken` replaces the parts that take long and do not touch the disk.
    """

    execute: Callable[[Path], object]
    check: Callable[[Path], object]
    quicken: Callable[[pytest.MonkeyPatch], object] = id


def run(folder: Path) -> None:
    headgate.run(headgate.Scenario.parse(TINY), out=folder, threads=1)


def sweep(folder: Path) -> None:
    scenario = headgate.Scenario.parse(TINY.replace(CAPTURE, ""), seeds=1)
    headgate.sweep(scenario, grid={"link.rate": ["1Mbit/s", "2Mbit/s"]}, out=folder, threads=1)


def bundled_sweep(folder: Path) -> None:
    scenario = headgate.Scenario.parse(TINY.replace(CAPTURE, ""), seeds=2)
    swept = headgate.sweep(scenario, grid={"link.rate": ["1Mbit/s", "2Mbit/s"]}, out=folder, threads=1)
    assert len({*swept.points["file"].to_pylist()}) == 2


def document(folder: Path) -> None:
    texts = {f"{number}.json": sealed.sealed_text({"number": number, "text": "x" * 9000}) for number in range(3)}
    writing.write_files(folder / "documents", texts)


def sealed_documents(folder: Path) -> None:
    for number in range(3):
        assert sealed.read(folder / "documents" / f"{number}.json", None)["number"] == number


def verified(folder: Path) -> None:
    assert [each.damage for each in verify(folder)] == [""]


def replay_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are simulated once and then replayed, tables are their bytes, and pages have no figures.

    The files are those of real runs, but a result's table is made by joining bytes: coding Parquet would take most of
    the time. `test_kills.py` stops whole commands.
    """
    replayed: dict[object, tuple[FinishedRun, list[tuple[int, Any, Any]]]] = {}
    encode, tables_of = tables.to_bytes, batch.tables_of

    def execute(scenario: Any, run: Any, progress: Any, *recorders: Any) -> FinishedRun:
        if run not in replayed:
            calls: list[tuple[int, Any, Any]] = []
            keep = [lambda *call, number=number: calls.append((number, *call)) for number in range(len(recorders))]
            replayed[run] = execute_run(scenario, run, progress, *keep), calls
        finished, calls = replayed[run]
        for number, name, data in calls:
            recorders[number](name, data)
        return finished

    @cache
    def encoded(outcome: Any, world: Any) -> dict[str, bytes]:
        return {name: encode(table) for name, table in tables_of(outcome, world).items()}

    monkeypatch.setattr(batch, "execute_run", execute)
    monkeypatch.setattr(batch, "tables_of", encoded)
    monkeypatch.setattr(tables, "to_bytes", lambda whole: whole)
    monkeypatch.setattr(tables, "parse", lambda data, _: data)
    monkeypatch.setattr(tables, "concat", b"".join)
    monkeypatch.setattr("headgate.plot.pictures", lambda *_, **__: {})
    monkeypatch.setattr(report, "page", lambda *_: "page")


def replay_runs_of_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a sweep are simulated once; their files are those of the first time."""
    ran: dict[tuple[str, ...], Any] = {}
    first_run = work.run

    def replayed(runs: Any, kept: Any, progress: Any) -> Any:
        ready = list(runs)
        names = tuple(each.hash for each in ready)
        if names not in ran:
            ran[names] = first_run(ready, kept, progress)
        return ran[names]

    monkeypatch.setattr(work, "run", replayed)


def replay_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of a sweep are in bundles of two."""
    monkeypatch.setattr(bundle, "MOST_RUNS", 2)
    monkeypatch.setattr(bundle, "LEAST_BUNDLES", 1)
    replay_runs_of_sweeps(monkeypatch)


COMMANDS = {
    "run": Command(run, verified, replay_runs),
    "sweep": Command(sweep, verified, replay_runs_of_sweeps),
    "bundles": Command(bundled_sweep, verified, replay_bundles),
    "document": Command(document, sealed_documents),
}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that a repetition writes with the same bytes."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != store.TIMING)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


#: The faults in turn. After `afterwards` the power fails when the command has finished.
TURNS = ("afterwards", "power", "kill", "power", "error", "full", "power", "flip")


def schedules(operations: int, count: int) -> Iterator[tuple[str, int, int]]:
    """Kind of fault, number of the operation (0: none), and seed."""
    assert {*TURNS} == {"afterwards", *KINDS}
    draws = random.Random("schedules")
    for seed in range(count):
        kind = TURNS[seed % len(TURNS)]
        yield ("power", 0, seed) if kind == "afterwards" else (kind, draws.randrange(1, operations + 1), seed)


def broken(command: Command, folder: Path, disk: FaultyDisk) -> bool:
    """Does the command on a faulty disk. Returns whether it finished; any error but ours is one of the test."""
    try:
        command.execute(folder)
    except Died:
        return False
    except HeadgateError:
        return False
    return not disk.dead


@pytest.mark.parametrize("commits", [0.0, 1e9], ids=["commits at once", "commits at the end"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_fault_of_the_disk_loses_finished_work_or_certifies_damage(
    name: str, commits: float, home: Path, monkeypatch: pytest.MonkeyPatch
):
    command, folder = COMMANDS[name], home / "results"
    monkeypatch.setattr(durable, "COMMIT_S", commits)
    command.quicken(monkeypatch)
    counter = FaultyDisk(home)
    with monkeypatch.context() as patched:
        counter.install(patched)
        command.execute(folder)
    expected = contents(folder)
    finished_in_spite = 0
    for kind, at, seed in schedules(counter.count, SCHEDULES):
        shutil.rmtree(folder, ignore_errors=True)  # a power failure may have left no folder
        disk = FaultyDisk(home, kind, at, f"{name} {seed}")
        shown = f"{name}: {kind} at operation {at} of {counter.count}, seed {seed}"
        with monkeypatch.context() as patched:
            disk.install(patched)
            finished = broken(command, folder, disk)
        if kind == "power":
            disk.lose_power()  # if the command has finished, the power fails right afterwards
        if finished:
            finished_in_spite += 1
            if kind != "flip":  # a file that was read wrongly while it was hashed is named as damaged, and redone
                command.check(folder)
                # The folders of single runs may be there again: their removal need not be on the disk.
                assert expected.items() <= contents(folder).items(), shown
        with monkeypatch.context() as patched:
            FaultyDisk(home).install(patched)  # without a fault, but also without waiting for the real disk
            command.execute(folder)
        assert contents(folder) == expected, shown
        command.check(folder)
    assert finished_in_spite < SCHEDULES


def test_a_faulty_disk_loses_only_what_was_not_synced(home: Path):
    synced_lost, unsynced_lost = 0, 0
    for seed in itertools.count():
        disk = FaultyDisk(home, seed=seed)
        disk.write(home / "synced", b"1234")
        disk.sync(home / "synced")
        disk.sync(home)
        disk.write(home / "unsynced", b"1234")
        disk.lose_power()
        kept = {file.name: file.read_bytes() for file in home.iterdir()}
        synced_lost += kept.pop("synced", b"") != b"1234"
        unsynced_lost += kept.pop("unsynced", b"") != b"1234"
        shutil.rmtree(home)
        home.mkdir()
        if seed == 50:
            break
    assert synced_lost == 0
    assert unsynced_lost > 20
