"""`headgate link --check --soak`: verdicts on synthetic figures, and a real run of three seconds."""

import subprocess
import sys
from typing import Any

import pytest

from headgate.errors import UsageError
from headgate.live import soak
from tests import needs


def measurement(**changes: Any) -> dict[str, Any]:
    """A run with 1000 packets: the device refused 100, and the full queue dropped 300."""
    lane = {"offered": 900, "sent": 600, "dropped": 300, "delivered": 600, "no_slot": 0, "refused": 0, "discarded": []}
    numbers = {"sent": 1000, "near_sent": 900, "near_dropped": 100, "far_received": 600}
    return numbers | {"forward": lane | changes.pop("forward", {})} | changes


@pytest.mark.parametrize(
    ("changes", "bad"),
    [
        ({}, []),
        ({"near_dropped": 99}, ["sent by the socket, not by the interface"]),
        ({"near_sent": 901, "near_dropped": 99}, ["sent by the interface, not seen by the link"]),
        ({"forward": {"dropped": 299}}, ["seen by the link, not accounted for"]),
        ({"forward": {"dropped": 290, "discarded": [("oversize", 10)]}}, []),
        ({"far_received": 599}, ["sent by the link, not received"]),
        ({"far_received": 599, "forward": {"delivered": 599, "refused": 1}}, []),
        ({"far_received": 599, "forward": {"refused": 1}}, ["sent by the link, not received"]),
    ],
)
def test_every_packet_is_in_two_counts(changes: dict[str, Any], bad: list[str]):
    rows = [row for row in soak.counts(100, measurement(**changes)) if not row.good]
    assert [row.what for row in rows] == [f"100 Mbit/s: {what}" for what in bad]


@pytest.mark.parametrize(("end", "good"), [(50 << 20, True), (51 << 20, True), ((51 << 20) + 1, False)])
def test_memory_may_grow_by_a_mebibyte(end: int, good: bool):
    assert soak.growth(100, [50 << 20, 60 << 20, end]).good is good


def test_a_time_has_a_unit():
    assert soak.seconds("10min") == 600
    for wrong in ("10", "soon", "0.5s"):
        with pytest.raises(UsageError, match="--soak"):
            soak.seconds(wrong)


@needs.marks("tun", "namespaces")
def test_three_seconds_lose_no_packet_and_keep_no_memory():
    line = [sys.executable, "-m", "headgate", "link", "--check", "--soak", "3s"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("good") == 10
    assert "without limit, 1 s: " in done.stderr
