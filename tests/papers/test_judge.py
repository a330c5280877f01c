"""Verdicts: a comparison holds, differs or is inconclusive."""

import math
from collections.abc import Callable
from random import Random

import pytest

from headgate import style
from headgate.analysis.judge import (
    Judgement,
    Quantity,
    Verdict,
    above,
    at_most,
    average,
    below,
    between,
    every,
    falls,
    near,
    rises,
    some,
)
from headgate.analysis.significance import LEAST_SEEDS

HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.INCONCLUSIVE


def q(*values: float) -> Quantity:
    return Quantity(values)


def around(mean: float, width: float = 0.1) -> Quantity:
    """Five seeds, at most `width` from their mean."""
    return q(*(mean + width * step for step in (0.0, 1.0, -1.0, 0.5, -0.5)))


def exact(value: float) -> Quantity:
    """A computed number."""
    return Quantity((value,), exact=True)


def test_a_clear_difference_holds_one_way_and_differs_the_other():
    small, large = around(1.0), around(2.0)
    assert below(small, large).verdict is HOLDS
    assert below(large, small).verdict is DIFFERS
    assert above(large, small).verdict is HOLDS
    assert above(small, large).verdict is DIFFERS


def test_overlapping_intervals_are_inconclusive():
    assert below(q(1.0, 3.0, 2.0, 2.5, 1.5), q(2.0, 1.0, 3.5, 1.2, 2.2)).verdict is OPEN


def test_seeds_are_compared_in_pairs():
    """Each pair differs by about 0.1 while seeds differ by 10: in pairs there is no doubt, taken apart there is."""
    a, b = q(1.0, 11.0, 21.0, 31.0, 41.0), q(1.1, 11.11, 21.09, 31.12, 41.08)
    assert below(a, b).verdict is HOLDS
    assert a.half > 10


#: Comparisons of a value that is clearly above 1 and below 3, all of which hold.
CLEAR: dict[str, Callable[[Quantity], Judgement]] = {
    "below": lambda value: below(value, 3.0),
    "below another": lambda value: below(value, value * 2),
    "above": lambda value: above(value, 1.0),
    "at most": lambda value: at_most(value, 3.0),
    "between": lambda value: between(value, 1.0, 3.0),
    "near": lambda value: near(value, 2.0, within=0.5),
    "rises": lambda value: rises([value, value * 2, value * 3]),
    "falls": lambda value: falls([value * 3, value * 2, value]),
    "every": lambda value: every([below(value, 3.0), above(value, 1.0)]),
    "some": lambda value: some([above(value, 3.0), above(value, 1.0)]),
}


@pytest.mark.parametrize("kind", CLEAR)
def test_fewer_than_five_seeds_decide_nothing(kind: str):
    values = around(2.0).per_seed
    assert CLEAR[kind](q(*values)).verdict is HOLDS
    for seeds in range(1, LEAST_SEEDS):
        judgement = CLEAR[kind](q(*values[:seeds]))
        assert judgement.verdict is OPEN
        assert f"too few seeds: {seeds} different run" in judgement.numbers


@pytest.mark.parametrize("kind", CLEAR)
def test_seeds_that_gave_the_same_run_or_have_no_value_do_not_count(kind: str):
    values = around(2.0).per_seed
    assert CLEAR[kind](Quantity(values * 4, tuple(range(4)) * 5)).verdict is OPEN
    assert CLEAR[kind](Quantity(values * 4, tuple(range(5)) * 4)).verdict is HOLDS
    assert CLEAR[kind](q(*values[:4], *[math.nan] * 16)).verdict is OPEN


@pytest.mark.parametrize("kind", CLEAR)
def test_computed_numbers_are_judged_by_their_sign(kind: str):
    assert CLEAR[kind](exact(2.0)).verdict is HOLDS


def test_a_computed_number_beside_a_measured_one_does_not_make_it_exact():
    assert below(q(1.0, 1.1), Quantity((2.0, 2.0), exact=True)).verdict is OPEN
    assert below(exact(2.0), 1.0).verdict is DIFFERS
    assert above(exact(3.0), exact(1.0), times=2.0).verdict is HOLDS


def test_runs_of_two_sides_are_different_if_those_of_one_are():
    same, own = Quantity((1.0,) * 5, (0,) * 5), Quantity(around(2.0).per_seed, tuple(range(5)))
    assert below(same, own).verdict is HOLDS
    assert below(same, same * 2).verdict is OPEN
    assert average([same, own]).repeats == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("seeds", [1, 5])
def test_a_tie_neither_holds_nor_differs(seeds: int):
    assert below(q(*[0.3] * seeds), q(*[0.1] * seeds) * 3).verdict is OPEN
    for tie in (0.0, 1.0):
        for compare in (below, above):
            for other in (tie, q(*[tie] * seeds)):
                judgement = compare(q(*[tie] * seeds), other)
                assert judgement.verdict is OPEN
                assert judgement.numbers.endswith(": equal")


def test_the_interval_uses_students_t():
    # t for 2 degrees of freedom is 4.302653 and the deviation of 1, 2, 3 is 1: half = 4.302653 / sqrt(3).
    assert q(1.0, 2.0, 3.0).half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert q(1.0).half == 0


def test_zero_is_at_most_zero():
    assert at_most(q(*[0.0] * 5), 0.0).verdict is HOLDS
    assert at_most(q(*[0.5] * 5), 0.0).verdict is DIFFERS
    assert at_most(q(0.0, 0.0, 0.0, 0.0, 0.1), 0.0).verdict is OPEN


def test_ranges():
    assert between(around(5.0), 4.0, 7.0).verdict is HOLDS
    assert between(around(9.0), 4.0, 7.0).verdict is DIFFERS
    assert between(around(4.0, 1.0), 4.0, 7.0).verdict is OPEN
    assert near(around(100.0), 105.0, within=0.1).verdict is HOLDS


def test_a_trend_needs_its_ends_and_has_no_large_step_back():
    up = [around(1.0), around(2.0), around(3.0)]
    assert rises(up).verdict is HOLDS
    assert falls(up).verdict is DIFFERS
    assert falls(up[::-1]).verdict is HOLDS
    assert rises(up[:1]).verdict is OPEN
    assert rises([up[0], up[0]]).verdict is OPEN
    assert rises(up).numbers == "claimed to rise, measured 1.00 ± 0.098 to 3.00 ± 0.098"


def test_a_step_back_counts_from_a_tenth_of_the_rise():
    start, middle, end = (around(mean, 0.001) for mean in (0.0, 5.0, 10.0))
    assert rises([start, middle, around(4.5, 0.001), end]).verdict is HOLDS
    large = rises([start, middle, around(3.5, 0.001), end])
    assert large.verdict is DIFFERS
    assert "5.00 ± 0.00098 is followed by 3.50 ± 0.00098" in large.numbers


def test_many_small_steps_back_are_a_large_one():
    points = [0.0, 5.0, 4.6, 4.2, 3.8, 10.0]
    assert rises([around(each, 0.001) for each in points]).verdict is DIFFERS


def test_a_noisy_curve_is_inconclusive_and_more_seeds_decide_it():
    def curve(seeds: int) -> list[Quantity]:
        """Points at 0, 5, 5, 10 with a noise of 1 in each seed, which averages to 0 over two seeds."""
        noise = [(-1.0) ** seed for seed in range(seeds)]
        return [q(*(at + sign * each for each in noise)) for at, sign in ((0, 1), (5, -1), (5, 1), (10, -1))]

    assert rises(curve(6)).verdict is OPEN
    assert rises(curve(20)).verdict is HOLDS


def test_an_unmeasured_quantity_is_inconclusive():
    nothing = q(math.nan, math.nan)
    assert below(nothing, 1.0).verdict is OPEN
    assert at_most(nothing, 1.0).verdict is OPEN
    assert between(nothing, 0.0, 1.0).verdict is OPEN
    assert str(nothing) == "\N{EN DASH}"


def test_every_and_some_combine_verdicts():
    yes, no = below(around(1.0), 20.0), above(around(1.0), 20.0)
    maybe = below(around(2.4, 1.0), 2.5)
    assert every([yes, yes]).verdict is HOLDS
    assert every([yes, maybe]).verdict is OPEN
    assert every([yes, maybe, no]).verdict is DIFFERS
    assert some([no, maybe]).verdict is OPEN
    assert some([no, yes]).verdict is HOLDS
    assert some([no, no]).verdict is DIFFERS
    assert every([no, no]).numbers == f"{no.numbers} (and 1 more)"


def test_of_many_comparisons_a_chance_result_decides_none():
    """Each comparison alone is wrong at 2.5 %: of 40 conditions that hold by a hair, some seem to differ."""
    random = Random(1)

    def noise(mean: float) -> Quantity:
        return q(*(random.gauss(mean, 1.0) for _ in range(5)))

    claims = [[below(noise(0.0), 0.0) for _ in range(40)] for _ in range(200)]
    alone = sum(any(each.verdict is DIFFERS for each in claim) for claim in claims)
    together = sum(every(claim).verdict is DIFFERS for claim in claims)
    assert alone > 80  # 1 - 0.975 ** 40 is 64 %
    assert together <= 12  # 2.5 % are expected
    assert sum(some(claim).verdict is HOLDS for claim in claims) <= 12
    clear = [below(noise(-9.0), 0.0) for _ in range(39)]
    assert every([*clear, below(noise(9.0), 0.0)]).verdict is DIFFERS


@pytest.mark.parametrize("margin", [0.0, 0.5, 1.0])
def test_fewer_seeds_never_make_a_claim_easier(margin: float):
    """More of the random results hold with more seeds: for one comparison, many, and a trend."""
    random = Random(2)

    def share(conditions: Callable[[int], Judgement], seeds: int) -> float:
        return sum(conditions(seeds).verdict is HOLDS for _ in range(300)) / 300

    def noise(mean: float, seeds: int) -> Quantity:
        return q(*(random.gauss(mean, 0.5) for _ in range(seeds)))

    kinds: dict[str, Callable[[int], Judgement]] = {
        "one": lambda seeds: below(noise(-margin, seeds), 0.0),
        "many": lambda seeds: every(below(noise(-margin, seeds), 0.0) for _ in range(6)),
        "trend": lambda seeds: rises([noise(each * margin, seeds) for each in range(6)]),
    }
    for kind, conditions in kinds.items():
        few, more = share(conditions, 5), share(conditions, 12)
        assert few <= more + 0.04, kind


def test_numbers_say_claim_and_measurement_with_digits_that_tell_them_apart():
    assert above(around(2499.0, 3.0), 2500).numbers == (
        "claimed above 2\N{NARROW NO-BREAK SPACE}500, measured 2\N{NARROW NO-BREAK SPACE}499 ± 2.9"
    )
    close = below(around(1.2005, 0.001), around(1.2002, 0.001))
    assert close.numbers == "claimed below 1.2002 ± 0.00098, measured 1.2005 ± 0.00098"
    assert str(q(1.0, 1.0 + 1e-12)) == "1.00"
    assert below(exact(4.0), exact(1.0), times=3).numbers == "claimed below 3 times 1.00, measured 4.00"


#: A quantity with values, and some without: in no seed, and in other seeds than the first.
KNOWN, NEVER, OTHER_SEEDS = q(1.0, 2.0, math.nan), q(*[math.nan] * 3), q(math.nan, math.nan, 3.0)


@pytest.mark.parametrize(
    ("judgement", "numbers"),
    [
        (below(NEVER, NEVER), "no run has a value to compare"),
        (above(NEVER, KNOWN), "claimed above 1.50 ± 6.4, but no run has a value to compare with it"),
        (below(NEVER, KNOWN, times=2), "claimed below 2 times 1.50 ± 6.4, but no run has a value to compare with it"),
        (below(NEVER, 3.0), "claimed below 3.00, but no run has a value to compare with it"),
        (below(KNOWN, NEVER), "measured 1.50 ± 6.4, but no run has a value to compare it with"),
        (above(KNOWN, OTHER_SEEDS), "claimed above 3.00, measured 1.50 ± 6.4, but no run has both values"),
        (at_most(NEVER, 0), "claimed at most 0, but no run has a value to compare with it"),
        (between(NEVER, 1, 2), "claimed 1.00 to 2.00, but no run has a value to compare with it"),
        (near(NEVER, 10, within=0.1), "claimed 9.00 to 11.0, but no run has a value to compare with it"),
        (rises([NEVER, KNOWN, KNOWN]), "claimed to rise, but no run has a value of point 1 of 3"),
        (falls([KNOWN, NEVER, NEVER, KNOWN]), "claimed to fall, but no run has a value of points 2 and 3 of 4"),
        (rises([NEVER, NEVER]), "claimed to rise, but no run has a value of points 1 and 2 of 2"),
        (every([below(NEVER, NEVER), below(exact(1.0), 2.0)]), "no run has a value to compare"),
        (some([below(NEVER, NEVER), below(exact(3.0), 2.0)]), "no run has a value to compare"),
    ],
)
def test_a_comparison_without_a_value_says_what_is_missing(judgement: Judgement, numbers: str):
    assert judgement == Judgement(OPEN, numbers, judgement.p_holds, judgement.p_differs)
    assert style.MISSING not in judgement.numbers


def test_a_curve_with_a_gap_may_differ_but_never_holds():
    low, high = around(1.0), around(2.0)
    assert rises([low, high]).verdict is HOLDS
    assert rises([low, NEVER, high]).verdict is OPEN
    falling = rises([high, NEVER, low])
    assert (falling.verdict, falling.numbers) == (DIFFERS, "claimed to rise, measured 2.00 ± 0.098 to 1.00 ± 0.098")


def test_arithmetic_is_done_for_each_seed():
    assert (q(4.0, 9.0) / q(2.0, 3.0)).per_seed == (2.0, 3.0)
    assert math.isnan((q(1.0) / q(0.0)).per_seed[0])
    assert (q(1.0, 2.0) * 10).per_seed == (10.0, 20.0)


@pytest.mark.parametrize(("value", "bound", "judge"), [(0.0, 0.001, below), (1.0, 0.9999, above), (1.0, 0.95, above)])
def test_an_end_of_a_shares_range_in_every_seed_decides(value: float, bound: float, judge: Callable[..., Judgement]):
    assert judge(Quantity((value,) * 5, tuple(range(5))), bound).verdict is Verdict.HOLDS
    assert judge(Quantity((value,) * 4, tuple(range(4))), bound).verdict is Verdict.INCONCLUSIVE
