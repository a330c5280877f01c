"""Measures of phases, periods and web pages, on tables small enough to check by hand."""

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from headgate.analysis.runs import Run
from headgate.evaluate.periods import Phase, goodput_over_periods
from headgate.evaluate.web import OBJECTS, page_ms
from headgate.experiment.measures import ack_drop_percent, path_delay_ms


class Tiny:
    """A run with `rows` rows per group, one every `step_s`. The first two are the warm-up; phases follow."""

    def __init__(self, rows: int, step_s: float, phase_s: float, what: dict[str, Any]) -> None:
        self.ends, self.warmup_s = np.arange(1, rows + 1) * step_s, 2 * step_s
        self.case = {"phase": phase_s}
        self.result = SimpleNamespace(
            scenario=SimpleNamespace(duration_s=9.0, bottleneck=("bottleneck", "forward")),
        )
        self.given = what

    def series(self, metric: str) -> tuple[np.ndarray, np.ndarray]:
        values = np.array(self.given[metric], dtype=float)
        return np.tile(self.ends, len(values) // len(self.ends)), values

    #: All its groups share the link.
    sharing_series = series

    def table(self, name: str) -> pa.Table:
        return self.given[name]

    link = Run.link

    def flows(self, column: str, group: str) -> np.ndarray:
        return np.array(self.given[f"{group}.{column}"], dtype=float)


def tiny(rows: int = 18, step_s: float = 0.5, phase_s: float = 2.0, **what: Any) -> Run:
    return cast(Run, Tiny(rows, step_s, phase_s, what))


def over_time(warmup: float, *seconds: float) -> list[float]:
    """Two rows a second: the warm-up's, then those of each second."""
    return [value for second in (warmup, *seconds) for value in (second, second)]


def test_phases_follow_each_other_from_the_end_of_the_warm_up_on():
    # Phases of 2 s: I, II, I, II. Half of the time in which the queue held 1000 bytes, the link sent.
    run = tiny(
        queue_bytes=over_time(9e9, 1000, 1000, 3000, 3000, 2000, 2000, 5000, 5000),
        utilization=over_time(9e9, 0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1),
        goodput_bps=over_time(9e9, 1e6, 3e6, 0, 0, 4e6, 4e6, 0, 2e6) + over_time(9e9, *[1e6] * 8),
    )
    first, second = Phase(0, 2), Phase(1, 2)
    assert first.used_percent()(run) == 50
    # Little: 1500 bytes wait while 500 kbit/s leave.
    assert first.delay_ms(1e6)(run) == pytest.approx(1500 * 8 / 500e3 * 1000)
    assert second.delay_ms(1e6)(run) == pytest.approx(4000 * 8 / 1e6 * 1000)
    assert first.goodput_mbps(run) == pytest.approx(3 + 1)
    assert second.goodput_mbps(run) == pytest.approx(0.5 + 1)
    again = Phase(0, 2, skip_first=True)
    assert again.delay_ms(1e6)(run) == pytest.approx(2000 * 8 / 500e3 * 1000)


def test_receivers_have_a_phase_half_a_round_trip_after_the_link():
    # Phases of 100 ms and rows of half of that, which is half a round trip of 100 ms.
    run = tiny(8, step_s=0.05, phase_s=0.1, goodput_bps=[9e9, 9e9, 9e9, 4e6, 4e6, 1e6, 1e6, 4e6])
    assert Phase(0, 2).goodput_mbps(run) == pytest.approx(4)
    assert Phase(1, 2).goodput_mbps(run) == pytest.approx(1)


def test_goodput_is_taken_over_periods_of_a_second():
    one, other = [9e9, 9e9, *([1e6, 3e6] * 8)], over_time(9e9, *[1e6] * 4, *[5e6] * 4)
    run = tiny(goodput_bps=one + other)
    # The first group has 2 Mbit/s in each second; the second group has 1, then 5.
    assert goodput_over_periods(0.0)(run) == pytest.approx(3)
    assert goodput_over_periods(1.0)(run) == pytest.approx(7)


def transfers(*rows: tuple[int, float, float]) -> pa.Table:
    """Flow, start and end in seconds; the end of an unfinished transfer is NaN."""
    flow, start, end = zip(*rows, strict=True)
    ends = [None if math.isnan(each) else int(each * 1e9) for each in end]
    return pa.table({
        "group": ["web"] * len(rows), "flow": flow, "start_ns": [int(each * 1e9) for each in start],
        "end_ns": pa.array(ends, pa.int64()),
    })  # fmt: skip


def connection(flow: int, begin: float, end: float, objects: int = OBJECTS) -> list[tuple[int, float, float]]:
    """A connection that loads `objects` objects one after the other from `begin` to `end`."""
    step = (end - begin) / objects
    return [(flow, begin + step * each, begin + step * (each + 1)) for each in range(objects)]


def test_a_page_takes_as_long_as_the_slowest_of_its_connections():
    rows = [
        *connection(0, 0, 0.5), *connection(1, 0, 0.9),  # in the warm-up
        *connection(2, 2, 3), *connection(3, 2, 4),
        *connection(4, 5, 6), *connection(5, 5, 6),
    ]  # fmt: skip
    assert page_ms()(tiny(transfers=transfers(*rows))) == pytest.approx((2000 + 1000) / 2)


def test_a_page_that_is_cut_off_counts_with_the_time_it_had():
    waiting = [*connection(0, 2, 3), *connection(1, 2, 3, OBJECTS - 1)]  # the last object was not asked for
    assert page_ms()(tiny(transfers=transfers(*waiting))) == pytest.approx(7000)
    cut = [*connection(0, 2, 3), *connection(1, 2, 3, OBJECTS - 1), (1, 3, math.nan)]
    assert page_ms()(tiny(transfers=transfers(*cut))) == pytest.approx(7000)


def test_without_a_page_the_time_is_nan():
    assert math.isnan(page_ms()(tiny(transfers=transfers(*connection(0, 0, 1)))))


def test_packets_besides_a_groups_data_are_acks():
    links = pa.table({"link": ["bottleneck"], "direction": ["reverse"], "arrived": [150], "dropped": [8]})
    flows: dict[str, Any] = {"up.arrived": [60, 40], "up.dropped": [2, 1]}
    run = tiny(links=links, **flows)
    assert ack_drop_percent("reverse", "up")(run) == pytest.approx(100 * 5 / 50)


def test_the_delay_of_a_group_is_that_of_its_packets():
    flows: dict[str, Any] = {"web.sent": [30, 10, 0], "web.queue_delay_ms_mean": [10, 50, math.nan]}
    run = tiny(**flows)
    assert path_delay_ms("web")(run) == pytest.approx(20)
