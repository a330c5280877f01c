"""`headgate migrate` rewrites old scenario files."""

from pathlib import Path

import pytest

import headgate
from tests.conftest import Command

OLD = """# The paper's TCP.
name = "old"
duration = "1s"
qdiscs = ["red"]
link = { rate = "10Mbit/s", delay = "10ms", limit = "100p" }

[[tcp]]
cc = "newreno"   # as in ns-2
flows = 2
"""
NEW = OLD.replace('cc = "newreno"   # as in ns-2\n', 'cc = "reno"   # as in ns-2\nrecovery = "newreno"\n')


def test_an_old_file_is_rewritten_and_each_change_is_printed(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text(OLD)
    file.chmod(0o640)
    done = command("migrate", str(file))
    assert done.returncode == 0, done.stderr
    assert file.read_text() == NEW
    assert file.stat().st_mode & 0o777 == 0o640
    assert 'old.toml:8: `cc = "newreno"` is written `cc = "reno", recovery = "newreno"` now' in done.stdout
    assert headgate.Scenario.load(file).to_toml()
    again = command("migrate", str(file))
    assert (again.returncode, file.read_text()) == (0, NEW)
    assert "every name is current" in again.stdout


def test_old_metrics_of_expect_lines_are_rewritten(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    old = 'expect = [\n    \'utilisation >= 95%\',  # busy\n    "red: p95 queue delay < 20ms", "red: loss tcp<5%"]\n'
    file.write_text(old + NEW)
    done = command("migrate", str(file))
    assert done.returncode == 0, done.stderr
    assert file.read_text() == old.replace("utilisation", "utilization").replace("loss tcp", "drop rate tcp") + NEW
    assert "old.toml:2: the metric `utilisation` is called `utilization` now" in done.stdout


def test_expect_lines_that_repeat_or_contain_each_other_are_rewritten_each(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    old = "expect = ['loss < 5%', 'loss < 5%', 'red: loss < 5%', \"\\u006coss < 4%\"]\n"
    file.write_text(old + NEW)
    done = command("migrate", str(file))
    assert done.returncode == 0, done.stderr
    # A line that TOML writes with escapes stays as it is.
    assert file.read_text() == old.replace("loss <", "drop rate <") + NEW
    assert done.stdout.count("the metric `loss` is called `drop rate` now") == 3


def test_a_dry_run_prints_a_diff_and_writes_nothing(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text(OLD)
    done = command("migrate", "--dry-run", str(file))
    assert (done.returncode, file.read_text()) == (0, OLD)
    assert '+recovery = "newreno"' in done.stdout.splitlines()


def test_nothing_is_written_if_one_file_is_bad(command: Command, tmp_path: Path) -> None:
    old, bad = tmp_path / "old.toml", tmp_path / "bad.toml"
    old.write_text(OLD)
    bad.write_text("name = \n")
    done = command("migrate", str(old), str(bad))
    assert (done.returncode, old.read_text()) == (2, OLD)
    assert "bad.toml:1" in done.stderr
    assert command("migrate", str(tmp_path / "none.toml")).returncode == 2


@pytest.mark.filterwarnings("default::FutureWarning")
def test_an_old_name_gives_one_warning_with_its_place(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text(OLD)
    done = command("run", str(file), "--no-report", "--out", str(tmp_path))
    assert done.returncode == 0
    assert 'warning: `cc = "newreno"` is written' in done.stderr
    assert f"{file}:8:" in done.stderr
    assert "FutureWarning" not in done.stderr
