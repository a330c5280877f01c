"""`python -m peers.bench`: the time of a packet without set-up, and what is said of it."""

import json
import runpy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from peers import bench, ns2, ns3
from peers.runs import Measured

DOCS = Path(__file__).parents[2] / "docs"


def run(cpu_s: float, packets: int, tcp: float = 4e6) -> Measured:
    return {"cpu_s": cpu_s, "packets": packets, "goodput_bps": {"tcp": tcp, "udp": 5e6}}


#: Set-up costs a second here and two there, a packet 200 ns here and 2000 ns there, 4000 ns in the second repetition.
RUNS = {
    ("short", "here"): [run(1.02, 100_000), run(1.02, 100_000)],
    ("long", "here"): [run(1.22, 1_100_000, 4.2e6), run(1.22, 1_100_000, 4.4e6)],
    ("short", "ns2"): [run(2.2, 100_000), run(2.4, 100_000)],
    ("long", "ns2"): [run(4.2, 1_100_000, 4.1e6), run(6.4, 1_100_000, 4.1e6)],
}


def test_set_up_is_no_part_of_a_packets_time():
    found = bench.of_runs("ns2", RUNS)
    assert found.here_ns == pytest.approx([200, 200])
    assert found.peer_ns == pytest.approx([2000, 4000])
    assert found.ratios == pytest.approx([10, 20])
    assert found.goodput_bps == {"tcp": (4.3e6, 4.1e6), "udp": (5e6, 5e6)}


def test_the_sentence_has_the_range_of_the_ratio_and_the_agreement():
    assert bench.text(bench.of_runs("ns2", RUNS)) == (
        "ns-2 takes 15.0 times as much processor time per packet as Headgate (10.0 to 20.0 in 2 repetitions): "
        "3000 and 200 ns.\n"
        "Goodput, Headgate and ns-2: tcp 4.30 and 4.10 Mbit/s, udp 5.00 and 5.00 Mbit/s."
    )


def test_the_runs_of_a_repetition_follow_each_other():
    runs = bench.in_turn(bench.both(bench.NS2), 2, Path("ns3"))
    assert [(each.case.name, each.side, each.seed) for each in runs] == [
        (name, side, seed) for seed in (1, 2) for name in ("short", "long") for side in ("ns2", "here")
    ]


def test_the_scenario_is_the_demo():
    protect = (Path(__file__).parents[2] / "scenarios" / "protect.toml").read_text()
    case, (tcp, cbr) = bench.NS2, bench.NS2.flows
    for line in (
        f'rate = "{case.rate / 1e6:.0f}Mbit/s"',
        f'delay = "{case.delay:.0f}ms"',
        f'limit = "{case.limit}p"',
        f"flows = {tcp.count}",
        f'packet = "{case.packet}B"',
        f"window = {case.window}",
        f'send_jitter = "{1000 * case.send_jitter:.0f}us"',
        f'rate = "{(cbr.rate or 0) / 1e6:.0f}Mbit/s"',
        f"jitter = {cbr.jitter}",
    ):
        assert line in protect, line


def test_a_missing_peer_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(ns2, "missing", lambda: "ns-2 is missing: install Debian's package ns2")
    monkeypatch.setattr(ns3, "missing", lambda: "ns-3 is missing: install Debian's package libns3-dev")
    assert bench.main(["--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == (
        "not measured beside ns-2: ns-2 is missing: install Debian's package ns2\n"
        "not measured beside ns-3: ns-3 is missing: install Debian's package libns3-dev\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(DOCS))
    return runpy.run_path(str(DOCS / "bench_peers.py"))


def test_the_page_has_a_row_for_each_peer(script: dict[str, Any]):
    row = script["peers"]([bench.of_runs("ns2", RUNS)]).splitlines()[-1]
    assert row == "| ns-2 | 200 | 3000 | 15.0 (10.0 to 20.0) | tcp 4.30 and 4.10, udp 5.00 and 5.00 |"


def test_one_peer_leaves_the_page_as_it_is(script: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = (DOCS / "guide" / "performance.md").read_text()
    (tmp_path / "bench.json").write_text(json.dumps([asdict(bench.of_runs("ns2", RUNS))]))
    script["main"](tmp_path)
    assert capsys.readouterr().out == "performance.md stays as it is: measured beside ns-2 only\n"
    assert (DOCS / "guide" / "performance.md").read_text() == page
