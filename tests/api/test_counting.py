"""Words agree with the number before them."""

import pytest

from headgate.counting import agreeing, counted


@pytest.mark.parametrize(("count", "text"), [(0, "0 flows"), (1, "1 flow"), (2, "2 flows"), (21, "21 flows")])
def test_a_noun_has_the_plural_beside_every_number_but_one(count: int, text: str):
    assert counted(count, "flow") == text


def test_a_plural_of_its_own_is_given():
    assert [counted(count, "differs", "differ") for count in (0, 1, 2)] == ["0 differ", "1 differs", "2 differ"]
    assert [agreeing(count, "was", "were") for count in (0, 1, 2)] == ["were", "was", "were"]
