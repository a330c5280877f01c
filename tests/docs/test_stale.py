"""`make stale` names each page whose numbers are no longer those of the code, and no other page."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import headgate
from headgate.analysis.runs import Run
from headgate.experiment.declare import Experiment
from headgate.papers import catalogue

ROOT = Path(__file__).parents[2]
#: Experiments whose short runs take a tenth of a second.
NAME, OTHER = "comparison/fig8", "comparison/fig7"
PAGE = "docs/papers/comparison.md"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A script of docs/ by name."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    return import_module


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """New folders for short runs, so that none is reused."""
    return (tmp_path / str(number) for number in range(100))


@pytest.fixture
def stale(script: Any, folders: Any) -> Callable[[], dict[str, Any]]:
    """The stale parts of a page of two experiments, whose records are of the code as it is before the test."""
    runs, digests = script("short_runs"), script("digests")

    def known() -> dict[str, dict[str, Callable[[], str]]]:
        home = next(folders)
        return {PAGE: {name.partition("/")[2]: partial(runs.of_experiment, name, home) for name in (NAME, OTHER)}}

    before = {part: digests.Record(digest(), "0123abcd", "2026-01-02") for part, digest in known()[PAGE].items()}
    return lambda: script("stale").stale_parts(known(), {PAGE: before})


def change(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
    """Declares the first experiment with other fields."""
    declared = catalogue.experiment
    changed = replace(declared(NAME), **fields)
    monkeypatch.setattr(catalogue, "experiment", lambda name: changed if name == NAME else declared(name))


def scenario_with(declared: Experiment, setting: str) -> Callable[[Any], headgate.Scenario]:
    """The scenario of an experiment with a changed key."""
    return lambda values: declared.scenario(values).changed(set=[setting])


def test_nothing_is_stale_while_the_code_is_the_same(stale: Any, script: Any):
    assert stale() == {}
    assert script("stale").report({}, {PAGE: {"a": None, "b": None}}) == (
        "The numbers of 2 parts of 1 pages are those of this code."
    )


def test_another_value_in_a_scenario_makes_its_experiment_stale(stale: Any, monkeypatch: pytest.MonkeyPatch):
    change(monkeypatch, scenario=scenario_with(catalogue.experiment(NAME), "link.delay=21ms"))
    assert stale() == {PAGE: {"fig8": "0123abcd"}}


def test_a_discipline_that_decides_otherwise_makes_its_experiments_stale(stale: Any, monkeypatch: pytest.MonkeyPatch):
    flows = Run.flows

    def one_more(run: Run, column: str, *some: Any, **named: Any) -> Any:
        values = flows(run, column, *some, **named)
        return values + (column == "dropped")

    monkeypatch.setattr(Run, "flows", one_more)
    assert stale() == {PAGE: {"fig8": "0123abcd", "fig7": "0123abcd"}}


@pytest.mark.parametrize("field", ["seeds", "duration"])
def test_seeds_and_times_of_whole_runs_count_though_short_runs_have_their_own(
    field: str, stale: Any, monkeypatch: pytest.MonkeyPatch
):
    declared = catalogue.experiment(NAME)
    assert any(key.startswith("duration=") for key in declared.quick.set)
    changed = {"seeds": 7} if field == "seeds" else {"scenario": scenario_with(declared, "duration=77s")}
    change(monkeypatch, **changed)
    assert stale() == {PAGE: {"fig8": "0123abcd"}}


def test_a_part_without_a_record_is_stale_and_its_run_is_not_made(script: Any):
    known = {PAGE: {"fig8": lambda: pytest.fail("nobody needs this run")}}
    found = script("stale").stale_parts(known, {})
    assert found == {PAGE: {"fig8": None}}
    assert script("stale").report(found, known).splitlines()[0] == f"{PAGE}: fig8 (no recorded commit)"


def test_a_new_column_of_a_table_changes_no_digest(script: Any, in_memory: headgate.Result):
    run = Run(in_memory, in_memory.scenario.runs[0], "", {})
    before = list(script("short_runs").counts(run))

    def with_a_column(name: str) -> pa.Table:
        table = in_memory.run(name, run.key)
        return table.append_column("news", pa.array(range(table.num_rows)))

    wider: Any = SimpleNamespace(scenario=in_memory.scenario, run=lambda name, _: with_a_column(name))
    more = Run(wider, run.key, "", {})
    assert list(script("short_runs").counts(more)) == before
    assert any(line.startswith("flows dropped ") for line in before)
    assert sum(line.startswith("bottleneck ") for line in before) == 1


def test_a_digest_is_the_same_on_one_thread_and_on_three(script: Any, folders: Any, monkeypatch: pytest.MonkeyPatch):
    made = []
    options = script("short_runs").RunOptions
    for threads in (1, 3):
        monkeypatch.setattr(script("short_runs"), "RunOptions", partial(options, threads=threads))
        made.append(script("short_runs").of_experiment(NAME, next(folders)))
    assert made[0] == made[1]


def test_every_page_names_the_commits_of_its_numbers(script: Any, tmp_path: Path):
    records = script("digests").load()
    known = script("parts").all_parts(tmp_path)
    for page, parts in known.items():
        line = script("digests").line(parts, records.get(page, {}))
        assert script("pages").between((ROOT / page).read_text(), "commit") == f"{line}\n", page
    assert {(page, part) for page, parts in records.items() for part in parts} <= {
        (page, part) for page, parts in known.items() for part in parts
    }


def test_a_page_without_the_marker_of_its_commit_is_refused(script: Any):
    with pytest.raises(SystemExit, match="marker <!-- commit -->"):
        script("pages").between("# A page\n", "commit")


def unknown_pages(script: Any, folder: Path, known: Mapping[str, Any]) -> list[str]:
    """Pages with commands of simulations that have neither a short run nor a reason against one."""
    files = [folder / "README.md", *sorted((folder / "docs").rglob("*.md"))]
    showing = {
        str(file.relative_to(folder))
        for file in files
        if "decisions" not in file.parts and script("page_runs").commands(file.read_text("utf-8"))
    }
    return sorted(showing - set(known) - set(script("parts").OTHERS))


def test_every_page_with_commands_of_simulations_has_short_runs_or_a_reason(script: Any, tmp_path: Path):
    known = script("parts").all_parts(tmp_path)
    assert unknown_pages(script, ROOT, known) == []
    assert not set(known) & set(script("parts").OTHERS)
    assert all((ROOT / page).is_file() for page in script("parts").OTHERS)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Read me\n")
    (tmp_path / "docs" / "new.md").write_text("`headgate run scenarios/protect.toml` gives 4.2 Mbit/s.\n")
    assert unknown_pages(script, tmp_path, known) == ["docs/new.md"]


COMMANDS = """\
```sh
headgate check scenarios/protect.toml --seeds 2 --set duration=30s --qdisc faba \\
  --qdisc "prio:children=[red; droptail]" --expect "share tcp > 0.8"  # a comment
headgate demo
headgate run --live scenarios/live.toml --set seeds=10 --qdisc ...
headgate sweep grid.toml
headgate why results/protect-… --flow 1
```

In `headgate run
bbr --set bbr.cc=bbr3` and `headgate paper run faba/table1`.
"""


def test_the_commands_of_a_page_are_read_with_their_disciplines_and_settings(script: Any):
    command = script("page_runs").Command
    assert script("page_runs").commands(COMMANDS) == [
        command("protect", ("faba", "prio:children=[red; droptail]"), ("duration=30s",)),
        command("protect"),
        command("live"),
        command("grid"),
        command("bbr", (), ("bbr.cc=bbr3",)),
    ]


def test_a_page_runs_its_scenario_once_for_each_discipline_with_its_first_seed(script: Any):
    page = '```toml title="mine.toml"\n' + (ROOT / "scenarios" / "bbr.toml").read_text() + "```\n"
    page += "`headgate run mine.toml --qdisc red --qdisc faba`, `headgate run mine.toml --qdisc faba`\n"
    runs = script("page_runs").scenarios(page, "mine")
    assert [(run.qdiscs, run.seeds) for run in runs] == [(["red"], [1]), (["faba"], [1])]


@pytest.fixture
def records(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of two parts with records of their own, in a folder of its own."""
    digests = script("digests")
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n<!-- commit -->\nold\n<!-- /commit -->\n")
    monkeypatch.setattr(digests, "ROOT", tmp_path)
    monkeypatch.setattr(digests, "FILE", tmp_path / "digests.json")
    digests.save({"page.md": {"a": digests.Record("1", "aaaaaaaa", "2026-01-01")}})
    return page


def git_of(status: str) -> Callable[..., str]:
    return lambda *words: status if words[0] == "status" else "bbbbbbbb 2026-02-02"


def test_new_digests_replace_those_of_written_parts_only(script: Any, records: Path, monkeypatch: pytest.MonkeyPatch):
    digests = script("digests")
    monkeypatch.setattr(digests, "_git", git_of(""))
    digests.record("page.md", ["a", "b", "c"], {"b": "2"})
    assert digests.load() == {"page.md": {"a": ("1", "aaaaaaaa", "2026-01-01"), "b": ("2", "bbbbbbbb", "2026-02-02")}}
    assert "Numbers of commit bbbbbbbb (2026-02-02): b.\nNumbers of commit aaaaaaaa (2026-01-01): a.\n" in (
        records.read_text()
    )
    assert "Numbers of a commit that was not recorded: c.\n" in records.read_text()


def test_a_plus_says_that_the_code_had_changes_without_a_commit(
    script: Any, records: Path, monkeypatch: pytest.MonkeyPatch
):
    digests = script("digests")
    monkeypatch.setattr(digests, "_git", git_of(" M crates/core/src/lib.rs"))
    digests.record("page.md", ["a"], {"a": "2"})
    assert "\nNumbers of commit bbbbbbbb+ (2026-02-02).\n" in records.read_text()


def test_digests_of_an_unknown_page_or_part_are_refused(script: Any):
    for page, some, expected in (("docs/none.md", [], "no numbers"), (PAGE, ["fig99"], "has no part fig99")):
        with pytest.raises(SystemExit, match=expected):
            script("stale").store(page, some)


def test_lists_have_the_stale_experiments_and_all_readings_of_their_papers(script: Any, tmp_path: Path):
    parts, stale = script("parts"), script("stale")
    found = {"docs/papers/faba.md": {"fig4": None}, parts.TODAY: {"blue/fig6": None}}
    stale.write_lists(found, tmp_path / "lists")
    read = {file.name: file.read_text().split() for file in (tmp_path / "lists").iterdir()}
    assert read["papers"] == ["faba/fig4"]
    assert read["today"] == ["blue/fig6"]
    assert "faba/fig4" in read["readings"]
    assert "faba/table1" in read["readings"]
    assert {name.partition("/")[0] for name in read["readings"]} == {"faba"}
    stale.write_lists({}, tmp_path / "lists")
    assert [file.read_text() for file in (tmp_path / "lists").iterdir()] == [""] * 3


def check(script: Any, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], digest: str) -> int:
    """The exit code of stale.py for a page with one part, whose digest was `1`."""
    stale, digests = script("stale"), script("digests")
    monkeypatch.setattr(script("parts"), "all_parts", lambda _: {"page.md": {"a": lambda: digest}})
    monkeypatch.setattr(digests, "load", lambda: {"page.md": {"a": digests.Record("1", "aaaaaaaa", "2026-01-01")}})
    monkeypatch.setattr("sys.argv", ["stale.py", *words])
    with pytest.raises(SystemExit) as end:
        stale.main()
    return int(end.value.code)


def test_stale_pages_are_an_error_only_with_check(script: Any, monkeypatch: pytest.MonkeyPatch):
    codes = [check(script, monkeypatch, words, digest) for words in ([], ["--check"]) for digest in ("1", "2")]
    assert codes == [0, 0, 0, 1]


@pytest.mark.parametrize("code", [0, 1])
def test_release_check_refuses_stale_pages(code: int, tmp_path: Path):
    version = "9.9.9"
    rules, extension, _ = (ROOT / "Makefile").read_text().partition("\n$(VENV)/.extension: ")
    assert extension
    (tmp_path / "Makefile").write_text(f"{rules}\n$(VENV)/.extension:\n\t@true\n")
    (tmp_path / "Cargo.toml").write_text(f'version = "{version}"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"## {version} (2026-01-01)\n")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\n[ "$*" = "docs/stale.py --check" ] || exit 9\necho its output\nexit {code}\n')
    python.chmod(0o755)
    words = ["make", "release-check", f"TAG=v{version}", f"BIN={python.parent}"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode != 0) == bool(code), done.stderr
    assert "its output" in done.stdout
    assert ("a release needs pages whose numbers are of its code" in done.stderr) == bool(code)
