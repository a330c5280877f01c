"""Names of ns-2 and ns-3 for parameters of disciplines, in texts and as keywords."""

import pytest

import headgate
from headgate.errors import UsageError
from headgate.qdiscs.spec import QdiscSpec


def test_a_name_of_the_reciprocal_becomes_the_parameter_with_one_over_the_value():
    spec = QdiscSpec.of("red:LInterm=50,MinTh=5,MaxTh=15,QW=0.002,adaptive_=0")
    assert spec.settings == {"maxp": "0.02", "minth": "5", "maxth": "15", "wq": "0.002"}


@pytest.mark.parametrize("value", ["0", "many", ""])
def test_a_value_without_a_reciprocal_is_refused(value: str):
    with pytest.raises(UsageError, match=r"`linterm_` is .* above 0: it is 1/`maxp`"):
        QdiscSpec.of(f"red:linterm_={value}")


def test_keywords_take_the_names_too():
    ours = headgate.qdisc("red", LInterm=50, Gentle=True, adaptive_=False)
    assert str(ours) == "red:LInterm=50,Gentle=on,adaptive_=off"


def test_a_scenario_names_the_discipline_that_a_switch_belongs_to():
    text = 'name = "x"\nduration = "1s"\nqdiscs = ["red:adaptive_=1"]\n[[tcp]]\n'
    text += '[link]\nrate = "10Mbit/s"\ndelay = "1ms"\nlimit = "100p"\n'
    with pytest.raises(headgate.ScenarioError, match=r"write `ared` for on"):
        headgate.Scenario.parse(text)
