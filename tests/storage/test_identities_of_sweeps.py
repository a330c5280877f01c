"""No name of a run of a sweep, a search, an evaluation or a picture is believed (see `test_identities.py`)."""

import re
import shutil
from pathlib import Path

import pytest

import headgate
from headgate import ResultError, Scenario, UsageError, identity
from headgate.execution.runner import Watcher
from headgate.files import sealed, store
from headgate.report import inline
from headgate.sweeps import cluster, plan, receipt, spec, work
from headgate.sweeps.bundle import Bundle
from tests.conftest import Command, files
from tests.schema.test_forms import VALID
from tests.storage.collisions import BRIEF, colliding, short, with_limit

__all__ = ["short"]  # a fixture


@pytest.mark.usefixtures("short")
def test_a_dataset_of_another_scenario_is_refused(tmp_path: Path):
    def swept(scenario: Scenario, **options: object) -> headgate.Sweep:
        return headgate.sweep(scenario, grid={"link.rate": ["1Mbit/s"]}, qdiscs=["droptail"], **options)  # type: ignore[arg-type]

    def name(scenario: Scenario) -> str:
        return plan.read(scenario, spec.spec({"link.rate": ["1Mbit/s"]}, {}, {}), qdiscs=["droptail"]).name

    first, second = colliding(with_limit, name)
    had = swept(first, out=tmp_path)
    before = files(Path(had.url))
    with pytest.raises(ResultError, match="holds the sweep of another scenario than small-sweep-"):
        swept(second, out=tmp_path)
    assert files(Path(had.url)) == before
    assert swept(second, out=tmp_path, force=True).table("links").equals(swept(second).table("links"))


def swept_rate(rate: int, **options: object) -> headgate.Sweep:
    """A sweep of a single run."""
    grid = {"link.rate": [f"{rate}kbit/s"]}
    return headgate.sweep(Scenario.parse(BRIEF, qdiscs=["droptail"]), grid=grid, **options)  # type: ignore[arg-type]


def planned(*rates: int, seeds: int = 1) -> plan.SweepPlan:
    grid = spec.spec({"link.rate": [f"{rate}kbit/s" for rate in rates]}, {}, {})
    return plan.read(Scenario.parse(BRIEF, qdiscs=["droptail"]), grid, seeds=seeds)


def two_rates() -> tuple[int, int]:
    """Two rates whose runs have the same name, which are different."""
    one, other = colliding(lambda number: 1000 + number, lambda rate: planned(rate).runs[0].name)
    return one, other


@pytest.mark.usefixtures("short")
def test_two_runs_of_a_sweep_with_one_name_are_refused():
    one, other = two_rates()
    with pytest.raises(UsageError, match=rf'two runs would have the name \w: .*{one}kbit/s", and .*{other}kbit/s"'):
        planned(one, other)


@pytest.mark.usefixtures("short")
def test_a_run_of_an_earlier_sweep_with_the_same_name_is_refused(tmp_path: Path):
    one, other = two_rates()
    had = swept_rate(one, out=tmp_path)
    before = files(Path(had.url))
    with pytest.raises(ResultError, match=r"receipts/\w.json has another run with the name \w\. Rename that folder"):
        swept_rate(other, out=tmp_path)
    assert files(Path(had.url)) == before
    assert swept_rate(one, out=tmp_path).cost.runs == 0


@pytest.mark.usefixtures("short")
def test_force_replaces_a_run_with_the_same_name(tmp_path: Path):
    one, other = two_rates()
    swept_rate(one, out=tmp_path)
    forced = swept_rate(other, out=tmp_path, force=True)
    assert forced.table("links").equals(swept_rate(other).table("links"))
    forced.check()


@pytest.mark.usefixtures("short")
def test_a_bundle_of_other_runs_with_the_same_name_is_refused():
    hashes = [[identity.of_text(f"{number} {run}") for run in "ab"] for number in range(40)]
    one, other = colliding(hashes.__getitem__, receipt.name_of)
    stored = receipt.StoredRun("", {})
    whole = receipt.Receipt.of(dict.fromkeys(one, stored), {})
    place = receipt.place_of(receipt.name_of(other))
    assert set(receipt.Receipt.parse(whole.to_bytes(), place).runs) == {*one}
    assert not {*one} & {*other}  # a dataset takes only runs whose whole identity is in its plan


def test_a_receipt_with_a_run_under_another_name_is_damaged():
    runs = [identity.of_text(each) for each in "abc"]
    stored = receipt.StoredRun("", {})
    whole = receipt.Receipt.of(dict.fromkeys(runs[:2], stored), {})
    place = receipt.place_of(whole.name)
    assert [*receipt.Receipt.parse(whole.to_bytes(), place).runs] == runs[:2]
    document = sealed.parse(whole.to_bytes(), place, receipt.FORM)
    points = document["points"]
    points[identity.name_of(runs[2])] = points.pop(identity.name_of(runs[1]))
    text = sealed.sealed_text(document)
    with pytest.raises(ResultError, match="is damaged: a run has not the name that its config_hash gives it"):
        receipt.Receipt.parse(text.encode(), place)


def test_a_task_of_a_cluster_is_called_by_everything_that_affects_it(monkeypatch: pytest.MonkeyPatch):
    """Dask gives equal keys one result, also if the tasks differ or another client submitted them."""
    monkeypatch.setattr(identity, "DIGITS", 1)

    class Client:
        def __init__(self) -> None:
            self.keys: list[str] = []

        def nthreads(self) -> dict[str, int]:
            return {"worker": 1}

        def submit(self, *_: object, key: str, **__: object) -> object:
            self.keys.append(key)
            return object()

    client = Client()
    one, other = two_rates()
    few = planned(one)
    few.tables = ("flows",)
    for each in (planned(one), planned(other), few):
        bundles = (Bundle(tuple(each.runs)),)
        next(cluster.Cluster(client, "")._submitted(iter(bundles), {}, each))
    ours = work.build_identity()
    monkeypatch.setattr(work, "build_identity", lambda: ours._replace(build="another"))
    next(cluster.Cluster(client, "")._submitted(iter(bundles), {}, few))
    assert len(set(client.keys)) == 4


@pytest.mark.usefixtures("short")
def test_a_search_does_not_continue_another_one(tmp_path: Path):
    pytest.importorskip("optuna")
    from headgate.tuning.study import FILE, SearchPlan
    from tests.tune.conftest import plan_of

    def searched(number: int) -> SearchPlan:
        return plan_of("red", [f"maxp=0.01..0.{number + 100}"], ["p95 queue delay"])

    from headgate.tuning.search import Search

    first, second = colliding(searched, lambda each: each.folder(tmp_path))
    folder = first.folder(tmp_path)
    folder.mkdir()
    trials = Search(first, folder).run(1)
    with pytest.raises(ResultError, match=rf"{FILE} holds the trials of another search"):
        Search(second, folder)
    assert Search(first, folder).run(1) == trials


def test_verify_compares_the_name_of_a_search_with_its_study(tmp_path: Path, command: Command):
    pytest.importorskip("optuna")
    from headgate.tuning.search import Search
    from tests.tune.conftest import plan_of

    search = plan_of("red", ["maxp=0.01..0.5"], ["p95 queue delay"])
    folder = search.folder(tmp_path)
    folder.mkdir()
    Search(search, folder).run(1)
    assert command("verify", folder).returncode == 0
    renamed = folder.rename(tmp_path / f"tune-small-red-{'0' * identity.DIGITS}")
    assert "is named after another configuration" in command("verify", renamed).stderr


@pytest.mark.usefixtures("short")
def test_the_runs_of_another_sensitivity_are_refused(tmp_path: Path):
    def vary(number: int, out: Path = tmp_path) -> Path:
        base = Scenario.parse(BRIEF, qdiscs=["red"], set=[f"link.limit={number + 20}p"])
        return headgate.sensitivity(base, "goodput", params=["gentle"], out=out).folder

    numbered: dict[str, int] = {}
    for number in range(40):
        folder = vary(number, tmp_path / str(number))
        if (first := numbered.setdefault(folder.name, number)) != number:
            break
    vary(first)
    with pytest.raises(ResultError, match="runs holds results of another scenario"):
        vary(number)


@pytest.mark.usefixtures("short")
def test_the_document_of_another_evaluation_is_refused(tmp_path: Path):
    from headgate.evaluate import catalogue, record
    from headgate.evaluate.candidates import Candidate, candidates
    from headgate.experiment.running import RunOptions

    def candidate(number: int) -> tuple[Candidate, ...]:
        return candidates([f"red:maxp=0.{number}"])

    options, sections = RunOptions(quick=True), catalogue.chosen([4])
    one, other = colliding(candidate, lambda each: record.folder(tmp_path, sections, each, options))
    folder = record.folder(tmp_path, sections, one, options)
    folder.mkdir()
    (folder / record.DOCUMENT).write_text(store.sealed_text(VALID[record.FORM] | record.asked_of(one, options)))
    with pytest.raises(ResultError, match=f"{record.DOCUMENT} holds other results: its disciplines is"):
        record.carry_out(sections, other, tmp_path, options, Watcher())


def test_two_pictures_of_a_page_do_not_share_identifiers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(identity, "DIGITS", 1)
    monkeypatch.setattr(inline, "_PREFIXES", {})
    pictures = [f'<svg><path id="a" d="{number}"/></svg>'.encode() for number in range(40)]
    prefixes = [re.search(r'id="(\w+)-a"', inline.inline(each, ""))[1] for each in pictures]
    assert len(set(prefixes)) == 40
    assert re.search(r'id="(\w+)-a"', inline.inline(pictures[0], ""))[1] == prefixes[0]


@pytest.mark.usefixtures("short")
def test_the_result_of_another_peer_run_is_not_believed(tmp_path: Path):
    from peers.cases import CASES
    from peers.runs import Task, keep

    def task(number: int) -> Task:
        return Task(CASES[0], "here", 1, ("python", "-m", "peers.here", "1"), f"scenario {number}")

    one, other = colliding(task, lambda each: each.file(tmp_path))
    keep(one, tmp_path, {"arrived": 7})
    assert one.stored(tmp_path) == {"arrived": 7}
    assert other.stored(tmp_path) is None


def test_the_table_of_a_dataset_names_runs_that_its_receipts_have(tmp_path: Path):
    """Receipts and tables of another dataset were copied over those of this one."""
    one, other = (swept_rate(rate, out=tmp_path / str(rate)) for rate in (1000, 1001))
    for folder in ("receipts", *one.manifest["tables"]):
        shutil.rmtree(Path(one.url) / folder)
        shutil.copytree(Path(other.url) / folder, Path(one.url) / folder)
    with pytest.raises(ResultError, match=one.points["point"][0].as_py()):
        headgate.Sweep.load(one.url).check()
    assert swept_rate(1000, out=tmp_path / "1000").table("links").equals(swept_rate(1000).table("links"))
