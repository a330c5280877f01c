"""Searches are repeatable and resumable, and report failed bounds."""

import json
import sys
from pathlib import Path

import optuna
import pytest

import headgate
from headgate.analysis.judge import Quantity
from headgate.errors import InterruptedRunError, ResultError
from headgate.execution.runner import Watcher
from headgate.files import sealed
from headgate.tuning import outcome, search, show
from headgate.tuning.goals import Goals, changes
from headgate.tuning.search import Search
from headgate.tuning.study import FILE, NAME, SearchPlan, Trial
from tests.conftest import SMALL, Command
from tests.tune.conftest import CHANGES, plan_of, validate_document

TUNE = ["--qdisc", "red", *(word for each in CHANGES for word in ("--set", each)), "--out", "out"]


def run_search(plan: SearchPlan, folder: Path, count: int, **how: object) -> list[tuple[int, str, dict[str, Quantity]]]:
    folder.mkdir(exist_ok=True)
    trials = Search(plan, folder).run(count, **how)  # type: ignore[arg-type]
    return [(trial.number, trial.qdisc, trial.measured) for trial in trials]


class StoppingWatcher(Watcher):
    """Interrupts the search after two runs."""

    def tick(self, finished: int, _: float) -> None:
        if finished >= 2:
            raise KeyboardInterrupt


class BeginWatcher(Watcher):
    """Records the arguments of `begin`."""

    def begin(self, total: int, cached: int, seconds: float) -> None:
        self.begun = (total, cached, seconds)


def test_a_search_is_the_same_on_any_threads_and_however_often_it_was_stopped(
    plan: SearchPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(search, "BATCH", 3)
    whole = run_search(plan, tmp_path / "whole", 5, threads=2)
    assert whole[0][1] == "red"  # the first trial is the original setting, so that the best is never worse
    assert len({qdisc for _, qdisc, _ in whole}) > 3
    with pytest.raises(InterruptedRunError, match=r"of 5 runs are finished\. Repeat the command to resume"):
        run_search(plan, tmp_path / "parts", 5, threads=1, watcher=StoppingWatcher())
    assert run_search(plan, tmp_path / "parts", 4, threads=1) == whole[:4]
    assert run_search(plan, tmp_path / "parts", 5, threads=1) == whole


def test_finished_trials_are_not_run_again_and_optuna_can_read_them(plan: SearchPlan, tmp_path: Path):
    run_search(plan, tmp_path, 3)
    seen = BeginWatcher()
    run_search(plan, tmp_path, 4, watcher=seen)
    assert seen.begun == (4, 3, plan.scenario.duration_s)
    study = optuna.load_study(study_name=NAME, storage=f"sqlite:///{tmp_path / FILE}")
    assert len(study.trials) == 4
    assert all(set(trial.constraints) == {"utilization >= 0.9"} for trial in study.trials)


def test_another_scenario_goal_or_range_is_another_study(plan: SearchPlan, tmp_path: Path):
    changed = [
        plan,
        plan._replace(scenario=plan.scenario.changed(set=["link.rate=3Mbit/s"])),
        plan._replace(scenario=plan.scenario.changed(seeds=[2])),
        plan_of("red", ["maxp=0.01..0.4", "gentle"], ["p95 queue delay"], ["utilization >= 0.9"]),
        plan_of("red", ["maxp=0.01..0.5", "gentle"], ["p95 queue delay"], ["utilization >= 0.91"]),
        plan_of("red", ["maxp=0.01..0.5", "gentle"], ["goodput"], ["utilization >= 0.9"]),
    ]
    assert len({each.folder(tmp_path) for each in changed}) == len(changed)
    (tmp_path / FILE).write_text("no database")
    with pytest.raises(ResultError, match=r"study\.db is damaged"):
        Search(plan, tmp_path)


def test_contradictory_settings_are_counted_and_avoided(tmp_path: Path):
    plan = plan_of("red", ["minth=1p..45p", "maxth=2p..30p"], ["goodput"])
    trials = Search(plan, tmp_path).run(8)
    refused = [trial for trial in trials if trial.refused]
    assert refused
    assert all("minth" in trial.refused and not trial.measured for trial in refused)
    assert outcome.best(trials, plan.goals)[0] not in refused


def test_an_objective_without_values_is_an_error_and_writes_nothing(command: Command, small: Path):
    done = command("tune", small, "--objective", "p95 completion", "--trials", "2", *TUNE)
    assert done.returncode == 2
    assert "this scenario gives no value of p95 completion" in done.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--objective", "p95 queu delay"], "did you mean 'queue delay'"),
        (["--objective", "jain", "--param", "mxp"], "did you mean 'maxp'"),
        (["--objective", "jain", "--subject-to", "drop rate below 1%"], "is not a bound"),
        ([], "the objective is missing"),
    ],
)
def test_bad_input_ends_before_anything_runs(command: Command, small: Path, words: list[str], wrong: str):
    done = command("tune", small, *words, *TUNE)
    assert done.returncode == 2
    assert wrong in done.stderr
    assert not Path("out").exists()


def test_a_file_with_several_disciplines_wants_one_named(command: Command, small: Path):
    done = command("tune", small, "--objective", "jain")
    assert (done.returncode, "name one (--qdisc): droptail, faba" in done.stderr) == (2, True)


def test_the_command_prints_the_best_setting(command: Command, small: Path):
    options = ["--param", "maxp=0.01..0.5", "--param", "wq", "--trials", "4", "--held-out", "2", *TUNE]
    done = command("tune", small, "--objective", "p95 queue delay", *options)
    assert done.returncode == 0, done.stderr
    assert "4 settings of red tried with seed 1" in done.stdout
    assert "seeds 2 to 3, held out" in done.stdout
    (folder,) = Path("out").iterdir()
    document = sealed.read(folder / "tuned.json", "tune-2")
    validate_document("tune", document)
    (best,) = document["found"]
    assert f'scenario  qdiscs = ["{best["qdisc"]}"]' in done.stdout
    assert best["tc"]["command"] in done.stdout
    was, now = (best["metrics"]["p95 queue delay"][each]["per_seed"] for each in ("was", "now"))
    assert best["metrics"]["p95 queue delay"]["difference"]["per_seed"] == [
        a - b for a, b in zip(now, was, strict=True)
    ]
    assert {file.suffix for file in folder.iterdir()} >= {".png", ".svg", ".json", ".db"}
    assert json.loads(command("tune", small, "--objective", "p95 queue delay", "--json", *options).stdout) == document


def test_a_bound_that_no_setting_keeps_is_reported_with_the_closest_setting(command: Command, small: Path):
    words = ["--objective", "jain", "--subject-to", "queue delay < 1us", "--param", "maxp", "--trials", "2"]
    done = command("tune", small, *words, *TUNE)
    assert done.returncode == 1
    assert "0 keep the bound" in done.stdout
    assert "None of 2 settings keeps mean queue delay < 0.001 ms. The closest: red" in done.stdout


def test_a_parameter_that_does_nothing_stays_as_it_was(tmp_path: Path):
    """RED's target delay affects thresholds only if they are `auto`, and these are not."""
    plan = plan_of("red:minth=5p,maxth=20p", ["maxp=0.1..0.5", "target_delay"], ["p95 queue delay"])
    (best,) = outcome.best(Search(plan, tmp_path).run(3), plan.goals)
    assert {"maxp", "target_delay"} <= set(plan.base.with_settings(best.settings).settings)
    plain = outcome.without_ineffective(plan, best, tmp_path)
    assert plain.settings == {**best.settings, "target_delay": "5ms"}
    assert plain.qdisc == f"red:minth=5p,maxth=20p,maxp={best.settings['maxp']}"


def trial(number: int, jain: float, delay: float) -> Trial:
    return Trial(
        number, f"red:wq={number}", {}, {}, {"jain": Quantity((jain,)), "mean queue delay": Quantity((delay,))}
    )


def test_the_front_has_the_undominated_settings_and_the_best_keeps_the_bound():
    both = plan_of("red", ["maxp"], ["jain", "queue delay"]).goals
    trials = [trial(0, 0.9, 20.0), trial(1, 0.8, 10.0), trial(2, 0.85, 20.0), trial(3, 0.7, 15.0), trial(4, 0.95, 40.0)]
    assert [each.number for each in outcome.best(trials, both)] == [4, 0, 1]
    alone = plan_of("red", ["maxp"], ["jain"], ["queue delay < 30ms"]).goals
    assert [each.number for each in outcome.best(trials, alone)] == [0]
    strict = plan_of("red", ["maxp"], ["jain"], ["queue delay < 5ms"]).goals
    assert outcome.best(trials, strict) == []
    nearest = outcome.nearest(trials, strict)
    assert nearest is not None
    assert nearest.number == 1
    assert [each.number for each in outcome.evenly_spaced(trials, 3)] == [0, 2, 4]


def test_settings_whose_seeds_gave_the_same_runs_show_no_change():
    fixed = headgate.Scenario.parse(SMALL, seeds=5, qdiscs=["droptail", "droptail:limit=20p"])
    result = headgate.run(fixed, report=False)
    goals = Goals.of(["jain", "p95 queue delay"], [], fixed)
    was, now = goals.measure_all(result, fixed.qdiscs).values()
    rows = [(goal, now[str(goal.metric)], was[str(goal.metric)]) for goal in goals.goals]
    assert all(change.now.mean != change.was.mean and not change.shown for change in changes(rows))


def test_a_change_has_its_interval():
    # Differences -4 and -6 of a mean of 10: half of 50 %, plus and minus 12.706 / 10.
    assert show.change(Quantity((6.0, 4.0)), Quantity((10.0, 10.0))) == "down 50 ± 127 %"
    assert show.change(Quantity((0.0,)), Quantity((0.0,))) == "unchanged"


def test_a_missing_extra_is_named(command: Command, small: Path, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "optuna" or "headgate.tuning." in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = command("tune", small, "--objective", "jain", *TUNE)
    assert (done.returncode, 'tuning needs Optuna: pip install "headgate-aqm[tune]"' in done.stderr) == (2, True)


def test_a_bound_that_the_original_broke_and_the_best_keeps_is_marked(in_memory: headgate.Result):
    plan = plan_of("red", ["maxp"], ["jain"], ["queue delay < 30ms"])
    # Five seeds differ by 0.1 each: the change has no margin of error.
    was, now = (
        trial(number, 0.0, 0.0)._replace(
            measured={"jain": Quantity((jain,) * 5), "mean queue delay": Quantity((ms,) * 5)}
        )
        for number, jain, ms in ((0, 0.9, 40.0), (1, 0.8, 20.0))
    )
    (compared,) = outcome.compared_settings(plan.goals, was.measured, [(now, now.measured)])
    search_outcome = outcome.SearchOutcome(plan, [was, now], [now], [compared], in_memory)
    cells = [str(cell) for column in show.comparison(search_outcome, compared).columns for cell in column.cells]
    assert cells[-2:] == ["worse", "keeps < 30 ms, was broken"]
    assert "jain down 11.1 %, from 0.900 to 0.800" in show.sentence(search_outcome, compared)
