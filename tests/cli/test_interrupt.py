"""Ctrl-C while the command is still being loaded."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import headgate

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

#: Interrupts us when the module `sys.argv[1]` is about to be imported, then begins as the other arguments say.
INTERRUPTED = """\
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

_, wanted, begins, *sys.argv[1:] = sys.argv
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


def interrupted(module: str, begins: str, *before: str, typed: str = "--version") -> subprocess.CompletedProcess[str]:
    words = [*before, sys.executable, "-c", INTERRUPTED, module, begins, *typed.split()]
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


def test_a_command_that_the_shell_keeps_from_ctrl_c_is_not_stopped_by_it():
    done = interrupted("typer", "-m", "bash", "-c", "trap '' INT; exec \"$@\"", "bash")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("headgate ")


def test_importing_the_package_leaves_ctrl_c_to_the_program():
    script = "from signal import *; import headgate.cli; assert getsignal(SIGINT) is default_int_handler"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
