"""Seeds that gave the same run are one observation, and the table says so."""

import headgate
from headgate.analysis import findings
from headgate.analysis.repeats import distinct, repeats, too_few
from headgate.terminal import columns, table

FIXED = """
name = "fixed"
duration = "3s"
warmup = "1s"
seeds = 10
qdiscs = ["droptail", "droptail:limit=5p"]
link = { rate = "2Mbit/s", delay = "5ms", limit = "50p" }
tcp = [{ name = "a", flows = 2 }, { name = "b", flows = 2, start = "500ms" }]
"""


def test_runs_without_randomness_are_one_observation_and_the_table_says_how_to_randomize():
    result = headgate.run(headgate.Scenario.parse(FIXED, seeds=5))
    assert set(map(tuple, repeats(result).values())) == {(0,) * 5}
    assert not any(pair.shown for pair in findings.of(result).pairs.all)
    rows = columns.rows(result)
    listed = columns.columns(result.scenario, rows)
    assert not columns.TableStars.of(result, listed, [rows])[0].starred
    note = "all seeds gave the same run, which is one observation: start flows at random times"
    assert too_few(result).startswith(note)
    drawn = table.table(result, rows, 120)
    assert any(note in str(getattr(part, "caption", "")) for part in drawn.renderables)


def test_random_starts_give_as_many_observations_as_seeds():
    random = FIXED.replace('start = "500ms"', 'start = "0s..1s"')
    result = headgate.run(headgate.Scenario.parse(random, seeds=5))
    assert distinct(result) == 5
    assert too_few(result) == ""
    assert all(pair.test.runs == 5 for pair in findings.of(result).pairs.all)


def test_fewer_than_five_seeds_are_too_few():
    assert too_few(headgate.run(headgate.Scenario.parse(FIXED, seeds=4))) == "fewer than 5 seeds show no difference"
