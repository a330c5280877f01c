"""A process that is killed at any moment loses nothing: the same command resumes to the same results."""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.execution.runner import Watcher
from headgate.files import receipts
from tests.conftest import SMALL
from tests.storage.killed import contents, execute

#: Kills of each command: half at changes of files, half at moments.
KILLS = int(os.environ.get("HEADGATE_KILLS", "6"))

#: Streams events, which are files of their own while a run is unfinished.
STREAMED = SMALL.replace("\n[link]", "record.events = 'all'\n\n[link]", 1)

#: Half a second of one discipline, with an expectation.
BRIEF = SMALL.replace('"4s"', '"500ms"').replace('warmup = "1s"', 'warmup = "0s"')
BRIEF = BRIEF.replace('"faba"]', '"faba"]\nexpect = ["utilization > 0.01"]')

#: The commands that take long and write. `OUT` is the folder.
COMMANDS = {
    "run": "run streamed.toml --seeds 2 --no-report --threads 1 --out OUT",
    "sweep": "sweep swept.toml --threads 1 --out OUT",
    "check": "check brief.toml --threads 1 --out OUT --junit OUT/junit.xml",
    "tune": "tune brief.toml --qdisc red --objective jain --param maxp=0.1..0.5 --trials 10 --seeds 1 --held-out 2 "
    "--threads 1 --json --out OUT",
    "sensitivity": "sensitivity brief.toml --qdisc red --param maxp=0.1..0.2 --seeds 2 --threads 1 --out OUT",
    "paper": "paper run blue/fred --quick --seeds 1 --threads 1 --out OUT",
    "evaluate": "evaluate red --section 4 --quick --seeds 1 --threads 1 --out OUT",
}


@pytest.fixture
def scenarios(home: Path) -> Path:
    """A folder in memory with the scenarios of the commands."""
    swept = STREAMED + '[sweep]\ngrid = { "link.rate" = ["1Mbit/s", "2Mbit/s"] }\n'
    for name, text in {"streamed": STREAMED, "swept": swept, "brief": BRIEF}.items():
        (home / f"{name}.toml").write_text(text)
    return home


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_resumes_to_the_same_results(name: str, scenarios: Path):
    if name == "tune":
        pytest.importorskip("optuna")
    command = COMMANDS[name]
    whole = execute(command, scenarios / "whole")
    assert whole.code == 0, whole.output
    assert whole.changes > 20
    expected = contents(scenarios / "whole")
    draws = random.Random(f"kills {name}")
    at_changes = sorted(draws.sample(range(1, whole.changes), min(KILLS // 2, whole.changes) - 1))
    kills: list[dict[str, Any]] = [{"change": change} for change in [*at_changes, whole.changes]]
    kills += [{"seconds": whole.seconds * draws.random()} for _ in range(KILLS - len(kills))]
    for number, kill in enumerate(kills):
        folder = scenarios / f"killed-{number}"
        kill_once(command, folder, kill)
        resumed = execute(command, folder)
        assert resumed.code == 0, f"killed at {kill}: {resumed.output}"
        assert contents(folder) == expected, f"killed at {kill} of {whole.changes} changes and {whole.seconds} s"
        shutil.rmtree(folder)


def kill_once(command: str, folder: Path, kill: dict[str, Any]) -> None:
    """Does a command and kills it. One that has ended before the moment is done again and killed in half the time.

    The machine may have become faster since the time of a whole command was measured.
    """
    while not execute(command, folder, **kill).killed:
        assert "seconds" in kill, f"the command ended before its change {kill['change']}"
        kill["seconds"] /= 2
        shutil.rmtree(folder)


def test_damaged_files_of_an_unfinished_run_are_named_and_the_run_is_executed_again(scenarios: Path):
    class Messages(Watcher):
        def __init__(self) -> None:
            self.messages: list[str] = []

        def tell(self, sentence: str) -> None:
            self.messages.append(sentence)

    whole = execute(COMMANDS["run"], scenarios / "whole")
    assert execute(COMMANDS["run"], scenarios / "cut", change=whole.changes * 2 // 3).killed
    (folder,) = (scenarios / "cut").iterdir()
    finished = sorted((folder / receipts.RUNS).glob("[!.]*"))
    assert len(finished) >= 2
    for file in (finished[0] / "flows.parquet", finished[1] / receipts.NAME):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 4
        file.write_bytes(data)
    seen = Messages()
    headgate.run(scenarios / "streamed.toml", out=scenarios / "cut", seeds=2, report=False, watcher=seen)
    names = f"unfinished/{finished[0].name}/flows.parquet, unfinished/{finished[1].name}/{receipts.NAME}"
    assert seen.messages == [f"damaged files in {folder} are recomputed: {names}"]
    assert contents(scenarios / "cut") == contents(scenarios / "whole")
