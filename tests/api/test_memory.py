"""Runs that need more memory than there is are refused before they take any."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate import prototype
from headgate.execution import memory
from headgate.execution.runner import Watcher
from headgate.prototype.discipline import with_prototypes
from headgate.scenario import Scenario
from tests import needs
from tests.conftest import SMALL


def headgate_run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs `headgate run` in a process of its own: a limit is part of its environment."""
    command = [sys.executable, "-m", "headgate", "run", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


HEAD = 'name = "large"\nduration = "0.2s"\nqdiscs = ["{qdisc}"]\n'


def chain(
    links: int, groups: int, flows: int, *, qdisc: str = "droptail", across: bool = False, extra: str = ""
) -> str:
    """Links in a row, crossed by each group as a whole or one each in turn."""
    text = HEAD.format(qdisc=qdisc) + extra
    for number in range(links):
        text += f'[[link]]\nname = "l{number}"\nfrom = "n{number}"\nto = "n{number + 1}"\n'
        text += 'delay = "1ms"\nlimit = "100p"\nrate = "100Mbit/s"\n'
    for group in range(groups):
        ends = (0, links) if across else (group % links, group % links + 1)
        text += f'[[tcp]]\nname = "g{group}"\nflows = {flows}\nfrom = "n{ends[0]}"\nto = "n{ends[1]}"\n'
    return text


def many(classes: int) -> str:
    """Classes with tables of 6.3 MB each."""
    return f"drr:classes=[{'; '.join(['fq_codel:flows=65536'] * classes)}]"


CASES = {
    "flows": chain(1, 1, 50_000),
    "links": chain(200, 200, 200),
    "crossed": chain(30, 50, 1000, across=True),
    "tables": chain(50, 1, 10, qdisc="fq_codel:flows=65536", across=True),
    "nested": chain(10, 1, 10, qdisc=many(5), across=True),
    "shaped": chain(20, 1, 10, qdisc="tbf:child=[fq_codel:flows=65536]", across=True),
    "groups": chain(200, 500, 1),
    "rows": chain(1, 100, 1, extra='record.interval = "0.1ms"\nwarmup = "0s"\n').replace('"0.2s"', '"2s"'),
}

#: A hundred seconds with rows each 100 microseconds.
LONG = chain(1, 100, 1, extra='record.interval = "100us"\n').replace('"0.2s"', '"100s"')

MEASURE = """
import sys
from pathlib import Path
from headgate import _core
from headgate.scenario import Scenario

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

scenario = Scenario.load(sys.argv[1])
estimate = sum(size for _, _, size in scenario.core.memory(0))
before = peak()
outcome = _core.run(scenario.core, 0, 1, _core.Progress(), None, None)
tables = [outcome.flows(), outcome.intervals(), outcome.links()]
print(estimate, peak() - before)
"""


@needs.marks("linux")
@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_the_estimate_is_between_the_peak_and_twice_the_peak(tmp_path: Path, text: str):
    (tmp_path / "large.toml").write_text(text)
    words = [sys.executable, "-c", MEASURE, str(tmp_path / "large.toml")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    estimate, peak = map(int, done.stdout.split())
    assert 0.8 * peak <= estimate <= 2.2 * peak, f"{estimate / 1e6:.0f} MB estimated, {peak / 1e6:.0f} MB taken"


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        (chain(1000, 1000, 1000, across=True), "tcp.g", "counts of flows at 1000 links"),
        (chain(1000, 1, 1, qdisc="fq_codel:flows=65536", across=True), "qdiscs", "tables of fq_codel:flows=65536"),
        (
            chain(1, 100, 1, extra='record.interval = "100us"\n').replace('"0.2s"', '"100s"'),
            "record.interval",
            "over time",
        ),
    ],
    ids=["flows", "tables", "rows"],
)
def test_a_run_too_large_is_refused_at_once_and_names_the_key(tmp_path: Path, text: str, key: str, words: str):
    (tmp_path / "large.toml").write_text(text)
    done = headgate_run(tmp_path, "large.toml", "--memory-limit=2GB")
    assert done.returncode == 2, done.stderr
    assert "but 2.0 GB may be used" in done.stderr
    assert f"lower `{key}" in done.stderr
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "results").glob("*/*.parquet"))


#: Starts the command and prints the largest memory of the process that ran it.
PEAK_OF_COMMAND = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "headgate", *sys.argv[1:]], capture_output=True, text=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode, done.stderr)
"""


@needs.marks("linux")
@pytest.mark.parametrize(("classes", "limit"), [(400, "200MB"), (3000, "1GB")])
def test_nested_tables_are_refused_before_any_is_taken(tmp_path: Path, classes: int, limit: str):
    (tmp_path / "large.toml").write_text(chain(1, 1, 1, qdisc=many(classes)))
    words = ["run", "large.toml", f"--memory-limit={limit}"]
    done = subprocess.run([sys.executable, "-c", PEAK_OF_COMMAND, *words], cwd=tmp_path, capture_output=True, text=True)
    peak_kb, code, message = done.stdout.split(maxsplit=2)
    assert code == "2", done.stdout
    assert "tables of drr:classes=[" in " ".join(message.split())
    assert "lower `qdiscs`" in message
    assert len(message) < 600, "the message does not list every class"
    assert int(peak_kb) < 300_000, f"{int(peak_kb) / 1e3:.0f} MB to refuse a run"


class Hoard(prototype.Discipline):
    """Takes 20 MB when it is made."""

    def __init__(self, link: prototype.LinkInfo) -> None:
        super().__init__(link)
        self.table = [bytearray(100_000) for _ in range(200)]


def test_the_tables_of_a_discipline_in_python_are_measured():
    core = with_prototypes(Scenario.parse(chain(7, 1, 1, qdisc="droptail", across=True)).core, [Hoard, "droptail"])
    assert core.table_bytes(0) == pytest.approx(20e6, rel=0.01)
    items = {what: size for what, _, size in core.memory(0)}
    # A link has two directions, and the reverse one has the discipline too.
    assert items["tables of Hoard"] in [pytest.approx(links * 20e6, rel=0.01) for links in (7, 14)]


@pytest.mark.parametrize("size", ["8", "GB", "-1GB", "nanGB", "infGB", "8 apples", "0MB"])
def test_a_limit_is_a_size_with_a_unit(tmp_path: Path, size: str):
    (tmp_path / "small.toml").write_text(SMALL)
    done = headgate_run(tmp_path, "small.toml", f"--memory-limit={size}")
    assert (done.returncode, "limit of memory" in done.stderr) == (2, True), done.stderr


def test_as_many_runs_at_a_time_as_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "large.toml").write_text(CASES["flows"])
    scenario = Scenario.load(tmp_path / "large.toml")
    size = memory.of_run(scenario, 0).total
    for fitting in (1, 3):
        monkeypatch.setenv(memory.VARIABLE, f"{(fitting + 0.5) * size / 1e6}MB")
        assert memory.concurrent_runs([scenario], 8, Watcher()) == fitting
    monkeypatch.setenv(memory.VARIABLE, "64GB")
    assert memory.concurrent_runs([scenario], 8, Watcher()) == 8


def test_large_runs_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "large.toml").write_text(chain(1, 1, 1_000_000))
    told: list[str] = []

    class Listener(Watcher):
        def tell(self, sentence: str) -> None:
            told.append(sentence)

    monkeypatch.setenv(memory.VARIABLE, "64GB")
    memory.concurrent_runs([Scenario.load(tmp_path / "large.toml")], 1, Listener())
    assert [line.split(" of memory")[0] for line in told] == ["a run takes about 1.4 GB"]
