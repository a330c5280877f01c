"""`headgate run --live`: scenarios on real packets.

What runs any needs Linux and namespaces; where those are missing, so is the test.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.compute as pc
import pytest

import headgate
from headgate import _core, why
from headgate.analysis import accuracy
from headgate.compare.gaps import GOODPUT, compare
from headgate.errors import RunFailedError, UsageError
from headgate.scenario import Scenario
from tests import needs
from tests.cli.test_run import finished, wait_for
from tests.conftest import SMALL, Command
from tests.evidence import pcapng

#: Two TCP flows and an unresponsive flow, which offers a quarter of the link.
THREE = (
    SMALL.replace("flows = 3", "flows = 2")
    .replace('"4s"', '"3s"')
    .replace("seeds = 2", "seeds = 1")
    .replace('rate = "2Mbit/s"\npacket', 'rate = "500kbit/s"\npacket')
)


#: A parking lot: one group crosses both links, and others cross one.
LOT = """
name = "lot"
duration = "2s"
warmup = "500ms"
qdiscs = ["sfb"]
tcp = [
    { name = "long", from = "A", to = "C", flows = 2 },
    { name = "cross", from = "B", to = "C", flows = 2 },
]
udp = [{ name = "stream", from = "A", to = "B", rate = "1Mbit/s", packet = "500B" }]

[[link]]
name = "first"
from = "A"
to = "B"
rate = "4Mbit/s"
delay = "5ms"
limit = "40p"

[[link]]
name = "second"
from = "B"
to = "C"
rate = "4Mbit/s"
delay = "5ms"
limit = "40p"
"""


#: Recorded by the run that most tests share.
RECORDED: dict[str, Any] = {"qdiscs": ["faba"], "set": ["record.flows=['tcp']", "record.capture=['bottleneck']"]}


#: The interfaces of a capture.
ENDS = [f"{end} {what}" for end in ("near", "far") for what in ("in", "out", "drops")]


def skip_without_namespaces() -> None:
    needs.without("linux", "tun", "namespaces")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> headgate.Result:
    skip_without_namespaces()
    return headgate.run(Scenario.parse(THREE, **RECORDED), live=True, out=tmp_path_factory.mktemp("live"))


def test_a_result_of_real_packets_has_the_tables_of_a_simulation(three: headgate.Result):
    simulated = headgate.run(Scenario.parse(THREE, **RECORDED))
    for name in ("flows", "intervals", "links", "delays", "losses", "fairness", "transfers", "traces"):
        live, sim = getattr(three, name), getattr(simulated, name)
        assert live.schema.names == sim.schema.names, name
        assert live.num_rows > 0 or sim.num_rows == 0, name
    again = headgate.load(three.path)
    assert again.scenario.live
    assert again.flows.equals(three.flows)


def test_its_document_is_valid_and_its_page_shows_the_accuracy(three: headgate.Result):
    schema = json.loads(resources.files("headgate").joinpath("schema/run-2.json").read_text())
    document = three.document()
    jsonschema.Draft202012Validator(schema).validate(document)
    assert len(document["live"]["runs"]) == 1
    assert document["live"]["kernel"] == os.uname().release
    page = (three.path / "report.html").read_text(encoding="utf-8")
    assert "On real packets" in page
    assert os.uname().release in page


def test_no_packet_vanishes_and_rates_add_up_to_the_link(three: headgate.Result):
    (point,) = three.live["runs"]
    assert point["conserves"], point
    assert not any(point["host_losses"].values()), point
    forward = three.links.filter(pc.equal(three.links["direction"], "forward")).to_pylist()[0]
    sent = pc.sum(three.flows["sent_bytes"]).as_py()
    # Flows have more to send than 2 Mbit/s for 2 s. A machine that is too busy for this rate gives a warning.
    stalled = point["stalled_ms"] / 2000
    assert forward["utilization"] > 0.97 - stalled, point
    assert sent * 8 == pytest.approx(2e6 * 2 * forward["utilization"], rel=0.01)
    # Headers take 28 bytes of a packet of 500 with UDP, 40 with TCP.
    goodput = pc.sum(three.flows["goodput_bps"]).as_py()
    # Of packets that were late because the machine was busy, some arrive after the end.
    useful = 2e6 * 0.92
    assert 0.95 * useful * (forward["utilization"] - stalled) < goodput < 1.05 * useful * forward["utilization"]


def test_a_network_runs_on_real_packets_and_is_compared_with_its_simulation(tmp_path: Path, command: Command):
    skip_without_namespaces()
    file = tmp_path / "lot.toml"
    file.write_text(LOT)
    done = command("run", "--live", file)
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.glob("results/lot-live-*")
    live, simulated = headgate.load(folder), headgate.run(Scenario.parse(LOT))
    (point,) = live.live["runs"]
    assert point["conserves"], point
    assert not any(point["host_losses"].values()), point
    for name in ("flows", "intervals", "links", "delays", "losses", "fairness", "transfers"):
        assert getattr(live, name).schema.names == getattr(simulated, name).schema.names, name
    for name in ("link", "direction", "compared"):
        assert live.links[name].to_pylist() == simulated.links[name].to_pylist(), name
    assert set(live.intervals["link"].to_pylist()) == set(simulated.intervals["link"].to_pylist())
    # TCP has more to send than the second link carries. Reno uses three quarters of it even without a queue.
    stalled = point["stalled_ms"] / 1500
    (second,) = [row for row in live.links.to_pylist() if row["link"] == "second" and row["compared"]]
    assert second["utilization"] > 0.75 - stalled, point
    assert "link by link" in (done.stdout + done.stderr)
    assert "second" in (folder / "report.html").read_text(encoding="utf-8")
    comparison = compare(simulated, live)
    assert comparison.groups == ["long", "cross", "stream"]
    for group in comparison.groups:
        assert comparison.row("sfb", group, GOODPUT).gap is not None
    # The stream offers a quarter of the rate of the link.
    stream = comparison.row("sfb", "stream", GOODPUT).gap
    assert stream is not None
    assert stream.relative == pytest.approx(0, abs=0.1 + stalled)


def test_the_kernels_sender_is_traced(three: headgate.Result):
    rows = three.traces.to_pandas()
    assert set(rows["flow"]) == {0, 1}
    assert rows["srtt_ms"].notna().all()
    assert rows["rate_bps"].isna().all()
    notes = three.live["notes"]
    assert any("`record.flows` samples the kernel's senders every 10ms" in note for note in notes), notes
    story = why.explain(three, 0, qdisc="faba", seed=1).text
    assert "Congestion window: " in story
    assert "Smoothed round-trip time: " in story


def test_a_capture_has_every_drop_with_its_reason_and_begins_with_handshakes(three: headgate.Result):
    (file,) = three.captures
    packets = pcapng.packets(file)
    assert {packet.interface for packet in packets} <= {f"bottleneck {end}" for end in ENDS}
    times = [packet.nanos for packet in packets]
    assert times == sorted(times)
    # After 20 bytes of IP, SYN is the second bit of the fourteenth byte of TCP (RFC 9293, section 3.1).
    opening = [packet for packet in packets if packet.data[9] == 6 and packet.data[20 + 13] & 2]
    assert {packet.interface for packet in opening} == {f"bottleneck {end}" for end in ENDS if "drops" not in end}
    assert {(packet.nanos, packet.comment) for packet in opening} == {(0, "before the run begins")}
    # The tables exclude drops in the warm-up.
    drops = [packet for packet in packets if packet.interface == "bottleneck near drops" and packet.nanos >= 10**9]
    reasons = Counter(packet.comment.removeprefix("dropped: ") for packet in drops)
    forward = three.links.filter(pc.equal(three.links["direction"], "forward")).to_pylist()[0]
    counted = {name.removeprefix("dropped_"): forward[name] for name in forward if name.startswith("dropped_")}
    assert reasons.total() > 0
    assert reasons == Counter({reason: count for reason, count in counted.items() if count})


def test_a_live_result_has_its_own_folder_and_is_not_rerun(three: headgate.Result, command: Command):
    simulated = Scenario.parse(THREE, **RECORDED)
    assert three.scenario.config_hash != simulated.config_hash
    assert three.path.name == f"small-live-{three.scenario.config_hash[:16]}"
    done = command("rerun", three.path)
    assert done.returncode == 2
    assert "cannot be repeated exactly" in done.stderr


def test_ctrl_c_keeps_finished_runs_and_the_same_command_resumes(command: Command, tmp_path: Path):
    skip_without_namespaces()
    file = tmp_path / "short.toml"
    file.write_text(THREE.replace('"3s"', '"1s"').replace('warmup = "1s"', 'warmup = "0s"'))
    words = [sys.executable, "-m", "headgate", "run", "--live", str(file), "--no-report"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        wait_for(lambda: [path for path in finished(tmp_path) if not path.name.startswith(".")])
        os.kill(run.pid, signal.SIGINT)
        out, stderr = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, ""), stderr
    assert stderr.startswith(
        "error: stopped: 1 of 2 runs are finished. Repeat the command to resume from results/small-live-"
    )
    done = command("run", "--live", file, "--no-report")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "1 of 2 runs are finished and reused\n"
    assert not finished(tmp_path)


@needs.marks("linux")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("tcp.cc=prague", "prague"),
        ("cbr.cc=tfrc", "tfrc"),
    ],
)
def test_a_scenario_that_cannot_run_live_is_refused_before_any_run(
    change: str, expected: str, command: Command, small: Path
):
    done = command("run", "--live", small, "--set", change)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert not Path("results").exists()


@needs.marks("linux")
def test_a_process_enters_its_namespaces_before_it_has_threads(small: Path):
    # user_namespaces(7): a process with several threads cannot enter one, and importing numpy starts threads.
    script = (
        "import os, sys\nfrom headgate import _core\n"
        "def prepare():\n    sys.exit(len(os.listdir('/proc/self/task')))\n"
        "_core.prepare = prepare\nfrom headgate.cli import app\n"
        f"sys.argv = ['headgate', 'run', '--live', {str(small)!r}]\napp()\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 1


@needs.marks("linux")
def test_a_capture_of_several_links_is_refused_with_its_key(command: Command, tmp_path: Path):
    file = tmp_path / "lot.toml"
    file.write_text(LOT)
    done = command("run", "--live", file, "--set", "record.capture=['first']")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`record.capture` works on real packets only with one link" in done.stderr


def test_runs_on_real_packets_are_never_concurrent(command: Command, small: Path):
    done = command("run", "--live", small, "--threads", 2)
    assert done.returncode == 2
    assert "one run follows the other" in done.stderr


def test_the_error_names_the_permission_that_the_kernel_refuses(monkeypatch: pytest.MonkeyPatch):
    def refuse() -> None:
        raise _core.LiveError("a link needs network namespaces")

    monkeypatch.setattr(_core, "prepare", refuse, raising=False)
    monkeypatch.setattr(_core, "check_live", lambda _: None, raising=False)
    with pytest.raises(RunFailedError, match="needs network namespaces"):
        headgate.run(Scenario.parse(THREE), live=True)


def test_without_linux_there_are_no_real_packets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("headgate.errors.sys.platform", "darwin")
    with pytest.raises(UsageError, match="need Linux"):
        Scenario.parse(THREE).on_real_packets()


GOOD: dict[str, Any] = {
    "qdisc": "faba",
    "seed": 1,
    "late_ms_p50": 0.01,
    "late_ms_p99": 0.1,
    "send_late_ms_p99": None,
    "cpu": 0.2,
    "stalls": 0,
    "stalled_ms": 0.0,
    "oversize": 0,
    "conserves": True,
    "host_losses": dict.fromkeys(accuracy.LOSS_CAUSES, 0),
}


def test_an_accurate_run_gives_no_warning():
    assert accuracy.warnings({"runs": [GOOD, {**GOOD, "seed": 2}]}) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"host_losses": {**GOOD["host_losses"], "device": 2, "refused": 1}},
            "3 packets were lost outside the link",
        ),
        ({"conserves": False}, "counts of kernel and link differ"),
        ({"host_losses": {**GOOD["host_losses"], "device": 1}}, "1 packet was lost outside the link"),
        ({"oversize": 4}, "4 packets exceeded the MTU"),
        ({"oversize": 1}, "1 packet exceeded the MTU"),
        ({"stalls": 1, "stalled_ms": 31.4}, "late once (31 ms in total)"),
        ({"late_ms_p99": 1.5}, "by up to 0.01 ms (median) and 1.50 ms (p99)"),
        ({"cpu": 0.95}, "95% of a processor"),
    ],
)
def test_warnings_name_the_inaccurate_run(change: dict[str, object], expected: str):
    (warning,) = accuracy.warnings({"runs": [GOOD, {**GOOD, "seed": 2, **change}]})
    assert expected in warning
    assert warning.startswith("faba with seed 2: ")
