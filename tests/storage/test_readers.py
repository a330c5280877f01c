"""No command opens a pipe, a device or a file of the kernel where it expects a file, and none reads without end.

A FIFO stands in for every kind of file that is none: an ordinary open of it waits for ever. The tests do not wait. A
watcher tries to open the FIFO for writing, which succeeds only while some reader has it open.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import headgate
from headgate import guarded
from headgate.sweeps import folder as folders
from tests.conftest import SMALL, Command

pytest.importorskip("duckdb")
pytest.importorskip("optuna")

SWEPT = SMALL.replace('"4s"', '"1s"').replace('warmup = "1s"', 'warmup = "0s"').replace("seeds = 2", "seeds = 1")
SWEPT = SWEPT.replace('"small"', '"swept"') + '\n[sweep]\ngrid = { "link.rate" = ["1Mbit/s", "2Mbit/s"] }\n'

#: A search of two trials.
TUNE = (
    "tune swept.toml --qdisc red --objective jain --param maxp=0.1..0.2 --held-out 2 --trials 2 --out searches --json"
)

#: An experiment that computes, and so takes little time.
PAPER = "paper run faba/fig7 --quick --json --out papers"

#: Commands that read a result, by name. `A` and `B` are folders of results, `S` the folder of a sweep.
READERS = {
    "report": "report A",
    "verify": "verify A",
    "query": "query A select~*~from~flows",
    "query, names": "query A",
    "compare": "compare A B --allow link.limit --no-page",
    "why": "why A --flow 0 --no-picture",
    "export": "export A --format csv --out export",
    "export, latex": "export A --format latex --out export",
    "rerun": "rerun A --out again",
    "verify, sweep": "verify S",
    "query, sweep": "query S select~*~from~points",
    "export, sweep": "export S --format csv --out export",
}

#: Commands that write to the folder in which they read: they may replace the FIFO.
WRITERS = {"sweep": "sweep swept.toml --out sweeps", "tune": TUNE, "verify, search": "verify searches",
           "verify, paper": "verify papers", "paper report": "paper report faba/fig7 --quick --out papers",
           "run": "run small.toml --out results --no-report"}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scenarios, two results, a sweep, a search and an experiment."""
    from typer.testing import CliRunner

    from headgate.cli import app

    home = tmp_path_factory.mktemp("made")
    (home / "small.toml").write_text(SMALL)
    (home / "swept.toml").write_text(SWEPT)
    before = Path.cwd()
    os.chdir(home)
    try:
        for words in ("run small.toml --no-report", "run small.toml --set link.limit=40p --no-report --out second",
                      "sweep swept.toml --out sweeps", TUNE, PAPER):  # fmt: skip
            done = CliRunner().invoke(app, words.split())
            assert done.exit_code in (0, 1), done.output
    finally:
        os.chdir(before)
    return home


def words_of(command: str, home: Path) -> list[str]:
    """The words of a command, with the folders in place of their letters; `~` is a blank within a word."""
    places = {"A": next((home / "results").iterdir()), "B": next((home / "second").iterdir()),
              "S": next((home / "sweeps").iterdir())}  # fmt: skip
    return [str(places.get(word, word)).replace("~", " ") for word in command.split()]


@contextmanager
def fifo(file: Path) -> Iterator[list[Path]]:
    """Puts a FIFO in place of a file during the context. Gives a list that has the file if some reader opens it.

    A reader gets the end of the file at once, so that nothing waits.
    """
    held, opened, done = file.read_bytes() if file.exists() else None, [], threading.Event()
    file.unlink(missing_ok=True)
    os.mkfifo(file)

    def watch() -> None:
        while not done.wait(0.001):
            try:
                os.close(os.open(file, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                continue
            if file.is_fifo():
                opened.append(file)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield opened
    finally:
        done.set()
        watcher.join()
        file.unlink(missing_ok=True)
        if held is not None:
            file.write_bytes(held)


def files_below(home: Path, *folders: str) -> list[Path]:
    """The files of these folders, without figures and pages."""
    found = (
        file.relative_to(home) for folder in folders for file in sorted((home / folder).rglob("*")) if file.is_file()
    )
    return [file for file in found if file.suffix in (".json", ".parquet", ".toml", ".db", "")]


@pytest.mark.parametrize("name", READERS)
def test_no_reader_of_results_opens_a_fifo(name: str, made: Path, command: Command, tmp_path: Path, monkeypatch):
    home = Path(shutil.copytree(made, tmp_path / "home"))
    monkeypatch.chdir(home)
    words = words_of(READERS[name], home)
    for file in files_below(home, *(words[1 : 3 if name == "compare" else 2])):
        with fifo(home / file) as opened:
            done = command(*words)
        for left in ("export", "again"):
            shutil.rmtree(left, ignore_errors=True)
        assert not opened, file
        assert done.returncode in (0, 1, 2, 3)
        assert done.returncode == 0 or file.name in done.stdout + done.stderr, (file, done)


@pytest.mark.parametrize("name", WRITERS)
def test_no_command_that_resumes_opens_a_fifo(name: str, made: Path, command: Command, tmp_path: Path, monkeypatch):
    folder = {"sweep": "sweeps", "tune": "searches", "run": "results"}.get(name, WRITERS[name].split()[1])
    folder = "papers" if "paper" in name else folder
    for number, file in enumerate(files_below(made, folder)):
        if "runs" in file.parts:
            continue  # results, as of `run`
        home = Path(shutil.copytree(made, tmp_path / f"home{number}"))
        monkeypatch.chdir(home)
        with fifo(home / file) as opened:
            done = command(*words_of(WRITERS[name], home))
        assert not opened, file
        assert done.returncode in (0, 1, 3), done
        assert done.returncode != 3 or file.name in done.stdout + done.stderr, (file, done)


def test_a_fifo_of_sqlite_beside_a_search_is_not_opened(made: Path, command: Command, tmp_path: Path, monkeypatch):
    home = Path(shutil.copytree(made, tmp_path / "home"))
    monkeypatch.chdir(home)
    (study,) = home.rglob("study.db")
    for ending in ("-journal", "-wal"):
        with fifo(study.with_name(study.name + ending)) as opened:
            done = command(*TUNE.split())
        assert (opened, done.returncode) == ([], 3)
        assert "it is a named pipe" in done.stderr


#: Commands that read a scenario file.
OF_SCENARIOS = ["run FILE", "check FILE", "sweep FILE --dry-run", "migrate FILE", "lab FILE --no-browser",
                "tune FILE --qdisc red", "sensitivity FILE --qdisc red", "compare FILE --worlds sim,sim"]  # fmt: skip


@pytest.mark.parametrize("words", OF_SCENARIOS)
def test_a_scenario_is_a_regular_file(words: str, command: Command, tmp_path: Path):
    def message(file: object) -> str:
        done = command(*(str(file) if word == "FILE" else word for word in words.split()))
        assert (done.returncode, done.stdout) == (2, ""), done
        return done.stderr.strip()

    expected = "expected a scenario file"
    with fifo(tmp_path / "pipe.toml") as opened:
        refused = message(tmp_path / "pipe.toml")
    assert refused == f"error: cannot read {tmp_path}/pipe.toml: it is a named pipe; {expected}"
    assert not opened
    assert message("/dev/zero") == f"error: cannot read /dev/zero: it is a device; {expected}"
    assert message("/proc/self/status") == (
        f"error: cannot read /proc/self/status: it is a file of the kernel below /proc; {expected}"
    )
    link = tmp_path / "link.toml"
    link.symlink_to("/proc/self/status")
    assert message(link).endswith(f"it is a file of the kernel below /proc; {expected}")
    (tmp_path / "folder.toml").mkdir()
    assert f"{tmp_path}/folder.toml is a folder" in message(tmp_path / "folder.toml")
    with (tmp_path / "large.toml").open("wb") as large:
        large.truncate(17 << 20)
    assert message(tmp_path / "large.toml") == (
        f"error: cannot read {tmp_path}/large.toml: it has 17 MiB; a scenario file has at most 16 MiB"
    )


def test_the_settings_of_a_gateway_are_a_regular_file(command: Command, tmp_path: Path):
    with fifo(tmp_path / "gateway.toml") as opened:
        done = command("gateway", "--config", tmp_path / "gateway.toml")
    assert (opened, done.returncode) == ([], 2)
    assert done.stderr == (
        f"error: {tmp_path}/gateway.toml: cannot be read: it is a named pipe; expected a file of settings\n"
    )


def test_a_packet_trace_of_a_paper_is_a_regular_file(command: Command, tmp_path: Path):
    with fifo(tmp_path / "trace.pcap") as opened:
        done = command("paper", "run", "red-pd/fig3", "--quick", "--trace", tmp_path / "trace.pcap")
    assert (opened, done.returncode) == ([], 2)
    assert "it is a named pipe; expected a capture of packets" in done.stderr


def test_a_pipe_of_the_shell_is_a_scenario(small: Path):
    """`headgate run <(sed ... file)`: the shell gives the command a pipe, which has an end."""
    reader, writer = os.pipe()
    data = small.read_bytes()

    def write() -> None:
        os.write(writer, data)
        os.close(writer)

    late = threading.Timer(0.05, write)
    late.start()
    try:
        assert headgate.Scenario.load(f"/dev/fd/{reader}").name == "small"
    finally:
        late.join()
        os.close(reader)


def test_a_pipe_of_the_shell_is_nothing_else():
    reader, writer = os.pipe()
    try:
        for kind in (guarded.SETTINGS, guarded.INPUT, guarded.DOCUMENT, guarded.TABLE):
            with pytest.raises(OSError, match="it is a pipe; expected"):
                guarded.read_bytes(Path(f"/dev/fd/{reader}"), kind)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_pipe_that_says_nothing_is_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(guarded, "PATIENCE_S", 0.05)
    reader, writer = os.pipe()
    try:
        with pytest.raises(TimeoutError, match="reading took more than"):
            guarded.read_bytes(Path(f"/dev/fd/{reader}"), guarded.SCENARIO)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_file_that_hardly_answers_is_not_read_for_ever(tmp_path: Path, monkeypatch):
    (tmp_path / "slow").write_bytes(bytes(4 << 20))
    moments = iter(range(0, 10_000, 20))
    monkeypatch.setattr(guarded, "monotonic", lambda: float(next(moments)))
    with pytest.raises(TimeoutError, match="reading took more than 32 s"):
        guarded.read_bytes(tmp_path / "slow", guarded.INPUT)


def test_a_file_that_grows_is_read_up_to_its_limit(tmp_path: Path):
    file, kind = tmp_path / "grows", guarded.FileKind("a file of tests", 3 << 20)
    file.write_bytes(bytes(1 << 20))
    with guarded.open_file(file, kind) as stream:
        file.write_bytes(bytes(4 << 20))
        with pytest.raises(OSError, match="it has more than 3 MiB; a file of tests has at most 3 MiB"):
            stream.read()


@pytest.mark.parametrize("seconds", [0.05])
def test_work_that_hangs_is_left_alone(seconds: float):
    forever = threading.Event()
    with pytest.raises(TimeoutError):
        guarded.within(seconds, forever.wait)
    forever.set()
    assert guarded.within(5, lambda: 7) == 7
    with pytest.raises(KeyError):
        guarded.within(5, lambda: dict[str, int]()["missing"])


def test_a_url_of_a_local_file_is_guarded_too(tmp_path: Path):
    (tmp_path / "sweep").mkdir()
    with fifo(tmp_path / "sweep" / "sweep.json") as opened, pytest.raises(headgate.ResultError, match=r"sweep\.json"):
        headgate.Sweep.load(f"file://{tmp_path}/sweep")
    assert not opened
    assert folders.at(f"file://{tmp_path}/sweep").url == f"{tmp_path}/sweep"
