"""The stub of the compiled module matches the module."""

import os
import subprocess
import sys
from pathlib import Path

from headgate import _core

ROOT = Path(__file__).parents[2]


def test_the_stub_agrees_with_the_compiled_module(tmp_path: Path):
    # A package of these two files alone: mypy would read the whole of Headgate, with matplotlib and pandas.
    package = tmp_path / "headgate"
    package.mkdir()
    (package / "__init__.py").touch()
    for file in (Path(_core.__file__), ROOT / "python/headgate/_core.pyi"):
        (package / file.name).symlink_to(file)
    words = [sys.executable, "-m", "mypy.stubtest", "headgate._core"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "MYPYPATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Success: no issues found in 1 module" in done.stdout
