"""Headgate on macOS and Windows: the simulator works, and commands on real packets say what they need."""

import subprocess
import sys
from pathlib import Path

import pytest

#: Takes away what macOS or Windows do not have, then runs the command with the words in `sys.argv`. Other packages are
#: imported first, since they ask for the system too.
WITHOUT = """\
import os, signal, socket, subprocess, sys, tempfile, asyncio, threading
from headgate import _core
import pyarrow, matplotlib.figure, rich.console, typer

for name in ("Gateway", "Link", "check_kernel", "check_kernel_qdisc", "check_live", "measure", "prepare",
             "prometheus_metrics", "run_live"):
    delattr(_core, name)
del os.fork, os.geteuid, os.sched_getaffinity
del signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL, socket.AF_UNIX
sys.platform = sys.argv.pop(1)
for name in ("fcntl", "grp", "pwd", "resource", "termios")[sys.platform == "darwin":]:
    sys.modules[name] = None
from headgate.__main__ import main
main()
"""


def headgate(system: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT, system, *words], cwd=folder, capture_output=True, text=True)


def test_macos_simulates_and_reports(small: Path):
    done = headgate("darwin", small.parent, "run", small.name, "--seeds", "1")
    assert done.returncode == 0, done.stderr
    assert list(small.parent.glob("results/*/report.html"))


@pytest.mark.parametrize("system", ["darwin", "win32"])
@pytest.mark.parametrize(
    "words",
    [
        ["link", "--rate", "1Mbit/s", "--", "true"],
        ["link", "--check"],
        ["gateway", "--in", "eth0", "--out", "eth1"],
        ["top"],
        ["run", "small.toml", "--live"],
        ["compare", "small.toml"],
        ["compare", "small.toml", "--worlds", "sim,kernel"],
    ],
    ids=" ".join,
)
def test_commands_on_real_packets_need_linux(small: Path, system: str, words: list[str]):
    done = headgate(system, small.parent, *words)
    assert (done.returncode, done.stderr) == (2, "error: real packets need Linux\n")


def test_their_help_does_not(small: Path):
    for name in ("link", "gateway", "top"):
        assert headgate("win32", small.parent, name, "--help").returncode == 0
