"""Captures of a simulated link are valid pcapng files and agree with the tables."""

import subprocess
from pathlib import Path

import pytest

import headgate
from headgate.files import store
from headgate.files.damage import sha256
from headgate.scenario import RunKey
from tests import needs
from tests.evidence.pcapng import check, packets


def files_by_run(recorded: headgate.Result) -> list[tuple[RunKey, Path]]:
    return list(zip(recorded.scenario.runs, recorded.captures, strict=True))


def test_every_run_has_a_capture_with_its_hash_in_the_manifest(recorded: headgate.Result):
    assert len(recorded.captures) == 4
    for run, file in files_by_run(recorded):
        assert file.name == f"{store.slug(run)}-bottleneck.pcapng"
        assert recorded.manifest["tables"][f"captures/{file.name}"] == sha256(file)


def test_packets_are_those_of_the_run(recorded: headgate.Result):
    for run, file in files_by_run(recorded):
        simulated = [packet for packet in packets(file) if not packet.comment.startswith("not simulated")]
        events = recorded.run("events", run).to_pylist()
        drops = [packet for packet in simulated if packet.interface == "bottleneck forward drops"]
        dropped = [event for event in events if event["event"] == "dropped"]
        # Event by event: when, how long, why.
        assert [(p.nanos, p.length, p.comment) for p in drops] == [
            (event["time_ns"], event["bytes"], f"dropped: {event['reason']}") for event in dropped
        ]
        warm = recorded.scenario.warmup_s * 1e9
        forward = recorded.run("links", run).to_pylist()[0]
        after = [p for p in simulated if p.interface == "bottleneck forward" and p.nanos >= warm]
        assert forward["direction"] == "forward"
        assert (len(after), sum(p.length for p in after)) == (forward["sent"], forward["sent_bytes"])


def test_headers_are_complete_and_checksums_are_right(recorded: headgate.Result):
    for _, file in files_by_run(recorded):
        all_packets = packets(file)
        assert len(all_packets) > 1000
        for packet in all_packets:
            check(packet)


def tshark(file: Path, *arguments: str) -> list[str]:
    needs.without("tshark")
    done = subprocess.run(["tshark", "-r", file, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


# tshark's filters for malformed packets, and for connections that it cannot follow.
ERROR_FILTERS = [
    "_ws.malformed",
    "_ws.expert.severity >= error",
    "_ws.expert.severity >= warning && !tcp.analysis.flags",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.lost_segment && !frame.comment",
]


@pytest.mark.parametrize("error_filter", ERROR_FILTERS)
def test_tshark_finds_no_error(recorded: headgate.Result, error_filter: str):
    for _, file in files_by_run(recorded):
        assert tshark(file, "-Y", error_filter) == []


def test_tshark_counts_the_same_packets(recorded: headgate.Result):
    for _, file in files_by_run(recorded):
        shown = tshark(file, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.len", "-e", "frame.comment")
        assert shown == [f"{p.interface}\t{p.length}\t{p.comment}" for p in packets(file)]
