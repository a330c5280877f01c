"""Finished results in a read-only folder."""

import subprocess
import sys
from pathlib import Path

import pytest

import headgate
from headgate.files import store
from tests import needs
from tests.conftest import SMALL

SWEPT = f'{SMALL}\n[sweep.grid]\nlink.rate = ["1Mbit/s", "2Mbit/s"]\n'.replace('"4s"', '"2s"')

#: Runs a command in a mount namespace in which a folder, the first argument, is read-only.
READ_ONLY = 'set -e; mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"'


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small scenario, a result without report and a sweep, all finished."""
    needs.without("user-namespaces")
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(SMALL)
    (folder / "swept.toml").write_text(SWEPT)
    headgate.run(folder / "small.toml", seeds=1, out=folder / "results", report=False)
    headgate.sweep(folder / "swept.toml", seeds=1, out=folder / "results")
    return folder


def read_only(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in `folder`, whose `results` cannot be written."""
    inside = ["unshare", "-rm", "sh", "-c", READ_ONLY, str(folder / "results")]
    words = [*inside, sys.executable, "-m", "headgate", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "small.toml", "--seeds", "1", "--no-report"],
        ["sweep", "swept.toml", "--seeds", "1"],
        ["rerun", "results/RESULT"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_finished_read_only_result_is_reused(finished: Path, arguments: list[str]):
    (result,) = (path.name for path in (finished / "results").glob("small-*") if (path / store.MANIFEST).exists())
    done = read_only(finished, *(word.replace("RESULT", result) for word in arguments))
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr
    assert "error" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["run", "small.toml", "--seeds", "1"],
            "cannot write figures and report to {}; the result itself is finished; use --no-",
        ),
        (["run", "small.toml", "--seeds", "1", "--force"], "cannot write results to {}\n"),
        (["run", "small.toml", "--seeds", "2"], "cannot write results to {}\n"),
        (["sweep", "swept.toml", "--seeds", "1", "--force"], "cannot write results to {}\n"),
        (["sweep", "swept.toml", "--seeds", "2"], "cannot write results to {}\n"),
        # A changed file with the same runs: all are finished, but sweep.json would change.
        (
            ["sweep", "more.toml", "--seeds", "1"],
            "cannot write results to {}; all 4 runs are finished, but sweep.json",
        ),
    ],
    ids=" ".join,
)
def test_the_error_of_a_read_only_folder_names_the_files_and_the_reason(
    finished: Path, arguments: list[str], expected: str
):
    (finished / "more.toml").write_text(f"# The same.\n{SWEPT}")
    before = result_files(finished)
    done = read_only(finished, *arguments)
    assert done.returncode == 3
    first, _, after = expected.partition("{}")
    assert f"error: {first}results/small-" in done.stderr
    assert f": Read-only file system{after}" in done.stderr
    assert result_files(finished) == before


def test_another_build_cannot_replace_a_read_only_result(finished: Path):
    marks = list((finished / "results").glob(f"*/{store.BUILD}"))
    kept = {mark: mark.read_bytes() for mark in marks}
    try:
        for mark in marks:
            mark.write_text("another")
        for command in (["run", "small.toml", "--no-report"], ["sweep", "swept.toml"]):
            done = read_only(finished, *command, "--seeds", "1")
            assert done.returncode == 3
            assert done.stderr.endswith(f"Read-only file system; {store.OTHER_BUILD}\n")
    finally:
        for mark, data in kept.items():
            mark.write_bytes(data)


def result_files(folder: Path) -> set[Path]:
    return set((folder / "results").rglob("*"))
