"""The stub of the compiled module matches the module."""

import subprocess
import sys


def test_the_stub_agrees_with_the_compiled_module():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "headgate._core"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
