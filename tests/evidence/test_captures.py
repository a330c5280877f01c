"""A capture of a simulated link is one that any tool can read, and says what the tables say."""

import shutil
import subprocess
from pathlib import Path

import pytest

import headgate
from headgate.files import store
from headgate.files.damage import sha256
from headgate.scenario import RunKey
from tests.evidence.pcapng import check, packets


def by_point(recorded: headgate.Result) -> list[tuple[RunKey, Path]]:
    return list(zip(recorded.scenario.runs, recorded.captures, strict=True))


def test_every_point_has_its_file_and_the_manifest_vouches_for_it(recorded: headgate.Result):
    assert len(recorded.captures) == 4
    for run, file in by_point(recorded):
        assert file.name == f"{store.slug(run)}-bottleneck.pcapng"
        assert recorded.manifest["tables"][f"captures/{file.name}"] == sha256(file)


def test_packets_are_those_of_the_run(recorded: headgate.Result):
    for run, file in by_point(recorded):
        found = [packet for packet in packets(file) if not packet.comment.startswith("not simulated")]
        events = recorded.run("events", run).to_pylist()
        drops = [packet for packet in found if packet.interface == "bottleneck forward drops"]
        dropped = [event for event in events if event["event"] == "dropped"]
        # Event by event: when, how long, why.
        assert [(p.nanos, p.length, p.comment) for p in drops] == [
            (event["time_ns"], event["bytes"], f"dropped: {event['reason']}") for event in dropped
        ]
        warm = recorded.scenario.warmup_s * 1e9
        forward = recorded.run("links", run).to_pylist()[0]
        after = [p for p in found if p.interface == "bottleneck forward" and p.nanos >= warm]
        assert forward["direction"] == "forward"
        assert (len(after), sum(p.length for p in after)) == (forward["sent"], forward["sent_bytes"])


def test_headers_are_whole_and_checksums_hold(recorded: headgate.Result):
    for _, file in by_point(recorded):
        found = packets(file)
        assert len(found) > 1000
        for packet in found:
            check(packet)


def tshark(file: Path, *arguments: str) -> list[str]:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    done = subprocess.run(["tshark", "-r", file, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


# What tshark would say of a file that is broken, or of a connection it cannot follow.
COMPLAINTS = [
    "_ws.malformed",
    "_ws.expert.severity >= error",
    "_ws.expert.severity >= warning && !tcp.analysis.flags",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.lost_segment && !frame.comment",
]


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_tshark_has_nothing_to_complain_of(recorded: headgate.Result, complaint: str):
    for _, file in by_point(recorded):
        assert tshark(file, "-Y", complaint) == []


def test_tshark_counts_the_same_packets(recorded: headgate.Result):
    for _, file in by_point(recorded):
        shown = tshark(file, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.len", "-e", "frame.comment")
        assert shown == [f"{p.interface}\t{p.length}\t{p.comment}" for p in packets(file)]
