"""Queues by class, rebuilt from events, agree with the counts of the simulator."""

import numpy as np
import pytest

import headgate
from headgate.analysis.runs import Run
from headgate.experiment import queues
from tests.conftest import SMALL

QDISCS = ("droptail", "choke:minth=10p,maxth=30p", "fred")


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    scenario = headgate.Scenario.parse(SMALL, set=["record.events=all"], qdiscs=QDISCS, seeds=1)
    result = headgate.run(scenario)
    return [Run(result, run, run.qdisc, {}) for run in result.scenario.runs]


def test_the_rebuilt_queue_equals_the_counted_queue(runs: list[Run]):
    for run in runs:
        assert queues.packets()(run) == pytest.approx(run.link("queue_packets_mean"), rel=1e-9)


def test_the_queues_of_the_classes_add_up_to_the_queue(runs: list[Run]):
    for run in runs:
        tcp, cbr, whole = (queues.queue(run, kind=kind).packets for kind in ("tcp", "udp", None))
        assert (tcp >= 0).all()
        assert (cbr >= 0).all()
        assert (tcp + cbr == whole).all()
        assert queues.share(kind="tcp")(run) + queues.share("cbr")(run) == pytest.approx(1.0)


def test_an_average_is_that_of_its_definition():
    values = np.random.default_rng(1).uniform(0, 100, 3 * queues.CHUNK + 17)
    average, expected = 0.0, []
    for value in values:
        average = 0.998 * average + 0.002 * value
        expected.append(average)
    assert queues.ewma(values, 0.002) == pytest.approx(expected, rel=1e-9)


def test_the_greatest_average_excludes_the_warm_up(runs: list[Run]):
    run = runs[0]
    time_s, average = queues.queue(run).average()
    assert queues.greatest_average()(run) == average[time_s >= run.warmup_s].max()


def test_an_average_uses_the_queue_before_each_arrival():
    queue = queues.QueueLength(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]), np.array([True, True, False]))
    time_s, average = queue.average(0.5)
    assert list(time_s) == [0.0, 1.0]
    assert list(average) == [0.0, 0.5]
