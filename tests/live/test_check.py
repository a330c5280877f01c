"""The verdicts of `headgate link --check`, on synthetic measurements."""

from typing import Any

import pytest

from headgate import _core
from headgate.live import check, losses, options, summary


def measured(mbit: float, **changes: Any) -> dict[str, Any]:
    """A second of packets of 10000 bits, each received 1.1 ms after it was sent."""
    count = int(mbit * 100)
    lane = {
        "offered": count,
        "sent": count,
        "dropped": 0,
        "delivered": count,
        "no_slot": 0,
        "refused": 0,
        "not_ip": [],
        "stalls": 0,
    }
    lane |= changes.pop("forward", {})
    numbers = dict.fromkeys(("sent", "near_sent", "far_received", "received", "timed"), count)
    times = {"taken_s": 1.0, "delay_ms_p50": 1.1, "delay_ms_p99": 1.1, "cpu_s": 0.2, "at_s": 1.0}
    return {**numbers, **times, "forward": lane, **changes}


@pytest.mark.parametrize(("error", "good"), [(0, True), (0.004, True), (-0.004, True), (0.006, False), (-0.006, False)])
def test_a_rate_may_be_wrong_by_half_a_percent(error: float, good: bool):
    assert check.rate(10, measured(10, taken_s=1 / (1 + error)), required=True).good is good


def test_a_rate_at_which_nothing_was_received_is_not_kept():
    assert check.rate(10, measured(10, timed=0, taken_s=0.0), required=True).good is False


@pytest.mark.parametrize(
    ("median", "p99", "good"),
    [(1.19, 1.9, [True, True]), (1.21, 1.9, [False, True]), (1.0, 2.1, [True, False]), (None, None, [False, False])],
)
def test_the_delay_of_a_packet_is_compared_with_the_millisecond_it_takes_to_send(median, p99, good):
    assert [row.good for row in check.delay(measured(10, delay_ms_p50=median, delay_ms_p99=p99))] == good


@pytest.mark.parametrize(
    ("changes", "bad"),
    [
        ({}, []),
        ({"forward": {"sent": 900, "dropped": 100, "delivered": 900}, "far_received": 900, "received": 900}, []),
        ({"near_sent": 999}, ["packets lost outside the link"]),
        ({"received": 999}, ["packets lost outside the link"]),
        ({"forward": {"refused": 1}}, ["packets lost outside the link"]),
        ({"forward": {"not_ip": [("oversize", 1)]}}, ["packets longer than the MTU"]),
        ({"forward": {"stalls": 1}}, ["times the forwarding thread was late"]),
        ({"cpu_s": 0.95}, ["processor time of the thread, maximum"]),
    ],
)
def test_packets_lost_outside_headgate_fail_the_check(changes: dict[str, Any], bad: list[str]):
    failed = [row.what for row in check.outside_checks([measured(10), measured(10, **changes)]) if not row.good]
    assert failed == bad


def test_the_check_ends_at_the_first_rate_that_this_machine_does_not_keep():
    def measure(mbit: int, share: float, seconds: float) -> dict[str, Any]:
        assert share > 0
        assert seconds > 0
        return measured(min(mbit, 400))

    rates = [row for row in check.rows(measure) if row.what.startswith("rate")]
    assert [row.good for row in rates] == [True, True, True, None, None, None]
    assert rates[-1].measured.endswith("not reached")


def test_packets_that_fit_are_all_received_and_never_early():
    try:
        _core.prepare()
    except _core.LiveError as error:
        pytest.skip(str(error))
    way = options.scenario("forward", {"rate": "10Mbit/s", "delay": "3ms", "limit": "1000p"})
    measurement = _core.measure(way, 5_000_000, check.PACKET, 0.3)
    assert measurement["sent"] == measurement["received"] == 150
    assert check.lost_outside(measurement) == 0
    # 1 ms of transmission and 3 ms of delay; values of the histogram are exact to 1 %.
    assert measurement["delay_ms_p50"] >= 4 * 0.99


def test_a_frame_that_was_too_long_is_explained():
    counters = ("stalls", "no_slot", "kernel_dropped", "super_packets", "no_checksum", "refused")
    nothing: dict[str, Any] = {**dict.fromkeys(counters, 0), "discarded": []}
    warnings = summary.warnings(
        {"forward": nothing | {"discarded": [("oversize", 3), ("bad_length", 1)]}, "reverse": nothing}
    )
    assert warnings == [
        f"forward: 3 frames were dropped: oversize{losses.TOO_LONG}",
        "forward: 1 frames were dropped: bad_length",
    ]
