"""A missing optional package is named, and only when it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

import headgate
from tests.conftest import Command


@pytest.mark.parametrize(
    ("package", "words", "extra"),
    [
        ("duckdb", ["query", "DATASET", "select 1"], "query"),
        ("distributed", ["sweep", "swept.toml", "--cluster", "tcp://127.0.0.1:1"], "cluster"),
        ("fsspec.core", ["sweep", "swept.toml", "--out", "memory://x"], "cluster"),
    ],
)
def test_a_missing_package_is_named(
    command: Command,
    swept: Path,
    dataset: headgate.Sweep,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    words: list[str],
    extra: str,
):
    assert swept.name == "swept.toml"
    monkeypatch.setitem(sys.modules, package, None)
    done = command(*(dataset.url if word == "DATASET" else word for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f'pip install "headgate-aqm[{extra}]"\n')


def test_a_sweep_on_this_machine_needs_none_of_them(swept: Path):
    script = (
        "import sys, headgate\n"
        f"headgate.sweep({str(swept)!r}, grid={{'link.rate': ['1Mbit/s']}}, seeds=1)\n"
        "sys.exit(bool({'dask', 'distributed', 'duckdb', 'fsspec'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
