"""Whether a result's warm-up sufficed: what is said of steady runs, of slow ones, short ones, and of schedules."""

import pytest

import headgate
from headgate.analysis.schedule import changes
from headgate.analysis.window import WindowVerdict, check
from headgate.scenario import Scenario

#: Two flows with a random start, and a buffer that is filled within a second.
STEADY = """
name = "steady"
duration = "50s"
warmup = "10s"
qdiscs = ["red", "fq_codel"]
link = { rate = "10Mbit/s", delay = "5ms", limit = "60p" }
tcp = [{ name = "tcp", flows = 8, start = "0s..1s", send_jitter = "1ms" }]
"""
#: Reno's window needs about 80 s to fill this path.
SLOW = """
name = "slow"
duration = "60s"
warmup = "2s"
qdiscs = ["droptail"]
link = { rate = "50Mbit/s", delay = "100ms", limit = "5000p" }
tcp = [{ name = "tcp", start = "0s..1s", initial_ssthresh = 20, send_jitter = "1ms" }]
"""


def ran(text: str, seeds: int = 1, **changes) -> headgate.Result:
    return headgate.run(Scenario.parse(text, seeds=seeds, **changes), report=False)


@pytest.mark.parametrize("seeds", [1, 5])
def test_a_steady_run_has_a_warmup_that_sufficed_and_a_number_of_samples(seeds: int):
    found = check(ran(STEADY, seeds))
    assert found.verdict is WindowVerdict.ENOUGH, found.sentence
    assert found.sentence.startswith("The warm-up of 10.0 s sufficed: ")
    assert "A seed holds at least " in found.sentence


def test_a_run_that_is_still_rising_names_the_series_and_what_to_do():
    # In one seed, a rise and a slow swing look alike.
    assert check(ran(SLOW, 1)).verdict is WindowVerdict.UNKNOWN
    found = check(ran(SLOW, 5))
    assert found.verdict is WindowVerdict.TOO_SHORT, found.sentence
    assert "The warm-up of 2.00 s is too short: with DropTail, the goodput of “tcp” rises by " in found.sentence
    assert found.sentence.endswith("Make the run longer, and the warm-up with it.")


def test_a_transient_at_the_beginning_has_a_warmup_that_would_do():
    late = STEADY.replace('start = "0s..1s"', 'start = "0s..20s"').replace('"50s"', '"100s"')
    result = ran(late, 5, set=["warmup=0s"])
    # Known starts are a schedule; without it the run itself must show the drift.
    assert check(result).verdict is WindowVerdict.SCHEDULED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headgate.analysis.window.scheduled", lambda _: "")
        found = check(result)
    assert found.verdict is WindowVerdict.TOO_SHORT, found.sentence
    assert "would suffice (MSER-5): warmup = " in found.sentence


def test_a_short_window_cannot_be_told():
    found = check(ran(STEADY, set=["duration=5s", "warmup=1s"]))
    assert found.verdict is WindowVerdict.UNKNOWN
    assert found.sentence.startswith("Whether the warm-up sufficed cannot be told: ")


def test_equal_runs_count_once():
    fixed = STEADY.replace('start = "0s..1s", send_jitter = "1ms"', 'start = "0s"')
    assert check(ran(fixed, 1, qdiscs=["droptail"])) == check(ran(fixed, 6, qdiscs=["droptail"]))


@pytest.mark.parametrize(
    ("flows", "link", "expected"),
    [
        ('start = "0s..12s"', "", "the flows of “tcp” start until 12.0 s"),
        ('start = "0s..10s"', "", ""),
        ('start = "1s", stop = "20s"', "", "the flows of “tcp” stop at 20.0 s"),
        ('start = "1s", stop = "9s"', "", ""),
        ('flows = 8, start = { flows = 2, every = "5s" }', "", "the flows of “tcp” start until 15.0 s"),
        ('traffic = "ftp:size=12KB", start = { load = 0.3 }', "", ""),
        ('start = "0s"', 'schedule = [{ at = "20s", rate = "5Mbit/s" }]', "the rate of link bottleneck changes"),
        ('start = "0s"', 'schedule = [{ at = "5s", rate = "5Mbit/s" }]', ""),
        ('start = "0s"', 'schedule = [{ at = "5s", rate = "5Mbit/s" }], schedule_period = "7s"',
         "the rate of link bottleneck changes"),
    ],
)  # fmt: skip
def test_scheduled_changes_within_the_window_are_found(flows: str, link: str, expected: str):
    text = STEADY.replace('flows = 8, start = "0s..1s", send_jitter = "1ms"', flows)
    text = text.replace('limit = "60p"', f'limit = "60p"{", " if link else ""}{link}')
    assert next(changes(Scenario.parse(text)), "") == expected


def test_transfers_that_end_within_the_window_are_a_scheduled_change():
    both = STEADY.replace("tcp = [", 'tcp = [{ name = "file", traffic = "ftp:size=8MB" }, ')
    found = check(ran(both, set=["duration=60s"]))
    assert found.verdict is WindowVerdict.SCHEDULED
    assert "the transfers of “file” end at " in found.sentence
