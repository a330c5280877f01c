"""Steadiness of series over time: autocorrelation, independent samples, drift, and where to cut off the beginning."""

import math

import numpy as np
import pytest

from headgate.analysis.significance import ALPHA
from headgate.analysis.steadiness import LEAST_INTERVALS, LEAST_SAMPLES, drift, long_run, mser, samples

#: Made-up results of each kind.
RESULTS = 400


def correlated(rng: np.random.Generator, intervals: int, time: float, seeds: int = 1) -> list[np.ndarray]:
    """Steady series of deviation 1 around 10. AR(1) with coefficient phi has the time (1 + phi) / (1 - phi)."""
    phi = (time - 1) / (time + 1)
    values = np.empty((seeds, intervals))
    now = rng.normal(size=seeds)
    for interval in range(intervals):
        now = phi * now + math.sqrt(1 - phi**2) * rng.normal(size=seeds)
        values[:, interval] = now
    return list(10 + values)


def share_of_drifts(rng: np.random.Generator, intervals: int, time: float, seeds: int, added: np.ndarray) -> float:
    found = [drift([one + added for one in correlated(rng, intervals, time, seeds)]) for _ in range(RESULTS)]
    return sum(each is not None and each.p < ALPHA for each in found) / RESULTS


def test_white_noise_has_about_as_many_independent_samples_as_intervals():
    rng = np.random.default_rng(1)
    counts = [samples(rng.normal(size=400)) for _ in range(50)]
    assert np.median(counts) == pytest.approx(400, rel=0.15)
    assert max(counts) <= 400


@pytest.mark.parametrize("time", [3.0, 9.0, 19.0])
def test_the_autocorrelation_time_of_an_ar1_series_is_known(time: float):
    rng = np.random.default_rng(2)
    # 20 series of 2000 intervals: the estimate spreads by a few percent.
    found = long_run(correlated(rng, 2000, time, seeds=20))
    assert found is not None
    assert found.time == pytest.approx(time, rel=0.1)
    # The mean of n intervals has the variance `variance / n`, n times that of independent intervals over the time.
    assert found.variance == pytest.approx(time, rel=0.1)


@pytest.mark.parametrize(
    ("intervals", "time", "seeds"), [(100, 3, 1), (200, 19, 1), (300, 9, 2), (100, 3, 5), (300, 9, 10)]
)
def test_steady_series_drift_in_at_most_five_percent(intervals: int, time: float, seeds: int):
    rng = np.random.default_rng(3)
    # Three deviations of a binomial above 5 %.
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / RESULTS)
    assert share_of_drifts(rng, intervals, time, seeds, np.zeros(intervals)) <= most


@pytest.mark.parametrize("seeds", [1, 5])
def test_ramps_transients_and_steps_are_found(seeds: int):
    rng = np.random.default_rng(4)
    at = np.arange(300) / 300
    shapes = {"ramp": 2.5 * at, "transient": 4 * np.exp(-at * 5), "step": 1.5 * (at > 0.4)}
    for name, shape in shapes.items():
        assert share_of_drifts(rng, 300, 3, seeds, shape) > 0.85, name


def test_a_drift_has_its_size_and_sign():
    noise = np.random.default_rng(5).normal(size=400)
    found = drift([noise + np.where(np.arange(400) < 200, 20.0, 30.0)])
    assert found is not None
    assert found.change == pytest.approx(10, abs=0.3)
    assert found.mean == pytest.approx(25, abs=0.2)
    assert found.relative == pytest.approx(0.4, abs=0.02)
    assert found.p < 1e-6


def test_a_constant_series_is_steady_and_a_step_between_constants_is_a_drift():
    steady, step = drift([np.full(120, 3.0)]), drift([np.repeat([3.0, 4.0], 60)])
    assert steady is not None
    assert step is not None
    assert (steady.change, steady.p, steady.samples) == (0.0, 1.0, 120)
    assert (step.change, step.p) == (1.0, 0.0)


def test_too_few_intervals_or_too_long_a_correlation_cannot_be_told():
    rng = np.random.default_rng(6)
    short = drift([rng.normal(size=LEAST_INTERVALS - 1)])
    assert short is not None
    assert (short.samples, short.told, short.p) == (None, False, 1.0)
    assert samples(rng.normal(size=LEAST_INTERVALS - 1)) is None
    assert drift([]) is None
    assert drift([np.array([1.0, math.nan] * 50)]) is None
    # A walk of 200 steps has hardly two independent samples.
    walks = [np.cumsum(rng.normal(size=200)) for _ in range(100)]
    told = [walk for walk in walks if (found := drift([walk])) is not None and found.told]
    assert told == [walk for walk in walks if (count := samples(walk)) is not None and count >= LEAST_SAMPLES]
    assert len(told) <= 5


def test_where_a_window_holds_too_few_samples_five_seeds_can_show_a_drift_and_four_cannot():
    rng = np.random.default_rng(9)
    walks = [np.cumsum(0.5 + rng.normal(size=400)) for _ in range(5)]
    five, four = drift(walks), drift(walks[:4])
    assert five is not None
    assert four is not None
    assert (five.told, four.told, four.p) == (False, False, 1.0)
    assert five.p < ALPHA
    still = [drift([np.cumsum(rng.normal(size=400)) for _ in range(5)]) for _ in range(RESULTS)]
    assert sum(each is not None and each.p < ALPHA for each in still) / RESULTS <= 0.05 + 3 * math.sqrt(
        0.05 * 0.95 / RESULTS
    )


def test_more_seeds_find_smaller_drifts():
    rng = np.random.default_rng(7)
    ramp = np.linspace(-0.5, 0.5, 300)
    one, ten = (share_of_drifts(rng, 300, 3, seeds, ramp) for seeds in (1, 10))
    assert one < 0.9 < ten


@pytest.mark.parametrize("end", [50, 100, 200])
def test_mser_cuts_off_a_transient_and_little_more(end: int):
    rng = np.random.default_rng(8)
    cuts = []
    for _ in range(50):
        (series,) = correlated(rng, 600, 3)
        cuts.append(mser(series + np.where(np.arange(600) < end, 8.0, 0.0)))
    assert None not in cuts
    assert end <= np.median(cuts) <= end + 60


def test_mser_of_a_series_without_an_end_of_its_transient_has_no_answer():
    assert mser(np.linspace(0, 10, 200)) is None
    assert mser(np.zeros(3)) is None
