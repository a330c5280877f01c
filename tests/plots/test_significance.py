"""Statements on differences: what seeds show, how often a false best is claimed, and how often a real one is found."""

import math
from itertools import product

import numpy as np
import pytest

from headgate.analysis.pairs import ComparedPairs
from headgate.analysis.significance import (
    LEAST_SEEDS,
    MOST_SEEDS,
    equivalent,
    holm,
    paired,
    rounding,
    seeds_needed,
    t_test,
    unpaired,
)
from headgate.analysis.spread import student_t

#: Made-up results of each kind.
RESULTS = 1000
#: Disciplines and seeds of made-up results.
SIZES = list(product((3, 7), (5, 20)))


def made_up(rng: np.random.Generator, qdiscs: int, seeds: int, ahead: float = 0.0) -> ComparedPairs:
    """Disciplines with a common part in each seed; the first is `ahead` deviations less than the others."""
    values = rng.normal(size=(qdiscs, seeds)) + 3 * rng.normal(size=seeds)
    values[0] -= ahead
    return ComparedPairs({"delay": {f"D{number}": list(row) for number, row in enumerate(values)}})


def test_students_t_of_a_table():
    # The differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3) = 3.464 with 2 degrees of freedom: p = 0.0742.
    test = t_test([1.0, 2.0, 3.0])
    assert (test.mean, test.runs) == (2.0, 3)
    assert test.half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert test.p == pytest.approx(0.07418, abs=1e-5)
    assert test.p_above == pytest.approx(test.p / 2)
    differences = [0.9, 2.1, 1.4, 1.8, 0.4]
    assert paired([3 * value for value in differences], [2 * value for value in differences]) == pytest.approx(
        t_test(differences)
    )


def test_one_seed_shows_nothing_and_has_no_interval():
    test = paired([1.0], [100.0])
    assert (test.half, test.p) == (None, 1.0)
    one = ComparedPairs({"delay": {"a": [1.0], "b": [100.0]}})
    assert one.best("delay") is None
    assert one.leaders("delay") == ["a", "b"]
    assert one.needed("delay") is None


def test_equal_values_differ_in_no_way_and_equal_differences_of_unrounded_values_in_every_way():
    assert paired([0.3] * 5, [0.1 * 3] * 5).p == 1.0
    assert paired([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0]).p == 0.0
    assert t_test([]).runs == 0


@pytest.mark.parametrize("seeds", range(1, LEAST_SEEDS))
def test_fewer_than_five_seeds_show_no_difference(seeds: int):
    one = [float(seed) for seed in range(seeds)]
    other = [100 + 1.01 * value for value in one]
    assert paired(one, other).p == unpaired(one, other).p == 1.0
    assert not ComparedPairs({"delay": {"a": one, "b": other}}).starred("delay")


def test_equivalence_needs_the_whole_interval_and_five_seeds():
    # Deviation 1, five seeds: half the interval is 2.776445 / sqrt(5) = 1.2417.
    values = [math.sqrt(2.5) * 0.4 * step for step in (-2, -1, 0, 1, 2)]
    test = t_test([value + 0.5 for value in values])
    assert test.half == pytest.approx(2.776445 / math.sqrt(5), rel=1e-6)
    assert equivalent(test, 0.5 + 1.2418) is True
    assert equivalent(test, 0.5 + 1.2416) is False
    for seeds in range(LEAST_SEEDS):
        assert equivalent(t_test([0.0] * seeds), 1.0) is False
    assert equivalent(t_test([0.0] * LEAST_SEEDS), 1.0) is True


def test_a_difference_as_large_as_the_margin_is_called_equivalent_in_at_most_two_and_a_half_percent():
    rng = np.random.default_rng(3)
    false = sum(equivalent(t_test(list(rng.normal(1.0, 0.3, size=6))), 1.0) for _ in range(4000)) / 4000
    # Three deviations of a binomial. The two tests together err as often as the nearer one.
    assert 0.01 < false <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 4000)
    assert sum(equivalent(t_test(list(rng.normal(0.0, 0.3, size=6))), 1.0) for _ in range(200)) > 190


def test_equal_values_show_that_they_are_rounded():
    # Whole numbers on both sides are counts; else the least difference, or a bin of a histogram, is the width.
    assert rounding([1.0, 1.0, 4.0], [2.0, 3.0, 5.0]) == [1 / 12, 0.0]
    assert rounding([1.5, 1.5, 4.0, 4.25]) == [0.25**2 / 12]
    assert rounding([12.8] * 3) == pytest.approx([0.2**2 / 12])
    assert rounding([1.0, 2.0], [0.5, 0.5]) == pytest.approx([0.0, (0.5 / 64) ** 2 / 12])
    assert rounding([math.nan, 1.5]) == [0.0]


def test_one_timeout_more_in_each_of_five_seeds_is_no_difference_among_three_disciplines():
    timeouts = {"a": [0.0] * 5, "b": [1.0] * 5, "c": [9.0] * 5}
    compared = ComparedPairs({"timeouts": timeouts})
    # Two counts rounded to whole numbers: a deviation of sqrt(1 / 6), so t = 5.48 with 4 degrees of freedom.
    assert compared.pair("timeouts", "b", "a").test.p == pytest.approx(0.0054, abs=1e-4)
    assert compared.starred("timeouts") == ["a"]


def test_seeds_without_a_value_are_left_out():
    assert paired([1.0, math.nan, 3.0], [0.0, 9.0, 1.0]).runs == 2


def test_independent_runs_are_compared_by_welch():
    # Equal variances of 2.5 and five runs each: 8 degrees of freedom, of which Student's t is 2.306004.
    test = unpaired([5.0, 6.0, 7.0, 8.0, 9.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert test.half == pytest.approx(2.306004 * math.sqrt(2 * 2.5 / 5), rel=1e-6)
    assert test.p_above < 0.01


def test_holm_multiplies_the_least_by_all_and_never_falls():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_the_best_is_named_only_if_it_differs_from_every_other():
    a, c = [1.0, 1.1, 0.9, 1.05, 0.95], [9.0, 9.2, 9.1, 8.9, 9.3]
    near = ComparedPairs({"delay": {"a": a, "b": [1.0, 0.9, 1.3, 1.1, 0.8], "c": c}})
    assert near.best("delay") is None
    assert near.leaders("delay") == near.starred("delay") == ["a", "b"]
    assert near.pair("delay", "c", "a").test.mean == pytest.approx(8.1)
    far = ComparedPairs({"delay": {"a": a, "b": [5.0, 5.1, 5.3, 5.2, 4.9], "c": c}})
    assert far.best("delay") == "a"
    assert far.starred("delay") == ["a"]


def test_a_discipline_whose_seeds_differ_much_has_no_star_for_that_reason():
    # "wide" is not shown to be worse than "a", nor better than any: only its spread keeps it from being worse.
    a, worst = [1.0, 1.1, 0.9, 1.05, 0.95], [9.0, 9.2, 9.1, 8.9, 9.3]
    compared = ComparedPairs({"delay": {"a": a, "wide": [0.5, 18.0, 2.0, 1.0, 13.0], "worst": worst}})
    assert compared.leaders("delay") == ["a", "wide"]
    assert compared.starred("delay") == ["a"]


def test_a_discipline_that_another_than_the_first_is_shown_to_beat_has_no_star():
    # The first varies too much to be shown better than "c"; "b" always is, by the same amount.
    b = [1.0, 1.3, 0.9, 1.25, 0.95]
    values = {"first": [0.1, 2.4, 0.2, 1.5, 0.6], "b": b, "c": [each + 0.2 + wobble for each, wobble in zip(
        b, (0.001, -0.001, 0.002, 0.0, -0.002), strict=True)], "d": [each + 9 for each in b]}  # fmt: skip
    compared = ComparedPairs({"delay": values})
    assert compared.leaders("delay") == ["first", "b", "c"]
    assert "c" not in compared.starred("delay")


def test_seeds_that_gave_the_same_runs_count_once():
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.1, 4.0, 5.1, 6.0]
    often = ComparedPairs({"delay": {"a": [*a, *a], "b": [*b, *b]}}, {key: [*range(5), *range(5)] for key in "ab"})
    once = ComparedPairs({"delay": {"a": a, "b": b}})
    assert often.all == once.all
    # Of a discipline without randomness each seed is the same run, but not of that with which it is compared.
    fixed = ComparedPairs({"delay": {"a": [1.0] * 5, "b": b}}, {"a": [0] * 5, "b": [0, 1, 2, 3, 4]})
    assert fixed.all[0].test.runs == 5
    assert ComparedPairs({"delay": {"a": a, "b": b}}, {"a": [0] * 5, "b": [0] * 5}).all[0].test.p == 1.0


@pytest.mark.parametrize(("qdiscs", "seeds"), SIZES)
def test_a_best_that_does_not_exist_is_claimed_in_at_most_five_percent_of_made_up_results(qdiscs: int, seeds: int):
    rng = np.random.default_rng([qdiscs, seeds])
    results = [made_up(rng, qdiscs, seeds) for _ in range(RESULTS)]
    assert sum(each.best("delay") is not None for each in results) <= 0.05 * RESULTS
    # The whole family errs at 5 %: three deviations of a binomial count above that.
    any_pair = sum(any(pair.shown for pair in each.all) for each in results)
    assert any_pair <= 50 + 3 * math.sqrt(RESULTS * 0.05 * 0.95)


def test_two_equal_disciplines_are_told_apart_in_five_percent_of_results(capsys: pytest.CaptureFixture[str]):
    """The t test is exact: 5 % by design, so 1000 results have 35 to 63 false claims by chance alone.

    With two disciplines there is one test, and Holm's correction leaves it as it is. 20 000 results of each number of
    seeds therefore bound the rate. It counts as at most 5 % unless the 99 % interval lies above.
    """
    rng = np.random.default_rng(2)
    rates = {seeds: np.mean(_told_apart(rng.normal(size=(20_000, seeds)))) for seeds in (5, 10, 20)}
    margin = 2.576 * math.sqrt(0.05 * 0.95 / 20_000)
    with capsys.disabled():
        print("\nfalse claims with two equal disciplines: " + ", ".join(
            f"{rate:.2%} ± {margin:.2%} with {seeds} seeds" for seeds, rate in rates.items()
        ))  # fmt: skip
    assert all(abs(rate - 0.05) <= margin for rate in rates.values()), rates
    # The same decision as that of `ComparedPairs`, which the printed statements use.
    rows = rng.normal(size=(100, 5))
    claimed = [ComparedPairs({"delay": {"a": list(row), "b": [0.0] * 5}}).best("delay") is not None for row in rows]
    assert claimed == list(_told_apart(rows))


def _told_apart(differences: np.ndarray) -> np.ndarray:
    """Whether a paired t test at 5 % shows a mean other than 0, by row."""
    count = differences.shape[1]
    error = differences.std(axis=1, ddof=1) / math.sqrt(count)
    shown: np.ndarray = np.abs(differences.mean(axis=1)) > student_t(count - 1) * error
    return shown


def test_a_best_that_exists_is_found(capsys: pytest.CaptureFixture[str]):
    """The power: the share of results in which the first of three disciplines is named best, by its lead and seeds."""
    rng = np.random.default_rng(3)
    power = {
        (lead, seeds): np.mean([made_up(rng, 3, seeds, lead).best("delay") == "D0" for _ in range(300)])
        for lead in (1, 2, 5, 20)
        for seeds in (5, 10, 20)
    }
    with capsys.disabled():
        print("\npower, by lead in deviations of a seed: " + "; ".join(
            f"{lead}: " + ", ".join(f"{power[lead, seeds]:.0%} with {seeds} seeds" for seeds in (5, 10, 20))
            for lead in (1, 2, 5, 20)
        ))  # fmt: skip
    for lead in (1, 2, 5, 20):
        assert power[lead, 5] <= power[lead, 10] <= power[lead, 20]
    assert power[2, 20] > 0.95
    assert power[5, 5] > 0.95


@pytest.mark.parametrize("effect", [0.4, 1.0, 1.7])
def test_the_seeds_that_would_show_a_difference_show_it_four_times_of_five(effect: float):
    values = [-1.0, 1.0]
    deviation = math.sqrt(2)
    test = t_test([effect * deviation + value for value in values])
    needed = seeds_needed(test, 1)
    assert needed is not None
    rng = np.random.default_rng(4)
    found = np.mean([t_test(list(rng.normal(effect, 1.0, needed))).p < 0.05 for _ in range(1000)])
    # Whole seeds and a t in place of a noncentral t: never less than 80 % by more than chance, at most 8 % more.
    assert 0.8 - 3 * math.sqrt(0.16 / 1000) <= found <= 0.93


def test_more_tests_need_more_seeds_and_no_difference_needs_too_many():
    test = t_test([0.5, 1.5, 1.0, 3.0])
    alone, among_many = seeds_needed(test, 1), seeds_needed(test, 21)
    assert alone is not None
    assert among_many is not None
    assert alone < among_many < MOST_SEEDS
    assert seeds_needed(t_test([-1.0, 1.001]), 1) is None
