"""A process that is killed at any write loses nothing: the same command resumes to the same bytes."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import headgate
from headgate.execution.runner import Watcher
from headgate.files import receipts, store
from tests.conftest import SMALL

#: Kills of each command, each at another change of a file: at most as many as it makes.
KILLS = int(os.environ.get("HEADGATE_KILLS", "10"))

#: Runs the job in the last argument. Counts the changes of files below a folder, and kills itself at the chosen one.
SCRIPT = """\
import os, signal, sys
folder, last, job = sys.argv[1], int(sys.argv[2]), sys.argv[3]
import headgate
count = 0
def hook(event, words):
    global count
    changes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir") or (
        event == "open" and isinstance(words[1], str) and "w" in words[1])
    if changes and str(words[0]).startswith(folder):
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
exec(job)
print(count)
"""

RUN = "headgate.run('small.toml', out={folder!r}, seeds=2, report=False, threads=1)"
SWEEP = "headgate.sweep('small.toml', grid={{'link.rate': ['1Mbit/s', '2Mbit/s']}}, out={folder!r}, threads=1)"


def execute(job: str, folder: Path, last: int = 0) -> subprocess.CompletedProcess[str]:
    """Does a job in a process of its own, which kills itself at its `last` change of a file (0: never)."""
    words = [sys.executable, "-c", SCRIPT, str(folder), str(last), job.format(folder=str(folder))]
    return subprocess.run(words, cwd=folder.parent, capture_output=True, text=True, check=False)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that a repetition writes with the same bytes."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != store.TIMING)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.parametrize("job", [RUN, SWEEP], ids=["run", "sweep"])
def test_a_command_killed_at_any_write_resumes_to_the_same_bytes(tmp_path: Path, job: str):
    (tmp_path / "small.toml").write_text(SMALL.replace("\n[link]", "record.events = 'all'\n\n[link]", 1))
    whole = execute(job, tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    changes, expected = int(whole.stdout), contents(tmp_path / "whole")
    assert changes > 20
    moments = sorted(random.Random("kills").sample(range(1, changes + 1), min(KILLS, changes)))
    for moment in [*moments[:-1], changes]:
        folder = tmp_path / f"killed-{moment}"
        assert execute(job, folder, moment).returncode == -signal.SIGKILL
        resumed = execute(job, folder)
        assert resumed.returncode == 0, f"{moment} of {changes}: {resumed.stderr}"
        assert contents(folder) == expected, f"killed at change {moment} of {changes}"


def test_damaged_files_of_an_unfinished_run_are_named_and_the_run_is_executed_again(tmp_path: Path):
    class Messages(Watcher):
        def __init__(self) -> None:
            self.messages: list[str] = []

        def tell(self, sentence: str) -> None:
            self.messages.append(sentence)

    (tmp_path / "small.toml").write_text(SMALL)
    whole = execute(RUN, tmp_path / "whole")
    assert execute(RUN, tmp_path / "cut", int(whole.stdout) * 2 // 3).returncode == -signal.SIGKILL
    (folder,) = (tmp_path / "cut").iterdir()
    finished = sorted((folder / receipts.RUNS).glob("[!.]*"))
    assert len(finished) >= 2
    for file in (finished[0] / "flows.parquet", finished[1] / receipts.NAME):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 4
        file.write_bytes(data)
    seen = Messages()
    headgate.run(tmp_path / "small.toml", out=tmp_path / "cut", seeds=2, report=False, watcher=seen)
    names = f"unfinished/{finished[0].name}/flows.parquet, unfinished/{finished[1].name}/{receipts.NAME}"
    assert seen.messages == [f"damaged files in {folder} are recomputed: {names}"]
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")
