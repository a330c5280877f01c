"""The table of `headgate link --view`."""

import io
import os
import pty
import re
import subprocess
import sys

import pytest
from rich.console import Console

from headgate.live import summary, view


def direction(**changes):
    nothing = {"sent_bytes": 0, "queue_packets": 0, "queue_bytes": 0, "drops": {}, "marks": {}, "lost": 0}
    return {**nothing, **changes}


def test_a_row_has_the_rate_since_the_last_view_and_counts_since_the_start():
    before = direction(sent_bytes=1_000_000, drops={"early": 5})
    now = direction(sent_bytes=1_250_000, queue_packets=3, queue_bytes=3072, drops={"early": 7, "overflow": 1}, lost=2)
    assert view.cells(before, now, 0.5) == ["4.000", "3", "3", "8 (early 7, overflow 1)", "0", "2"]


def test_the_summary_has_the_reasons_below_the_table_and_fits_80_columns():
    times = dict.fromkeys(("queue_delay_ms_mean", "queue_delay_ms_p99", "late_ms_p50", "late_ms_p99"), 123.456)
    one = direction(sent=1_234_567, sent_bytes=10**9, drops={"early": 7, "overflow": 100_000}, **times)
    both = {"forward": one, "reverse": direction(sent=0, **times)}
    output = io.StringIO()
    console = Console(file=output, width=80)
    console.print(summary.table(both, 10.0, "link, 10.0 s"))
    printed = output.getvalue()
    assert "…" not in printed
    # 10^9 bytes in 10 s.
    assert re.search(r"Mbit/s +800\.000 +0\.000", printed)
    assert re.search(r"dropped +100007 +0", printed)
    assert re.search(r"queueing delay, p99, ms +123\.456 +123\.456", printed)
    assert max(map(len, printed.splitlines())) <= 80
    assert list(summary.reason_lines(both)) == ["forward drops: 100007 (early 7, overflow 100000)"]


def test_the_first_view_has_no_rate():
    assert view.cells(direction(sent_bytes=9), direction(sent_bytes=9), 0.0)[0] == "0.000"


def shown(*, terminal: bool) -> str:
    """The standard error of a link whose command sleeps."""
    arguments = [sys.executable, "-m", "headgate", "link", "--rate=1Mbit/s", "--view", "--no-summary", "sleep", "0.6"]
    reader, writer = pty.openpty() if terminal else os.pipe()
    with subprocess.Popen(arguments, stderr=writer, stdout=subprocess.DEVNULL) as process:
        os.close(writer)
        output = b""
        try:
            while piece := os.read(reader, 4096):
                output += piece
        except OSError:  # the terminal's other end is closed
            pass
    os.close(reader)
    assert process.returncode in (0, 125), output
    return output.decode()


def test_the_view_is_shown_in_a_terminal_only():
    printed = shown(terminal=False)
    if "a link needs network namespaces" in printed:
        pytest.skip(printed)
    assert printed == ""
    assert "queue packets" in shown(terminal=True)
