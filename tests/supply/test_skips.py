"""The line that ends `make test`, and what CI does with skipped tests."""

import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from tests import needs, skips
from tests.skips import Skip

ROOT = Path(__file__).parents[2]


def report(log: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m tests.skips LOG`, as `make test` calls it."""
    words = [sys.executable, "-m", "tests.skips", str(log)]
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "skipped"
    monkeypatch.setenv(skips.LOG, str(path))
    return path


def test_the_line_counts_skipped_tests_by_need_and_names_the_command_that_installs_it(log: Path):
    skips.record([Skip("a", ("tshark",)), Skip("b", ("tshark", "lab"))])
    skips.record([Skip("c", ("packetdrill",))])
    done = report(log)
    assert done.returncode == 0
    assert done.stdout == (
        "3 tests did not run, for want of: tshark (2), the lab (1), a checkout of packetdrill (1). "
        "To run them: make needs; make lab; make packetdrill CHECKOUT=....\n"
    )


def test_without_a_skipped_test_the_line_says_that_every_test_ran(tmp_path: Path):
    assert report(tmp_path / "none").stdout == "Every test ran.\n"


def test_ci_fails_for_a_skip_that_is_not_in_the_list(log: Path):
    skips.record([Skip("allowed", ("packetdrill",))])
    assert report(log, CI="true").returncode == 0
    skips.record([Skip("test_browser", ("chromium",))])
    done = report(log, CI="true")
    assert done.returncode == 1
    assert "test_browser: needs chromium" in done.stderr
    assert "allowed:" not in done.stderr


def test_ci_fails_for_a_skip_whose_reason_is_no_need(log: Path):
    skips.record([Skip("test_lazy", needs.needed("Skipped: not today"))])
    assert "test_lazy: needs not today" in report(log, CI="true").stderr


def test_a_circumstance_allows_its_own_skips_only(log: Path):
    skips.record([Skip("test_link", ("root",))])
    assert report(log, CI="true").returncode == 1
    assert report(log, CI="true", **{skips.CIRCUMSTANCE: "user"}).returncode == 0


def test_each_circumstance_of_the_list_exists():
    listed = subprocess.run([ROOT / ".ci/circumstance", "list"], capture_output=True, text=True, check=True)
    tables = tomllib.loads(skips.ALLOWED.read_text("utf-8"))
    assert tables.keys() <= {"always", *listed.stdout.split()}


def test_every_skip_of_pytest_is_logged_with_its_test(log: Path, tmp_path: Path):
    (tmp_path / "test_planted.py").write_text(
        textwrap.dedent("""\
        import pytest
        from tests import needs

        @pytest.mark.skipif(True, reason=needs.reason(["tshark"]))
        def test_marked(): pass

        def test_called(): needs.lack("nftables", "the kernel has none")

        def test_other(): pytest.skip("not today")

        def test_run(): pass
        """)
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.conftest",
        "-n",
        "2",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    found = {re.sub(r".*::", "", skip.test): skip.needs for skip in skips.recorded(log)}
    assert found == {"test_marked": ("tshark",), "test_called": ("nftables",), "test_other": ("not today",)}


def sources() -> dict[Path, str]:
    """The text of each file in Rust, but for the helper itself."""
    files = [file for folder in ("src", "tests", "benches") for file in ROOT.glob(f"crates/*/{folder}/**/*.rs")]
    return {file: file.read_text("utf-8") for file in files if "needs" not in file.parts}


def test_every_need_that_a_test_in_rust_names_is_known():
    text = "".join(sources().values())
    named = set(re.findall(r'headgate_needs::skip\("([^"]+)"\)', text))
    named |= set(re.findall(r'\bhas\("[^"]+", "([^"]+)"\)', text))
    assert {"namespaces", "valgrind", "go"} <= named <= needs.NEEDS.keys()


def test_no_test_in_rust_passes_without_a_log_entry_that_it_was_skipped():
    assert [file for file, text in sources().items() if 'println!("skipped' in text] == []
