"""The picture of `headgate link --view`, and the summary."""

import io
import os
import pty
import re
import subprocess
import sys

import pytest
from rich.console import Console

from headgate.live import summary, view
from tests import needs


def direction(**changes):
    delay = {"count": 0, "sum_s": 0.0}
    nothing = {"sent_bytes": 0, "queue_packets": 0, "queue_bytes": 0, "drops": {}, "marks": {}, "lost": 0}
    return {**nothing, "queue_delay": delay, **changes}


def printed(picture: view.ViewCharts, width: int) -> str:
    output = io.StringIO()
    Console(file=output, width=width).print(picture.drawn(width))
    return output.getvalue()


def test_a_point_has_what_happened_since_the_last_view():
    before = direction(sent_bytes=1_000_000, drops={"early": 5}, queue_delay={"count": 100, "sum_s": 1.0})
    now = direction(
        sent_bytes=1_250_000, queue_packets=3, drops={"early": 7, "overflow": 1}, lost=2,
        queue_delay={"count": 200, "sum_s": 1.5},
    )  # fmt: skip
    assert view.point(before, now, 0.5) == (4.0, 5.0, 3, 3, 0, 2)
    assert view.point(now, now, 0.5) == (0.0, None, 3, 0, 0, 0)
    assert view.point(before, before, 0.0).rate == 0.0


@pytest.mark.parametrize(
    ("values", "lines", "drawn"),
    [
        ([0, 1, 4, 8], 1, [" ▁▄█"]),
        ([0, 4, 8, 16], 2, ["   █", " ▄██"]),
        ([0.001, 8], 1, ["▁█"]),
        ([None, 2, None], 1, [" █ "]),
        ([0, 0], 2, ["  ", "  "]),
        ([], 1, [""]),
    ],
)
def test_the_greatest_value_fills_the_chart_and_every_other_is_in_proportion(values, lines, drawn):
    assert view.bars(values, lines) == drawn


@pytest.mark.parametrize("width", [20, 80, 200])
def test_the_picture_fits_the_terminal_and_shows_the_latest_views(width):
    picture = view.ViewCharts()
    assert printed(picture, width).strip() == ""
    for number in range(200):
        sent = 12_500 * min(number, 190)
        one = direction(sent_bytes=sent, queue_packets=number % 7, drops={"early": number // 10}, marks={"early": 1})
        picture.add({"at_s": number / 10, "forward": one, "reverse": direction()})
    text = printed(picture, width)
    assert max(map(len, text.splitlines())) <= width
    assert "forward  19.9 s" in text
    assert text.count("reverse") == 1
    if width > 20:
        assert "0.000, peak 1.000" in text
        assert "3 in the queue" in text
        assert "19 (early 19)" in text
        # Only the direction with marks has their row.
        assert text.count("marked") == 1
        assert "lost" not in text


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


def shown(*, terminal: bool) -> str:
    """The standard error of a link whose command sleeps."""
    arguments = [sys.executable, "-m", "headgate", "link", "--rate=1Mbit/s", "--view", "--no-summary", "sleep", "0.6"]
    reader, writer = pty.openpty() if terminal else os.pipe()
    environment = {**os.environ, "TERM": "xterm"}  # on a terminal called dumb nothing can be drawn
    with subprocess.Popen(arguments, stderr=writer, stdout=subprocess.DEVNULL, env=environment) as process:
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
    needs.without("tun", "namespaces")
    assert shown(terminal=False) == ""
    picture = shown(terminal=True)
    assert "in the queue" in picture
    assert "reverse" in picture
