"""`headgate run`, `rerun` and `report` as a user sees them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import headgate
from headgate.files import store
from tests.conftest import SMALL, Command, files


def test_run_prints_a_table_a_verdict_and_the_folder(command: Command, small: Path, tmp_path: Path):
    done = command("run", small, "--no-report", "--seeds", 5)
    folder = Path("results") / store.folder_name(headgate.Scenario.parse(SMALL, seeds=5))
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("small: 3 TCP flows and 1 UDP flow (1 of 2 Mbit/s) on 2 Mbit/s")
    assert max(map(len, lines)) <= 120
    assert any(line.split()[:1] == ["droptail"] for line in lines)
    assert any(line.split()[:1] == ["faba"] and "*" in line for line in lines)
    assert "FABA holds the unresponsive flow to" in done.stdout
    assert lines[-1] == f"folder  {folder}"
    assert headgate.load(tmp_path / folder).scenario.name == "small"


def test_columns_without_values_are_left_out(command: Command, small: Path):
    with_all = command(
        "run", small, "--no-report", "--seeds", 1, "--set", "tcp.ecn=true", "--qdisc", "red:minth=5p,maxth=9p"
    )
    assert "mark %" in with_all.stdout
    assert "±" not in with_all.stdout
    tcp_only = command("run", small, "--no-report", "--set", "udp=[]")
    assert "UDP" not in tcp_only.stdout
    assert "mark %" not in tcp_only.stdout


def test_a_second_command_reuses_finished_runs(command: Command, small: Path):
    first, second = (command("run", small, "--no-report") for _ in range(2))
    assert second.stdout == first.stdout
    assert second.stderr == "All 4 runs are finished and reused\n"


def test_runs_of_another_build_are_run_again(command: Command, small: Path, tmp_path: Path):
    first = command("run", small, "--no-report")
    (tmp_path / first.stdout.splitlines()[-1].removeprefix("folder  ") / store.BUILD).write_text("another")
    second = command("run", small, "--no-report")
    assert (second.stdout, second.stderr) == (first.stdout, "")


def test_force_draws_the_figures_again(command: Command, small: Path, tmp_path: Path):
    first = command("run", small, "--seeds", 1)
    page = tmp_path / first.stdout.splitlines()[-2].removeprefix("report  ")
    page.write_text("of a result that is gone")
    second = command("run", small, "--seeds", 1, "--force")
    assert second.stdout == first.stdout
    assert page.read_text().lower().startswith("<!doctype html>")


def test_the_output_names_the_folders_of_recorded_tables(command: Command, small: Path, tmp_path: Path):
    records = ["record.events=drops", "record.flows=['tcp/0']", "record.capture=['bottleneck']"]
    changes = [word for change in records for word in ("--set", change)]
    lines = command("run", small, "--no-report", *changes).stdout.splitlines()
    folder = Path(lines[-1].removeprefix("folder  "))
    # Two disciplines with two seeds are four runs with a file each.
    expected = [f"events  {folder}/events", f"traces  {folder}/traces", f"captures {folder}/captures"]
    assert lines[-4:-1] == [f"{line} (4 files)" for line in expected]
    assert len(list((tmp_path / folder).glob("captures/*.pcapng"))) == 4


def test_a_report_is_written_and_rebuilt(command: Command, small: Path, tmp_path: Path):
    done = command("run", small, "--seeds", 1)
    assert done.returncode == 0
    page = tmp_path / done.stdout.splitlines()[-2].removeprefix("report  ")
    before = files(page.parent)
    assert any(name.startswith("figures/") and name.endswith(".svg") for name in before)
    page.unlink()
    again = command("report", page.parent)
    assert (again.returncode, again.stderr) == (0, "")
    assert files(page.parent) == before


def test_only_the_figures_that_are_asked_for_are_drawn(command: Command, small: Path, tmp_path: Path):
    assert command("run", small, "--seeds", 1, "--figures", "overview,delay").returncode == 0
    (folder,) = (tmp_path / "results").iterdir()
    drawn = files(folder / "figures")
    assert set(drawn) == {"overview.svg", "delay.svg"}
    assert command("rerun", folder).stdout.startswith("identical")
    assert command("report", folder, "--figures", "delay").returncode == 0
    assert files(folder / "figures") == {name: data for name, data in drawn.items() if name.startswith("delay")}
    assert (folder / "report.html").read_text().count('<svg role="img"') == 1
    assert command("report", folder, "--figures", "delay", "--format", "png").returncode == 0
    with_png = files(folder / "figures")
    assert with_png.pop("delay.png").startswith(b"\x89PNG")
    assert with_png == {"delay.svg": drawn["delay.svg"]}, "the PNG has no layout of its own"


def test_an_unknown_figure_is_refused_before_the_run(command: Command, small: Path, tmp_path: Path):
    done = command("run", small, "--figures", "overviw")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no figure is called 'overviw'; did you mean 'overview'?" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_rerun_is_identical_and_leaves_nothing(command: Command, in_folder: headgate.Result, tmp_path: Path):
    done = command("rerun", in_folder.path)
    assert (done.returncode, done.stdout) == (0, f"identical: {len(files(in_folder.path))} files, byte for byte\n")
    assert list(tmp_path.iterdir()) == []


def test_a_rerun_that_differs_lists_the_differences_and_is_kept(command: Command, small: Path, tmp_path: Path):
    command("run", small, "--no-report", "--seeds", 1)
    (folder,) = (tmp_path / "results").iterdir()
    (folder / "links.parquet").write_bytes(b"changed")
    (folder / "more.txt").touch()
    done = command("rerun", folder, "--out", "again")
    assert done.returncode == 1
    assert "  links.parquet: differs\n" in done.stdout
    assert "  more.txt: only in the result\n" in done.stdout
    assert headgate.load(tmp_path / "again" / folder.name).scenario.seeds == [1]
    once_more = command("rerun", folder, "--out", "again")
    assert (once_more.returncode, once_more.stdout) == (3, "")
    assert "exists: give another folder" in once_more.stderr


def test_ctrl_c_keeps_finished_runs_and_the_same_command_resumes(command: Command, small: Path, tmp_path: Path):
    changes = ["--set", "duration=300s", "--seeds", "20", "--no-report"]
    words = [sys.executable, "-m", "headgate", "run", str(small), *changes]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        wait_for(lambda: [path for path in finished(tmp_path) if not path.name.startswith(".")])
        os.kill(run.pid, signal.SIGINT)
        out, error_text = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, "")
    kept = finished(tmp_path)
    # On a slow machine, a line before it says how long the runs take.
    stopped = f"error: stopped: {len(kept)} of 40 runs are finished. Repeat the command to resume from results/small-"
    assert error_text.splitlines()[-1].startswith(stopped)
    assert 0 < len(kept) < 40
    assert not [path for path in kept if path.name.startswith(store.UNFINISHED)]
    done = command("run", small, *changes)
    assert done.returncode == 0
    assert done.stderr.startswith(f"{len(kept)} of 40 runs are finished and reused\n")
    assert not (finished(tmp_path))


def finished(folder: Path) -> list[Path]:
    return list(folder.glob("results/*/unfinished/*"))


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    """Waits until another process makes `condition` true; fails after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition was never met"
        time.sleep(0.005)
