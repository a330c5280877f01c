"""`headgate new`, and scenarios found by their names."""

from pathlib import Path

import pytest

import headgate
from headgate import shipped
from tests.conftest import Command

TWO_SECONDS = ("--set", "duration=2s", "--set", "warmup=1s", "--seeds", "1")


def test_new_writes_the_scenario_and_it_runs(command: Command, tmp_path: Path):
    done = command("new", "ecn")
    assert done.returncode == 0
    assert "wrote ecn.toml" in done.stderr
    assert (tmp_path / "ecn.toml").read_text() == (shipped.FOLDER / "ecn.toml").read_text()


def test_new_never_overwrites(command: Command, tmp_path: Path):
    mine = tmp_path / "ecn.toml"
    mine.write_text("mine")
    done = command("new", "ecn")
    assert done.returncode == 2
    assert done.stderr == "error: ecn.toml exists: give another file with --as\n"
    assert mine.read_text() == "mine"
    assert command("new", "ecn", "--as", "other.toml").returncode == 0


def test_new_lists_all_and_knows_what_was_meant(command: Command):
    listed = command("new").stdout
    assert all(name in listed for name in shipped.names())
    done = command("new", "protcet")
    assert (done.returncode, done.stderr) == (2, "error: no scenario is called protcet; did you mean 'protect'?\n")


def test_commands_find_a_scenario_by_its_name(command: Command):
    done = command("run", "protect", "--qdisc", "droptail", *TWO_SECONDS, "--no-report")
    assert done.returncode == 0, done.stderr
    done = command("run", "protcet")
    assert (done.returncode, done.stderr) == (2, "error: there is no file protcet; did you mean 'protect'?\n")


def test_a_file_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert shipped.located("protect") == shipped.FOLDER / "protect.toml"
    assert headgate.Scenario.load("protect").name == "protect"
    Path("protect").write_text("mine")
    assert shipped.located("protect") == Path("protect")
    assert shipped.located("elsewhere/protect") == Path("elsewhere/protect")
