"""A search's database: damage is named, a full disk is no damage, and no search begins anew silently."""

import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.errors import ResultError
from tests.tune.conftest import plan_of

pytest.importorskip("optuna")

from headgate.tuning.search import Search
from headgate.tuning.study import FILE, SearchPlan, TrialStore

#: Single-bit flips of the database.
FLIPS = 100


@pytest.fixture(scope="module")
def plan() -> SearchPlan:
    return plan_of("red", ["maxp=0.01..0.5", "gentle"], ["p95 queue delay"], ["utilization >= 0.9"])


@pytest.fixture(scope="module")
def searched(plan: SearchPlan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a finished search."""
    folder = tmp_path_factory.mktemp("search")
    Search(plan, folder).run(4)
    return folder / FILE


def test_no_flipped_bit_changes_a_trial_silently(plan: SearchPlan, searched: Path, tmp_path: Path):
    shutil.copy(searched, tmp_path / FILE)
    expected, data = TrialStore(tmp_path, plan).trials, searched.read_bytes()
    assert len(expected) == 4
    draws, named = random.Random("flips"), 0
    used = [place for place, byte in enumerate(data) if byte]  # most of a page is free space, full of zeros
    for _ in range(FLIPS):
        place = draws.choice(used)
        flipped = data[:place] + bytes([data[place] ^ 1 << draws.randrange(8)]) + data[place + 1 :]
        (tmp_path / FILE).write_bytes(flipped)
        try:
            trials = TrialStore(tmp_path, plan).trials
        except ResultError as error:
            named += 1
            assert str(tmp_path / FILE) in str(error)  # noqa: PT017 - not every flip is an error
        else:
            assert trials == expected, f"byte {place} changed a trial"
    assert named > 0


def test_the_name_of_a_study_is_part_of_it(plan: SearchPlan, searched: Path, tmp_path: Path):
    import sqlite3
    from contextlib import closing

    shutil.copy(searched, tmp_path / FILE)
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("update studies set study_name = 'tunf'")
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ResultError, match=r"study\.db is damaged \(it has another study\)\. Restore a copy"):
        TrialStore(tmp_path, plan)
    assert (tmp_path / FILE).read_bytes() == before


def test_an_empty_study_is_that_of_a_stopped_search_until_a_trial_was_stored(plan: SearchPlan, tmp_path: Path):
    (tmp_path / FILE).touch()
    Search(plan, tmp_path).run(2)
    (tmp_path / FILE).write_bytes(b"")
    for _ in range(2):
        with pytest.raises(ResultError, match=r"study\.db is damaged \(it is empty, and trials were stored in it\)"):
            TrialStore(tmp_path, plan)
        assert (tmp_path / FILE).read_bytes() == b""
    (tmp_path / FILE).unlink()
    assert TrialStore(tmp_path, plan).trials == {}
    assert TrialStore(tmp_path, plan).trials == {}  # the search was begun anew, so an empty study is no damage


#: Writes to a database in a transaction until its pages leave the cache, and is killed before the end.
HALF_STORED = """\
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for sql in ("pragma cache_size = 1", "begin", "create table big (content)"):
    database.execute(sql)
for _ in range(100):
    database.execute("insert into big values (?)", ("x" * 4000,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_half_stored_trial_is_undone(plan: SearchPlan, searched: Path, tmp_path: Path):
    expected = TrialStore(searched.parent, plan).trials
    shutil.copy(searched, tmp_path / FILE)
    subprocess.run([sys.executable, "-c", HALF_STORED, str(tmp_path / FILE)], check=False)
    journal = tmp_path / f"{FILE}-journal"
    assert journal.stat().st_size > 0
    assert (tmp_path / FILE).stat().st_size > searched.stat().st_size
    assert TrialStore(tmp_path, plan).trials == expected
    assert not journal.exists()
    assert (tmp_path / FILE).stat().st_size == searched.stat().st_size


def test_a_full_disk_is_no_damage_and_the_search_continues(tmp_path: Path, small: Path):
    words = ["-m", "headgate", "tune", str(small), "--trials", "4", "--held-out", "2", "--seeds", "1", "--json"]
    words += ["--qdisc", "red", "--objective", "p95 queue delay", "--set", "duration=2s"]
    # No file may grow beyond 1024-byte blocks of this number: Optuna's empty database needs some 130.
    ends = []
    for blocks in (64, 136, 150):
        limited = f"ulimit -f {blocks}; exec {shlex.join([sys.executable, *words])}"
        ends.append(subprocess.run(["bash", "-c", limited], cwd=tmp_path, capture_output=True, text=True, check=False))
    failed = [done for done in ends if done.returncode]
    assert failed
    for done in failed:
        assert done.returncode == 3, done.stderr
        assert done.stderr.startswith("error: cannot write ")
        assert "remove" not in done.stderr
        assert "damaged" not in done.stderr
    again = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode in (0, 1), again.stderr
    assert '"tried": 4' in again.stdout
