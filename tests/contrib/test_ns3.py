"""Our queue disc for ns-3: its test suite, its example, and a discipline that does not exist."""

import re
import subprocess
from pathlib import Path

import pytest

from peers import ns3
from tests import needs

MODULE = ns3.ROOT / "contrib/ns3/headgate"

pytestmark = needs.marks("ns-3", "gcc")


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("ns3") / "protect"
    ns3.compile_program([MODULE / "examples/headgate-protect.cc"], program)
    return program


def test_the_modules_own_suite(tmp_path: Path):
    main = tmp_path / "main.cc"
    main.write_text('#include "ns3/test.h"\nint main(int n, char** words) { return ns3::TestRunner::Run(n, words); }\n')
    ns3.compile_program([main, MODULE / "test/headgate-test-suite.cc"], tmp_path / "suite")
    done = run(tmp_path / "suite", "--suite=headgate-queue-disc", "--verbose")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS ") >= 14, done.stdout


def test_the_example_protects_tcp_with_faba_and_not_with_droptail(example: Path):
    shares = {}
    for discipline in ("droptail:limit=780p", "faba:limit=780p"):
        done = run(example, f"--discipline={discipline}", "--duration=10")
        assert done.returncode == 0, done.stderr
        shares[discipline] = float(re.findall(r"udp 9: (\S+) Mbit/s", done.stdout)[0])
    # The fair share is 1 Mbit/s, and the flow sends 5.
    assert shares["faba:limit=780p"] < 2 < 4 < shares["droptail:limit=780p"]


def test_a_mistake_in_the_discipline_ends_the_program_with_the_words(example: Path):
    done = run(example, "--discipline=rde")
    assert done.returncode != 0
    assert "did you mean `red`?" in done.stderr
