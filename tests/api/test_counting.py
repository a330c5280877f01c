"""Words agree with the number before them."""

import pytest

from headgate.counting import agreeing, counted
from headgate.errors import InterruptedRunError, RunFailedError
from headgate.execution.batch import supervised
from headgate.execution.runner import Failures


@pytest.mark.parametrize(("count", "text"), [(0, "0 flows"), (1, "1 flow"), (2, "2 flows"), (21, "21 flows")])
def test_a_noun_has_the_plural_beside_every_number_but_one(count: int, text: str):
    assert counted(count, "flow") == text


def test_a_plural_of_its_own_is_given():
    assert [counted(count, "differs", "differ") for count in (0, 1, 2)] == ["0 differ", "1 differs", "2 differ"]
    assert [agreeing(count, "was", "were") for count in (0, 1, 2)] == ["were", "was", "were"]


@pytest.mark.parametrize(
    ("total", "stopped", "failed"),
    [
        (1, "stopped: the run is not finished. Nothing was written.", "the run failed\n"),
        (4, "stopped: 0 of 4 runs are finished. Nothing was written.", "1 of 4 runs failed\n"),
    ],
)
def test_messages_on_runs_that_did_not_end_agree_with_their_number(total: int, stopped: str, failed: str):
    with pytest.raises(InterruptedRunError) as interrupted, supervised(lambda: 0, total, None):
        raise KeyboardInterrupt
    assert str(interrupted.value) == stopped
    with pytest.raises(RunFailedError) as error, supervised(lambda: 0, total, None):
        raise Failures({"red, seed 1": ValueError("bad")})
    assert str(error.value).startswith(failed)
