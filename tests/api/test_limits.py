"""What limits the flows of a group is measured and said: the link, the window, the access links or the source."""

from pathlib import Path

import pytest

import headgate
from headgate import report
from headgate.analysis import limits
from tests.conftest import Command

#: One flow on a fast link. `{flow}` are more keys of its group.
FAST = """\
name = "fast"
duration = "2s"
warmup = "500ms"
qdiscs = ["droptail", "red"]

[link]
rate = "1Gbit/s"
delay = "10ms"
limit = "2000p"

[[tcp]]
{flow}

[[udp]]
rate = "1Mbit/s"
"""
ACCESS = 'access = { rate = "100Mbit/s" }'


def result(flow: str) -> headgate.Result:
    return headgate.run(headgate.Scenario.parse(FAST.format(flow=flow)))


def test_a_flow_that_the_link_alone_limits_needs_no_line():
    ours = result("")
    found = limits.of(ours)
    assert [each.name for each in found] == ["tcp"], "UDP is not measured"
    assert (limits.line(found), list(limits.sentences(ours, found))) == ("", [])
    assert "What limited the flows?" not in report.page(ours)


@pytest.mark.parametrize(
    ("flow", "limit", "sentence"),
    [
        (ACCESS, "access", "“tcp” is limited by its access link of 100 Mbit/s, not by the link of 1 Gbit/s."),
        (
            'receiver = { rate = "99.5Mbit/s" }',
            "access",
            "“tcp” is limited by its access link of 99.5 Mbit/s, not by the link of 1 Gbit/s.",
        ),
        ("window = 100", "window", "“tcp” is limited by its window of 100 packets, not by the link of 1 Gbit/s."),
        (
            'send_buffer = "100p"',
            "window",
            "“tcp” is limited by its window of 10000 packets and its send buffer of 100p, not by the link of 1 Gbit/s.",
        ),
    ],
)
def test_another_limit_than_the_link_has_a_line_and_a_sentence(flow: str, limit: str, sentence: str):
    ours = result(flow)
    found = limits.of(ours)
    assert limits.line(found).startswith(f"tcp: {limit} ")
    assert found[0].shares[limit] > 0.9
    assert sum(found[0].shares.values()) == pytest.approx(1.0)
    assert list(limits.sentences(ours, found)) == [sentence]
    assert "What limited the flows?" in report.page(ours)


def test_a_source_that_pauses_has_a_line_but_no_sentence():
    ours = result('traffic = "ftp:size=14600B,count=1000,wait=100ms"')
    found = limits.of(ours)
    assert limits.line(found) == "tcp: source 100 %"
    assert list(limits.sentences(ours, found)) == []


def test_the_summary_has_the_shares_and_null_for_udp():
    tcp, udp = result(ACCESS).summary()[0]["groups"]
    assert tcp["limited_by"]["access"]["mean"] > 0.9
    assert {part: share["mean"] for part, share in udp["limited_by"].items()} == dict.fromkeys(
        ("link", "window", "access", "source")
    )


def test_run_says_what_limits_the_flows(command: Command, tmp_path: Path):
    file = tmp_path / "fast.toml"
    file.write_text(FAST.format(flow=ACCESS))
    lines = command("run", file, "--no-report").stdout.splitlines()
    assert any(line.startswith("limits  tcp: access ") for line in lines)
    assert any(line.startswith("note: “tcp” is limited by its access link of 100 Mbit/s") for line in lines)
