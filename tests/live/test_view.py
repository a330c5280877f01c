"""What `headgate link --view` shows."""

import os
import pty
import subprocess
import sys

import pytest

from headgate.live import view


def wire(**changes):
    nothing = {"sent_bytes": 0, "queue_packets": 0, "queue_bytes": 0, "drops": {}, "marks": {}, "lost": 0}
    return {**nothing, **changes}


def test_a_row_has_the_rate_since_the_view_before_and_counts_since_the_beginning():
    before = wire(sent_bytes=1_000_000, drops={"early": 5})
    now = wire(sent_bytes=1_250_000, queue_packets=3, queue_bytes=3072, drops={"early": 7, "overflow": 1}, lost=2)
    assert view.cells(before, now, 0.5) == ["4.000", "3", "3", "8 (early 7, overflow 1)", "0", "2"]


def test_the_first_view_has_no_rate():
    assert view.cells(wire(sent_bytes=9), wire(sent_bytes=9), 0.0)[0] == "0.000"


def shown(*, terminal: bool) -> str:
    """What goes to stderr while a command sleeps for a while."""
    arguments = [sys.executable, "-m", "headgate", "link", "--rate=1Mbit/s", "--view", "--no-summary", "sleep", "0.6"]
    reader, writer = pty.openpty() if terminal else os.pipe()
    with subprocess.Popen(arguments, stderr=writer, stdout=subprocess.DEVNULL) as process:
        os.close(writer)
        found = b""
        try:
            while piece := os.read(reader, 4096):
                found += piece
        except OSError:  # the terminal's other end is closed
            pass
    os.close(reader)
    assert process.returncode in (0, 125), found
    return found.decode()


def test_it_is_shown_in_a_terminal_alone():
    told = shown(terminal=False)
    if "a link needs network namespaces" in told:
        pytest.skip(told)
    assert told == ""
    assert "queue packets" in shown(terminal=True)
