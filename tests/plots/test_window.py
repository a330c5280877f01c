"""Whether a result's warm-up sufficed: what is said of steady runs, of slow ones, short ones, and of schedules."""

import html
import re

import numpy as np
import pytest

import headgate
from headgate.analysis.judge import Verdict
from headgate.analysis.metrics import bound, metric
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
    assert found.sentence.startswith("The window is long enough: after the warm-up of 10.0 s, ")
    assert "A seed holds at least " in found.sentence


def test_a_run_that_is_still_rising_names_the_series_and_what_to_do():
    # In one seed, a rise and a slow swing look alike.
    assert check(ran(SLOW, 1)).verdict is WindowVerdict.UNKNOWN
    found = check(ran(SLOW, 5))
    assert found.verdict is WindowVerdict.TOO_SHORT, found.sentence
    assert "The window is not long enough: with DropTail, the goodput of “tcp” rises by " in found.sentence
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
    assert "A longer warm-up leaves out the transient (MSER-5): warmup = " in found.sentence


def test_a_short_window_cannot_be_told():
    found = check(ran(STEADY, set=["duration=5s", "warmup=1s"]))
    assert found.verdict is WindowVerdict.UNKNOWN
    assert found.sentence.startswith("Whether the window is long enough cannot be told: ")


def test_a_series_that_hardly_varies_is_long_enough_whatever_its_correlation():
    calls = STEADY.replace("tcp = [", 'udp = [{ name = "calls", rate = "64kbit/s", packet = "200B" }]\ntcp = [')
    found = check(ran(calls))
    assert found.verdict is WindowVerdict.ENOUGH, found.sentence
    assert "calls" not in found.sentence


def test_a_result_with_one_interval_or_none_cannot_be_told():
    one = ran(STEADY, set=["record.interval=50s"])
    assert check(one).verdict is WindowVerdict.UNKNOWN
    one.intervals = one.intervals.slice(0, 0)
    assert check(one).sentence.endswith("cannot be told: nothing was recorded over time.")


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


def test_the_metrics_of_a_run_are_its_drift_and_its_samples():
    result = ran(STEADY, 3)
    table = result.intervals.to_pandas()
    for name, column in (("drift", "queue_packets"), ("drift tcp", "goodput_bps")):
        expected = []
        for seed in (1, 2, 3):
            mine = table[(table.qdisc == "red") & (table.seed == seed) & (table.metric == column) & (table.time_s > 10)]
            first, second = np.split(mine.value.to_numpy(), 2)
            expected.append(abs(second.mean() - first.mean()) / mine.value.mean())
        assert metric(name, result.scenario).of(result, "red").per_seed == pytest.approx(tuple(expected))
    for name in ("samples", "independent samples tcp"):
        counts = metric(name, result.scenario).of(result, "red").per_seed
        assert all(20 < count <= 400 for count in counts), counts
    entry = result.summary()[0]
    assert entry["bottleneck"]["drift"]["mean"] < 0.1
    assert entry["groups"][0]["independent_samples"]["mean"] > 30


def test_a_bound_on_drift_or_samples_asks_whether_the_window_is_long_enough():
    steady, slow = ran(STEADY, 5), ran(SLOW, 5)
    for text in ("drift < 10%", "drift tcp < 5%", "samples >= 30", "samples tcp >= 30"):
        asked = bound(text, steady.scenario)
        assert asked.judge(asked.metric.of(steady, "red")).verdict is Verdict.HOLDS, text
    asked = bound("drift tcp < 10%", slow.scenario)
    assert asked.judge(asked.metric.of(slow, "droptail")).verdict is Verdict.DIFFERS
    asked = bound("samples >= 30", slow.scenario)
    assert asked.judge(asked.metric.of(slow, "droptail")).verdict is not Verdict.HOLDS


def test_the_report_has_the_sentence_and_the_command_line_has_it_if_the_warmup_was_too_short(capsys):
    from headgate import commands, report

    steady, slow = ran(STEADY, 1), ran(SLOW, 5)
    for result in (steady, slow):
        text = html.unescape(re.sub(r"<[^>]*>", "", report.page(result, {})))
        assert f"Is the run long enough? {check(result).sentence}" in text
    commands._show(steady)
    assert "long enough" not in capsys.readouterr().out
    commands._show(slow)
    printed = " ".join(capsys.readouterr().out.split())
    assert f"note: {check(slow).sentence}" in printed
