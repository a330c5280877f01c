"""Shared by all Python tests: a small scenario, its result, and the command line."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

import headgate
from headgate.cli import app
from tests import needs, skips

SMALL = """\
name = "small"
about = "Three TCP flows and an unresponsive flow."
duration = "4s"
warmup = "1s"
seeds = 2
qdiscs = ["droptail", "faba"]

[link]
rate = "2Mbit/s"
delay = "5ms"
limit = "50p"

[[tcp]]
flows = 3
packet = "500B"
access = { rate = "100Mbit/s", delay = "1ms" }

[[udp]]
name = "cbr"
rate = "2Mbit/s"
packet = "500B"
access = { rate = "100Mbit/s", delay = "1ms" }
"""


class CommandOutput(NamedTuple):
    """The exit code and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., CommandOutput]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Logs skipped tests for the line that ends `make test`. Runs once, in the process that collects all reports."""
    reports = terminalreporter.stats.get("skipped", [])
    skips.record(skips.Skip(report.nodeid, needs.needed(report.longrepr[2])) for report in reports)


def process_state() -> dict[str, object]:
    """What a function may not change of the process that calls it."""
    state: dict[str, object] = {
        "folder": Path.cwd(),
        "signal handlers": [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)],
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
    }
    if sys.platform == "linux":
        state["scheduling"] = os.sched_getscheduler(0), os.nice(0), os.sched_getaffinity(0)
        state["namespaces"] = [Path(f"/proc/thread-self/ns/{kind}").readlink() for kind in ("net", "mnt", "user")]
    return state


@pytest.fixture(autouse=True)
def _unchanged_process() -> Iterator[None]:
    """Every test leaves this process as it found it: a thread that came before all others once starved a later test."""
    before = process_state()
    yield
    after = process_state()
    assert after == before


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The small scenario as a file."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture(scope="session")
def in_memory() -> headgate.Result:
    """The small scenario's result, in memory."""
    return headgate.run(headgate.Scenario.parse(SMALL))


@pytest.fixture(scope="session")
def in_folder(tmp_path_factory: pytest.TempPathFactory) -> headgate.Result:
    """The same in a folder, without figures."""
    return headgate.run(headgate.Scenario.parse(SMALL), out=tmp_path_factory.mktemp("results"), report=False)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs `headgate` with these arguments in an empty folder; its output is 100 columns of plain text."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: object) -> CommandOutput:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="headgate")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return CommandOutput(done.exit_code, done.stdout, done.stderr)

    return run


def files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, without the timing, which always differs, and the hash of the build."""
    contents = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    return {name: data for name, data in contents.items() if name not in ("timing.json", ".build")}
