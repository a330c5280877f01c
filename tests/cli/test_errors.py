"""Every error is one message on stderr with an exit code, and leaves no unfinished file."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import headgate
from tests.conftest import SMALL, Command

#: The mistake, the scenario that contains it, and a part of the expected message.
BAD_SCENARIOS = [
    ("unknown key", SMALL.replace("limit =", "limitt =", 1), "`limitt`"),
    ("wrong unit", SMALL.replace('"5ms"', '"5Mbit/s"', 1), "`link.delay`"),
    ("no unit", SMALL.replace('"2Mbit/s"', "2", 1), "`link.rate`"),
    ("negative rate", SMALL.replace('"2Mbit/s"', '"-2Mbit/s"', 1), "`link.rate`"),
    ("no flows", SMALL.partition("[[tcp]]")[0], "flow"),
    ("unknown discipline", SMALL.replace('"faba"', '"fabba"', 1), "did you mean `faba`"),
    ("limit of zero", SMALL.replace('"50p"', '"0p"', 1), "`link.limit`"),
    ("no TOML", "nothing here is TOML", "TOML"),
    ("no text", b"\xff\xfe\x00", "UTF-8"),
    ("empty", "", "`name`"),
]

BAD_OPTIONS = [
    (["--set", "link.rate=5"], "`link.rate`"),
    (["--set", "nonsense"], "PATH=VALUE"),
    (["--qdisc", "nosuch"], "`nosuch`"),
    (["--qdisc", "red:limit=0"], "`limit`"),
    (["--qdisc", "red:minth=9p,maxth=5p"], "minth"),
    (["--seeds", "0"], "'--seeds': expected at least 1, found 0"),
    (["--seeds", "many"], "'--seeds': expected a whole number, found 'many'"),
    (["--threads", "0"], "--threads"),
    (["--nosuch"], "--nosuch"),
]


def refused(command: Command, folder: Path, arguments: list[object], code: int, expected: str) -> None:
    """The command ends with `code` and a message that contains `expected`; stdout is empty, and no file has changed."""
    before = sorted(folder.rglob("*"))
    done = command(*arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert expected in done.stderr
    assert done.stderr.lower().count("error:") == 1
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in BAD_SCENARIOS], ids=[row[0] for row in BAD_SCENARIOS]
)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
def test_a_bad_scenario_is_refused(
    command: Command, tmp_path: Path, text: str | bytes, expected: str, options: list[str]
):
    (tmp_path / "bad.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(command, tmp_path, ["run", "bad.toml", *options], 2, expected)


@pytest.mark.parametrize(("options", "expected"), BAD_OPTIONS, ids=[" ".join(row[0]) for row in BAD_OPTIONS])
def test_bad_options_are_refused(command: Command, tmp_path: Path, small: Path, options: list[str], expected: str):
    refused(command, tmp_path, ["run", small, *options], 2, expected)


def test_an_unknown_choice_is_refused_with_the_valid_ones(command: Command, tmp_path: Path):
    refused(command, tmp_path, ["list", "thing"], 2, "expected disciplines, controllers, sources, found 'thing'")


def test_the_installed_command_ends_with_the_code_too(tmp_path: Path):
    done = subprocess.run(
        [Path(sys.executable).with_name("headgate"), "run", "nowhere.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: there is no file nowhere.toml.\n"


def test_a_file_that_cannot_be_read_is_refused(command: Command, tmp_path: Path):
    refused(command, tmp_path, ["run", "nowhere.toml"], 2, "there is no file nowhere.toml.")
    (tmp_path / "somewhere.toml").touch()
    refused(command, tmp_path, ["run", "somwhere.toml"], 2, "did you mean 'somewhere.toml'?")
    refused(command, tmp_path, ["run", tmp_path], 2, "is a folder: give a file")


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(command: Command, tmp_path: Path, small: Path):
    for out in (small, small / "below", Path("/proc/nowhere")):
        arguments = ["run", small, "--set", "duration=10h", "--set", "record.interval=1min", "--out", out]
        refused(command, tmp_path, arguments, 3, "cannot write results to")


def test_a_disk_that_fills_up_leaves_nothing_half_written(tmp_path: Path, small: Path):
    # No file may grow beyond 4 KiB: the tables do not fit.
    words = ["-m", "headgate", "run", str(small), "--set", "record.interval=10ms", "--no-report"]
    script = f"ulimit -f 4; exec {shlex.join([sys.executable, *words])}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: cannot write results to results/small-")
    assert list(tmp_path.iterdir()) == [small]


def test_a_failed_run_is_named_and_the_others_are_kept(
    command: Command, tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
):
    right = headgate._core.run

    def wrong_once(scenario: Any, qdisc_index: int, seed: int, *more: Any) -> object:
        if (qdisc_index, seed) == (1, 2):
            raise RuntimeError("no luck")
        return right(scenario, qdisc_index, seed, *more)

    with monkeypatch.context() as patched:
        patched.setattr(headgate._core, "run", wrong_once)
        done = command("run", small, "--no-report")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: 1 of 4 runs failed; finished runs are kept in results/small-")
    assert "faba with seed 2: no luck" in done.stderr
    assert len(list(tmp_path.glob("results/*/unfinished/*"))) == 3
    done = command("run", small, "--no-report")
    assert (done.returncode, done.stderr) == (0, "3 of 4 runs are finished and reused\n")


@pytest.mark.parametrize("verb", ["rerun", "report"])
def test_a_folder_without_a_result_is_refused(command: Command, tmp_path: Path, verb: str):
    refused(command, tmp_path, [verb, "nowhere"], 3, "there is no folder nowhere")
    (tmp_path / "empty").mkdir()
    refused(command, tmp_path, [verb, "empty"], 3, "is not a result")
    (tmp_path / "manifest.json").write_text("{")
    refused(command, tmp_path, [verb, tmp_path], 3, "damaged")
    (tmp_path / "manifest.json").write_text('{"schema": 99}')
    refused(command, tmp_path, [verb, tmp_path], 3, "schema 99")


def test_a_discipline_that_does_not_exist_suggests_one_that_does(command: Command, tmp_path: Path):
    refused(command, tmp_path, ["show", "drptail"], 2, "did you mean `droptail`?")


@pytest.mark.parametrize(("typed", "nearest"), [("cubix", "cubic"), ("voipp", "voip"), ("TFRC", "tfrc")])
def test_a_controller_or_source_that_does_not_exist_suggests_one_that_does(
    command: Command, tmp_path: Path, typed: str, nearest: str
):
    expected = f"error: no discipline, controller or source is called `{typed}`; did you mean `{nearest}`?\n"
    refused(command, tmp_path, ["show", typed], 2, expected)


def test_an_unknown_name_without_a_similar_one_points_to_the_list(command: Command, tmp_path: Path):
    refused(command, tmp_path, ["show", "quicksilver"], 2, "`headgate list` names them all")
    refused(command, tmp_path, ["list", "sorces"], 2, "sources, found 'sorces'")
