"""Ctrl-C, SIGTERM, SIGHUP and SIGQUIT stop a command: also while it is still being loaded."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import headgate
from tests.cli.test_run import finished, wait_for

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

#: The signals that stop a command, besides SIGINT.
STOPS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

#: Signals us when the module `sys.argv[1]` is about to be imported, then begins as the other arguments say.
INTERRUPTED = """\
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), int(number))

_, number, wanted, begins, *sys.argv[1:] = sys.argv
sys.meta_path.insert(0, Interrupt())
if begins == "-m":
    runpy.run_module("headgate", run_name="__main__", alter_sys=True)
else:
    module, function = begins.split(":")
    __import__("importlib").import_module(module).__dict__[function]()
"""


#: Interrupts us in text that is executed when the command has begun.
SITE = """\
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "headgate.terminal.listing":
            exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)")

sys.meta_path.insert(0, Interrupt())
"""

#: As the first, when DuckDB, while it is being loaded, makes its first enum.
INTERRUPTED_IN_DUCKDB = """\
import enum, os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "_duckdb":
            enum.EnumType._create_ = lambda *_words, **_keys: os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
runpy.run_module("headgate", run_name="__main__", alter_sys=True)
"""

#: Signals us outside of any command, where typer has a code for every interruption.
INTERRUPTED_IN_TYPER = """\
import os, sys
from typer.core import TyperGroup
from headgate.__main__ import main

_, number, *sys.argv[1:] = sys.argv
TyperGroup.invoke = lambda *_: os.kill(os.getpid(), int(number))
main()
"""

#: Signals us inside of a library that turns every error into another one: within a command, or outside of any.
TURNED_INTO_ANOTHER_ERROR = """\
import os, sys, time
from headgate.__main__ import main

def library(*_words):
    try:
        os.kill(os.getpid(), int(number))
        time.sleep(60)
    except BaseException:
        raise ValueError("a matrix is invalid") from None

_, number, place, *sys.argv[1:] = sys.argv
if place == "command":
    from headgate.terminal import listing
    listing.disciplines = library
else:
    from typer.core import TyperGroup
    TyperGroup.invoke = library
main()
"""

#: Signals us in a context that takes signals, and again after it.
TAKEN = """\
import os, signal, sys
from headgate.terminal import stopping

stopping.install()
with stopping.taking():
    os.kill(os.getpid(), int(sys.argv[1]))
    print("goes on")
os.kill(os.getpid(), int(sys.argv[1]))
print("ended")
"""


def interrupted(
    module: str, begins: str, *before: str, typed: str = "--version", number: int = signal.SIGINT
) -> subprocess.CompletedProcess[str]:
    words = [*before, sys.executable, "-c", INTERRUPTED, str(int(number)), module, begins, *typed.split()]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("begins", ["-m", "script"])
@pytest.mark.parametrize(
    ("module", "typed"),
    [
        ("headgate.cli", "--version"),
        ("headgate._core", "--version"),
        ("headgate._core", "list"),
        ("typer", "--version"),
        ("headgate.live.cli", "link --help"),
    ],
)
def test_ctrl_c_during_imports_ends_the_command_without_a_traceback(module: str, typed: str, begins: str):
    if begins == "script":
        begins = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["scripts"]["headgate"]
    done = interrupted(module, begins, typed=typed)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: stopped\n")


def test_ctrl_c_while_duckdb_is_loaded_does_not_abort_it(in_folder: headgate.Result):
    pytest.importorskip("duckdb")
    words = [sys.executable, "-c", INTERRUPTED_IN_DUCKDB, "query", str(in_folder.path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: stopped\n")


def test_ctrl_c_in_text_that_a_module_executes_ends_with_the_code_too(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(SITE)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    words = [sys.executable, "-m", "headgate", "list"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: stopped\n")


@pytest.mark.parametrize("module", ["headgate.cli", "headgate._core", "headgate.terminal.listing"])
@pytest.mark.parametrize("number", STOPS)
def test_other_signals_end_a_command_as_ctrl_c_does(number: signal.Signals, module: str):
    done = interrupted(module, "headgate.__main__:main", typed="list", number=number)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "error: stopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, *STOPS])
def test_a_signal_while_options_are_read_ends_a_command_with_its_code(number: signal.Signals):
    words = [sys.executable, "-c", INTERRUPTED_IN_TYPER, str(int(number)), "--version"]
    assert subprocess.run(words, capture_output=True, text=True, check=False).returncode == 128 + number


@pytest.mark.parametrize("place", ["command", "typer"])
@pytest.mark.parametrize("number", [signal.SIGINT, *STOPS])
def test_an_error_that_a_signal_became_in_a_library_ends_a_command_as_the_signal(number: signal.Signals, place: str):
    words = [sys.executable, "-c", TURNED_INTO_ANOTHER_ERROR, str(int(number)), place, "list"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "error: stopped\n")


@pytest.mark.parametrize("number", STOPS)
def test_other_signals_keep_finished_runs_and_name_them(small: Path, tmp_path: Path, number: signal.Signals):
    words = [sys.executable, "-m", "headgate", "run", str(small), "--set", "duration=300s", "--seeds", "20"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        wait_for(lambda: [path for path in finished(tmp_path) if not path.name.startswith(".")])
        for _ in range(2):  # as `timeout` and a closed terminal do
            run.send_signal(number)
        output, message = run.communicate(timeout=60)
    assert (run.returncode, output) == (128 + number, "")
    assert f"error: stopped: {len(finished(tmp_path))} of 40 runs are finished. Repeat the command" in message


@pytest.mark.parametrize("number", [signal.SIGINT, *STOPS])
def test_a_signal_that_the_shell_ignores_does_not_stop_a_command(number: signal.Signals):
    done = interrupted("typer", "-m", "bash", "-c", f"trap '' {number.name}; exec \"$@\"", "bash", number=number)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("headgate ")


def test_importing_the_package_leaves_signals_to_the_program():
    script = "from signal import *; import headgate.cli; assert getsignal(SIGINT) is default_int_handler"
    script += "; assert {getsignal(each) for each in (SIGTERM, SIGHUP, SIGQUIT)} == {SIG_DFL}"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


#: Waits with output that is not written yet, and ends as commands do. In short pauses: a signal that comes between
#: Python's look for signals and the system call would wait for the end of a long one.
HOLDING_OUTPUT = """\
import sys, time
from headgate.terminal import stopping
stopping.install()
try:
    sys.stdout = open(1, "w", buffering=4096, closefd=False)
    sys.stdout.write("held back")
    print("begun", file=sys.stderr, flush=True)
    while True:
        time.sleep(0.1)
except KeyboardInterrupt:
    raise SystemExit(stopping.exit_code())
finally:
    stopping.uninstall()
"""


def test_a_closed_terminal_that_takes_no_more_output_does_not_change_the_code_of_the_signal():
    pty = pytest.importorskip("pty")
    screen, shell = pty.openpty()
    words = [sys.executable, "-c", HOLDING_OUTPUT]
    with subprocess.Popen(words, stdin=shell, stdout=shell, stderr=shell, start_new_session=True) as command:
        os.close(shell)
        shown = b""
        while not shown.endswith(b"\n"):  # the rest of the line could not be written any more
            shown += os.read(screen, 100)
        os.close(screen)
        command.send_signal(signal.SIGHUP)
        assert command.wait(60) == 128 + signal.SIGHUP


@pytest.mark.parametrize("number", [signal.SIGINT, *STOPS])
def test_a_repetition_of_a_signal_that_a_command_took_does_not_stop_it(number: signal.Signals):
    words = [sys.executable, "-c", TAKEN, str(int(number))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
