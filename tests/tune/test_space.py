"""The ranges of a search, and how values are written."""

import re

import optuna
import pytest

import headgate
from headgate.errors import UsageError
from headgate.qdiscs import values
from headgate.qdiscs.spec import QdiscSpec
from headgate.scenario import Scenario
from headgate.tuning.space import ChoiceAxis, RangeAxis, around, numbers, settings, space
from tests.conftest import SMALL

SFB = QdiscSpec.of("sfb")


@pytest.mark.parametrize("name", [each.name for each in headgate.disciplines()])
def test_the_ends_of_every_range_are_values_the_discipline_takes(name: str):
    base = QdiscSpec.of(name)
    for parameter in base.discipline.parameters:
        interval = around(base, parameter, 100.0)
        for end in (interval.low, interval.high) if interval is not None else ():
            # Two parameters may contradict each other (minth above maxth); the value by itself must be one.
            assert f"`{parameter.name}` is " not in refusal(base.with_settings({parameter.name: interval.text(end)}))


def refusal(spec: QdiscSpec) -> str:
    try:
        Scenario.parse(SMALL, qdiscs=[str(spec)])
    except headgate.ScenarioError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("boxtime", "500us to 5s, log"),  # a hundredth of 50 ms to a hundred times it
        ("d1", "0.00005 to 0.5, log"),
        ("levels", "1 to 8"),  # the declared range is narrower, and spans less than two decades
        ("Boxtime=1ms..1s", "1ms to 1s, log"),
        ("d1=0..0.5", "0 to 0.5"),
        ("penalty=rate,boxtime", "rate or boxtime"),
        ("double_buffer", "on or off"),
        ("bin_max=10p..40p", "10p to 40p, log"),
        ("bin_size=1%..5%", "1% to 5%, log"),
    ],
)
def test_a_range_is_declared_narrowed_or_a_list(written: str, shown: str):
    assert str(space(SFB, [written])[0]) == shown


def test_without_names_all_numeric_parameters_but_the_limit_are_searched():
    names = [axis.name for axis in space(SFB, [])]
    assert {"bins", "d1", "boxtime", "rehash"} <= set(names)
    assert not {"limit", "penalty", "ecn", "warmup"} & set(names)


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("boxtme", "no parameter 'boxtme'; did you mean 'boxtime'"),
        ("d1=0..2", "d1 cannot be 2: it is number, 0 to 1"),
        ("freeze_time=..1s", "expected two values of freeze_time"),
        ("boxtime=1..2", "expected two values of boxtime"),
        ("boxtime=2s..1s", "the first end must be below the second"),
        ("boxtime=5ms", "one value is no choice"),
        ("penalty=rate,bx", "penalty cannot be 'bx'"),
        ("warmup", "warmup is auto; give a range"),
    ],
)
def test_parameters_that_cannot_be_searched_are_refused(written: str, wrong: str):
    with pytest.raises(UsageError, match=re.escape(wrong)):
        space(SFB, [written])
    with pytest.raises(UsageError, match="more than once"):
        space(SFB, ["d1", "delta1"])


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("time", 12.3456, "12.3ms"),
        ("time", 0.00123, "1.23us"),
        ("time", 61_000.0, "61s"),
        ("rate", 1_234_567.0, "1.23Mbit/s"),
        ("bytes", 1514.0, "1.514KB"),
        ("number", 0.000024414, "0.0000244"),
        ("whole number", 4095.4, "4095"),
    ],
)
def test_values_are_written_with_their_unit_to_three_digits(unit: str, value: float, text: str):
    kinds = {parameter.kind: parameter for each in headgate.disciplines() for parameter in each.parameters}
    assert values.scales(kinds[unit])[0].text(value) == text


def test_rounding_does_not_leave_the_range():
    (axis,) = space(SFB, ["boxtime=1.2345ms..9.8765ms"])
    assert isinstance(axis, RangeAxis)
    assert (axis.text(axis.low), axis.text(axis.high), axis.text(5.4321)) == ("1.2345ms", "9.8765ms", "5.43ms")


def test_the_original_values_are_written_unchanged():
    base = QdiscSpec.of("cobalt")  # its decrement, 1/4096, has more digits than a search writes
    axes = space(base, ["decrement", "mtu"])
    now = numbers(axes, base)
    assert now == {"decrement": 1 / 4096, "mtu": 1514}
    study = optuna.create_study()
    study.enqueue_trial(now)
    assert settings(axes, base, study.ask()) == {"decrement": base.value("decrement"), "mtu": base.value("mtu")}
    assert base.with_settings({"decrement": "0.000244"}).settings == {"decrement": "0.000244"}


def test_an_unchanged_setting_is_not_written():
    base = QdiscSpec.of("sfb:L=3,preset=blue")
    assert str(base.with_settings({"d1": base.value("d1"), "levels": "4"})) == "sfb:levels=4,preset=blue"
    assert str(QdiscSpec.of("drr:classes=[red:maxp=0.1,minth=5p],quantum=500B").with_settings({"quantum": "600B"})) == (
        "drr:classes=[red:maxp=0.1,minth=5p],quantum=600B"
    )
    assert str(QdiscSpec.of("sfb:boxtime=1000ms").with_settings({"boxtime": "1s"})) == "sfb:boxtime=1000ms"
    assert isinstance(space(base, ["ecn"])[0], ChoiceAxis)
