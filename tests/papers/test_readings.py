"""Readings: each runs once, its verdicts are stored beside the record, and the pages show what they change."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import headgate
from headgate.execution.runner import Watcher
from headgate.experiment import readings, readings_show, record
from headgate.experiment.declare import Experiment, OpenParameter
from headgate.experiment.readings_show import OtherVerdict
from headgate.experiment.running import RunOptions, run
from headgate.files import sealed
from headgate.papers import catalogue, page
from tests.conftest import Command
from tests.papers.conftest import readings_document
from tests.papers.test_running import RecordingWatcher

NAME = "faba/tiny"
SHORT = RunOptions(quick=True, seeds=readings.SEEDS)


def carry_out(experiment: Experiment, out: Path, options: RunOptions, watcher: Watcher) -> dict[str, Any]:
    return readings.carry_out(NAME, experiment, out, options, lambda _: watcher).document


@pytest.fixture
def weighted(tiny: Experiment) -> Experiment:
    """The tiny experiment with a parameter of the network, and with one that is a setting of FABA alone."""
    alpha = OpenParameter("alpha", 1.2, "a paper's", (1.2, 1.5))
    return replace(tiny, qdiscs={**tiny.qdiscs, "FABA": "faba:alpha=$alpha"}, choices=(*tiny.choices, alpha))


def test_every_declared_value_is_judged_and_the_record_is_beside_the_experiments(tiny: Experiment, tmp_path: Path):
    document = carry_out(tiny, tmp_path, RunOptions(), Watcher())
    assert list(document["verdicts"]) == readings.named(document) == ["our values", "delay = 2ms"]
    assert sealed.read(tmp_path / NAME / readings.DOCUMENT, readings.FORM) == document
    ours = record.carry_out(NAME, tiny, tmp_path, RunOptions(), Watcher()).document["claims"]
    assert document["verdicts"]["our values"] == [{key: each[key] for key in ("verdict", "numbers")} for each in ours]
    with_2ms = replace(tiny, choices=(replace(tiny.choices[0], value="2ms"),))
    alone = record.carry_out(NAME, with_2ms, tmp_path / "alone", RunOptions(), Watcher()).document["claims"]
    assert [each["numbers"] for each in document["verdicts"]["delay = 2ms"]] == [each["numbers"] for each in alone]


def test_a_rerun_reuses_every_run_and_so_does_the_experiment(tiny: Experiment, tmp_path: Path):
    watcher = RecordingWatcher()
    first = carry_out(tiny, tmp_path, RunOptions(), watcher)
    assert carry_out(tiny, tmp_path, RunOptions(), watcher) == first
    run(tiny, tmp_path, RunOptions(), watcher)
    # Two cases, two disciplines and five seeds, with our value and with the other.
    assert watcher.begun == [(40, 0), (40, 40), (20, 20)]


def test_a_reading_of_one_discipline_runs_that_discipline_only(weighted: Experiment, tmp_path: Path):
    watcher = RecordingWatcher()
    run(weighted, tmp_path, RunOptions(), watcher)
    under = run(weighted, tmp_path, RunOptions(choices={"alpha": 1.5}), watcher).results
    assert watcher.begun == [(20, 0), (30, 20)]
    alone = replace(weighted, qdiscs={**weighted.qdiscs, "FABA": "faba:alpha=1.5"})
    assert under.values == run(alone, tmp_path / "alone", RunOptions(), Watcher()).results.values
    assert under.values != run(weighted, tmp_path, RunOptions(), Watcher()).results.values


def test_a_reading_of_the_network_runs_every_discipline(weighted: Experiment, tmp_path: Path):
    watcher = RecordingWatcher()
    run(weighted, tmp_path, RunOptions(), watcher)
    run(weighted, tmp_path, RunOptions(choices={"delay": "2ms"}), watcher)
    assert watcher.begun == [(20, 0), (20, 0)]


def test_stopped_readings_resume_to_the_same_verdicts(weighted: Experiment, tmp_path: Path):
    with pytest.raises(headgate.InterruptedRunError) as raised:
        carry_out(weighted, tmp_path, RunOptions(threads=1), RecordingWatcher(stop_after=5))
    assert not list(tmp_path.rglob(readings.DOCUMENT))
    watcher = RecordingWatcher()
    resumed = carry_out(weighted, tmp_path, RunOptions(), watcher)
    assert watcher.begun == [(50, raised.value.finished)]
    assert raised.value.finished >= 5
    assert resumed == carry_out(weighted, tmp_path / "whole", RunOptions(), Watcher())


def test_readings_of_many_scenarios_run_in_several_pools(
    weighted: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    titles: list[str] = []

    def watcher(title: str) -> Watcher:
        titles.append(title)
        return Watcher()

    monkeypatch.setattr(readings, "POOL", 4)
    pooled = readings.carry_out(NAME, weighted, tmp_path, RunOptions(quick=True), watcher).document
    monkeypatch.setattr(readings, "POOL", 2)
    assert readings.carry_out(NAME, weighted, tmp_path, RunOptions(quick=True), watcher).document == pooled
    assert titles == [
        f"{NAME}, readings",
        f"{NAME}, readings 1-2 of 3",
        f"{NAME}, readings 3-3 of 3",
    ]


def test_verdicts_are_loaded_unless_claims_or_readings_have_changed(tiny: Experiment, tmp_path: Path):
    def loaded(experiment: Experiment) -> dict[str, Any] | None:
        return readings.load(NAME, experiment, tmp_path, RunOptions())

    assert loaded(tiny) is None
    short = carry_out(tiny, tmp_path, SHORT, Watcher())
    assert loaded(tiny) == short
    whole = carry_out(tiny, tmp_path, RunOptions(), Watcher())
    assert loaded(tiny) == whole
    assert (whole["quick"], short["quick"], short["seeds"]) == (False, True, 5)
    (delay,) = tiny.choices
    reworded = loaded(replace(tiny, choices=(replace(delay, reason="figure 1 is lost"),)))
    assert reworded is not None
    assert reworded["parameters"][0]["reason"] == "figure 1 is lost"
    assert reworded["verdicts"] == whole["verdicts"]
    assert loaded(replace(tiny, choices=(replace(delay, values=("2ms", "9ms")),))) is None
    assert loaded(replace(tiny, choices=(replace(delay, value="3ms"),))) is None
    assert loaded(replace(tiny, claims=tiny.claims[:1])) is None


def test_verdicts_in_a_renamed_folder_are_not_believed(tiny: Experiment, tmp_path: Path):
    short, whole = SHORT, RunOptions(seeds=9)
    carry_out(tiny, tmp_path, short, Watcher())
    record.folder(NAME, tiny, tmp_path, short).rename(record.folder(NAME, tiny, tmp_path, whole))
    assert readings.load(NAME, tiny, tmp_path, whole) is None
    with pytest.raises(headgate.ResultError, match=r"readings\.json holds other results: its quick is True, not False"):
        carry_out(tiny, tmp_path, whole, Watcher())


def test_claims_that_change_are_numbered_and_named_with_every_other_verdict():
    first = readings_document("faba/fig4", ours="hd", others={"delay": {"2ms": "hh", "9ms": "hd"}})
    second = readings_document("faba/fig5", ours="i", others={"delay": {"2ms": "h", "9ms": "d"}})
    changed = readings_show.changed_claims([first, second])
    assert [(each.number, each.experiment, each.claim["text"], each.ours.verdict) for each in changed] == [
        (1, "faba/fig4", "Claim 2 of faba/fig4", "differs"),
        (2, "faba/fig5", "Claim 1 of faba/fig5", "inconclusive"),
    ]
    assert changed[0].others == [OtherVerdict("delay = 2ms", "holds", "delay = 2ms: 1 < 2")]
    assert [other.verdict for other in changed[1].others] == ["holds", "differs"]
    assert readings_show.sentence([first, second]) == (
        "The verdict changes under a reading for 2 of 3 claims (4 readings of 2 experiments)."
    )


def test_rows_count_the_verdicts_of_all_experiments_that_declare_a_parameter_alike():
    first = readings_document("faba/fig4", ours="hd", others={"delay": {"2ms": "hh"}})
    second = readings_document("faba/fig5", ours="i", others={"delay": {"2ms": "i"}, "buffer": {"9p": "d"}})
    rows = readings_show.reading_rows([first, second])
    assert [(row.parameter, row.value, row.ours, row.experiments) for row in rows] == [
        ("delay", "ours", True, ["faba/fig4", "faba/fig5"]),
        ("delay", "2ms", False, ["faba/fig4", "faba/fig5"]),
        ("buffer", "ours", True, ["faba/fig5"]),
        ("buffer", "9p", False, ["faba/fig5"]),
    ]
    assert [dict(row.verdicts) for row in rows[:2]] == [
        {"holds": 1, "differs": 1, "inconclusive": 1},
        {"holds": 2, "inconclusive": 1},
    ]
    assert [row.changed for row in rows] == [[], [1], [], [2]]


def test_parameters_of_one_name_follow_each_other_with_the_reason_of_each():
    documents = [
        readings_document(f"faba/fig{number}", ours="h", others={name: {"2ms": "h"} for name in names})
        for number, names in ((4, ["delay", "buffer"]), (5, ["delay"]))
    ]
    documents[1]["parameters"][0]["reason"] = "another"
    ours = [(row.parameter, row.reason) for row in readings_show.reading_rows(documents) if row.ours]
    assert ours == [("delay", "reason of delay"), ("delay", "another"), ("buffer", "reason of buffer")]


def test_of_many_claims_a_narrow_terminal_names_those_that_change():
    console = Console(width=80, record=True, file=io.StringIO())
    others = {"2ms": "hdi" + "h" * 12 + "d", "5ms": "hdi" + "h" * 13}
    console.print(readings_show.table(readings_document("faba/fig4", ours="hdi" + "h" * 13, others={"delay": others})))
    shown = console.export_text()
    assert [line.split() for line in shown.splitlines() if "delay" in line] == [
        ["delay", "ours", "(ours)", "14", "1", "1"],
        ["delay", "2ms", "13", "2", "1", "16", "differs"],
        ["delay", "5ms", "14", "1", "1"],
    ]
    assert [line.split(":")[0] for line in shown.splitlines() if ": " in line and "(ours: holds)" in line] == ["16"]


def test_long_values_are_whole_in_a_narrow_terminal():
    console = Console(width=44, record=True, file=io.StringIO())
    values = {f"minth=100p,maxth=200p,maxp=0.{digit}": "hd" for digit in (1, 2)}
    console.print(readings_show.table(readings_document("faba/fig4", ours="hd", others={"red": values})))
    shown = "".join(console.export_text().replace("holds", "").replace("differs", "").split())
    assert all(value in shown for value in values)


def test_the_page_shows_claims_that_change_and_names_the_command_for_missing_readings(tiny: Experiment, tmp_path: Path):
    kept = record.carry_out("faba/fig4", tiny, tmp_path, RunOptions(), Watcher())
    document = readings_document("faba/fig4", ours="hd", others={"delay": {"2ms": "hh"}})
    shown = page.page([kept], [], {"faba/fig4": document, "faba/fig5": None, "blue/fig5": None})
    assert "The verdict changes under a reading for 1 of 2 claims (1 reading)." in shown
    assert "<code>delay = 2ms</code> <small>delay = 2ms: 1 &lt; 2</small>" in shown
    # The filters of claims need these columns.
    head = shown[shown.index("The claims whose verdict changes under a reading.") :]
    assert all(f'<th scope="col">{title}</th>' in head for title in ("Experiment", "Disciplines", "Bound", "Verdict"))
    assert "<code>headgate paper readings faba/fig5</code>" in shown
    assert "blue/fig5" not in shown
    assert "Under other readings" not in page.page([kept], [], {"faba/fig4": None})


def test_the_command_judges_readings_and_the_report_shows_them(command: Command, tmp_path: Path):
    words = ("comparison/fig7", "red-pd/fig3", "--quick", "--seeds", "2")
    done = command("paper", "readings", *words)
    assert done.returncode == 0
    tried = len(readings.readings_of(catalogue.experiment("comparison/fig7")))
    assert f"{tried} readings of comparison/fig7, our values included: " in done.stderr
    assert "comparison/fig7: verdicts under each reading" in done.stdout
    assert "shortened runs, 2 seeds, too few to decide a claim; verdicts in " in done.stdout
    assert "The verdict changes under a reading for " in done.stdout
    (document,) = json.loads(command("paper", "readings", *words, "--json").stdout)
    stored = tmp_path / "results/papers/comparison/fig7-quick-seeds2" / readings.DOCUMENT
    assert sealed.read(stored, readings.FORM) == document
    assert command("paper", "run", "comparison/fig7", *words[2:]).returncode == 0
    assert command("paper", "report", "comparison/fig7", *words[2:]).returncode == 0
    assert "Under other readings" in (tmp_path / "results/papers/quick-report.html").read_text()


def test_experiments_without_readings_are_refused(command: Command):
    done = command("paper", "readings", "red-pd/fig3", "red-pd/fig4")
    assert done.returncode == 2
    assert "red-pd/fig3, red-pd/fig4: no open parameter has other values to try" in done.stderr
    assert catalogue.with_readings(["red-pd"])[0] == "red-pd/fig9"


@pytest.mark.parametrize(
    ("costs", "options", "cpu_s"),
    [
        ([240.0, 30.0], RunOptions(), 240.0),
        ([240.0, 30.0], RunOptions(seeds=10), 480.0),
        ([240.0, 30.0], SHORT, 150.0),
        # Five seeds of a shortened run cost no more than those of a whole one.
        ([240.0, 90.0], SHORT, 240.0),
    ],
)
def test_the_estimate_is_the_cost_of_every_reading(
    costs: list[float], options: RunOptions, cpu_s: float, monkeypatch: pytest.MonkeyPatch
):
    name = "comparison/fig9"
    experiment = catalogue.experiment(name)
    assert (experiment.seeds, experiment.quick.seeds) == (5, 1)
    tried = len(readings.readings_of(experiment))
    monkeypatch.setattr(catalogue, "processors", lambda: 2)
    monkeypatch.setattr(catalogue, "_costs", lambda: {name: costs})
    assert catalogue.readings_estimate([name], options) == (
        f"{tried} readings of {name}, our values included: {tried * cpu_s / 120:.0f} min at most on 2 processors"
    )
    assert catalogue.readings_estimate([name, "comparison/fig7"], options).endswith(
        " readings of 2 experiments, our values included; the time is not known"
    )
