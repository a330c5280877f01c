"""Warnings about packets that were not dropped by the discipline, while a link runs."""

from typing import Any

import pytest

from headgate.live.losses import PAUSE_S, TOO_LONG, LossWatch


def view(at_s: float, **forward: Any) -> dict[str, Any]:
    nothing = {"no_slot": 0, "kernel_dropped": 0, "refused": 0, "discarded": []}
    return {"at_s": at_s, "forward": nothing | forward, "reverse": nothing}


@pytest.fixture
def reported() -> list[str]:
    return []


def test_the_first_loss_is_reported_at_once_and_no_loss_never(reported: list[str]):
    watch = LossWatch(reported.append)
    watch(view(0.0))
    assert reported == []
    watch(view(0.25, discarded=[("oversize", 3), ("bad_length", 1)]))
    assert reported == [
        f"warning: forward: 3 frames were dropped: oversize{TOO_LONG}",
        "warning: forward: 1 frame was dropped: bad_length",
    ]


def test_more_of_a_reason_is_reported_after_a_pause_and_another_reason_at_once(reported: list[str]):
    watch = LossWatch(reported.append)
    for at_s, counts in (
        (1.0, {"refused": 5}),
        (1.5, {"refused": 9}),
        (2.0, {"refused": 9, "no_slot": 2}),
        (1.0 + PAUSE_S, {"refused": 9, "no_slot": 2}),
        (2.5 + PAUSE_S, {"refused": 9, "no_slot": 2}),
        (3.0 + 2 * PAUSE_S, {"refused": 10, "no_slot": 2}),
    ):
        watch(view(at_s, **counts))
    assert [line.removeprefix("warning: forward: ").split(":")[0] for line in reported] == [
        "5 packets were refused by the receiving host",
        "2 packets were dropped",
        "4 packets were refused by the receiving host",
        "1 packet was refused by the receiving host",
    ]
