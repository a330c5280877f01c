"""A command that is ended in any way leaves no process and no lock, and finished work is kept."""

import os
import random
import shutil
from pathlib import Path

import pytest

import headgate
from headgate.execution.runner import processors
from headgate.files import store
from tests import needs
from tests.conftest import SMALL
from tests.storage.killed import contents
from tests.storage.terminals import WAYS, Way, headgate_in

pytestmark = needs.marks("linux")

#: Ends of each command at random moments. `make orphans` sets more.
ENDS = int(os.environ.get("HEADGATE_ENDS", "1"))

#: Half a second of two disciplines, with an expectation.
BRIEF = SMALL.replace('"4s"', '"500ms"').replace('warmup = "1s"', 'warmup = "0s"').replace("seeds = 2", "seeds = 1")
BRIEF = BRIEF.replace('"faba"]', '"faba"]\nexpect = ["utilization > 0.01"]')
SWEPT = BRIEF + '\n[sweep]\ngrid = { "link.rate" = ["1Mbit/s", "2Mbit/s"] }\n'

#: Commands as users type them. `OUT` is their folder. Those with `OUT/first` begin with two finished results in it.
COMMANDS = {
    "run": "run brief.toml --out OUT",
    "sweep": "sweep swept.toml --out OUT",
    "check": "check brief.toml --out OUT --junit OUT/junit.xml",
    "tune": "tune brief.toml --qdisc red --objective jain --param maxp=0.1..0.5 --trials 3 --held-out 2 --out OUT",
    "sensitivity": "sensitivity brief.toml --qdisc red --param maxp=0.1..0.2 --seeds 2 --out OUT",
    "paper": "paper run blue/fred --quick --seeds 1 --out OUT",
    "evaluate": "evaluate red --section 4 --quick --seeds 1 --out OUT",
    "report": "report OUT/first --figures overview,delay,goodput",
    "compare": "compare OUT/first OUT/second --allow link.limit --out OUT",
    "why": "why OUT/first --flow 0",
}

#: Share of the ended commands that are repeated to their end at once. Others are ended again.
FINISHED = 0.3

#: Words that no ended command may print.
FAULTS = ("another process", "Traceback", "Exception ignored")


class Made:
    """A folder with scenarios and two results, which no test may change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "brief.toml").write_text(BRIEF)
        (folder / "swept.toml").write_text(SWEPT)
        for name, limit in (("first", "50p"), ("second", "40p")):
            scenario = headgate.Scenario.parse(BRIEF, set=[f"link.limit={limit}"])
            result = headgate.run(scenario, out=folder / "runs", report=False)
            shutil.copytree(result.path, folder / "results" / name)
        self.first = headgate.Scenario.load(folder / "brief.toml")

    def begin(self, command: str, name: str) -> str:
        """The command with a folder of its own called `name`."""
        if "OUT/first" in command:
            shutil.copytree(self.folder / "results", self.folder / name)
        return command.replace("OUT", name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("ended"))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_run_that_is_ended_while_figures_are_drawn_leaves_no_process_and_no_lock(made: Made, way: Way):
    with headgate_in(made.folder, "run brief.toml --out runs", way) as command:
        command.wait(command.children)
        command.end(way)
        assert command.left() == []
    # A machine with one processor draws without children, and the command may be over.
    assert command.process.returncode in way.codes or processors() == 1, command.text
    with store.locked_folder(made.folder / "runs" / store.folder_name(made.first)):
        pass


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_ended_again_and_again_reaches_the_results_of_an_undisturbed_one(made: Made, name: str):
    if name == "tune":
        pytest.importorskip("optuna")
    check_ends(made, COMMANDS[name], name)


def test_a_sweep_on_a_cluster_that_is_ended_leaves_the_cluster_to_the_next(made: Made, tmp_path: Path):
    pytest.importorskip("distributed")
    from tests.sweep.test_cluster import started

    with started(tmp_path, "tcp") as cluster:
        check_ends(made, f"sweep swept.toml --cluster {cluster.address} --out OUT", "cluster")


def check_ends(made: Made, command: str, name: str) -> None:
    """Ends a command at random moments and repeats it in the same folder, until it has all results."""
    whole = made.begin(command, f"{name}-whole")
    with headgate_in(made.folder, whole) as undisturbed:
        undisturbed.finish()
    expected = contents(made.folder / f"{name}-whole")
    draws = random.Random(f"ends {name}")
    folder, met = "", 0
    for number in range(ENDS):
        if not folder:
            folder = f"{name}-{number}"
            repeated = made.begin(command, folder)
        way, seconds = draws.choice(WAYS), undisturbed.seconds * draws.random()
        with headgate_in(made.folder, repeated, way) as ended:
            met += not ended.wait(seconds=seconds)
            ended.end(way)
            what = f"{name}, {number}: {way.name} after {seconds:.2f} s: {ended.process.returncode}, {ended.text}"
            assert ended.left() == [], what
        # Before a command has begun and after its end, the signal itself ends the process.
        assert ended.process.returncode in (0, *way.codes, -way.number), what
        assert not any(fault in ended.text for fault in FAULTS), what
        if ended.process.returncode == 0 or number == ENDS - 1 or draws.random() < FINISHED:
            with headgate_in(made.folder, repeated) as resumed:
                assert not any(fault in resumed.finish() for fault in FAULTS), f"after {what}"
            assert contents(made.folder / folder) == expected, what
            shutil.rmtree(made.folder / folder)
            folder = ""
    print(f"{name}: {met} of {ENDS} signals met the command")
