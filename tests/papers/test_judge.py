"""Three-valued comparison: what holds, what differs and what is inconclusive."""

import math

import pytest

from headgate.analysis.judge import (
    Judgement,
    Quantity,
    Verdict,
    above,
    at_most,
    below,
    between,
    every,
    falls,
    near,
    rises,
    some,
)

HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.INCONCLUSIVE


def q(*values: float) -> Quantity:
    return Quantity(values)


def test_a_clear_difference_holds_one_way_and_differs_the_other():
    small, large = q(1.0, 1.1, 0.9), q(2.0, 2.1, 1.9)
    assert below(small, large).verdict is HOLDS
    assert below(large, small).verdict is DIFFERS
    assert above(large, small).verdict is HOLDS
    assert above(small, large).verdict is DIFFERS


def test_overlapping_intervals_cannot_tell():
    assert below(q(1.0, 3.0, 2.0), q(2.0, 1.0, 3.5)).verdict is OPEN


def test_seeds_are_compared_in_pairs():
    """Each pair differs by about 0.1 while seeds differ by 10: in pairs there is no doubt, taken apart there is."""
    a, b = q(1.0, 11.0, 21.0), q(1.1, 11.11, 21.09)
    assert below(a, b).verdict is HOLDS
    assert a.half > 10


def test_one_seed_is_judged_by_its_sign_and_equality_is_not_less():
    assert below(q(1.0), 2.0).verdict is HOLDS
    assert below(q(2.0), 1.0).verdict is DIFFERS
    assert below(q(2.0), 2.0).verdict is DIFFERS
    assert above(q(3.0), q(1.0), times=2.0).verdict is HOLDS


def test_the_interval_is_students():
    # t for 2 degrees of freedom is 4.302653 and the deviation of 1, 2, 3 is 1: half = 4.302653 / sqrt(3).
    assert q(1.0, 2.0, 3.0).half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert q(1.0).half == 0


def test_nothing_at_all_is_at_most_zero():
    assert at_most(q(0.0, 0.0, 0.0), 0.0).verdict is HOLDS
    assert at_most(q(0.5, 0.5, 0.5), 0.0).verdict is DIFFERS
    assert at_most(q(0.0, 0.0, 0.1), 0.0).verdict is OPEN


def test_ranges():
    assert between(q(5.0, 5.1), 4.0, 7.0).verdict is HOLDS
    assert between(q(9.0, 9.01), 4.0, 7.0).verdict is DIFFERS
    assert between(q(3.0, 5.0), 4.0, 7.0).verdict is OPEN
    assert near(q(100.0, 100.1), 105.0, within=0.1).verdict is HOLDS


def test_trends_need_their_ends_and_bear_no_clear_step_back():
    up = [q(1.0, 1.1, 0.9), q(2.0, 2.1, 1.9), q(3.0, 3.1, 2.9)]
    assert rises(up).verdict is HOLDS
    assert falls(up).verdict is DIFFERS
    assert falls(up[::-1]).verdict is HOLDS
    dip = [up[0], q(0.1, 0.2, 0.0), up[2]]
    assert rises(dip).verdict is DIFFERS
    assert "followed by" in rises(dip).numbers
    assert rises(up[:1]).verdict is OPEN
    noisy = [up[0], q(0.0, 2.5, 1.0), up[2]]
    assert rises(noisy).verdict is HOLDS


def test_an_unmeasured_quantity_is_inconclusive():
    nothing = q(math.nan, math.nan)
    assert below(nothing, 1.0).verdict is OPEN
    assert at_most(nothing, 1.0).verdict is OPEN
    assert between(nothing, 0.0, 1.0).verdict is OPEN
    assert str(nothing) == "\N{EN DASH}"


def test_several_at_once():
    yes, no, maybe = (Judgement(verdict, verdict.value) for verdict in (HOLDS, DIFFERS, OPEN))
    assert every([yes, yes]).verdict is HOLDS
    assert every([yes, maybe]).verdict is OPEN
    assert every([yes, maybe, no]) == Judgement(DIFFERS, "differs")
    assert some([no, maybe]).verdict is OPEN
    assert some([no, yes]).verdict is HOLDS
    assert every([no, no]).numbers == "differs (and 1 more)"


def test_arithmetic_is_seed_by_seed():
    assert (q(4.0, 9.0) / q(2.0, 3.0)).per_seed == (2.0, 3.0)
    assert math.isnan((q(1.0) / q(0.0)).per_seed[0])
    assert (q(1.0, 2.0) * 10).per_seed == (10.0, 20.0)
