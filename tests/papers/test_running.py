"""Experiments run, resume, share common runs, and report their results."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import headgate
from headgate import identity
from headgate.analysis.judge import Verdict
from headgate.execution.runner import Watcher
from headgate.experiment import record, show
from headgate.experiment.claims import above, m
from headgate.experiment.declare import Basis, Experiment
from headgate.experiment.results import NotRunError
from headgate.experiment.running import RunOptions, run
from headgate.files import sealed, store
from headgate.papers import catalogue, page
from tests.conftest import Command
from tests.schema.test_forms import VALID


class RecordingWatcher(Watcher):
    """Records how many runs there are and how many are cached; stops, if asked, after `stop_after` runs."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.begun: list[tuple[int, int]] = []
        self._stop_after = stop_after

    def begin(self, total: int, cached: int, _: float) -> None:
        self.begun.append((total, cached))

    def tick(self, finished: int, _: float) -> None:
        if self._stop_after is not None and finished >= self._stop_after:
            raise KeyboardInterrupt


def carry_out(experiment: Experiment, out: Path, how: RunOptions) -> record.ExperimentRecord:
    return record.carry_out("faba/tiny", experiment, out, how, Watcher())


def test_measures_are_seed_by_seed_and_cases_are_selected_by_value(tiny: Experiment, tmp_path: Path):
    outcome = run(tiny, tmp_path, RunOptions(), Watcher())
    quantity = outcome.results("tcp", "FABA", buffer=50)
    flows = outcome.results.runs("FABA", buffer=50)[0].result.flows.to_pandas()
    mine = flows[(flows["qdisc"] == "faba") & (flows["seed"] == 1) & (flows["kind"] == "tcp")]
    assert quantity.per_seed[0] == pytest.approx(mine["goodput_bps"].sum() / mine["fair_share_bps"].sum())
    assert len(quantity.per_seed) == 5
    assert outcome.results.over("buffer", "tcp", "FABA")[0] == [20, 50]
    assert outcome.cpu_s > 0


def test_unknown_names_and_left_out_cases_are_different_errors(tiny: Experiment, tmp_path: Path):
    results = run(tiny, tmp_path, RunOptions(quick=True), Watcher()).results
    with pytest.raises(NotRunError):
        results("tcp", "FABA", buffer=50)
    with pytest.raises(KeyError, match="0 cases have"):
        results("tcp", "FABA", buffer=51)
    with pytest.raises(KeyError, match="nothing was measured for 'tpc'"):
        results("tpc", "FABA", buffer=20)


def test_a_second_run_is_read_from_disk_and_a_further_discipline_runs_alone(tiny: Experiment, tmp_path: Path):
    watcher = RecordingWatcher()
    run(tiny, tmp_path, RunOptions(), watcher)
    run(tiny, tmp_path, RunOptions(), watcher)
    run(tiny, tmp_path, RunOptions(further=("codel",)), watcher)
    assert watcher.begun == [(20, 0), (20, 20), (30, 20)]


def test_a_setting_changes_an_open_parameter_or_a_key_of_the_scenario_and_has_its_own_folder(
    tiny: Experiment, tmp_path: Path
):
    settings = ("delay=3ms", "cbr.rate=9Mbit/s")
    changed = run(tiny, tmp_path, RunOptions(seeds=1, settings=settings), Watcher()).results
    (scenario,) = {each.result.scenario.to_toml() for each in changed.runs("FABA", buffer=50)}
    assert 'delay = "3ms"' in scenario
    assert 'rate = "9Mbit/s"' in scenario
    names = {record.folder("faba/tiny", tiny, tmp_path, RunOptions(settings=each)) for each in ((), settings)}
    assert len(names) == 2


def test_a_setting_named_like_an_open_parameter_has_the_kind_of_our_value():
    table2 = catalogue.experiment("faba/table2")
    given = ("buffer=40", "recovery=sack", "slow_but_steady=true", "link.rate=20Mbit/s")
    choices = {"buffer": 40, "recovery": "sack", "slow_but_steady": True}
    assert table2.split(given) == (choices, ["link.rate=20Mbit/s"])


def test_another_experiment_with_the_same_scenario_shares_its_runs(tiny: Experiment, tmp_path: Path):
    watcher = RecordingWatcher()
    run(tiny, tmp_path, RunOptions(), watcher)
    run(replace(tiny, title="another", cases=tiny.cases[:1]), tmp_path, RunOptions(), watcher)
    assert watcher.begun[-1] == (10, 10)


def test_a_stopped_run_resumes_to_the_same_numbers(tiny: Experiment, tmp_path: Path):
    with pytest.raises(headgate.InterruptedRunError) as raised:
        run(tiny, tmp_path / "a", RunOptions(threads=1), RecordingWatcher(stop_after=2))
    assert 2 <= raised.value.finished < 20
    watcher = RecordingWatcher()
    resumed = run(tiny, tmp_path / "a", RunOptions(), watcher)
    assert watcher.begun == [(20, raised.value.finished)]
    assert resumed.results.values == run(tiny, tmp_path / "b", RunOptions(), Watcher()).results.values


def test_a_record_has_every_number(tiny: Experiment, tmp_path: Path):
    kept = carry_out(tiny, tmp_path, RunOptions())
    document = sealed.read(kept.path / record.DOCUMENT, record.FORM)
    assert document == kept.document
    assert [claim["verdict"] for claim in document["claims"]] == ["holds", Verdict.DIFFERS.value]
    first = document["published"][0]
    assert (first["published"], first["unit"], first["case"]) == (50.0, "%", {"buffer": 20})
    assert first["relative"] == pytest.approx(first["mean"] / 50.0 - 1)
    assert (kept.path / "figure.svg").stat().st_size > 1000
    assert (kept.path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_record_in_a_renamed_folder_is_not_believed(tiny: Experiment, tmp_path: Path):
    whole, quick = RunOptions(), RunOptions(quick=True)
    kept = carry_out(tiny, tmp_path, quick)
    assert record.load("faba/tiny", tiny, tmp_path, quick) == kept
    kept.path.rename(record.folder("faba/tiny", tiny, tmp_path, whole))
    assert record.load("faba/tiny", tiny, tmp_path, whole) is None
    with pytest.raises(headgate.ResultError, match=r"found\.json holds other results: its quick is True, not False"):
        carry_out(tiny, tmp_path, whole)
    assert carry_out(tiny, tmp_path, whole._replace(force=True)).document["quick"] is False


def test_a_record_of_other_settings_with_the_same_name_is_not_believed(
    tiny: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(identity, "DIGITS", 0)
    one, other = (RunOptions(quick=True, settings=(f"cbr.rate={rate}Mbit/s",)) for rate in (8, 9))
    folders = {record.folder("faba/tiny", tiny, tmp_path, each) for each in (one, other)}
    assert len(folders) == 1
    (folders.pop() / "x").parent.mkdir(parents=True)
    stored = VALID[record.FORM] | record.asked_of("faba/tiny", tiny, one) | {"seeds": 1, "claims": []}
    (record.folder("faba/tiny", tiny, tmp_path, one) / record.DOCUMENT).write_text(store.sealed_text(stored))
    assert record.load("faba/tiny", tiny, tmp_path, one) is not None
    assert record.load("faba/tiny", tiny, tmp_path, other) is None
    with pytest.raises(headgate.ResultError, match="its set is"):
        carry_out(tiny, tmp_path, other)


def test_the_content_of_a_trace_is_part_of_its_folder_and_record(tmp_path: Path):
    computed = catalogue.experiment("red-pd/fig3")
    folders, asked = [], []
    for text in ("one", "other"):
        (tmp_path / "trace.pcap").write_text(text)
        options = RunOptions(trace=tmp_path / "trace.pcap")
        folders.append(record.folder("red-pd/fig3", computed, tmp_path, options))
        asked.append(record.asked_of("red-pd/fig3", computed, options)["trace"])
    assert len(set(folders)) == len(set(asked)) == 2


def test_a_shortened_run_is_named_as_such_and_stored_separately(tiny: Experiment, tmp_path: Path):
    whole = carry_out(tiny, tmp_path, RunOptions())
    quick = carry_out(tiny, tmp_path, RunOptions(quick=True))
    assert whole.path != quick.path
    assert [claim["verdict"] for claim in quick.document["claims"]] == ["inconclusive", "inconclusive"]
    assert "leaves out" in quick.document["claims"][0]["numbers"]
    assert "Shortened runs" in page.page([quick], [])
    assert "Shortened runs" not in page.page([whole], [])


@pytest.mark.parametrize(("seeds", "few"), [(1, "1 different run"), (4, "4 different runs")])
def test_fewer_than_five_seeds_decide_no_claim(tiny: Experiment, tmp_path: Path, seeds: int, few: str):
    document = carry_out(tiny, tmp_path, RunOptions(seeds=seeds)).document
    assert [claim["verdict"] for claim in document["claims"]] == ["inconclusive", "inconclusive"]
    assert all(
        f": too few seeds: {few} with a value, at least 5 are needed" in claim["numbers"]
        for claim in document["claims"]
    )
    assert show.seeds_of(document).endswith(": fewer than 5 decide no claim")


def test_seeds_that_gave_the_same_run_decide_no_claim(tiny: Experiment, tmp_path: Path):
    # Without random starts and jitter, DropTail and the senders draw no random numbers.
    settings = ("cbr.jitter=0", "tcp.send_jitter=0s", "tcp.start=0s", "cbr.start=0s")
    results = run(tiny, tmp_path, RunOptions(settings=settings), Watcher()).results
    assert results("tcp", "DropTail", buffer=50).repeats == (0,) * 5
    assert above(m("tcp", "DropTail", buffer=50), 0.0)(results).verdict is Verdict.INCONCLUSIVE


def test_a_verdict_that_an_earlier_version_gave_with_few_seeds_is_not_believed(tiny: Experiment, tmp_path: Path):
    few = RunOptions(seeds=2)
    kept = carry_out(tiny, tmp_path, few)
    assert record.load("faba/tiny", tiny, tmp_path, few) == kept
    document = kept.document | {"claims": [each | {"verdict": "holds"} for each in kept.document["claims"]]}
    (kept.path / record.DOCUMENT).write_text(store.sealed_text(document))
    assert record.load("faba/tiny", tiny, tmp_path, few) is None


def test_one_seed_decides_the_claims_of_a_computation(tmp_path: Path):
    computed = catalogue.experiment("blue/fig17")
    exact = record.carry_out("blue/fig17", computed, tmp_path, RunOptions(), Watcher()).document
    assert exact["seeds"] == 1
    assert {claim["verdict"] for claim in exact["claims"]} <= {"holds", "differs"}
    assert show.seeds_of(exact) == "one seed, so no intervals"


def score(*rows: tuple[str, str]) -> str:
    return show.score([{"claims": [{"basis": basis, "verdict": verdict} for basis, verdict in rows]}]).plain


def test_scores_of_the_papers_bounds_and_of_ours_are_apart_and_illustrations_have_none():
    rows = [("paper", "holds"), ("paper", "differs"), ("ours", "inconclusive"), ("illustration", "holds")]
    assert score(*rows) == (
        "4 claims; with the paper's bound: 1 holds, 1 differs, 0 inconclusive (50 % hold); "
        "with a bound of ours: 0 hold, 0 differ, 1 inconclusive (0 % hold); not scored: 1 illustration"
    )


@pytest.mark.parametrize("verdict", [each.value for each in Verdict])
@pytest.mark.parametrize("basis", [each.value for each in Basis])
def test_the_words_of_a_score_agree_with_their_numbers(basis: str, verdict: str):
    one, two = score((basis, verdict)), score((basis, verdict), (basis, verdict))
    several = r"claims|illustrations|hold|differ"
    assert not re.search(rf"\b1 (?:{several})\b", one)
    assert not re.search(r"\b[02-9] (?:claim|illustration|holds|differs)\b", two)
    assert re.search(r"\b1 claim\b", one)
    assert re.search(rf"\b2 (?:{several}|inconclusive)\b", two)


def test_the_page_names_missing_experiments_and_escapes_text(tiny: Experiment, tmp_path: Path):
    kept = carry_out(tiny, tmp_path, RunOptions())
    kept.document["title"] = "1 < 2"
    shown = page.page([kept], ["blue/fig5"])
    assert "Not run: blue/fig5." in shown
    assert "1 &lt; 2" in shown
    assert "it does not" in shown


def test_further_disciplines_are_compared_with_the_papers_in_one_number(tiny: Experiment, tmp_path: Path):
    kept = carry_out(tiny, tmp_path, RunOptions(further=("codel",)))
    assert list(kept.document["headline"]["values"]) == ["DropTail", "FABA", "codel"]
    assert "What would the papers find today" in page.page([kept], [])
    assert "TCP with room for 50" in page.page([kept], [])
    alone = carry_out(tiny, tmp_path, RunOptions())
    assert "What would the papers find today" not in page.page([alone], [])


def test_the_command_from_a_quick_run_to_the_page(command: Command, tmp_path: Path):
    done = command("paper", "run", "faba/table1", "--quick")
    assert done.returncode == 0
    assert "shortened run, one seed, so no intervals: fewer than 5 decide no claim" in done.stdout
    assert "0.888" in done.stdout
    report = command("paper", "report", "faba", "--quick")
    assert report.returncode == 0
    assert (tmp_path / "results/papers/quick-report.html").is_file()


def test_mistyped_arguments_are_refused(command: Command, tmp_path: Path):
    wrong = {
        ("run", "faba/tabl1"): "did you mean 'faba/table1'?",
        ("run", "fabba"): "did you mean 'faba'?",
        ("show", "faba"): "faba is a paper: name one of its experiments, such as faba/fig4",
        ("show", "nothing-like-it"): "`headgate paper list` shows all",
        ("run", "faba", "--with", "codle"): "did you mean 'codel'?",
        ("run", "faba", "--with", ","): "expected a list of disciplines, such as",
        ("run", "red-pd", "--trace", "none.pcap"): "there is no file none.pcap",
        ("report", "faba"): "headgate paper run faba",
    }
    for words, expected in wrong.items():
        done = command("paper", *words)
        assert done.returncode == 2, words
        assert expected in done.stderr
        assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_resumes(tmp_path: Path):
    words = [sys.executable, "-m", "headgate", "paper", "run", "faba/table1", "--quick", "--threads", "1", "--json"]
    first = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("results/papers/runs/*/unfinished/[!.]*"))) < 3 and time.monotonic() < deadline:
            assert first.poll() is None
            time.sleep(0.02)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    done = len(list(tmp_path.glob("results/papers/runs/*/unfinished/[!.]*")))
    again = subprocess.run(words[:-1], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert re.search(rf"{done} of \d+ runs are finished and reused", again.stderr)
    assert not list(tmp_path.rglob(".unfinished-*"))
