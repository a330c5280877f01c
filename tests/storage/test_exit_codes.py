"""Storage that fails ends each command with exit code 3 and one message, without a traceback."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from headgate.errors import ResultError
from tests import needs
from tests.conftest import SMALL, Command, CommandOutput
from tests.live.test_run import skip_without_namespaces
from tests.storage.faulty import FaultyDisk

pytest.importorskip("duckdb")
pytest.importorskip("optuna")

#: Two runs of a second, with an expectation that holds.
SHORT = SMALL.replace('"4s"', '"1s"').replace('warmup = "1s"', 'warmup = "0s"').replace("seeds = 2", "seeds = 1")
SHORT = SHORT.replace('qdiscs = ["droptail", "faba"]', 'qdiscs = ["droptail"]\nexpect = ["utilization > 0.01"]')
SWEPT = SHORT.replace('"small"', '"swept"') + '\n[sweep]\ngrid = { "link.rate" = ["1Mbit/s", "2Mbit/s"] }\n'

#: Reads with an old name, which `migrate` replaces.
OLD = SHORT.replace('"droptail"', '"red_penalty:places=3"')

#: A short search.
TUNE = "tune short.toml --qdisc red --objective jain --param maxp=0.1..0.2 --held-out 2"

#: The experiment that takes least time.
EXPERIMENT = "faba/fig7"


class Made(NamedTuple):
    """A folder with scenarios, and with results that no test may change."""

    folder: Path
    result: Path
    second: Path
    sweep: Path
    search: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    for name, text in {"short": SHORT, "swept": SWEPT, "old": OLD}.items():
        (folder / f"{name}.toml").write_text(text)
    for words in (
        "run short.toml",
        "run short.toml --seeds 2 --out second",
        "sweep swept.toml --out sweeps",
        f"{TUNE} --trials 2 --out searches --json",
        f"paper run {EXPERIMENT} --quick --json --out papers",
    ):
        done = execute(words.split(), folder)
        assert done.returncode in (0, 1), done.stderr
    one = (next((folder / name).iterdir()) for name in ("results", "second", "sweeps", "searches"))
    return Made(folder, *one)


def execute(words: list[str], folder: Path, *, full: bool = False, output: Path | None = None) -> CommandOutput:
    """Runs a command in a process of its own, which can write no file if `full`. Its output goes to a file `output`."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))) if full else None
    with (output or Path(os.devnull)).open("w") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "headgate", *words],
            cwd=folder,
            stdout=subprocess.PIPE if output is None else stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
            preexec_fn=limit,
        )
    return CommandOutput(done.returncode, done.stdout or "", done.stderr)


def assert_refused(done: CommandOutput) -> str:
    """Checks the exit code, and that there is one message. Returns it."""
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 3, done
    (message,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return message


#: Commands that write. `OUT` is a folder or a file in a folder that exists.
WRITING = {
    "run": "run short.toml --out OUT",
    "run, figures": "run short.toml --format pdf --figures overview --out OUT",
    "sweep": "sweep swept.toml --out OUT",
    "tune": f"{TUNE} --trials 2 --out OUT",
    "sensitivity": "sensitivity short.toml --qdisc red --param maxp=0.1..0.2 --seeds 2 --out OUT",
    "check": "check short.toml --out OUT",
    "check, junit": "check short.toml --junit OUT/junit.xml",
    "rerun": "rerun RESULT --out OUT",
    "query": "query RESULT --parquet OUT/rows.parquet select~1",
    "export, csv": "export RESULT --format csv --out OUT/export",
    "export, csv of a sweep": "export SWEEP --format csv --out OUT/export",
    "export, latex": "export RESULT --format latex --out OUT/export",
    "export, flent": "export RESULT --format flent --out OUT/export",
    "compare": "compare RESULT SECOND --out OUT",
    "compare, a file": "compare short.toml --worlds sim,sim --then link.limit=40p --out OUT",
    "evaluate": "evaluate red --section 9 --quick --seeds 1 --out OUT",
    "paper run": f"paper run {EXPERIMENT} --quick --out OUT",
    "new": "new ecn --as OUT/ecn.toml",
    "link": "link --rate 1Mbit/s --log OUT/log true",
}

#: Commands that write into the folder that they read.
REWRITING = {
    "report": "report RESULT",
    "why": "why RESULT --flow 0",
    "paper report": f"paper report {EXPERIMENT} --quick --out papers",
    "migrate": "migrate old.toml",
    "demo": "run short.toml --force",
}


def words_of(command: str, made: Made, out: str = "") -> list[str]:
    """The words of a command; `~` is a blank within a word."""
    places = {"RESULT": made.result, "SECOND": made.second, "SWEEP": made.sweep, "OUT": out}
    words = command.split()
    for name, place in places.items():
        words = [word.replace(name, str(place)) for word in words]
    return [word.replace("~", " ") for word in words]


@pytest.mark.parametrize("name", [*WRITING, *REWRITING])
def test_a_full_disk_ends_a_command_with_3(name: str, made: Made, tmp_path: Path):
    if name == "link":
        skip_without_namespaces()
    home = shutil.copytree(made.folder, tmp_path / "home")
    mine = Made(home, *(home / path.relative_to(made.folder) for path in made[1:]))
    (home / "out").mkdir()
    done = execute(words_of((WRITING | REWRITING)[name], mine, "out"), home, full=True)
    # SQLite, which writes a search, has its own words.
    why = "disk I/O error" if name == "tune" else "File too large"
    assert why in assert_refused(done)
    # The same command can be repeated: nothing half written is in the way.
    assert not list((home / "out").rglob("*.toml")) + list((home / "out").rglob("*.xml"))


@pytest.mark.parametrize("name", WRITING)
def test_a_folder_that_cannot_be_made_ends_a_command_with_3(
    name: str, made: Made, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    if name == "link":
        skip_without_namespaces()
    monkeypatch.chdir(made.folder)
    blocked = tmp_path / "blocked"
    blocked.write_text("not a folder")
    message = assert_refused(command(*words_of(WRITING[name], made, f"{blocked}/below")))
    assert str(blocked) in message
    assert blocked.read_text() == "not a folder"


#: Commands that print: each kind of output.
PRINTING = [
    "--help",
    "--version",
    "run --help",
    "list",
    "show red",
    "cite sfb",
    "tc fq_codel",
    "new",
    "verify RESULT",
    "query RESULT",
    "query RESULT --csv select~*~from~links",
    "why RESULT --flow 0 --no-picture",
    "run short.toml --json",
    "check short.toml",
    "compare RESULT SECOND --no-page",
    "sweep swept.toml --dry-run",
    "paper list",
    "evaluate --list",
]


@needs.marks("dev-full")
@pytest.mark.parametrize("words", PRINTING)
def test_an_output_that_cannot_be_written_ends_a_command_with_3(words: str, made: Made):
    done = execute(words_of(words, made), made.folder, output=Path("/dev/full"))
    assert assert_refused(done) == "error: cannot read or write: No space left on device"


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def lose(file: Path) -> None:
    file.unlink()


def become_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES = [flip, empty, lose, become_a_folder]

#: Commands that read a result: each reads the table of links or the manifest.
READING = {
    "rerun": "rerun DAMAGED",
    "verify": "verify DAMAGED",
    "report": "report DAMAGED",
    "why": "why DAMAGED --flow 0 --no-picture",
    "compare, first": "compare DAMAGED SECOND --no-page",
    "compare, second": "compare SECOND DAMAGED --no-page",
    "query": "query DAMAGED select~*~from~links",
    "export, csv": "export DAMAGED --format csv --out export",
    "export, latex": "export DAMAGED --format latex --out export",
    "export, flent": "export DAMAGED --format flent --out export",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", READING)
def test_a_damaged_result_ends_each_command_that_reads_it_with_3(
    name: str, damage: Callable[[Path], None], made: Made, command: Command, tmp_path: Path
):
    words = words_of(READING[name].replace("DAMAGED", "damaged"), made)
    shutil.copytree(made.result, tmp_path / "damaged")
    damage(tmp_path / "damaged" / "manifest.json")
    assert "damaged" in assert_refused(command(*words))
    shutil.rmtree(tmp_path / "damaged")
    shutil.copytree(made.result, tmp_path / "damaged")
    tables = [
        tmp_path / "damaged" / table for table in json.loads((made.result / "manifest.json").read_text())["tables"]
    ]
    for table in tables:
        damage(table)
    if name != "rerun":  # it reads the scenario of the manifest, and compares files
        assert any(table.name in assert_refused(command(*words)) for table in tables)
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize(
    ("words", "place", "damages"),
    [
        ("query sweeps/NAME select~*~from~points", "sweeps/*/sweep.json", DAMAGES),
        ("query sweeps/NAME select~*~from~points", "sweeps/*/points.parquet", [flip, empty]),
        ("export sweeps/NAME --format csv --out export", "sweeps/*/points.parquet", [flip, empty]),
        ("verify searches", "searches/*/study.db", [flip, empty, become_a_folder]),
        ("verify searches", "searches/*/tuned.json", [flip, empty, become_a_folder]),
        (f"{TUNE} --trials 3 --out searches", "searches/*/study.db", [flip, empty, become_a_folder]),
        (f"paper report {EXPERIMENT} --quick --out papers", "papers/**/found.json", [flip, empty]),
    ],
)
def test_a_damaged_sweep_search_or_paper_ends_each_command_that_reads_it_with_3(
    words: str,
    place: str,
    damages: list[Callable[[Path], None]],
    made: Made,
    command: Command,
    tmp_path: Path,
):
    given = words_of(words.replace("NAME", made.sweep.name), made)
    for damage in damages:
        shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True)
        damaged = sorted(tmp_path.glob(place))
        assert damaged
        for file in damaged:
            damage(file)
        assert_refused(command(*given))
        for file in damaged:
            shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)


@pytest.mark.parametrize("name", [*READING, "query, a sweep"])
def test_a_read_error_of_the_disk_ends_a_command_with_3(
    name: str, made: Made, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    words = (READING | {"query, a sweep": f"query {made.sweep} select~*~from~points"})[name]
    shutil.copytree(made.result, tmp_path / "damaged")
    given = words_of(words.replace("DAMAGED", "damaged"), made)
    counter = FaultyDisk(tmp_path)
    with monkeypatch.context() as patched:
        counter.install(patched)
        assert command(*given).returncode == 0
    assert counter.count > 0
    codes = []
    for at in sorted({1, 2, 3, 4, counter.count // 2, counter.count} - {0}):
        shutil.rmtree(tmp_path / "export", ignore_errors=True)
        with monkeypatch.context() as patched:
            FaultyDisk(tmp_path, "error", at).install(patched)
            done = command(*given)
        codes.append(done.returncode)
        if done.returncode:
            assert_refused(done)
    assert 3 in codes


@pytest.mark.parametrize("words", ["rerun NAME", "verify NAME", "report NAME", "query NAME", "why NAME --flow 0"])
def test_a_name_that_no_file_can_have_ends_a_command_with_3(words: str, command: Command):
    message = assert_refused(command(*words.replace("NAME", "n" * 300).split()))
    assert "File name too long" in message


def test_the_error_of_storage_has_code_3():
    assert ResultError.exit_code == 3
