"""No name of an identity is believed: what has the same name and is something else is refused, or computed anew.

Names have `DIGITS` digits of a SHA-256. Here they have one, so that another scenario, run or search with the same name
is found at once. `KINDS` lists every function that makes a name, with the test that searches its collisions.
"""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from headgate import ResultError, Scenario, UsageError, api, identity
from headgate.execution.runner import Watcher
from headgate.files import names, receipts, sealed, store
from headgate.scenario import RunWorld
from tests.conftest import Command, files
from tests.sources import parsed
from tests.storage import test_identities_of_sweeps
from tests.storage.collisions import BRIEF, colliding, short, with_limit

__all__ = ["short"]  # a fixture

ROOT = Path(__file__).parents[2]

#: The functions that make a name, and the test that shows that it is not believed; or why nobody can believe it.
KINDS = {
    "headgate/files/names.py name_for": "test_a_folder_of_another_scenario_is_refused",
    "headgate/files/names.py slug_of": "test_disciplines_with_one_file_name_are_refused",
    "headgate/files/names.py earlier_slug": "test_results_of_earlier_versions_are_read_and_not_reused",
    "headgate/files/provenance.py check_name": "test_verify_compares_the_name_of_a_folder_with_its_content",
    "headgate/files/provenance.py own_name": "test_verify_compares_the_name_of_a_folder_with_its_content",
    "headgate/tuning/study.py folder": "test_a_search_does_not_continue_another_one",
    "headgate/tuning/study.py seed": "the seed of a sampler, by which nothing is found",
    "headgate/tuning/sensitivity.py sensitivity": "test_the_runs_of_another_sensitivity_are_refused",
    "headgate/evaluate/record.py folder": "test_the_document_of_another_evaluation_is_refused",
    "headgate/export/summary.py _caption": "a comment in a table of LaTeX, which nothing reads",
    "headgate/compare/page.py folder_name": "a page that is written anew each time, and never read",
    "headgate/report/inline.py _name": "test_two_pictures_of_a_page_do_not_share_identifiers",
    "headgate/sweeps/plan.py name": "test_a_dataset_of_another_scenario_is_refused",
    "headgate/sweeps/plan.py SweepRun.name": "test_a_run_of_an_earlier_sweep_with_the_same_name_is_refused",
    "headgate/sweeps/receipt.py run_named": "test_a_run_of_an_earlier_sweep_with_the_same_name_is_refused",
    "headgate/sweeps/receipt.py parse": "test_a_receipt_with_a_run_under_another_name_is_damaged",
    "headgate/sweeps/receipt.py to_bytes": "test_two_runs_of_a_sweep_with_one_name_are_refused",
    "headgate/sweeps/receipt.py name_of": "test_a_bundle_of_other_runs_with_the_same_name_is_refused",
    "headgate/sweeps/dataset.py _check_runs": "test_a_run_of_an_earlier_sweep_with_the_same_name_is_refused",
    "headgate/sweeps/leftovers.py _with_any": "test_force_replaces_a_run_with_the_same_name",
    "headgate/sweeps/result.py check": "test_a_run_of_an_earlier_sweep_with_the_same_name_is_refused",
    "headgate/sweeps/work.py _files": "test_two_runs_of_a_sweep_with_one_name_are_refused",
    "headgate/sweeps/work.py _recorded": "test_two_runs_of_a_sweep_with_one_name_are_refused",
    "peers/runs.py file": "test_the_result_of_another_peer_run_is_not_believed",
    "docs/short_runs.py digest": "a digest that is compared with that of the same part, by which nothing is found",
}


def two_scenarios(**changes: object) -> tuple[Scenario, Scenario]:
    return colliding(lambda number: with_limit(number, **changes), names.folder_name)


class Stopping(Watcher):
    """Interrupts after one run."""

    def tick(self, finished: int, _: float) -> None:
        if finished:
            raise KeyboardInterrupt


def interrupted(scenario: Scenario, out: Path) -> Path:
    """The folder of a result that was interrupted, with its first run. A busy machine may have finished more."""
    with pytest.raises(headgate.InterruptedRunError):
        headgate.run(scenario, out=out, report=False, threads=1, watcher=Stopping())
    folder = out / store.folder_name(scenario)
    for late in scenario.runs[1:]:  # a busy machine interrupts later
        shutil.rmtree(folder / receipts.RUNS / store.slug(late), ignore_errors=True)
    return folder


#: The text of a value that is called, or computed, like a hash.
HASHED = re.compile(r"hash|digest|sha\d|\bidentity\b|\bof_(text|bytes|values|scenario)\(")


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every function, with the class if its name is needed to tell two functions apart."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{node.name}.")


def makes_name(node: ast.AST) -> bool:
    """Whether a function shortens a hash itself or by `identity.name_of`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and ast.unparse(each) == "identity.name_of":
            return True
        if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Slice) and each.slice.lower is None:
            value, ends = ast.unparse(each.value), ast.unparse(each.slice)
            if HASHED.search(value) or "DIGITS" in ends:
                return True
    return False


def test_every_function_that_makes_a_name_is_tried():
    found = set()
    for folder in (ROOT / "python/headgate", ROOT / "peers", ROOT / "docs"):
        for file in folder.rglob("*.py"):
            where = str(file.relative_to(ROOT)).removeprefix("python/")
            if where == "headgate/identity.py":
                continue
            found |= {f"{where} {name}" for name, node in functions(parsed(file.read_text())) if makes_name(node)}
    plain = {entry for entry in KINDS if entry in found}
    # A method is listed by its class only if another function of the file has its name.
    methods = {entry: re.sub(r" \w+\.", " ", entry) for entry in found - plain}
    assert {methods.get(entry, entry) for entry in found} == set(KINDS)
    tests = {text for text in KINDS.values() if text.startswith("test_")}
    assert tests <= {*globals(), *vars(test_identities_of_sweeps)}


@pytest.mark.usefixtures("short")
def test_a_folder_of_another_scenario_is_refused(tmp_path: Path):
    first, second = two_scenarios()
    had = headgate.run(first, out=tmp_path, report=False)
    before = files(had.path)
    with pytest.raises(ResultError, match="holds results of another scenario than small-") as raised:
        headgate.run(second, out=tmp_path, report=False)
    assert all(word in str(raised.value) for word in (str(had.path), "--out", "--force"))
    assert files(had.path) == before
    replaced = headgate.run(second, out=tmp_path, report=False, force=True)
    assert replaced.path == had.path
    assert replaced.flows.equals(headgate.run(second).flows)


@pytest.mark.usefixtures("short")
def test_commands_refuse_a_folder_of_another_scenario(command: Command):
    numbers = colliding(lambda number: (number, with_limit(number)), lambda pair: names.folder_name(pair[1]))
    Path("small.toml").write_text(BRIEF)
    for verb in (("run", "--no-report"), ("check", "--expect", "utilization > 0.01")):
        shutil.rmtree("results", ignore_errors=True)
        codes = [command(verb[0], "small.toml", *verb[1:], "--set", f"link.limit={number + 20}p").returncode
                 for number, _ in numbers]  # fmt: skip
        assert codes == [0, 3]


@pytest.mark.usefixtures("short")
def test_a_killed_run_is_not_continued_by_another_scenario(tmp_path: Path):
    first, second = two_scenarios()
    folder = interrupted(first, tmp_path)
    before = files(folder)
    with pytest.raises(ResultError, match=r"unfinished/droptail-\w-1 is a run of that one"):
        headgate.run(second, out=tmp_path, report=False)
    assert files(folder) == before
    assert headgate.run(first, out=tmp_path, report=False).flows.equals(headgate.run(first).flows)


@pytest.mark.usefixtures("short")
def test_a_folder_with_the_text_of_another_scenario_is_refused_and_torn_texts_are_not(tmp_path: Path):
    first, second = two_scenarios()
    folder = tmp_path / store.folder_name(first)
    folder.mkdir()
    (folder / store.SCENARIO).write_text(first.to_toml())
    with pytest.raises(ResultError, match=f"it is in {store.SCENARIO}"):
        headgate.run(second, out=tmp_path, report=False)
    (folder / store.SCENARIO).write_text(first.to_toml()[:100])
    headgate.run(second, out=tmp_path, report=False)


@pytest.mark.usefixtures("short")
def test_scenarios_of_one_call_do_not_share_a_folder(tmp_path: Path):
    with pytest.raises(UsageError, match="two of the scenarios have the folder"):
        headgate.run(list(two_scenarios()), out=tmp_path, report=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("short")
def test_disciplines_with_one_file_name_are_refused(tmp_path: Path):
    one, other = colliding(lambda number: f"red:maxp=0.{number}", names.slug_of)
    both = Scenario.parse(BRIEF, qdiscs=[one, other])
    with pytest.raises(UsageError, match=rf"{one} and {other} would have the same file names \(red-\w\)"):
        headgate.run(both, out=tmp_path, report=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("short")
def test_a_folder_of_a_run_does_not_tell_its_discipline(tmp_path: Path):
    one, other = colliding(lambda number: f"red:maxp=0.{number}", names.slug_of)
    scenarios = [Scenario.parse(BRIEF, qdiscs=[each, "droptail"]) for each in (one, other)]
    first, second = (interrupted(each, tmp_path / str(number)) for number, each in enumerate(scenarios))
    (name,) = (each.name for each in (first / receipts.RUNS).iterdir())
    shutil.rmtree(second / receipts.RUNS / name)
    shutil.copytree(first / receipts.RUNS / name, second / receipts.RUNS / name)
    with pytest.raises(ResultError, match=f"{name} is a run of that one"):
        headgate.run(scenarios[1], out=tmp_path / "1", report=False)


def test_a_simulation_takes_no_runs_of_real_packets_over(tmp_path: Path):
    many, few = (with_limit(1, seeds=seeds, qdiscs=["faba"]) for seeds in (2, 1))
    folder = interrupted(many, tmp_path)
    (run,) = (folder / receipts.RUNS).iterdir()
    live = Scenario(many.core, world=RunWorld.LIVE)
    document = receipts.of(run, receipts.RunIdentity.of(live, live.runs[0]))
    document["files"].pop(receipts.NAME)
    (run / receipts.NAME).write_text(sealed.sealed_text(document))
    folder.rename(tmp_path / store.folder_name(live))
    begun = Begun()
    headgate.run(few, out=tmp_path, report=False, watcher=begun)
    assert begun.calls == [(1, 0)]


class Begun(Watcher):
    """Records the numbers of all and of finished runs."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def begin(self, total: int, cached: int, _: float) -> None:
        self.calls.append((total, cached))


def test_a_folder_of_another_name_is_read_and_not_reused(tmp_path: Path, command: Command):
    first, second = with_limit(1), with_limit(2)
    had = headgate.run(first, out=tmp_path, report=False)
    rows = had.flows
    wrong = had.path.rename(tmp_path / store.folder_name(second))
    assert headgate.load(wrong).flows.equals(rows)
    with pytest.raises(ResultError, match=f"{wrong} holds results of another scenario"):
        headgate.run(second, out=tmp_path, report=False)
    chosen = wrong.rename(tmp_path / "before")
    other = headgate.run(second, out=tmp_path, report=False).path
    for words in (("report", chosen), ("compare", chosen, other, "--allow", "link.limit", "--no-page")):
        assert command(*words).returncode == 0


def test_verify_compares_the_name_of_a_folder_with_its_content(tmp_path: Path, command: Command):
    had = headgate.run(with_limit(1), out=tmp_path, report=False).path
    wrong = had.rename(tmp_path / store.folder_name(with_limit(2)))
    done = command("verify", wrong)
    assert done.returncode == 3
    assert f"{wrong} is named after another configuration: it holds {had.name.rpartition('-')[2]}." in done.stderr
    chosen = wrong.rename(tmp_path / "before")
    assert command("verify", chosen).stdout.endswith(f"hashes; the folder was called {had.name}\n")
    earlier = chosen.rename(tmp_path / had.name[:-8])
    assert command("verify", earlier).stdout.endswith(": all files match their hashes\n")


def test_verify_compares_an_unfinished_result_with_its_scenario_and_name(tmp_path: Path, command: Command):
    first, second = with_limit(1), with_limit(2)
    folder = interrupted(first, tmp_path)
    assert command("verify", folder).returncode == 0
    wrong = folder.rename(tmp_path / store.folder_name(second))
    assert "is named after another configuration" in command("verify", wrong).stderr
    (wrong / store.SCENARIO).write_text(second.to_toml())
    assert f"{wrong} has runs of another scenario than {store.SCENARIO}" in command("verify", wrong).stderr


def test_names_have_64_bits():
    assert identity.DIGITS * 4 >= 64
    assert len(identity.name_of(with_limit(1).config_hash)) == identity.DIGITS


def test_results_of_earlier_versions_are_read_and_not_reused(tmp_path: Path):
    """Folders, tables of runs and captures had 8 digits in their names."""
    scenario = with_limit(1).changed(set=["record.events=all"])
    had = headgate.run(scenario, out=tmp_path, report=False)
    rows = had.events
    old = had.path.rename(tmp_path / had.path.name[:-8])
    manifest = sealed.read(old / store.MANIFEST, store.FORM)
    for run in scenario.runs:
        now, then = (f"events/{name(run)}.parquet" for name in (names.slug, names.earlier_slug))
        (old / now).rename(old / then)
        manifest["tables"][then] = manifest["tables"].pop(now)
    (old / store.MANIFEST).write_text(sealed.sealed_text(manifest))
    assert headgate.load(old).events.equals(rows)
    begun = Begun()
    headgate.run(scenario, out=tmp_path, report=False, watcher=begun)
    assert begun.calls == [(2, 0)]


def test_an_api_that_names_no_folder_compares_the_scenario(tmp_path: Path):
    api.run_into(tmp_path / "fixed", with_limit(1), report=False)
    with pytest.raises(ResultError, match="fixed holds results of another scenario"):
        api.run_into(tmp_path / "fixed", with_limit(2), report=False)
