"""The comparison with ns-2 and ns-3: cases, arguments for each simulator, results and verdicts."""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import pytest

import headgate
from headgate.analysis.spread import estimate
from peers import here, ns2, ns3
from peers.__main__ import main
from peers.cases import CASES
from peers.causes import CAUSES
from peers.declare import Case
from peers.judge import Figure, figures, speed
from peers.runs import FIELDS, Measured, Pool, RunError, Task, kept, parse, tasks
from tests import needs

BY_NAME = {case.name: case for case in CASES}
RESULT = {
    "goodput_bps": {"tcp": 5e6, "udp": 4e6},
    "arrived": 2000,
    "dropped": 30,
    "marked": 10,
    "queue_packets": 12.5,
    "utilization": 0.75,
    "packets": 3000,
}


def options(words: list[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=True))


def test_every_case_has_a_name_of_its_own_and_every_discipline_a_case():
    assert len(BY_NAME) == len(CASES) >= 20
    assert {case.discipline.peer.removeprefix("ns3::").removesuffix("QueueDisc") for case in CASES} == {
        *("DropTail", "RED", "SFQ", "DRR", "RED/PD", "PI", "REM", "Vq"),
        *("Fifo", "Red", "CoDel", "Pie", "FqCoDel", "Cobalt", "Headgate"),
    }
    assert {case.discipline.engine[0] for case in CASES if case.discipline.engine} == {0.4, 10.1}


@pytest.mark.parametrize("name", BY_NAME)
def test_scenarios_are_valid_and_have_the_flows_of_the_case(name: str):
    case = BY_NAME[name]
    scenario = headgate.Scenario.parse(here.scenario(case))
    assert sum(group.flows for group in scenario.groups) == sum(flows.count for flows in case.flows)
    assert len(scenario.qdiscs) == 1


def test_flows_of_a_class_take_its_round_trip_times_in_turn():
    flows = dataclasses.replace(BY_NAME["droptail"].flows[0], count=7, rtts=(40.0, 50.0, 60.0))
    assert flows.by_rtt() == [(40.0, 3), (50.0, 2), (60.0, 2)]
    assert dataclasses.replace(flows, count=1).by_rtt() == [(40.0, 1)]


def test_ns2_gets_link_queue_and_flows_from_the_case():
    case = BY_NAME["red-udp"]
    words = ns2.arguments(case, 3)
    values = options(words)
    assert (values["rate"], values["delay"], values["limit"], values["seed"]) == ("10000000.0", "0.01", "100", "3")
    assert "thresh_ 20 maxthresh_ 60 linterm_ 10.0" in values["settings"]
    groups = [value for key, value in zip(words[::2], words[1::2], strict=True) if key == "group"]
    assert len(groups) == 6  # five round-trip times of TCP, and UDP
    # A round trip of 40 ms: the bottleneck delays 10 ms each way, so 5 ms are left for each access link.
    assert "near 0.005 far 0.005" in groups[0]
    assert "packetSize_ 960 overhead_ 0.001 ecn_ 0" in groups[0]
    assert "traffic CBR source {rate_ 4000000.0 packetSize_ 1000 random_ 1}" in groups[5]


def test_rates_on_the_wire_become_rates_of_data_for_sources_over_tcp():
    group = ns2.group(BY_NAME["red-ecn-paced"], BY_NAME["red-ecn-paced"].flows[0], 0)
    # 200 kbit/s on the wire in packets of 1000 bytes, of which 960 are data.
    assert "rate_ 192000.0 packetSize_ 960" in group
    assert "ecn_ 1" in group


def test_ns2s_droptail_has_a_limit_greater_by_one_because_it_holds_one_packet_less():
    assert options(ns2.arguments(BY_NAME["droptail"], 1))["limit"] == "101"


def test_ns3_gets_attributes_and_flows_from_the_case():
    case = BY_NAME["pie-udp"]
    words = ns3.arguments(case, 2)
    values = options(words)
    assert values["qdisc"] == "ns3::PieQueueDisc"
    assert values["settings"] == "MaxSize=200p;MeanPktSize=1500;UseEcn=false"
    assert (values["segment"], values["ecn"]) == ("1458", "Off")
    assert values["recovery"] == "ns3::TcpClassicRecovery"
    assert words[-1].endswith("packet 1500 rate 3000000.0 jitter 0.5")
    with pytest.raises(ValueError, match="red-onoff: ns3"):
        ns3.arguments(BY_NAME["red-onoff"], 1)


def test_results_are_read_from_the_last_line():
    assert parse("a warning\n" + json.dumps(RESULT) + "\n") == RESULT


@pytest.mark.parametrize("text", ["", "no results\n", "[1]\n", json.dumps({"arrived": 1})])
def test_other_output_is_an_error_that_names_the_fields(text: str):
    with pytest.raises(RunError, match=r"goodput_bps.*packets, found"):
        parse(text)


def test_figures_are_goodput_drop_rate_queue_and_utilization_and_marks_with_ecn():
    runs: list[Measured] = [RESULT | {"cpu_s": 0.5}, RESULT | {"cpu_s": 1.5}]
    means = {each.name: each.here["mean"] for each in figures(BY_NAME["red-ecn-udp"], runs, runs)}
    assert means == {
        "goodput of tcp": 5.0,
        "goodput of udp": 4.0,
        "drop rate": 1.5,
        "mark rate": 0.5,
        "mean queue": 12.5,
        "utilization": 75.0,
    }
    assert "mark rate" not in {each.name for each in figures(BY_NAME["red-udp"], runs, runs)}
    assert speed(BY_NAME["red-udp"], runs, runs).here == 3000  # 6000 packets in 2 s


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([105.0, 105.0], [100.0, 100.0], "close"),
        ([106.0, 106.0], [100.0, 100.0], "gap"),
        ([106.0, 106.0], [90.0, 110.0], "spread"),
        ([112.0, 112.0], [90.0, 110.0], "gap"),
        ([0.0, 0.0], [0.0, 0.0], "close"),
        ([0.1, 0.1], [0.0, 0.0], "gap"),
    ],
)
def test_a_figure_agrees_within_5_percent_or_within_the_range_of_the_peers_seeds(
    ours: list[float], theirs: list[float], verdict: str
):
    assert Figure("case", "drop rate", "%", estimate(ours), estimate(theirs)).verdict == verdict


def test_every_cause_belongs_to_a_figure_of_a_case():
    for case, name in CAUSES:
        runs = [RESULT | {"goodput_bps": {flows.name: 1e6 for flows in BY_NAME[case].flows}}]
        assert name in {each.name for each in figures(BY_NAME[case], runs, runs)}


@pytest.mark.parametrize("missing", ["ns", "ns3"])
def test_a_missing_simulator_prints_a_line_and_is_no_error(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "ns" else f"/usr/bin/{name}")
    monkeypatch.setattr(ns3, "HEADER", tmp_path / "nothing.h")
    assert main(["droptail" if missing == "ns" else "codel", "--out", str(tmp_path)]) == 0
    package = {"ns": "ns2", "ns3": "libns3-dev"}[missing]
    assert f"is missing: install Debian's package {package}\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_red_pd_without_its_authors_scripts_is_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setenv("NS2_EXAMPLES", str(tmp_path))
    assert main(["red_pd", "--out", str(tmp_path)]) == 0
    assert "install Debian's package ns2-examples" in capsys.readouterr().out


def test_an_unknown_case_is_an_error_that_lists_them(capsys: pytest.CaptureFixture[str]):
    assert main(["blue"]) == 2
    assert "no case begins with blue; cases: droptail, " in capsys.readouterr().out


def program(case: Case, code: str) -> Task:
    return Task(case, "ns2", 1, (sys.executable, "-c", code))


def ignore(finished: int, total: int) -> None:
    pass


def test_finished_runs_are_kept_and_not_repeated(tmp_path: Path):
    code = (
        f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).open('a').write('x'); print({json.dumps(RESULT)!r})"
    )
    task = program(BY_NAME["droptail"], code)
    for _ in range(2):
        Pool(tmp_path / "out", 2).run([task], ignore)
    assert (tmp_path / "ran").read_text() == "x"
    results = kept([task], tmp_path / "out")["droptail", "ns2"]
    assert [{name: run[name] for name in FIELDS} for run in results] == [RESULT]
    assert results[0]["cpu_s"] > 0


def test_a_simulator_that_fails_is_an_error_with_its_last_lines(tmp_path: Path):
    task = program(BY_NAME["droptail"], "import sys; print('no such node', file=sys.stderr); sys.exit(3)")
    with pytest.raises(RunError, match=r"droptail, ns2, seed 1: exit status 3: no such node"):
        Pool(tmp_path, 1).run([task], ignore)
    assert not list(tmp_path.iterdir())


def test_cases_with_missing_runs_are_left_out(tmp_path: Path):
    first = program(BY_NAME["droptail"], f"print({json.dumps(RESULT)!r})")
    Pool(tmp_path, 1).run([first], ignore)
    assert kept([first, dataclasses.replace(first, seed=2)], tmp_path) == {}


@needs.marks("ns-2")
def test_a_short_case_runs_in_ns2_and_in_headgate(tmp_path: Path):
    short = dataclasses.replace(BY_NAME["droptail-udp"], duration=4.0, warmup=2.0)
    Pool(tmp_path, 2).run(wanted := tasks([short], [1], tmp_path), ignore)
    results = kept(wanted, tmp_path)
    for side in ("ns2", "here"):
        (run,) = results["droptail-udp", side]
        # Eleven flows fill 10 Mbit/s. UDP has at most its 4 Mbit/s, and no queue is longer than its buffer.
        assert run["utilization"] == pytest.approx(1, abs=0.02)
        assert 3e6 < run["goodput_bps"]["udp"] <= 4.1e6
        assert 4e6 < run["goodput_bps"]["tcp"] < 7e6
        assert 0 < run["dropped"] < run["arrived"]
        assert 10 < run["queue_packets"] <= 100
