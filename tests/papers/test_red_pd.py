"""Claims on RED-PD that hold clearly, from runs shorter than `--quick`; and the skew of traces, by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headgate.analysis.judge import Verdict
from headgate.errors import UsageError
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Case, QuickVariant
from headgate.experiment.results import ExperimentResults
from headgate.experiment.running import RunOptions, run
from headgate.papers import catalogue
from headgate.papers.red_pd import _trace as trace
from tests.papers.exact import by_sign


def shortened(name: str, out: Path, *settings: str, cases: tuple[Case, ...] | None = None) -> ExperimentResults:
    """Results of one seed of an experiment, with changed settings and some of its cases."""
    experiment = replace(catalogue.experiment(name), quick=QuickVariant(1, settings, cases))
    return by_sign(run(experiment, out, RunOptions(quick=True, threads=1), Watcher()).results)


def verdicts(results: ExperimentResults, words: str) -> set[Verdict]:
    """The verdicts on the claims that contain the words."""
    judged = {claim.judge(results).verdict for claim in results.experiment.claims if words in claim.text}
    assert judged, f"nothing is claimed about {words!r}"
    return judged


def test_constant_flows_get_their_rate_with_red_and_their_fair_share_with_red_pd(tmp_path: Path):
    results = shortened("red-pd/fig10", tmp_path, "warmup=100s", "duration=300s")
    assert verdicts(results, "With RED ") == {Verdict.HOLDS}
    assert [results(f"flow{n}", "RED-PD").mean / 1e6 for n in range(4, 12)] == pytest.approx([1.05] * 8, rel=0.2)
    assert results("ambient", "RED-PD").mean < 0.04


def test_a_flow_that_sends_faster_is_limited_within_a_second_and_released_later(tmp_path: Path):
    results = shortened("red-pd/fig12", tmp_path)
    assert results("monitored_after", "RED-PD").mean < 1.0
    assert verdicts(results, "falls further") == verdicts(results, "releases it") == {Verdict.HOLDS}
    assert results("afterwards", "RED-PD").mean == pytest.approx(0.25e6, rel=0.05)


def test_faster_flows_are_identified_more_often(tmp_path: Path):
    cases = tuple(case for case in catalogue.experiment("red-pd/fig9").cases if case["multiple"] in (0.5, 3.0))
    results = shortened("red-pd/fig9", tmp_path, "duration=60s", cases=cases)
    assert verdicts(results, "increases with the sending rate") == {Verdict.HOLDS}
    # Independent drops: a flow of 0.5 f(R, p) has one in a list with probability 1 - exp(-0.3), in three of five with
    # 0.12 at most; TCP, which slows down for each, with less.
    assert all(results("identified", label, multiple=0.5).mean < 0.12 for label in results.labels)


# Ten flows send 1800 bytes in the first 5 s, flow 0 half of them; flows 0 and 1 send 300 and 700 in the next 5 s; what
# follows is cut off and counts only as what comes after.
FLOWS = [0] * 9 + list(range(1, 10)) + [0] * 3 + [1] * 7 + [0]
TIMES = [1.0] * 18 + [6.0] * 10 + [11.0]


@pytest.fixture
def small() -> trace.PacketTrace:
    return trace.PacketTrace(np.array(FLOWS), np.array(TIMES), np.full(len(FLOWS), 100.0))


def at(share: np.ndarray, fraction: float) -> float:
    return float(share[trace.FRACTIONS.index(fraction)])


def test_shares_over_a_whole_trace(small: trace.PacketTrace):
    shares = trace.shares_of(small)
    # 13 packets of 29 are of flow 0, 8 of flow 1.
    assert at(shares.bytes, 0.1) == at(shares.packets, 0.1) == pytest.approx(13 / 29)
    assert at(shares.bytes, 0.2) == pytest.approx(21 / 29)


def test_shares_in_windows_and_in_the_next_windows(small: trace.PacketTrace):
    shares = trace.shares_of(small, 5.0)
    # A tenth is flow 0 in the first window, and a fifth of a flow, flow 1, in the second.
    assert at(shares.bytes, 0.1) == pytest.approx((9 / 18 + 0.2 * 7 / 10) / 2)
    assert at(shares.bytes, 0.5) == pytest.approx((13 / 18 + 7 / 10) / 2)
    assert at(shares.following, 0.1) == pytest.approx((3 / 10 + 0) / 2)
    # Flows with equally many packets count in their order: 0, 1, 2, 3, 4.
    assert at(shares.following, 0.5) == pytest.approx((10 / 10 + 0) / 2)


def test_a_flow_silent_for_more_than_64_s_is_another_afterwards():
    times = np.array([0.0, 64.0, 128.5, 10.0])
    split = trace.split_after_silence(trace.PacketTrace(np.array([0, 0, 0, 1]), times, np.ones(4)))
    assert split.time.tolist() == [0.0, 10.0, 64.0, 128.5]
    assert split.flow.tolist() == [0, 2, 0, 1]


@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_captures_are_read(tmp_path: Path, kind: str):
    dpkt = pytest.importorskip("dpkt")
    file = tmp_path / f"a.{kind}"
    with file.open("wb") as out:
        writer = getattr(dpkt, kind).Writer(out)
        for time, port, payload in ((1.0, 5, 100), (1.5, 6, 10), (3.0, 5, 50)):
            udp = dpkt.udp.UDP(sport=port, dport=9, data=bytes(payload), ulen=8 + payload)
            ip = dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=17, data=udp, len=28 + payload)
            writer.writepkt(bytes(dpkt.ethernet.Ethernet(data=ip, type=0x0800)), time)
        writer.writepkt(bytes(dpkt.ethernet.Ethernet(data=b"what", type=0x88CC)), 4.0)
    packets = trace.read(file)
    assert packets.flow.tolist() == [0, 1, 0]
    assert packets.time.tolist() == pytest.approx([0.0, 0.5, 2.0])
    assert packets.size.tolist() == [128.0, 38.0, 78.0]


def test_a_file_that_is_no_capture_is_refused_by_name(tmp_path: Path):
    pytest.importorskip("dpkt")
    file = tmp_path / "notes.txt"
    file.write_text("nothing of the kind")
    with pytest.raises(UsageError, match="notes"):
        trace.read(file)
