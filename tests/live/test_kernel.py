"""The kernel's own qdiscs in place of disciplines: `headgate compare --worlds live,kernel`.

Tests of refusals need no root. Tests that run a qdisc need root and tc, and are skipped without them.
"""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import headgate
from headgate import _core, why
from headgate.compare.gaps import DELAYS, DROPS, GOODPUT, LINK, UTILIZATION, compare
from headgate.compare.words import CLOSE
from headgate.errors import RunFailedError, UsageError
from headgate.live import worlds
from headgate.qdiscs import tc
from headgate.qdiscs.kernel import NEAREST, counterpart
from headgate.scenario import RunWorld, Scenario
from tests import needs
from tests.cli.test_run import wait_for
from tests.conftest import SMALL, Command
from tests.live.test_run import skip_without_namespaces

#: Two TCP flows, and an unresponsive flow that alone exceeds the link.
FIFO = (
    SMALL.replace("flows = 3", "flows = 2")
    .replace('"4s"', '"3s"')
    .replace("seeds = 2", "seeds = 1")
    .replace('rate = "2Mbit/s"\npacket', 'rate = "3Mbit/s"\npacket')
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fifo.toml"
    path.write_text(FIFO)
    return path


def skip_without_tc() -> None:
    skip_without_namespaces()
    needs.without("root", "iproute2")


def test_every_discipline_has_a_counterpart_or_names_the_nearest_that_has():
    for discipline in _core.disciplines():
        assert (discipline.name in tc.KINDS) != (discipline.name in NEAREST), discipline.name
    assert set(NEAREST.values()) <= set(tc.KINDS)


def test_a_discipline_without_a_counterpart_is_refused_with_the_nearest_named():
    scenario = Scenario.parse(FIFO)
    with pytest.raises(
        UsageError, match=r"^faba cannot run in the kernel: Linux has no faba\. The nearest that can is sfb$"
    ):
        counterpart("faba", scenario)
    with pytest.raises(UsageError, match="sch_cake"):
        counterpart("cobalt", scenario)


def test_droptails_limit_selects_the_qdisc_that_counts_in_its_unit():
    words = {
        limit: " ".join(counterpart("droptail", Scenario.parse(FIFO, set=[f"link.limit={limit}"])).words)
        for limit in ("50p", "20kB")
    }
    assert words == {"50p": "pfifo limit 50", "20kB": "bfifo limit 20000"}
    own = counterpart("droptail:limit=7p", Scenario.parse(FIFO))
    assert own.words == ("pfifo", "limit", "7")


def test_worlds_are_read_and_others_refused():
    assert worlds.read("live,kernel") == (RunWorld.LIVE, RunWorld.KERNEL)
    assert worlds.read("sim, kernel") == (RunWorld.SIM, RunWorld.KERNEL)
    for text in ("kernel", "sim,ns2", "sim,live,kernel"):
        with pytest.raises(UsageError, match="expected two worlds, each sim, live or kernel"):
            worlds.read(text)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("record.events=drops", "`record.events`"),
        ('record.capture=["bottleneck"]', "`record.capture`"),
        ("link.reverse.qdisc=compared", "both directions"),
        ('link.schedule=[{ at = "1s", rate = "1Mbit/s" }]', "`schedule`"),
        ("classify.flow=source", "flow key"),
    ],
)
def test_a_scenario_that_no_qdisc_can_stand_in_is_refused(change: str, reason: str):
    with pytest.raises(UsageError, match=f"on real packets: the kernel cannot run .*{reason}"):
        Scenario.parse(FIFO, qdiscs=["droptail"], set=[change]).in_kernel()


def test_the_world_is_part_of_a_scenarios_identity():
    scenario = Scenario.parse(FIFO, qdiscs=["droptail"])
    each = [scenario, scenario.on_real_packets(), scenario.in_kernel()]
    assert [made.world for made in each] == [RunWorld.SIM, RunWorld.LIVE, RunWorld.KERNEL]
    assert len({made.config_hash for made in each}) == len(set(each)) == 3
    assert each[2].changed(seeds=2).world == RunWorld.KERNEL


def test_disciplines_that_have_no_counterpart_need_no_root_to_be_refused(command: Command, file: Path):
    done = command("compare", file, "--worlds", "sim,kernel", "--set", 'qdiscs=["faba", "red_pd"]')
    assert done.returncode == 2
    assert "The nearest that can is sfb" in done.stderr
    assert "The nearest that can is choke" in done.stderr


def test_a_qdisc_that_this_kernel_lacks_is_named_with_its_module(file: Path):
    skip_without_tc()
    scenario = Scenario.load(file, qdiscs=["sfb:preset=linux"])
    words = list(counterpart("sfb:preset=linux", scenario).words)
    if (sentence := _core.check_kernel_qdisc(words)) is None:
        needs.lack("no-sch-sfb")
    assert sentence == (
        "this kernel has no sch_sfb: load it (modprobe sch_sfb), or use a kernel with CONFIG_NET_SCH_SFB"
    )
    with pytest.raises(RunFailedError, match="sfb:preset=linux: this kernel has no sch_sfb"):
        worlds.refusals(scenario)


def test_a_fifo_of_the_kernel_agrees_with_ours(command: Command, file: Path, tmp_path: Path):
    skip_without_tc()
    found = command(
        "compare", file, "--worlds", "live,kernel", "--set", 'qdiscs=["droptail", "faba"]', "--json", "--no-page"
    )
    assert (found.returncode, "left out: faba cannot run in the kernel" in found.stderr) == (0, True), found.stderr
    document = json.loads(found.stdout)
    assert document["names"] == ["live", "kernel"]
    live, kernel = (
        headgate.load(next((tmp_path / "results").glob(f"*-{world}-*"))) for world in (RunWorld.LIVE, RunWorld.KERNEL)
    )
    assert kernel.scenario.world == RunWorld.KERNEL
    assert kernel.scenario.qdiscs == ["droptail"]
    compared = compare(live, kernel)
    for of, measure in [("cbr", GOODPUT), *((LINK, each) for each in (UTILIZATION, DELAYS[0], DROPS))]:
        gap = compared.row("droptail", of, measure).gap
        assert abs(gap.relative) < CLOSE, (of, measure.name, gap)
    check_report(kernel)
    explanation = why.explain(kernel, 0)
    assert "drops" in explanation.text or "dropped" in explanation.text
    assert "because" not in explanation.answer


def namespaces(processes: str) -> set[str]:
    """The network namespaces of the threads of some processes: of a number, or of all with `*`."""
    found = set()
    for link in Path("/proc").glob(f"{processes}/task/*/ns/net"):
        with suppress(OSError):  # the thread ended
            found.add(str(link.readlink()))
    return found


def test_ctrl_c_removes_the_hosts_and_the_kernels_queue(file: Path, tmp_path: Path):
    skip_without_tc()
    words = [sys.executable, "-m", "headgate", "compare", str(file), "--worlds", "kernel,sim", "--no-page"]
    words += ["--set", 'qdiscs=["droptail"]', "--set", "duration=60s"]
    before = namespaces("*")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        # Both hosts and the queue, beside the namespace of this test.
        wait_for(lambda: len(namespaces(str(run.pid))) == 4)
        made = namespaces(str(run.pid)) - before
        run.send_signal(signal.SIGINT)
        out, stderr = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, ""), stderr
    assert len(made) == 3
    assert not made & namespaces("*")


def check_report(kernel: headgate.Result) -> None:
    """What the kernel does not tell is missing, and its own counts agree with ours."""
    assert kernel.links["dropped_overflow"].null_count == kernel.links.num_rows
    assert kernel.links["ambient_drop_rate"].null_count == kernel.links.num_rows
    assert kernel.links["dropped"].to_pylist()[0] > 100
    document = kernel.document()
    schema = json.loads((resources.files("headgate") / "schema" / "run-2.json").read_text())
    jsonschema.validate(document, schema)
    (run,) = document["live"]["runs"]
    report = run["kernel_qdisc"]
    assert report["tc"].startswith("pfifo limit ")
    assert abs(report["statistics"]["drops"] - report["drops"]) <= 5
    assert (report["strays"], run["conserves"]) == (0, True)
