"""The modules that a command imports, and the time that it takes to start."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

#: Runs the command with the words in `sys.argv`, then prints the names of all modules on stderr.
MODULES = """\
import sys
from headgate.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""

#: Libraries that take long to import.
ARROW = {"numpy", "pyarrow"}
HEAVY = ARROW | {"rich", "pydantic", "pandas", "pyarrow.dataset", "matplotlib", "jinja2", "polars", "xarray", "duckdb"}


def modules(folder: Path, *words: str) -> set[str]:
    """The modules that a command imports in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def bare() -> set[str]:
    """The modules of an interpreter that runs nothing."""
    words = [sys.executable, "-c", "import sys; print(*sys.modules)"]
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("words", "allowed", "most"),
    [
        (["--help"], set(), 160),
        (["--version"], set(), 160),
        (["list"], {"rich"}, 260),
        (["show", "blue"], {"rich"}, 260),
        (["run", "small.toml", "--json", "--no-report"], ARROW, 480),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_a_command_imports_few_modules(small: Path, words: list[str], allowed: set[str], most: int):
    for _ in ("fresh", "finished"):
        imported = modules(small.parent, *words) - bare()
        assert imported & HEAVY <= allowed
        assert len(imported) <= most


def test_importing_headgate_imports_nothing_heavy():
    script = "import sys, headgate.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.parametrize("words", [["-c", "import headgate"], ["-m", "headgate", "--help"]], ids=["import", "help"])
def test_starting_takes_less_than_a_third_of_a_second_of_processor_time(words: list[str]):
    # Other processes can only make it slower, so the fastest of several starts counts.
    assert any(processor_time(words) < 0.3 for _ in range(5))


def processor_time(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
